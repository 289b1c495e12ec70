//! Launches on host memory that they bring: the names of pieces, and invalid ones.
//!
//! Not here: each launch of the suite, which gives the same bits on memory (`check_brought` in
//! `drivers/launch_memory.rs`).

use super::super::mistakes::undisturbed;
use super::super::{Suite, doubling, numbers};
use super::GROUP;
use crate::drivers::device::Device;
use crate::drivers::launch_memory::{LaunchMemory, need_memory_launches};
use crate::expect::compare::same;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::reporting::outcome::{Outcome, fine, refused, skip};
use gpupy_core::driver::{BlockId, HostBlock};
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, ErrorKind, Scalar};

/// Elements of a launch.
const N: usize = 40;
/// The most elements of memory that is longer than any block.
const TRIED: usize = 1 << 20;

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "on host memory, again and again between blocks", between_blocks);
    suite.case(GROUP, "on host memory, one piece as several operands", one_piece_twice);
    suite.case(GROUP, "on host memory, operands that overlap", overlapping);
    suite.case(GROUP, "on host memory, in place", in_place);
    suite.case(GROUP, "on host memory, operands that are not there", operands_not_there);
    suite.case(GROUP, "on host memory, destinations that are not there", dests_not_there);
    suite.case(GROUP, "on host memory, lengths that no block has", lengths);
}

/// The product of two operands.
fn product(n: usize) -> Run {
    let mut b = Builder::new(Form::Map, 1);
    let (x, y) = (b.operand(DType::F32), b.operand(DType::F32));
    let all = b.access(AccessKind::Contiguous);
    let (x, y) = (b.load(x, all), b.load(y, all));
    let product = b.op(Op::Mul, &[x, y]);
    b.store(product);
    Run::new(b.finish(), &[n]).access(contiguous(&[n]))
}

fn products(xs: &[Scalar], ys: &[Scalar]) -> Vec<Scalar> {
    xs.iter().zip(ys).map(|(x, y)| Scalar::f32(x.as_f32() * y.as_f32())).collect()
}

fn eval(
    device: &mut Device,
    run: &Run,
    operands: &[u64],
    dest: u64,
    memory: &[HostBlock],
) -> Outcome {
    let operands: Vec<_> = operands.iter().map(|at| BlockId(*at)).collect();
    let answer = device.try_eval_on(run, &operands, &[BlockId(dest)], memory);
    fine(answer, "eval_ir on host memory").map(drop)
}

/// Memory and blocks alternately, with other numbers each time: neither is mistaken for the other.
fn between_blocks(device: &mut Device) -> Outcome {
    need_memory_launches(device)?;
    undisturbed(device, |device| {
        for k in 0..40 {
            let (xs, ys) = (numbers(N, k), numbers(N, 2 * k + 1));
            let wanted = products(&xs, &ys);
            let [mut x, mut y, mut z] =
                [&xs, &ys, &xs].map(|data| LaunchMemory::new(data, DType::F32));
            // The order of the pieces is the caller's.
            eval(device, &product(N), &[2, 0], 1, &[y.all(), z.all(), x.all()])?;
            same(&z.read()?, &wanted, "the destination on host memory")?;
            let [x, y] = [device.upload(DType::F32, &xs)?, device.upload(DType::F32, &ys)?];
            let z = device.alloc(DType::F32, N)?;
            device.eval(&product(N), &[x, y], &[z])?;
            same(&device.read(z, DType::F32, 0, N)?, &wanted, "the destination in a block")?;
            [x, y, z].into_iter().for_each(|block| device.driver.block_free(block));
        }
        Ok(())
    })
}

fn one_piece_twice(device: &mut Device) -> Outcome {
    need_memory_launches(device)?;
    let data = numbers(N, 1);
    let [mut x, mut z] = [&data, &data].map(|data| LaunchMemory::new(data, DType::F32));
    eval(device, &product(N), &[0, 0], 1, &[x.all(), z.all()])?;
    same(&z.read()?, &products(&data, &data), "the squares")?;
    same(&x.read()?, &data, "the operand")
}

