//! What a recipe needs of drivers, and how it is recorded.
//!
//! Owns the methods of [`Recipe`].
//!
//! Not here: the longer compositions (`compose.rs`), those of complex numbers (`complex.rs`).

use crate::array::operand::{Held, Kind, Operand, range};
use crate::compute::forms;
use crate::compute::plan::Plan;
use crate::compute::recipe::Recipe;
use crate::compute::recipe::bits;
use crate::compute::recipe::complex;
use crate::compute::recipe::compose;
use crate::session::context::{context, holds, supports};
use crate::session::errors::to_py;
use gpupy_core::op::{Op, Rule};
use gpupy_core::{DType, Result, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context};
use pyo3::PyResult;
use smallvec::{SmallVec, smallvec};

impl Recipe {
    /// The dtype in which operands of this one are computed with.
    fn compute(self, operand: DType) -> DType {
        match self {
            Recipe::Logical(_) => DType::Bool,
            Recipe::Reciprocal if operand.is_int() => DType::F64,
            // NumPy computes these in float32, and rounds once.
            Recipe::Scale(..)
            | Recipe::FloorDivide
            | Recipe::Remainder
            | Recipe::LogAddExp { .. }
                if operand == DType::F16 =>
            {
                DType::F32
            }
            _ => operand,
        }
    }

    /// True when operands and result of these dtypes are right for the recipe.
    pub fn takes(self, plan: Plan) -> bool {
        let Some(operand) = plan.operand() else {
            return matches!(self, Recipe::Op(op) if op.info().rule == Rule::Compare)
                && plan.result == DType::Bool;
        };
        let same = operand == plan.result;
        if operand.is_complex() {
            return complex::takes(self, operand, plan.result);
        }
        match self {
            Recipe::Op(op) => {
                let operands: SmallVec<[DType; 2]> =
                    (0..op.info().arity).map(|_| operand).collect();
                op.result_dtype(&operands, operand) == Some(plan.result)
            }
            Recipe::Logical(_) | Recipe::Test(_) => plan.result == DType::Bool,
            Recipe::Same | Recipe::Extreme(_) | Recipe::MatMul => same,
            Recipe::Square => same && operand != DType::Bool,
            Recipe::Scale(..)
            | Recipe::Heaviside
            | Recipe::LogAddExp { .. }
            | Recipe::NextAfter => same && operand.is_float(),
            // NumPy's of float16 is another function: without the sign, and less at powers of two below zero.
            Recipe::Spacing => same && matches!(operand, DType::F32 | DType::F64),
            Recipe::Rounding(_) | Recipe::Conjugate | Recipe::NumberExtreme(_) => same,
            Recipe::Reciprocal
            | Recipe::Power
            | Recipe::FloorDivide
            | Recipe::Remainder
            | Recipe::Fmod => same && (operand.is_float() || operand.is_int()),
        }
    }

    /// The operations of the recipe on this dtype, in which it computes. Of a power they depend on the
    /// exponent.
    fn needs(self, dtype: DType) -> SmallVec<[Op; 12]> {
        match self {
            Recipe::Op(op) | Recipe::Logical(op) | Recipe::Extreme(op) => smallvec![op],
            Recipe::Same | Recipe::Conjugate | Recipe::Power => smallvec![],
            Recipe::MatMul => smallvec![Op::MatMul],
            Recipe::Test(op) | Recipe::Rounding(op) if dtype.is_float() => smallvec![op],
            Recipe::Test(_) | Recipe::Rounding(_) => smallvec![],
            Recipe::Square | Recipe::Scale(..) => smallvec![Op::Mul],
            Recipe::Reciprocal => smallvec![Op::Div],
            Recipe::FloorDivide if dtype.is_int() => smallvec![Op::FloorDiv],
            Recipe::Remainder if dtype.is_int() => smallvec![Op::Mod],
            Recipe::FloorDivide | Recipe::Remainder => SmallVec::from_slice(compose::DIVMOD),
            Recipe::Fmod if dtype.is_float() => smallvec![Op::Fmod],
            Recipe::Fmod => smallvec![Op::Mod, Op::Lt, Op::Ne, Op::Sub, Op::Select],
            Recipe::NumberExtreme(_) if dtype.is_float() => {
                smallvec![Op::Ge, Op::Le, Op::IsNan, Op::Select]
            }
            Recipe::NumberExtreme(op) => smallvec![op],
            Recipe::Heaviside => smallvec![Op::IsNan, Op::Lt, Op::Eq, Op::Select],
            Recipe::LogAddExp { base_two } => {
                let power = if base_two { Op::Exp2 } else { Op::Exp };
                compose::LOG_ADD_EXP.iter().copied().chain([power]).collect()
            }
            // `bits.rs` knows.
            Recipe::NextAfter | Recipe::Spacing => smallvec![],
        }
    }

