//! Library functions for signs, quotients and remainders.
//!
//! Invariant: a quotient by 0 is 0, and so is its remainder. Not here: casts (`float16_casts.rs`, `integers.rs`).

use super::function_builder::{FunctionBuilder, INFINITY};
use gpupy_core::DType;
use gpupy_core::ir::Program;
use gpupy_core::op::Op;

/// The sign of a float: ±1, 0 for zeros, and NaN for NaN.
pub fn sign_of(dtype: DType) -> Program {
    let (one, infinity) = match dtype {
        DType::F64 => (1f64.to_bits(), f64::INFINITY.to_bits()),
        _ => (1f32.to_bits().into(), INFINITY),
    };
    let mut c = FunctionBuilder::new();
    let x = c.0.param(dtype);
    let (size, sign) = c.parts(x);
    let value = c.with(Op::Or, sign, one);
    let none = c.with(Op::Eq, size, 0);
    let zero = c.like(size, 0);
    let value = c.select(none, zero, value);
    let value = c.bits(value, dtype);
    let nan = c.with(Op::Gt, size, infinity);
    let value = c.select(nan, x, value);
    c.gives(value)
}

/// Floor division, computed on magnitudes: the quotient of the least integer by -1 is undefined in C.
pub fn floor_div(dtype: DType, unsigned: DType) -> Program {
    let mut c = FunctionBuilder::new();
    let (a, b) = (c.0.param(dtype), c.0.param(dtype));
    let [x, y] = [a, b].map(|value| {
        let size = c.op(Op::Abs, &[value]);
        c.bits(size, unsigned)
    });
    let quotient = c.op(Op::FloorDiv, &[x, y]);
    let product = c.op(Op::Mul, &[quotient, y]);
    let inexact = c.op(Op::Ne, &[product, x]);
    let inexact = c.cast(inexact, unsigned);
    let down = c.op(Op::Add, &[quotient, inexact]);
    let down = c.op(Op::Neg, &[down]);
    let [less, other] = [a, b].map(|value| c.with(Op::Lt, value, 0));
    let differ = c.op(Op::Xor, &[less, other]);
    let value = c.select(differ, down, quotient);
    let zero = c.like(value, 0);
    let none = c.with(Op::Eq, b, 0);
    let value = c.select(none, zero, value);
    let value = c.bits(value, dtype);
    c.gives(value)
}

pub fn floor_mod(dtype: DType) -> Program {
    let mut c = FunctionBuilder::new();
    let (a, b) = (c.0.param(dtype), c.0.param(dtype));
    let quotient = c.op(Op::FloorDiv, &[a, b]);
    let product = c.op(Op::Mul, &[quotient, b]);
    let rest = c.op(Op::Sub, &[a, product]);
    let zero = c.like(rest, 0);
    let none = c.with(Op::Eq, b, 0);
    let value = c.select(none, zero, rest);
    c.gives(value)
}
