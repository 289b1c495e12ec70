//! Hyperbolic functions.
//!
//! Sine and cosine from `|x| = n ln 2 + r` (see `exp.rs`) by the addition theorems: with the odd and
//! even minimax polynomials `s = sinh r` and `c = cosh r`, `sinh x = a c + b s` and
//! `cosh x = b c + a s` for `a, b = (2^n ∓ 2^-n) / 2`, without a division and without cancellation.
//! The tangent is an odd polynomial up to 0.625 and `1 - 2 / (e^2x + 1)` beyond.
//!
//! Not here: the reduction (`exp.rs`).

use super::exp::{exp_reduced, power_of_2, reduce};
use super::formula_builder::{FormulaBuilder, FormulaValue};

/// (sinh(r) - r) / r³ for |r| up to ln 2 / 2, in powers of r².
const SINE: [&[f64]; 2] = [
    &[0.166666672, 0.00833328906, 0.000199049959],
    &[
        0.16666666666666666,
        0.008333333333333337,
        0.0001984126984125315,
        2.7557319265308704e-6,
        2.505205668204996e-8,
        1.6090855577134906e-10,
    ],
];
/// (cosh(r) - 1 - r²/2) / r⁴, as `SINE`.
const COSINE: [&[f64]; 2] = [
    &[0.0416664593, 0.00139354856],
    &[
        0.041666666666666685,
        0.0013888888888873346,
        2.4801587349054896e-5,
        2.755725195953548e-7,
        2.0921722993632522e-9,
    ],
];
/// (tanh(x) - x) / x³ for |x| up to 0.625, in powers of x².
const TANGENT: [&[f64]; 2] = [
    &[-0.333332807, 0.133314431, -0.0537397191, 0.0206390917, -0.00570498407],
    &[
        -0.33333333333332854,
        0.13333333333262096,
        -0.05396825393126845,
        0.021869487576096854,
        -0.008863221002501665,
        0.0035919891716184463,
        -0.001454958861368935,
        0.0005863164705565366,
        -0.00022856404331485466,
        7.714415008441597e-5,
        -1.6072453210540404e-5,
    ],
];

pub(super) fn sinh<'c>(_: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0];
    let ExpParts { a, b, sine, cosine_less_1 } = parts(x.abs());
    let result = a + (a * cosine_less_1 + b * sine);
    // Doubling loses bits of subnormal numbers, which are their own sines.
    x.abs().below(1e-20).choose(x, (result * 2.0).copysign(x))
}

pub(super) fn cosh<'c>(_: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let ExpParts { a, b, sine, cosine_less_1 } = parts(args[0].abs());
    (b + (b * cosine_less_1 + a * sine)) * 2.0
}

pub(super) fn tanh<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0].abs();
    let z = x * x;
    let small = x + x * z * z.polynomial(c.pick(TANGENT[0], TANGENT[1]));
    // From there on it is 1.
    let (_, word, r) = reduce((x + x).min(c.pick(20.0, 44.0)));
    let exp = exp_reduced(r) * word.power_of_2(1.0);
    let large = 1.0 - 2.0 / (exp + 1.0);
    x.below(0.625).choose(small, large).copysign(args[0])
}

struct ExpParts<'c> {
    /// (2^n - 2^-n) / 4.
    a: FormulaValue<'c>,
    /// (2^n + 2^-n) / 4.
    b: FormulaValue<'c>,
    /// sinh r.
    sine: FormulaValue<'c>,
    /// cosh r - 1.
    cosine_less_1: FormulaValue<'c>,
}

fn parts(x: FormulaValue<'_>) -> ExpParts<'_> {
    let c = x.code();
    // Beyond it all results are infinite; NaN stays.
    let (n, word, r) = reduce(x.min(c.pick(89.5, 710.6)));
    let z = r * r;
    let sine = r + r * z * z.polynomial(c.pick(SINE[0], SINE[1]));
    let cosine_less_1 = z * 0.5 + z * z * z.polynomial(c.pick(COSINE[0], COSINE[1]));
    // Quarters, since the highest half is out of range; a small one is too small to matter.
    let up = word.power_of_2(0.25);
    let down = power_of_2(-2.0 - n.min(c.pick(100.0, 1000.0)));
    ExpParts { a: up - down, b: up + down, sine, cosine_less_1 }
}
