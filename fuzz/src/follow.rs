//! The properties of programs that were read: those of all programs, and those of verified ones.
//!
//! Owns [`read`] and the stages after it: text, shaders, evaluation.

use crate::Reached;
use gpupy_codegen::fragment::{self, DrawRequest, DrawTarget, TextureLayout, Version};
use gpupy_codegen::supports;
use gpupy_core::DType;
use gpupy_core::driver::{Access, BlockId, BlockSpec, Capabilities, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Form, Program};
use gpupy_core::op::{Op, Rule};
use std::cell::RefCell;

/// Points of the launch, all along the last axis: more than a row of lanes, less than a chunk.
const POINTS: usize = 20;

/// A program that was read, whatever it is: it can be printed and checked. One that verifies is
/// followed further.
pub fn read(program: &Program, further: impl Fn(&Program)) -> Reached {
    // These may be asked of any program.
    let text = program.to_string();
    let uses = program.insts.iter().flat_map(|inst| program.uses(inst)).count();
    assert!(uses <= 3 * program.insts.len() + program.insts.len() * program.extra.len(), "{text}");
    match program.verify() {
        Ok(()) => {
            further(program);
            let ops =
                program.insts.iter().fold(0_u64, |ops, inst| ops | 1 << (inst.op as u32 % 64));
            Reached::value((program.form, ops.count_ones(), program.insts.len() / 4))
        }
        Err(error) => Reached::words(&error.to_string()),
    }
}

/// A program that verifies prints, and reads back as itself.
pub fn text(program: &Program) {
    let text = program.to_string();
    let again = text.parse::<Program>();
    assert!(again.as_ref().is_ok_and(|again| again == program), "{again:?}\n{text}");
    assert!(again.is_ok_and(|again| again.fingerprint() == program.fingerprint()), "{text}");
}

/// A program that verifies becomes a shader, where the language has all of it, and is evaluated.
pub fn stages(program: &Program) {
    let numbers = Numbers::of(program);
    if is_emitted(program) {
        numbers.shader(program);
    }
    // The number of a loop's rounds may be anything.
    if !program.insts.iter().any(|inst| inst.op == Op::Loop) {
        numbers.evaluate(program);
    }
}

/// Whether shaders support every operation of the program, as a driver must know.
fn is_emitted(program: &Program) -> bool {
    const DTYPES: [DType; 4] = [DType::Bool, DType::I32, DType::U32, DType::F32];
    let drawn = matches!(program.form, Form::Map | Form::Reduce { .. })
        && program.reductions().count() <= 1;
    drawn
        && program.insts.iter().all(|inst| {
            let operand = program.uses(inst).nth(usize::from(inst.op == Op::Select));
            let from = operand.map_or(inst.dtype, |value| program.insts[value as usize].dtype);
            let combined = match (inst.op, program.form) {
                (Op::Reduce, Form::Reduce { op }) => supports(op, inst.dtype, inst.dtype),
                _ => true,
            };
            let emitted =
                inst.op.info().rule == Rule::Special || supports(inst.op, from, inst.dtype);
            combined && emitted && DTYPES.contains(&inst.dtype) && DTYPES.contains(&from)
        })
        && [&program.operands, &program.params, &program.dests]
            .iter()
            .all(|dtypes| dtypes.iter().all(|dtype| DTYPES.contains(dtype)))
}

/// The numbers of a launch of one row.
struct Numbers {
    shape: Vec<usize>,
    accesses: Vec<Access>,
    params: Vec<u64>,
    /// Where destinations are written, and how many elements.
    dest: Access,
    written: usize,
}

impl Numbers {
    fn of(program: &Program) -> Numbers {
        let rank = program.rank as usize;
        let row = |points: usize| {
            let strides = (0..rank).map(|k| if k + 1 < rank { points as i64 } else { 1 });
            Access { offset: 0, strides: strides.collect() }
        };
        let access = |kind: &AccessKind| match kind {
            AccessKind::Uniform => Access { offset: 0, strides: (0..rank).map(|_| 0).collect() },
            AccessKind::Contiguous | AccessKind::Affine => row(POINTS),
        };
        let mut shape = vec![1; rank];
        shape[rank - 1] = POINTS;
        let written = program.form.out_shape(&shape).iter().product();
        Numbers {
            shape,
            accesses: program.accesses.iter().map(access).collect(),
            params: program.params.iter().map(|_| 1).collect(),
            dest: row(written),
            written,
        }
    }

    fn shader(&self, program: &Program) {
        let layout = |len| TextureLayout::square(len, 16384);
        let (Some(read), Some(written)) = (layout(POINTS), layout(self.written)) else { return };
        let stores: Vec<u32> = (0..program.dests.len() as u32).collect();
        for specialise in [false, true] {
            let request = DrawRequest {
                program,
                shape: &self.shape,
                accesses: &self.accesses,
                operands: &vec![read; program.operands.len()],
                params: &self.params,
                stores: &stores,
                target: DrawTarget { layout: written, access: &self.dest, whole: true },
                specialise,
            };
            if let Ok(planned) = fragment::plan(&request) {
                let shader = fragment::source(program, &planned.plan, Version::V400);
                assert!(shader.ends_with("}\n"), "{shader}");
            }
        }
    }

    fn evaluate(&self, program: &Program) {
        thread_local! {
            /// An open driver, and its capabilities.
            static CPU: RefCell<Option<(Box<dyn Driver>, Capabilities)>> =
                const { RefCell::new(None) };
        }
        CPU.with_borrow_mut(|cpu| {
            let (cpu, caps) = cpu.get_or_insert_with(|| {
                let mut cpu = driver_cpu::new();
                let caps = cpu.init(&Config::default()).unwrap_or_default();
                (cpu, caps)
            });
            if program.dests.len() > caps.max_dests || !caps.takes_reductions(program) {
                return;
            }
            if !cpu.check_ir(program).is_ok_and(|check| check.fits) {
                return;
            }
            let operands = blocks(cpu.as_mut(), &program.operands, POINTS);
            let dests = blocks(cpu.as_mut(), &program.dests, self.written);
            let done = cpu.eval_ir(&Launch {
                program,
                fingerprint: program.fingerprint(),
                shape: &self.shape,
                operands: &operands,
                params: &self.params,
                accesses: &self.accesses,
                dests: &dests
                    .iter()
                    .map(|block| Dest { block: *block, access: self.dest.clone(), whole: true })
                    .collect::<Vec<_>>(),
                memory: &[],
                lend: None,
                rest: None,
            });
            operands.into_iter().chain(dests).for_each(|block| cpu.block_free(block));
            assert!(done.is_ok(), "{done:?}\n{program}");
        });
    }
}

/// Blocks of ones, or of elements whose bytes are 1.
fn blocks(driver: &mut dyn Driver, dtypes: &[DType], len: usize) -> Vec<BlockId> {
    let block = |dtype: &DType| {
        let block = driver.block_alloc(BlockSpec::new(*dtype, len));
        let written = block.and_then(|block| {
            driver.block_write(block, 0, &vec![1; len * dtype.size()]).map(|()| block)
        });
        written.unwrap_or_else(|error| panic!("a small block: {error}"))
    };
    dtypes.iter().map(block).collect()
}
