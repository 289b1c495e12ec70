//! bfloat16 and numbers in pieces on drivers without them.
//!
//! Owns [`provided`] and the driver that it wraps another in, which rewrites programs: with bfloat16
//! (`gpupy_core::ir::bfloat16_lowering`), whose blocks become blocks of uint16, and with numbers in pieces
//! (`gpupy_core::ir::pieces_lowering`). Invariant: the wrapped driver is never sent what it lacks of these, neither a
//! block, a program nor a question; other programs reach it as they are.
//!
//! Not here: drivers that have both, which are not wrapped.

use crate::thresholds::T;
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources, Sequence,
};
use gpupy_core::ir::bfloat16_lowering::{is_in, lowered, operations, stored};
use gpupy_core::ir::{Builder, Fingerprint, Form, Program, pieces_lowering};
use gpupy_core::op::{Op, Rule};
use gpupy_core::{DType, Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;

const BF16: DType = DType::BF16;

/// A driver that is open, with numbers in pieces, and with bfloat16 among its capabilities, if it computes what these
/// are made of.
pub fn provided(
    driver: Box<dyn Driver>,
    mut caps: Capabilities,
) -> (Box<dyn Driver>, Capabilities) {
    if caps.dtypes.contains(&BF16) && caps.pieces {
        return (driver, caps);
    }
    let (has_bfloat16, has_pieces, is_able) = (false, false, false);
    let (programs, sequences) = (FxHashMap::default(), FxHashMap::default());
    let mut driver =
        LoweringDriver { has_bfloat16, has_pieces, is_able, driver, programs, sequences };
    driver.admit(&mut caps);
    (Box::new(driver), caps)
}

/// A driver behind the rewriting of programs.
struct LoweringDriver {
    driver: Box<dyn Driver>,
    /// Whether the driver has bfloat16, and numbers in pieces, by itself.
    has_bfloat16: bool,
    has_pieces: bool,
    /// Whether the driver computes what bfloat16 is made of.
    is_able: bool,
    /// The rewritten programs; `None` for those that have none.
    programs: FxHashMap<Fingerprint, Option<Arc<RewrittenProgram>>>,
    /// Those of sequences.
    sequences: FxHashMap<Fingerprint, RewrittenPrograms>,
}

struct RewrittenProgram {
    program: Program,
    fingerprint: Fingerprint,
}

impl RewrittenProgram {
    /// A launch of this program.
    fn launch<'a>(&'a self, launch: &Launch<'a>) -> Launch<'a> {
        let (program, fingerprint) = (&self.program, self.fingerprint);
        Launch { program, fingerprint, ..launch.clone() }
    }
}

/// The programs of a sequence that are rewritten.
type RewrittenPrograms = Arc<[Option<Arc<RewrittenProgram>>]>;

impl LoweringDriver {
    /// Adds what the driver lacks to its capabilities, if it is able.
    fn admit(&mut self, caps: &mut Capabilities) {
        self.has_pieces = caps.pieces;
        let is_compared = |op| self.driver.get_method(op, DType::I32) == Method::Native;
        caps.pieces |=
            caps.dtypes.contains(&DType::I32) && [Op::Lt, Op::Select].into_iter().all(is_compared);
        self.has_bfloat16 = caps.dtypes.contains(&BF16);
        if self.has_bfloat16 {
            return;
        }
        let needed = [DType::U16, DType::U32, DType::F32];
        let is_native = |(op, dtype): (Op, DType)| {
            // Comparisons and others are named by the dtype of their operands.
            let dtype = if dtype == DType::Bool { DType::U32 } else { dtype };
            self.driver.get_method(op, dtype) == Method::Native
        };
        // Rounding and moving; the arithmetic itself is asked for in `get_method`.
        let made = [Op::Load, Op::Store, Op::Gather, Op::Bitcast, Op::Select, Op::Cast];
        let mut made = made.into_iter().flat_map(operations);
        self.is_able = needed.iter().all(|dtype| caps.dtypes.contains(dtype))
            && made.all(is_native)
            && is_native((Op::Xor, DType::U32));
        if self.is_able {
            caps.dtypes.push(BF16);
        }
    }

    /// Whether a program is rewritten.
    fn is_rewritten(&self, program: &Program) -> bool {
        !self.has_pieces && pieces_lowering::is_in(program) || !self.has_bfloat16 && is_in(program)
    }

    /// The program to send for one that is rewritten.
    fn program(
        &mut self,
        program: &Program,
        fingerprint: Fingerprint,
    ) -> Result<Arc<RewrittenProgram>> {
        if self.programs.len() >= T.lowered_programs {
            self.programs.clear();
        }
        let (is_able, has_bfloat16) = (self.is_able, self.has_bfloat16);
        let known = self.programs.entry(fingerprint).or_insert_with(|| {
            // Choices of bfloat16 become selects first.
            let mut program = match pieces_lowering::is_in(program) {
                true => pieces_lowering::lowered(program),
                false => program.clone(),
            };
            if is_in(&program) && !has_bfloat16 {
                program = is_able.then(|| lowered(&program)).flatten()?;
            }
            let fingerprint = program.fingerprint();
            Some(Arc::new(RewrittenProgram { program, fingerprint }))
        });
        known.clone().ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, "check_ir").with("dtype", BF16.name())
        })
    }

    /// What is sent for the program of a launch, if it is rewritten.
    fn lowered(&mut self, launch: &Launch<'_>) -> Result<Option<Arc<RewrittenProgram>>> {
        match self.is_rewritten(launch.program) {
            true => self.program(launch.program, launch.fingerprint).map(Some),
            false => Ok(None),
        }
    }

    /// The same of all launches of a sequence, which is sent again and again.
    fn lowered_sequence(
        &mut self,
        launch: &Launch<'_>,
        name: Fingerprint,
    ) -> Result<RewrittenPrograms> {
        if let Some(known) = self.sequences.get(&name) {
            return Ok(known.clone());
        }
        let lowered = launch.all().map(|launch| self.lowered(launch));
        let lowered: RewrittenPrograms = lowered.collect::<Result<Vec<_>>>()?.into();
        if self.sequences.len() >= T.lowered_programs {
            self.sequences.clear();
        }
        self.sequences.insert(name, lowered.clone());
        Ok(lowered)
    }

    fn sum(&self, parts: impl IntoIterator<Item = Part>) -> Resources {
        let mut total = self.driver.resource_zero();
        for part in parts {
            self.driver.resource_add(&mut total, &self.driver.resource_get(part));
        }
        total
    }
}

