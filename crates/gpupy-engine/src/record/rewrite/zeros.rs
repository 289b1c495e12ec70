//! Zeros of an unknown sign, which `x * 0.0` gives for finite numbers, and the operations that do not depend on the
//! sign.
//!
//! Owns [`known`]. A formula for any geometry often meets a zero: `2*dx*(vx - cx)` where `vx` is `cx`. Each of its
//! elements is 0.0 or -0.0, so it has to be computed where its sign matters; with anything else added, the sum is known
//! beforehand. Invariants: a known result has the bits that would be computed; where no operand is a zero, nothing is
//! looked at.
//!
//! Not here: which numbers are finite (`bounds/`).

use super::scalar_of;
use crate::graph::bounds;
use crate::graph::interval::Bounds;
use crate::graph::value::Operand;
use gpupy_core::op::Op;
use gpupy_core::op_eval;
use gpupy_core::{DType, Scalar};
use smallvec::{SmallVec, smallvec};

/// The result of an operation at each point.
#[derive(Clone, Copy, Debug)]
pub(super) enum KnownResult {
    /// This number.
    Number(Scalar),
    /// A zero, of one sign or the other.
    Zeros,
}

/// The result of an operation on operands among which are zeros; `None` where it is not known, or differs from point to
/// point.
pub(super) fn known(op: Op, dtype: DType, operands: &[Operand]) -> Option<KnownResult> {
    // Functions differ between devices within their bound.
    let zero = |operand: &Operand| is_zeros(operand) || scalar_of(operand).is_some_and(is_zero);
    if op.info().ulp != 0.0 || !operands.iter().any(zero) {
        return None;
    }
    if let (Op::Mul, [x, y]) = (op, operands)
        && (zero(x) && is_finite(y) || zero(y) && is_finite(x))
    {
        return Some(KnownResult::Zeros);
    }
    if !operands.iter().any(is_zeros) {
        return None;
    }
    let signs = |operand: &Operand| -> Option<SmallVec<[Scalar; 2]>> {
        match &operand.1 {
            Some(value) if value.is_zeros() => {
                let sign = 1 << (value.dtype().size() * 8 - 1);
                Some([0, sign].map(|bits| Scalar::new(value.dtype(), bits)).into())
            }
            Some(_) => None,
            None => Some(smallvec![scalar_of(operand)?]),
        }
    };
    let signs: SmallVec<[_; 3]> = operands.iter().map(signs).collect::<Option<_>>()?;
    let mut results: SmallVec<[Scalar; 8]> = SmallVec::new();
    for which in 0..1usize << operands.len() {
        let args: SmallVec<[Scalar; 3]> =
            signs.iter().enumerate().map(|(k, two)| two[(which >> k & 1) % two.len()]).collect();
        results.push(op_eval::eval(op, dtype, &args)?);
    }
    let first = results[0];
    // NaN and infinities are computed, so that NumPy's warnings are given.
    match results.iter().all(|result| *result == first) && is_number(first) {
        true => Some(KnownResult::Number(first)),
        false => results.iter().all(|result| is_zero(*result)).then_some(KnownResult::Zeros),
    }
}

fn is_zeros(operand: &Operand) -> bool {
    operand.1.as_ref().is_some_and(|value| value.is_zeros())
}

/// Whether a scalar is a float's zero.
fn is_zero(scalar: Scalar) -> bool {
    scalar.dtype.is_float() && scalar.bits << (64 - scalar.dtype.size() * 8 + 1) == 0
}

/// Whether a scalar is neither infinite nor NaN.
fn is_number(scalar: Scalar) -> bool {
    !scalar.dtype.is_float() || is_bounded(Bounds::of_scalar(scalar))
}

/// Whether every element of an operand is neither infinite nor NaN, as far as can be told without
/// computing it.
fn is_finite(operand: &Operand) -> bool {
    match (&operand.1, scalar_of(operand)) {
        (_, Some(scalar)) => is_number(scalar),
        (Some(value), _) => value.is_zeros() || is_bounded(bounds::without_reading(value)),
        (None, None) => false,
    }
}

fn is_bounded(bounds: Bounds) -> bool {
    match bounds {
        Bounds::Whole { .. } => true,
        Bounds::Real { low, high, nan } => low.is_finite() && high.is_finite() && !nan,
    }
}
