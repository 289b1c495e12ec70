//! The contract's 14 functions.
//!
//! Owns [`Gl`]. Not here: their work (`open.rs` and its neighbours).

use crate::blocks::{Blocks, DTYPES};
use crate::context::egl::Limits;
use crate::context::memory_budget;
use crate::context::shared_context::Renderer;
use crate::context::thread::GlThread;
use crate::errors::NAME;
use crate::eval::Evaluator;
use crate::open::OpenDriver;
use crate::resources;
use gpupy_codegen::driver_answers::{self, BlockLimits};
use gpupy_codegen::kernel_cache::KernelCache;
use gpupy_codegen::split_storage::{self, EmulationLevel, SplitStorage};
use gpupy_codegen::{OperationSupport, probe};
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Lend, LendKind,
    Method, Part, Resources,
};
use gpupy_core::ir::{FormKind, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};

/// An OpenGL driver, closed.
pub fn new() -> Box<dyn Driver> {
    Box::new(Gl::default())
}

/// A closed OpenGL driver for tests, whose contexts seem to have no integers of 64 bits and no float64.
pub fn new_short() -> Box<dyn Driver> {
    Box::new(Gl { short: true, ..Gl::default() })
}

/// The OpenGL driver.
#[derive(Default)]
struct Gl {
    open: Option<OpenDriver>,
    /// Whether integers of 64 bits are hidden, for a test.
    short: bool,
    split_storage: SplitStorage,
    limits: Resources,
    abilities: OperationSupport,
}

impl Gl {
    fn open(&mut self) -> Result<&mut OpenDriver> {
        self.open.as_mut().ok_or_else(|| driver_answers::is_closed(NAME))
    }

    /// Checks a range of elements of a block (see [`SplitStorage::range`]).
    fn range(
        &self,
        operation: &'static str,
        block: BlockId,
        offset: usize,
        bytes: usize,
    ) -> Result<(usize, Option<[BlockId; 2]>)> {
        self.split_storage.range((NAME, operation), block, (offset, bytes), || {
            let open = self.open.as_ref().ok_or_else(|| driver_answers::is_closed(NAME))?;
            Ok(open.blocks.get(block)?.spec)
        })
    }
}

impl Gl {
    /// Lends a block, or takes it back.
    fn lend(&mut self, block: BlockId, lend: Lend) -> Result<Evaluated> {
        if let (_, Some(_)) = self.range("eval_ir", block, 0, 0)? {
            return Err(Error::new(ErrorKind::Unsupported, "eval_ir")
                .says("elements of 64 bits are in two textures, and are not lent: lend a copy as float32 or int32")
                .with("driver", NAME));
        }
        let lent = self.open()?.lend(block, lend)?;
        Ok(Evaluated { launches: 1, lent, ..Evaluated::default() })
    }
}

/// The abilities of a context, assuming that its device computes correctly.
fn abilities(context: &Limits) -> OperationSupport {
    let has = |dtype: &DType| context.long || *dtype != DType::F64;
    OperationSupport {
        dtypes: DTYPES.into_iter().filter(has).collect(),
        forms: vec![FormKind::Reduce],
        pairs: !context.long,
        ..OperationSupport::default()
    }
}

