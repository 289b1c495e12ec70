//! Neighbouring floats, computed on their bits as integers.
//!
//! Owns `nextafter` and `spacing`. The finite floats of one sign have the order of their bits, so that a step is an
//! addition, even on a device that flushes subnormal numbers to zero. Invariant: NumPy's bits, except those of a
//! NaN.
//!
//! Not here: the ufuncs' names (`mod.rs`).

use crate::compute::ufunc_lowering::decompositions::OpRecorder;
use crate::session::context::supports;
use gpupy_core::{DType, Op, Result, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context};

/// Where the bits of a float of some dtype lie.
#[derive(Clone, Copy)]
struct FloatFormat {
    float: DType,
    /// The signed integers of the same size.
    bits: DType,
    /// Bits of the significand, without the leading one.
    significand: u32,
}

/// The operations of both functions on integers, and on floats; all drivers have those on truth values.
const OF_BITS: &[Op] = &[
    Op::And,
    Op::Or,
    Op::Add,
    Op::Sub,
    Op::Shl,
    Op::Shr,
    Op::Max,
    Op::Lt,
    Op::Gt,
    Op::Eq,
    Op::Select,
    Op::Bitcast,
];
const OF_FLOATS: &[Op] = &[Op::Add, Op::Select, Op::Bitcast];

/// True when the drivers in use have all operations that neighbours of this dtype take.
pub fn are_supported(context: &Context, dtype: DType) -> bool {
    FloatFormat::of(dtype).is_some_and(|layout| {
        OF_BITS.iter().all(|op| supports(context, *op, layout.bits))
            && OF_FLOATS.iter().all(|op| supports(context, *op, dtype))
    })
}

impl FloatFormat {
    fn of(float: DType) -> Option<FloatFormat> {
        let bits = match float {
            _ if float.is_narrow_float() => DType::I16,
            DType::F32 => DType::I32,
            DType::F64 => DType::I64,
            _ => return None,
        };
        Some(FloatFormat { float, bits, significand: float.mantissa() })
    }

    fn number(self, value: u64) -> Scalar {
        Scalar::new(self.bits, value)
    }

    /// The bit of the sign.
    fn sign(self) -> u64 {
        1 << (8 * self.float.size() - 1)
    }

    /// Infinity's bits, above which those of a NaN are, without the sign.
    fn infinity(self) -> u64 {
        (self.sign() - 1) >> self.significand << self.significand
    }

    /// The bits of a float as an integer.
    fn bits_of(self, f: &OpRecorder<'_>, x: ArrayOrScalar<'_>) -> Result<Array> {
        match x {
            ArrayOrScalar::Array(array) => f.0.bitcast(array, self.bits),
            ArrayOrScalar::Scalar(scalar) => Array::full(&[], self.number(scalar.bits)),
        }
    }
}

/// The next float after each of the first towards the second; of equals the second, of float16 the first.
/// `None` where the dtype is no float.
pub fn next_after(
    context: &Context,
    dtype: DType,
    args: &[ArrayOrScalar<'_>],
) -> Result<Option<Array>> {
    let Some(layout) = FloatFormat::of(dtype) else { return Ok(None) };
    context.composed(args, |args| layout.next_after(context, args[0], args[1])).map(Some)
}

impl FloatFormat {
    fn next_after(
        self,
        context: &Context,
        x: ArrayOrScalar<'_>,
        y: ArrayOrScalar<'_>,
    ) -> Result<Array> {
        let f = OpRecorder(context);
        let [zero, one, less] = [0, 1, u64::MAX].map(|value| self.number(value));
        let magnitude = |bits: &Array| f.two(Op::And, bits, self.number(self.sign() - 1));
        let (own, other) = (self.bits_of(&f, x)?, self.bits_of(&f, y)?);
        let (size, other_size) = (magnitude(&own)?, magnitude(&other)?);
        let is_negative = f.two(Op::Lt, &own, zero)?;

        // Numbers that rise with the floats, and are 0 for both zeros.
        let place = f.select(&is_negative, &f.two(Op::Sub, zero, &size)?, &own)?;
        let is_below = f.two(Op::Lt, &other, zero)?;
        let other_place = f.select(&is_below, &f.two(Op::Sub, zero, &other_size)?, &other)?;

        let rises = f.two(Op::Gt, &other_place, &place)?;
        let grows = f.two(Op::Ne, &rises, &is_negative)?;
        let stepped = f.two(Op::Add, &own, &f.select(&grows, one, less)?)?;
        let least = f.select(&rises, one, self.number(self.sign() | 1))?;
        let next = f.select(&f.two(Op::Eq, &size, zero)?, &least, &stepped)?;
        let next = context.bitcast(&next, self.float)?;

        let equal = if self.float == DType::F16 { x } else { y };
        let next = f.select(&f.two(Op::Eq, &place, &other_place)?, equal, &next)?;
        let larger = f.two(Op::Max, &size, &other_size)?;
        let is_nan = f.two(Op::Gt, &larger, self.number(self.infinity()))?;
        f.select(&is_nan, &f.two(Op::Add, x, y)?, &next)
    }
}

/// How far the next float away from zero is, with the sign of each; beyond the greatest float that is infinity.
/// `None` where the dtype is no float.
pub fn spacing(context: &Context, dtype: DType, x: ArrayOrScalar<'_>) -> Result<Option<Array>> {
    let Some(layout) = FloatFormat::of(dtype) else { return Ok(None) };
    let f = OpRecorder(context);
    let [zero, one] = [0, 1].map(|value| layout.number(value));
    let (width, infinity) = (u64::from(layout.significand), layout.infinity());
    let own = layout.bits_of(&f, x)?;
    let size = f.two(Op::And, &own, layout.number(layout.sign() - 1))?;
    let exponent = f.two(Op::Shr, &size, layout.number(width))?;

    // A normal number has an exponent, a subnormal one is a power of two as its bits are.
    let normal = f.two(Op::Sub, &exponent, layout.number(width))?;
    let normal = f.two(Op::Shl, &normal, layout.number(width))?;
    let place = f.two(Op::Max, &f.two(Op::Sub, &exponent, one)?, zero)?;
    let subnormal = f.two(Op::Shl, one, &place)?;
    let is_normal = f.two(Op::Gt, &exponent, layout.number(width))?;
    let step = f.select(&is_normal, &normal, &subnormal)?;

    let is_greatest = f.two(Op::Eq, &size, layout.number(infinity - 1))?;
    let step = f.select(&is_greatest, layout.number(infinity), &step)?;
    // Zero has no sign here.
    let sign = f.two(Op::And, &own, layout.number(layout.sign()))?;
    let sign = f.select(&f.two(Op::Eq, &size, zero)?, zero, &sign)?;
    let signed = f.two(Op::Or, &step, &sign)?;
    let nan = layout.number(infinity | 1 << (width - 1));
    let is_finite = f.two(Op::Lt, &size, layout.number(infinity))?;
    let bits = f.select(&is_finite, &signed, nan)?;
    context.bitcast(&bits, dtype).map(Some)
}
