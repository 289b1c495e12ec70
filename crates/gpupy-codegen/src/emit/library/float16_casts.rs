//! Library functions for float16: rounding to it, and conversion of its bits.
//!
//! Invariant: each rounds once, to nearest, ties to even. Not here: casts of 64-bit integers (`integers.rs`).

use super::function_builder::{FunctionBuilder, INFINITY};
use gpupy_core::DType;
use gpupy_core::ir::Program;
use gpupy_core::op::Op;

/// The bits of 2^-14, the least normal float16.
const LEAST_HALF: u64 = 0x3880_0000;
/// The bits of 0.5. Its unit in the last place is the least subnormal float16, 2^-24.
const HALF: u64 = 0x3f00_0000;

/// A float32 below 2^-14 as a multiple of 2^-24, rounded to nearest. `size` are its bits.
pub fn smallest_halves(c: &mut FunctionBuilder, size: u32) -> u32 {
    let float = c.bits(size, DType::F32);
    let sum = c.with(Op::Add, float, HALF);
    let bits = c.bits(sum, DType::U32);
    c.with(Op::Sub, bits, HALF)
}

/// The nearest float16, ties to even.
pub fn half_round() -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(DType::F32);
    let (size, sign) = c.parts(x);
    // Rounds by adding half a unit in the last place, less one if the last bit is 0. It carries up to infinity.
    let odd = c.with(Op::Shr, size, 13);
    let odd = c.with(Op::And, odd, 1);
    let normal = c.with(Op::Add, size, 0xfff);
    let normal = c.op(Op::Add, &[normal, odd]);
    let normal = c.with(Op::And, normal, 0xffff_e000);
    let count = smallest_halves(&mut c, size);
    let count = c.cast(count, DType::F32);
    let subnormal = c.with(Op::Mul, count, (127 - 24) << 23);
    let subnormal = c.bits(subnormal, DType::U32);
    let small = c.with(Op::Lt, size, LEAST_HALF);
    let value = c.select(small, subnormal, normal);
    let large = c.with(Op::Ge, value, (127 + 16) << 23);
    let infinity = c.like(size, INFINITY);
    let value = c.select(large, infinity, value);
    let nan = c.with(Op::Gt, size, INFINITY);
    let value = c.select(nan, size, value);
    let value = c.op(Op::Or, &[value, sign]);
    let value = c.bits(value, DType::F32);
    c.gives(value)
}

/// The bits of a float16 that a float32 holds.
pub fn half_bits() -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(DType::F32);
    let (size, sign) = c.parts(x);
    let normal = c.with(Op::Sub, size, (127 - 15) << 23);
    let normal = c.with(Op::Shr, normal, 13);
    let subnormal = smallest_halves(&mut c, size);
    let small = c.with(Op::Lt, size, LEAST_HALF);
    let value = c.select(small, subnormal, normal);
    let payload = c.with(Op::Shr, size, 13);
    let payload = c.with(Op::And, payload, 0x3ff);
    // A NaN must not become infinity if the upper bits of its payload are 0.
    let payload = c.with(Op::Max, payload, 1);
    let nan = c.with(Op::Or, payload, 0x7c00);
    let infinity = c.like(size, 0x7c00);
    let is_infinity = c.with(Op::Eq, size, INFINITY);
    let special = c.select(is_infinity, infinity, nan);
    let finite = c.with(Op::Lt, size, INFINITY);
    let value = c.select(finite, value, special);
    let sign = c.with(Op::Shr, sign, 16);
    let value = c.op(Op::Or, &[value, sign]);
    c.gives(value)
}

/// The float16 of these 16 bits, as a float32.
pub fn half_of_bits() -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(DType::U32);
    let size = c.with(Op::And, x, 0x7fff);
    let sign = c.op(Op::Xor, &[x, size]);
    let up = c.with(Op::Shl, size, 13);
    let normal = c.with(Op::Add, up, (127 - 15) << 23);
    let special = c.with(Op::Or, up, INFINITY);
    // Subnormals are multiples of 2^-24.
    let count = c.cast(size, DType::F32);
    let subnormal = c.with(Op::Mul, count, (127 - 24) << 23);
    let subnormal = c.bits(subnormal, DType::U32);
    let small = c.with(Op::Lt, size, 1 << 10);
    let value = c.select(small, subnormal, normal);
    let finite = c.with(Op::Lt, size, 0x7c00);
    let value = c.select(finite, value, special);
    let sign = c.with(Op::Shl, sign, 16);
    let value = c.op(Op::Or, &[value, sign]);
    let value = c.bits(value, DType::F32);
    c.gives(value)
}

/// Casts a 64-bit integer to float16. It is clamped to 21 bits first: float16 overflows far below that.
pub fn half_of_long(dtype: DType) -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(dtype);
    let most = 1 << 20;
    let x = c.with(Op::Min, x, most);
    let (x, small) = match dtype {
        DType::I64 => (c.with(Op::Max, x, most.wrapping_neg()), DType::I32),
        _ => (x, DType::U32),
    };
    let x = c.cast(x, small);
    let value = c.cast(x, DType::F16);
    let value = c.cast(value, DType::F32);
    c.gives(value)
}

/// Casts float64 to float16 by way of float32, which is rounded to odd: an inexact float32 ends in 1, and so is
/// never a tie.
pub fn half_of_double() -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(DType::F64);
    let near = c.cast(x, DType::F32);
    let again = c.cast(near, DType::F64);
    let [(near, sign), (size, _), (again, _)] = [near, x, again].map(|x| c.parts(x));
    let above = c.op(Op::Gt, &[again, size]);
    let less = c.with(Op::Sub, near, 1);
    let odd = c.select(above, less, near);
    let odd = c.with(Op::Or, odd, 1);
    let inexact = c.op(Op::Ne, &[again, size]);
    let nan = c.with(Op::Gt, size, f64::INFINITY.to_bits());
    let exact = c.op(Op::Not, &[inexact]);
    let exact = c.op(Op::Or, &[exact, nan]);
    let value = c.select(exact, near, odd);
    let value = c.op(Op::Or, &[value, sign]);
    let value = c.bits(value, DType::F32);
    let value = c.cast(value, DType::F16);
    let value = c.cast(value, DType::F32);
    c.gives(value)
}
