//! Operations that take more than an expression, as functions that kernels call.
//!
//! Owns [`FUNCTIONS`], [`call`] and [`definitions`]. Each function is a program of simpler operations,
//! so that it is written once for all languages and widths, and tested without a device. Parameters,
//! which come first, and results are what registers hold. Invariant: a function calls only such as stand before it.
//!
//! Not here: functions of the user's (the core's `functions/`).

use crate::body::{Body, Leaves};
use crate::dialect::{Dialect, Width};
use gpupy_core::ir::{Builder, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};
use std::sync::LazyLock;

/// A call of the function of this name on operands that registers of `dtype` hold.
pub fn call(name: &str, dtype: DType, width: Width, args: &[&str]) -> String {
    format!("{}({})", full_name(name, dtype, width), args.join(", "))
}

fn full_name(name: &str, dtype: DType, width: Width) -> String {
    let four = if width == Width::Four { "_four" } else { "" };
    format!("{name}_{dtype}{four}")
}

/// Definitions of the functions that `text` calls, of the languages' lacks too.
pub fn definitions(d: &dyn Dialect, text: &str) -> String {
    let mut wanted: Vec<String> = Vec::new();
    let calls = |wanted: &[String], name: &str| {
        let call = format!("{name}(");
        let whole =
            |text: &str| text.match_indices(&call).any(|(at, _)| !text[..at].ends_with(is_of_name));
        whole(text) || wanted.iter().any(|definition| whole(definition))
    };
    for function in FUNCTIONS.iter().rev() {
        for width in [Width::One, Width::Four] {
            let name = full_name(function.name, function.dtype, width);
            if calls(&wanted, &name) {
                wanted.push(define(d, &name, &function.program, width));
            }
        }
    }
    for helper in d.helpers().iter().rev() {
        if calls(&wanted, helper.name) {
            wanted.push(helper.text.to_owned());
        }
    }
    wanted.reverse();
    wanted.concat()
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The definition of a function.
fn define(d: &dyn Dialect, name: &str, program: &Program, width: Width) -> String {
    let live = crate::live_instructions(program, &[0]);
    let mut body = Body::new(program, d, &live, false);
    body.depth = 0;
    let params: Vec<(&str, DType)> = PARAMS.into_iter().zip(program.params.clone()).collect();
    body.open(&d.function(name, &params, program.dests[0], width));
    // Parameters come first, and in the function's width.
    for (at, name) in PARAMS.iter().take(params.len()).enumerate() {
        body.set_name(at as u32, (*name).to_owned());
    }
    body.instructions(params.len()..program.insts.len(), width, &Arguments(d));
    body.close();
    body.finish()
}

/// The names of parameters.
const PARAMS: [&str; 2] = ["a", "b"];

/// The leaves of a function, which has no accesses.
struct Arguments<'a>(&'a dyn Dialect);

impl Leaves for Arguments<'_> {
    fn constant(&self, value: Scalar) -> String {
        self.0.literal(value)
    }
    fn store(&self, _: u32, value: &str) -> String {
        format!("return {value};")
    }
    fn param(&self, _: u32, _: DType) -> String {
        String::new()
    }
    fn index(&self, _: u32) -> String {
        String::new()
    }
    fn load(&self, _: u32, _: u32) -> String {
        String::new()
    }
    fn gather(&self, _: u32, _: &str) -> String {
        String::new()
    }
}

/// A function.
struct Function {
    name: &'static str,
    /// The dtype of its operands, which its full name has.
    dtype: DType,
    program: Program,
}

static FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let (ints, longs) = ((DType::I32, DType::U32), (DType::I64, DType::U64));
    let function = |name, dtype, program| Function { name, dtype, program };
    let mut all = vec![
        function("half_round", DType::F32, half_round()),
        function("half_bits", DType::F32, half_bits()),
        function("half_of_bits", DType::F32, half_of_bits()),
        function("uint_of", DType::F32, uint_of_float()),
        function("long_of", DType::F32, long_of_float()),
        function("ulong_of", DType::F32, ulong_of_float()),
        function("ulong_of", DType::F64, ulong_of_double()),
        function("float_of", DType::U64, float_of_ulong()),
        function("float_of", DType::I64, float_of_long()),
        function("half_of", DType::U64, half_of_long(DType::U64)),
        function("half_of", DType::I64, half_of_long(DType::I64)),
        function("half_of_double", DType::F64, half_of_double()),
    ];
    for dtype in [DType::F32, DType::F64] {
        all.push(function("sign_of", dtype, sign_of(dtype)));
    }
    for (signed, unsigned) in [ints, longs] {
        all.push(function("floor_div", signed, floor_div(signed, unsigned)));
        all.push(function("floor_mod", signed, floor_mod(signed)));
    }
    all
});

