//! Rows of discrete Fourier transforms, and their reference.
//!
//! A row of an operand may have fewer points than the transform reads: zeros follow. The results are multiplied by
//! `scale`, and rounded to the result's dtype. The reference works in float64, with sums of
//! products in twice that precision; so its error is that of its roots of unity.
//!
//! Not here: what a row of the table is (`mod.rs`), fast transforms (`driver-cpu`).

use super::{Attributes, BitsDependOn, RoutineInfo, WholePoints};
use crate::dtype::DType;

/// The points of the operand along the whole axis, as far as they are read.
const GIVEN: usize = 1;
/// The points of the transform.
const N: usize = 2;
/// The factor of the results, a float64.
const SCALE: usize = 3;
/// Whether it is the inverse transform, of complex numbers.
const INVERSE: usize = 4;

const COMPLEX: &[(DType, DType)] = &[(DType::C64, DType::C64), (DType::C128, DType::C128)];
const OF_REAL: &[(DType, DType)] = &[(DType::F32, DType::C64), (DType::F64, DType::C128)];
const TO_REAL: &[(DType, DType)] = &[(DType::C64, DType::F32), (DType::C128, DType::F64)];

/// Complex numbers to complex numbers, forward or inverse.
pub(super) const FFT: RoutineInfo = RoutineInfo {
    name: "fft",
    dtypes: COMPLEX,
    attributes: &[
        ("axis", DType::I64),
        ("given", DType::I64),
        ("n", DType::I64),
        ("scale", DType::F64),
        ("inverse", DType::Bool),
    ],
    points: |attributes| points(attributes, |n| n, |n| n),
    cost,
    bound,
    bits: BitsDependOn::Driver,
    reference: |dtype, row, attributes| {
        let x = complex(dtype, row, n(attributes));
        results(dtype, &transform(&x, attributes[INVERSE] != 0), attributes)
    },
};

/// Real numbers to the first half of their spectrum, forward.
pub(super) const RFFT: RoutineInfo = RoutineInfo {
    name: "rfft",
    dtypes: OF_REAL,
    attributes: &[
        ("axis", DType::I64),
        ("given", DType::I64),
        ("n", DType::I64),
        ("scale", DType::F64),
    ],
    points: |attributes| points(attributes, |n| n, half),
    cost,
    bound,
    bits: BitsDependOn::Driver,
    reference: |dtype, row, attributes| {
        let mut x: Vec<[f64; 2]> = real(dtype, row).map(|x| [x, 0.0]).collect();
        x.resize(n(attributes), [0.0; 2]);
        let spectrum = transform(&x, false);
        results(dtype, &spectrum[..half(n(attributes))], attributes)
    },
};

/// The first half of a Hermitian spectrum to real numbers, inverse.
pub(super) const IRFFT: RoutineInfo = RoutineInfo {
    name: "irfft",
    dtypes: TO_REAL,
    attributes: RFFT.attributes,
    points: |attributes| points(attributes, half, |n| n),
    cost,
    bound,
    bits: BitsDependOn::Driver,
    reference: |dtype, row, attributes| {
        let n = n(attributes);
        let given = complex(dtype, row, half(n));
        // The imaginary parts of the points that are their own mirrors do not count.
        let mut x = vec![[0.0; 2]; n];
        x[0] = [given[0][0], 0.0];
        for (k, point) in given.iter().enumerate().skip(1) {
            x[n - k] = [point[0], -point[1]];
            x[k] = *point;
            if 2 * k == n {
                x[k][1] = 0.0;
            }
        }
        let real = transform(&x, true).into_iter().map(|point| point[0]);
        scaled(dtype, real, attributes)
    },
};

fn n(attributes: &Attributes) -> usize {
    attributes[N] as usize
}

fn half(n: usize) -> usize {
    n / 2 + 1
}

/// The points of a call: as many of the operand as are given, at most those that the transform reads.
fn points(
    attributes: &Attributes,
    reads: fn(usize) -> usize,
    gives: fn(usize) -> usize,
) -> Option<WholePoints> {
    let n = usize::try_from(attributes[N]).ok().filter(|n| (1..=1 << 48).contains(n))?;
    let operand = usize::try_from(attributes[GIVEN]).ok()?;
    (1..=reads(n)).contains(&operand).then(|| WholePoints { operand, result: gives(n) })
}

fn cost(attributes: &Attributes) -> f64 {
    let n = attributes[N] as f64;
    5.0 * n * (1.0 + n.log2())
}

/// Each of the stages of a fast transform rounds once; a transform of a prime number of points is three others.
fn bound(attributes: &Attributes) -> f64 {
    8.0 + 4.0 * (attributes[N] as f64).log2()
}

