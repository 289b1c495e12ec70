//! Programs over four times as much as the device holds: right results, and bytes moved at most twice
//! those of Bélády's optimal replacement (1966) for the same uses.
//!
//! A driver in between notes which arrays each launch uses; arrays are known by their contents. The
//! same launches then go through a model of the device, once with the victim whose next use is
//! farthest, once with the least recently used one. `cargo test --release -p gpupy-engine --test
//! memory -- --nocapture` prints all counts.

#![allow(clippy::unwrap_used)]

use gpupy_core::driver::*;
use gpupy_core::ir::Program;
use gpupy_core::{DType, Op, Result, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Registry, Settings};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Elements of each array: one block.
const LEN: usize = 4096;
/// Blocks that the device holds, and arrays of the programs.
const ROOM: usize = 16;
const ARRAYS: usize = 4 * ROOM;

/// One step, with the contents that it names.
#[derive(Clone, Debug)]
enum Step {
    /// A launch that reads and makes these.
    Launch { reads: Vec<u64>, makes: Vec<u64> },
    /// The program reads this into host memory.
    Read(u64),
}

#[derive(Default)]
struct Log {
    steps: Vec<Step>,
    contents: HashMap<BlockId, u64>,
    known: HashMap<Vec<u8>, u64>,
    last: u64,
    /// The program reads, not an eviction.
    reading: bool,
}

impl Log {
    fn fresh(&mut self, block: BlockId) -> u64 {
        self.last += 1;
        self.contents.insert(block, self.last);
        self.last
    }
}

struct Noting {
    inner: Box<dyn Driver>,
    log: Arc<Mutex<Log>>,
}

impl Driver for Noting {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        self.inner.init(config)
    }
    fn cleanup(&mut self) {
        self.inner.cleanup();
    }
    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.inner.get_method(op, dtype)
    }
    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.inner.block_alloc(spec)
    }
    fn block_free(&mut self, block: BlockId) {
        self.inner.block_free(block);
    }
    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.inner.block_read(block, offset, out)?;
        let log = &mut *self.log.lock().unwrap();
        let id = log.contents[&block];
        log.known.insert(out.to_vec(), id);
        if log.reading {
            log.steps.push(Step::Read(id));
        }
        Ok(())
    }
    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let mut log = self.log.lock().unwrap();
        match log.known.get(data).copied() {
            Some(id) => {
                log.contents.insert(block, id);
            }
            None => {
                let id = log.fresh(block);
                log.known.insert(data.to_vec(), id);
            }
        }
        drop(log);
        self.inner.block_write(block, offset, data)
    }
    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        self.inner.check_ir(program)
    }
    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let done = self.inner.eval_ir(launch)?;
        let log = &mut *self.log.lock().unwrap();
        let mut reads: Vec<u64> = launch.operands.iter().map(|b| log.contents[b]).collect();
        for dest in launch.dests.iter().filter(|dest| !dest.whole) {
            reads.push(log.contents[&dest.block]);
        }
        reads.sort_unstable();
        reads.dedup();
        let makes = launch.dests.iter().map(|dest| log.fresh(dest.block)).collect();
        log.steps.push(Step::Launch { reads, makes });
        Ok(done)
    }
    fn resource_get(&self, part: Part) -> Resources {
        self.inner.resource_get(part)
    }
    fn resource_check(&self, resources: &Resources) -> bool {
        self.inner.resource_check(resources)
    }
}