    /// The one operation of the core that the recipe is on operands of this dtype, as they are; `None`
    /// where it is more, or it depends on what they are.
    pub fn alone(self, dtype: DType) -> Option<Op> {
        let op = match self {
            // Of complex numbers, some are compositions.
            Recipe::Op(op) if dtype.is_complex() => {
                return (complex::needs(self, dtype)[..] == [(op, dtype)]).then_some(op);
            }
            Recipe::Op(op) => op,
            Recipe::Extreme(op) if dtype != DType::F16 => op,
            Recipe::Logical(op) if dtype == DType::Bool => op,
            Recipe::Test(op) | Recipe::Rounding(op) if dtype.is_float() => op,
            Recipe::FloorDivide if dtype.is_int() => Op::FloorDiv,
            Recipe::Remainder if dtype.is_int() => Op::Mod,
            Recipe::Fmod if dtype.is_float() => Op::Fmod,
            Recipe::NumberExtreme(op) if !dtype.is_float() => op,
            _ => return None,
        };
        (!dtype.is_complex()).then_some(op)
    }

    /// Whether it is several operations, the same whatever the operands of this dtype are.
    pub fn is_composed(self, dtype: DType) -> bool {
        let is_one = self.alone(dtype).is_some() || dtype.is_complex();
        match self {
            Recipe::Logical(_)
            | Recipe::Square
            | Recipe::Scale(..)
            | Recipe::FloorDivide
            | Recipe::Remainder
            | Recipe::Fmod
            | Recipe::NumberExtreme(_)
            | Recipe::Heaviside
            | Recipe::LogAddExp { .. }
            | Recipe::NextAfter
            | Recipe::Spacing => !is_one,
            Recipe::Reciprocal => dtype.is_float(),
            Recipe::Op(_)
            | Recipe::Same
            | Recipe::Conjugate
            | Recipe::Test(_)
            | Recipe::Power
            | Recipe::Rounding(_)
            | Recipe::Extreme(_)
            | Recipe::MatMul => false,
        }
    }

    /// True when the drivers in use can do everything that the recipe needs.
    pub fn supported(self, context: &Context, plan: Plan) -> PyResult<bool> {
        let able = match (self, plan.operand()) {
            (Recipe::Op(op), Some(operand)) if !operand.is_complex() => {
                supports(context, op, operand)
            }
            (Recipe::Op(op), None) => {
                plan.operands.iter().all(|dtype| supports(context, op, *dtype))
            }
            (_, Some(operand)) if operand.is_complex() => complex::needs(self, operand)
                .iter()
                .all(|(op, dtype)| supports(context, *op, *dtype)),
            (Recipe::NextAfter | Recipe::Spacing, Some(operand)) => {
                bits::are_supported(context, operand)
            }
            (_, Some(operand)) => {
                let dtype = self.compute(operand);
                self.needs(dtype).iter().all(|op| supports(context, *op, dtype))
            }
            (_, None) => false,
        };
        Ok(able && holds(plan.result)?)
    }

