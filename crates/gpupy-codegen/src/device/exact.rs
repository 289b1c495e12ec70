//! Correctly rounded division, square root and truncation of float32, for devices that round them wrongly.
//!
//! Owns [`division`], [`square_root`] and [`truncation`]: programs for [`Method::Lowered`]. The first two split
//! operands into integers, estimate the quotient or root to 25 bits by Newton's method in floats, and correct the
//! estimate by its remainder, which is small and so is exact modulo 2^32. Invariants: results are those of IEEE 754,
//! subnormal ones included, as long as the device's products and sums are within a few units in the last place.
//! No program here uses a division or a root.
//!
//! Not here: which devices need them (`probe`).
//!
//! [`Method::Lowered`]: gpupy_core::driver::Method::Lowered

use gpupy_core::ir::{Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// The bits of infinity.
const INFINITY: u32 = 0x7f80_0000;
/// The bits of a NaN.
const NAN: u32 = 0x7fc0_0000;

/// The integer part of a float: its magnitude rounded down, with its sign.
pub fn truncation(dtype: DType) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let x = b.param(dtype);
    let magnitude = b.op(Op::Abs, &[x]);
    let whole = b.op(Op::Floor, &[magnitude]);
    let result = b.op(Op::Copysign, &[whole, x]);
    b.store(result);
    b.finish()
}

