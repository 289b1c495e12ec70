//! Launches in place: the destination is an operand too, where a driver supports that.
//!
//! The result is the same as in another block; operands that are no destination are unchanged.

use super::{GROUP, Suite};
use crate::drivers::device::Device;
use crate::expect::compare::{accepts, same};
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::Rng;
use crate::reporting::outcome::{Outcome, ensure, skip};
use gpupy_core::driver::Method;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_core::{DType, Scalar};

pub fn run(suite: &mut Suite<'_>) {
    for n in [1, 7, 300, 5000] {
        suite.case(GROUP, &format!("in place, {n} elements"), |d| chain(d, n));
    }
    suite.case(GROUP, "in place, every second element", every_second);
    suite.case(GROUP, "in place, short rows and one for all of them", rows);
    suite.case(GROUP, "in place, each operation", each_operation);
    suite.case(GROUP, "in place, a copy of itself", copy);
}

fn chain(device: &mut Device, n: usize) -> Outcome {
    let mut b = Builder::new(Form::Map, 1);
    let (x, y, all) =
        (b.operand(DType::F32), b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let (x, y) = (b.load(x, all), b.load(y, all));
    let scale = b.param(DType::F32);
    let product = b.op(Op::Mul, &[x, scale]);
    let sum = b.op(Op::Add, &[product, y]);
    // Reads the operand again when the result is nearly finished.
    let least = b.op(Op::Min, &[sum, x]);
    b.store(least);
    let run = Run::new(b.finish(), &[n]).param(Scalar::f32(2.5)).access(contiguous(&[n]));
    in_place(device, &run, n, Some(n))
}

fn every_second(device: &mut Device) -> Outcome {
    let n = 500;
    let mut b = Builder::new(Form::Map, 1);
    let (x, walk) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let x = b.load(x, walk);
    let square = b.op(Op::Mul, &[x, x]);
    b.store(square);
    let walk = affine(1, &[2]);
    let run = Run::new(b.finish(), &[n]).access(walk.clone()).target(0, 2 * n, walk);
    in_place(device, &run, 2 * n, None)
}

fn rows(device: &mut Device) -> Outcome {
    let shape = [900, 10];
    let mut b = Builder::new(Form::Map, 2);
    let (x, y) = (b.operand(DType::F32), b.operand(DType::F32));
    let (all, row) = (b.access(AccessKind::Contiguous), b.access(AccessKind::Affine));
    let (x, y) = (b.load(x, all), b.load(y, row));
    let sum = b.op(Op::Add, &[x, y]);
    b.store(sum);
    let run = Run::new(b.finish(), &shape).access(contiguous(&shape)).access(affine(0, &[0, 1]));
    in_place(device, &run, 9000, Some(10))
}

fn each_operation(device: &mut Device) -> Outcome {
    let n = 3000;
    for info in OPS.iter().filter(|info| info.rule != Rule::Special && info.arity <= 2) {
        let native = device.driver.get_method(info.op, DType::F32) == Method::Native;
        let gives = matches!(info.rule, Rule::Number | Rule::Float);
        if !native || !gives {
            continue;
        }
        let mut b = Builder::new(Form::Map, 1);
        let (x, all) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
        let x = b.load(x, all);
        let result = b.op(info.op, &[x, x][..info.arity as usize]);
        b.store(result);
        let run = Run::new(b.finish(), &[n]).access(contiguous(&[n]));
        in_place(device, &run, n, None)?;
    }
    Ok(())
}

fn copy(device: &mut Device) -> Outcome {
    let n = 700;
    let mut b = Builder::new(Form::Map, 1);
    let (x, all) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let x = b.load(x, all);
    b.store(x);
    let run = Run::new(b.finish(), &[n]).access(contiguous(&[n]));
    in_place(device, &run, n, None)
}

/// Runs a launch over `first` elements, and `second` elements of a second operand, into another block and then
/// into the first operand: often enough that a driver may compile code for it.
fn in_place(device: &mut Device, run: &Run, first: usize, second: Option<usize>) -> Outcome {
    if !(device.caps.in_place && device.caps.host_memory) {
        return skip("destinations are no operands");
    }
    let mut rng = Rng::new(77);
    let mut numbers =
        |n: usize| -> Vec<Scalar> { (0..n).map(|_| rng.scalar(DType::F32)).collect() };
    let x = numbers(first);
    let y = second.map(&mut numbers);
    let other = y.as_ref().map(|y| device.upload(DType::F32, y)).transpose()?;
    let (source, dest) = (device.upload(DType::F32, &x)?, device.upload(DType::F32, &x)?);
    let mut operands: Vec<_> = [source].into_iter().chain(other).collect();
    device.eval(run, &operands, &[dest])?;
    let wanted = device.read(dest, DType::F32, 0, first)?;
    for turn in 0..3 {
        device.write(dest, 0, &x)?;
        operands[0] = dest;
        device.eval(run, &operands, &[dest])?;
        let got = device.read(dest, DType::F32, 0, first)?;
        let wrong = got.iter().zip(&wanted).position(|(got, wanted)| !accepts(*got, *wanted, 0.0));
        ensure(wrong.is_none(), || {
            format!("turn {turn}: another element at {wrong:?} than elsewhere, of\n{}", run.program)
        })?;
    }
    if let (Some(block), Some(y)) = (other, &y) {
        same(&device.read(block, DType::F32, 0, y.len())?, y, "the other operand")?;
    }
    [source, dest].into_iter().chain(other).for_each(|block| device.driver.block_free(block));
    Ok(())
}
