//! What several reductions of the same elements cost in one program, beside one program for each: nanoseconds,
//! medians.
//!
//! `cargo run --release -p driver-cpu --example reductions [THREADS]`
#![allow(clippy::unwrap_used)] // nobody depends on it

use gpupy_core::driver::{Access, BlockId, BlockSpec, Config, Dest, Driver, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::{DType, Op};
use std::time::Instant;

/// The sum, the greatest and the sum of squares, as far as they are wanted.
fn program(wanted: &[usize]) -> Program {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 1);
    let (operand, slot) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let x = b.load(operand, slot);
    let square = if wanted.contains(&2) { b.op(Op::Mul, &[x, x]) } else { x };
    let all = [(Op::Add, x), (Op::Max, x), (Op::Add, square)];
    let results: Vec<u32> = wanted.iter().map(|k| b.reduce_by(all[*k].0, all[*k].1)).collect();
    results.into_iter().for_each(|result| b.store(result));
    b.finish()
}

fn block(driver: &mut dyn Driver, len: usize) -> BlockId {
    let block = driver.block_alloc(BlockSpec::new(DType::F32, len)).unwrap();
    let bytes: Vec<u8> = (0..len).flat_map(|k| ((k % 1013) as f32 * 1e-3).to_ne_bytes()).collect();
    driver.block_write(block, 0, &bytes).unwrap();
    block
}

/// The median of how long evaluations of these programs take together.
fn time(driver: &mut dyn Driver, programs: &[Program], n: usize) -> f64 {
    let operand = block(driver, n);
    let unit = || Access { offset: 0, strides: [1].as_slice().into() };
    let dests: Vec<BlockId> = (0..3).map(|_| block(driver, n.div_ceil(256))).collect();
    let mut times = Vec::new();
    for _ in 0..400 {
        let begun = Instant::now();
        for program in programs {
            let all = dests.iter().take(program.dests.len());
            let all: Vec<Dest> =
                all.map(|block| Dest { block: *block, access: unit(), whole: true }).collect();
            let launch = Launch {
                program,
                fingerprint: program.fingerprint(),
                shape: &[n],
                operands: &[operand],
                params: &[],
                accesses: &[unit()],
                dests: &all,
                memory: &[],
            };
            driver.eval_ir(&launch).unwrap();
        }
        times.push(begun.elapsed().as_nanos() as f64);
    }
    dests.into_iter().chain([operand]).for_each(|block| driver.block_free(block));
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let threads = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let mut driver = driver_cpu::new();
    println!("{}", driver.init(&Config { threads, ..Config::default() }).unwrap().device);
    for n in [1000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let apart = [program(&[0]), program(&[1]), program(&[2])];
        let apart = time(&mut *driver, &apart, n);
        let together = time(&mut *driver, &[program(&[0, 1, 2])], n);
        println!(
            "{n:>10} elements: together {together:>12.0} ns, {:>6} KB read; apart {apart:>12.0} ns, {:>6} KB read",
            4 * n / 1000,
            12 * n / 1000,
        );
    }
}
