//! Times the work that a threshold decides about, for `cargo xtask tune`, which builds this with `--cfg
//! gpupy_tune`.
//!
//! `tune THRESHOLD SIZE` prints nanoseconds: the fifth percentile of many runs of one piece of work of that
//! size, with the thresholds that `GPUPY_TUNE` sets. Each run ends with the result in host memory.
//!
//! Not here: the list of timed thresholds, and both sides of each (`xtask/src/timing/tune.rs`).

use gpupy_core::{DType, Op, Result, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Outside, Registry, Settings};
use std::time::{Duration, Instant};

/// The time for which a piece of work is repeated, at least ten times.
const AS_LONG_AS: Duration = Duration::from_millis(300);

/// An array of float64 elements that are all different.
fn ramp(shape: &[usize]) -> Result<Array> {
    let len: usize = shape.iter().product();
    let bytes: Vec<u8> = (0..len).flat_map(|k| (k as f64 * 0.37).to_ne_bytes()).collect();
    Array::from_bytes(DType::F64, shape, &bytes)
}

/// A mask that is true for every third element.
fn every_third(size: usize) -> Result<Array> {
    let bytes: Vec<u8> = (0..size).map(|k| u8::from(k % 3 == 0)).collect();
    Array::from_bytes(DType::Bool, &[size], &bytes)
}

/// Work of a size, done once; the result is read.
type Work = Box<dyn Fn(&Context) -> Result<Array>>;

/// The sum of two arrays.
fn sum(one: &Array, other: &Array, context: &Context) -> Result<Array> {
    context.apply(Op::Add, &[one.into(), other.into()])
}

/// A sum of rows, which lie apart, and a number for each row.
fn rows(rows: usize, extent: usize) -> Result<Work> {
    let apart = ramp(&[rows, extent + 8])?.slice_axis(1, 0, extent, 1);
    let beside = ramp(&[rows, 1])?.broadcast_to(&[rows, extent])?;
    Ok(Box::new(move |context| sum(&apart, &beside, context)))
}

