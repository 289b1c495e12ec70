//! The OpenGL driver: programs drawn as fragment shaders into textures, without a display.
//!
//! Owns [`Gl`]. Invariants: the context lives on a thread of its own (`thread.rs`); everything else
//! here is the caller's side, and knows blocks, layouts and compiled kernels without asking it.
//!
//! Not here: memory (`blocks.rs`, `textures.rs`), what fits in one evaluation (`resources.rs`),
//! evaluation (`eval.rs`, `gpu.rs`), the text of shaders (`gpupy-codegen`).

mod across;
mod blocks;
mod context;
mod disk;
mod display;
mod eval;
mod gpu;
mod kernels;
mod memory;
mod planes;
mod probe;
mod resources;
mod textures;
mod thread;

use blocks::Blocks;
use context::Limits;
use eval::{Compiled, Evaluator};
use gpu::KernelId;
use gpupy_codegen::cache::{self, Kernels};
use gpupy_codegen::fragment::Plan;
use gpupy_codegen::planes::{Planes, has_planes};
use gpupy_codegen::{exact, supports};
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::{Form, FormKind, Program};
use gpupy_core::op::{Op, Rule};
use gpupy_core::{DType, Error, ErrorKind, Result};
use planes::{Long, Longs};
use probe::Findings;
use std::ops::Range;
use thread::GlThread;

/// The name under which a program asks for this driver.
pub const NAME: &str = "gl";

/// What textures may hold.
///
/// Those of 64 bits stand last; not every context has them.
const DTYPES: [DType; 12] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::F16,
    DType::F32,
    DType::I64,
    DType::U64,
    DType::F64,
];

/// How many of [`DTYPES`] every context has.
const SHORT: usize = 9;

/// Elements of the largest block, however large textures may be: 1 GiB of float32.
const MAX_BLOCK_LEN: u64 = 1 << 28;

/// Writes up to this many bytes are copied and queued; longer ones wait for the device to take
/// them.
const QUEUED_WRITE: usize = 1 << 16;

/// An OpenGL driver, closed.
pub fn new() -> Box<dyn Driver> {
    Box::new(Gl::default())
}

/// The OpenGL driver.
#[derive(Default)]
pub struct Gl {
    open: Option<Open>,
    limits: Resources,
    findings: Findings,
}

/// What an open driver has.
struct Open {
    thread: GlThread,
    context: Limits,
    blocks: Blocks,
    kernels: Kernels<Plan, Compiled>,
    newest: KernelId,
    longs: Longs,
}

impl Gl {
    fn open(&mut self) -> Result<&mut Open> {
        self.open.as_mut().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "gl").says("the driver is not open").with("driver", NAME)
        })
    }

    /// What blocks of this context may hold.
    fn dtypes(&self) -> &'static [DType] {
        let long = self.open.as_ref().is_some_and(|open| open.context.long);
        if long { &DTYPES } else { &DTYPES[..SHORT] }
    }
}

