//! The operations that a lowering needs of drivers, and its recording.
//!
//! Owns the methods of [`UfuncLowering`].
//!
//! Not here: the longer compositions (`decompositions.rs`), those of complex numbers (`complex.rs`).

use crate::array::operand::{OperandKind, OperandValue, UfuncOperand, range};
use crate::compute::promotion::Promotion;
use crate::compute::scan_sort_matmul;
use crate::compute::ufunc_lowering::UfuncLowering;
use crate::compute::ufunc_lowering::complex;
use crate::compute::ufunc_lowering::decompositions;
use crate::compute::ufunc_lowering::float_neighbours;
use crate::session::context::{context, holds, supports};
use crate::session::errors::to_py;
use gpupy_core::op::{Op, Rule};
use gpupy_core::{DType, Result, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context};
use pyo3::PyResult;
use smallvec::{SmallVec, smallvec};

impl UfuncLowering {
    /// The dtype in which operands of this one are computed with.
    fn compute(self, operand: DType) -> DType {
        match self {
            UfuncLowering::Logical(_) => DType::Bool,
            UfuncLowering::Reciprocal if operand.is_int() => DType::F64,
            // NumPy computes these in float32, and rounds once.
            UfuncLowering::Scale(..)
            | UfuncLowering::FloorDivide
            | UfuncLowering::Remainder
            | UfuncLowering::LogAddExp { .. }
                if operand.is_narrow_float() =>
            {
                DType::F32
            }
            _ => operand,
        }
    }

    /// True when operands and result of these dtypes are right for the lowering.
    pub fn takes(self, plan: Promotion) -> bool {
        let Some(operand) = plan.operand() else {
            return matches!(self, UfuncLowering::Op(op) if op.info().rule == Rule::Compare)
                && plan.result == DType::Bool;
        };
        let same = operand == plan.result;
        if operand.is_complex() {
            return complex::takes(self, operand, plan.result);
        }
        match self {
            UfuncLowering::Op(op) => {
                let operands: SmallVec<[DType; 2]> =
                    (0..op.info().arity).map(|_| operand).collect();
                op.result_dtype(&operands, operand) == Some(plan.result)
            }
            UfuncLowering::Logical(_) | UfuncLowering::Test(_) => plan.result == DType::Bool,
            UfuncLowering::Same | UfuncLowering::Extreme(_) | UfuncLowering::MatMul => same,
            UfuncLowering::Square => same && operand != DType::Bool,
            UfuncLowering::Scale(..)
            | UfuncLowering::Heaviside
            | UfuncLowering::LogAddExp { .. }
            | UfuncLowering::NextAfter => same && operand.is_float(),
            // NumPy's of float16 is another function: without the sign, and less at powers of two below zero.
            UfuncLowering::Spacing => same && matches!(operand, DType::F32 | DType::F64),
            UfuncLowering::Rounding(_)
            | UfuncLowering::Conjugate
            | UfuncLowering::NumberExtreme(_) => same,
            UfuncLowering::Reciprocal
            | UfuncLowering::Power
            | UfuncLowering::FloorDivide
            | UfuncLowering::Remainder
            | UfuncLowering::Fmod => same && (operand.is_float() || operand.is_int()),
        }
    }

    /// The operations of the lowering on this dtype, in which it computes. Of a power they depend on the
    /// exponent.
    fn needs(self, dtype: DType) -> SmallVec<[Op; 12]> {
        match self {
            UfuncLowering::Op(op) if keeps_zero(op, dtype) => smallvec![op, Op::Copysign],
            UfuncLowering::Op(op) | UfuncLowering::Logical(op) | UfuncLowering::Extreme(op) => {
                smallvec![op]
            }
            UfuncLowering::Same | UfuncLowering::Conjugate | UfuncLowering::Power => smallvec![],
            UfuncLowering::MatMul => smallvec![Op::MatMul],
            UfuncLowering::Test(op) | UfuncLowering::Rounding(op) if dtype.is_float() => {
                smallvec![op]
            }
            UfuncLowering::Test(_) | UfuncLowering::Rounding(_) => smallvec![],
            UfuncLowering::Square | UfuncLowering::Scale(..) => smallvec![Op::Mul],
            UfuncLowering::Reciprocal => smallvec![Op::Div],
            UfuncLowering::FloorDivide if dtype.is_int() => smallvec![Op::FloorDiv],
            UfuncLowering::Remainder if dtype.is_int() => smallvec![Op::Mod],
            UfuncLowering::FloorDivide | UfuncLowering::Remainder => {
                SmallVec::from_slice(decompositions::DIVMOD)
            }
            UfuncLowering::Fmod if dtype.is_float() => smallvec![Op::Fmod],
            UfuncLowering::Fmod => smallvec![Op::Mod, Op::Lt, Op::Ne, Op::Sub, Op::Select],
            UfuncLowering::NumberExtreme(_) if dtype.is_float() => {
                smallvec![Op::Ge, Op::Le, Op::IsNan, Op::Select]
            }
            UfuncLowering::NumberExtreme(op) => smallvec![op],
            UfuncLowering::Heaviside => smallvec![Op::IsNan, Op::Lt, Op::Eq, Op::Select],
            UfuncLowering::LogAddExp { base_two } => {
                let power = if base_two { Op::Exp2 } else { Op::Exp };
                decompositions::LOG_ADD_EXP.iter().copied().chain([power]).collect()
            }
            // `float_neighbours.rs` knows.
            UfuncLowering::NextAfter | UfuncLowering::Spacing => smallvec![],
        }
    }