/// `a / b`.
pub fn division() -> Program {
    let mut p = ExactBuilder::new();
    let (a, b) = (p.b.param(DType::F32), p.b.param(DType::F32));
    let (a, b) = (p.bits(a), p.bits(b));
    let sign = p.b.op(Op::Xor, &[a, b]);
    let sign = p.with(Op::And, sign, 0x8000_0000);
    let (a, b) = (p.with(Op::And, a, 0x7fff_ffff), p.with(Op::And, b, 0x7fff_ffff));
    let ((mantissa_a, exponent_a), (mantissa_b, exponent_b)) = (p.take_apart(a), p.take_apart(b));

    // The quotient is in [1, 2). The first mantissa is doubled where necessary, and the exponent is then one less.
    let less = p.b.op(Op::Lt, &[mantissa_a, mantissa_b]);
    let doubled = p.with(Op::Shl, mantissa_a, 1);
    let numerator = p.b.op(Op::Select, &[less, doubled, mantissa_a]);
    let exponent = p.b.op(Op::Sub, &[exponent_a, exponent_b]);
    let (bias, bias_less) = (p.int(127), p.int(126));
    let bias = p.b.op(Op::Select, &[less, bias_less, bias]);
    let exponent = p.b.op(Op::Add, &[exponent, bias]);

    // 1/x, with the second mantissa as x in [1, 2).
    let x = p.with(Op::And, mantissa_b, 0x7f_ffff);
    let x = p.with(Op::Or, x, 0x3f80_0000);
    let magic = p.uint(0x7ef3_11c7);
    let start = p.b.op(Op::Sub, &[magic, x]);
    let (x, mut y) = (p.float_of_bits(x), p.float_of_bits(start));
    let two = p.float(2.0);
    for _ in 0..3 {
        let product = p.b.op(Op::Mul, &[x, y]);
        let rest = p.b.op(Op::Sub, &[two, product]);
        y = p.b.op(Op::Mul, &[y, rest]);
    }
    // An estimate of floor(numerator · 2^24 / denominator), and its remainder.
    let float = p.b.convert(Op::Cast, numerator, DType::F32);
    let estimate = p.b.op(Op::Mul, &[float, y]);
    let estimate = p.b.op(Op::Mul, &[estimate, two]);
    let quotient = p.b.convert(Op::Cast, estimate, DType::U32);
    let product = p.b.op(Op::Mul, &[quotient, mantissa_b]);
    let whole = p.with(Op::Shl, numerator, 24);
    let left = p.b.op(Op::Sub, &[whole, product]);
    let left = p.b.convert(Op::Bitcast, left, DType::I32);
    let scale = p.float(1.0 / 8_388_608.0);
    let per_unit = p.b.op(Op::Mul, &[y, scale]);
    let (quotient, change) = p.correct(quotient, left, per_unit);
    let denominator = p.b.convert(Op::Bitcast, mantissa_b, DType::I32);
    let product = p.b.op(Op::Mul, &[change, denominator]);
    let (mut quotient, mut left) = (quotient, p.b.op(Op::Sub, &[left, product]));
    let (none, one) = (p.int(0), p.uint(1));
    for _ in 0..2 {
        let below = p.b.op(Op::Lt, &[left, none]);
        let (less, more) =
            (p.b.op(Op::Sub, &[quotient, one]), p.b.op(Op::Add, &[left, denominator]));
        quotient = p.b.op(Op::Select, &[below, less, quotient]);
        left = p.b.op(Op::Select, &[below, more, left]);
        let above = p.b.op(Op::Ge, &[left, denominator]);
        let (more, less) =
            (p.b.op(Op::Add, &[quotient, one]), p.b.op(Op::Sub, &[left, denominator]));
        quotient = p.b.op(Op::Select, &[above, more, quotient]);
        left = p.b.op(Op::Select, &[above, less, left]);
    }
    let inexact = p.b.op(Op::Ne, &[left, none]);
    let mut bits = p.put_together(quotient, exponent, inexact);

    let (infinity, nan, zero) = (p.uint(INFINITY), p.uint(NAN), p.uint(0));
    let kinds = |p: &mut ExactBuilder, x: u32| {
        [p.b.op(Op::Eq, &[x, zero]), p.b.op(Op::Eq, &[x, infinity]), p.b.op(Op::Gt, &[x, infinity])]
    };
    let [zero_a, infinite_a, nan_a] = kinds(&mut p, a);
    let [zero_b, infinite_b, nan_b] = kinds(&mut p, b);
    let vanishes = p.b.op(Op::Or, &[zero_a, infinite_b]);
    bits = p.b.op(Op::Select, &[vanishes, zero, bits]);
    let grows = p.b.op(Op::Or, &[infinite_a, zero_b]);
    bits = p.b.op(Op::Select, &[grows, infinity, bits]);
    // 0/0 and infinity/infinity are in both groups.
    let neither = p.b.op(Op::And, &[vanishes, grows]);
    let undefined = p.b.op(Op::Or, &[nan_a, nan_b]);
    let undefined = p.b.op(Op::Or, &[undefined, neither]);
    bits = p.b.op(Op::Or, &[bits, sign]);
    bits = p.b.op(Op::Select, &[undefined, nan, bits]);
    p.finish(bits)
}

