//! e^x, 2^x and e^x - 1.
//!
//! Cody and Waite's reduction: `x = n ln 2 + r` with an integer n and `|r| <= ln 2 / 2`, where
//! `n ln 2` is taken from x in two parts, the first of them exact. Then `e^x = 2^n e^r`, with a
//! minimax polynomial for e^r.
//!
//! Not here: the functions made of exponentials (`hyperbolic.rs`), powers of other bases
//! (`power.rs`).

use super::formula_builder::{FormulaBuilder, FormulaValue};

/// 1 / ln 2.
const LOG2_E: f64 = std::f64::consts::LOG2_E;

/// ln 2 in two parts, the first with so few bits that its product with an exponent is exact.
pub(super) const LN_2: [[f64; 2]; 2] =
    [[0.693145751953125, 1.428606765330187e-6], [0.6931471805598903, 5.497923018708371e-14]];

/// (e^r - 1 - r) / r² for |r| up to ln 2 / 2.
const SINGLE: &[f64] = &[0.5, 0.166665435, 0.0416662805, 0.00836658664, 0.00139464997];
const DOUBLE: &[f64] = &[
    0.5,
    0.16666666666666677,
    0.0416666666666667,
    0.008333333333321775,
    0.0013888888888867355,
    0.00019841269885856794,
    2.480158735981418e-5,
    2.755724440711464e-6,
    2.7557243235797895e-7,
    2.5108988607896534e-8,
    2.0924331114970348e-9,
];

/// (2^r - 1) / r for |r| up to 1/2.
const SINGLE_2: &[f64] =
    &[0.693147182, 0.240226507, 0.0555032827, 0.00961800292, 0.00134002196, 0.000154764915];
#[allow(clippy::approx_constant)] // the first one is ln 2 by its nature
const DOUBLE_2: &[f64] = &[
    0.6931471805599453,
    0.24022650695910072,
    0.055504108664821694,
    0.009618129107628494,
    0.0013333558146391106,
    0.000154035303933412,
    1.5252733855762048e-5,
    1.3215486833066057e-6,
    1.0178051360208495e-7,
    7.054888227129737e-9,
    4.4566562109469987e-10,
    2.5741859530395007e-11,
];

pub(super) fn exp<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0];
    let (n, word, r) = reduce(x);
    // Up to these, powers are normal numbers; beyond the second pair they are 0 or infinity.
    let normal = c.pick(87.0, 708.0);
    ends(x, normal, c.pick([-104.0, 89.0], [-746.0, 710.0]), exp_reduced(r), (n, word))
}

pub(super) fn exp2<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0];
    let (n, word) = x.nearest();
    let normal = c.pick(125.0, 1021.0);
    ends(x, normal, c.pick([-151.0, 128.5], [-1076.0, 1024.5]), exp2_reduced(x - n), (n, word))
}

/// `y 2^n`, the power of x: ordinary as long as x is not beyond `normal`, and 0 or infinity beyond the
/// two limits. NaN stays.
fn ends<'c>(
    x: FormulaValue<'c>,
    normal: f64,
    [least, most]: [f64; 2],
    y: FormulaValue<'c>,
    (n, word): (FormulaValue<'c>, FormulaValue<'c>),
) -> FormulaValue<'c> {
    let c = x.code();
    let general = || {
        let result = times_power_of_2(y, n);
        let result = x.above(most).choose(c.float(f64::INFINITY), result);
        x.below(least).choose(c.float(0.0), result)
    };
    // The bits are compared, so that NaN takes the general way.
    c.shortened(general, || (x.abs().bits().above(c.bits_of(normal)), y.scaled(word)))
}

/// `2^n (e^r - 1) + (2^n - 1)`, factored by 2^n. r has a correction, because it is too coarse if the two summands
/// nearly cancel.
pub(super) fn expm1<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0];
    let (least, most) = c.pick((-18.0, 89.0), (-38.0, 710.0));
    let limited = x.max(least).min(most);
    let (n, word) = (limited * LOG2_E).nearest();
    let [high, low] = c.pick(LN_2[0], LN_2[1]);
    let (rough, rest) = (limited - n * high, n * low);
    let r = rough - rest;
    let correction = (rough - r) - rest;
    let small = r + (r * r * polynomial(r) + correction * (r + 1.0));
    // Scaled by half the power of 2, because the highest power is out of range.
    let scale = word.power_of_2(0.5);
    let inverse = power_of_2(-n.min(c.pick(126.0, 1022.0)));
    let result = (small + (1.0 - inverse)) * scale * 2.0;
    // -0.0 and subnormal numbers are unchanged without scaling.
    x.abs().below(0.25).choose(small, result).copysign(x)
}

/// The n, as a float and as a word's low bits, and the r of `x = n ln 2 + r`.
pub(super) fn reduce(
    x: FormulaValue<'_>,
) -> (FormulaValue<'_>, FormulaValue<'_>, FormulaValue<'_>) {
    let (n, word) = (x * LOG2_E).nearest();
    let [high, low] = x.code().pick(LN_2[0], LN_2[1]);
    (n, word, x - n * high - n * low)
}

/// e^r.
pub(super) fn exp_reduced(r: FormulaValue<'_>) -> FormulaValue<'_> {
    r + r * r * polynomial(r) + 1.0
}

/// 2^r for |r| up to 1/2.
pub(super) fn exp2_reduced(r: FormulaValue<'_>) -> FormulaValue<'_> {
    r * r.polynomial(r.code().pick(SINGLE_2, DOUBLE_2)) + 1.0
}

fn polynomial(r: FormulaValue<'_>) -> FormulaValue<'_> {
    r.polynomial(r.code().pick(SINGLE, DOUBLE))
}

/// `y 2^n` in two steps, so that neither power leaves the range of normal numbers, and only the
/// second rounds.
pub(super) fn times_power_of_2<'c>(y: FormulaValue<'c>, n: FormulaValue<'c>) -> FormulaValue<'c> {
    let n = n.to_int();
    let half = n.shr(1);
    y * power_of_2_int(half) * power_of_2_int(n - half)
}

/// 2^n. The result must be a normal number.
pub(super) fn power_of_2(n: FormulaValue<'_>) -> FormulaValue<'_> {
    power_of_2_int(n.to_int())
}

/// 2^n for an integer n. The result must be a normal number.
pub(super) fn power_of_2_int(n: FormulaValue<'_>) -> FormulaValue<'_> {
    let c = n.code();
    ((n + c.bias()) * (1i64 << c.mantissa())).float_of_bits()
}
