//! Decompositions: ufuncs of NumPy that are several operations of the core.
//!
//! Owns the compositions. Invariant: each gives NumPy's bits, for infinities, NaN and zeros too, wherever NumPy's
//! are the same on all machines; logarithms follow NumPy's formula.
//!
//! Not here: which ufunc has which composition (`mod.rs`).

use crate::session::context::supports;
use gpupy_core::{DType, Op, Result, Scalar, op_eval};
use gpupy_engine::{Array, ArrayOrScalar, Context};
use std::f64::consts::{LN_2, LOG2_E};

/// A number as a scalar of a real dtype.
pub fn number(dtype: DType, value: f64) -> Scalar {
    let cast = op_eval::eval(Op::Cast, dtype, &[Scalar::f64(value)]);
    cast.unwrap_or_else(|| Scalar::zero(dtype))
}

/// An argument as an array of this dtype.
pub fn cast(context: &Context, arg: ArrayOrScalar<'_>, dtype: DType) -> Result<Array> {
    match arg {
        ArrayOrScalar::Array(array) => context.cast(array, dtype),
        ArrayOrScalar::Scalar(scalar) => context.cast(&Array::full(&[], scalar)?, dtype),
    }
}

/// Records operations one after another.
pub struct OpRecorder<'c>(pub &'c Context);

impl OpRecorder<'_> {
    /// An operation on one operand.
    pub fn one<'a>(&self, op: Op, x: impl Into<ArrayOrScalar<'a>>) -> Result<Array> {
        self.0.apply(op, &[x.into()])
    }

    /// An operation on two operands.
    pub fn two<'a>(
        &self,
        op: Op,
        x: impl Into<ArrayOrScalar<'a>>,
        y: impl Into<ArrayOrScalar<'a>>,
    ) -> Result<Array> {
        self.0.apply(op, &[x.into(), y.into()])
    }

    /// The first where the condition holds, otherwise the second.
    pub fn select<'a>(
        &self,
        condition: &'a Array,
        x: impl Into<ArrayOrScalar<'a>>,
        y: impl Into<ArrayOrScalar<'a>>,
    ) -> Result<Array> {
        self.0.apply(Op::Select, &[condition.into(), x.into(), y.into()])
    }
}

/// The operations of [`divmod`].
pub const DIVMOD: &[Op] = &[
    Op::Fmod,
    Op::Ne,
    Op::Lt,
    Op::Gt,
    Op::Add,
    Op::Sub,
    Op::Div,
    Op::Floor,
    Op::Copysign,
    Op::Select,
];

/// Quotient towards minus infinity and remainder with the divisor's sign, of floats: exact remainder
/// first, and the quotient from it, so that both belong together.
pub fn divmod(
    context: &Context,
    dtype: DType,
    a: ArrayOrScalar<'_>,
    b: ArrayOrScalar<'_>,
) -> Result<(Array, Array)> {
    let f = OpRecorder(context);
    let [zero, half, one] = [0.0, 0.5, 1.0].map(|value| number(dtype, value));
    let rest = f.two(Op::Fmod, a, b)?;
    let inexact = f.two(Op::Ne, &rest, zero)?;
    let signs = f.two(Op::Ne, &f.two(Op::Lt, b, zero)?, &f.two(Op::Lt, &rest, zero)?)?;
    let other_sign = f.two(Op::And, &inexact, &signs)?;
    let moved = f.select(&other_sign, &f.two(Op::Add, &rest, b)?, &rest)?;
    let remainder = f.select(&inexact, &moved, &f.two(Op::Copysign, zero, b)?)?;

    let quotient = f.two(Op::Div, &f.two(Op::Sub, a, &rest)?, b)?;
    let quotient = f.select(&other_sign, &f.two(Op::Sub, &quotient, one)?, &quotient)?;
    // Nearly an integer: the floor may be one too low.
    let floor = f.one(Op::Floor, &quotient)?;
    let low = f.two(Op::Gt, &f.two(Op::Sub, &quotient, &floor)?, half)?;
    let floor = f.select(&low, &f.two(Op::Add, &floor, one)?, &floor)?;
    let plain = f.two(Op::Div, a, b)?;
    let zero_of_sign = f.two(Op::Copysign, zero, &plain)?;
    let floor = f.select(&f.two(Op::Ne, &quotient, zero)?, &floor, &zero_of_sign)?;

    let divisible = f.two(Op::Ne, b, zero)?;
    Ok((f.select(&divisible, &floor, &plain)?, f.select(&divisible, &remainder, &rest)?))
}

/// The remainder of integers with the dividend's sign; by 0 it is 0.
pub fn int_fmod(
    context: &Context,
    dtype: DType,
    a: ArrayOrScalar<'_>,
    b: ArrayOrScalar<'_>,
) -> Result<Array> {
    let f = OpRecorder(context);
    let rest = f.two(Op::Mod, a, b)?;
    if !dtype.is_signed_int() {
        return Ok(rest);
    }
    let zero = Scalar::zero(dtype);
    let signs = f.two(Op::Ne, &f.two(Op::Lt, a, zero)?, &f.two(Op::Lt, b, zero)?)?;
    let moved = f.two(Op::And, &f.two(Op::Ne, &rest, zero)?, &signs)?;
    f.select(&moved, &f.two(Op::Sub, &rest, b)?, &rest)
}