    /// The one operation of the core that the lowering is on operands of this dtype, as they are; `None`
    /// where it is several, or depends on the operands' values.
    pub fn alone(self, dtype: DType) -> Option<Op> {
        let op = match self {
            // Of complex numbers, some are compositions.
            UfuncLowering::Op(op) if dtype.is_complex() => {
                return (complex::needs(self, dtype)[..] == [(op, dtype)]).then_some(op);
            }
            UfuncLowering::Op(op) if keeps_zero(op, dtype) => return None,
            UfuncLowering::Op(op) => op,
            UfuncLowering::Extreme(op) if dtype != DType::F16 => op,
            UfuncLowering::Logical(op) if dtype == DType::Bool => op,
            UfuncLowering::Test(op) | UfuncLowering::Rounding(op) if dtype.is_float() => op,
            UfuncLowering::FloorDivide if dtype.is_int() => Op::FloorDiv,
            UfuncLowering::Remainder if dtype.is_int() => Op::Mod,
            UfuncLowering::Fmod if dtype.is_float() => Op::Fmod,
            UfuncLowering::NumberExtreme(op) if !dtype.is_float() => op,
            _ => return None,
        };
        (!dtype.is_complex()).then_some(op)
    }

    /// Whether it is several operations, the same whatever the operands of this dtype are.
    pub fn is_composed(self, dtype: DType) -> bool {
        if dtype.is_complex() {
            return complex::is_composed(self);
        }
        let is_one = self.alone(dtype).is_some();
        match self {
            UfuncLowering::Logical(_)
            | UfuncLowering::Square
            | UfuncLowering::Scale(..)
            | UfuncLowering::FloorDivide
            | UfuncLowering::Remainder
            | UfuncLowering::Fmod
            | UfuncLowering::NumberExtreme(_)
            | UfuncLowering::Heaviside
            | UfuncLowering::LogAddExp { .. }
            | UfuncLowering::NextAfter
            | UfuncLowering::Spacing => !is_one,
            UfuncLowering::Reciprocal => dtype.is_float(),
            UfuncLowering::Op(_)
            | UfuncLowering::Same
            | UfuncLowering::Conjugate
            | UfuncLowering::Test(_)
            | UfuncLowering::Power
            | UfuncLowering::Rounding(_)
            | UfuncLowering::Extreme(_)
            | UfuncLowering::MatMul => false,
        }
    }

    /// True when the drivers in use can do everything that the lowering needs.
    pub fn supported(self, context: &Context, plan: Promotion) -> PyResult<bool> {
        let able = match (self, plan.operand()) {
            (UfuncLowering::Op(op), Some(operand)) if !operand.is_complex() => {
                supports(context, op, operand)
            }
            (UfuncLowering::Op(op), None) => {
                plan.operands.iter().all(|dtype| supports(context, op, *dtype))
            }
            (_, Some(operand)) if operand.is_complex() => complex::needs(self, operand)
                .iter()
                .all(|(op, dtype)| supports(context, *op, *dtype)),
            (UfuncLowering::NextAfter | UfuncLowering::Spacing, Some(operand)) => {
                float_neighbours::are_supported(context, operand)
            }
            (_, Some(operand)) => {
                let dtype = self.compute(operand);
                self.needs(dtype).iter().all(|op| supports(context, *op, dtype))
            }
            (_, None) => false,
        };
        Ok(able && holds(plan.result)?)
    }