    /// Records the recipe; `None` when these values are NumPy's after all.
    pub fn record(
        self,
        context: &Context,
        plan: Plan,
        args: &[ArrayOrScalar<'_>],
    ) -> Result<Option<Array>> {
        let Some(operand) = plan.operand() else {
            return match (self, args) {
                (Recipe::Op(op), [x, y]) => compose::mixed(context, op, *x, *y).map(Some),
                _ => Ok(None),
            };
        };
        if operand.is_complex() {
            return complex::record(context, self, operand, args);
        }
        let dtype = self.compute(operand);
        if dtype == operand {
            return self.on(context, dtype, args);
        }
        let cast: Vec<Array> =
            args.iter().map(|arg| compose::cast(context, *arg, dtype)).collect::<Result<_>>()?;
        let args: SmallVec<[ArrayOrScalar<'_>; 3]> =
            cast.iter().map(ArrayOrScalar::Array).collect();
        match self.on(context, dtype, &args)? {
            Some(array) if array.dtype() == plan.result => Ok(Some(array)),
            Some(array) => {
                compose::cast(context, ArrayOrScalar::Array(&array), plan.result).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Records the recipe on arguments of the dtype in which it computes.
    fn on(
        self,
        context: &Context,
        dtype: DType,
        args: &[ArrayOrScalar<'_>],
    ) -> Result<Option<Array>> {
        let array = match (self, args) {
            (Recipe::Op(op) | Recipe::Logical(op), args) => context.apply(op, args)?,
            (Recipe::Same | Recipe::Conjugate, [x]) => return copied(context, *x),
            (Recipe::Test(op), [x @ ArrayOrScalar::Array(array)]) => {
                if dtype.is_float() {
                    context.apply(op, &[*x])?
                } else {
                    context.full_as_it_lies(array, Scalar::bool(op == Op::IsFinite))?
                }
            }
            (Recipe::Square, [x]) => context.apply(Op::Mul, &[*x, *x])?,
            (Recipe::Reciprocal, [x]) => {
                context.apply(Op::Div, &[ArrayOrScalar::Scalar(compose::number(dtype, 1.0)), *x])?
            }
            (Recipe::Scale(above, below), [x]) => {
                let [above, below] = [above, below].map(|value| compose::number(dtype, value));
                let factor = context.apply(Op::Div, &[above.into(), below.into()])?;
                context.apply(Op::Mul, &[*x, ArrayOrScalar::Array(&factor)])?
            }
            (Recipe::Rounding(op), [x]) if dtype.is_float() => context.apply(op, &[*x])?,
            (Recipe::Rounding(_), [x]) => return copied(context, *x),
            (Recipe::Power, [x, y]) if dtype.is_int() => {
                return compose::int_power(context, *x, *y);
            }
            (Recipe::Power, [x, y]) => return compose::power(context, dtype, *x, *y),
            (Recipe::FloorDivide, [x, y]) if dtype.is_int() => {
                context.apply(Op::FloorDiv, &[*x, *y])?
            }
            (Recipe::Remainder, [x, y]) if dtype.is_int() => context.apply(Op::Mod, &[*x, *y])?,
            (Recipe::FloorDivide, [x, y]) => compose::divmod(context, dtype, *x, *y)?.0,
            (Recipe::Remainder, [x, y]) => compose::divmod(context, dtype, *x, *y)?.1,
            (Recipe::Fmod, [x, y]) if dtype.is_float() => context.apply(Op::Fmod, &[*x, *y])?,
            (Recipe::Fmod, [x, y]) => compose::int_fmod(context, dtype, *x, *y)?,
            // Of equals (0.0 and -0.0), NumPy takes the first of float16, and the second of the others.
            (Recipe::Extreme(op), [x, y]) if dtype == DType::F16 => context.apply(op, &[*y, *x])?,
            (Recipe::Extreme(op), [x, y]) => context.apply(op, &[*x, *y])?,
            (Recipe::NumberExtreme(op), [x, y]) if dtype.is_float() => {
                compose::number_extreme(context, op, *x, *y)?
            }
            (Recipe::NumberExtreme(op), [x, y]) => context.apply(op, &[*x, *y])?,
            (Recipe::Heaviside, [_, _]) => context
                .composed(args, |args| compose::heaviside(context, dtype, args[0], args[1]))?,
            (Recipe::LogAddExp { base_two }, [_, _]) => context.composed(args, |args| {
                compose::log_add_exp(context, dtype, base_two, args[0], args[1])
            })?,
            (Recipe::NextAfter, [_, _]) => return bits::next_after(context, dtype, args),
            (Recipe::Spacing, [x]) => return bits::spacing(context, dtype, *x),
            (Recipe::MatMul, [ArrayOrScalar::Array(x), ArrayOrScalar::Array(y)]) => {
                return forms::product(context, x, y);
            }
            _ => return Ok(None),
        };
        Ok(Some(array))
    }
}

fn copied(context: &Context, arg: ArrayOrScalar<'_>) -> Result<Option<Array>> {
    match arg {
        ArrayOrScalar::Array(array) => context.copy_as_it_lies(array).map(Some),
        ArrayOrScalar::Scalar(_) => Ok(None),
    }
}

/// What a recipe gives with an int that the operands' dtype does not hold: comparisons know the
/// answer, everything else is NumPy's to refuse.
pub fn beyond(
    context: &Context,
    recipe: Recipe,
    plan: Plan,
    operands: &[Operand<'_>],
) -> PyResult<Option<Array>> {
    let (Recipe::Op(op), Some(dtype)) = (recipe, plan.operand()) else { return Ok(None) };
    let [a, b] = operands else { return Ok(None) };
    let (array, value, array_first) = match (a.as_array(), b.as_array(), &a.held, &b.held) {
        (Some(array), None, _, Held::Int(value)) => (array, *value, true),
        (None, Some(array), Held::Int(value), _) => (array, *value, false),
        _ => return Ok(None),
    };
    // Of bools, which become int64 first, NumPy refuses even these.
    if op.info().rule != Rule::Compare || !dtype.is_int() || array.dtype() != dtype {
        return Ok(None);
    }
    // Whether what stands first is the lesser.
    let less = (value > range(dtype).1) == array_first;
    let answer = match op {
        Op::Lt | Op::Le => less,
        Op::Gt | Op::Ge => !less,
        _ => op == Op::Ne,
    };
    context.full_as_it_lies(array, Scalar::bool(answer)).map(Some).map_err(to_py)
}

/// `array ** exponent` for the exponents that NumPy's operator, unlike its ufunc, treats apart:
/// Python's 0.5 is the square root of floats, and its 2 a product.
pub fn operator_power(base: &Operand<'_>, exponent: &Operand<'_>) -> PyResult<Option<Array>> {
    let Some(array) = base.as_array() else { return Ok(None) };
    let context = context()?;
    let (dtype, arg) = (array.dtype(), ArrayOrScalar::Array(array));
    let small;
    let args: &[ArrayOrScalar<'_>] = match (exponent.kind, &exponent.held) {
        (Kind::WEAK_FLOAT, Held::Float(v)) if *v == 0.5 && dtype.is_float() => &[arg],
        // A scalar is what the ufunc makes of it.
        (Kind::WEAK_INT, Held::Int(2)) if dtype == DType::Bool && !base.is_array => {
            return Ok(None);
        }
        (Kind::WEAK_INT, Held::Int(2)) if dtype == DType::Bool => {
            small = context.cast(array, DType::I8).map_err(to_py)?;
            &[ArrayOrScalar::Array(&small), ArrayOrScalar::Array(&small)]
        }
        (Kind::WEAK_INT, Held::Int(2)) => &[arg, arg],
        _ => return Ok(None),
    };
    let op = if args.len() == 1 { Op::Sqrt } else { Op::Mul };
    let taken = if dtype == DType::Bool { DType::I8 } else { dtype };
    if !supports(context, op, taken) {
        return Ok(None);
    }
    context.apply(op, args).map(Some).map_err(to_py)
}
