//! Powers, and the root of a sum of squares.
//!
//! `x^y = 2^(y log2 |x|)`, where the logarithm and the product need more bits than a float has: both
//! are sums of two floats, made with exact products of halves (Dekker). With `|x| = 2^e m`, one of five
//! centres b near m and `s = (m - b) / (m + b)`, the logarithm is `e + log2 b + 2/ln 2 (s + s³/3 + …)`.
//!
//! Not here: squares and square roots, which NumPy's operator treats separately (the front end).

use super::exp::{exp2_reduced, times_power_of_2};
use super::formula_builder::{FormulaBuilder, FormulaValue};
use super::log::{is_odd, parts, take_apart};

/// (atanh(s) - s) / s³ for |s| up to 0.0398, in powers of s².
const ATANH: [&[f64]; 2] = [
    &[0.333333164, 0.200315505],
    &[
        0.33333333333333337,
        0.19999999999982998,
        0.14285714335111166,
        0.11111048495566164,
        0.09126922766668782,
    ],
];

/// 2 / ln 2 in two parts, the first with half the bits.
const TWO_LOG2_E: [[f64; 2]; 2] =
    [[2.884765625, 0.0006244567779268147], [2.885390043258667, 3.851925982253235e-8]];

/// A number near m with a known logarithm.
struct Centre {
    at: f64,
    /// The least m that uses this centre.
    from: f64,
    /// Its logarithm to base 2, short enough that its sum with an exponent is exact, and the remainder.
    log: [f64; 2],
}

const fn centre(at: f64, from: f64, log: [f64; 2]) -> Centre {
    Centre { at, from, log }
}

const CENTRES: [[Centre; 5]; 2] = [
    [
        centre(0.765625, 0.0, [-0.38525390625, -3.6249634791785114e-5]),
        centre(0.875, 0.81848755, [-0.192626953125, -1.8124817395892557e-5]),
        centre(1.0, 0.93541435, [0.0, 0.0]),
        centre(1.140625, 1.0680005, [0.18994140625, -0.00011684736998277013]),
        centre(1.3125, 1.2235482, [0.392333984375, -1.6561596239711103e-5]),
    ],
    [
        centre(0.765625, 0.0, [-0.3852901558857411, 9.493295003326775e-13]),
        centre(0.875, 0.81848755, [-0.19264507782645524, -1.1594065707676847e-10]),
        centre(1.0, 0.93541435, [0.0, 0.0]),
        centre(1.140625, 1.0680005, [0.18982455879449844, 8.551878626050154e-11]),
        centre(1.3125, 1.2235482, [0.3923174226656556, 1.1310467595015162e-10]),
    ],
];

pub(super) fn pow<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let (x, y) = (args[0], args[1]);
    c.shortened(
        || pow_of_all(x, y),
        || {
            let (high, low) = exponent(parts(x.bits()), y);
            let sum = high + low;
            let (n, word) = sum.nearest();
            let result = exp2_reduced((high - n) + low).scaled(word);
            // The bits are compared, so that NaN takes the general way.
            let normal = c.pick(125.0, 1021.0);
            let is_far = sum.abs().bits().above(c.bits_of(normal));
            (is_odd(x, f64::INFINITY) | is_far, result)
        },
    )
}

/// x^y for any two numbers.
fn pow_of_all<'c>(x: FormulaValue<'c>, y: FormulaValue<'c>) -> FormulaValue<'c> {
    let c = x.code();
    let magnitude = x.abs();
    // Beyond this exponent, only powers of 1 are in range.
    let limit = c.pick(2f64.powi(40), 2f64.powi(80));
    let result = power_of_positive(magnitude, y.max(-limit).min(limit));

    let (zero, infinity) = (c.float(0.0), c.float(f64::INFINITY));
    let is_zero = magnitude.equals(0.0);
    let is_infinite = magnitude.equals(f64::INFINITY);
    let extreme = y.below(0.0).equals(is_zero).choose(infinity, zero);
    let result = (is_zero | is_infinite).choose(extreme, result);

    let half = y * 0.5;
    let is_whole = y.floor().equals(y);
    let is_odd = is_whole & half.floor().differs(half);
    let result = (is_odd & x.sign_bit()).choose(-result, result);

    let is_root = x.below(0.0) & (is_whole | is_infinite).not();
    let is_nan = is_root | x.is_nan() | y.is_nan();
    let result = is_nan.choose(c.float(f64::NAN), result);
    (x.equals(1.0) | y.equals(0.0)).choose(c.float(1.0), result)
}

/// x^y for a positive, finite x and a finite y.
fn power_of_positive<'c>(x: FormulaValue<'c>, y: FormulaValue<'c>) -> FormulaValue<'c> {
    let (high, low) = exponent(take_apart(x), y);
    // Results beyond these are 0 or infinity.
    let (least, most) = x.code().pick((-152.0, 129.0), (-1078.0, 1025.0));
    let n = (high + low).max(least).min(most).rint();
    let r = ((high - n) + low).max(-1.0).min(1.0);
    times_power_of_2(exp2_reduced(r), n)
}

/// `y log2 x` as a sum of two floats, for an x of these parts and a finite y.
fn exponent<'c>(
    x: (FormulaValue<'c>, FormulaValue<'c>),
    y: FormulaValue<'c>,
) -> (FormulaValue<'c>, FormulaValue<'c>) {
    let (log, log_low) = log2_in_two_parts(x);
    let (y_high, log_high) = (y.upper_half(), log.upper_half());
    let low = y * ((log - log_high) + log_low) + (y - y_high) * log_high;
    (y_high * log_high, low)
}