    /// Records the lowering; `None` when these values are NumPy's after all.
    pub fn record(
        self,
        context: &Context,
        plan: Promotion,
        args: &[ArrayOrScalar<'_>],
    ) -> Result<Option<Array>> {
        let Some(operand) = plan.operand() else {
            return match (self, args) {
                (UfuncLowering::Op(op), [x, y]) => {
                    decompositions::mixed(context, op, *x, *y).map(Some)
                }
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
        let cast: Vec<Array> = args
            .iter()
            .map(|arg| decompositions::cast(context, *arg, dtype))
            .collect::<Result<_>>()?;
        let args: SmallVec<[ArrayOrScalar<'_>; 3]> =
            cast.iter().map(ArrayOrScalar::Array).collect();
        match self.on(context, dtype, &args)? {
            Some(array) if array.dtype() == plan.result => Ok(Some(array)),
            Some(array) => {
                decompositions::cast(context, ArrayOrScalar::Array(&array), plan.result).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Records the lowering on arguments of the dtype in which it computes.
    fn on(
        self,
        context: &Context,
        dtype: DType,
        args: &[ArrayOrScalar<'_>],
    ) -> Result<Option<Array>> {
        let array = match (self, args) {
            (UfuncLowering::Op(op), [x]) if keeps_zero(op, dtype) => {
                let sign = context.apply(op, &[*x])?;
                context.apply(Op::Copysign, &[ArrayOrScalar::Array(&sign), *x])?
            }
            (UfuncLowering::Op(op) | UfuncLowering::Logical(op), args) => {
                context.apply(op, args)?
            }
            (UfuncLowering::Same | UfuncLowering::Conjugate, [x]) => return copied(context, *x),
            (UfuncLowering::Test(op), [x @ ArrayOrScalar::Array(array)]) => {
                if dtype.is_float() {
                    context.apply(op, &[*x])?
                } else {
                    context.full_as_it_lies(array, Scalar::bool(op == Op::IsFinite))?
                }
            }
            (UfuncLowering::Square, [x]) => context.apply(Op::Mul, &[*x, *x])?,
            (UfuncLowering::Reciprocal, [x]) => context
                .apply(Op::Div, &[ArrayOrScalar::Scalar(decompositions::number(dtype, 1.0)), *x])?,
            (UfuncLowering::Scale(above, below), [x]) => {
                let [above, below] =
                    [above, below].map(|value| decompositions::number(dtype, value));
                let factor = context.apply(Op::Div, &[above.into(), below.into()])?;
                context.apply(Op::Mul, &[*x, ArrayOrScalar::Array(&factor)])?
            }
            (UfuncLowering::Rounding(op), [x]) if dtype.is_float() => context.apply(op, &[*x])?,
            (UfuncLowering::Rounding(_), [x]) => return copied(context, *x),
            (UfuncLowering::Power, [x, y]) if dtype.is_int() => {
                return decompositions::int_power(context, *x, *y);
            }
            (UfuncLowering::Power, [x, y]) => return decompositions::power(context, dtype, *x, *y),
            (UfuncLowering::FloorDivide, [x, y]) if dtype.is_int() => {
                context.apply(Op::FloorDiv, &[*x, *y])?
            }
            (UfuncLowering::Remainder, [x, y]) if dtype.is_int() => {
                context.apply(Op::Mod, &[*x, *y])?
            }
            (UfuncLowering::FloorDivide, [x, y]) => {
                decompositions::divmod(context, dtype, *x, *y)?.0
            }
            (UfuncLowering::Remainder, [x, y]) => decompositions::divmod(context, dtype, *x, *y)?.1,
            (UfuncLowering::Fmod, [x, y]) if dtype.is_float() => {
                context.apply(Op::Fmod, &[*x, *y])?
            }
            (UfuncLowering::Fmod, [x, y]) => decompositions::int_fmod(context, dtype, *x, *y)?,
            // Of equals (0.0 and -0.0), NumPy takes the first of float16, and the second of the others.
            (UfuncLowering::Extreme(op), [x, y]) if dtype == DType::F16 => {
                context.apply(op, &[*y, *x])?
            }
            (UfuncLowering::Extreme(op), [x, y]) => context.apply(op, &[*x, *y])?,
            // Of equals, ml_dtypes takes the second.
            (UfuncLowering::NumberExtreme(op), [x, y]) if dtype == DType::BF16 => {
                decompositions::number_extreme(context, op, *y, *x)?
            }
            (UfuncLowering::NumberExtreme(op), [x, y]) if dtype.is_float() => {
                decompositions::number_extreme(context, op, *x, *y)?
            }
            (UfuncLowering::NumberExtreme(op), [x, y]) => context.apply(op, &[*x, *y])?,
            (UfuncLowering::Heaviside, [_, _]) => context.composed(args, |args| {
                decompositions::heaviside(context, dtype, args[0], args[1])
            })?,
            (UfuncLowering::LogAddExp { base_two }, [_, _]) => context.composed(args, |args| {
                decompositions::log_add_exp(context, dtype, base_two, args[0], args[1])
            })?,
            (UfuncLowering::NextAfter, [_, _]) => {
                return float_neighbours::next_after(context, dtype, args);
            }
            (UfuncLowering::Spacing, [x]) => return float_neighbours::spacing(context, dtype, *x),
            (UfuncLowering::MatMul, [ArrayOrScalar::Array(x), ArrayOrScalar::Array(y)]) => {
                return scan_sort_matmul::product(context, x, y);
            }
            _ => return Ok(None),
        };
        Ok(Some(array))
    }
}

/// Whether the operation is the sign of a bfloat16, which is -0.0 of -0.0; of other floats it is 0.0.
fn keeps_zero(op: Op, dtype: DType) -> bool {
    op == Op::Sign && dtype == DType::BF16
}

fn copied(context: &Context, arg: ArrayOrScalar<'_>) -> Result<Option<Array>> {
    match arg {
        ArrayOrScalar::Array(array) => context.copy_as_it_lies(array).map(Some),
        ArrayOrScalar::Scalar(_) => Ok(None),
    }
}

/// The result of a lowering with an int that the operands' dtype does not hold: comparisons have an answer, other
/// operations are left to NumPy, which refuses them.
pub fn beyond(
    context: &Context,
    lowering: UfuncLowering,
    plan: Promotion,
    operands: &[UfuncOperand<'_>],
) -> PyResult<Option<Array>> {
    let (UfuncLowering::Op(op), Some(dtype)) = (lowering, plan.operand()) else { return Ok(None) };
    let [a, b] = operands else { return Ok(None) };
    let (array, value, array_first) = match (a.as_array(), b.as_array(), &a.held, &b.held) {
        (Some(array), None, _, OperandValue::Int(value)) => (array, *value, true),
        (None, Some(array), OperandValue::Int(value), _) => (array, *value, false),
        _ => return Ok(None),
    };
    // Of bools, which become int64 first, NumPy refuses even these.
    if op.info().rule != Rule::Compare || !dtype.is_int() || array.dtype() != dtype {
        return Ok(None);
    }
    // Whether the first operand is the lesser.
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
pub fn operator_power(
    base: &UfuncOperand<'_>,
    exponent: &UfuncOperand<'_>,
) -> PyResult<Option<Array>> {
    let Some(array) = base.as_array() else { return Ok(None) };
    let context = context()?;
    let (dtype, arg) = (array.dtype(), ArrayOrScalar::Array(array));
    let small;
    let args: &[ArrayOrScalar<'_>] = match (exponent.kind, &exponent.held) {
        // A bfloat16 and a float are promoted to float32.
        (OperandKind::WEAK_FLOAT, OperandValue::Float(v))
            if *v == 0.5 && dtype.is_float() && dtype != DType::BF16 =>
        {
            &[arg]
        }
        // Scalars are computed like the ufunc.
        (OperandKind::WEAK_INT, OperandValue::Int(2)) if dtype == DType::Bool && !base.is_array => {
            return Ok(None);
        }
        (OperandKind::WEAK_INT, OperandValue::Int(2)) if dtype == DType::Bool => {
            small = context.cast(array, DType::I8).map_err(to_py)?;
            &[ArrayOrScalar::Array(&small), ArrayOrScalar::Array(&small)]
        }
        (OperandKind::WEAK_INT, OperandValue::Int(2)) => &[arg, arg],
        _ => return Ok(None),
    };
    let op = if args.len() == 1 { Op::Sqrt } else { Op::Mul };
    let taken = if dtype == DType::Bool { DType::I8 } else { dtype };
    if !supports(context, op, taken) {
        return Ok(None);
    }
    context.apply(op, args).map(Some).map_err(to_py)
}
