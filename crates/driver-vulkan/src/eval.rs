//! Turns a launch into dispatches, and their programs into kernels.
//!
//! Owns the evaluation of [`Open`]. Invariant: what a launch needs is compiled before anything of it is
//! recorded, so that a refusal leaves all blocks as they were.
//!
//! Not here: addressing (`gpupy_codegen::compute`), hazards and submission (`queue.rs`).

use crate::kernels::Kernel;
use crate::open::Open;
use crate::queue::{Retired, Touch};
use ash::vk;
use gpupy_codegen::cache::Choice;
use gpupy_codegen::compute::{self, Planned, Request};
use gpupy_core::driver::{BlockId, Evaluated, Launch};
use gpupy_core::{Error, ErrorKind, Result};

impl Open {
    /// Evaluates a launch; may return before the device is done.
    ///
    /// # Errors
    /// - `Refused`: the compiler does not take a shader.
    /// - `Unsupported`: there is no kernel for the launch.
    /// - `Invalid`: a dead handle.
    /// - `OutOfMemory`, `DeviceLost`: the device's own.
    pub fn eval(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let mut lengths = Vec::with_capacity(launch.operands.len());
        let mut addresses = Vec::with_capacity(launch.operands.len() + launch.dests.len());
        for id in launch.operands {
            let block = self.blocks.get(*id)?;
            lengths.push(block.spec.len);
            addresses.push(block.buffer.address);
        }
        for dest in launch.dests {
            addresses.push(self.blocks.get(dest.block)?.buffer.address);
        }
        let stores: Vec<u32> = (0..launch.dests.len() as u32).collect();
        let targets: Vec<_> = launch.dests.iter().map(|dest| (&dest.access, dest.whole)).collect();
        let request = Request {
            program: launch.program,
            shape: launch.shape,
            accesses: launch.accesses,
            params: launch.params,
            lengths: &lengths,
            stores: &stores,
            targets: &targets,
            specialise: false,
        };
        let planned = self.planned(&request)?;
        let mut evaluated = Evaluated { launches: 1, ..Evaluated::default() };
        let (kernel, planned) = self.kernel(launch, &request, planned, &mut evaluated)?;
        self.dispatch(launch, &kernel, &planned, &addresses)?;
        evaluated.code = Some(kernel.code);
        Ok(evaluated)
    }

    fn planned(&self, request: &Request<'_>) -> Result<Planned> {
        compute::plan(&self.gpu.traits.kernels, request).map_err(|reason| {
            Error::new(ErrorKind::Unsupported, "eval_ir")
                .says("there is no kernel for this launch")
                .with("driver", crate::NAME)
                .with("reason", format!("{reason:?}"))
        })
    }

    /// The kernel of a planned launch, compiled now if need be, and the plan that it has.
    fn kernel(
        &mut self,
        launch: &Launch<'_>,
        request: &Request<'_>,
        planned: Planned,
        evaluated: &mut Evaluated,
    ) -> Result<(Kernel, Planned)> {
        let (name, params) = (launch.fingerprint, launch.params);
        let elements: usize = launch.shape.iter().product();
        let literals = |open: &Open| open.planned(&Request { specialise: true, ..request.clone() });
        match self.kernels.known.find(name, &planned.plan, params, elements) {
            Some(Choice::General(kernel)) => Ok((kernel, planned)),
            Some(Choice::Specialised(kernel)) => Ok((kernel, literals(self)?)),
            Some(Choice::CouldSpecialise(kernel)) => {
                let special = literals(self)?;
                let compiled = self.compile(launch, &special);
                let twin = compiled.as_ref().ok().cloned();
                if let Some(old) = self.kernels.known.specialise(name, &planned.plan, params, twin)
                {
                    self.kernels.forget(&old);
                    self.queue.retire(Retired::Pipeline(old.pipeline));
                }
                match compiled {
                    Ok(twin) => {
                        evaluated.specialised += 1;
                        Ok((twin, special))
                    }
                    Err(error) if error.kind() == ErrorKind::DeviceLost => Err(error),
                    // The general kernel does as well.
                    Err(_) => Ok((kernel, planned)),
                }
            }
            None => {
                let kernel = self.compile(launch, &planned)?;
                evaluated.compiled += 1;
                let plan = planned.plan.clone();
                self.kernels.known.add(name, plan, kernel.clone(), params, elements);
                Ok((kernel, planned))
            }
        }
    }

    fn compile(&mut self, launch: &Launch<'_>, planned: &Planned) -> Result<Kernel> {
        let source = compute::source(launch.program, &planned.plan, &self.gpu.traits.kernels);
        self.kernels.compile(&source)
    }

    /// Records a dispatch, and notes which blocks it touches.
    fn dispatch(
        &mut self,
        launch: &Launch<'_>,
        kernel: &Kernel,
        planned: &Planned,
        addresses: &[u64],
    ) -> Result<()> {
        let mut numbers = Vec::with_capacity(8 * addresses.len() + 4 * planned.words.len());
        numbers.extend(addresses.iter().flat_map(|address| address.to_ne_bytes()));
        numbers.extend(planned.words.iter().flat_map(|word| word.to_ne_bytes()));
        if !planned.plan.pushed {
            let address = self.numbers.put(&numbers, &mut self.queue, &mut self.memory)?;
            numbers = address.to_ne_bytes().to_vec();
        }
        let mut begins_stage = false;
        for (block, touch) in touches(launch) {
            begins_stage |= self.queue.is_hazard(self.blocks.get(block)?.touched, touch);
        }
        let points: usize = launch.shape.iter().product();
        let work = points.saturating_mul(launch.program.insts.len()) as u64;
        let (layout, pipeline, groups) = (self.kernels.layout, kernel.pipeline, planned.groups);
        self.queue.record(begins_stage, work, |device, commands| {
            // SAFETY: pipeline and layout belong together and live until the device is done, as do the
            // blocks, whose addresses the kernel was planned for; the groups are within its limits.
            unsafe {
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
                let stage = vk::ShaderStageFlags::COMPUTE;
                device.cmd_push_constants(commands, layout, stage, 0, &numbers);
                device.cmd_dispatch(commands, groups[0], groups[1], groups[2]);
            }
        })?;
        for (block, touch) in touches(launch) {
            self.queue.note(&mut self.blocks.get_mut(block)?.touched, touch);
        }
        self.queue.submit_if_worth_it()?;
        self.queue.collect(&mut self.memory)
    }
}

/// The blocks that a launch touches, and how.
fn touches<'a>(launch: &'a Launch<'_>) -> impl Iterator<Item = (BlockId, Touch)> + use<'a> {
    let operands = launch.operands.iter().map(|block| (*block, Touch::Read));
    operands.chain(launch.dests.iter().map(|dest| (dest.block, Touch::Write)))
}
