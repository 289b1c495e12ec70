//! `eval_ir` evaluates a program into its destinations.
//!
//! Not here: the results of programs (the levels).

mod destinations;
mod in_place;
mod memory;
pub mod mistakes;
mod sequences;

use super::threads::{THREADS, in_turns};
use super::{Suite, doubling, numbers};
use crate::cases::random::random_run;
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::Rng;
use crate::reporting::outcome::Outcome;
use gpupy_core::driver::BlockId;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "eval_ir";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "keeps the order of calls", order_of_calls);
    suite.case(GROUP, "again and again", again_and_again);
    suite.case(GROUP, "one block as several operands", one_block_twice);
    suite.case(GROUP, "results as operands, read at the end", results_as_operands);
    suite.case(GROUP, "programs and shapes in turns", programs_in_turns);
    suite.case(GROUP, "by several threads in turns", by_threads_in_turns);
    suite.case(GROUP, "the first write of a block", first_write);
    destinations::run(suite);
    in_place::run(suite);
    memory::run(suite);
    mistakes::run(suite);
    sequences::run(suite);
}

/// A write after an evaluation must not reach it, nor an evaluation miss the write before it.
fn order_of_calls(device: &mut Device) -> Outcome {
    let n = 5000.min(device.caps.max_block_len);
    let run = doubling(n);
    let source = device.alloc(DType::F32, n)?;
    let mut dests = Vec::new();
    for k in 0..8 {
        device.write(source, 0, &vec![Scalar::f32(k as f32); n])?;
        let dest = device.alloc(DType::F32, n)?;
        device.eval(&run, &[source], &[dest])?;
        dests.push(dest);
    }
    for (k, dest) in dests.into_iter().enumerate() {
        let got = device.read(dest, DType::F32, 0, n)?;
        device.driver.block_free(dest);
        same(&got, &vec![Scalar::f32(2.0 * k as f32); n], &format!("evaluation {k}"))?;
    }
    device.driver.block_free(source);
    Ok(())
}

/// One kernel with other parameters each time: a cached kernel must not keep old arguments.
fn again_and_again(device: &mut Device) -> Outcome {
    let mut b = Builder::new(Form::Map, 1);
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let x = b.load(operand, access);
    let scale = b.param(DType::F32);
    let scaled = b.op(Op::Mul, &[x, scale]);
    b.store(scaled);
    let program = b.finish();
    let mut rng = Rng::new(53);
    for k in 0..24usize {
        // Runs of equal parameters, then others; shapes and strides change as well.
        let n = [40, 41, 64][k % 3];
        let param = [0.0, -0.0, 1.0, 2.5, 2.5, 2.5, 2.5, 7.0][k / 3];
        let run = Run::new(program.clone(), &[n])
            .operand((0..200).map(|_| rng.ordinary(DType::F32)).collect())
            .param(Scalar::f32(param))
            .access(affine((k % 5) as i64, &[1 + (k % 2) as i64]));
        device.check_one(&run, 0.0)?;
    }
    Ok(())
}

fn one_block_twice(device: &mut Device) -> Outcome {
    let n = 500;
    let mut b = Builder::new(Form::Map, 1);
    let (x, y) = (b.operand(DType::F32), b.operand(DType::F32));
    let (forwards, backwards) = (b.access(AccessKind::Contiguous), b.access(AccessKind::Affine));
    let (x, y) = (b.load(x, forwards), b.load(y, backwards));
    let difference = b.op(Op::Sub, &[x, y]);
    b.store(difference);
    let run =
        Run::new(b.finish(), &[n]).access(contiguous(&[n])).access(affine(n as i64 - 1, &[-1]));
    let source = device.upload(DType::F32, &numbers(n, 0))?;
    let dest = device.alloc(DType::F32, n)?;
    device.eval(&run, &[source, source], &[dest])?;
    let got = device.read(dest, DType::F32, 0, n)?;
    device.driver.block_free(source);
    device.driver.block_free(dest);
    let wanted: Vec<_> = (0..n).map(|k| Scalar::f32(2.0 * k as f32 - (n as f32 - 1.0))).collect();
    same(&got, &wanted, "a block minus itself backwards")
}

fn results_as_operands(device: &mut Device) -> Outcome {
    let n = 3001.min(device.caps.max_block_len);
    let run = doubling(n);
    let first: Vec<_> = (0..n).map(|k| Scalar::f32(k as f32 + 0.5)).collect();
    let mut blocks = vec![device.upload(DType::F32, &first)?];
    for k in 0..20 {
        let dest = device.alloc(DType::F32, n)?;
        device.eval(&run, &[blocks[k]], &[dest])?;
        blocks.push(dest);
    }
    for (k, block) in blocks.into_iter().enumerate().rev() {
        let got = device.read(block, DType::F32, 0, n)?;
        device.driver.block_free(block);
        let power = (1u32 << k) as f32;
        let wanted: Vec<_> = first.iter().map(|x| Scalar::f32(power * x.as_f32())).collect();
        same(&got, &wanted, &format!("doubled {k} times"))?;
    }
    Ok(())
}

fn programs_in_turns(device: &mut Device) -> Outcome {
    let runs: Vec<_> = (600..606).map(|seed| random_run(device, seed, 1)).collect();
    for _ in 0..3 {
        for run in &runs {
            if device.check_ir(&run.program)?.fits {
                device.check(run, 0.0)?;
            }
        }
    }
    Ok(())
}

/// Each thread uses a block of its own; calls of the threads interleave.
fn by_threads_in_turns(device: &mut Device) -> Outcome {
    let n = 257;
    let run = doubling(n);
    let last = std::sync::Mutex::new(vec![None; THREADS]);
    let start = |thread: usize| (thread, None::<BlockId>, numbers(n, thread));
    in_turns(device, 20, start, |device, (thread, block, data), _| {
        let source = match *block {
            Some(block) => block,
            None => device.upload(DType::F32, data)?,
        };
        let dest = device.alloc(DType::F32, n)?;
        device.eval(&run, &[source], &[dest])?;
        device.driver.block_free(source);
        data.iter_mut().for_each(|x| *x = Scalar::f32(2.0 * x.as_f32()));
        same(&device.read(dest, DType::F32, 0, n)?, data, &format!("a block of thread {thread}"))?;
        *block = Some(dest);
        last.lock().unwrap_or_else(|poison| poison.into_inner())[*thread] = Some(dest);
        Ok(())
    })?;
    let last = last.into_inner().unwrap_or_else(|poison| poison.into_inner());
    last.into_iter().flatten().for_each(|block| device.driver.block_free(block));
    Ok(())
}

/// An evaluation writes part of a block that was never written before: the rest is undefined.
fn first_write(device: &mut Device) -> Outcome {
    for (len, offset, stride) in [(300, 0, 1), (301, 1, 1), (1000, 2, 3), (1000, 999, -2)] {
        let mut run = doubling(300);
        run = run.target(0, len, affine(offset, &[stride]));
        let source = device.upload(DType::F32, &numbers(300, 1))?;
        let dest = device.alloc(DType::F32, len)?;
        device.eval(&run, &[source], &[dest])?;
        let got = device.read(dest, DType::F32, 0, len)?;
        device.driver.block_free(source);
        device.driver.block_free(dest);
        let place = |k: i64| (offset + stride * k) as usize;
        let got: Vec<_> = (0..300).map(|k| got[place(k)]).collect();
        let wanted: Vec<_> = (1..301).map(|k| Scalar::f32(2.0 * k as f32)).collect();
        same(&got, &wanted, &format!("every {stride} of {len} from {offset}"))?;
    }
    Ok(())
}