/// A function under construction.
struct Code(Builder);

impl Code {
    fn new() -> Code {
        Code(Builder::new(Form::Map, 1))
    }

    fn op(&mut self, op: Op, values: &[u32]) -> u32 {
        self.0.op(op, values)
    }

    /// A literal of a value's dtype.
    fn like(&mut self, value: u32, bits: u64) -> u32 {
        let dtype = self.0.dtype(value);
        self.0.constant(Scalar::new(dtype, bits))
    }

    /// An operation on a value and a literal.
    fn with(&mut self, op: Op, value: u32, bits: u64) -> u32 {
        let literal = self.like(value, bits);
        self.op(op, &[value, literal])
    }

    fn select(&mut self, condition: u32, a: u32, b: u32) -> u32 {
        self.op(Op::Select, &[condition, a, b])
    }

    fn cast(&mut self, value: u32, to: DType) -> u32 {
        self.0.convert(Op::Cast, value, to)
    }

    fn bits(&mut self, value: u32, to: DType) -> u32 {
        self.0.convert(Op::Bitcast, value, to)
    }

    /// A float's bits: the magnitude's, and the sign's in their place.
    fn parts(&mut self, float: u32) -> (u32, u32) {
        let (unsigned, mask) = match self.0.dtype(float) {
            DType::F64 => (DType::U64, u64::MAX >> 1),
            _ => (DType::U32, 0x7fff_ffff),
        };
        let bits = self.bits(float, unsigned);
        let magnitude = self.with(Op::And, bits, mask);
        (magnitude, self.op(Op::Xor, &[bits, magnitude]))
    }

    fn gives(mut self, value: u32) -> Program {
        self.0.store(value);
        self.0.finish()
    }
}

/// The bits of infinity.
const INFINITY: u64 = 0x7f80_0000;
/// The bits of 2^-14, the least normal float16.
const LEAST_HALF: u64 = 0x3880_0000;
/// The bits of a half, whose last place is the least subnormal float16, 2^-24.
const HALF: u64 = 0x3f00_0000;

/// How many times 2^-24 a float32 below 2^-14 is, to the nearest. `size` are its bits.
fn smallest_halves(c: &mut Code, size: u32) -> u32 {
    let float = c.bits(size, DType::F32);
    let sum = c.with(Op::Add, float, HALF);
    let bits = c.bits(sum, DType::U32);
    c.with(Op::Sub, bits, HALF)
}

/// The nearest float16, ties to even.
fn half_round() -> Program {
    let mut c = Code::new();
    let x = c.0.param(DType::F32);
    let (size, sign) = c.parts(x);
    // Half of the last place, less one where the last bit is 0; it carries up to infinity.
    let odd = c.with(Op::Shr, size, 13);
    let odd = c.with(Op::And, odd, 1);
    let normal = c.with(Op::Add, size, 0xfff);
    let normal = c.op(Op::Add, &[normal, odd]);
    let normal = c.with(Op::And, normal, 0xffff_e000);
    let count = smallest_halves(&mut c, size);
    let count = c.cast(count, DType::F32);
    let subnormal = c.with(Op::Mul, count, (127 - 24) << 23);
    let subnormal = c.bits(subnormal, DType::U32);
    let small = c.with(Op::Lt, size, LEAST_HALF);
    let value = c.select(small, subnormal, normal);
    let large = c.with(Op::Ge, value, (127 + 16) << 23);
    let infinity = c.like(size, INFINITY);
    let value = c.select(large, infinity, value);
    let nan = c.with(Op::Gt, size, INFINITY);
    let value = c.select(nan, size, value);
    let value = c.op(Op::Or, &[value, sign]);
    let value = c.bits(value, DType::F32);
    c.gives(value)
}

