//! Sequences of launches in one call.
//!
//! Owns programs of launches over a few blocks, done by loops here. Each comes several times, with the same blocks and
//! scalars, with others, and with blocks that were freed between: what a driver keeps of a sequence must not show.
//!
//! Not here: one launch (the other cases of `eval_ir`).

use super::super::Suite;
use super::GROUP;
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::expect::samples::Rng;
use crate::reporting::outcome::{Outcome, ensure, fine, skip};
use gpupy_core::driver::{Access, BlockId, Dest, Launch, Sequence};
use gpupy_core::ir::{AccessKind, Builder, Fingerprint, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, ErrorKind, Scalar};

/// Elements of each block.
const LEN: usize = 96;

/// Blocks of a sequence.
const BLOCKS: usize = 5;

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "a sequence of launches", once);
    suite.case(GROUP, "a sequence again, with the same blocks and others", again);
    suite.case(GROUP, "a sequence of one launch", of_one);
    suite.case(GROUP, "a sequence with a dead block", with_dead_block);
}

/// One launch: `a + b`, or `scale * a`, of elements that lie so, into a block that is neither.
#[derive(Clone)]
struct Step {
    scales: bool,
    from: [usize; 2],
    to: usize,
    points: usize,
    first: [i64; 3],
    step: [i64; 3],
}

impl Step {
    fn random(rng: &mut Rng) -> Step {
        let mut blocks: Vec<usize> = (0..BLOCKS).collect();
        let to = blocks.swap_remove(rng.below(BLOCKS));
        let mut from = [0, 1].map(|_| blocks[rng.below(blocks.len())]);
        if rng.below(4) == 0 {
            from[1] = from[0];
        }
        // Some write all of a block.
        let is_whole = rng.below(3) == 0;
        let points = if is_whole { LEN } else { 1 + rng.below(LEN / 2 - 4) };
        let step = [0, 1, 2].map(|at| match (is_whole, at) {
            (true, _) => 1,
            (false, 2) => 1 + rng.below(2) as i64,
            (false, _) => rng.below(3) as i64,
        });
        let first = step.map(|step| match is_whole {
            true => 0,
            false => rng.below((LEN - points * step as usize).max(1)) as i64,
        });
        Step { scales: rng.below(2) == 0, from, to, points, first, step }
    }

    fn access(&self, at: usize) -> Access {
        Access { offset: self.first[at], strides: [self.step[at]].as_slice().into() }
    }

    fn dest(&self, blocks: &[BlockId]) -> Dest {
        let whole = self.points == LEN;
        Dest { block: blocks[self.to], access: self.access(2), whole }
    }

    /// Does it here.
    fn apply(&self, blocks: &mut [Vec<f32>], scale: f32) {
        let place = |at: usize, k: usize| (self.first[at] + self.step[at] * k as i64) as usize;
        let [a, b] = [0, 1].map(|at| {
            let from = &blocks[self.from[at]];
            (0..self.points).map(|k| from[place(at, k)]).collect::<Vec<f32>>()
        });
        for k in 0..self.points {
            blocks[self.to][place(2, k)] = if self.scales { scale * a[k] } else { a[k] + b[k] };
        }
    }
}

/// The two programs of the launches.
fn programs() -> [Program; 2] {
    let mut b = Builder::new(Form::Map, 1);
    let (x, y) = (b.operand(DType::F32), b.operand(DType::F32));
    let accesses = [(); 2].map(|()| b.access(AccessKind::Affine));
    let (x, y) = (b.load(x, accesses[0]), b.load(y, accesses[1]));
    let sum = b.op(Op::Add, &[x, y]);
    b.store(sum);
    let adds = b.finish();
    let mut b = Builder::new(Form::Map, 1);
    let (x, access) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let scale = b.param(DType::F32);
    let x = b.load(x, access);
    let scaled = b.op(Op::Mul, &[scale, x]);
    b.store(scaled);
    [adds, b.finish()]
}

/// A program of launches, and its name.
struct Steps {
    programs: [Program; 2],
    steps: Vec<Step>,
    name: Fingerprint,
}