/// Bytes that a device of [`ROOM`] blocks moves for these steps when `victim` picks, of those here and
/// not in use, the one that goes; it is told the step.
fn moved(steps: &[Step], mut victim: impl FnMut(&[u64], usize) -> u64) -> usize {
    let uses = uses(steps);
    // What the device did not make came from host memory.
    let mut here: Vec<u64> = Vec::new();
    let mut only_here: Vec<u64> = Vec::new();
    let mut blocks = 0;
    for (at, step) in steps.iter().enumerate() {
        let Step::Launch { reads, makes } = step else {
            let Step::Read(id) = step else { continue };
            if only_here.contains(id) {
                blocks += 1;
                only_here.retain(|other| other != id);
            }
            continue;
        };
        let missing: Vec<u64> = reads.iter().filter(|id| !here.contains(id)).copied().collect();
        blocks += missing.len();
        // Values without further use are dropped by the program.
        here.retain(|id| uses[id].iter().any(|use_at| *use_at >= at));
        while here.len() + missing.len() + makes.len() > ROOM {
            let idle: Vec<u64> = here.iter().filter(|id| !reads.contains(id)).copied().collect();
            let gone = victim(&idle, at);
            here.retain(|id| *id != gone);
            if only_here.contains(&gone) {
                blocks += 1;
                only_here.retain(|id| *id != gone);
            }
        }
        here.extend(missing);
        here.extend(makes);
        only_here.extend(makes);
    }
    blocks * LEN * DType::F32.size()
}

/// The steps that use each array.
fn uses(steps: &[Step]) -> HashMap<u64, Vec<usize>> {
    let mut uses: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        let ids = match step {
            Step::Launch { reads, makes } => reads.iter().chain(makes).copied().collect(),
            Step::Read(id) => vec![*id],
        };
        ids.into_iter().for_each(|id| uses.entry(id).or_default().push(at));
    }
    uses
}

struct Machine {
    context: Context,
    log: Arc<Mutex<Log>>,
}

impl Machine {
    fn new() -> Machine {
        let log = Arc::new(Mutex::new(Log::default()));
        let shared = log.clone();
        let registry = Registry::new().register("noting", move || {
            Box::new(Noting { inner: driver_soft::new(), log: shared.clone() })
        });
        let device_bytes = (ROOM * LEN * DType::F32.size()) as u64;
        let settings = Settings { driver: "noting".into(), device_bytes, ..Settings::default() };
        Machine { context: Context::new(registry, settings), log }
    }

    fn given(&self) -> Vec<Array> {
        let array = |seed: usize| {
            let elements = (0..LEN).map(|k| (seed * 31 + k % 97) as f32);
            let bytes: Vec<u8> = elements.flat_map(f32::to_ne_bytes).collect();
            Array::from_bytes(DType::F32, &[LEN], &bytes).unwrap()
        };
        (0..ARRAYS).map(array).collect()
    }

    fn op<'a>(&self, op: Op, a: &'a Array, b: impl Into<Option<ArrayOrScalar<'a>>>) -> Array {
        let args: Vec<_> = [ArrayOrScalar::Array(a)].into_iter().chain(b.into()).collect();
        self.context.apply(op, &args).unwrap()
    }

    /// Computes something of an array that no other use of it finds computed.
    fn look_at(&self, array: &Array, turn: usize) {
        let seen = self.op(Op::Add, array, ArrayOrScalar::Scalar(Scalar::f32(turn as f32 + 0.5)));
        self.context.evaluate(&[&seen]).unwrap();
    }

    fn read(&self, array: &Array) -> Vec<f32> {
        self.context.evaluate(&[array]).unwrap();
        self.log.lock().unwrap().reading = true;
        let bytes = self.context.read(array).unwrap().to_vec().unwrap();
        self.log.lock().unwrap().reading = false;
        bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
    }

    /// Compares what was moved with the models: at most twice the optimum.
    fn judge(&self, name: &str) -> (usize, usize, usize) {
        let stats = self.context.stats();
        assert_eq!((stats.driver_fallbacks, stats.smaller_cuts), (0, 0));
        let ours = (stats.bytes_uploaded + stats.bytes_downloaded) as usize;
        let steps = self.log.lock().unwrap().steps.clone();
        let uses = uses(&steps);
        let next = |id: u64, at: usize| {
            uses[&id].iter().find(|step| **step >= at).copied().unwrap_or(usize::MAX)
        };
        let last = |id: u64, at: usize| uses[&id].iter().rfind(|step| **step < at).copied();
        let optimal =
            moved(&steps, |idle, at| *idle.iter().max_by_key(|id| next(**id, at)).unwrap());
        let oldest =
            moved(&steps, |idle, at| *idle.iter().min_by_key(|id| last(**id, at)).unwrap());
        let mib = |bytes: usize| bytes as f64 / (1 << 20) as f64;
        println!(
            "{name:<28} moved {:6.2} MiB; Bélády {:6.2} ({:.2} times); least recently used {:6.2}",
            mib(ours),
            mib(optimal),
            ours as f64 / optimal as f64,
            mib(oldest),
        );
        assert!(ours <= 2 * optimal, "{name}: {ours} bytes, optimal {optimal}");
        (ours, optimal, oldest)
    }
}

