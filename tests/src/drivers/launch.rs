//! Launches on an open driver, compared with the expected results.
//!
//! Invariants: every block of a launch is freed afterwards, whatever happens. Guarded are the operands, the
//! elements of destinations that the launch does not name, and blocks that were allocated before and after each
//! destination.
//!
//! Not here: the expected results (`oracle.rs`).

use crate::drivers::device::Device;
use crate::expect::compare::{Mismatches, accepts, same};
use crate::expect::oracle::{self, Element, Run, Target};
use crate::reporting::describe::numbers;
use crate::reporting::outcome::{Outcome, Stop, ensure, fail, fine, skip};
use gpupy_core::driver::{BlockId, Dest, Evaluated, HostBlock, Launch};
use gpupy_core::{DType, Error, ErrorKind, Scalar};

/// The reason of a skip that says no more than that a program is too large.
pub const TOO_LARGE: &str = "the program does not fit in one evaluation";

/// The reason of a skip that says no more than that a program has more reductions than the driver takes.
pub const FEWER_REDUCTIONS: &str = "fewer reductions at a time";

/// Elements of the blocks that are allocated before and after each destination.
const NEIGHBOUR: usize = 8;

/// A block and its expected contents.
struct Held {
    block: BlockId,
    dtype: DType,
    data: Vec<Scalar>,
}

/// The blocks of a launch.
#[derive(Default)]
struct Blocks {
    operands: Vec<Held>,
    dests: Vec<Held>,
    neighbours: Vec<Held>,
}

fn ids(held: &[Held]) -> Vec<BlockId> {
    held.iter().map(|held| held.block).collect()
}

impl Device {
    /// Runs a launch that may be too large for the driver, and compares its results.
    pub fn check(&mut self, run: &Run, ulp: f32) -> Outcome {
        if !self.check_ir(&run.program)?.fits {
            return skip(TOO_LARGE);
        }
        self.with_blocks(run, |device, blocks| {
            let evaluated = device.eval(run, &ids(&blocks.operands), &ids(&blocks.dests))?;
            ensure(evaluated.launches >= 1, || "an evaluation without a launch".to_string())?;
            device.compare_all(run, ulp, blocks)?;
            device.compare_brought(run, blocks)
        })
    }

