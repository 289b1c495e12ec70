//! Scalar functions: programs that one node of a graph computes at each of its points.
//!
//! Owns [`ScalarFunction`], which may have loops, and [`Called`], one result of a call. A function is a program of the
//! map form over parameters alone, with a store for each result. It is never launched, but inlined into the kernels of
//! its callers. A function with loops is one loop of *turns* over a state: each turn takes the point one segment
//! further, until it has ended. So no launch runs for longer than devices allow, however a program's loops nest.
//!
//! Not here: how a function is recorded (`record/function_recording.rs`), how a device computes it
//! (`schedule/lowering/find_lowering.rs`).

use gpupy_core::ir::{Builder, Fingerprint, Form, LOOP_STEPS, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of the segment at which a point stands that has ended.
const ENDED: i32 = 0;

/// A function from scalars to scalars.
#[derive(Debug)]
pub struct ScalarFunction {
    program: Program,
    fingerprint: Fingerprint,
    /// The turns of its loop; 0 without one.
    turns: u32,
    cost: u32,
    /// A number that no other function has.
    number: u32,
}

/// The number of the next function.
static NEXT: AtomicU32 = AtomicU32::new(0);

impl PartialEq for ScalarFunction {
    fn eq(&self, other: &ScalarFunction) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Eq for ScalarFunction {}

impl Hash for ScalarFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}

impl ScalarFunction {
    /// The most turns of a function's loop: beginning it counts as one (`LOOP_STEPS`).
    pub const MOST_TURNS: u32 = LOOP_STEPS - 1;

    /// The function of a program whose parameters are its arguments and whose stores are its results.
    ///
    /// # Errors
    /// - `Invalid`: it is no map of parameters alone.
    pub(crate) fn of_program(program: Program, turns: u32) -> Result<ScalarFunction> {
        let is_map = program.form == Form::Map && program.operands.is_empty();
        let error = Error::new(ErrorKind::Invalid, "function");
        if !is_map || !program.accesses.is_empty() || program.dests.is_empty() {
            return Err(error.says("a function is a map from parameters to results"));
        }
        program.verify().map_err(|found| error.says(found.to_string()))?;
        let cost = cost(&program, turns);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(ScalarFunction { fingerprint: program.fingerprint(), program, turns, cost, number })
    }

    /// The function that goes through segments, turn by turn, from where `entry` leaves it.
    ///
    /// The entry takes the arguments. It gives the state, of which the last is the number of the segment that comes
    /// next, an int32; 0 says that the point has ended. Segment `k`, counted from 1, takes the arguments and the state
    /// without that number, and gives the state. In a turn a point goes through its segment, and on through those
    /// behind it that it comes to. The function gives the state after so many turns. Without an entry it takes the
    /// whole state behind the arguments, and goes on from there.
    ///
    /// # Errors
    /// - `Invalid`: entry and segments do not fit together, or the turns are more than `MOST_TURNS`.
    pub fn of_segments(
        arguments: usize,
        entry: Option<&ScalarFunction>,
        segments: &[Arc<ScalarFunction>],
        turns: u32,
    ) -> Result<ScalarFunction> {
        let refused = |words: &str| Error::new(ErrorKind::Invalid, "function").says(words);
        let Some(first) = segments.first() else { return Err(refused("there are no segments")) };
        let state = first.results();
        let takes = first.arguments();
        let fits = |segment: &Arc<ScalarFunction>| {
            segment.results() == state && segment.arguments() == takes && segment.turns == 0
        };
        let is_state = state.last() == Some(&DType::I32)
            && takes.get(arguments..) == Some(&state[..state.len() - 1]);
        let begins = |entry: &ScalarFunction| {
            entry.results() == state && Some(entry.arguments()) == takes.get(..arguments)
        };
        if !is_state || !segments.iter().all(fits) || !entry.is_none_or(begins) {
            return Err(refused("segments take and give one state"));
        }
        if turns > ScalarFunction::MOST_TURNS {
            return Err(refused("a function has too many turns").with("turns", turns));
        }
        let mut builder = Builder::new(Form::Map, 1);
        let given: Vec<u32> =
            takes[..arguments].iter().map(|dtype| builder.param(*dtype)).collect();
        let starts: Vec<u32> = match entry {
            Some(entry) => builder.inline_all(&entry.program, &given).to_vec(),
            None => state.iter().map(|dtype| builder.param(*dtype)).collect(),
        };
        let count = builder.constant(Scalar::i32(turns as i32));
        let ended = builder.constant(Scalar::i32(ENDED));
        let region = builder.begin_loop(count, &starts);
        let carried: Vec<u32> = (0..state.len() as u32).map(|k| builder.carry(region, k)).collect();
        let is_open = builder.op(Op::Ne, &[carried[state.len() - 1], ended]);
        let turn = builder.begin_if(is_open);
        let mut now = carried.clone();
        for (number, segment) in (1..).zip(segments) {
            now = match segments.len() {
                1 => in_segment(&mut builder, segment, &given, &now),
                _ => where_it_stands(&mut builder, (number, segment), &given, &now),
            };
        }
        builder.begin_else(turn, &now);
        builder.end(turn, &carried);
        let next = results(&mut builder, turn, state);
        builder.end(region, &next);
        for value in results(&mut builder, region, state) {
            builder.store(value);
        }
        ScalarFunction::of_program(builder.finish(), turns)
    }

    /// The dtypes that it takes.
    pub fn arguments(&self) -> &[DType] {
        &self.program.params
    }

    /// The dtypes that it gives.
    pub fn results(&self) -> &[DType] {
        &self.program.dests
    }

    /// Its program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// A number that no other function has.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn turns(&self) -> u32 {
        self.turns
    }

    /// The program's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Iterations that one point goes through, as `LOOP_STEPS` counts them.
    pub(crate) fn steps(&self) -> u32 {
        if self.turns == 0 { 0 } else { self.turns + 1 }
    }

    /// Operations to compute an element's results, if it takes all turns; saturating.
    pub(crate) fn cost(&self) -> u32 {
        self.cost
    }
}