impl Driver for Gl {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if self.open.is_some() {
            return Err(Error::new(ErrorKind::Invalid, "init")
                .says("the driver is open already")
                .with("driver", NAME));
        }
        let thread = GlThread::start(config)?;
        let context = thread.ask(|gpu| gpu.limits().clone())?;
        self.limits = resources::limits(&context, &config.resources);
        let at_most = |wanted: u64, ours: u64| if wanted == 0 { ours } else { wanted.min(ours) };
        let memory = at_most(config.device_bytes, memory::available(&context));
        // The width of most textures is a power of two.
        let side = 1u64 << context.texture_size.max(1).ilog2();
        let largest = MAX_BLOCK_LEN.min(side * u64::from(context.texture_size) * 4);
        let widest = if context.long { 8 } else { 4 };
        let wanted =
            if config.block_bytes == 0 { 0 } else { (config.block_bytes / widest).max(256) };
        let max_block_len = at_most(wanted, largest) as usize;
        let blocks = Blocks::new(context.texture_size);
        let (device, devices) = (context.renderer.clone(), context.devices.clone());
        let hardware = context.hardware;
        let kernels = Kernels::specialising_after(match hardware {
            true => cache::ELEMENTS_UNTIL_LITERALS,
            false => cache::ELEMENTS_WHERE_SCALARS_ARE_DEAR,
        });
        self.open =
            Some(Open { thread, context, blocks, kernels, newest: 0, longs: Longs::default() });
        self.findings = Findings::default();
        // What is tried is not the user's, and needs no room in a lowered limit.
        let found = Findings::of(self);
        let limited =
            self.open().and_then(|open| open.blocks.limit(&open.thread, memory, max_block_len));
        match found.and_then(|findings| limited.map(|()| findings)) {
            Ok(findings) => self.findings = findings,
            Err(error) => {
                self.cleanup();
                return Err(Error::new(ErrorKind::Unavailable, "init")
                    .says("a first draw does not work")
                    .with("driver", NAME)
                    .with("device", device)
                    .with("reason", &error)
                    .from_source(error));
            }
        }
        Ok(Capabilities {
            device,
            hardware,
            dtypes: self.dtypes().to_vec(),
            max_block_len,
            max_dests: self.limits.0[resources::DRAW_BUFFERS] as usize,
            forms: vec![FormKind::Reduce],
            flushes_subnormals: self.findings.flushes_subnormals,
            host_memory: false,
            in_place: false,
            resources: resources::named(&self.limits),
            devices,
            ..Capabilities::default()
        })
    }

    fn cleanup(&mut self) {
        self.open = None;
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        match op {
            Op::Div if self.findings.rounds_division && dtype == DType::F32 => {
                return Method::Lowered(exact::division());
            }
            Op::Sqrt if self.findings.rounds_root && dtype == DType::F32 => {
                return Method::Lowered(exact::square_root());
            }
            // Of float16 they are those of float32, rounded.
            Op::Div if self.findings.rounds_division => return Method::Absent,
            Op::Sqrt if self.findings.rounds_root => return Method::Absent,
            _ => {}
        }
        let native = match op {
            _ if op.form().is_some_and(|form| form != FormKind::Reduce) => false,
            _ if op.info().rule == Rule::Special => true,
            // Of a cast, `dtype` is what comes out; what goes in is then any of ours.
            Op::Cast => self.dtypes().iter().all(|from| supports(op, *from, dtype)),
            _ => supports(op, dtype, dtype),
        };
        if native && self.dtypes().contains(&dtype) { Method::Native } else { Method::Absent }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let known = self.dtypes().contains(&spec.dtype);
        let open = self.open()?;
        match known && has_planes(spec.dtype) {
            true => open.longs.alloc(&open.thread, &mut open.blocks, spec),
            false => open.blocks.alloc(&open.thread, spec),
        }
    }

    fn block_free(&mut self, block: BlockId) {
        if let Ok(open) = self.open() {
            open.blocks.free(&open.thread, block);
            if let Some(long) = open.longs.remove(block) {
                open.blocks.free(&open.thread, long.high);
            }
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let open = self.open()?;
        let Some(Long { spec, high }) = open.longs.get(block) else {
            let spec = open.blocks.get(block)?.spec;
            let end = within("block_read", spec, offset, out.len())?;
            return open.read(block, offset..end, out);
        };
        let end = within("block_read", spec, offset, out.len())?;
        let mut halves = [block, high].map(|half| (half, vec![0; out.len() / 2]));
        for (half, bytes) in &mut halves {
            open.read(*half, offset..end, bytes)?;
        }
        planes::join(&halves[0].1, &halves[1].1, out);
        Ok(())
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let open = self.open()?;
        let Some(Long { spec, high }) = open.longs.get(block) else {
            let spec = open.blocks.get(block)?.spec;
            let end = within("block_write", spec, offset, data.len())?;
            return open.write(block, offset..end, data);
        };
        let end = within("block_write", spec, offset, data.len())?;
        let [low, upper] = planes::halves(data);
        open.write(block, offset..end, &low)?;
        open.write(high, offset..end, &upper)
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        let dtypes = self.dtypes();
        for inst in &program.insts {
            let operand = usize::from(inst.op == Op::Select);
            let first = program.uses(inst).nth(operand).map(|v| program.insts[v as usize].dtype);
            let from = first.unwrap_or(inst.dtype);
            let known = dtypes.contains(&inst.dtype) && dtypes.contains(&from);
            let spelled =
                inst.op.info().rule == Rule::Special || supports(inst.op, from, inst.dtype);
            let formed = match (inst.op, program.form) {
                (Op::Reduce, Form::Reduce { op }) => supports(op, inst.dtype, inst.dtype),
                _ => inst.op.form().is_none(),
            };
            let wrong = match inst.op {
                Op::Div => self.findings.rounds_division,
                Op::Sqrt => self.findings.rounds_root,
                _ => false,
            };
            if !(known && spelled && formed) || wrong {
                return Err(Error::new(ErrorKind::Unsupported, "check_ir")
                    .with("driver", NAME)
                    .with("operation", inst.op.info().name)
                    .with("dtype", from));
            }
        }
        let planes = Planes::of(program);
        let program = planes.as_ref().map_or(program, |planes| &planes.program);
        let resources = resources::of_program(program);
        Ok(Check { fits: self.resource_check(&resources), resources })
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let draw_buffers = (self.limits.0[resources::DRAW_BUFFERS] as usize).max(1);
        let open = self.open()?;
        let planes = open.longs.planes(launch.fingerprint, launch.program);
        let mut evaluator = Evaluator {
            thread: &open.thread,
            blocks: &mut open.blocks,
            kernels: &mut open.kernels,
            newest: &mut open.newest,
            glsl: open.context.glsl,
            draw_buffers,
        };
        let Some(planes) = planes else { return evaluator.eval(launch) };
        let (operands, dests) = open.longs.blocks(launch, &planes);
        evaluator.eval(&Launch {
            program: &planes.program,
            fingerprint: planes.fingerprint,
            operands: &operands,
            dests: &dests,
            ..launch.clone()
        })
    }

    fn resource_get(&self, part: Part) -> Resources {
        resources::of_part(part)
    }

    // `resource_zero`, `resource_add` and `resource_sub` are the contract's own: counts add up.

    fn resource_check(&self, resources: &Resources) -> bool {
        resources.0.iter().zip(self.limits.0).all(|(need, limit)| *need <= limit)
    }
}