impl Driver for LoweringDriver {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        let mut caps = self.driver.init(config)?;
        self.admit(&mut caps);
        Ok(caps)
    }

    fn cleanup(&mut self) {
        self.driver.cleanup();
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        match op {
            Op::Piece if !self.has_pieces => self.get_method(Op::Lt, dtype),
            Op::Choose if !self.has_pieces => self.get_method(Op::Select, dtype),
            _ if dtype != BF16 || self.has_bfloat16 => self.driver.get_method(op, dtype),
            _ if !self.is_able => Method::Absent,
            Op::Scan | Op::Sort | Op::ArgSort | Op::MatMul => Method::Absent,
            Op::Gather => self.driver.get_method(op, DType::U16),
            Op::Select | Op::Bitcast => Method::Native,
            _ if op.info().rule == Rule::Special => self.driver.get_method(op, DType::U32),
            _ => match self.driver.get_method(op, DType::F32) {
                Method::Lowered(program) => Method::Lowered(widened(&program)),
                method => method,
            },
        }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let dtype = if self.has_bfloat16 { spec.dtype } else { stored(spec.dtype) };
        self.driver.block_alloc(BlockSpec { dtype, ..spec })
    }

    fn block_free(&mut self, block: BlockId) {
        self.driver.block_free(block);
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.driver.block_read(block, offset, out)
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.driver.block_write(block, offset, data)
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        if !self.is_rewritten(program) {
            return self.driver.check_ir(program);
        }
        let lowered = self.program(program, program.fingerprint())?;
        self.driver.check_ir(&lowered.program)
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let Some(rest) = launch.rest else {
            let Some(lowered) = self.lowered(launch)? else { return self.driver.eval_ir(launch) };
            return self.driver.eval_ir(&lowered.launch(launch));
        };
        let lowered = self.lowered_sequence(launch, rest.fingerprint)?;
        if lowered.iter().all(Option::is_none) {
            return self.driver.eval_ir(launch);
        }
        let mut launches: Vec<Launch<'_>> = Vec::with_capacity(lowered.len());
        for (launch, lowered) in launch.all().zip(&*lowered) {
            launches.push(lowered.as_ref().map_or_else(|| launch.clone(), |to| to.launch(launch)));
        }
        let (first, launches) = launches.split_first().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "eval_ir").says("a sequence has no launch")
        })?;
        let rest = Some(Sequence { launches, ..rest });
        self.driver.eval_ir(&Launch { rest, ..first.clone() })
    }

    fn resource_get(&self, part: Part) -> Resources {
        let op = |op| operations(op).into_iter().map(|(op, dtype)| Part::Op(op, dtype));
        match part {
            Part::Op(op, dtype) if !self.has_pieces && pieces_lowering::is_lowered(op) => {
                let made = pieces_lowering::operations(op, dtype);
                let made = made.into_iter().map(|(op, dtype)| Part::Op(op, dtype));
                let mut need = made.fold(self.driver.resource_zero(), |mut sum, part| {
                    self.driver.resource_add(&mut sum, &self.resource_get(part));
                    sum
                });
                self.driver.resource_add(&mut need, &self.driver.resource_get(Part::Index));
                need
            }
            part if self.has_bfloat16 => self.driver.resource_get(part),
            Part::Op(of, BF16) => self.sum(op(of)),
            Part::Operand(BF16) => self.sum(op(Op::Load).chain([Part::Operand(DType::U16)])),
            Part::Param(BF16) => self.sum(op(Op::Param).chain([Part::Param(DType::U16)])),
            Part::Dest(BF16) => self.sum(op(Op::Store).chain([Part::Dest(DType::U16)])),
            part => self.driver.resource_get(part),
        }
    }

    fn resource_zero(&self) -> Resources {
        self.driver.resource_zero()
    }

    fn resource_add(&self, total: &mut Resources, other: &Resources) {
        self.driver.resource_add(total, other);
    }

    fn resource_sub(&self, total: &mut Resources, other: &Resources) {
        self.driver.resource_sub(total, other);
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        self.driver.resource_check(resources)
    }
}

/// The program for bfloat16 of an operation's program for float32 (`Method::Lowered`).
fn widened(program: &Program) -> Program {
    let mut to = Builder::new(Form::Map, 1);
    let operands: Vec<u32> = program.params.iter().map(|_| to.param(BF16)).collect();
    let operands: Vec<u32> =
        operands.into_iter().map(|value| to.convert(Op::Cast, value, DType::F32)).collect();
    let result = to.inline(program, &operands);
    let result = match to.dtype(result) {
        DType::F32 => to.convert(Op::Cast, result, BF16),
        _ => result,
    };
    to.store(result);
    to.finish()
}
