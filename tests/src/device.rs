//! An open driver, and launches on it.
//!
//! Owns [`Device`]. Invariants: every block that a launch needs is freed afterwards, whatever
//! happens; elements of a destination that the launch does not name are guarded, and so are the
//! operands.
//!
//! Not here: what should come out (`oracle.rs`).

use crate::compare::{Mismatches, accepts};
use crate::oracle::{self, Run};
use crate::outcome::{Outcome, ensure, fail, skip};
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Dest, Driver, Evaluated, Launch, Method,
};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Scalar};

/// A driver that has been opened.
pub struct Device {
    pub driver: Box<dyn Driver>,
    pub caps: Capabilities,
}

/// The reason of a skip that says no more than that a program is too large.
pub const TOO_LARGE: &str = "the program does not fit in one evaluation";

impl Device {
    pub fn open(make: &dyn Fn() -> Box<dyn Driver>, config: &Config) -> Result<Device, Error> {
        let mut driver = make();
        let caps = driver.init(config)?;
        Ok(Device { driver, caps })
    }

    /// Skips unless blocks may have this dtype.
    pub fn need_dtype(&self, dtype: DType) -> Outcome {
        if self.caps.dtypes.contains(&dtype) {
            return Ok(());
        }
        skip(format!("no dtype {dtype}"))
    }

    /// How the driver does an operation; skips where it does not.
    pub fn need_method(&self, op: Op, dtype: DType) -> Outcome<Method> {
        match self.driver.get_method(op, dtype) {
            Method::Absent => skip("absent methods, which the core does elsewhere"),
            method => Ok(method),
        }
    }

    pub fn alloc(&mut self, dtype: DType, len: usize) -> Outcome<BlockId> {
        if len > self.caps.max_block_len {
            return skip("larger than the largest block");
        }
        let spec = BlockSpec { dtype, len };
        self.driver.block_alloc(spec).or_else(|error| fail(format!("{error}")))
    }

    pub fn write(&mut self, block: BlockId, offset: usize, data: &[Scalar]) -> Outcome {
        let bytes = to_bytes(data);
        self.driver.block_write(block, offset, &bytes).or_else(|error| fail(format!("{error}")))
    }

    pub fn read(
        &mut self,
        block: BlockId,
        dtype: DType,
        offset: usize,
        len: usize,
    ) -> Outcome<Vec<Scalar>> {
        // What the driver does not fill in must not look like data.
        let mut bytes = vec![0xa5; len * dtype.size()];
        match self.driver.block_read(block, offset, &mut bytes) {
            Ok(()) => Ok(from_bytes(dtype, &bytes)),
            Err(error) => fail(format!("{error}")),
        }
    }

    /// A block that holds this data.
    pub fn upload(&mut self, dtype: DType, data: &[Scalar]) -> Outcome<BlockId> {
        let block = self.alloc(dtype, data.len())?;
        self.write(block, 0, data).map(|()| block)
    }

    /// What the driver says of a program; skips where it lacks something in it.
    pub fn check_ir(&mut self, program: &Program) -> Outcome<Check> {
        program.verify().or_else(|error| fail(format!("the suite's own program: {error}")))?;
        self.driver.check_ir(program).or_else(|error| match error.kind() {
            ErrorKind::Unsupported => skip(format!("unsupported: {error}")),
            _ => fail(format!("{error}")),
        })
    }

    /// Runs a launch that may be too large for the driver, and compares what it wrote.
    pub fn check(&mut self, run: &Run, ulp: f32) -> Outcome {
        if !self.check_ir(&run.program)?.fits {
            return skip(TOO_LARGE);
        }
        let mut blocks = Vec::new();
        let outcome = self.check_with(run, ulp, &mut blocks);
        for block in blocks {
            self.driver.block_free(block);
        }
        outcome
    }

    /// Runs a launch whose operations and form the driver claims to have.
    pub fn check_claimed(&mut self, run: &Run, ulp: f32) -> Outcome {
        match self.driver.check_ir(&run.program) {
            Err(error) => fail(format!("claimed, but {error}\n{}", run.program)),
            Ok(_) => self.check(run, ulp),
        }
    }

    /// Runs a launch with one operation that the driver claims to have: it has to fit.
    pub fn check_one(&mut self, run: &Run, ulp: f32) -> Outcome {
        let fits = self.check_ir(&run.program)?.fits;
        ensure(fits, || format!("a single operation does not fit\n{}", run.program))?;
        self.check_claimed(run, ulp)
    }

