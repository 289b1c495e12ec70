//! Sine, cosine and tangent.
//!
//! `x = n π/2 + r` with an integer n and `|r| <= π/4`. Up to some thousand turns, π/2 is taken from
//! x in parts whose products with n are exact (Cody and Waite); beyond, the fraction of `x 2/π` is
//! found by integer arithmetic with as many bits of 2/π as the exponent asks for (Payne and Hanek).
//! Then minimax polynomials of r² for sine and cosine; n's last two bits choose one and its sign.
//!
//! Not here: the inverse functions (`inverse.rs`).

use super::formula_builder::{FormulaBuilder, FormulaOperand, FormulaValue};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// (sin(r) - r) / r³ in powers of r².
const SINE: [&[f64]; 2] = [
    &[-0.166666538, 0.00833215099, -0.000195139815],
    &[
        -0.1666666666666663,
        0.008333333333321893,
        -0.00019841269829400953,
        2.7557313553614985e-6,
        -2.5050736813826833e-8,
        1.5895577259028064e-10,
    ],
];
/// (cos(r) - 1 + r²/2) / r⁴ in powers of r².
const COSINE: [&[f64]; 2] = [
    &[0.0416666456, -0.00138873549, 2.44370076e-5],
    &[
        0.041666666666666595,
        -0.0013888888888873843,
        2.4801587289298727e-5,
        -2.7557314297070366e-7,
        2.0875715474577577e-9,
        -1.1359230064595122e-11,
    ],
];

pub(super) fn sin<'c>(_: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let (quadrant, r, low) = reduce(args[0].abs());
    let (sine, cosine) = on_quadrant(r, low);
    let result = is_odd(quadrant).choose(cosine, sine);
    with_sign(result, second_bit_as_sign(quadrant) ^ args[0].bits())
}

pub(super) fn cos<'c>(_: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let (quadrant, r, low) = reduce(args[0].abs());
    let (sine, cosine) = on_quadrant(r, low);
    let result = is_odd(quadrant).choose(sine, cosine);
    with_sign(result, second_bit_as_sign(quadrant + 1i64))
}