/// The logarithm to base 2 of `2^e m`, as a sum of two floats.
fn log2_in_two_parts<'c>(
    (e, m): (FormulaValue<'c>, FormulaValue<'c>),
) -> (FormulaValue<'c>, FormulaValue<'c>) {
    let c = m.code();
    let centres = c.pick(&CENTRES[0], &CENTRES[1]);
    let of_centre = |part: fn(&Centre) -> f64| {
        centres.iter().skip(1).fold(c.float(part(&centres[0])), |below, next| {
            m.below(next.from).choose(below, c.float(part(next)))
        })
    };
    let centre = of_centre(|centre| centre.at);
    let centre_log = of_centre(|centre| centre.log[0]);
    let centre_low = of_centre(|centre| centre.log[1]);

    // s = (m - centre) / (m + centre) in two parts. Its numerator is exact, its denominator is not.
    let numerator = m - centre;
    let denominator = m + centre;
    let inverse = 1.0 / denominator;
    let s_high = (numerator * inverse).upper_half();
    let denominator_high = denominator.upper_half();
    let denominator_low = m - (denominator_high - centre);
    let left = (numerator - s_high * denominator_high) - s_high * denominator_low;
    let s_low = left * inverse;
    let s = s_high + s_low;
    let z = s * s;
    let series = z * z.polynomial(c.pick(ATANH[0], ATANH[1]));

    let [factor, factor_low] = c.pick(TWO_LOG2_E[0], TWO_LOG2_E[1]);
    let rest = s_low + s * series;
    let low = rest * (factor + factor_low) + s_high * factor_low + centre_low;
    let (sum, lost) = two_sum(e.to_float() + centre_log, s_high * factor);
    two_sum(sum, lost + low)
}

/// The sum of two numbers, and its rounding error. The first is 0 or the larger.
fn two_sum<'c>(
    large: FormulaValue<'c>,
    small: FormulaValue<'c>,
) -> (FormulaValue<'c>, FormulaValue<'c>) {
    let sum = large + small;
    (sum, (large - sum) + small)
}

pub(super) fn hypot<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let (a, b) = (args[0].abs(), args[1].abs());
    // Beyond these, squares overflow, or underflow to numbers that a device may flush.
    let (huge, tiny) = c.pick((2f64.powi(60), 2f64.powi(-48)), (2f64.powi(500), 2f64.powi(-480)));
    let general = || {
        let is_greater = a.above(b);
        let (large, small) = (is_greater.choose(a, b), is_greater.choose(b, a));
        let (up, down) =
            c.pick((2f64.powi(100), 2f64.powi(-100)), (2f64.powi(600), 2f64.powi(-600)));
        let one = c.float(1.0);
        let (is_huge, is_tiny) = (large.above(huge), large.below(tiny));
        let scale = is_huge.choose(c.float(down), is_tiny.choose(c.float(up), one));
        let back = is_huge.choose(c.float(up), is_tiny.choose(c.float(down), one));
        let result = root_of_squares(large * scale, small * scale) * back;
        let is_infinite = a.equals(f64::INFINITY) | b.equals(f64::INFINITY);
        is_infinite.choose(c.float(f64::INFINITY), result)
    };
    c.shortened(general, || {
        // Words are in the order of the floats, with infinities and NaN above all others.
        let (a, b) = (a.bits(), b.bits());
        let (large, small, least) = (a.max(b), a.min(b), c.bits_of(tiny));
        let is_outside = (large - least).above(c.bits_of(huge) - least);
        let is_odd = is_outside & large.differs(0);
        (is_odd, root_of_squares(large.float_of_bits(), small.float_of_bits()))
    })
}

/// The root of the sum of two squares that stay in range.
fn root_of_squares<'c>(large: FormulaValue<'c>, small: FormulaValue<'c>) -> FormulaValue<'c> {
    // The larger square's leading half is exact.
    let high = large.upper_half();
    let low = large - high;
    (high * high + (low * (large + high) + small * small)).sqrt()
}

/// The cube root: a first estimate from a third of the bits, better ones by Halley's method, and a last step from an
/// estimate with half the bits, which has an exact square.
pub(super) fn cbrt<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let magnitude = args[0].abs();
    // Subnormal numbers have no such bits, and three times the largest numbers overflow.
    let (least, most) =
        c.pick((2f64.powi(-100), 2f64.powi(100)), (2f64.powi(-1000), 2f64.powi(1000)));
    let (is_tiny, is_huge) = (magnitude.below(least), magnitude.above(most));
    let scaled = |value: FormulaValue<'c>, up: i32| {
        let factor = is_huge.choose(c.float(2f64.powi(-up)), c.float(1.0));
        value * is_tiny.choose(c.float(2f64.powi(up)), factor)
    };
    let x = scaled(magnitude, 60);
    let third = (x.bits().to_float() * (1.0 / 3.0)).to_int();
    // Two thirds of the exponent's bias, and a term that balances the error on both sides.
    let offset = c.pick(0x2a51_19f2, 0x2a9f_8477_6f64_2000);
    let mut root = (third + offset).float_of_bits();
    for _ in 0..c.pick(1, 2) {
        let cube = root * root * root;
        root = root * ((x + x + cube) / (cube + cube + x));
    }
    let short = root.upper_half();
    let quotient = x / (short * short);
    let root = short + short * ((quotient - short) / (short + short + quotient));
    let root = scaled(root, -20);
    // A device may take a subnormal number for zero here and keep it elsewhere, so zero is not the number itself.
    let finite = magnitude.differs(0.0).choose(root, c.float(0.0));
    magnitude.below(f64::INFINITY).choose(finite, magnitude + magnitude).copysign(args[0])
}
