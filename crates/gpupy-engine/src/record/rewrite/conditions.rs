//! The conditions of rewrite rules on dtypes and scalars.
//!
//! Owns [`Dtypes`], the conditions on them, and the numbers that rules compute from other numbers.
//!
//! Not here: the rules (`rewrite_rules.rs`).

use gpupy_core::op::Op;
use gpupy_core::op_eval;
use gpupy_core::{DType, Scalar};

/// The dtypes of an expression that a row might stand for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dtypes {
    /// Of the row's first operand; of the result where the row has none.
    pub x: DType,
    /// Of the outer operation's first operand.
    pub inner: DType,
    /// Of the result.
    pub result: DType,
}

pub(super) fn all(_: Dtypes) -> bool {
    true
}

/// All but complex numbers.
pub(super) fn real(of: Dtypes) -> bool {
    !matches!(of.x, DType::C64 | DType::C128)
}

pub(super) fn floats(of: Dtypes) -> bool {
    of.x.is_float()
}

pub(super) fn ints(of: Dtypes) -> bool {
    of.x.is_int()
}

pub(super) fn bools(of: Dtypes) -> bool {
    of.x == DType::Bool
}

/// Integers and bools.
pub(super) fn bits(of: Dtypes) -> bool {
    ints(of) || bools(of)
}

/// Integers and floats.
pub(super) fn numbers(of: Dtypes) -> bool {
    ints(of) || floats(of)
}

/// Signed integers and floats.
pub(super) fn signed(of: Dtypes) -> bool {
    of.x.is_signed_int() || floats(of)
}

/// Unsigned integers and bools.
pub(super) fn unsigned(of: Dtypes) -> bool {
    bits(of) && !of.x.is_signed_int()
}

/// A cast there and back that loses nothing.
pub(super) fn same(of: Dtypes) -> bool {
    of.result == of.x && direct(of)
}

/// A cast of a cast that equals the direct cast.
pub(super) fn direct(of: Dtypes) -> bool {
    let Dtypes { x, inner, result } = of;
    // Low bits of low bits. A cast to a bool asks for all bits.
    let narrower = inner.is_int() && result.is_int() && result.size() <= inner.size();
    // A number other than 0 stays so: beyond the largest number lies infinity.
    let nonzero = result == DType::Bool && x.is_int() && inner.is_float();
    let kept = holds(inner, x) && fits_again(of);
    real(of) && (kept || x.is_int() && narrower || nonzero)
}

/// Whether an integer that becomes a float comes back as if it had not. Floats become small integers by way of int32,
/// and others by way of int64, where numbers that do not fit lose bits.
fn fits_again(of: Dtypes) -> bool {
    let Dtypes { x, inner, result } = of;
    let small = result.size() < 4 || result == DType::I32;
    let way = if small { DType::I32 } else { DType::I64 };
    !(x.is_int() && inner.is_float() && result.is_int()) || holds(way, x)
}

/// Whether every value of `x` is one of `wide`.
fn holds(wide: DType, x: DType) -> bool {
    if wide == x {
        return true;
    }
    if !wide.is_int() && !wide.is_float() {
        return false;
    }
    let enough = wide.info().digits >= x.info().digits;
    match x {
        DType::Bool => true,
        // A bfloat16 has fewer digits than a float16, and larger numbers.
        _ if x.is_float() => wide.is_float() && enough && wide.info().greatest >= x.info().greatest,
        _ if x.is_signed_int() => (wide.is_float() || wide.is_signed_int()) && enough,
        _ => x.is_int() && enough,
    }
}

/// A number with few digits, whole for integers, as cast to a dtype; `None` of a complex one.
pub(super) fn number(value: f64, dtype: DType) -> Option<Scalar> {
    let bits = match dtype {
        _ if dtype.is_float() => op_eval::eval(Op::Cast, dtype, &[Scalar::f64(value)])?.bits,
        DType::Bool => u64::from(value != 0.0),
        DType::C64 | DType::C128 => return None,
        _ => value as i64 as u64,
    };
    Some(Scalar::new(dtype, bits))
}

/// Of a power of two that is a float, the float by which to multiply instead of dividing. Neither
/// is subnormal: devices may take such a number for zero.
pub(super) fn reciprocal(scalar: Scalar) -> Option<Scalar> {
    if !scalar.dtype.is_float() {
        return None;
    }
    let value = f64::from_bits(op_eval::eval(Op::Cast, DType::F64, &[scalar])?.bits);
    let made = op_eval::eval(Op::Cast, scalar.dtype, &[Scalar::f64(1.0 / value)])?;
    let power = value.is_normal() && value.to_bits().trailing_zeros() >= 52;
    (power && is_normal(scalar) && is_normal(made)).then_some(made)
}

/// Whether a float is neither subnormal, nor zero, nor beyond all numbers.
fn is_normal(scalar: Scalar) -> bool {
    let (infinity, exponent) = (scalar.dtype.infinity(), scalar.bits & scalar.dtype.infinity());
    exponent != 0 && exponent != infinity
}

/// Of a power of two that is a positive integer, which power.
pub(super) fn exponent(scalar: Scalar) -> Option<Scalar> {
    let bits = u64::from(mask(scalar)?.bits.count_ones());
    Some(Scalar::new(scalar.dtype, bits))
}

/// Of a power of two that is a positive integer, the bits below it.
pub(super) fn mask(scalar: Scalar) -> Option<Scalar> {
    let Scalar { dtype, bits } = scalar;
    let negative = dtype.is_signed_int() && bits >> (dtype.size() * 8 - 1) == 1;
    let power = dtype.is_int() && bits.is_power_of_two() && !negative;
    power.then(|| Scalar::new(dtype, bits - 1))
}