impl Steps {
    fn random(rng: &mut Rng, count: usize) -> Steps {
        let steps: Vec<Step> = (0..count).map(|_| Step::random(rng)).collect();
        let words = steps.iter().flat_map(|step| {
            let places = [step.from[0], step.from[1], step.to, step.points, step.scales.into()];
            let places = places.map(|n| n as u64);
            let numbers = step.first.iter().chain(&step.step).map(|n| *n as u64);
            places.into_iter().chain(numbers).collect::<Vec<_>>()
        });
        let name = Fingerprint::of(words);
        Steps { programs: programs(), steps, name }
    }

    /// Does all on the device, in one call.
    fn launch(
        &self,
        device: &mut Device,
        blocks: &[BlockId],
        scales: &[f32],
    ) -> gpupy_core::Result<()> {
        let operands: Vec<_> =
            self.steps.iter().map(|step| step.from.map(|at| blocks[at])).collect();
        let params: Vec<[u64; 1]> = scales.iter().map(|scale| [scale.to_bits().into()]).collect();
        let accesses: Vec<_> =
            self.steps.iter().map(|step| [step.access(0), step.access(1)]).collect();
        let dests: Vec<_> = self.steps.iter().map(|step| [step.dest(blocks)]).collect();
        let shapes: Vec<[usize; 1]> = self.steps.iter().map(|step| [step.points]).collect();
        let names = self.programs.each_ref().map(Program::fingerprint);
        let launch = |at: usize| Launch {
            program: &self.programs[usize::from(self.steps[at].scales)],
            fingerprint: names[usize::from(self.steps[at].scales)],
            shape: &shapes[at],
            operands: if self.steps[at].scales { &operands[at][..1] } else { &operands[at] },
            params: if self.steps[at].scales { &params[at] } else { &[] },
            accesses: if self.steps[at].scales { &accesses[at][..1] } else { &accesses[at] },
            dests: &dests[at],
            memory: &[],
            lend: None,
            rest: None,
        };
        let launches: Vec<Launch<'_>> = (1..self.steps.len()).map(launch).collect();
        let rest = Some(Sequence { launches: &launches, fingerprint: self.name });
        device.driver.eval_ir(&Launch { rest, ..launch(0) }).map(|_| ())
    }

    fn scales(&self, rng: &mut Rng) -> Vec<f32> {
        // Products and sums of these are exact for a while, so that no rounding tells drivers apart.
        self.steps.iter().map(|_| rng.one_of(&[0.5, 1.0, -1.0, 0.25])).collect()
    }
}

fn need(device: &Device) -> Outcome<usize> {
    match device.caps.max_launches {
        0 | 1 => skip("sequences, which the core sends one by one"),
        most => Ok(most),
    }
}

fn numbers(rng: &mut Rng) -> Vec<Vec<f32>> {
    (0..BLOCKS).map(|_| (0..LEN).map(|_| rng.below(64) as f32 - 32.0).collect()).collect()
}

fn upload(device: &mut Device, numbers: &[Vec<f32>]) -> Outcome<Vec<BlockId>> {
    let scalars = |row: &Vec<f32>| row.iter().map(|x| Scalar::f32(*x)).collect::<Vec<_>>();
    numbers.iter().map(|row| device.upload(DType::F32, &scalars(row))).collect()
}

fn compare(device: &mut Device, blocks: &[BlockId], wanted: &[Vec<f32>], about: &str) -> Outcome {
    for (block, wanted) in blocks.iter().zip(wanted) {
        let found = device.read(*block, DType::F32, 0, LEN)?;
        let wanted: Vec<Scalar> = wanted.iter().map(|x| Scalar::f32(*x)).collect();
        same(&found, &wanted, about)?;
    }
    Ok(())
}

/// Does steps in one call, and here, and compares all blocks.
fn check(
    device: &mut Device,
    steps: &Steps,
    (blocks, here): (&[BlockId], &mut [Vec<f32>]),
    rng: &mut Rng,
) -> Outcome {
    let scales = steps.scales(rng);
    fine(steps.launch(device, blocks, &scales), "eval_ir")?;
    for (step, scale) in steps.steps.iter().zip(scales) {
        step.apply(here, scale);
    }
    compare(device, blocks, here, "blocks behind the sequence")
}

