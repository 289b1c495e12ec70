//! Turns a launch into dispatches, and their programs into kernels.
//!
//! Owns the evaluation of [`OpenDriver`]. Invariant: all kernels of a launch are compiled before its first
//! command is recorded, so that a refusal leaves all blocks unchanged.
//!
//! Not here: sequences of launches (`recorded_sequence.rs`), addressing (`gpupy_codegen::compute`), hazards and
//! submission (`queue.rs`).

use super::commands::queue::{Queue, Retired, Touch, touches};
use super::gpu::gpu_device::{BindingLimits, Gpu, Traits};
use super::open::OpenDriver;
use super::shaders::kernel_compiler::{Compiler, Kernel, Shader};
use ash::vk;
use gpupy_codegen::compute::{self, DispatchPlan, DispatchRequest, PlannedDispatch};
use gpupy_codegen::kernel_cache::KernelMaker;
use gpupy_core::driver::{Evaluated, Launch};
use gpupy_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl OpenDriver {
    /// Evaluates a launch; may return before the device has finished.
    ///
    /// # Errors
    /// - `Refused`: the compiler rejects a shader.
    /// - `Unsupported`: there is no kernel for the launch.
    /// - `Invalid`: a dead handle.
    /// - `OutOfMemory`, `DeviceLost`: the device's own.
    pub fn eval(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        if let Some(rest) = launch.rest {
            return self.eval_all(launch, rest);
        }
        let mut evaluated = Evaluated::default();
        let prepared = self.prepare_launch(launch, &mut evaluated)?;
        evaluated.launches = prepared.dispatches.len() as u32;
        evaluated.code = prepared.code();
        self.dispatch_all(launch, &prepared)?;
        self.queue.submit_if_worth_it()?;
        self.queue.collect(&mut self.memory)?;
        Ok(evaluated)
    }

    /// The kernels of launches, before any of them is dispatched; those of new ones are compiled side by side.
    ///
    /// # Errors
    /// As of `eval`.
    pub(super) fn prepare_all(
        &mut self,
        launches: &[&Launch<'_>],
        are_new: bool,
    ) -> Result<(Vec<PreparedLaunch>, Evaluated)> {
        let mut evaluated = Evaluated::default();
        if are_new {
            let missing = self.missing(launches)?;
            if missing.len() > 1 {
                self.compiler.compile_ahead(missing);
            }
        }
        let prepared = launches.iter().map(|launch| self.prepare_launch(launch, &mut evaluated));
        Ok((prepared.collect::<Result<_>>()?, evaluated))
    }

    fn prepare_launch(
        &mut self,
        launch: &Launch<'_>,
        evaluated: &mut Evaluated,
    ) -> Result<PreparedLaunch> {
        let mut dispatches = Vec::with_capacity(1);
        let buffers = self.each_dispatch(launch, &mut |driver, request, binds| {
            dispatches.push(driver.prepare(launch, request, binds, evaluated)?);
            Ok(())
        })?;
        Ok(PreparedLaunch { buffers, dispatches })
    }

    /// The shaders of launches that no kernel was made of.
    ///
    /// # Errors
    /// As of `eval`.
    fn missing(&mut self, launches: &[&Launch<'_>]) -> Result<Vec<Shader>> {
        let (mut missing, mut planned) = (Vec::new(), FxHashSet::default());
        for launch in launches {
            self.each_dispatch(launch, &mut |driver, request, binds| {
                let traits = &driver.gpu.traits;
                let plan = plan(traits, request, binds)?.plan;
                if !driver.kernels.has(launch.fingerprint, &plan) {
                    let shader = shader(request, &plan, traits);
                    if planned.insert(shader.clone()) {
                        missing.push(shader);
                    }
                }
                Ok(())
            })?;
        }
        Ok(missing)
    }

    /// Calls `told` with the request for each dispatch of a launch, and whether blocks are bound to it; gives the
    /// buffers of its blocks, with their addresses.
    fn each_dispatch(
        &mut self,
        launch: &Launch<'_>,
        told: &mut dyn FnMut(&mut OpenDriver, &DispatchRequest<'_>, bool) -> Result<()>,
    ) -> Result<Vec<(vk::Buffer, u64)>> {
        let mut lengths = Vec::with_capacity(launch.operands.len());
        let mut buffers = Vec::with_capacity(launch.operands.len() + launch.dests.len());
        let mut largest = 0;
        for (id, touch) in touches(launch) {
            let block = self.blocks.get(id)?;
            let stored = self.gpu.traits.kernels.stored(block.spec.dtype).unwrap_or_default();
            largest = largest.max(block.spec.len as u64 * stored as u64);
            buffers.push((block.buffer.handle, block.buffer.address));
            if touch == Touch::Read {
                lengths.push(block.spec.len);
            }
        }
        let binds = self.binds(buffers.len(), largest);
        let stores: Vec<u32> = (0..launch.dests.len() as u32).collect();
        let targets: Vec<_> = launch.dests.iter().map(|dest| (&dest.access, dest.whole)).collect();
        let mut request = DispatchRequest::of(launch, &lengths, &stores, &targets);
        let slices = compute::slices(&self.gpu.traits.kernels, launch);
        for (shape, accesses) in slices.as_deref().unwrap_or_default() {
            (request.shape, request.accesses) = (shape, accesses);
            told(self, &request, binds)?;
            request.adds = true;
        }
        if slices.is_none() {
            told(self, &request, binds)?;
        }
        Ok(buffers)
    }

    /// Records the dispatches of a launch.
    ///
    /// # Errors
    /// - `OutOfMemory`, `DeviceLost`: the device's own.
    pub(super) fn dispatch_all(
        &mut self,
        launch: &Launch<'_>,
        prepared: &PreparedLaunch,
    ) -> Result<()> {
        for (kernel, planned) in &prepared.dispatches {
            self.dispatch(launch, kernel, planned, &prepared.buffers)?;
        }
        Ok(())
    }

    /// Plans a dispatch, and finds or compiles its kernel.
    fn prepare(
        &mut self,
        launch: &Launch<'_>,
        request: &DispatchRequest<'_>,
        binds: bool,
        evaluated: &mut Evaluated,
    ) -> Result<(Kernel, PlannedDispatch)> {
        let planned = plan(&self.gpu.traits, request, binds)?;
        let mut maker = KernelBuilder {
            request,
            traits: &self.gpu.traits,
            compiler: &mut self.compiler,
            queue: &mut self.queue,
        };
        self.kernels.provide(&mut maker, launch, planned, evaluated)
    }

    /// Whether `blocks` blocks, the largest of `largest` bytes, are bound to a kernel by descriptors.
    fn binds(&self, blocks: usize, largest: u64) -> bool {
        let can = |bound: &BindingLimits| blocks < bound.buffers as usize && largest <= bound.block;
        self.binds && self.gpu.traits.bound.as_ref().is_some_and(can)
    }

    /// Records a dispatch, and notes its uses of blocks.
    fn dispatch(
        &mut self,
        launch: &Launch<'_>,
        kernel: &Kernel,
        planned: &PlannedDispatch,
        buffers: &[(vk::Buffer, u64)],
    ) -> Result<()> {
        let by_address = planned.plan.addresses;
        let mut numbers = Vec::with_capacity(8 * buffers.len() + 4 * planned.words.len());
        if by_address {
            numbers.extend(buffers.iter().flat_map(|(_, address)| address.to_ne_bytes()));
        }
        numbers.extend(planned.words.iter().flat_map(|word| word.to_ne_bytes()));
        let mut bindings = Vec::new();
        if !planned.plan.pushed {
            let place = self.arguments.put(&numbers, &mut self.queue, &mut self.memory)?;
            if !by_address {
                let range = numbers.len() as u64;
                bindings.push((0, place.handle, place.offset, range));
            }
            numbers = if by_address { place.address.to_ne_bytes().to_vec() } else { Vec::new() };
        }
        if !by_address {
            let blocks = (1..).zip(buffers);
            bindings.extend(blocks.map(|(n, (handle, _))| (n, *handle, 0, vk::WHOLE_SIZE)));
        }
        let mut begins_stage = false;
        for (block, touch) in touches(launch) {
            begins_stage |= self.queue.is_hazard(self.blocks.get(block)?.touched, touch);
        }
        let points: usize = launch.shape.iter().product();
        let work = points.saturating_mul(launch.program.insts.len()) as u64;
        let (layout, pipeline, groups) = (kernel.layout, kernel.pipeline, planned.groups);
        let gpu = self.gpu.clone();
        self.queue.record(begins_stage, work, |device, commands| {
            // SAFETY: pipeline and layout belong together and live until the device is done, as do the
            // blocks, whose addresses the kernel was planned for; the groups are within its limits.
            unsafe {
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
                if !numbers.is_empty() {
                    let stage = vk::ShaderStageFlags::COMPUTE;
                    device.cmd_push_constants(commands, layout, stage, 0, &numbers);
                }
                bind(&gpu, commands, layout, &bindings);
                device.cmd_dispatch(commands, groups[0], groups[1], groups[2]);
            }
        })?;
        for (block, touch) in touches(launch) {
            self.queue.note(&mut self.blocks.get_mut(block)?.touched, touch);
        }
        Ok(())
    }
}

/// A launch whose kernels are compiled.
pub(super) struct PreparedLaunch {
    /// The buffers of its blocks, with their addresses.
    buffers: Vec<(vk::Buffer, u64)>,
    pub dispatches: Vec<(Kernel, PlannedDispatch)>,
}

impl PreparedLaunch {
    /// The code of its last kernel.
    pub fn code(&self) -> Option<Arc<str>> {
        self.dispatches.last().map(|(kernel, _)| kernel.code.clone())
    }
}

/// Plans a launch, with its blocks bound by descriptors or reached by their addresses.
fn plan(traits: &Traits, request: &DispatchRequest<'_>, binds: bool) -> Result<PlannedDispatch> {
    let device = compute::KernelFeatures { addresses: !binds, ..traits.kernels };
    let none = |reason: String| {
        Error::new(ErrorKind::Unsupported, "eval_ir")
            .says("there is no kernel for this launch")
            .with("driver", crate::NAME)
            .with("reason", reason)
    };
    let planned = compute::plan(&device, request).map_err(|reason| none(format!("{reason:?}")))?;
    let (numbers, most) = (4 * planned.words.len(), traits.bound.map_or(0, |bound| bound.numbers));
    // Those of the program, and the kernel arguments.
    let buffers = request.program.operands.len() + request.program.dests.len() + 1;
    let bound = traits.bound.map_or(0, |bound| bound.buffers);
    let is_bindable = numbers <= most as usize && buffers <= bound as usize;
    match traits.kernels.addresses {
        true if binds && !is_bindable => plan(traits, request, false),
        true => Ok(planned),
        false if is_bindable => Ok(planned),
        false => Err(Error::new(ErrorKind::Refused, "eval_ir")
            .says("the kernel has more than can be bound")
            .with("driver", crate::NAME)
            .with("buffers", format!("{buffers} of {bound}"))
            .with("bytes of numbers", format!("{numbers} of {most}"))),
    }
}

/// The shader of a plan.
fn shader(request: &DispatchRequest<'_>, plan: &DispatchPlan, traits: &Traits) -> Shader {
    let program = request.program;
    let blocks = program.operands.len() + program.dests.len();
    let source = compute::source(program, plan, &traits.kernels);
    (source, if plan.addresses { 0 } else { blocks })
}

/// The bytes of a kernel, and more for each byte of its text: what the process grew by with Mesa's lavapipe, for 120
/// kernels of 4 operations and 120 of 16.
const KERNEL_BYTES: usize = 256 << 10;
const TEXT_BYTES: usize = 150;

/// Makes the kernels of a launch.
struct KernelBuilder<'a> {
    request: &'a DispatchRequest<'a>,
    traits: &'a Traits,
    compiler: &'a mut Compiler,
    queue: &'a mut Queue,
}

impl KernelMaker for KernelBuilder<'_> {
    type Planned = PlannedDispatch;
    type Plan = DispatchPlan;
    type Kernel = Kernel;

    fn plan(planned: &PlannedDispatch) -> &DispatchPlan {
        &planned.plan
    }

    fn literals(&self, general: &PlannedDispatch) -> Option<PlannedDispatch> {
        let request = DispatchRequest { specialise: true, ..self.request.clone() };
        plan(self.traits, &request, !general.plan.addresses).ok()
    }

    fn compile(&mut self, planned: &PlannedDispatch) -> Result<Kernel> {
        self.compiler.compile(shader(self.request, &planned.plan, self.traits))
    }

    fn bytes(kernel: &Kernel) -> usize {
        KERNEL_BYTES + kernel.code.len() * TEXT_BYTES
    }

    fn retire(&mut self, kernel: Kernel) {
        self.compiler.forget(&kernel);
        self.queue.retire(Retired::Pipeline(kernel.pipeline));
    }
}

/// Binds buffers to a kernel by push descriptors: binding, buffer, offset and size in bytes.
///
/// # Safety
/// The commands are being recorded, the layout has these bindings, and the buffers live until the device has
/// finished.
unsafe fn bind(
    gpu: &Gpu,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    bindings: &[(u32, vk::Buffer, u64, u64)],
) {
    let Some(push) = gpu.push_descriptor.as_ref().filter(|_| !bindings.is_empty()) else { return };
    let buffers: Vec<[vk::DescriptorBufferInfo; 1]> = bindings
        .iter()
        .map(|(_, buffer, offset, range)| {
            [vk::DescriptorBufferInfo { buffer: *buffer, offset: *offset, range: *range }]
        })
        .collect();
    let writes: Vec<_> = bindings
        .iter()
        .zip(&buffers)
        .map(|((binding, ..), buffer)| {
            let kind = match binding {
                0 => vk::DescriptorType::UNIFORM_BUFFER,
                _ => vk::DescriptorType::STORAGE_BUFFER,
            };
            let write = vk::WriteDescriptorSet::default().dst_binding(*binding);
            write.descriptor_type(kind).buffer_info(buffer)
        })
        .collect();
    let point = vk::PipelineBindPoint::COMPUTE;
    // SAFETY: the commands are being recorded, the layout has these bindings, and layouts with bindings exist
    // only where the extension does.
    unsafe { push.cmd_push_descriptor_set(commands, point, layout, 0, &writes) };
}
