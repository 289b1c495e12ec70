//! Inputs: the numbers at which implementations go wrong, and random ones.
//!
//! Owns [`specials`] and [`Rng`]. Invariant: the same seed gives the same numbers everywhere.
//!
//! Not here: random programs (`cases/random.rs`).

use gpupy_core::{DType, Scalar};

/// The dtypes that this suite knows how to check.
pub const DTYPES: [DType; 4] = [DType::Bool, DType::I32, DType::U32, DType::F32];

const FLOATS: [f32; 36] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    -7.0,
    0.1,
    std::f32::consts::PI,
    -std::f32::consts::FRAC_PI_2,
    10.0,
    -10.0,
    100.25,
    1e5,
    -1e5,
    8388607.5,
    -8388608.0,
    16777216.0,
    2147483648.0,
    -2147483648.0,
    3e9,
    4294967296.0,
    1e-30,
    -1e30,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    1e-40,
    -1e-45,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

const INTEGERS: [i32; 22] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    7,
    -7,
    31,
    32,
    33,
    -31,
    100,
    65536,
    -65537,
    16777217,
    0x1234_5678,
    i32::MAX,
    i32::MAX - 1,
    i32::MIN,
    i32::MIN + 1,
];

/// The numbers at which operations on a dtype go wrong.
pub fn specials(dtype: DType) -> Vec<Scalar> {
    match dtype {
        DType::Bool => vec![Scalar::bool(false), Scalar::bool(true)],
        DType::F32 => FLOATS.iter().map(|x| Scalar::f32(*x)).collect(),
        _ => INTEGERS.iter().map(|x| Scalar::new(dtype, *x as u64)).collect(),
    }
}

/// A random number generator (xorshift64*).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 33) as usize % n.max(1)
    }

    /// One of the items.
    pub fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// A float32 between -4 and 4, with all its digits.
    pub fn float(&mut self) -> f32 {
        ((self.bits() >> 40) as f32 / (1 << 24) as f32 - 0.5) * 8.0
    }

    /// Any element: mostly of ordinary size, sometimes special, sometimes any bits.
    pub fn scalar(&mut self, dtype: DType) -> Scalar {
        match (self.below(8), dtype) {
            (_, DType::Bool) => Scalar::bool(self.bits() >> 63 == 1),
            (0, _) => {
                let special = specials(dtype);
                special[self.below(special.len())]
            }
            (1, _) => Scalar::new(dtype, self.bits() >> 8),
            (_, DType::F32) => Scalar::f32(self.float()),
            (_, _) => Scalar::new(dtype, (self.below(2000) as i64 - 1000) as u64),
        }
    }

    /// Elements of ordinary size only: no NaN, infinity, subnormal or overflow is near.
    pub fn ordinary(&mut self, dtype: DType) -> Scalar {
        match dtype {
            DType::Bool => Scalar::bool(self.bits() >> 63 == 1),
            DType::F32 => Scalar::f32(self.float()),
            _ => Scalar::new(dtype, self.below(100) as u64),
        }
    }
}