/// The lesser or the greater of two floats, or the one that is a number; of equals the first, where
/// NumPy's own choice depends on the machine and the place in the array.
pub fn number_extreme(
    context: &Context,
    op: Op,
    x: ArrayOrScalar<'_>,
    y: ArrayOrScalar<'_>,
) -> Result<Array> {
    let f = OpRecorder(context);
    let ahead = if op == Op::Max { Op::Ge } else { Op::Le };
    let first = f.two(Op::Or, &f.two(ahead, x, y)?, &f.one(Op::IsNan, y)?)?;
    f.select(&first, x, y)
}

/// 0 below zero, 1 above it, the second operand at it, and NaN of NaN.
pub fn heaviside(
    context: &Context,
    dtype: DType,
    x: ArrayOrScalar<'_>,
    at_zero: ArrayOrScalar<'_>,
) -> Result<Array> {
    let f = OpRecorder(context);
    let [zero, one] = [0.0, 1.0].map(|value| number(dtype, value));
    let step = f.select(&f.two(Op::Lt, x, zero)?, zero, one)?;
    let step = f.select(&f.two(Op::Eq, x, zero)?, at_zero, &step)?;
    f.select(&f.one(Op::IsNan, x)?, x, &step)
}

/// The operations of [`log_add_exp`], besides the power itself.
pub const LOG_ADD_EXP: &[Op] =
    &[Op::Log1p, Op::Abs, Op::Neg, Op::Sub, Op::Add, Op::Mul, Op::Max, Op::Eq, Op::Select];

/// The logarithm of the sum of two powers of e or 2, from their logarithms: the greater, plus a correction.
pub fn log_add_exp(
    context: &Context,
    dtype: DType,
    base_two: bool,
    x: ArrayOrScalar<'_>,
    y: ArrayOrScalar<'_>,
) -> Result<Array> {
    let f = OpRecorder(context);
    let apart = f.one(Op::Neg, &f.one(Op::Abs, &f.two(Op::Sub, x, y)?)?)?;
    let (power, doubled) = if base_two { (Op::Exp2, 1.0) } else { (Op::Exp, LN_2) };
    let mut added = f.one(Op::Log1p, &f.one(power, &apart)?)?;
    if base_two {
        added = f.two(Op::Mul, &added, number(dtype, LOG2_E))?;
    }
    // Infinities of one sign are apart by no number.
    let added = f.select(&f.two(Op::Eq, x, y)?, number(dtype, doubled), &added)?;
    f.two(Op::Add, &f.two(Op::Max, x, y)?, &added)
}

/// A comparison of int64 with uint64, or the other way round, as the numbers that they are.
pub fn mixed(
    context: &Context,
    op: Op,
    x: ArrayOrScalar<'_>,
    y: ArrayOrScalar<'_>,
) -> Result<Array> {
    let f = OpRecorder(context);
    let dtype = match x {
        ArrayOrScalar::Array(array) => array.dtype(),
        ArrayOrScalar::Scalar(scalar) => scalar.dtype,
    };
    let signed_first = dtype == DType::I64;
    let (unsigned_x, unsigned_y) = (cast(context, x, DType::U64)?, cast(context, y, DType::U64)?);
    let compared = f.two(op, &unsigned_x, &unsigned_y)?;
    // A negative number is less than every uint64, which its bits as one are not.
    let negative = f.two(Op::Lt, if signed_first { x } else { y }, Scalar::zero(DType::I64))?;
    let answer = match op {
        Op::Lt | Op::Le => signed_first,
        Op::Gt | Op::Ge => !signed_first,
        _ => op == Op::Ne,
    };
    f.select(&negative, Scalar::bool(answer), &compared)
}

/// Powers of floats. With a scalar exponent of -1, 0, 1 or 2 the result is exact, or correctly
/// rounded, by other operations; `None` where the driver has none.
pub fn power(
    context: &Context,
    dtype: DType,
    x: ArrayOrScalar<'_>,
    y: ArrayOrScalar<'_>,
) -> Result<Option<Array>> {
    if let (ArrayOrScalar::Array(base), ArrayOrScalar::Scalar(exponent)) = (x, y) {
        let is = |value| exponent == number(dtype, value);
        let one = number(dtype, 1.0);
        if is(2.0) && supports(context, Op::Mul, dtype) {
            return context.apply(Op::Mul, &[x, x]).map(Some);
        } else if is(1.0) {
            return context.copy_as_it_lies(base).map(Some);
        } else if is(0.0) || is(-0.0) {
            return context.full_as_it_lies(base, one).map(Some);
        } else if is(-1.0) && supports(context, Op::Div, dtype) {
            return context.apply(Op::Div, &[ArrayOrScalar::Scalar(one), x]).map(Some);
        }
    }
    if !supports(context, Op::Pow, dtype) {
        return Ok(None);
    }
    context.apply(Op::Pow, &[x, y]).map(Some)
}

/// Powers of integers by a scalar exponent: squares and products, which wrap alike in any order.
/// `None` for negative exponents, which NumPy refuses, and for exponents that have to be computed.
pub fn int_power(
    context: &Context,
    x: ArrayOrScalar<'_>,
    y: ArrayOrScalar<'_>,
) -> Result<Option<Array>> {
    let (ArrayOrScalar::Array(base), ArrayOrScalar::Scalar(exponent)) = (x, y) else {
        return Ok(None);
    };
    let dtype = base.dtype();
    let width = 8 * dtype.size() as u32;
    let negative = dtype.is_signed_int() && exponent.bits >> (width - 1) == 1;
    if negative || !supports(context, Op::Mul, dtype) {
        return Ok(None);
    }
    context.integer_power(base, exponent.bits).map(Some)
}
