//! Owns [`Cpu`]. A program is compiled to a plan of operations on rows (`compile`), which runs for each row of
//! the launch (`run`). A map that is evaluated at enough points runs as machine code instead, if `gpupy-jit`
//! can write it; both give the same bits.
//!
//! Not here: memory (`blocks.rs`), what fits in one evaluation (`resources.rs`), evaluation itself (`eval`),
//! what operations compute (`rows`).

use crate::blocks::Blocks;
use crate::errors::{NAME, invalid};
use crate::eval::Evaluator;
use crate::threads::thread_count;
use crate::{resources, routines, rows};
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::{Form, FormKind, Program, REDUCE_CHUNK};
use gpupy_core::op::Rule;
use gpupy_core::{DType, Error, ErrorKind, Op, Result, functions};

/// Elements of the largest block, unless the configuration says less: int32 numbers name them all.
const LONGEST: u64 = 1 << 30;

/// The most destinations of one program.
const MAX_DESTS: usize = 16;

/// The most reductions of one program: their rows lie in the nearest cache together.
const MAX_REDUCTIONS: usize = 8;

/// A CPU driver, closed.
pub fn new() -> Box<dyn Driver> {
    Box::new(Cpu::default())
}

/// The CPU driver.
#[derive(Default)]
pub struct Cpu {
    blocks: Blocks,
    /// The evaluator, while the driver is open.
    evaluator: Option<Evaluator>,
    /// The instructions of the largest program.
    limit: u32,
}

impl Driver for Cpu {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if self.evaluator.is_some() {
            return Err(invalid("the driver is open already"));
        }
        let threads = thread_count::asked(config.threads);
        // A limit of 0 means "as much as possible"; one above this driver's own does not help.
        let at_most = |wanted: u64, ours: u64| if wanted == 0 { ours } else { wanted.min(ours) };
        self.blocks.room = at_most(config.device_bytes, u64::MAX);
        let largest = DType::C128.size() as u64;
        let longest = at_most(config.block_bytes, LONGEST * largest) / largest;
        // The operand elements of one point of a reduction fit in any block.
        self.blocks.longest = (longest as usize).max(REDUCE_CHUNK);
        self.limit = resources::limit(&config.resources);
        self.evaluator = Some(Evaluator::new(self.limit, threads));
        let threads = thread_count::now(threads);
        let plural = if threads == 1 { "" } else { "s" };
        Ok(Capabilities {
            device: format!("the CPU ({threads} thread{plural})"),
            hardware: false,
            dtypes: DType::ALL.to_vec(),
            max_block_len: self.blocks.longest,
            max_dests: MAX_DESTS,
            forms: FormKind::OFFERED.to_vec(),
            flushes_subnormals: false,
            host_memory: true,
            in_place: true,
            resources: vec![(resources::LIMIT.0.into(), self.limit)],
            max_reductions: MAX_REDUCTIONS,
            memory_launches: true,
            pieces: true,
            routines: routines::offered(),
            ..Capabilities::default()
        })
    }

    fn cleanup(&mut self) {
        self.blocks = Blocks::default();
        self.evaluator = None;
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        // A cast or bitcast is named by its result's dtype; it is tested with an operand of the same dtype.
        let native = op.info().rule == Rule::Special || does(op, dtype, dtype);
        if native { Method::Native } else { Method::Absent }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.blocks.alloc(spec)
    }

    fn block_free(&mut self, block: BlockId) {
        self.blocks.free(block);
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        out.copy_from_slice(self.blocks.get(block)?.part(offset, out.len())?);
        Ok(())
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.blocks.get(block)?.part(offset, data.len())?.copy_from_slice(data);
        Ok(())
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        for inst in program.insts.iter().filter(|inst| inst.op.is_scalar_op()) {
            // A select is named by the dtype of its second operand.
            let first = inst.args[usize::from(inst.op == Op::Select)];
            let from = program.insts[first as usize].dtype;
            if !does(inst.op, from, inst.dtype) {
                return Err(unsupported(inst.op, from));
            }
        }
        if let Form::Routine { routine } = program.form
            && !program
                .operands
                .iter()
                .all(|dtype| routines::offered().contains(&(routine, *dtype)))
        {
            return Err(unsupported(Op::Routine, program.operands[0]));
        }
        let scanned = match program.form {
            Form::Scan { op } => {
                program.insts.iter().find(|inst| inst.op == Op::Scan).zip(Some(op))
            }
            _ => None,
        };
        let scanned = scanned.map(|(inst, op)| (op, inst.dtype));
        let reduced = program.reductions().map(|reduction| (reduction.op, reduction.dtype));
        let mut combined = reduced.chain(scanned);
        if let Some((op, dtype)) =
            combined.find(|(op, dtype)| rows::reduce_chunks(*op, *dtype).is_none())
        {
            return Err(unsupported(op, dtype));
        }
        let resources = resources::of_program(program);
        Ok(Check { fits: resources::fit(&resources, self.limit), resources })
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let evaluator = self.evaluator.as_mut().ok_or_else(|| invalid("the driver is closed"))?;
        evaluator.launch(&mut self.blocks, launch)
    }

    fn resource_get(&self, part: Part) -> Resources {
        resources::of_part(part)
    }

    // `resource_zero`, `resource_add` and `resource_sub` are the contract's own: counts add up.

    fn resource_check(&self, resources: &Resources) -> bool {
        resources::fit(resources, self.limit)
    }
}

/// Whether the driver has a row function for an operation. Functions with a program in the core are left to the
/// core: so they have the same bits on every driver, and are vector code.
fn does(op: Op, from: DType, to: DType) -> bool {
    functions::program(op, from).is_none() && rows::operation(op, from, to, [false; 3]).is_some()
}

fn unsupported(op: Op, dtype: DType) -> Error {
    Error::new(ErrorKind::Unsupported, "check_ir")
        .with("driver", NAME)
        .with("operation", op.info().name)
        .with("dtype", dtype)
}
