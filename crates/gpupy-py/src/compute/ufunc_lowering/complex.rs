//! The lowering of ufuncs on complex numbers, from real and imaginary parts.
//!
//! Owns the formulas, which are NumPy's own. Invariant: results differ from NumPy's at most where NumPy's compiler
//! fuses a product with a sum, which never happens here.
//!
//! Not here: functions such as `exp`, which NumPy computes.

use crate::compute::scan_sort_matmul;
use crate::compute::ufunc_lowering::UfuncLowering;
use crate::compute::ufunc_lowering::decompositions::{OpRecorder, number};
use gpupy_core::op::{Op, Rule};
use gpupy_core::{DType, Result};
use gpupy_engine::{Array, ArrayOrScalar, Context};
use smallvec::SmallVec;

/// A complex number's parts.
struct RealImagParts {
    re: Array,
    im: Array,
}

impl RealImagParts {
    fn of(f: &OpRecorder<'_>, x: ArrayOrScalar<'_>) -> Result<RealImagParts> {
        Ok(RealImagParts { re: f.one(Op::Real, x)?, im: f.one(Op::Imag, x)? })
    }

    /// The operation on both parts.
    fn map(&self, f: &OpRecorder<'_>, op: Op) -> Result<RealImagParts> {
        Ok(RealImagParts { re: f.one(op, &self.re)?, im: f.one(op, &self.im)? })
    }

    fn joined(&self, f: &OpRecorder<'_>) -> Result<Array> {
        f.two(Op::Complex, &self.re, &self.im)
    }
}

/// True when the lowering is known for complex operands and gives this dtype.
pub fn takes(lowering: UfuncLowering, operand: DType, result: DType) -> bool {
    let part = operand.part();
    match lowering {
        UfuncLowering::Op(Op::Abs) => Some(result) == part,
        UfuncLowering::Op(op) if op.info().rule == Rule::Compare => result == DType::Bool,
        UfuncLowering::Logical(_) | UfuncLowering::Test(_) => result == DType::Bool,
        UfuncLowering::Op(Op::Add | Op::Sub | Op::Mul | Op::Neg | Op::Div | Op::Rint)
        | UfuncLowering::Same
        | UfuncLowering::Conjugate
        | UfuncLowering::Square
        | UfuncLowering::Reciprocal
        | UfuncLowering::MatMul
        | UfuncLowering::Extreme(_) => operand == result,
        _ => false,
    }
}

/// Whether the lowering is several operations on a number's parts, the same for all operands.
pub fn is_composed(lowering: UfuncLowering) -> bool {
    match lowering {
        UfuncLowering::Op(op) => {
            matches!(op, Op::Abs | Op::Div | Op::Rint | Op::Lt | Op::Le | Op::Gt | Op::Ge)
        }
        UfuncLowering::Logical(_)
        | UfuncLowering::Test(_)
        | UfuncLowering::Conjugate
        | UfuncLowering::Square
        | UfuncLowering::Reciprocal
        | UfuncLowering::Extreme(_) => true,
        _ => false,
    }
}

/// The operations that a lowering needs beside those of the parts, each with its dtype.
pub fn needs(lowering: UfuncLowering, operand: DType) -> SmallVec<[(Op, DType); 8]> {
    let part = operand.part().unwrap_or(operand);
    let (whole, parts): (&[Op], &[Op]) = match lowering {
        UfuncLowering::Op(Op::Abs) => (&[Op::Real, Op::Imag], &[Op::Hypot]),
        UfuncLowering::Op(Op::Div) | UfuncLowering::Reciprocal => {
            (&[Op::Real, Op::Imag], &[Op::Complex, Op::Div, Op::Abs, Op::Select])
        }
        UfuncLowering::Op(Op::Rint) => (&[Op::Real, Op::Imag], &[Op::Complex, Op::Rint]),
        UfuncLowering::Op(Op::Lt | Op::Le | Op::Gt | Op::Ge) => {
            (&[Op::Real, Op::Imag], &[Op::Gt, Op::IsNan])
        }
        UfuncLowering::Op(op) => return [(op, operand)].into_iter().collect(),
        UfuncLowering::Logical(op) => return [(op, DType::Bool)].into_iter().collect(),
        UfuncLowering::Test(op) => return [(Op::Real, operand), (op, part)].into_iter().collect(),
        UfuncLowering::Square => (&[Op::Mul], &[]),
        UfuncLowering::MatMul => (&[Op::MatMul], &[]),
        UfuncLowering::Conjugate => (&[Op::Real, Op::Imag], &[Op::Complex, Op::Neg]),
        UfuncLowering::Extreme(_) => (&[Op::Real, Op::Imag, Op::Select], &[Op::Gt, Op::IsNan]),
        _ => (&[], &[]),
    };
    let of = |dtype| move |op: &Op| (*op, dtype);
    whole.iter().map(of(operand)).chain(parts.iter().map(of(part))).collect()
}

