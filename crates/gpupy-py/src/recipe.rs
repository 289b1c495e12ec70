//! What the core is asked to do for a ufunc: one operation of its table, or a few.
//!
//! Owns [`Recipe`]. Invariant: a composition gives NumPy's bits, or it is not here.
//!
//! Not here: dtypes of operands and results (`ufunc.rs`), the operations (`gpupy_core::op`).

use crate::errors::to_py;
use crate::operand::{Held, Kind, Operand};
use crate::session::{context, supports};
use crate::ufunc::{Plan, Prepared};
use gpupy_core::op::Op;
use gpupy_core::{Arg, Array, Context, DType, Result, Scalar};
use pyo3::PyResult;
use smallvec::SmallVec;

/// How a ufunc is recorded.
#[derive(Clone, Copy, Debug)]
pub enum Recipe {
    /// One operation.
    Op(Op),
    /// The operand itself, copied.
    Same,
    /// The operand, already cast to bool, negated.
    LogicalNot,
    /// Of bools, this operation.
    Logical(Op),
    /// x · x.
    Square,
    /// 1 / x.
    Reciprocal,
    /// x to the power y, where a few exponents are exact and simpler.
    Power,
    /// x times a constant.
    Scale(f32),
    /// An operation that leaves integers and bools as they are.
    Rounding(Op),
}

/// The recipe of the ufunc with this name, the one that it gives itself (`absolute`, not `abs`).
pub fn of_numpy(name: &str) -> Option<Recipe> {
    Some(match name {
        "positive" | "conjugate" => Recipe::Same,
        "logical_not" => Recipe::LogicalNot,
        "logical_and" => Recipe::Logical(Op::And),
        "logical_or" => Recipe::Logical(Op::Or),
        "logical_xor" => Recipe::Logical(Op::Xor),
        "square" => Recipe::Square,
        "reciprocal" => Recipe::Reciprocal,
        "power" => Recipe::Power,
        "degrees" | "rad2deg" => Recipe::Scale(180.0f32 / std::f32::consts::PI),
        "radians" | "deg2rad" => Recipe::Scale(std::f32::consts::PI / 180.0f32),
        "floor" => Recipe::Rounding(Op::Floor),
        "ceil" => Recipe::Rounding(Op::Ceil),
        "trunc" => Recipe::Rounding(Op::Trunc),
        _ => Recipe::Op(Op::from_numpy(name)?),
    })
}

impl Recipe {
    /// True when operands and result of these dtypes are right for the recipe.
    pub fn takes(self, plan: Plan) -> bool {
        let Plan { operand, result } = plan;
        let float = operand == DType::F32 && result == DType::F32;
        match self {
            Recipe::Op(op) => {
                let operands: SmallVec<[DType; 2]> =
                    (0..op.info().arity).map(|_| operand).collect();
                op.result_dtype(&operands, operand) == Some(result)
            }
            Recipe::Same => operand == result,
            Recipe::LogicalNot | Recipe::Logical(_) => {
                operand == DType::Bool && result == DType::Bool
            }
            Recipe::Square => operand == result && operand != DType::Bool,
            Recipe::Reciprocal | Recipe::Scale(_) | Recipe::Power => float,
            Recipe::Rounding(_) => operand == result,
        }
    }

    /// True when the driver in use can do everything that the recipe needs.
    pub fn supported(self, context: &Context, plan: Plan) -> bool {
        let can = |op| supports(context, op, plan.operand);
        match self {
            Recipe::Op(op) | Recipe::Logical(op) => can(op),
            Recipe::Same => true,
            Recipe::LogicalNot => can(Op::Not),
            Recipe::Square | Recipe::Scale(_) => can(Op::Mul),
            Recipe::Reciprocal => can(Op::Div),
            // Decided by the exponent, below.
            Recipe::Power => true,
            Recipe::Rounding(op) => plan.operand != DType::F32 || can(op),
        }
    }

    /// Records the recipe; `None` when these values are NumPy's after all.
    pub fn record(self, context: &Context, operands: &[Prepared<'_>]) -> Result<Option<Array>> {
        let args: SmallVec<[Arg<'_>; 3]> = operands.iter().map(Prepared::arg).collect();
        let one = Arg::Scalar(Scalar::f32(1.0));
        let array = match (self, args.as_slice()) {
            (Recipe::Op(op) | Recipe::Logical(op), args) => context.apply(op, args)?,
            (Recipe::Same, [x]) => return copied(context, *x),
            (Recipe::LogicalNot, [x]) => context.apply(Op::Not, &[*x])?,
            (Recipe::Square, [x]) => context.apply(Op::Mul, &[*x, *x])?,
            (Recipe::Reciprocal, [x]) => context.apply(Op::Div, &[one, *x])?,
            (Recipe::Scale(factor), [x]) => {
                context.apply(Op::Mul, &[*x, Arg::Scalar(Scalar::f32(factor))])?
            }
            (Recipe::Rounding(op), [x @ Arg::Array(array)]) => match array.dtype() {
                DType::F32 => context.apply(op, &[*x])?,
                _ => return copied(context, *x),
            },
            (Recipe::Power, [x, y]) => return power(context, *x, *y),
            _ => return Ok(None),
        };
        Ok(Some(array))
    }
}

fn copied(context: &Context, arg: Arg<'_>) -> Result<Option<Array>> {
    match arg {
        Arg::Array(array) => context.copy(array).map(Some),
        Arg::Scalar(_) => Ok(None),
    }
}

/// Powers of floats. With a scalar exponent of -1, 0, 1 or 2 the result is exact, or correctly
/// rounded, by other operations.
fn power(context: &Context, x: Arg<'_>, y: Arg<'_>) -> Result<Option<Array>> {
    if let (Arg::Array(base), Arg::Scalar(exponent)) = (x, y) {
        let value = exponent.as_f32();
        if value == 2.0 && supports(context, Op::Mul, DType::F32) {
            return context.apply(Op::Mul, &[x, x]).map(Some);
        } else if value == 1.0 {
            return context.copy(base).map(Some);
        } else if value == 0.0 {
            return Array::full(base.shape(), Scalar::f32(1.0)).map(Some);
        } else if value == -1.0 && supports(context, Op::Div, DType::F32) {
            return context.apply(Op::Div, &[Arg::Scalar(Scalar::f32(1.0)), x]).map(Some);
        }
    }
    if !supports(context, Op::Pow, DType::F32) {
        return Ok(None);
    }
    context.apply(Op::Pow, &[x, y]).map(Some)
}

/// `array ** exponent` for the exponents that NumPy's operator, unlike its ufunc, treats apart:
/// 0.5 is the square root, and 2 of an int is a product.
pub fn operator_power(base: &Operand<'_>, exponent: &Operand<'_>) -> PyResult<Option<Array>> {
    let Some(array) = base.as_array() else { return Ok(None) };
    let context = context()?;
    let arg = Arg::Array(array);
    let recorded = match (base.kind, exponent.kind, &exponent.held) {
        (Kind::F32, Kind::WeakFloat, Held::Float(v)) if *v == 0.5 => {
            if !supports(context, Op::Sqrt, DType::F32) {
                return Ok(None);
            }
            context.apply(Op::Sqrt, &[arg])
        }
        (Kind::I32, Kind::WeakInt, Held::Int(2)) => {
            if !supports(context, Op::Mul, DType::I32) {
                return Ok(None);
            }
            context.apply(Op::Mul, &[arg, arg])
        }
        _ => return Ok(None),
    };
    recorded.map(Some).map_err(to_py)
}