/// The bits of a float16 that a float32 holds.
fn half_bits() -> Program {
    let mut c = Code::new();
    let x = c.0.param(DType::F32);
    let (size, sign) = c.parts(x);
    let normal = c.with(Op::Sub, size, (127 - 15) << 23);
    let normal = c.with(Op::Shr, normal, 13);
    let subnormal = smallest_halves(&mut c, size);
    let small = c.with(Op::Lt, size, LEAST_HALF);
    let value = c.select(small, subnormal, normal);
    let payload = c.with(Op::Shr, size, 13);
    let payload = c.with(Op::And, payload, 0x3ff);
    // A NaN whose upper bits are all 0 stays one.
    let payload = c.with(Op::Max, payload, 1);
    let nan = c.with(Op::Or, payload, 0x7c00);
    let infinity = c.like(size, 0x7c00);
    let is_infinity = c.with(Op::Eq, size, INFINITY);
    let special = c.select(is_infinity, infinity, nan);
    let finite = c.with(Op::Lt, size, INFINITY);
    let value = c.select(finite, value, special);
    let sign = c.with(Op::Shr, sign, 16);
    let value = c.op(Op::Or, &[value, sign]);
    c.gives(value)
}

/// The float16 of 16 bits, as a float32.
fn half_of_bits() -> Program {
    let mut c = Code::new();
    let x = c.0.param(DType::U32);
    let size = c.with(Op::And, x, 0x7fff);
    let sign = c.op(Op::Xor, &[x, size]);
    let up = c.with(Op::Shl, size, 13);
    let normal = c.with(Op::Add, up, (127 - 15) << 23);
    let special = c.with(Op::Or, up, INFINITY);
    // Subnormals are multiples of 2^-24.
    let count = c.cast(size, DType::F32);
    let subnormal = c.with(Op::Mul, count, (127 - 24) << 23);
    let subnormal = c.bits(subnormal, DType::U32);
    let small = c.with(Op::Lt, size, 1 << 10);
    let value = c.select(small, subnormal, normal);
    let finite = c.with(Op::Lt, size, 0x7c00);
    let value = c.select(finite, value, special);
    let sign = c.with(Op::Shl, sign, 16);
    let value = c.op(Op::Or, &[value, sign]);
    let value = c.bits(value, DType::F32);
    c.gives(value)
}

/// The integer part of a float32's magnitude, modulo the integers of `unsigned`.
fn integer_part(c: &mut Code, size: u32, unsigned: DType) -> u32 {
    let exponent = c.with(Op::Shr, size, 23);
    let fraction = c.with(Op::And, size, 0x7f_ffff);
    let mantissa = c.with(Op::Or, fraction, 0x80_0000);
    let mantissa = c.cast(mantissa, unsigned);
    // Of these counts one is negative, that is huge, and leaves nothing; or both are 0.
    let exponent = c.bits(exponent, DType::I32);
    let up = c.with(Op::Sub, exponent, 150);
    let down = c.op(Op::Neg, &[up]);
    let [up, down] = [up, down].map(|count| c.cast(count, unsigned));
    let up = c.op(Op::Shl, &[mantissa, up]);
    let down = c.op(Op::Shr, &[mantissa, down]);
    c.op(Op::Or, &[up, down])
}

/// A magnitude with a sign: the opposite where `sign` is not 0.
fn signed(c: &mut Code, magnitude: u32, sign: u32) -> u32 {
    let negative = c.with(Op::Ne, sign, 0);
    let opposite = c.op(Op::Neg, &[magnitude]);
    c.select(negative, opposite, magnitude)
}

/// The low bits of the cast to int64, whose value for what does not fit ends in zeros.
fn uint_of_float() -> Program {
    let mut c = Code::new();
    let x = c.0.param(DType::F32);
    let (size, sign) = c.parts(x);
    let value = integer_part(&mut c, size, DType::U32);
    let value = signed(&mut c, value, sign);
    c.gives(value)
}

/// The bits of 2^63 as a float32.
const LEAST_LONG: u64 = (127 + 63) << 23;

