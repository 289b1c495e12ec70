//! The distance map from Rust, without Python: records the expression, evaluates it on the software
//! driver, and prints what recording and evaluating cost.
//!
//! `cargo run --release -p gpupy-engine --example distance_map -- 100 256`: 100 points, 256² pixels.

use gpupy_core::{DType, Op, Result, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::time::Instant;

/// Each pixel's distance to the nearest of `points`, as one pending expression.
fn distance_map(context: &Context, size: usize, points: &[(f32, f32)]) -> Result<Array> {
    let axis = |k| context.cast(&context.index(&[size, size], k)?, DType::F32);
    let (x, y) = (axis(0)?, axis(1)?);
    let mut nearest: Option<Array> = None;
    for (px, py) in points {
        let square = |array: &Array, at: f32| -> Result<Array> {
            let d = context.apply(
                Op::Sub,
                &[ArrayOrScalar::Array(array), ArrayOrScalar::Scalar(Scalar::f32(at))],
            )?;
            context.apply(Op::Mul, &[ArrayOrScalar::Array(&d), ArrayOrScalar::Array(&d)])
        };
        let sum = context.apply(
            Op::Add,
            &[ArrayOrScalar::Array(&square(&x, *px)?), ArrayOrScalar::Array(&square(&y, *py)?)],
        )?;
        let distance = context.apply(Op::Sqrt, &[ArrayOrScalar::Array(&sum)])?;
        nearest = Some(match nearest {
            None => distance,
            Some(before) => context.apply(
                Op::Min,
                &[ArrayOrScalar::Array(&distance), ArrayOrScalar::Array(&before)],
            )?,
        });
    }
    nearest.map_or_else(|| Array::full(&[size, size], Scalar::f32(f32::INFINITY)), Ok)
}

fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).map_while(|word| word.parse::<usize>().ok());
    let (count, size) = (numbers.next().unwrap_or(100), numbers.next().unwrap_or(128));
    // A plain multiplicative generator scatters the points the same way on every run.
    let mut seed = 12345u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1u64 << 24) as f32 * size as f32
    };
    let points: Vec<_> = (0..count).map(|_| (random(), random())).collect();
    let registry = Registry::new().register(driver_soft::NAME, driver_soft::new);
    let context = Context::new(registry, Settings::from_env()?);

    let start = Instant::now();
    let map = distance_map(&context, size, &points)?;
    let recorded = start.elapsed();
    let farthest = context.reduce(Op::Max, &map, &[0, 1], false)?;
    let start = Instant::now();
    let value = context.item(&farthest, &[])?;
    println!("largest distance to the nearest of {count} points on {size}²: {value}");
    println!(
        "recording: {:.0} ns an operation; evaluating: {:.1} ms",
        recorded.as_nanos() as f64 / (count * 7) as f64,
        start.elapsed().as_secs_f64() * 1e3
    );
    println!("{:#?}", context.stats());
    Ok(())
}