impl Driver for Gl {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if self.open.is_some() {
            return Err(driver_answers::is_open(NAME));
        }
        let renderer = config.share.then(Renderer::current).transpose()?;
        let thread = GlThread::start(config, renderer)?;
        let mut context = thread.ask(|gpu| gpu.limits().clone())?;
        context.long &= !self.short;
        self.limits = resources::limits(&context, &config.resources);
        // The width of most textures is a power of two.
        let side = 1u64 << context.texture_size.max(1).ilog2();
        let elements = side * u64::from(context.texture_size) * 4;
        let sizes = BlockLimits::of(config, memory_budget::available(&context), elements);
        let blocks = Blocks::new(context.texture_size);
        let (device, devices) = (context.renderer.clone(), context.devices.clone());
        let identity = format!("{device}\n{}", context.version);
        self.abilities = abilities(&context);
        self.split_storage = SplitStorage::new(if context.long {
            EmulationLevel::Blocks
        } else {
            EmulationLevel::Integers
        });
        let mut capabilities = Capabilities {
            device: device.clone(),
            hardware: context.hardware,
            dtypes: self.abilities.dtypes.clone(),
            max_block_len: sizes.longest,
            max_dests: self.limits.0[resources::DRAW_BUFFERS] as usize,
            forms: self.abilities.forms.clone(),
            max_reductions: resources::MOST_REDUCTIONS,
            resources: resources::named(&self.limits),
            devices,
            lends: match renderer {
                Some(_) => 1 << LendKind::Texture as u32 | 1 << LendKind::Buffer as u32,
                None => 0,
            },
            ..Capabilities::default()
        };
        let kernels = KernelCache::default();
        self.open = Some(OpenDriver { renderer, thread, context, blocks, kernels, newest: 0 });
        // The probe's launches are not the user's, and are not subject to lowered limits.
        let found = probe::find_out(self, &capabilities, NAME, &identity);
        let limited = self
            .open()
            .and_then(|open| open.blocks.limit(&open.thread, sizes.memory, sizes.longest));
        let (findings, costs) =
            found.and_then(|found| limited.map(|()| found)).map_err(|error| {
                self.cleanup();
                driver_answers::does_not_work(NAME, error).with("device", device)
            })?;
        capabilities.flushes_subnormals = findings.flushes_subnormals;
        capabilities.findings = findings.named();
        capabilities.costs = Some(costs);
        self.abilities.findings = findings;
        Ok(capabilities)
    }

    fn cleanup(&mut self) {
        self.open = None;
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.abilities.method(op, dtype)
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let mut split_storage = std::mem::take(&mut self.split_storage);
        let known = self.abilities.dtypes.contains(&spec.dtype);
        let block =
            self.open().and_then(|open| match known && split_storage.split().splits(spec.dtype) {
                true => split_storage.alloc(open, spec, OpenDriver::alloc, OpenDriver::free),
                false => open.alloc(spec),
            });
        self.split_storage = split_storage;
        block
    }

    fn block_free(&mut self, block: BlockId) {
        let high = self.split_storage.remove(block).map(|long| long.high);
        if let Ok(open) = self.open() {
            [Some(block), high].into_iter().flatten().for_each(|block| open.free(block));
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let (end, halves) = self.range("block_read", block, offset, out.len())?;
        let open = self.open()?;
        match halves {
            Some(halves) => {
                split_storage::read(halves, out, |half, out| open.read(half, offset..end, out))
            }
            None => open.read(block, offset..end, out),
        }
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let (end, halves) = self.range("block_write", block, offset, data.len())?;
        let open = self.open()?;
        match halves {
            Some(halves) => {
                split_storage::write(halves, data, |half, data| open.write(half, offset..end, data))
            }
            None => open.write(block, offset..end, data),
        }
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        let (split, need) = (self.split_storage.split(), resources::of_program);
        driver_answers::check(NAME, &self.abilities, split, program, need, &self.limits)
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        if let (Some(lend), [dest]) = (launch.lend, launch.dests) {
            return self.lend(dest.block, lend);
        }
        let draw_buffers = (self.limits.0[resources::DRAW_BUFFERS] as usize).max(1);
        let halved = self.split_storage.halved(launch);
        let open = self.open()?;
        let mut evaluator = Evaluator {
            thread: &open.thread,
            blocks: &mut open.blocks,
            kernels: &mut open.kernels,
            newest: &mut open.newest,
            glsl: open.context.glsl,
            draw_buffers,
        };
        match &halved {
            Some(halved) => evaluator.eval(&halved.launch(launch)),
            None => evaluator.eval(launch),
        }
    }

    fn resource_get(&self, part: Part) -> Resources {
        resources::of_part(part, self.split_storage.split())
    }

    // `resource_zero`, `resource_add` and `resource_sub` are the contract's own: counts add up.

    fn resource_check(&self, resources: &Resources) -> bool {
        driver_answers::fits(resources, &self.limits)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gpupy_core::ErrorKind;
    use gpupy_core::driver::{Access, Dest};
    use gpupy_core::ir::{AccessKind, Builder, Form};

    /// A driver that believes its device's division and square root to be wrong.
    fn open_doubting() -> Option<Gl> {
        let mut gl = Gl::default();
        if let Err(error) = gl.init(&Config::default()) {
            gpupy_conformance::skipped(error);
            return None;
        }
        gl.abilities.findings.wrong = vec![(Op::Div, DType::F32), (Op::Sqrt, DType::F32)];
        Some(gl)
    }

    #[test]
    fn divisions_and_roots_of_inexact_devices_are_corrected_to_the_bit() {
        let Some(mut gl) = open_doubting() else { return };
        let len = 1 << 16;
        let mut state = 7u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(state ^ state >> 15)
        };
        let inputs: Vec<f32> = (0..2 * len).map(|_| next()).collect();
        for (op, arity) in [(Op::Div, 2), (Op::Sqrt, 1)] {
            let Method::Lowered(lowered) = gl.get_method(op, DType::F32) else {
                panic!("{op:?} is not corrected");
            };
            let mut b = Builder::new(Form::Map, 1);
            let all = b.access(AccessKind::Contiguous);
            let args: Vec<u32> = (0..arity)
                .map(|_| {
                    let operand = b.operand(DType::F32);
                    b.load(operand, all)
                })
                .collect();
            let value = b.inline(&lowered, &args);
            b.store(value);
            let program = b.finish();
            program.verify().unwrap();
            assert!(gl.check_ir(&program).unwrap().fits);
            let spec = BlockSpec::new(DType::F32, len);
            let mut operands = Vec::new();
            for values in inputs.chunks_exact(len).take(arity) {
                let block = gl.block_alloc(spec).unwrap();
                let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
                gl.block_write(block, 0, &bytes).unwrap();
                operands.push(block);
            }
            let block = gl.block_alloc(spec).unwrap();
            let walk = Access { offset: 0, strides: smallvec::smallvec![1] };
            gl.eval_ir(&Launch {
                program: &program,
                fingerprint: program.fingerprint(),
                shape: &[len],
                operands: &operands,
                params: &[],
                accesses: std::slice::from_ref(&walk),
                dests: &[Dest { block, access: walk.clone(), whole: true }],
                memory: &[],
                lend: None,
                rest: None,
            })
            .unwrap();
            let mut got = vec![0; len * 4];
            gl.block_read(block, 0, &mut got).unwrap();
            for (k, got) in got.chunks_exact(4).enumerate() {
                let got = f32::from_ne_bytes(got.try_into().unwrap());
                let (x, y) = (inputs[k], inputs[len + k]);
                let wanted = if arity == 2 { x / y } else { x.sqrt() };
                let same = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
                assert!(same, "{op:?} of {x:?} and {y:?}: {got:?}, not {wanted:?}");
            }
        }
    }

    #[test]
    fn what_is_corrected_is_not_taken_as_it_is() {
        let Some(mut gl) = open_doubting() else { return };
        let mut b = Builder::new(Form::Map, 1);
        let x = b.param(DType::F32);
        let x = b.op(Op::Sqrt, &[x]);
        b.store(x);
        let error = gl.check_ir(&b.finish()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