/// The state behind a segment, in a branch of its own for the points that stand at it.
fn where_it_stands(
    builder: &mut Builder,
    (number, segment): (i32, &ScalarFunction),
    given: &[u32],
    state: &[u32],
) -> Vec<u32> {
    let number = builder.constant(Scalar::i32(number));
    let is_here = builder.op(Op::Eq, &[state[state.len() - 1], number]);
    let region = builder.begin_if(is_here);
    let behind = in_segment(builder, segment, given, state);
    builder.begin_else(region, &behind);
    builder.end(region, state);
    results(builder, region, segment.results())
}

/// The state behind a segment.
fn in_segment(
    builder: &mut Builder,
    segment: &ScalarFunction,
    given: &[u32],
    state: &[u32],
) -> Vec<u32> {
    let taken: Vec<u32> = given.iter().chain(&state[..state.len() - 1]).copied().collect();
    builder.inline_all(&segment.program, &taken).to_vec()
}

fn results(builder: &mut Builder, region: u32, dtypes: &[DType]) -> Vec<u32> {
    (0..).zip(dtypes).map(|(k, dtype)| builder.result(region, k, *dtype)).collect()
}

/// The cost of a program whose loop takes `turns` turns.
fn cost(program: &Program, turns: u32) -> u32 {
    let (mut total, mut open) = (0u32, SmallVec::<[u32; 4]>::new());
    for (at, inst) in (0..).zip(&program.insts) {
        match inst.op {
            Op::Loop => open.push(at),
            Op::End if open.last() == Some(&inst.args[0]) => {
                open.pop();
            }
            op if op.is_scalar_op() => {
                let times = if open.is_empty() { 1 } else { turns.max(1) };
                total = total.saturating_add(op.info().cost.saturating_mul(times));
            }
            _ => {}
        }
    }
    total.max(1)
}

/// One of the results of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Called {
    pub function: Arc<ScalarFunction>,
    pub result: u32,
}