    /// Runs a launch that the driver may refuse with one of these kinds; then nothing has changed.
    pub fn check_or_refused(&mut self, run: &Run, kinds: &[ErrorKind]) -> Outcome {
        self.with_blocks(run, |device, blocks| {
            match device.try_eval(run, &ids(&blocks.operands), &ids(&blocks.dests)) {
                Ok(_) => device.compare_all(run, 0.0, blocks),
                Err(error) if kinds.contains(&error.kind()) => {
                    device.unchanged(&blocks.dests, "a destination")?;
                    device.unchanged(&blocks.operands, "an operand")?;
                    device.unchanged(&blocks.neighbours, "a neighbour of a destination")
                }
                Err(error) => fail(format!("not one of {kinds:?}, but {error}")),
            }
        })
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

    /// Does something with blocks for a launch; a failure tells the launch.
    fn with_blocks(
        &mut self,
        run: &Run,
        what: impl FnOnce(&mut Self, &Blocks) -> Outcome,
    ) -> Outcome {
        let mut blocks = Blocks::default();
        let outcome = self.prepare(run, &mut blocks).and_then(|()| what(self, &blocks));
        for held in blocks.operands.iter().chain(&blocks.dests).chain(&blocks.neighbours) {
            self.driver.block_free(held.block);
        }
        outcome.or_else(|stop| match stop {
            Stop::Fail(said) => fail(format!("{said}\n{}", describe(run))),
            skip => Err(skip),
        })
    }

    fn prepare(&mut self, run: &Run, blocks: &mut Blocks) -> Outcome {
        for (dtype, data) in run.program.operands.iter().zip(&run.operands) {
            blocks.operands.push(self.hold(*dtype, data.clone())?);
        }
        for (dtype, target) in run.program.dests.iter().zip(&run.targets) {
            blocks.neighbours.push(self.hold(*dtype, guards(*dtype, NEIGHBOUR))?);
            blocks.dests.push(self.hold(*dtype, guards(*dtype, target.len))?);
            blocks.neighbours.push(self.hold(*dtype, guards(*dtype, NEIGHBOUR))?);
        }
        Ok(())
    }

    fn hold(&mut self, dtype: DType, data: Vec<Scalar>) -> Outcome<Held> {
        self.need_dtype(dtype)?;
        Ok(Held { block: self.upload(dtype, &data)?, dtype, data })
    }

    /// The contents of each destination after a launch. The launch has one operation that the driver claims to
    /// support, so it has to fit.
    pub fn outputs(&mut self, run: &Run) -> Outcome<Vec<Vec<Scalar>>> {
        let fits = self.check_ir(&run.program)?.fits;
        ensure(fits, || format!("a single operation does not fit\n{}", run.program))?;
        let mut outputs = Vec::new();
        self.with_blocks(run, |device, blocks| {
            device.eval(run, &ids(&blocks.operands), &ids(&blocks.dests))?;
            for dest in &blocks.dests {
                outputs.push(device.read(dest.block, dest.dtype, 0, dest.data.len())?);
            }
            device.unchanged(&blocks.operands, "an operand")?;
            device.unchanged(&blocks.neighbours, "a neighbour of a destination")
        })?;
        Ok(outputs)
    }

    /// Compares everything that a launch touched, or should not have touched.
    fn compare_all(&mut self, run: &Run, ulp: f32, blocks: &Blocks) -> Outcome {
        for (dest, elements) in blocks.dests.iter().zip(oracle::expected(run)) {
            self.compare(dest, &elements, ulp)?;
        }
        self.unchanged(&blocks.operands, "an operand")?;
        self.unchanged(&blocks.neighbours, "a neighbour of a destination")
    }

    /// Compares a launch's results with those of the same launch on host memory.
    fn compare_brought(&mut self, run: &Run, blocks: &Blocks) -> Outcome {
        let now = |dest: &Held| self.read(dest.block, dest.dtype, 0, dest.data.len());
        let wanted: Vec<_> = blocks.dests.iter().map(now).collect::<Outcome<_>>()?;
        let before: Vec<_> = blocks.dests.iter().map(|dest| dest.data.clone()).collect();
        self.check_brought(run, &before, &wanted)
    }

    fn unchanged(&mut self, blocks: &[Held], what: &str) -> Outcome {
        blocks.iter().try_for_each(|held| {
            let now = self.read(held.block, held.dtype, 0, held.data.len())?;
            same(&now, &held.data, what)
        })
    }

    /// Compares a destination with the elements that it should have; the others are guards.
    fn compare(&mut self, dest: &Held, elements: &[Element], ulp: f32) -> Outcome {
        let got = self.read(dest.block, dest.dtype, 0, dest.data.len())?;
        compare(&got, elements, ulp, self.caps.flushes_subnormals)?;
        let mut named = vec![false; got.len()];
        elements.iter().for_each(|element| named[element.at] = true);
        let unnamed = |all: &[Scalar]| -> Vec<Scalar> {
            all.iter().zip(&named).filter(|(_, named)| !**named).map(|(x, _)| *x).collect()
        };
        same(&unnamed(&got), &unnamed(&dest.data), "outside the destination's points")
    }

    /// Evaluates a launch into blocks that exist.
    pub fn eval(
        &mut self,
        run: &Run,
        operands: &[BlockId],
        dests: &[BlockId],
    ) -> Outcome<Evaluated> {
        let evaluated = self.try_eval(run, operands, dests);
        fine(evaluated, "eval_ir")
    }

    /// Evaluates a launch, which the driver may refuse.
    pub fn try_eval(
        &mut self,
        run: &Run,
        operands: &[BlockId],
        dests: &[BlockId],
    ) -> Result<Evaluated, Error> {
        self.try_eval_on(run, operands, dests, &[])
    }

    /// Evaluates a launch that brings this memory, or is on blocks where it brings none.
    pub fn try_eval_on(
        &mut self,
        run: &Run,
        operands: &[BlockId],
        dests: &[BlockId],
        memory: &[HostBlock],
    ) -> Result<Evaluated, Error> {
        let params: Vec<_> = run.params.iter().map(|param| param.bits).collect();
        let dest = |(block, target): (&BlockId, &Target)| Dest {
            block: *block,
            access: target.access.clone(),
            whole: target.whole,
        };
        let dests: Vec<_> = dests.iter().zip(&run.targets).map(dest).collect();
        self.driver.eval_ir(&Launch {
            program: &run.program,
            fingerprint: run.program.fingerprint(),
            shape: &run.shape,
            operands,
            params: &params,
            accesses: &run.accesses,
            dests: &dests,
            memory,
            lend: None,
            rest: None,
        })
    }
}

/// Compares elements that were written with those that should have been, on a device that may flush
/// subnormals.
pub fn compare(got: &[Scalar], elements: &[Element], ulp: f32, flushes: bool) -> Outcome {
    let mut mismatches = Mismatches::default();
    for element in elements {
        let got = got[element.at];
        let alike = |other: &Scalar| is_flushed(got, *other, ulp);
        let flushed = flushes && (element.open || element.flushed.iter().any(alike));
        if flushed || element.undefined {
            mismatches.right();
        } else {
            let inputs = || element.inputs.clone();
            mismatches.compare(element.at, got, element.value, ulp, inputs);
        }
    }
    mismatches.outcome()
}

/// The contents of destinations and their neighbours before a launch.
fn guards(dtype: DType, len: usize) -> Vec<Scalar> {
    (0..len).map(|at| guard(dtype, at)).collect()
}

fn guard(dtype: DType, at: usize) -> Scalar {
    match dtype {
        DType::Bool => Scalar::bool(at.is_multiple_of(3)),
        DType::F32 => Scalar::f32(-12345.5 - (at % 1000) as f32),
        _ => Scalar::new(dtype, 0x5a5a_0000 + at as u64),
    }
}

/// Whether `got` is a result of a flushing device: zeros may have either sign.
fn is_flushed(got: Scalar, other: Scalar, ulp: f32) -> bool {
    let both_zero = got.as_f32() == 0.0 && other.as_f32() == 0.0;
    accepts(got, other, ulp) || (got.dtype == DType::F32 && both_zero)
}

/// A launch in words.
fn describe(run: &Run) -> String {
    let params: Vec<_> = run.params.iter().map(|param| param.bits).collect();
    let dests = run.targets.iter();
    let dests = dests.map(|target| (format!("of {} elements", target.len), &target.access));
    let numbers = numbers(&run.program, &run.shape, &params, &run.accesses, dests);
    format!("{numbers}{}", run.program)
}
