//! The inverse hyperbolic functions.
//!
//! All are logarithms of 1 plus a sum. The sum has a second part, its rounding error:
//! `asinh x = log(1 + x + x²/(1 + sqrt(1 + x²)))`, `acosh x = log(1 + u + sqrt(u² + 2u))` for
//! `u = x - 1`, and `2 atanh x = log(1 + 2x + 2x²/(1 - x))`. Where squares would leave the range,
//! the first two are `log x + ln 2`.
//!
//! Not here: the logarithm (`log.rs`).

use super::formula_builder::{FormulaBuilder, FormulaValue};
use super::log::of_1_plus;

pub(super) fn asinh<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0].abs();
    let square = x * x;
    let rest = square / ((square + 1.0).sqrt() + 1.0);
    let is_large = x.above(large(c));
    let (zero, one) = (c.float(0.0), c.float(1.0));
    let result = of_sum(x, is_large.choose(zero, rest), Some(is_large.choose(one, zero)));
    result.copysign(args[0])
}

pub(super) fn acosh<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0];
    let less = x - 1.0;
    let rest = (less * less + (less + less)).sqrt();
    let is_large = x.above(large(c));
    let (zero, one) = (c.float(0.0), c.float(1.0));
    let result = of_sum(less, is_large.choose(zero, rest), Some(is_large.choose(one, zero)));
    x.below(1.0).choose(c.float(f64::NAN), result)
}

pub(super) fn atanh<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let x = args[0].abs();
    let double = x + x;
    let rest = double * x / (1.0 - x);
    let result = (of_sum(double, rest, None) * 0.5).copysign(args[0]);
    x.above(1.0).choose(c.float(f64::NAN), result)
}

/// A number with its square in range that absorbs 1 in a sum.
fn large(c: &FormulaBuilder) -> f64 {
    c.pick(2f64.powi(40), 2f64.powi(80))
}

/// `log(1 + a + b) + more ln 2`.
fn of_sum<'c>(
    a: FormulaValue<'c>,
    b: FormulaValue<'c>,
    more: Option<FormulaValue<'c>>,
) -> FormulaValue<'c> {
    let sum = a + b;
    // The rounding error of the sum, for summands in any order (Knuth).
    let added = sum - a;
    let lost = (a - (sum - added)) + (b - added);
    of_1_plus(sum, Some(lost), more)
}