pub(super) fn tan<'c>(c: &'c FormulaBuilder, args: &[FormulaValue<'c>]) -> FormulaValue<'c> {
    let (quadrant, r, low) = reduce(args[0].abs());
    let (sine, cosine) = on_quadrant(r, low);
    let odd = is_odd(quadrant);
    let result = odd.choose(cosine, sine) / odd.choose(sine, cosine);
    let sign = quadrant * (1i64 << (c.mantissa() + c.pick(8, 11)));
    with_sign(result, sign ^ args[0].bits())
}

fn is_odd(quadrant: FormulaValue<'_>) -> FormulaValue<'_> {
    (quadrant & 1i64).differs(0i64)
}

/// The second bit of a word, moved to the position of a float's sign.
fn second_bit_as_sign(word: FormulaValue<'_>) -> FormulaValue<'_> {
    let c = word.code();
    word * (1i64 << (c.mantissa() + c.pick(7, 10)))
}

/// A value, negated where the highest bit of `word` is set.
fn with_sign<'c>(value: FormulaValue<'c>, word: FormulaValue<'c>) -> FormulaValue<'c> {
    let highest = value.code().pick(1 << 31, i64::MIN);
    (value.bits() ^ (word & highest)).float_of_bits()
}

/// Sine and cosine of `r + low`.
fn on_quadrant<'c>(
    r: FormulaValue<'c>,
    low: FormulaValue<'c>,
) -> (FormulaValue<'c>, FormulaValue<'c>) {
    let c = r.code();
    let z = r * r;
    let sine = r + (r * z * z.polynomial(c.pick(SINE[0], SINE[1])) + low);
    let half = z * 0.5;
    let one = 1.0 - half;
    // The rounding error of 1 - z/2 is added to the small summands.
    let lost = (1.0 - one) - half;
    let cosine = one + (lost + z * z * z.polynomial(c.pick(COSINE[0], COSINE[1])) - r * low);
    (sine, cosine)
}

/// π/2 in parts of 11 (float32) or 33 (float64) bits, and a last one.
const HALF_PI: [[f64; 4]; 2] = [
    [1.5703125, 0.0004837512969970703, 7.549533620476723e-8, 2.5633440682570896e-12],
    [1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32],
];
/// π/2 less the float nearest to it.
const HALF_PI_LOW: [f64; 2] = [-4.371139000186241e-8, 6.123233995736766e-17];

/// The bits of 2/π that follow the binary point.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
];

/// The quadrant (its last two bits count) and the remainder in two parts, for a non-negative float.
fn reduce(x: FormulaValue<'_>) -> (FormulaValue<'_>, FormulaValue<'_>, FormulaValue<'_>) {
    let c = x.code();
    // The bits of the number up to which products with the parts of π/2 are exact: 2^13 or 2^20.
    let far = c.pick(0x4600_0000, 0x4130_0000_0000_0000);
    let infinity = c.pick(0x7f80_0000, 0x7ff0_0000_0000_0000);
    let parts = c.pick(HALF_PI[0], HALF_PI[1]);
    let (n, word) = (x * FRAC_2_PI).nearest();
    let near = x - n * parts[0] - n * parts[1];
    let rest = n * parts[2];
    let r = near - rest;
    let low = ((near - r) - rest) - n * parts[3];
    let is_far = (x.bits() - far).below(infinity - far);
    let [n, r, low] = is_far.seldom(|| reduce_far(x), [word, r, low]);
    (n, r, low)
}

/// `reduce` for large numbers. Words have as many bits as the float.
fn reduce_far(x: FormulaValue<'_>) -> [FormulaValue<'_>; 3] {
    let c = x.code();
    let width = c.pick(32, 64);
    // x is an integer times a power of 2. Bits of 2/π that contribute multiples of 4 are omitted: the first of the
    // three words begins with the bit that contributes 2.
    let leading = 1i64 << c.mantissa();
    let integer = (x.bits() & (leading - 1)) | leading;
    let first = x.bits().shr(c.mantissa()) - (c.bias() + c.mantissa() + 2 - width);
    let words = words_from(first.shr(c.pick(5, 6)));
    let shift = first & (width - 1);
    let complement = width.beside(shift) - shift;
    let window = |t: usize| words[t].shl(shift) | words[t + 1].shr(complement);
    // The product modulo 4, in two words: the first bit counts 2.
    let product = integer * window(1);
    let low = product + high_word(integer, window(2));
    let carry = low.below(product).to_word();
    let high = integer * window(0) + high_word(integer, window(1)) + carry;
    let unit = width - 2;
    let n = (high + (1i64 << (unit - 1))).shr(unit);
    let rest = (high - n * (1i64 << unit)).signed();
    // The magnitude, up to one unit of the last bit, as a sum of two floats.
    let negative = rest.shr(width - 1);
    let high = (rest ^ negative).unsigned();
    let low = low ^ negative.unsigned();
    let cut = c.pick(5, 8);
    let upper = high.shr(cut).to_float() * 2f64.powi((cut - unit) as i32);
    let lower = ((high & ((1i64 << cut) - 1)) * (1i64 << (width - cut))) | low.shr(cut);
    let lower = lower.to_float() * 2f64.powi((cut - width - unit) as i32);
    let sum = upper + lower;
    let lost = (upper - sum) + lower;
    let sign = (negative | 1).to_float();
    let r_low = lost * FRAC_PI_2 + sum * c.pick(HALF_PI_LOW[0], HALF_PI_LOW[1]);
    [n, sum * FRAC_PI_2 * sign, r_low * sign]
}

/// Four words of 2/π, which has a word of zeros before the point, from word `number` on.
fn words_from<'c>(number: FormulaValue<'c>) -> [FormulaValue<'c>; 4] {
    let c = number.code();
    let mut words = vec![c.word(0)];
    if c.is_double() {
        words.extend(TWO_OVER_PI.map(|word| c.word(word)));
    } else {
        let halves = TWO_OVER_PI.iter().flat_map(|word| [word >> 32, word & 0xffff_ffff]);
        words.extend(halves.take(7).map(|word| c.word(word)));
    }
    // The list moves up by 16, 8, 4, 2 and 1, each if the number has this bit.
    let mut step = c.pick(4, 16);
    while step > 0 {
        let moves = (number & step as i64).differs(0i64);
        let moved = |t: usize| match words.get(t + step) {
            Some(there) => moves.choose(*there, words[t]),
            None => words[t],
        };
        words = (0..words.len().min(3 + step)).map(moved).collect();
        step /= 2;
    }
    std::array::from_fn(|t| words[t])
}

/// The upper word of the product of a significand and a word.
fn high_word<'c>(narrow: FormulaValue<'c>, wide: FormulaValue<'c>) -> FormulaValue<'c> {
    let half = narrow.code().pick(16, 32);
    let mask = (1i64 << half) - 1;
    let (a, b) = (narrow.shr(half), narrow & mask);
    let (c, d) = (wide.shr(half), wide & mask);
    let middle = a * d + (b * d).shr(half);
    let carried = b * c + (middle & mask);
    a * c + middle.shr(half) + carried.shr(half)
}
