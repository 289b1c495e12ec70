//! Powers, and the root of a sum of squares.
//!
//! `x^y = 2^(y log2 |x|)`, where the logarithm and the product need more bits than a float has: both
//! are sums of two floats, made with exact products of halves (Dekker). With `|x| = 2^e m` and
//! `s = (m - 1) / (m + 1)` the logarithm is `e + 2/ln 2 (s + s³/3 + …)`.
//!
//! Not here: squares and roots, which NumPy's operator takes apart (the front end's).

use super::code::{Code, Val};
use super::exp::{exp2_reduced, times_power_of_2};
use super::log::take_apart;

/// (atanh(s) - s) / s³ for |s| up to (sqrt(2) - 1) / (sqrt(2) + 1), in powers of s².
const ATANH: &[f64] = &[0.333333313, 0.200001687, 0.142686218, 0.117917717];

/// 2 / ln 2 in two parts, the first with half the bits.
const TWO_LOG2_E: [f64; 2] = [2.884765625, 0.0006244567921365169];

pub(super) fn pow<'c>(c: &'c Code, args: &[Val<'c>]) -> Val<'c> {
    let (x, y) = (args[0], args[1]);
    let magnitude = x.abs();
    // Any power but 1's is out of range by then.
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
fn power_of_positive<'c>(x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let c = x.code();
    let (log, log_low) = log2_in_two_parts(x);
    let (y_high, log_high) = (y.upper_half(), log.upper_half());
    let high = y_high * log_high;
    let low = y * ((log - log_high) + log_low) + (y - y_high) * log_high;
    // Results beyond these are 0 or infinity.
    let (least, most) = c.pick((-152.0, 129.0), (-1078.0, 1025.0));
    let n = (high + low).max(least).min(most).rint();
    let r = ((high - n) + low).max(-1.0).min(1.0);
    times_power_of_2(exp2_reduced(r), n)
}

/// The logarithm to base 2 of a positive, finite number, as a sum of two floats.
fn log2_in_two_parts(x: Val<'_>) -> (Val<'_>, Val<'_>) {
    let (e, m) = take_apart(x);
    let e = e.to_float();
    let numerator = m - 1.0;
    let denominator = m + 1.0;
    let inverse = 1.0 / denominator;
    let s_high = (numerator * inverse).upper_half();
    let denominator_high = denominator.upper_half();
    let denominator_low = m - (denominator_high - 1.0);
    let left = (numerator - s_high * denominator_high) - s_high * denominator_low;
    let s_low = left * inverse;
    let s = s_high + s_low;
    // The square's leading half is exact, and the rest of the series has few roundings.
    let z = s_high * s_high + s_low * (s_high + s);
    let series = z * z.polynomial(ATANH);
    let [factor, factor_low] = TWO_LOG2_E;
    let rest = (s_low + s_low * series) + s_high * series;
    let low = rest * (factor + factor_low) + s_high * factor_low;
    let (sum, lost) = two_sum(e, s_high * factor);
    two_sum(sum, lost + low)
}

/// The sum of two numbers, the first of them 0 or the larger, and what its rounding lost.
fn two_sum<'c>(large: Val<'c>, small: Val<'c>) -> (Val<'c>, Val<'c>) {
    let sum = large + small;
    (sum, (large - sum) + small)
}

pub(super) fn hypot<'c>(c: &'c Code, args: &[Val<'c>]) -> Val<'c> {
    let (a, b) = (args[0].abs(), args[1].abs());
    let is_greater = a.above(b);
    let (large, small) = (is_greater.choose(a, b), is_greater.choose(b, a));
    // Scaled so that squares stay in range, and what a device may flush of them does not count.
    let (huge, tiny) = c.pick((2f64.powi(60), 2f64.powi(-48)), (2f64.powi(500), 2f64.powi(-480)));
    let (up, down) = c.pick((2f64.powi(80), 2f64.powi(-80)), (2f64.powi(600), 2f64.powi(-600)));
    let one = c.float(1.0);
    let is_huge = large.above(huge);
    let is_tiny = large.below(tiny);
    let scale = is_huge.choose(c.float(down), is_tiny.choose(c.float(up), one));
    let back = is_huge.choose(c.float(up), is_tiny.choose(c.float(down), one));
    let (large, small) = (large * scale, small * scale);
    // The larger square's leading half is exact.
    let high = large.upper_half();
    let low = large - high;
    let sum = high * high + (low * (large + high) + small * small);
    let result = sum.sqrt() * back;
    let is_infinite = a.equals(f64::INFINITY) | b.equals(f64::INFINITY);
    is_infinite.choose(c.float(f64::INFINITY), result)
}
