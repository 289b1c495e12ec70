//! Library functions for casts between floats and 64-bit integers.
//!
//! Invariant: a value that does not fit gives the result that the IR defines. Not here: float16 (`float16_casts.rs`).

use super::function_builder::{FunctionBuilder, INFINITY};
use gpupy_core::DType;
use gpupy_core::ir::Program;
use gpupy_core::op::Op;

/// The integer part of a float32's magnitude, modulo the integers of `unsigned`.
pub fn integer_part(c: &mut FunctionBuilder, size: u32, unsigned: DType) -> u32 {
    let exponent = c.with(Op::Shr, size, 23);
    let fraction = c.with(Op::And, size, 0x7f_ffff);
    let mantissa = c.with(Op::Or, fraction, 0x80_0000);
    let mantissa = c.cast(mantissa, unsigned);
    // One of these counts is negative, which is huge as unsigned and shifts all bits out; or both are 0.
    let exponent = c.bits(exponent, DType::I32);
    let up = c.with(Op::Sub, exponent, 150);
    let down = c.op(Op::Neg, &[up]);
    let [up, down] = [up, down].map(|count| c.cast(count, unsigned));
    let up = c.op(Op::Shl, &[mantissa, up]);
    let down = c.op(Op::Shr, &[mantissa, down]);
    c.op(Op::Or, &[up, down])
}

/// A magnitude with a sign: negated if `sign` is not 0.
pub fn signed(c: &mut FunctionBuilder, magnitude: u32, sign: u32) -> u32 {
    let negative = c.with(Op::Ne, sign, 0);
    let opposite = c.op(Op::Neg, &[magnitude]);
    c.select(negative, opposite, magnitude)
}

/// Casts float32 to uint32: the low bits of the cast to int64, whose result for values that do not fit ends in
/// zeros.
pub fn uint_of_float() -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(DType::F32);
    let (size, sign) = c.parts(x);
    let value = integer_part(&mut c, size, DType::U32);
    let value = signed(&mut c, value, sign);
    c.gives(value)
}

/// The bits of 2^63 as a float32.
const LEAST_LONG: u64 = (127 + 63) << 23;

pub fn long_of_float() -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(DType::F32);
    let (size, sign) = c.parts(x);
    let value = integer_part(&mut c, size, DType::U64);
    let value = signed(&mut c, value, sign);
    let least = c.like(value, 1 << 63);
    let fits = c.with(Op::Lt, size, LEAST_LONG);
    let value = c.select(fits, value, least);
    let value = c.bits(value, DType::I64);
    c.gives(value)
}

pub fn ulong_of_float() -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(DType::F32);
    let (size, sign) = c.parts(x);
    let value = integer_part(&mut c, size, DType::U64);
    let value = signed(&mut c, value, sign);
    let none = c.like(value, 0);
    let above = c.with(Op::Ge, size, (127 + 64) << 23);
    let value = c.select(above, none, value);
    let least = c.like(value, 1 << 63);
    let below = c.with(Op::Ge, size, LEAST_LONG);
    let negative = c.with(Op::Ne, sign, 0);
    let below = c.op(Op::And, &[below, negative]);
    let nan = c.with(Op::Gt, size, INFINITY);
    let lost = c.op(Op::Or, &[below, nan]);
    let value = c.select(lost, least, value);
    c.gives(value)
}

pub fn ulong_of_double() -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(DType::F64);
    let half = 2f64.powi(63).to_bits();
    let less = c.with(Op::Sub, x, half);
    let [low, high] = [x, less].map(|x| {
        let value = c.cast(x, DType::I64);
        c.bits(value, DType::U64)
    });
    let high = c.with(Op::Xor, high, 1 << 63);
    let above = c.with(Op::Ge, x, half);
    let value = c.select(above, high, low);
    c.gives(value)
}

/// The nearest float32 of an unsigned integer of 64 bits, rounded once.
pub fn nearest_float(c: &mut FunctionBuilder, x: u32) -> u32 {
    let high = c.with(Op::Shr, x, 32);
    let high = c.cast(high, DType::U32);
    // The exponent of the upper half gives its length in bits, or one more.
    let length = c.cast(high, DType::F32);
    let length = c.bits(length, DType::U32);
    let length = c.with(Op::Shr, length, 23);
    let one = c.like(length, 126);
    let length = c.op(Op::Max, &[length, one]);
    let length = c.op(Op::Sub, &[length, one]);
    // Bits that are shifted out set the last bit (a sticky bit), which is far below the rounding position.
    let count = c.cast(length, DType::U64);
    let top = c.op(Op::Shr, &[x, count]);
    let back = c.op(Op::Shl, &[top, count]);
    let inexact = c.op(Op::Ne, &[back, x]);
    let inexact = c.cast(inexact, DType::U32);
    let top = c.cast(top, DType::U32);
    let top = c.op(Op::Or, &[top, inexact]);
    let float = c.cast(top, DType::F32);
    let scale = c.with(Op::Add, length, 127);
    let scale = c.with(Op::Shl, scale, 23);
    let scale = c.bits(scale, DType::F32);
    c.op(Op::Mul, &[float, scale])
}

pub fn float_of_ulong() -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(DType::U64);
    let value = nearest_float(&mut c, x);
    c.gives(value)
}

pub fn float_of_long() -> Program {
    let mut c = FunctionBuilder::new();
    let x = c.0.param(DType::I64);
    let size = c.op(Op::Abs, &[x]);
    let size = c.bits(size, DType::U64);
    let float = nearest_float(&mut c, size);
    let opposite = c.op(Op::Neg, &[float]);
    let negative = c.with(Op::Lt, x, 0);
    let value = c.select(negative, opposite, float);
    c.gives(value)
}