fn real(dtype: DType, bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    let size = if matches!(dtype, DType::F32 | DType::C64) { 4 } else { 8 };
    bytes.chunks_exact(size).map(move |bytes| match *bytes {
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => f64::NAN,
    })
}

/// The complex numbers of a row, and zeros up to `n` points.
fn complex(dtype: DType, bytes: &[u8], n: usize) -> Vec<[f64; 2]> {
    let parts: Vec<f64> = real(dtype, bytes).collect();
    let mut points: Vec<[f64; 2]> = parts.chunks_exact(2).map(|part| [part[0], part[1]]).collect();
    points.resize(n, [0.0; 2]);
    points
}

fn results(dtype: DType, points: &[[f64; 2]], attributes: &Attributes) -> Vec<u8> {
    scaled(dtype, points.iter().flatten().copied(), attributes)
}

/// Numbers times the scale, in the precision of a dtype.
fn scaled(dtype: DType, numbers: impl Iterator<Item = f64>, attributes: &Attributes) -> Vec<u8> {
    let scale = f64::from_bits(attributes[SCALE]);
    match dtype {
        DType::F32 | DType::C64 => {
            numbers.flat_map(|x| ((x * scale) as f32).to_le_bytes()).collect()
        }
        _ => numbers.flat_map(|x| (x * scale).to_le_bytes()).collect(),
    }
}

/// The transform of any number of points, by its least prime factor.
fn transform(x: &[[f64; 2]], inverse: bool) -> Vec<[f64; 2]> {
    let n = x.len();
    let Some(p) =
        (2..).take_while(|p| p * p <= n).find(|p| n.is_multiple_of(*p)).or((n > 1).then_some(n))
    else {
        return x.to_vec();
    };
    let every = |first: usize| x.iter().skip(first).step_by(p).copied().collect::<Vec<_>>();
    let parts: Vec<Vec<[f64; 2]>> = (0..p).map(|r| transform(&every(r), inverse)).collect();
    let point = |k: usize| {
        let mut sums = [TwiceSum::default(), TwiceSum::default()];
        for (r, part) in parts.iter().enumerate() {
            let [c, s] = root_of_unity((r as u128 * k as u128 % n as u128) as u64, n as u64);
            let ([re, im], s) = (part[k % (n / p)], if inverse { s } else { -s });
            sums[0].add_product(c, re);
            sums[0].add_product(-s, im);
            sums[1].add_product(c, im);
            sums[1].add_product(s, re);
        }
        sums.map(TwiceSum::value)
    };
    (0..n).map(point).collect()
}

/// Cosine and sine of `k` of `n` parts of a turn, computed of an angle of at most an eighth of it, and so right to
/// about half an ULP. `k` is less than `n`.
pub fn root_of_unity(k: u64, n: u64) -> [f64; 2] {
    let eighths = 8 * k;
    let (octant, rest) = (eighths / n, eighths % n);
    let rest = if octant % 2 == 1 { n - rest } else { rest };
    let (s, c) = (std::f64::consts::FRAC_PI_4 * (rest as f64 / n as f64)).sin_cos();
    match octant {
        0 => [c, s],
        1 => [s, c],
        2 => [-s, c],
        3 => [-c, s],
        4 => [-c, -s],
        5 => [-s, -c],
        6 => [s, -c],
        _ => [c, -s],
    }
}

/// A sum of products in twice the precision.
#[derive(Clone, Copy, Default)]
struct TwiceSum {
    high: f64,
    low: f64,
}

impl TwiceSum {
    fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        let sum = self.high + product;
        let part = sum - self.high;
        self.low += (self.high - (sum - part)) + (product - part) + a.mul_add(b, -product);
        self.high = sum;
    }

    /// Where a product is no finite number, the rest is none.
    fn value(self) -> f64 {
        if self.high.is_finite() { self.high + self.low } else { self.high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_is_the_sum_of_its_definition_and_comes_back() {
        for n in [1, 2, 3, 4, 6, 7, 8, 12, 13, 30, 64, 97] {
            let x: Vec<[f64; 2]> =
                (0..n).map(|k| [(k * k % 7) as f64 - 3.0, (k * 5 % 11) as f64 / 4.0]).collect();
            let y = transform(&x, false);
            for (k, point) in y.iter().enumerate() {
                let sum = x.iter().enumerate().fold([0.0, 0.0], |sum: [f64; 2], (j, x)| {
                    let [c, s] = root_of_unity((j * k % n) as u64, n as u64);
                    [sum[0] + c * x[0] + s * x[1], sum[1] + c * x[1] - s * x[0]]
                });
                assert!((0..2).all(|part| (sum[part] - point[part]).abs() < 1e-12 * n as f64));
            }
            for (back, x) in transform(&y, true).iter().zip(&x) {
                assert!((0..2).all(|part| (back[part] / n as f64 - x[part]).abs() < 1e-14));
            }
        }
    }
}
