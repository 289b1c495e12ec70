//! Scalar arithmetic on known numbers: a program that goes through its arrays element by element does little else.
//!
//! Owns [`eval_silently`]. Invariant: it gives the result of NumPy's scalars, to the bit, and only where they would
//! neither warn nor raise.
//!
//! Not here: dtypes and the operation of a ufunc (`ufunc.rs`), scalars that are pending (`array/lazy_scalar.rs`).

use crate::array::operand::int_scalar;
use gpupy_core::{DType, Op, Scalar, op_eval};

/// The operation on operands of the dtype in which it computes, or `None` where NumPy's scalars might warn, raise, or
/// compute something else.
pub fn eval_silently(op: Op, result: DType, operands: &[Scalar]) -> Option<Scalar> {
    use Op::{
        Abs, Add, And, Div, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Neg, Not, Or, Sqrt, Sub, Xor,
    };
    let dtype = operands.first()?.dtype;
    let eval = || floats(op, operands).or_else(|| op_eval::eval(op, result, operands));
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
        // Sums and differences may overflow, but never underflow.
        Add | Sub => eval().filter(|found| number(*found).is_some_and(f64::is_finite)),
        // A product is zero because a factor is, or because it underflows.
        Mul => eval()
            .filter(|found| is_normal(*found) || operands.iter().any(is_zero) && is_zero(found)),
        Div => eval().filter(|found| is_normal(*found) || is_zero(&operands[0]) && is_zero(found)),
        _ => None,
    }
}

/// Operations of one instruction on two float32 or float64, without the search among all operations.
#[inline]
fn floats(op: Op, operands: &[Scalar]) -> Option<Scalar> {
    let [a, b] = *operands else { return None };
    macro_rules! of {
        ($a:expr, $b:expr, $made:expr) => {
            match op {
                Op::Add => $made($a + $b),
                Op::Sub => $made($a - $b),
                Op::Mul => $made($a * $b),
                Op::Div => $made($a / $b),
                Op::Lt => Scalar::bool($a < $b),
                Op::Le => Scalar::bool($a <= $b),
                Op::Gt => Scalar::bool($a > $b),
                Op::Ge => Scalar::bool($a >= $b),
                Op::Eq => Scalar::bool($a == $b),
                Op::Ne => Scalar::bool($a != $b),
                _ => return None,
            }
        };
    }
    match (a.dtype, b.dtype) {
        (DType::F32, DType::F32) => Some(of!(a.as_f32(), b.as_f32(), Scalar::f32)),
        (DType::F64, DType::F64) => {
            Some(of!(f64::from_bits(a.bits), f64::from_bits(b.bits), Scalar::f64))
        }
        _ => None,
    }
}

/// Whether NumPy has no warning for a result: it is no NaN, and neither overflowed nor underflowed.
pub fn is_quiet(result: Scalar) -> bool {
    !result.dtype.is_float() || is_normal(result)
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
