//! What recording one operation costs, in nanoseconds: the median of several rounds.
//!
//! `cargo run --release -p gpupy-core --example recording`

use gpupy_core::registry::Registry;
use gpupy_core::{Arg, Array, Context, Op, Result, Scalar, Settings};
use std::time::Instant;

const OPERATIONS: usize = 20_000;

fn main() -> Result<()> {
    let context = Context::new(Registry::new(), Settings::default());
    let bytes = vec![0u8; 64 * 64 * 4];
    let start = Array::from_bytes(gpupy_core::DType::F32, &[64, 64], &bytes)?;
    let mut rounds = Vec::new();
    for _ in 0..9 {
        let mut x = start.clone();
        let begin = Instant::now();
        for i in 0..OPERATIONS / 2 {
            x = context.apply(Op::Mul, &[Arg::Array(&x), Arg::Scalar(Scalar::f32(i as f32))])?;
            x = context.apply(Op::Add, &[Arg::Array(&x), Arg::Array(&start)])?;
        }
        rounds.push(begin.elapsed().as_nanos() as f64 / OPERATIONS as f64);
    }
    rounds.sort_by(f64::total_cmp);
    println!("recording an operation: median {:.0} ns, best {:.0} ns", rounds[4], rounds[0]);
    Ok(())
}