fn once(device: &mut Device) -> Outcome {
    let most = need(device)?;
    let mut rng = Rng::new(211);
    for count in [2, 3, 5, 8, most] {
        for _ in 0..6 {
            let steps = Steps::random(&mut rng, count.min(most));
            let mut here = numbers(&mut rng);
            let blocks = upload(device, &here)?;
            check(device, &steps, (&blocks, &mut here), &mut rng)?;
            blocks.into_iter().for_each(|block| device.driver.block_free(block));
        }
    }
    Ok(())
}

fn again(device: &mut Device) -> Outcome {
    let most = need(device)?;
    let mut rng = Rng::new(212);
    let all: Vec<Steps> = (2..6).map(|count| Steps::random(&mut rng, count.min(most))).collect();
    let mut sets = Vec::new();
    for _ in 0..3 {
        let here = numbers(&mut rng);
        sets.push((upload(device, &here)?, here));
    }
    let scales: Vec<Vec<f32>> = all.iter().map(|steps| steps.scales(&mut rng)).collect();
    for turn in 0..60 {
        let (at, set) = (rng.below(4), rng.below(3));
        let (steps, (blocks, here)) = (&all[at], &mut sets[set]);
        // Mostly the scalars are the same as well.
        let scales = match rng.below(4) {
            0 => steps.scales(&mut rng),
            _ => scales[at].clone(),
        };
        fine(steps.launch(device, blocks, &scales), "eval_ir")?;
        for (step, scale) in steps.steps.iter().zip(scales) {
            step.apply(here, scale);
        }
        compare(device, blocks, here, &format!("turn {turn}"))?;
        if turn % 7 == 0 {
            // Its numbers grow; and other blocks take its place.
            blocks.iter().for_each(|block| device.driver.block_free(*block));
            *here = numbers(&mut rng);
            *blocks = upload(device, here)?;
        }
    }
    for (blocks, _) in sets {
        blocks.into_iter().for_each(|block| device.driver.block_free(block));
    }
    Ok(())
}

fn of_one(device: &mut Device) -> Outcome {
    need(device)?;
    let mut rng = Rng::new(213);
    let steps = Steps::random(&mut rng, 1);
    let mut here = numbers(&mut rng);
    let blocks = upload(device, &here)?;
    for _ in 0..5 {
        check(device, &steps, (&blocks, &mut here), &mut rng)?;
    }
    blocks.into_iter().for_each(|block| device.driver.block_free(block));
    Ok(())
}

/// The error says how many launches are done, and the blocks are as they are behind these.
fn with_dead_block(device: &mut Device) -> Outcome {
    let most = need(device)?;
    let mut rng = Rng::new(214);
    for _ in 0..8 {
        let steps = Steps::random(&mut rng, 4.min(most));
        let mut here = numbers(&mut rng);
        let mut blocks = upload(device, &here)?;
        let dead = rng.below(BLOCKS);
        device.driver.block_free(blocks[dead]);
        let scales = steps.scales(&mut rng);
        let is_named = |step: &Step| {
            let read = if step.scales { &step.from[..1] } else { &step.from };
            read.contains(&dead) || step.to == dead
        };
        let first = steps.steps.iter().position(is_named);
        match (steps.launch(device, &blocks, &scales), first) {
            (Ok(()), None) => {
                let all = steps.steps.iter().zip(&scales);
                all.for_each(|(step, scale)| step.apply(&mut here, *scale));
            }
            (Err(error), Some(first)) => {
                ensure(error.kind() == ErrorKind::Invalid, || format!("eval_ir says {error}"))?;
                let done = error.done();
                ensure(done <= first, || format!("{done} launches are done, of {first}"))?;
                for (step, scale) in steps.steps[..done].iter().zip(&scales) {
                    step.apply(&mut here, *scale);
                }
                // What the next one writes whole may be anything.
                let next = &steps.steps[done];
                if next.points == LEN {
                    here.remove(next.to);
                    device.driver.block_free(blocks.remove(next.to));
                }
            }
            (answer, first) => {
                let about =
                    || format!("eval_ir says {answer:?}, where {first:?} names a dead block");
                ensure(false, about)?;
            }
        }
        let living = |at: &usize| device.driver.block_read(blocks[*at], 0, &mut []).is_ok();
        let living: Vec<usize> = (0..blocks.len()).filter(living).collect();
        for at in living {
            compare(device, &blocks[at..=at], &here[at..=at], "blocks behind the error")?;
            device.driver.block_free(blocks[at]);
        }
    }
    Ok(())
}