    fn check_with(&mut self, run: &Run, ulp: f32, blocks: &mut Vec<BlockId>) -> Outcome {
        for (dtype, data) in run.program.operands.iter().zip(&run.operands) {
            self.need_dtype(*dtype)?;
            blocks.push(self.upload(*dtype, data)?);
        }
        let mut before = Vec::new();
        for (dtype, target) in run.program.dests.iter().zip(&run.targets) {
            self.need_dtype(*dtype)?;
            let guards: Vec<_> = (0..target.len).map(|at| guard(*dtype, at)).collect();
            blocks.push(self.upload(*dtype, &guards)?);
            before.push(guards);
        }
        let (operands, dests) = blocks.split_at(run.operands.len());
        let evaluated = self.eval(run, operands, dests)?;
        ensure(evaluated.launches >= 1, || "an evaluation without a launch".to_string())?;
        let about = || describe(run);
        for (slot, elements) in oracle::expected(run).iter().enumerate() {
            let got = self.read(dests[slot], run.program.dests[slot], 0, before[slot].len())?;
            let mut named = vec![false; got.len()];
            let mut mismatches = Mismatches::default();
            for element in elements {
                named[element.at] = true;
                let got = got[element.at];
                let alike = |other: &Scalar| is_flushed(got, *other, ulp);
                let flushed = self.caps.flushes_subnormals
                    && (element.open || element.flushed.iter().any(alike));
                if flushed || element.undefined {
                    mismatches.right();
                } else {
                    let inputs = || element.inputs.clone();
                    mismatches.compare(element.at, got, element.value, ulp, inputs);
                }
            }
            mismatches.outcome(about)?;
            let mut guards = Mismatches::default();
            for (at, got) in got.iter().enumerate().filter(|(at, _)| !named[*at]) {
                guards.compare(at, *got, before[slot][at], 0.0, Vec::new);
            }
            guards.outcome(|| format!("outside the destination's points\n{}", about()))?;
        }
        for (slot, data) in run.operands.iter().enumerate() {
            let mut mismatches = Mismatches::default();
            let now = self.read(operands[slot], run.program.operands[slot], 0, data.len())?;
            for (at, (now, was)) in now.iter().zip(data).enumerate() {
                mismatches.compare(at, *now, *was, 0.0, Vec::new);
            }
            mismatches.outcome(|| format!("operand {slot} has changed\n{}", about()))?;
        }
        Ok(())
    }

    /// Evaluates a launch into blocks that exist.
    pub fn eval(
        &mut self,
        run: &Run,
        operands: &[BlockId],
        dests: &[BlockId],
    ) -> Outcome<Evaluated> {
        let params: Vec<_> = run.params.iter().map(|param| param.bits).collect();
        let dests: Vec<_> = dests
            .iter()
            .zip(&run.targets)
            .map(|(block, target)| Dest {
                block: *block,
                access: target.access.clone(),
                whole: target.whole,
            })
            .collect();
        let launch = Launch {
            program: &run.program,
            fingerprint: run.program.fingerprint(),
            shape: &run.shape,
            operands,
            params: &params,
            accesses: &run.accesses,
            dests: &dests,
        };
        self.driver.eval_ir(&launch).or_else(|error| fail(format!("{error}\n{}", describe(run))))
    }
}

/// What destinations hold before a launch.
fn guard(dtype: DType, at: usize) -> Scalar {
    match dtype {
        DType::Bool => Scalar::bool(at.is_multiple_of(3)),
        DType::F32 => Scalar::f32(-12345.5 - (at % 1000) as f32),
        _ => Scalar::new(dtype, 0x5a5a_0000 + at as u64),
    }
}

/// True when `got` is what a flushing device gives: zeros may have either sign.
fn is_flushed(got: Scalar, other: Scalar, ulp: f32) -> bool {
    let both_zero = got.as_f32() == 0.0 && other.as_f32() == 0.0;
    accepts(got, other, ulp) || (got.dtype == DType::F32 && both_zero)
}

fn to_bytes(data: &[Scalar]) -> Vec<u8> {
    data.iter().flat_map(|x| x.bytes().into_iter().take(x.dtype.size())).collect()
}

fn from_bytes(dtype: DType, bytes: &[u8]) -> Vec<Scalar> {
    bytes.chunks_exact(dtype.size()).filter_map(|bytes| Scalar::read(dtype, bytes)).collect()
}

/// A launch in words.
fn describe(run: &Run) -> String {
    let params: Vec<_> = run.params.iter().map(|param| param.to_string()).collect();
    let mut words = format!("shape {:?}, params [{}]\n", run.shape, params.join(", "));
    for (at, access) in run.accesses.iter().enumerate() {
        words += &format!("a{at}: offset {}, strides {:?}\n", access.offset, access.strides);
    }
    for (at, target) in run.targets.iter().enumerate() {
        let (offset, strides) = (target.access.offset, &target.access.strides);
        let len = target.len;
        words += &format!("d{at}: of {len} elements, offset {offset}, strides {strides:?}\n");
    }
    words + &run.program.to_string()
}