/// The square root of `a`.
pub fn square_root() -> Program {
    let mut p = ExactBuilder::new();
    let a = p.b.param(DType::F32);
    let a = p.bits(a);
    let magnitude = p.with(Op::And, a, 0x7fff_ffff);
    let (mantissa, exponent) = p.take_apart(magnitude);

    // The operand is m/2^24 in [1, 4) times an even power of two.
    let bias = p.int(127);
    let exponent = p.b.op(Op::Sub, &[exponent, bias]);
    let odd = p.with_int(Op::And, exponent, 1);
    let half = p.with_int(Op::Shr, exponent, 1);
    let shift = p.with_int(Op::Add, odd, 1);
    let shift = p.b.convert(Op::Cast, shift, DType::U32);
    let radicand = p.b.op(Op::Shl, &[mantissa, shift]);

    // 1/sqrt(x) for x = m/2^24.
    let float = p.b.convert(Op::Cast, radicand, DType::F32);
    let scale = p.float(1.0 / 16_777_216.0);
    let x = p.b.op(Op::Mul, &[float, scale]);
    let halved = p.bits(x);
    let halved = p.with(Op::Shr, halved, 1);
    let magic = p.uint(0x5f37_59df);
    let start = p.b.op(Op::Sub, &[magic, halved]);
    let mut y = p.float_of_bits(start);
    let (a_half, three_halves) = (p.float(0.5), p.float(1.5));
    let x_half = p.b.op(Op::Mul, &[x, a_half]);
    for _ in 0..3 {
        let square = p.b.op(Op::Mul, &[y, y]);
        let product = p.b.op(Op::Mul, &[x_half, square]);
        let rest = p.b.op(Op::Sub, &[three_halves, product]);
        y = p.b.op(Op::Mul, &[y, rest]);
    }
    // An estimate of floor(sqrt(m · 2^24)), and the remainder of its square.
    let root = p.b.op(Op::Mul, &[x, y]);
    let unscale = p.float(16_777_216.0);
    let root = p.b.op(Op::Mul, &[root, unscale]);
    let root = p.b.convert(Op::Cast, root, DType::U32);
    let whole = p.with(Op::Shl, radicand, 24);
    let left = p.left_of_square(whole, root);
    let scale = p.float(1.0 / 33_554_432.0);
    let per_unit = p.b.op(Op::Mul, &[y, scale]);
    let (mut root, _) = p.correct(root, left, per_unit);
    let mut left = p.left_of_square(whole, root);
    let (none, one) = (p.int(0), p.uint(1));
    for _ in 0..2 {
        let below = p.b.op(Op::Lt, &[left, none]);
        let less = p.b.op(Op::Sub, &[root, one]);
        root = p.b.op(Op::Select, &[below, less, root]);
        left = p.left_of_square(whole, root);
        let twice = p.with(Op::Shl, root, 1);
        let twice = p.b.convert(Op::Bitcast, twice, DType::I32);
        let above = p.b.op(Op::Gt, &[left, twice]);
        let more = p.b.op(Op::Add, &[root, one]);
        root = p.b.op(Op::Select, &[above, more, root]);
        left = p.left_of_square(whole, root);
    }
    let inexact = p.b.op(Op::Ne, &[left, none]);
    let exponent = p.b.op(Op::Add, &[half, bias]);
    let mut bits = p.put_together(root, exponent, inexact);

    let (infinity, nan, zero) = (p.uint(INFINITY), p.uint(NAN), p.uint(0));
    let infinite = p.b.op(Op::Eq, &[magnitude, infinity]);
    bits = p.b.op(Op::Select, &[infinite, infinity, bits]);
    let negative = p.b.op(Op::Ne, &[a, magnitude]);
    let undefined = p.b.op(Op::Gt, &[magnitude, infinity]);
    let undefined = p.b.op(Op::Or, &[negative, undefined]);
    bits = p.b.op(Op::Select, &[undefined, nan, bits]);
    let nothing = p.b.op(Op::Eq, &[magnitude, zero]);
    // The root of -0.0 is -0.0.
    bits = p.b.op(Op::Select, &[nothing, a, bits]);
    p.finish(bits)
}

/// A program under construction, with the steps that division and square root share.
struct ExactBuilder {
    b: Builder,
}

impl ExactBuilder {
    fn new() -> ExactBuilder {
        ExactBuilder { b: Builder::new(Form::Map, 1) }
    }

    fn uint(&mut self, value: u32) -> u32 {
        self.b.constant(Scalar::u32(value))
    }

    fn int(&mut self, value: i32) -> u32 {
        self.b.constant(Scalar::i32(value))
    }

    fn float(&mut self, value: f32) -> u32 {
        self.b.constant(Scalar::f32(value))
    }

    fn with(&mut self, op: Op, x: u32, value: u32) -> u32 {
        let value = self.uint(value);
        self.b.op(op, &[x, value])
    }

    fn with_int(&mut self, op: Op, x: u32, value: i32) -> u32 {
        let value = self.int(value);
        self.b.op(op, &[x, value])
    }

    fn bits(&mut self, x: u32) -> u32 {
        self.b.convert(Op::Bitcast, x, DType::U32)
    }