fn long_of_float() -> Program {
    let mut c = Code::new();
    let x = c.0.param(DType::F32);
    let (size, sign) = c.parts(x);
    let value = integer_part(&mut c, size, DType::U64);
    let value = signed(&mut c, value, sign);
    let least = c.like(value, 1 << 63);
    let fits = c.with(Op::Lt, size, LEAST_LONG);
    let value = c.select(fits, value, least);
    let value = c.bits(value, DType::I64);
    c.gives(value)
}

fn ulong_of_float() -> Program {
    let mut c = Code::new();
    let x = c.0.param(DType::F32);
    let (size, sign) = c.parts(x);
    let value = integer_part(&mut c, size, DType::U64);
    let value = signed(&mut c, value, sign);
    let none = c.like(value, 0);
    let above = c.with(Op::Ge, size, (127 + 64) << 23);
    let value = c.select(above, none, value);
    let least = c.like(value, 1 << 63);
    let below = c.with(Op::Ge, size, LEAST_LONG);
    let negative = c.with(Op::Ne, sign, 0);
    let below = c.op(Op::And, &[below, negative]);
    let nan = c.with(Op::Gt, size, INFINITY);
    let lost = c.op(Op::Or, &[below, nan]);
    let value = c.select(lost, least, value);
    c.gives(value)
}

fn ulong_of_double() -> Program {
    let mut c = Code::new();
    let x = c.0.param(DType::F64);
    let half = 2f64.powi(63).to_bits();
    let less = c.with(Op::Sub, x, half);
    let [low, high] = [x, less].map(|x| {
        let value = c.cast(x, DType::I64);
        c.bits(value, DType::U64)
    });
    let high = c.with(Op::Xor, high, 1 << 63);
    let above = c.with(Op::Ge, x, half);
    let value = c.select(above, high, low);
    c.gives(value)
}

/// The nearest float32 of an unsigned integer of 64 bits, rounded once.
fn nearest_float(c: &mut Code, x: u32) -> u32 {
    let high = c.with(Op::Shr, x, 32);
    let high = c.cast(high, DType::U32);
    // The exponent of the upper half tells its length, or one more.
    let length = c.cast(high, DType::F32);
    let length = c.bits(length, DType::U32);
    let length = c.with(Op::Shr, length, 23);
    let one = c.like(length, 126);
    let length = c.op(Op::Max, &[length, one]);
    let length = c.op(Op::Sub, &[length, one]);
    // What is shifted out leaves its trace in the last bit, which is far below the rounding.
    let count = c.cast(length, DType::U64);
    let top = c.op(Op::Shr, &[x, count]);
    let back = c.op(Op::Shl, &[top, count]);
    let inexact = c.op(Op::Ne, &[back, x]);
    let inexact = c.cast(inexact, DType::U32);
    let top = c.cast(top, DType::U32);
    let top = c.op(Op::Or, &[top, inexact]);
    let float = c.cast(top, DType::F32);
    let scale = c.with(Op::Add, length, 127);
    let scale = c.with(Op::Shl, scale, 23);
    let scale = c.bits(scale, DType::F32);
    c.op(Op::Mul, &[float, scale])
}

fn float_of_ulong() -> Program {
    let mut c = Code::new();
    let x = c.0.param(DType::U64);
    let value = nearest_float(&mut c, x);
    c.gives(value)
}

fn float_of_long() -> Program {
    let mut c = Code::new();
    let x = c.0.param(DType::I64);
    let size = c.op(Op::Abs, &[x]);
    let size = c.bits(size, DType::U64);
    let float = nearest_float(&mut c, size);
    let opposite = c.op(Op::Neg, &[float]);
    let negative = c.with(Op::Lt, x, 0);
    let value = c.select(negative, opposite, float);
    c.gives(value)
}

/// Float16 is infinite from far fewer than 32 bits on.
fn half_of_long(dtype: DType) -> Program {
    let mut c = Code::new();
    let x = c.0.param(dtype);
    let most = 1 << 20;
    let x = c.with(Op::Min, x, most);
    let (x, small) = match dtype {
        DType::I64 => (c.with(Op::Max, x, most.wrapping_neg()), DType::I32),
        _ => (x, DType::U32),
    };
    let x = c.cast(x, small);
    let value = c.cast(x, DType::F16);
    let value = c.cast(value, DType::F32);
    c.gives(value)
}

