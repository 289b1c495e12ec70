//! Loops and branches.

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::oracle::{Run, contiguous};
use crate::expect::samples::Rng;
use crate::reporting::outcome::{Outcome, skip};
use gpupy_core::driver::Method;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "regions";

/// The program of a case, from the operand (float32) and the count (int32) of each point; it stores its result.
type Body = fn(&mut Builder, u32, u32);

const BODIES: [(&str, Body); 9] = [
    ("a loop with one carried value", one_carried),
    ("a loop with two carried values that change places", two_carried),
    ("a loop without carried values", nothing_carried),
    ("a loop in a loop", nested),
    ("a choice", choice),
    ("a choice in a loop", choice_in_loop),
    ("a loop in a choice", loop_in_choice),
    ("a loop that a choice leaves", left_by_a_choice),
    ("a loop that a choice leaves, or the count", left_by_both),
];

pub fn run(suite: &mut Suite<'_>) {
    for (name, body) in BODIES {
        suite.case(GROUP, name, |device| region(device, body, 203));
        suite.case(GROUP, &format!("{name}, on a long row"), |device| region(device, body, 5000));
    }
    suite.case(GROUP, "a loop over a table", over_a_table);
    suite.case(GROUP, "counts beside what a freed block held", beside_old_counts);
}

pub(super) fn need_regions(device: &Device) -> Outcome {
    let absent = |op| device.driver.get_method(op, DType::Bool) == Method::Absent;
    if absent(Op::Loop) && absent(Op::If) {
        return skip("no loops and choices");
    }
    Ok(())
}

fn region(device: &mut Device, body: Body, len: usize) -> Outcome {
    need_regions(device)?;
    let mut b = Builder::new(Form::Map, 1);
    let access = b.access(AccessKind::Contiguous);
    let (x, n) = (b.operand(DType::F32), b.operand(DType::I32));
    let (x, n) = (b.load(x, access), b.load(n, access));
    body(&mut b, x, n);
    let mut rng = Rng::new(41);
    let run = Run::new(b.finish(), &[len])
        .operand((0..len).map(|_| rng.ordinary(DType::F32)).collect())
        // No iteration for counts of 0 and less.
        .operand((0..len).map(|_| Scalar::i32(rng.below(12) as i32 - 3)).collect())
        .access(contiguous(&[len]));
    device.check_claimed(&run, 0.0)
}

fn one_carried(b: &mut Builder, x: u32, n: u32) {
    let half = b.constant(Scalar::f32(0.5));
    let region = b.begin_loop(n, &[x]);
    let so_far = b.carry(region, 0);
    let next = b.op(Op::Mul, &[so_far, half]);
    let next = b.op(Op::Add, &[next, x]);
    b.end(region, &[next]);
    let result = b.result(region, 0, DType::F32);
    b.store(result);
}

fn two_carried(b: &mut Builder, x: u32, n: u32) {
    let zero = b.constant(Scalar::f32(0.0));
    let region = b.begin_loop(n, &[x, zero]);
    let (first, second) = (b.carry(region, 0), b.carry(region, 1));
    let sum = b.op(Op::Sub, &[first, second]);
    b.end(region, &[second, sum]);
    let (first, second) = (b.result(region, 0, DType::F32), b.result(region, 1, DType::F32));
    let difference = b.op(Op::Sub, &[first, second]);
    b.store(difference);
}

fn nothing_carried(b: &mut Builder, x: u32, n: u32) {
    let region = b.begin_loop(n, &[]);
    let _ = b.op(Op::Add, &[x, x]);
    b.end(region, &[]);
    let sum = b.op(Op::Add, &[x, x]);
    b.store(sum);
}

fn nested(b: &mut Builder, _: u32, n: u32) {
    let zero = b.constant(Scalar::i32(0));
    let outer = b.begin_loop(n, &[zero]);
    let (i, total) = (b.iter(outer), b.carry(outer, 0));
    let inner = b.begin_loop(i, &[total]);
    let (j, so_far) = (b.iter(inner), b.carry(inner, 0));
    let product = b.op(Op::Mul, &[i, j]);
    let next = b.op(Op::Add, &[so_far, product]);
    b.end(inner, &[next]);
    let next = b.result(inner, 0, DType::I32);
    let next = b.op(Op::Add, &[next, n]);
    b.end(outer, &[next]);
    let total = b.result(outer, 0, DType::I32);
    b.store(total);
}

fn choice(b: &mut Builder, x: u32, n: u32) {
    let one = b.constant(Scalar::i32(1));
    let odd = b.op(Op::And, &[n, one]);
    let odd = b.op(Op::Eq, &[odd, one]);
    let region = b.begin_if(odd);
    let size = b.op(Op::Abs, &[x]);
    let square = b.op(Op::Mul, &[size, size]);
    b.begin_else(region, &[square, n]);
    let minus = b.op(Op::Neg, &[n]);
    b.end(region, &[x, minus]);
    let (x, n) = (b.result(region, 0, DType::F32), b.result(region, 1, DType::I32));
    let n = b.convert(Op::Cast, n, DType::F32);
    let sum = b.op(Op::Add, &[x, n]);
    b.store(sum);
}