#[test]
fn going_round_over_four_times_the_memory() {
    let machine = Machine::new();
    let arrays = machine.given();
    for turn in 0..12 {
        arrays.iter().for_each(|array| machine.look_at(array, turn));
    }
    let (ours, _, oldest) = machine.judge("round");
    assert!(ours < oldest);
    let machine = Machine::new();
    let arrays = machine.given();
    for turn in 0..12 {
        for array in &arrays {
            machine.look_at(array, turn);
            machine.look_at(array, turn + 100);
        }
    }
    machine.judge("round, each twice");
    let machine = Machine::new();
    let arrays = machine.given();
    for turn in 0..6 {
        arrays.iter().for_each(|array| machine.look_at(array, turn));
        arrays.iter().rev().for_each(|array| machine.look_at(array, turn + 100));
    }
    machine.judge("to and fro");
}

#[test]
fn updating_four_times_the_memory() {
    let machine = Machine::new();
    let mut arrays = machine.given();
    for _ in 0..8 {
        for array in &mut arrays {
            *array = machine.op(Op::Add, array, ArrayOrScalar::Scalar(Scalar::f32(2.0)));
            machine.context.evaluate(&[array]).unwrap();
        }
    }
    for (seed, array) in arrays.iter().enumerate() {
        assert_eq!(machine.read(array)[100], (seed * 31 + 3) as f32 + 16.0);
    }
    machine.judge("round, with new values");
    let machine = Machine::new();
    let arrays = machine.given();
    for turn in 0..8 {
        for array in &arrays {
            let part = array.slice_axis(0, turn, 100, 3);
            let source = machine.op(Op::Neg, &part, None);
            machine.context.assign(&part, ArrayOrScalar::Array(&source)).unwrap();
            machine.context.evaluate(&[array]).unwrap();
        }
    }
    for (seed, array) in arrays.iter().enumerate() {
        let value = |k: usize| (seed * 31 + k % 97) as f32;
        // Elements 0 to 7 are the beginnings of the turns; those three further were met again.
        let got = machine.read(array);
        assert_eq!((got[1], got[4], got[400]), (-value(1), value(4), value(400)));
    }
    machine.judge("round, in place");
}

#[test]
fn each_with_each_and_at_random() {
    let machine = Machine::new();
    let arrays = machine.given();
    for a in &arrays[..8] {
        for b in &arrays[8..] {
            machine.context.evaluate(&[&machine.op(Op::Mul, a, ArrayOrScalar::Array(b))]).unwrap();
        }
    }
    machine.judge("each with each");
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let machine = Machine::new();
    let arrays = machine.given();
    (0..800).for_each(|turn| machine.look_at(&arrays[random(ARRAYS)], turn));
    machine.judge("evenly at random");
    let machine = Machine::new();
    let arrays = machine.given();
    for turn in 0..800 {
        let most = 1 + random(ARRAYS);
        machine.look_at(&arrays[random(most)], turn);
    }
    machine.judge("some more than others");
}

#[test]
fn one_expression_of_four_times_the_memory() {
    let machine = Machine::new();
    let arrays = machine.given();
    let mut total = machine.op(Op::Mul, &arrays[0], ArrayOrScalar::Scalar(Scalar::f32(2.0)));
    for array in &arrays[1..] {
        total = machine.op(Op::Add, &total, ArrayOrScalar::Array(array));
    }
    let mut wanted = 0.0;
    (0..ARRAYS).for_each(|seed| wanted += (seed * 31 + 5) as f32);
    assert_eq!(machine.read(&total)[5], wanted + 5.0);
    let (ours, optimal, _) = machine.judge("one expression");
    assert_eq!(ours, optimal);
}
