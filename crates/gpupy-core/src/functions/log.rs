//! Logarithms: natural, to base 2 and 10, and of 1 + x.
//!
//! `x = 2^e (1 + f)` with `sqrt(1/2) <= 1 + f < sqrt(2)`, taken apart by integer operations. Then
//! `log(1 + f) = f - f²/2 + tail(f)`, where the tail is a minimax polynomial: of f for float32; for
//! float64, where that would be long, of `s² = (f / (2 + f))²` (the series of atanh). For other bases
//! the sum is kept in two parts, the first short enough for an exact product.
//!
//! Not here: the logarithm inside a power (`power.rs`).

use super::exp::{LN_2, power_of_2_int};
use super::formula_builder::{FormulaBuilder, FormulaValue};

/// (log(1 + f) - f + f²/2) / f³.
const SINGLE: &[f64] = &[
    0.333333313,
    -0.250008225,
    0.200012341,
    -0.166232973,
    0.142015159,
    -0.131605521,
    0.127635837,
    -0.0763606578,
];

/// (atanh(s) - s) / s³ for |s| up to (sqrt(2) - 1) / (sqrt(2) + 1), in powers of s².
const DOUBLE: &[f64] = &[
    0.33333333333333676,
    0.19999999999705556,
    0.14285714371654062,
    0.11111099233288477,
    0.09091785230435179,
    0.0765693959622025,
    0.07398900757798593,
];

/// 1 / ln 2 in two parts, the first with half the bits.
const LOG2_E: [[f64; 2]; 2] =
    [[1.4423828125, 0.00031222839606925845], [1.4426946640014648, 3.768874985636099e-7]];
/// log10 of 2, as `LN_2`.
const LOG10_2: [[f64; 2]; 2] =
    [[0.301025390625, 4.605039066518657e-6], [0.30102999566395283, 2.8363394551044964e-14]];
/// 1 / ln 10, as `LOG2_E`.
const LOG10_E: [[f64; 2]; 2] =
    [[0.4342041015625, 9.038033749675378e-5], [0.4342944622039795, 1.9699272335463627e-8]];

pub(super) fn log<'c>(_: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    of_normal(args[0], |(e, m)| natural(e.to_float(), m - 1.0, None))
}

pub(super) fn log1p<'c>(_: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0];
    // -0.0 keeps its sign.
    of_1_plus(x, None, None).copysign(x)
}

/// `log(1 + x + low) + more ln 2`, for a low that is small beside x.
pub(super) fn of_1_plus<'c>(
    x: FormulaValue<'c>,
    low: Option<FormulaValue<'c>>,
    more: Option<FormulaValue<'c>>,
) -> FormulaValue<'c> {
    let c = x.code();
    let sum = x + 1.0;
    // If x is larger, the rounding of 1 + x does not matter, and 2^-e may be subnormal.
    let large = (1u64 << 60) as f64;
    let with = |e: FormulaValue<'c>| more.map_or(e.to_float(), |more| e.to_float() + more);
    let general = || {
        let (e, m) = take_apart(sum);
        let (f, f_low) = less_1(x, low, e);
        let is_large = x.above(large);
        let f = is_large.choose(m - 1.0, f);
        let f_low = is_large.choose(c.float(0.0), f_low);
        specials(sum, natural(with(e), f, Some(f_low)))
    };
    c.shortened(general, || {
        let (e, _) = parts(sum.bits());
        let (f, f_low) = less_1(x, low, e);
        (is_odd(sum, large), natural(with(e), f, Some(f_low)))
    })
}

/// `2^-e (1 + x + low) - 1` without the rounding of 1 + x, in two parts.
fn less_1<'c>(
    x: FormulaValue<'c>,
    low: Option<FormulaValue<'c>>,
    e: FormulaValue<'c>,
) -> (FormulaValue<'c>, FormulaValue<'c>) {
    let scale = power_of_2_int(-e);
    let (scaled, offset) = (x * scale, scale - 1.0);
    let f = scaled + offset;
    let lost = (offset - f) + scaled;
    (f, low.map_or(lost, |low| lost + low * scale))
}

pub(super) fn log2<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    of_normal(args[0], |(e, m)| {
        let (high, low) = in_two_parts(m - 1.0);
        let [factor, factor_low] = c.pick(LOG2_E[0], LOG2_E[1]);
        let small = (low + high) * factor_low + low * factor;
        sum(e.to_float(), high * factor, small)
    })
}