    fn float_of_bits(&mut self, x: u32) -> u32 {
        self.b.convert(Op::Bitcast, x, DType::F32)
    }

    /// Splits a non-negative float, given as bits, into its mantissa with the leading bit at 2^23, and its biased
    /// exponent, which is below 1 for subnormals.
    fn take_apart(&mut self, bits: u32) -> (u32, u32) {
        let exponent = self.with(Op::Shr, bits, 23);
        let fraction = self.with(Op::And, bits, 0x7f_ffff);
        // The exponent of an integer as a float is the position of its leading bit.
        let float = self.b.convert(Op::Cast, fraction, DType::F32);
        let float = self.bits(float);
        let place = self.with(Op::Shr, float, 23);
        let top = self.uint(127 + 23);
        let shift = self.b.op(Op::Sub, &[top, place]);
        let shifted = self.b.op(Op::Shl, &[fraction, shift]);
        let zero = self.uint(0);
        let subnormal = self.b.op(Op::Eq, &[exponent, zero]);
        let normal = self.with(Op::Or, fraction, 0x80_0000);
        let mantissa = self.b.op(Op::Select, &[subnormal, shifted, normal]);
        let one = self.uint(1);
        let low = self.b.op(Op::Sub, &[one, shift]);
        let exponent = self.b.op(Op::Select, &[subnormal, low, exponent]);
        (mantissa, self.b.convert(Op::Bitcast, exponent, DType::I32))
    }

    /// Corrects an estimate by its remainder `left`. Returns the correction too.
    fn correct(&mut self, estimate: u32, left: u32, per_unit: u32) -> (u32, u32) {
        let left = self.b.convert(Op::Cast, left, DType::F32);
        let change = self.b.op(Op::Mul, &[left, per_unit]);
        let change = self.b.convert(Op::Cast, change, DType::I32);
        let bits = self.bits(change);
        (self.b.op(Op::Add, &[estimate, bits]), change)
    }

    /// `whole - root²`, modulo 2^32, as an int32.
    fn left_of_square(&mut self, whole: u32, root: u32) -> u32 {
        let square = self.b.op(Op::Mul, &[root, root]);
        let left = self.b.op(Op::Sub, &[whole, square]);
        self.b.convert(Op::Bitcast, left, DType::I32)
    }

    /// The bits of the float nearest to `significand / 2^24 · 2^(exponent - 127)`, or to slightly more if
    /// `inexact`. The significand has 25 bits.
    fn put_together(&mut self, significand: u32, exponent: u32, inexact: u32) -> u32 {
        let one = self.int(1);
        let below = self.b.op(Op::Sub, &[one, exponent]);
        let (none, most) = (self.int(0), self.int(26));
        let below = self.b.op(Op::Max, &[below, none]);
        let below = self.b.op(Op::Min, &[below, most]);
        let below = self.b.convert(Op::Cast, below, DType::U32);
        let shift = self.with(Op::Add, below, 1);
        let mantissa = self.b.op(Op::Shr, &[significand, shift]);
        let kept = self.b.op(Op::Shl, &[mantissa, shift]);
        let rest = self.b.op(Op::Sub, &[significand, kept]);
        let unit = self.uint(1);
        let half = self.b.op(Op::Shl, &[unit, below]);
        let odd = self.with(Op::And, mantissa, 1);
        let odd = self.b.convert(Op::Cast, odd, DType::Bool);
        let more = self.b.op(Op::Gt, &[rest, half]);
        let tie = self.b.op(Op::Eq, &[rest, half]);
        let up = self.b.op(Op::Or, &[inexact, odd]);
        let up = self.b.op(Op::And, &[tie, up]);
        let up = self.b.op(Op::Or, &[more, up]);
        let up = self.b.convert(Op::Cast, up, DType::U32);
        // The leading bit of the mantissa adds one to the exponent, unless the number is subnormal.
        let highest = self.int(255);
        let exponent = self.b.op(Op::Min, &[exponent, highest]);
        let exponent = self.b.op(Op::Sub, &[exponent, one]);
        let exponent = self.b.op(Op::Max, &[exponent, none]);
        let exponent = self.b.convert(Op::Cast, exponent, DType::U32);
        let exponent = self.with(Op::Shl, exponent, 23);
        let bits = self.b.op(Op::Add, &[exponent, mantissa]);
        let bits = self.b.op(Op::Add, &[bits, up]);
        let infinity = self.uint(INFINITY);
        self.b.op(Op::Min, &[bits, infinity])
    }