impl Open {
    /// Reads elements of a block that is one texture.
    fn read(&mut self, block: BlockId, range: Range<usize>, out: &mut [u8]) -> Result<()> {
        let (texture, _) = self.blocks.texture(&self.thread, block, None)?;
        self.thread.ask(|gpu| gpu.read(texture, range, out))?
    }

    /// Writes elements of a block that is one texture.
    fn write(&mut self, block: BlockId, range: Range<usize>, data: &[u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        let whole = range.len() == self.blocks.get(block)?.spec.len;
        let (texture, _) = self.blocks.texture(&self.thread, block, None)?;
        if data.len() > QUEUED_WRITE {
            return self.thread.ask(|gpu| gpu.write(texture, range, data, whole))?;
        }
        let data = data.to_vec();
        self.thread.post(move |gpu| {
            if let Err(error) = gpu.write(texture, range, &data, whole) {
                gpu.poison(texture, error);
            }
        })
    }
}

/// The end of a range of elements, which must lie inside the block.
fn within(operation: &'static str, spec: BlockSpec, offset: usize, bytes: usize) -> Result<usize> {
    let end = offset.saturating_add(bytes / spec.dtype.size());
    if end <= spec.len && bytes.is_multiple_of(spec.dtype.size()) {
        return Ok(end);
    }
    Err(Error::new(ErrorKind::Invalid, operation)
        .says("the range is not one of whole elements inside the block")
        .with("driver", NAME)
        .with("bytes", bytes)
        .with("end", end)
        .with("block", spec.len))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gpupy_core::driver::{Access, Dest};
    use gpupy_core::ir::{AccessKind, Builder};

    /// A driver that finds its device's division and root wrong.
    fn open_doubting() -> Option<Gl> {
        let mut gl = Gl::default();
        if let Err(error) = gl.init(&Config::default()) {
            println!("skipped: {error}");
            return None;
        }
        gl.findings.rounds_division = true;
        gl.findings.rounds_root = true;
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