pub(super) fn log10<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    of_normal(args[0], |(e, m)| {
        let e = e.to_float();
        let (high, low) = in_two_parts(m - 1.0);
        let [two, two_low] = c.pick(LOG10_2[0], LOG10_2[1]);
        let [factor, factor_low] = c.pick(LOG10_E[0], LOG10_E[1]);
        let small = e * two_low + (low + high) * factor_low + low * factor;
        sum(e * two, high * factor, small)
    })
}

/// The logarithm of x, computed from the exponent and mantissa of a normal number.
fn of_normal<'c>(
    x: FormulaValue<'c>,
    logarithm: impl Fn((FormulaValue<'c>, FormulaValue<'c>)) -> FormulaValue<'c>,
) -> FormulaValue<'c> {
    let general = || specials(x, logarithm(take_apart(x)));
    x.code().shortened(general, || (is_odd(x, f64::INFINITY), logarithm(parts(x.bits()))))
}

/// Whether a float is not a positive, normal number below a limit.
pub(super) fn is_odd(x: FormulaValue<'_>, limit: f64) -> FormulaValue<'_> {
    let c = x.code();
    let least = c.word(1 << c.mantissa());
    (x.bits() - least).at_least(c.bits_of(limit) - least)
}

/// The integer e and the m of `x = 2^e m`, with `sqrt(1/2) <= m < sqrt(2)`.
pub(super) fn take_apart(x: FormulaValue<'_>) -> (FormulaValue<'_>, FormulaValue<'_>) {
    let c = x.code();
    let bits = x.bits();
    // The bits of a subnormal number, as an integer converted to float, are a normal number.
    let subnormal = bits.below(1i64 << c.mantissa());
    let (e, m) = parts(subnormal.choose(bits.to_float().bits(), bits));
    (subnormal.choose(e - c.pick(149, 1074), e), m)
}

/// `take_apart` of a normal number's bits.
pub(super) fn parts(bits: FormulaValue<'_>) -> (FormulaValue<'_>, FormulaValue<'_>) {
    let c = bits.code();
    let root = c.pick(0x3f35_04f3, 0x3fe6_a09e_667f_3bcd);
    // A difference of bits counts floats; its upper bits are e.
    let steps = bits.signed() - root;
    let e = steps.shr(c.mantissa());
    let m = (steps & ((1 << c.mantissa()) - 1)) + root;
    (e, m.float_of_bits())
}

/// `e ln 2 + log(1 + f + low)`.
fn natural<'c>(
    e: FormulaValue<'c>,
    f: FormulaValue<'c>,
    low: Option<FormulaValue<'c>>,
) -> FormulaValue<'c> {
    let c = f.code();
    let [ln_2, ln_2_low] = c.pick(LN_2[0], LN_2[1]);
    let half_square = f * f * 0.5;
    let small = low.map_or(e * ln_2_low, |low| e * ln_2_low + low);
    e * ln_2 + (f - (half_square - (tail(f, half_square) + small)))
}

/// log(1 + f) as a sum, the first part with half the bits.
fn in_two_parts(f: FormulaValue<'_>) -> (FormulaValue<'_>, FormulaValue<'_>) {
    let half_square = f * f * 0.5;
    let high = (f - half_square).upper_half();
    (high, ((f - high) - half_square) + tail(f, half_square))
}

/// log(1 + f) - f + f²/2.
fn tail<'c>(f: FormulaValue<'c>, half_square: FormulaValue<'c>) -> FormulaValue<'c> {
    if f.code().is_double() {
        let s = f / (f + 2.0);
        let z = s * s;
        s * (half_square + z * z.polynomial(DOUBLE) * 2.0)
    } else {
        f * f * f * f.polynomial(SINGLE)
    }
}

/// The sum of three numbers. The first is 0 or larger than the second; the third is small.
fn sum<'c>(
    large: FormulaValue<'c>,
    small: FormulaValue<'c>,
    smaller: FormulaValue<'c>,
) -> FormulaValue<'c> {
    let high = large + small;
    high + (((large - high) + small) + smaller)
}

/// The logarithm of any x: adds the results for numbers that are not positive.
fn specials<'c>(x: FormulaValue<'c>, logarithm: FormulaValue<'c>) -> FormulaValue<'c> {
    let c = x.code();
    // Infinity and NaN are their own logarithms.
    let result = x.below(f64::INFINITY).choose(logarithm, x);
    let result = x.sign_bit().choose(c.float(f64::NAN), result);
    // The bits are compared: a device may flush a subnormal number to zero.
    x.abs().bits().equals(0i64).choose(c.float(f64::NEG_INFINITY), result)
}