fn overlapping(device: &mut Device) -> Outcome {
    need_memory_launches(device)?;
    let data = numbers(N + 1, 1);
    let [mut x, mut z] = [&data, &data].map(|data| LaunchMemory::new(data, DType::F32));
    eval(device, &product(N), &[0, 1], 2, &[x.part(0, N), x.part(1, N), z.part(0, N)])?;
    let mut wanted = products(&data[..N], &data[1..]);
    wanted.push(data[N]);
    same(&z.read()?, &wanted, "products of neighbours")
}

fn in_place(device: &mut Device) -> Outcome {
    need_memory_launches(device)?;
    if !(device.caps.in_place && device.caps.host_memory) {
        return skip("destinations are no operands");
    }
    let (xs, ys) = (numbers(N, 1), numbers(N, 7));
    let mut wanted = xs.clone();
    let [mut x, mut y] = [&xs, &ys].map(|data| LaunchMemory::new(data, DType::F32));
    for _ in 0..5 {
        eval(device, &product(N), &[0, 1], 0, &[x.all(), y.all()])?;
        wanted = products(&wanted, &ys);
        same(&x.read()?, &wanted, "the operand that is the destination")?;
    }
    same(&y.read()?, &ys, "the other operand")
}

/// Handles that are no positions: beyond the last, and a block's.
fn not_there(device: &mut Device) -> Outcome<([u64; 4], BlockId)> {
    let mut block = device.upload(DType::F32, &numbers(N, 1))?;
    // Its handle must not be a position.
    while block.0 < 2 {
        device.driver.block_free(block);
        block = device.upload(DType::F32, &numbers(N, 1))?;
    }
    Ok(([2, 3, u64::MAX, block.0], block))
}

fn operands_not_there(device: &mut Device) -> Outcome {
    need_memory_launches(device)?;
    let (none, block) = not_there(device)?;
    for none in none {
        mistaken(device, &[BlockId(none)], BlockId(1), [N, N])?;
    }
    device.driver.block_free(block);
    Ok(())
}

fn dests_not_there(device: &mut Device) -> Outcome {
    need_memory_launches(device)?;
    let (none, block) = not_there(device)?;
    for none in none {
        mistaken(device, &[BlockId(0)], BlockId(none), [N, N])?;
    }
    let now = device.read(block, DType::F32, 0, N)?;
    device.driver.block_free(block);
    same(&now, &numbers(N, 1), "a block whose handle stood in a launch on host memory")
}

fn lengths(device: &mut Device) -> Outcome {
    need_memory_launches(device)?;
    let longer = device.caps.max_block_len + 1;
    for wrong in [0, longer].into_iter().filter(|len| *len <= TRIED) {
        mistaken(device, &[BlockId(0)], BlockId(1), [wrong, N])?;
        mistaken(device, &[BlockId(0)], BlockId(1), [N, wrong])?;
    }
    Ok(())
}

/// A launch on two pieces of memory, said to be so long, that has to be refused: nothing is written.
fn mistaken(
    device: &mut Device,
    operands: &[BlockId],
    dest: BlockId,
    [from, to]: [usize; 2],
) -> Outcome {
    undisturbed(device, |device| {
        let data = numbers(N.max(from).max(to), 3);
        let [mut x, mut z] = [&data, &data].map(|data| LaunchMemory::new(data, DType::F32));
        let run = doubling(N / 2).target(0, N, affine(1, &[1]));
        let memory = [x.part(0, from), z.part(0, to)];
        let answer = device.try_eval_on(&run, operands, &[dest], &memory);
        refused(answer, ErrorKind::Invalid, "eval_ir on host memory")?;
        same(&z.read()?, &data, "the destination")?;
        same(&x.read()?, &data, "the operand")
    })
}
