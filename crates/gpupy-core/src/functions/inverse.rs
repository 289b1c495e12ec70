//! Arc sine, arc cosine and arc tangents.
//!
//! The sine's is an odd minimax polynomial up to 1/2; beyond, `asin x = π/2 - 2 asin sqrt((1 - x)/2)`.
//! The tangent's is taken of the lesser of two magnitudes over the greater; for float64 that is
//! brought below tan(π/8) by `atan t = π/4 + atan((t - 1) / (t + 1))`; then an odd minimax
//! polynomial. The last sum, with a multiple of π/2, is made as if with twice the bits.
//!
//! Not here: sine, cosine and tangent (`trig.rs`).

use super::formula_builder::{FormulaBuilder, FormulaValue};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// (asin(t) - t) / t³ for |t| up to 1/2, in powers of t².
const SINE: [&[f64]; 2] = [
    &[0.166667521, 0.0749529749, 0.0454703756, 0.024179507, 0.0421663299],
    &[
        0.1666666666666676,
        0.07499999999970815,
        0.04464285717459968,
        0.03038194270831461,
        0.022372214973756625,
        0.017351612247177083,
        0.013980817926975453,
        0.011398932206563463,
        0.01078014906258372,
        0.0037067693095121645,
        0.021706644430775086,
        -0.020998029178839542,
        0.03262803933760605,
    ],
];
/// (atan(t) - t) / t³ for |t| up to 1 (float32) or tan(π/8) (float64), in powers of t².
const TANGENT: [&[f64]; 2] = [
    &[
        -0.333332986,
        0.199985474,
        -0.142642394,
        0.109521769,
        -0.084034279,
        0.0579572842,
        -0.0311776027,
        0.0109145055,
        -0.00179360539,
    ],
    &[
        -0.333333333333332,
        0.19999999999953166,
        -0.14285714280157913,
        0.11111110781706812,
        -0.0909089771194238,
        0.07692059473475661,
        -0.0666309635113032,
        0.0584783795358821,
        -0.050390918992258386,
        0.03805957601655817,
        -0.017902167631458306,
    ],
];

/// π minus the nearest float, as a fraction of π.
const PI_LOST: [f64; 2] = [-2.782753515285623e-8, 3.8981718325193755e-17];

pub(super) fn asin<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0].abs();
    let is_small = x.below(0.5);
    let (root, rest) = of_root(is_small, x);
    let base = is_small.choose(c.float(0.0), c.float(FRAC_PI_2));
    from_axis(base, is_small.not(), root, rest).copysign(args[0])
}

pub(super) fn acos<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let is_small = args[0].abs().below(0.5);
    let is_negative = args[0].below(0.0);
    let (root, rest) = of_root(is_small, args[0].abs());
    let base = is_negative.choose(c.float(PI), c.float(0.0));
    let base = is_small.choose(c.float(FRAC_PI_2), base);
    from_axis(base, is_small ^ is_negative, root, rest)
}

/// The arc sine, in two parts, of x if x is small; otherwise twice the arc sine of sqrt((1 - x) / 2).
fn of_root<'c>(
    is_small: FormulaValue<'c>,
    x: FormulaValue<'c>,
) -> (FormulaValue<'c>, FormulaValue<'c>) {
    let c = x.code();
    let half = (1.0 - x) * 0.5;
    let z = is_small.choose(x * x, half);
    let root = half.sqrt();
    let t = is_small.choose(x, root + root);
    (t, t * z * z.polynomial(c.pick(SINE[0], SINE[1])))
}

pub(super) fn atan<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0].abs();
    let is_steep = x.above(1.0);
    let one = c.float(1.0);
    let (angle, low) = octant(is_steep.choose(one, x), is_steep.choose(x, one));
    let base = is_steep.choose(c.float(FRAC_PI_2), c.float(0.0));
    from_axis(base, is_steep, angle, low).copysign(args[0])
}

pub(super) fn atan2<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let (y, x) = (args[0].abs(), args[1].abs());
    let is_steep = y.above(x);
    let (angle, low) = octant(is_steep.choose(x, y), is_steep.choose(y, x));
    let is_behind = args[1].sign_bit();
    let flat = is_behind.choose(c.float(PI), c.float(0.0));
    let base = is_steep.choose(c.float(FRAC_PI_2), flat);
    from_axis(base, is_steep ^ is_behind, angle, low).copysign(args[0])
}

/// The arc tangent of a quotient not above 1, in two parts.
fn octant<'c>(
    lesser: FormulaValue<'c>,
    greater: FormulaValue<'c>,
) -> (FormulaValue<'c>, FormulaValue<'c>) {
    let c = lesser.code();
    // The quotient of two infinities counts as 1, and that of two zeros as 0: also of subnormal numbers that a device
    // takes for zeros here and keeps elsewhere.
    let alike = lesser.equals(0.0).choose(c.float(0.0), c.float(1.0));
    let t = lesser.equals(greater).choose(alike, lesser / greater);
    if !c.is_double() {
        let z = t * t;
        return (t, t * z * z.polynomial(TANGENT[0]));
    }
    let is_small = t.below(0.41421356237309503);
    let t = is_small.choose(t, (t - 1.0) / (t + 1.0));
    let z = t * t;
    let rest = t * z * z.polynomial(TANGENT[1]);
    let base = is_small.choose(c.float(0.0), c.float(FRAC_PI_4));
    in_two_parts(base, t, rest)
}

/// `base ± (angle + low)`.
fn from_axis<'c>(
    base: FormulaValue<'c>,
    is_negative: FormulaValue<'c>,
    angle: FormulaValue<'c>,
    low: FormulaValue<'c>,
) -> FormulaValue<'c> {
    let turn = |value: FormulaValue<'c>| is_negative.choose(-value, value);
    let (sum, lost) = in_two_parts(base, turn(angle), turn(low));
    sum + lost
}

/// The sum of a base, which is 0 or π over a power of 2, of a number not above it, and of a small
/// one.
fn in_two_parts<'c>(
    base: FormulaValue<'c>,
    angle: FormulaValue<'c>,
    low: FormulaValue<'c>,
) -> (FormulaValue<'c>, FormulaValue<'c>) {
    let c = base.code();
    let sum = base + angle;
    (sum, ((base - sum) + angle) + (base * c.pick(PI_LOST[0], PI_LOST[1]) + low))
}