/// Rounded to odd on the way: a float32 that is not exact ends in 1, and so is never a tie.
fn half_of_double() -> Program {
    let mut c = Code::new();
    let x = c.0.param(DType::F64);
    let near = c.cast(x, DType::F32);
    let again = c.cast(near, DType::F64);
    let [(near, sign), (size, _), (again, _)] = [near, x, again].map(|x| c.parts(x));
    let above = c.op(Op::Gt, &[again, size]);
    let less = c.with(Op::Sub, near, 1);
    let odd = c.select(above, less, near);
    let odd = c.with(Op::Or, odd, 1);
    let inexact = c.op(Op::Ne, &[again, size]);
    let nan = c.with(Op::Gt, size, f64::INFINITY.to_bits());
    let exact = c.op(Op::Not, &[inexact]);
    let exact = c.op(Op::Or, &[exact, nan]);
    let value = c.select(exact, near, odd);
    let value = c.op(Op::Or, &[value, sign]);
    let value = c.bits(value, DType::F32);
    let value = c.cast(value, DType::F16);
    let value = c.cast(value, DType::F32);
    c.gives(value)
}

/// The sign bit and exponent of one, but zero for zeros, and NaN as it is.
fn sign_of(dtype: DType) -> Program {
    let (one, infinity) = match dtype {
        DType::F64 => (1f64.to_bits(), f64::INFINITY.to_bits()),
        _ => (1f32.to_bits().into(), INFINITY),
    };
    let mut c = Code::new();
    let x = c.0.param(dtype);
    let (size, sign) = c.parts(x);
    let value = c.with(Op::Or, sign, one);
    let none = c.with(Op::Eq, size, 0);
    let zero = c.like(size, 0);
    let value = c.select(none, zero, value);
    let value = c.bits(value, dtype);
    let nan = c.with(Op::Gt, size, infinity);
    let value = c.select(nan, x, value);
    c.gives(value)
}

/// By way of magnitudes, because C's quotient of the least integer by -1 is undefined.
fn floor_div(dtype: DType, unsigned: DType) -> Program {
    let mut c = Code::new();
    let (a, b) = (c.0.param(dtype), c.0.param(dtype));
    let [x, y] = [a, b].map(|value| {
        let size = c.op(Op::Abs, &[value]);
        c.bits(size, unsigned)
    });
    let quotient = c.op(Op::FloorDiv, &[x, y]);
    let product = c.op(Op::Mul, &[quotient, y]);
    let inexact = c.op(Op::Ne, &[product, x]);
    let inexact = c.cast(inexact, unsigned);
    let down = c.op(Op::Add, &[quotient, inexact]);
    let down = c.op(Op::Neg, &[down]);
    let [less, other] = [a, b].map(|value| c.with(Op::Lt, value, 0));
    let differ = c.op(Op::Xor, &[less, other]);
    let value = c.select(differ, down, quotient);
    let zero = c.like(value, 0);
    let none = c.with(Op::Eq, b, 0);
    let value = c.select(none, zero, value);
    let value = c.bits(value, dtype);
    c.gives(value)
}