fn choice_in_loop(b: &mut Builder, x: u32, n: u32) {
    let two = b.constant(Scalar::f32(2.0));
    let outer = b.begin_loop(n, &[x]);
    let so_far = b.carry(outer, 0);
    let far = b.op(Op::Gt, &[so_far, two]);
    let inner = b.begin_if(far);
    let less = b.op(Op::Sub, &[so_far, two]);
    b.begin_else(inner, &[less]);
    let more = b.op(Op::Add, &[so_far, two]);
    b.end(inner, &[more]);
    let next = b.result(inner, 0, DType::F32);
    b.end(outer, &[next]);
    let result = b.result(outer, 0, DType::F32);
    b.store(result);
}

fn loop_in_choice(b: &mut Builder, x: u32, n: u32) {
    let negative = b.op(Op::SignBit, &[x]);
    let outer = b.begin_if(negative);
    let inner = b.begin_loop(n, &[x]);
    let so_far = b.carry(inner, 0);
    let i = b.iter(inner);
    let i = b.convert(Op::Cast, i, DType::F32);
    let next = b.op(Op::Add, &[so_far, i]);
    b.end(inner, &[next]);
    let result = b.result(inner, 0, DType::F32);
    b.begin_else(outer, &[result]);
    b.end(outer, &[x]);
    let result = b.result(outer, 0, DType::F32);
    b.store(result);
}

fn left_by_a_choice(b: &mut Builder, x: u32, n: u32) {
    left(b, x, n, 40);
}

fn left_by_both(b: &mut Builder, x: u32, n: u32) {
    left(b, x, n, 5);
}

/// Each point takes as many iterations as its number says, at most `most`; then its carried value stays.
fn left(b: &mut Builder, x: u32, n: u32, most: i32) {
    let [most, zero, one] = [most, 0, 1].map(|number| b.constant(Scalar::i32(number)));
    let half = b.constant(Scalar::f32(0.5));
    let region = b.begin_loop(most, &[x, n]);
    let (so_far, turns) = (b.carry(region, 0), b.carry(region, 1));
    let is_open = b.op(Op::Gt, &[turns, zero]);
    let turn = b.begin_if(is_open);
    let low = b.op(Op::And, &[turns, one]);
    let is_odd = b.op(Op::Eq, &[low, one]);
    let inner = b.begin_if(is_odd);
    let less = b.op(Op::Mul, &[so_far, half]);
    b.begin_else(inner, &[less]);
    let more = b.op(Op::Add, &[so_far, x]);
    b.end(inner, &[more]);
    let next = b.result(inner, 0, DType::F32);
    let fewer = b.op(Op::Sub, &[turns, one]);
    b.begin_else(turn, &[next, fewer]);
    b.end(turn, &[so_far, turns]);
    let (next, fewer) = (b.result(turn, 0, DType::F32), b.result(turn, 1, DType::I32));
    b.end(region, &[next, fewer]);
    let (result, rest) = (b.result(region, 0, DType::F32), b.result(region, 1, DType::I32));
    let rest = b.convert(Op::Cast, rest, DType::F32);
    let sum = b.op(Op::Add, &[result, rest]);
    b.store(sum);
}

/// Each point adds up the first elements of a table.
fn over_a_table(device: &mut Device) -> Outcome {
    need_regions(device)?;
    device.need_method(Op::Gather, DType::F32)?;
    let mut b = Builder::new(Form::Map, 1);
    let table = b.operand(DType::F32);
    let access = b.access(AccessKind::Affine);
    let n = b.index(access);
    let zero = b.constant(Scalar::f32(0.0));
    let region = b.begin_loop(n, &[zero]);
    let (i, so_far) = (b.iter(region), b.carry(region, 0));
    let term = b.gather(table, i);
    let next = b.op(Op::Add, &[so_far, term]);
    b.end(region, &[next]);
    let result = b.result(region, 0, DType::F32);
    b.store(result);
    let mut rng = Rng::new(43);
    let run = Run::new(b.finish(), &[50])
        .operand((0..50).map(|_| rng.ordinary(DType::F32)).collect())
        .access(contiguous(&[50]));
    device.check_claimed(&run, 0.0)
}

/// Memory around a block's elements must not be used as a loop count: such a loop takes long, or is stopped by
/// the device.
fn beside_old_counts(device: &mut Device) -> Outcome {
    for n in [1, 50, 203, 4097] {
        let old = vec![Scalar::i32(i32::MAX); n + 3];
        let block = device.upload(DType::I32, &old)?;
        device.driver.block_free(block);
        region(device, nested, n)?;
    }
    Ok(())
}
