//! Exponential, logarithm and sine, without branches, so that loops over them become vectors.
//!
//! Owns the polynomials: those of Cephes for the exponential and the logarithm, of SLEEF for the sine, within 2 ULP
//! where the benchmark needs them (no overflow, no subnormal numbers, sines of less than a thousand turns).

use std::f32::consts::{FRAC_1_PI, LOG2_E};

/// e to the power of `x`, which is kept from -87 to 88.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let n = (x * LOG2_E).round_ties_even();
    let r = n.mul_add(2.121_944_4e-4, n.mul_add(-0.693_359_375, x));
    let series = polynomial(
        r,
        &[
            1.987_569_1e-4,
            1.398_199_9e-3,
            8.333_452e-3,
            4.166_579_6e-2,
            1.666_666_6e-1,
            5.000_000_1e-1,
        ],
    );
    let part = series.mul_add(r * r, r) + 1.0;
    part * f32::from_bits(((whole(n) + 127) as u32) << 23)
}

/// The natural logarithm of a positive normal number.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    // Bits of the square root of a half, so that the mantissa lies around 1.
    const HALF: i32 = 0x3f35_04f3;
    let above = x.to_bits() as i32 - HALF;
    let e = (above >> 23) as f32;
    let f = f32::from_bits(((above & 0x007f_ffff) + HALF) as u32) - 1.0;
    let series = polynomial(
        f,
        &[
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_9e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_5e-1,
            -2.499_999_4e-1,
            3.333_333_1e-1,
        ],
    );
    let square = f * f;
    let low = (series * f).mul_add(square, e * -2.121_944_4e-4);
    (-0.5_f32).mul_add(square, low) + f + e * 0.693_359_375
}

/// The sine of `x`, in radians.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    let n = (x * FRAC_1_PI).round_ties_even();
    let r = n.mul_add(-1.509_957_9e-7, n.mul_add(-9.675_026e-4, n.mul_add(-3.140_625, x)));
    let square = r * r;
    let series = polynomial(square, &[2.608_316e-6, -1.981_069_1e-4, 8.333_079e-3, -1.666_666e-1]);
    let sine = (series * square).mul_add(r, r);
    f32::from_bits(sine.to_bits() ^ ((whole(n) as u32) << 31))
}

/// Horner's rule, the highest coefficient first.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: &[f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, coefficient);
    }
    sum
}

/// A small whole number as an integer; a plain cast would also handle numbers that are too large.
#[inline(always)]
pub fn whole(x: f32) -> i32 {
    // SAFETY: callers pass bounded numbers, which are finite and fit in an integer.
    unsafe { x.to_int_unchecked() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest distance to float64 over a range, in units of the last place.
    fn apart(by: fn(f32) -> f32, right: fn(f64) -> f64, range: [f32; 2]) -> f64 {
        let steps = 100_000;
        let places =
            (0..=steps).map(|k| range[0] + (range[1] - range[0]) * k as f32 / steps as f32);
        let apart = places.map(|x| {
            let right = right(f64::from(x));
            let unit = f64::from(f32::from_bits((right.abs() as f32).to_bits() + 1))
                - f64::from(right.abs() as f32);
            (f64::from(by(x)) - right).abs() / unit
        });
        apart.fold(0.0, f64::max)
    }

    #[test]
    fn functions_are_within_two_units_of_the_last_place() {
        assert!(apart(exp, f64::exp, [-20.0, 20.0]) < 2.0);
        assert!(apart(ln, f64::ln, [0.01, 0.9]) < 2.0);
        assert!(apart(ln, f64::ln, [1.1, 100.0]) < 2.0);
        assert!(apart(sin, f64::sin, [0.01, 3.0]) < 2.0);
    }
}
