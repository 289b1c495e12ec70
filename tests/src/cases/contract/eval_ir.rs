//! `eval_ir` evaluates a program into its destinations.
//!
//! Not here: what programs compute (the levels).

mod destinations;

use super::{Suite, doubling};
use crate::compare::same;
use crate::device::Device;
use crate::oracle::{Run, affine};
use crate::outcome::Outcome;
use crate::samples::Rng;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "eval_ir";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "keeps the order of calls", order_of_calls);
    suite.case(GROUP, "again and again", again_and_again);
    destinations::run(suite);
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

/// One kernel with other parameters each time: kept kernels must not keep old numbers.
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
