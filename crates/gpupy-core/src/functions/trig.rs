//! Sine, cosine and tangent.
//!
//! `x = n π/2 + r` with an integer n and `|r| <= π/4`. Up to some thousand turns, π/2 is taken from
//! x in parts whose products with n are exact (Cody and Waite); beyond, the fraction of `x 2/π` is
//! found by integer arithmetic with as many bits of 2/π as the exponent asks for (Payne and Hanek).
//! Then minimax polynomials of r² for sine and cosine; n's last two bits choose one and its sign.
//!
//! Not here: the inverse functions (`inverse.rs`).

use super::code::{Code, Term, Val};

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

pub(super) fn sin<'c>(_: &'c Code, args: &[Val<'c>]) -> Val<'c> {
    let (quadrant, r, low) = reduce(args[0].abs());
    let (sine, cosine) = on_quadrant(r, low);
    let result = is_odd(quadrant).choose(cosine, sine);
    with_sign(result, second_bit_as_sign(quadrant) ^ args[0].bits())
}

pub(super) fn cos<'c>(_: &'c Code, args: &[Val<'c>]) -> Val<'c> {
    let (quadrant, r, low) = reduce(args[0].abs());
    let (sine, cosine) = on_quadrant(r, low);
    let result = is_odd(quadrant).choose(sine, cosine);
    with_sign(result, second_bit_as_sign(quadrant + 1i64))
}

pub(super) fn tan<'c>(c: &'c Code, args: &[Val<'c>]) -> Val<'c> {
    let (quadrant, r, low) = reduce(args[0].abs());
    let (sine, cosine) = on_quadrant(r, low);
    let odd = is_odd(quadrant);
    let result = odd.choose(cosine, sine) / odd.choose(sine, cosine);
    let sign = quadrant * (1i64 << (c.mantissa() + c.pick(8, 11)));
    with_sign(result, sign ^ args[0].bits())
}

fn is_odd(quadrant: Val<'_>) -> Val<'_> {
    (quadrant & 1i64).differs(0i64)
}

/// The second bit of a word at the place of a float's sign.
fn second_bit_as_sign(word: Val<'_>) -> Val<'_> {
    let c = word.code();
    word * (1i64 << (c.mantissa() + c.pick(7, 10)))
}

/// A value, negated where the highest bit of `word` is set.
fn with_sign<'c>(value: Val<'c>, word: Val<'c>) -> Val<'c> {
    let highest = value.code().pick(1 << 31, i64::MIN);
    (value.bits() ^ (word & highest)).float_of_bits()
}

/// Sine and cosine of `r + low`.
fn on_quadrant<'c>(r: Val<'c>, low: Val<'c>) -> (Val<'c>, Val<'c>) {
    let c = r.code();
    let z = r * r;
    let sine = r + (r * z * z.polynomial(c.pick(SINE[0], SINE[1])) + low);
    let half = z * 0.5;
    let one = 1.0 - half;
    // What 1 - z/2 was rounded by goes to the small summands.
    let lost = (1.0 - one) - half;
    let cosine = one + (lost + z * z * z.polynomial(c.pick(COSINE[0], COSINE[1])) - r * low);
    (sine, cosine)
}

/// π/2 in parts with 11 bits each, and a last one, for float32.
const HALF_PI: [f64; 4] =
    [1.5703125, 0.0004837512969970703, 7.549533620476723e-8, 2.5633440682570896e-12];

/// The words of 2/π, which start after the binary point, with one of zeros before.
const TWO_OVER_PI: [i64; 8] =
    [0, 0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab];

/// The quadrant (its last two bits count) and the rest in two parts, of a float that is not
/// negative.
fn reduce(x: Val<'_>) -> (Val<'_>, Val<'_>, Val<'_>) {
    /// The bits of 2^13, up to which products with the parts of π/2 are exact, and of infinity.
    const FAR: [i64; 2] = [0x4600_0000, 0x7f80_0000];
    let n = (x * std::f64::consts::FRAC_2_PI).rint();
    let near = x - n * HALF_PI[0] - n * HALF_PI[1];
    let rest = n * HALF_PI[2];
    let r = near - rest;
    let low = ((near - r) - rest) - n * HALF_PI[3];
    let is_far = (x.bits() - FAR[0]).below(FAR[1] - FAR[0]);
    let (far_n, far_r, far_low) = reduce_far(x);
    (is_far.choose(far_n, n.to_int().bits()), is_far.choose(far_r, r), is_far.choose(far_low, low))
}

/// `reduce` for float32 from 2^13 on.
fn reduce_far(x: Val<'_>) -> (Val<'_>, Val<'_>, Val<'_>) {
    // x is an integer of 24 bits times 2^k. Bits of 2/π that count multiples of 4 are left out: the
    // first of three words that are needed begins with the bit whose product counts 2.
    let bits = x.bits();
    let first = bits.shr(23) - 120i64;
    let integer = (bits & 0x7f_ffff) | 0x80_0000;
    let (word, shift) = (first.shr(5), first & 31);
    let words: [Val<'_>; 4] = std::array::from_fn(|t| {
        let last = x.code().word(TWO_OVER_PI[t + 4] as u64);
        (0..4).rev().fold(last, |found, j| {
            let here = x.code().word(TWO_OVER_PI[t + j] as u64);
            word.equals(j as i64).choose(here, found)
        })
    });
    let complement = 32i64.beside(shift) - shift;
    let window = |t: usize| words[t].shl(shift) | words[t + 1].shr(complement);
    // The product modulo 4, in units of 2^-30 and 2^-62.
    let product = integer * window(1);
    let low = product + high_word(integer, window(2));
    let carry = low.below(product).to_word();
    let high = integer * window(0) + high_word(integer, window(1)) + carry;
    let n = (high + (1i64 << 29)).shr(30);
    let rest = (high - n * (1i64 << 30)).signed();
    // The magnitude (but for one unit of 2^-62), as a sum of two floats.
    let negative = rest.shr(31);
    let high = (rest ^ negative).unsigned();
    let low = low ^ negative.unsigned();
    let upper = high.shr(12).to_float() * 2f64.powi(-18);
    let lower = (((high & 0xfff) * (1i64 << 20)) | low.shr(12)).to_float() * 2f64.powi(-50);
    let sum = upper + lower;
    let lost = (upper - sum) + lower;
    let sign = (negative | 1).to_float();
    let r = sum * std::f64::consts::FRAC_PI_2 * sign;
    let r_low = lost * std::f64::consts::FRAC_PI_2 + sum * HALF_PI_LOW;
    (n, r, r_low * sign)
}

/// π/2 less the float32 nearest to it.
const HALF_PI_LOW: f64 = -4.371139000186241e-8;

/// The upper word of the product of a number of 24 bits and one of 32.
fn high_word<'c>(narrow: Val<'c>, wide: Val<'c>) -> Val<'c> {
    let (a, b) = (narrow.shr(16), narrow & 0xffff);
    let (c, d) = (wide.shr(16), wide & 0xffff);
    let middle = a * d + (b * d).shr(16);
    let carried = b * c + (middle & 0xffff);
    a * c + middle.shr(16) + carried.shr(16)
}
