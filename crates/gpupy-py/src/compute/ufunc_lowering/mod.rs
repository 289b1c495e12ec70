//! The lowering of ufuncs: to one operation of the core's table, or to a composition of several.
//!
//! Owns [`UfuncLowering`]. `record.rs` says which operations a lowering needs and records it, by the compositions
//! of `decompositions.rs` and `float_neighbours.rs` and, for complex numbers, of `complex.rs`. Invariant: a
//! composition gives NumPy's bits; or, where its functions have error bounds instead, it is NumPy's formula of
//! them.
//!
//! Not here: dtypes of operands and results (`ufunc.rs`), the operations (`gpupy_core::op`).

mod complex;
pub mod decompositions;
mod float_neighbours;
pub mod record;

use gpupy_core::op::Op;
use std::f64::consts::PI;

/// How a ufunc is recorded.
#[derive(Clone, Copy, Debug)]
pub enum UfuncLowering {
    /// One operation.
    Op(Op),
    /// The operand itself, copied.
    Same,
    /// Of real numbers, the operand itself.
    Conjugate,
    /// Of the operands' truth, this operation.
    Logical(Op),
    /// A test that is the same for all integers.
    Test(Op),
    /// x · x.
    Square,
    /// 1 / x; of integers, truncated.
    Reciprocal,
    /// x to the power y, where a few exponents are exact and simpler.
    Power,
    /// x times the quotient of two constants.
    Scale(f64, f64),
    /// An operation that leaves integers and bools as they are.
    Rounding(Op),
    /// The quotient towards minus infinity.
    FloorDivide,
    /// The remainder with the divisor's sign.
    Remainder,
    /// The remainder with the dividend's sign.
    Fmod,
    /// The lesser or the greater.
    Extreme(Op),
    /// The lesser or the greater, where NaN loses.
    NumberExtreme(Op),
    /// 0 below zero, 1 above it, and the second operand at it.
    Heaviside,
    /// The logarithm of the sum of two powers, from the logarithms; in base 2.
    LogAddExp { base_two: bool },
    /// The next float towards another.
    NextAfter,
    /// How far the next float is.
    Spacing,
    /// A matrix product, which is no operation on elements (`scan_sort_matmul.rs`).
    MatMul,
}

/// The lowering of the ufunc with this name, the one that it gives itself (`absolute`, not `abs`).
pub fn of_numpy(name: &str) -> Option<UfuncLowering> {
    Some(match name {
        "positive" => UfuncLowering::Same,
        "conjugate" => UfuncLowering::Conjugate,
        "logical_not" => UfuncLowering::Logical(Op::Not),
        "logical_and" => UfuncLowering::Logical(Op::And),
        "logical_or" => UfuncLowering::Logical(Op::Or),
        "logical_xor" => UfuncLowering::Logical(Op::Xor),
        "isnan" => UfuncLowering::Test(Op::IsNan),
        "isinf" => UfuncLowering::Test(Op::IsInf),
        "isfinite" => UfuncLowering::Test(Op::IsFinite),
        "square" => UfuncLowering::Square,
        "reciprocal" => UfuncLowering::Reciprocal,
        "power" | "float_power" => UfuncLowering::Power,
        "degrees" | "rad2deg" => UfuncLowering::Scale(180.0, PI),
        "radians" | "deg2rad" => UfuncLowering::Scale(PI, 180.0),
        "floor" => UfuncLowering::Rounding(Op::Floor),
        "ceil" => UfuncLowering::Rounding(Op::Ceil),
        "trunc" => UfuncLowering::Rounding(Op::Trunc),
        "floor_divide" => UfuncLowering::FloorDivide,
        "remainder" => UfuncLowering::Remainder,
        "fmod" => UfuncLowering::Fmod,
        "maximum" => UfuncLowering::Extreme(Op::Max),
        "minimum" => UfuncLowering::Extreme(Op::Min),
        "fmax" => UfuncLowering::NumberExtreme(Op::Max),
        "fmin" => UfuncLowering::NumberExtreme(Op::Min),
        "heaviside" => UfuncLowering::Heaviside,
        "logaddexp" => UfuncLowering::LogAddExp { base_two: false },
        "logaddexp2" => UfuncLowering::LogAddExp { base_two: true },
        "nextafter" => UfuncLowering::NextAfter,
        "spacing" => UfuncLowering::Spacing,
        "matmul" => UfuncLowering::MatMul,
        _ => UfuncLowering::Op(Op::from_numpy(name)?),
    })
}
