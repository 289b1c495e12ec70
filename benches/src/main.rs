//! Prints the time of recording one operation in the core and of planning many, without Python.
//!
//! Owns nothing. Invariant: while recording is timed no driver is open, so nothing is evaluated, and dropped
//! arrays were only recorded. Not here: everything that Python can time (`python -m gpupy bench`).

use std::time::Instant;

use gpupy_core::{DType, Op, Result, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Registry, Settings};

/// Operations in one chain.
const RECORDED: usize = 200;

/// Chains that are timed; the median is printed.
const CHAINS: usize = 2001;

fn main() -> Result<()> {
    let context = Context::new(Registry::new(), Settings::default());
    let mut times = Vec::with_capacity(CHAINS);
    let mut before = None;
    for number in 0..CHAINS {
        let (chain, nanoseconds) = chain(&context, number, RECORDED)?;
        times.push(nanoseconds);
        // A chain is dropped only when the next one is there: otherwise the allocator would give its
        // memory back to the system in between, and the page faults would be all that is timed.
        before = Some(chain);
    }
    drop(before);
    times.sort_by(f64::total_cmp);
    println!("Recording one operation in the core: {:.0} ns.", times[CHAINS / 2]);
    for operations in [20, 100, 10_000, 100_000] {
        let seconds = planned(operations)?;
        println!(
            "A first flush of {operations} operations on 16 elements: {:.3} ms.",
            seconds * 1e3
        );
    }
    for operations in [2, 100] {
        println!(
            "A cached flush of {operations} operations on 16 elements: {:.2} µs.",
            planned_before(operations)? * 1e6
        );
    }
    Ok(())
}

/// The seconds of a flush of a chain of so many operations on few elements that is known from one before: the median.
fn planned_before(operations: usize) -> Result<f64> {
    let settings = Settings { flush_operations: usize::MAX, ..Settings::default() };
    let recording = Context::new(Registry::new(), settings.clone());
    let registry = Registry::new().register(driver_cpu::NAME, driver_cpu::new);
    let context = Context::new(registry, settings);
    let mut times = Vec::with_capacity(CHAINS);
    for number in 0..CHAINS {
        let (x, _) = chain(&recording, number, operations)?;
        let start = Instant::now();
        context.evaluate(&[&x])?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[CHAINS / 2])
}

/// The seconds of a flush of a chain of so many operations on few elements, which are mostly those of planning
/// it: the
/// least of several. Nothing is known of it before.
fn planned(operations: usize) -> Result<f64> {
    let settings = Settings { flush_operations: usize::MAX, plans: false, ..Settings::default() };
    let recording = Context::new(Registry::new(), settings.clone());
    let registry = Registry::new().register(driver_cpu::NAME, driver_cpu::new);
    let context = Context::new(registry, settings);
    let mut least = f64::INFINITY;
    for number in 0..(200_000 / operations).clamp(3, 200) {
        let (x, _) = chain(&recording, number, operations)?;
        let start = Instant::now();
        context.evaluate(&[&x])?;
        // The first one opens the driver.
        if number > 0 {
            least = least.min(start.elapsed().as_secs_f64());
        }
    }
    Ok(least)
}

/// Records `x * c + y` again and again; returns the end of the chain and the nanoseconds of one operation.
fn chain(context: &Context, number: usize, operations: usize) -> Result<(Array, f64)> {
    let y = context.cast(&context.index(&[16], 0)?, DType::F32)?;
    let mut x = context
        .apply(Op::Add, &[ArrayOrScalar::Array(&y), ArrayOrScalar::Scalar(Scalar::f32(1.0))])?;
    // Each chain has a constant of its own, or it would find the nodes of the chain before.
    let c = Scalar::f32(0.9 + number as f32 * 1e-5);
    let start = Instant::now();
    for _ in 0..operations / 2 {
        let scaled =
            context.apply(Op::Mul, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Scalar(c)])?;
        x = context.apply(Op::Add, &[ArrayOrScalar::Array(&scaled), ArrayOrScalar::Array(&y)])?;
    }
    let nanoseconds = start.elapsed().as_nanos() as f64;
    Ok((x, nanoseconds / operations as f64))
}