/// Records the lowering on complex operands.
pub fn record(
    context: &Context,
    lowering: UfuncLowering,
    operand: DType,
    args: &[ArrayOrScalar<'_>],
) -> Result<Option<Array>> {
    let f = OpRecorder(context);
    let part = operand.part().unwrap_or(operand);
    let array = match (lowering, args) {
        (UfuncLowering::Op(Op::Abs), [x]) => {
            let RealImagParts { re, im } = RealImagParts::of(&f, *x)?;
            f.two(Op::Hypot, &re, &im)?
        }
        (UfuncLowering::Op(Op::Div), [x, y]) => quotient(&f, part, *x, *y)?,
        (UfuncLowering::Op(Op::Rint), [x]) => {
            RealImagParts::of(&f, *x)?.map(&f, Op::Rint)?.joined(&f)?
        }
        (UfuncLowering::Op(op @ (Op::Lt | Op::Le | Op::Gt | Op::Ge)), [x, y]) => {
            ordered(&f, op, *x, *y)?
        }
        (UfuncLowering::Op(op), args) => context.apply(op, args)?,
        (UfuncLowering::Logical(op), args) => {
            let truths: Vec<Array> = args
                .iter()
                .map(|arg| {
                    crate::compute::ufunc_lowering::decompositions::cast(context, *arg, DType::Bool)
                })
                .collect::<Result<_>>()?;
            let truths: SmallVec<[ArrayOrScalar<'_>; 2]> =
                truths.iter().map(ArrayOrScalar::Array).collect();
            context.apply(op, &truths)?
        }
        (UfuncLowering::Test(op), [x]) => {
            let RealImagParts { re, im } = RealImagParts::of(&f, *x)?.map(&f, op)?;
            f.two(if op == Op::IsFinite { Op::And } else { Op::Or }, &re, &im)?
        }
        (UfuncLowering::Same, [ArrayOrScalar::Array(array)]) => context.copy_as_it_lies(array)?,
        (UfuncLowering::Conjugate, [x]) => {
            let RealImagParts { re, im } = RealImagParts::of(&f, *x)?;
            RealImagParts { re, im: f.one(Op::Neg, &im)? }.joined(&f)?
        }
        (UfuncLowering::MatMul, [ArrayOrScalar::Array(x), ArrayOrScalar::Array(y)]) => {
            return scan_sort_matmul::product(context, x, y);
        }
        (UfuncLowering::Square, [x]) => context.apply(Op::Mul, &[*x, *x])?,
        (UfuncLowering::Reciprocal, [x]) => reciprocal(&f, part, *x)?,
        (UfuncLowering::Extreme(op), [x, y]) => {
            let ahead = if op == Op::Max { Op::Ge } else { Op::Le };
            let nan = RealImagParts::of(&f, *x)?.map(&f, Op::IsNan)?;
            let nan = f.two(Op::Or, &nan.re, &nan.im)?;
            let first = f.two(Op::Or, &nan, &ordered(&f, ahead, *x, *y)?)?;
            f.select(&first, *x, *y)?
        }
        _ => return Ok(None),
    };
    Ok(Some(array))
}

/// The order by real parts, and by imaginary parts where those are equal; false with NaN.
fn ordered(
    f: &OpRecorder<'_>,
    op: Op,
    x: ArrayOrScalar<'_>,
    y: ArrayOrScalar<'_>,
) -> Result<Array> {
    let strict = if matches!(op, Op::Lt | Op::Le) { Op::Lt } else { Op::Gt };
    let (x, y) = (RealImagParts::of(f, x)?, RealImagParts::of(f, y)?);
    let nan = f.two(Op::Or, &f.one(Op::IsNan, &x.im)?, &f.one(Op::IsNan, &y.im)?)?;
    let by_real = f.two(Op::And, &f.two(strict, &x.re, &y.re)?, &f.one(Op::Not, &nan)?)?;
    let equal = f.two(Op::Eq, &x.re, &y.re)?;
    let by_imaginary = f.two(Op::And, &equal, &f.two(op, &x.im, &y.im)?)?;
    f.two(Op::Or, &by_real, &by_imaginary)
}

/// The quotient by Smith's method: scaled by the divisor's larger part, against overflow.
fn quotient(
    f: &OpRecorder<'_>,
    part: DType,
    x: ArrayOrScalar<'_>,
    y: ArrayOrScalar<'_>,
) -> Result<Array> {
    let (x, y) = (RealImagParts::of(f, x)?, RealImagParts::of(f, y)?);
    let size = y.map(f, Op::Abs)?;
    let real_is_larger = f.two(Op::Ge, &size.re, &size.im)?;
    let larger = f.select(&real_is_larger, &y.re, &y.im)?;
    let smaller = f.select(&real_is_larger, &y.im, &y.re)?;
    let ratio = f.two(Op::Div, &smaller, &larger)?;
    let norm = f.two(Op::Add, &larger, &f.two(Op::Mul, &smaller, &ratio)?)?;
    let scale = f.two(Op::Div, number(part, 1.0), &norm)?;
    let (re_ratio, im_ratio) = (f.two(Op::Mul, &x.re, &ratio)?, f.two(Op::Mul, &x.im, &ratio)?);
    let re = f.select(
        &real_is_larger,
        &f.two(Op::Add, &x.re, &im_ratio)?,
        &f.two(Op::Add, &re_ratio, &x.im)?,
    )?;
    let im = f.select(
        &real_is_larger,
        &f.two(Op::Sub, &x.im, &re_ratio)?,
        &f.two(Op::Sub, &im_ratio, &x.re)?,
    )?;
    let (re, im) = (f.two(Op::Mul, &re, &scale)?, f.two(Op::Mul, &im, &scale)?);
    // By 0 both parts are divided by it.
    let zero = f.two(Op::Eq, &f.two(Op::Max, &size.re, &size.im)?, number(part, 0.0))?;
    let re = f.select(&zero, &f.two(Op::Div, &x.re, &size.re)?, &re)?;
    let im = f.select(&zero, &f.two(Op::Div, &x.im, &size.re)?, &im)?;
    RealImagParts { re, im }.joined(f)
}

/// One over a number, scaled by its larger part.
fn reciprocal(f: &OpRecorder<'_>, part: DType, x: ArrayOrScalar<'_>) -> Result<Array> {
    let x = RealImagParts::of(f, x)?;
    let one = number(part, 1.0);
    let size = x.map(f, Op::Abs)?;
    let real_is_larger = f.two(Op::Le, &size.im, &size.re)?;
    let larger = f.select(&real_is_larger, &x.re, &x.im)?;
    let smaller = f.select(&real_is_larger, &x.im, &x.re)?;
    let ratio = f.two(Op::Div, &smaller, &larger)?;
    let norm = f.two(Op::Add, &larger, &f.two(Op::Mul, &smaller, &ratio)?)?;
    let whole = f.two(Op::Div, one, &norm)?;
    let part = f.two(Op::Div, &ratio, &norm)?;
    let re = f.select(&real_is_larger, &whole, &part)?;
    let im = f.select(&real_is_larger, &part, &whole)?;
    RealImagParts { re, im: f.one(Op::Neg, &im)? }.joined(f)
}