/// The work that a threshold decides about; `None` where it is not timed.
fn work(threshold: &str, size: usize) -> Result<Option<Work>> {
    let chain = move |one: &Array, other: &Array, context: &Context| {
        let mut chain = one.clone();
        for _ in 0..6 {
            let half = [ArrayOrScalar::Array(&chain), Scalar::f64(0.5).into()];
            chain = sum(&context.apply(Op::Mul, &half)?, other, context)?;
        }
        Ok(chain)
    };
    let one = ramp(&[size])?;
    let other = ramp(&[size])?;
    Ok(Some(match threshold {
        "gpupy-engine.most_points" => Box::new(move |context| sum(&one, &other, context)),
        "gpupy-engine.chain_points" => Box::new(move |context| {
            let [one, other] = [&one, &other].map(|all| all.slice_axis(0, 0, size / 12, 1));
            chain(&one, &other, context)
        }),
        "gpupy-engine.chained_elements" => Box::new(move |context| chain(&one, &other, context)),
        "gpupy-engine.most_sorted" => Box::new(move |context| context.sort(&one, 0)),
        "driver-cpu.radix_keys" => {
            // In no order: multiples of an odd number modulo 2^32.
            let key = |k: usize| (k as u32).wrapping_mul(0x9e37_79b1).to_ne_bytes();
            let keys: Vec<u8> = (0..size).flat_map(key).collect();
            let keys = Array::from_bytes(DType::I32, &[size], &keys)?;
            Box::new(move |context| context.sort(&keys, 0))
        }
        "gpupy-engine.most_products" => {
            let side = (size as f64).cbrt() as usize;
            let (a, b) = (ramp(&[side, side])?, ramp(&[side, side])?);
            Box::new(move |context| context.matmul(&a, &b))
        }
        "gpupy-engine.filled" => Box::new(move |context| {
            let filled = context.full(&[size], Scalar::f64(2.0))?;
            sum(&filled, &one, context)
        }),
        "gpupy-engine.joined_part" => {
            // More parts than a tile has boxes.
            let parts = (0..300).map(|_| ramp(&[size])).collect::<Result<Vec<Array>>>()?;
            Box::new(move |context| context.join(0, &parts))
        }
        "gpupy-engine.most_searched" => Box::new(move |context| context.place(Op::Min, &one, 0)),
        "gpupy-engine.most_masked" => {
            let mask = every_third(size)?;
            Box::new(move |context| {
                if !context.write_masked(&one, &mask, (&other).into()) {
                    let places = context.where_true(&mask)?;
                    let source = other.slice_axis(0, 0, places.size(), 1);
                    context.put(&one, &[Some(&places)], 0, Outside::Refuse, (&source).into())?;
                }
                Ok(one.clone())
            })
        }
        "gpupy-engine.positions_later" => {
            let mask = every_third(size)?;
            Box::new(move |context| {
                let places = context.where_true(&mask)?;
                context.fancy_index(&one, &[Some(&places)], 0, Outside::Refuse)
            })
        }
        "gpupy-engine.shared_bytes" => {
            let [one, other] = [&one, &other].map(|all| all.slice_axis(0, 0, size / 8, 1));
            Box::new(move |context| {
                let sum = sum(&one, &one, context)?;
                context.assign(&other, (&sum).into())?;
                Ok(other.clone())
            })
        }
        "gpupy-engine.pooled_from" | "gpupy-engine.mapped_from" => {
            let [one, other] = [&one, &other].map(|all| all.slice_axis(0, 0, size / 8, 1));
            Box::new(move |context| sum(&one, &other, context))
        }
        "driver-cpu.vector_keys" => {
            let keys = (0..size).map(|k| (k.wrapping_mul(0x9e37_79b9) % 1_000_003) as f64);
            let keys: Vec<u8> = keys.flat_map(f64::to_ne_bytes).collect();
            let keys = Array::from_bytes(DType::F64, &[size], &keys)?;
            Box::new(move |context| context.sort(&keys, 0))
        }
        "driver-cpu.few_rows" => rows(size, 8)?,
        "driver-cpu.coalesced_points" => rows(size / 8, 8)?,
        "driver-cpu.coalesced_row" => rows(200_000 / size, size)?,
        "driver-cpu.skinny_vectors" => {
            let (a, b) = (ramp(&[1000, 1000])?, ramp(&[1000, size])?);
            Box::new(move |context| context.matmul(&a, &b))
        }
        _ => return Ok(None),
    }))
}

/// Nanoseconds of the work that a threshold decides about.
fn timed(threshold: &str, size: usize) -> Result<Option<f64>> {
    let registry = Registry::new().register_host(driver_cpu::NAME, driver_cpu::new);
    let context =
        Context::new(registry, Settings { driver: driver_cpu::NAME.into(), ..Settings::default() });
    context.driver()?;
    let Some(work) = work(threshold, size)? else { return Ok(None) };
    let mut times = Vec::new();
    let begun = Instant::now();
    while times.len() < 10 || begun.elapsed() < AS_LONG_AS {
        let start = Instant::now();
        let made = work(&context)?;
        std::hint::black_box(context.read(&made)?.as_ptr());
        times.push(start.elapsed().as_nanos() as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 20).copied())
}

fn main() -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let size = words.get(1).and_then(|size| size.parse().ok());
    let (Some(threshold), Some(size)) = (words.first(), size) else {
        eprintln!("usage: tune THRESHOLD SIZE");
        return std::process::ExitCode::FAILURE;
    };
    match timed(threshold, size) {
        Ok(Some(time)) => {
            println!("{time:.0}");
            std::process::ExitCode::SUCCESS
        }
        Ok(None) => {
            eprintln!("tune: nothing is timed for `{threshold}`");
            std::process::ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("tune: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
