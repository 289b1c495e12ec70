//! Operations on numbers that are known: a program that goes through its arrays element by element does
//! little else.
//!
//! Owns [`quiet`] and [`of_float64`]. Invariant: it gives what NumPy's scalars give, to the
//! bit, and only where they would neither warn nor raise.
//!
//! Not here: dtypes and which operation a ufunc is (`ufunc.rs`), scalars that are pending (`array/scalar.rs`).

use crate::array::operand::int_scalar;
use crate::array::scalar::LazyScalar;
use crate::compute::operator::Operator;
use gpupy_core::{DType, Op, Scalar, op_eval};
use pyo3::prelude::*;
use pyo3::types::PyFloat;

/// The operation on operands of the dtype in which it computes, or `None` where NumPy's scalars might say
/// something of it, or compute something else.
pub fn quiet(op: Op, result: DType, operands: &[Scalar]) -> Option<Scalar> {
    use Op::{
        Abs, Add, And, Div, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Neg, Not, Or, Sqrt, Sub, Xor,
    };
    let dtype = operands.first()?.dtype;
    let eval = || op_eval::eval(op, result, operands);
    match op {
        Lt | Le | Gt | Ge | Eq | Ne => eval(),
        And | Or | Xor | Not if dtype.is_int() => eval(),
        Add | Sub | Mul if dtype.is_int() => exact(op, operands),
        // The least number has no opposite.
        Neg if dtype.is_signed_int() => int_scalar(-operands[0].as_int(), dtype),
        Abs if dtype.is_signed_int() => int_scalar(operands[0].as_int().abs(), dtype),
        Neg | Abs if dtype.is_float() => eval(),
        Min | Max if dtype.is_int() => eval(),
        Min | Max | Sqrt => eval().filter(|found| number(*found).is_some_and(|x| !x.is_nan())),
        // Sums and differences round, but never to nothing.
        Add | Sub => eval().filter(|found| number(*found).is_some_and(f64::is_finite)),
        // A product may be nothing because a factor is, or because it is too small.
        Mul => eval()
            .filter(|found| is_normal(*found) || operands.iter().any(is_zero) && is_zero(found)),
        Div => eval().filter(|found| is_normal(*found) || is_zero(&operands[0]) && is_zero(found)),
        _ => None,
    }
}

/// An operator on two float64 one of which is a scalar of ours, the other perhaps Python's: what most
/// arithmetic on elements is, without the detour by operands.
pub fn of_float64(op: Operator, lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> Option<Scalar> {
    let (a, b) = (float64(lhs)?, float64(rhs)?);
    let op = match op {
        Operator::Add => Op::Add,
        Operator::Sub => Op::Sub,
        Operator::Mul => Op::Mul,
        Operator::TrueDiv => Op::Div,
        Operator::Lt => return Some(Scalar::bool(a < b)),
        Operator::Le => return Some(Scalar::bool(a <= b)),
        Operator::Gt => return Some(Scalar::bool(a > b)),
        Operator::Ge => return Some(Scalar::bool(a >= b)),
        Operator::Eq => return Some(Scalar::bool(a == b)),
        Operator::Ne => return Some(Scalar::bool(a != b)),
        _ => return None,
    };
    quiet(op, DType::F64, &[Scalar::f64(a), Scalar::f64(b)])
}

/// A scalar of ours that is a known float64, or a Python float.
fn float64(object: &Bound<'_, PyAny>) -> Option<f64> {
    if let Ok(scalar) = object.cast_exact::<LazyScalar>() {
        let known = scalar.get().as_known().filter(|known| known.dtype == DType::F64)?;
        return Some(f64::from_bits(known.bits));
    }
    object.cast_exact::<PyFloat>().ok().map(|float| float.value())
}

/// Integers' sum, difference or product, where their dtype holds it.
fn exact(op: Op, operands: &[Scalar]) -> Option<Scalar> {
    let [a, b] = *operands else { return None };
    let (x, y) = (a.as_int(), b.as_int());
    let found = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        _ => x.checked_mul(y)?,
    };
    int_scalar(found, a.dtype)
}

/// A float as a float64, which holds it; `None` for others.
fn number(scalar: Scalar) -> Option<f64> {
    match scalar.dtype {
        DType::F32 => Some(f64::from(scalar.as_f32())),
        DType::F64 => Some(f64::from_bits(scalar.bits)),
        _ => None,
    }
}

/// Whether it is a float that is 0.0 or -0.0.
fn is_zero(scalar: &Scalar) -> bool {
    number(*scalar) == Some(0.0)
}

/// Whether a float is neither subnormal, nor an infinity, nor NaN, nor zero.
fn is_normal(scalar: Scalar) -> bool {
    match scalar.dtype {
        DType::F32 => scalar.as_f32().is_normal(),
        DType::F64 => f64::from_bits(scalar.bits).is_normal(),
        _ => false,
    }
}
