//! Random numbers, and elements that include all special values.

use gpupy_core::{DType, Op, Scalar, op_eval};

/// xorshift64*.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }

    /// An element: a special value, any bits, or a moderate magnitude.
    pub fn element(&mut self, dtype: DType) -> Scalar {
        let special = specials(dtype);
        match self.below(3) {
            0 => special[self.below(special.len())],
            1 if dtype != DType::Bool => Scalar::new(dtype, self.next()),
            _ => self.moderate(dtype),
        }
    }

    fn moderate(&mut self, dtype: DType) -> Scalar {
        let x = (self.next() >> 40) as f64 / 65536.0 - 128.0;
        match dtype {
            DType::F32 => Scalar::f32(x as f32),
            DType::F64 => Scalar::f64(x),
            _ if dtype.is_narrow_float() => narrow(dtype, x),
            DType::Bool => Scalar::bool(x > 0.0),
            _ => Scalar::new(dtype, x as i64 as u64),
        }
    }
}

fn narrow(dtype: DType, x: f64) -> Scalar {
    op_eval::eval(Op::Cast, dtype, &[Scalar::f64(x)]).expect("a cast of real numbers")
}

/// Edge cases of operations.
pub fn specials(dtype: DType) -> Vec<Scalar> {
    let floats = [
        0.0,
        0.25,
        0.5,
        1.0,
        1.5,
        2.5,
        31.0,
        33.0,
        8388607.5,
        16777217.0,
        2147483520.0,
        2147483647.0,
        2147483648.0,
        4294967295.0,
        4294967296.0,
        1e10,
        5e9,
        9223371487098961920.0,
        9223372036854775808.0,
        1.8446744073709552e19,
        1e30,
        f64::INFINITY,
    ];
    let both = |x: f64| [x, -x];
    match dtype {
        DType::Bool => vec![Scalar::bool(false), Scalar::bool(true)],
        DType::F32 => {
            let small = [f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::NAN, 1e-20].map(f64::from);
            let all = floats.into_iter().chain(small).flat_map(both);
            all.map(|x| Scalar::f32(x as f32)).collect()
        }
        DType::F16 => {
            let small = [6.1e-5, 6e-8, 65504.0, 65519.0, f64::NAN, 1e-4];
            let all = floats.into_iter().chain(small).flat_map(both);
            all.map(|x| narrow(dtype, x)).collect()
        }
        DType::BF16 => {
            let small =
                [1.2e-38, 9.2e-41, 3.389e38, 3.4e38, f64::NAN, 1e-4, 1.00390625, 1.01171875];
            floats.into_iter().chain(small).flat_map(both).map(|x| narrow(dtype, x)).collect()
        }
        DType::F64 => {
            let small = [f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::NAN, 1e-40];
            floats.into_iter().chain(small).flat_map(both).map(Scalar::f64).collect()
        }
        _ => {
            let near = [0u64, 1, 2, 7, 31, 32, 33, 63, 64, 65, 0xffff, 0x10000, 1 << 24, 1 << 53];
            let edges = [1u64 << 31, 1 << 32, 1 << 63];
            near.into_iter()
                .chain(edges)
                .flat_map(|x| [x, x.wrapping_neg(), x.wrapping_sub(1), x.wrapping_add(1)])
                .map(|x| Scalar::new(dtype, x))
                .collect()
        }
    }
}
