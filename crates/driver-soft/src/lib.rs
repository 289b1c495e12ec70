//! The software driver: the 14 functions of the contract, at their shortest. It is a starting point for writing
//! a driver; every other driver keeps the same files for the same duties.
//!
//! Owns [`Soft`]. It evaluates one operation at a time on host memory: slow, simple, and a test of
//! partitioning. Invariants: `check_ir` and `eval_ir` agree; no function panics on input that the contract
//! allows.
//!
//! Not here: memory (`blocks.rs`), what fits in one evaluation (`resources.rs`), evaluation itself (`eval.rs`,
//! and `library_forms.rs` for scans, sorts and matrix products), what operations compute (`gpupy_core::op_eval`).

mod blocks;
mod eval;
mod library_forms;
mod resources;

use blocks::{Blocks, invalid};
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources, one_by_one,
};
use gpupy_core::ir::{FormKind, Program, REDUCE_CHUNK};
use gpupy_core::op::{Op, Rule};
use gpupy_core::{DType, Error, ErrorKind, Result, op_eval};

/// The name under which a program asks for this driver.
pub const NAME: &str = "soft";

/// The dtypes of blocks. More would work; these are the ones of every driver.
const DTYPES: [DType; 4] = [DType::Bool, DType::I32, DType::U32, DType::F32];

/// Bytes of the largest block, unless the configuration says less.
const BLOCK_BYTES: u64 = 1 << 30;

/// The most destinations of one program, and reductions.
const MAX_DESTS: usize = 4;

/// Launches of a sequence.
const LAUNCHES: usize = 16;

/// A software driver, closed.
pub fn new() -> Box<dyn Driver> {
    Box::new(Soft::default())
}

/// The software driver.
#[derive(Default)]
pub struct Soft {
    blocks: Blocks,
}

impl Driver for Soft {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if self.blocks.longest > 0 {
            return Err(invalid("the driver is open already"));
        }
        // A limit of 0 means "as much as possible"; one above this driver's own does not help.
        let at_most = |wanted: u64, ours: u64| if wanted == 0 { ours } else { wanted.min(ours) };
        let elements = |bytes: u64| bytes as usize / size_of::<u32>();
        self.blocks.room = elements(at_most(config.device_bytes, u64::MAX));
        let longest = elements(at_most(config.block_bytes, BLOCK_BYTES));
        // The operand elements of one point of a reduction fit in any block.
        self.blocks.longest = longest.max(REDUCE_CHUNK);
        Ok(Capabilities {
            device: "one operation at a time on the CPU".to_string(),
            hardware: false,
            dtypes: DTYPES.to_vec(),
            max_block_len: self.blocks.longest,
            max_dests: MAX_DESTS,
            forms: FormKind::OFFERED.to_vec(),
            flushes_subnormals: false,
            host_memory: false,
            in_place: false,
            resources: vec![(resources::LIMIT.0.into(), resources::LIMIT.1)],
            max_reductions: MAX_DESTS,
            memory_launches: true,
            max_launches: LAUNCHES,
            pieces: true,
            ..Capabilities::default()
        })
    }

    fn cleanup(&mut self) {
        self.blocks = Blocks::default();
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        let native = match op {
            Op::Loop | Op::Carry | Op::Iter | Op::If | Op::Else | Op::End | Op::Result => false,
            // `dtype` is the result of a cast; its operand may have any of the driver's dtypes.
            Op::Cast => DTYPES.iter().all(|from| op_eval::function(op, *from, dtype).is_some()),
            _ if op.info().rule == Rule::Special => true,
            // Functions with an error bound come from the core, as programs of exact operations.
            _ if op.info().ulp > 0.0 => false,
            _ => op_eval::function(op, dtype, dtype).is_some(),
        };
        if native && DTYPES.contains(&dtype) { Method::Native } else { Method::Absent }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.blocks.alloc(spec)
    }

    fn block_free(&mut self, block: BlockId) {
        self.blocks.free(block);
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.blocks.get(block)?.read(offset, out)
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.blocks.get(block)?.write(offset, data)
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        for inst in &program.insts {
            let first = program.uses(inst).next().filter(|_| inst.op != Op::Cast);
            let dtype = first.map_or(inst.dtype, |value| program.insts[value as usize].dtype);
            if self.get_method(inst.op, dtype) == Method::Absent {
                return Err(Error::new(ErrorKind::Unsupported, "check_ir")
                    .with("driver", NAME)
                    .with("operation", inst.op.info().name)
                    .with("dtype", dtype));
            }
        }
        let resources = resources::of_program(program);
        Ok(Check { fits: resources::fit(&resources), resources })
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        if launch.rest.is_some() {
            return one_by_one(launch, |launch| self.eval_ir(launch));
        }
        if !self.check_ir(launch.program)?.fits {
            return Err(Error::new(ErrorKind::Refused, NAME).says("more than one operation"));
        }
        if launch.memory.is_empty() {
            evaluate(&mut self.blocks, launch)?;
        } else {
            let mut brought = self.blocks.brought(launch)?;
            evaluate(&mut brought, launch)?;
            brought.give_back(launch)?;
        }
        Ok(Evaluated { launches: 1, ..Evaluated::default() })
    }

    fn resource_get(&self, part: Part) -> Resources {
        resources::of_part(part)
    }

    // `resource_zero`, `resource_add` and `resource_sub` are the contract's own: counts add up.

    fn resource_check(&self, resources: &Resources) -> bool {
        resources::fit(resources)
    }
}

fn evaluate(blocks: &mut Blocks, launch: &Launch<'_>) -> Result<()> {
    match launch.program.form.is_library_op() {
        true => library_forms::launch(blocks, launch),
        false => eval::launch(blocks, launch),
    }
}
