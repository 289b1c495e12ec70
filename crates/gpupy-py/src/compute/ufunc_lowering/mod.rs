//! What the core is asked to do for a ufunc: one operation of its table, or a few.
//!
//! Owns [`Recipe`]. `record.rs` says what a recipe needs and records it, by the compositions of `decompositions.rs` and
//! `float_neighbours.rs` and, for complex numbers, of `complex.rs`. Invariant: a composition gives NumPy's bits, or, where it is of
//! functions that have bounds instead, the same formula of these; or it is not here.
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
pub enum Recipe {
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
    /// A matrix product, which is no operation on elements (`library_ops.rs`).
    MatMul,
}

/// The recipe of the ufunc with this name, the one that it gives itself (`absolute`, not `abs`).
pub fn of_numpy(name: &str) -> Option<Recipe> {
    Some(match name {
        "positive" => Recipe::Same,
        "conjugate" => Recipe::Conjugate,
        "logical_not" => Recipe::Logical(Op::Not),
        "logical_and" => Recipe::Logical(Op::And),
        "logical_or" => Recipe::Logical(Op::Or),
        "logical_xor" => Recipe::Logical(Op::Xor),
        "isnan" => Recipe::Test(Op::IsNan),
        "isinf" => Recipe::Test(Op::IsInf),
        "isfinite" => Recipe::Test(Op::IsFinite),
        "square" => Recipe::Square,
        "reciprocal" => Recipe::Reciprocal,
        "power" | "float_power" => Recipe::Power,
        "degrees" | "rad2deg" => Recipe::Scale(180.0, PI),
        "radians" | "deg2rad" => Recipe::Scale(PI, 180.0),
        "floor" => Recipe::Rounding(Op::Floor),
        "ceil" => Recipe::Rounding(Op::Ceil),
        "trunc" => Recipe::Rounding(Op::Trunc),
        "floor_divide" => Recipe::FloorDivide,
        "remainder" => Recipe::Remainder,
        "fmod" => Recipe::Fmod,
        "maximum" => Recipe::Extreme(Op::Max),
        "minimum" => Recipe::Extreme(Op::Min),
        "fmax" => Recipe::NumberExtreme(Op::Max),
        "fmin" => Recipe::NumberExtreme(Op::Min),
        "heaviside" => Recipe::Heaviside,
        "logaddexp" => Recipe::LogAddExp { base_two: false },
        "logaddexp2" => Recipe::LogAddExp { base_two: true },
        "nextafter" => Recipe::NextAfter,
        "spacing" => Recipe::Spacing,
        "matmul" => Recipe::MatMul,
        _ => Recipe::Op(Op::from_numpy(name)?),
    })
}
