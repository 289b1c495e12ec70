//! The largest error of each float32 function of one operand, over every float32.
//!
//! `cargo run --release -p gpupy-core --example function_errors [name …] [every=N]` takes a few
//! minutes per function; `every=N` tests each Nth bit pattern only. References are the float64 functions of the
//! platform's C library. Their own error (below 1e-8 of the distance between float32 numbers) does not matter here.
//! With `vectors=FILE` it prints the largest error of the float64 functions over the file's lines (see
//! `tests/functions/reference.rs`).

#[path = "../tests/functions/evaluate.rs"]
#[allow(dead_code)]
mod evaluate;
#[path = "../tests/functions/reference.rs"]
#[allow(dead_code)]
mod reference;

use evaluate::{Evaluator, ROW};
use gpupy_core::op::OPS;
use gpupy_core::{DType, Op, functions};
use std::sync::atomic::{AtomicU64, Ordering};

/// The worst result: its error in ULP, the operand, and the result.
#[derive(Clone, Copy, Default)]
struct Worst {
    error: f64,
    x: f32,
    got: f32,
}

fn main() {
    let mut names = Vec::new();
    let mut every = 1u64;
    for arg in std::env::args().skip(1) {
        match arg.strip_prefix("every=").map(str::parse) {
            Some(Ok(n)) => every = n,
            Some(Err(error)) => return println!("{arg}: {error}"),
            None => match arg.strip_prefix("vectors=") {
                Some(path) => return over_vectors(path),
                None => names.push(arg),
            },
        }
    }
    println!("function   operations  instructions  max ULP  at x = (bits)  result");
    for row in OPS.iter().filter(|row| row.arity == 1) {
        let Some(program) = functions::program(row.op, DType::F32) else { continue };
        if !names.is_empty() && !names.iter().any(|name| name == row.name) {
            continue;
        }
        let worst = worst(row.op, every);
        println!(
            "{:10} {:10}  {:12}  {:7.3}  {:e} ({:#x})  {:e}",
            row.name,
            program.operation_count(),
            program.insts.len(),
            worst.error,
            worst.x,
            worst.x.to_bits(),
            worst.got
        );
    }
}

/// The worst results of float64 functions over a file of vectors.
fn over_vectors(path: &str) {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return println!("{path}: {error}"),
    };
    let Some(vectors) = reference::vectors(&text) else { return println!("{path}: no vectors") };
    println!("function   operations  vectors  max ULP  at x");
    for row in OPS {
        let Some(program) = functions::program(row.op, DType::F64) else { continue };
        let mut evaluator = Evaluator::new(program);
        let errors = vectors.iter().filter(|vector| vector.op == row.op).map(|vector| {
            let got = evaluator.run_one(&vector.operands);
            (reference::error_double(got, vector), &vector.operands)
        });
        let errors: Vec<_> = errors.collect();
        let Some((error, at)) = errors.iter().max_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        let (count, operations) = (errors.len(), program.operation_count());
        println!("{:10} {operations:10}  {count:7}  {error:7.3}  {at:?}", row.name);
    }
}

/// The worst result over each `every`th float32.
fn worst(op: Op, every: u64) -> Worst {
    /// Bit patterns that a thread takes at a time.
    const SHARE: u64 = 1 << 20;
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut worst = Worst::default();
                    loop {
                        let first = next.fetch_add(SHARE * every, Ordering::Relaxed);
                        if first >= 1 << 32 {
                            return worst;
                        }
                        let last = (first + SHARE * every).min(1 << 32);
                        look(op, first, last, every, &mut worst);
                    }
                })
            })
            .collect();
        let each = workers.into_iter().filter_map(|worker| worker.join().ok());
        each.max_by(|a, b| a.error.total_cmp(&b.error)).unwrap_or_default()
    })
}

fn look(op: Op, first: u64, last: u64, every: u64, worst: &mut Worst) {
    let (Some(program), Some(exact)) = (functions::program(op, DType::F32), reference::unary(op))
    else {
        return;
    };
    let mut evaluator = Evaluator::new(program);
    let mut bits = first;
    while bits < last {
        let operands: [u32; ROW] = std::array::from_fn(|k| (bits + k as u64 * every) as u32);
        let results = evaluator.run_single(&operands);
        for (x, got) in operands.into_iter().zip(results) {
            let (x, got) = (f32::from_bits(x), f32::from_bits(got));
            let error = reference::error_single(got, exact(f64::from(x)));
            if error > worst.error {
                *worst = Worst { error, x, got };
            }
        }
        bits += ROW as u64 * every;
    }
}