fn floor_mod(dtype: DType) -> Program {
    let mut c = Code::new();
    let (a, b) = (c.0.param(dtype), c.0.param(dtype));
    let quotient = c.op(Op::FloorDiv, &[a, b]);
    let product = c.op(Op::Mul, &[quotient, b]);
    let rest = c.op(Op::Sub, &[a, product]);
    let zero = c.like(rest, 0);
    let none = c.with(Op::Eq, b, 0);
    let value = c.select(none, zero, rest);
    c.gives(value)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::dialect::{held, hold};
    use gpupy_core::op_eval;

    /// Runs a program of scalar operations.
    fn run(program: &Program, params: &[Scalar]) -> Scalar {
        let mut values: Vec<Scalar> = Vec::new();
        for inst in &program.insts {
            let [a, b, _] = inst.args;
            values.push(match inst.op {
                Op::Param => params[a as usize],
                Op::Const => Scalar::new(inst.dtype, u64::from(a) | u64::from(b) << 32),
                Op::Store => return values[b as usize],
                op => {
                    let args: Vec<Scalar> =
                        program.uses(inst).map(|v| values[v as usize]).collect();
                    op_eval::eval(op, inst.dtype, &args).unwrap()
                }
            });
        }
        panic!("a function gives a value");
    }

    /// Bits of all sizes and kinds, of a dtype.
    fn samples(dtype: DType) -> Vec<Scalar> {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 29
        };
        let mut bits: Vec<u64> = (0..64).flat_map(|k| [1 << k, (1 << k) - 1, !0 << k]).collect();
        bits.extend((0..20_000).map(|k| random() >> (k % 64)));
        // Floats of ordinary sizes, and near what fits in integers.
        let near = |k: i32| [1.0, 1.5, 1.0 + 1e-7, 1.0 - 1e-7].map(|x| x * 2f64.powi(k));
        let floats = (-30..70).flat_map(near).flat_map(|x| [x, -x]);
        let floats: Vec<f64> = floats.chain([0.0, -0.0, f64::NAN, f64::INFINITY]).collect();
        match dtype {
            DType::F64 => bits.extend(floats.iter().map(|x| x.to_bits())),
            DType::F32 => bits.extend(floats.iter().map(|x| u64::from((*x as f32).to_bits()))),
            _ => {}
        }
        bits.into_iter().map(|bits| Scalar::new(dtype, bits)).collect()
    }

    #[test]
    fn functions_give_the_bits_of_the_operations_that_call_them() {
        let casts = [
            ("half_round", DType::F32, DType::F16),
            ("uint_of", DType::F32, DType::U32),
            ("long_of", DType::F32, DType::I64),
            ("ulong_of", DType::F32, DType::U64),
            ("ulong_of", DType::F64, DType::U64),
            ("float_of", DType::U64, DType::F32),
            ("float_of", DType::I64, DType::F32),
            ("half_of", DType::U64, DType::F16),
            ("half_of", DType::I64, DType::F16),
            ("half_of_double", DType::F64, DType::F16),
        ];
        let mut tested = 2; // the bits of float16 are tested below
        for function in FUNCTIONS.iter() {
            let same = |(name, from, _): &&_| (*name, *from) == (function.name, function.dtype);
            let (op, to) = match (casts.iter().find(same), function.name) {
                (Some((_, _, to)), _) => (Op::Cast, *to),
                (_, "sign_of") => (Op::Sign, function.dtype),
                (_, "floor_div") => (Op::FloorDiv, function.dtype),
                (_, "floor_mod") => (Op::Mod, function.dtype),
                _ => continue,
            };
            tested += 1;
            let samples = samples(function.dtype);
            for (k, x) in samples.iter().enumerate() {
                let y = samples[(k * 7 + k / 91) % samples.len()];
                let args = &[*x, y][..op.info().arity as usize];
                let wanted = hold(op_eval::eval(op, to, args).unwrap());
                let got = run(&function.program, args);
                let nan =
                    |x: Scalar| op_eval::eval(Op::Ne, DType::Bool, &[x, x]).unwrap().as_bool();
                let same = got == wanted || nan(got) && nan(wanted);
                assert!(same, "{} of {args:x?}: {got:x?}, not {wanted:x?}", function.name);
            }
        }
        assert_eq!(tested, FUNCTIONS.len());
    }

    #[test]
    fn every_float16_keeps_its_bits_through_a_register() {
        let named = |name| FUNCTIONS.iter().find(|f| f.name == name).unwrap();
        let (bits_of, of_bits) = (named("half_bits"), named("half_of_bits"));
        for bits in 0..=u16::MAX {
            let value = Scalar::new(DType::F16, bits.into());
            let word = hold(Scalar::new(DType::U16, bits.into()));
            assert_eq!(run(&of_bits.program, &[word]), hold(value), "{bits:x}");
            assert_eq!(run(&bits_of.program, &[hold(value)]), word, "{bits:x}");
        }
        assert_eq!(held(DType::F16), DType::F32);
    }
}