    fn finish(mut self, bits: u32) -> Program {
        let value = self.float_of_bits(bits);
        self.b.store(value);
        self.b.finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gpupy_core::op_eval;

    /// Runs a program of scalar operations.
    fn run(program: &Program, params: &[f32]) -> f32 {
        let mut values: Vec<Scalar> = Vec::new();
        for inst in &program.insts {
            let bits = u64::from(inst.args[0]);
            values.push(match inst.op {
                Op::Param => Scalar::f32(params[inst.args[0] as usize]),
                Op::Const => Scalar::new(inst.dtype, bits),
                Op::Store => return values[inst.args[1] as usize].as_f32(),
                op => {
                    let args: Vec<Scalar> =
                        program.uses(inst).map(|v| values[v as usize]).collect();
                    op_eval::eval(op, inst.dtype, &args).unwrap()
                }
            });
        }
        f32::NAN
    }

    const SPECIAL: [f32; 20] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        -f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        1e-45,
        -3e-45,
        1e-40,
        1.1754942e-38,
        3.0,
        0.1,
        1.0000001,
        0.99999994,
        16777215.0,
    ];

    fn numbers(count: usize) -> impl Iterator<Item = f32> {
        let mut state = 1u64;
        (0..count).map(move |k| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let bits = (state >> 32) as u32;
            // Any float, and floats with results of ordinary magnitude.
            f32::from_bits(if k % 2 == 0 { bits } else { 0x3f00_0000 | bits & 0x81ff_ffff })
        })
    }

    fn same(got: f32, wanted: f32) -> bool {
        got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan()
    }

    #[test]
    fn quotients_are_correctly_rounded() {
        let program = division();
        let pairs = SPECIAL.iter().flat_map(|a| SPECIAL.map(|b| (*a, b)));
        let random = numbers(60_000).zip(numbers(60_007).skip(7));
        // Quotients near the least normal number, which are rounded at a higher bit.
        let small = numbers(20_000).map(|x| (x.abs().min(1e-30), 1e8 * (1.0 + x.fract().abs())));
        for (a, b) in pairs.chain(random).chain(small) {
            let (got, wanted) = (run(&program, &[a, b]), a / b);
            assert!(same(got, wanted), "{a:?} / {b:?}: {got:?}, not {wanted:?}");
        }
    }

    #[test]
    fn integer_parts_are_those_of_the_table() {
        let program = truncation(DType::F32);
        let large = (0..64).map(|k| f32::from_bits((100 + k) << 23 | 0x5a_5a5b));
        for x in SPECIAL.into_iter().chain(large.clone()).chain(large.map(|x| -x)) {
            let wanted = op_eval::eval(Op::Trunc, DType::F32, &[Scalar::f32(x)]).unwrap();
            let got = run(&program, &[x]);
            assert!(
                got.to_bits() == wanted.as_f32().to_bits() || x.is_nan() && got.is_nan(),
                "{x}"
            );
        }
    }

    #[test]
    fn roots_are_correctly_rounded() {
        let program = square_root();
        let squares = (1..3000).map(|k| (k * k) as f32);
        for a in SPECIAL.into_iter().chain(numbers(60_000)).chain(squares) {
            let (got, wanted) = (run(&program, &[a]), a.sqrt());
            assert!(same(got, wanted), "sqrt({a:?}): {got:?}, not {wanted:?}");
        }
    }
}
