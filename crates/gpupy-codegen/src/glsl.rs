//! GLSL's spellings, for versions 4.00 and 3.30 with `GL_ARB_gpu_shader5`.
//!
//! Owns [`Glsl`]. Invariants: nothing here needs more than GLSL 4.00 (so `mix` with bools only for
//! floats); every helper is exact.
//!
//! Not here: what surrounds a kernel's statements (`fragment/`).

use crate::dialect::{Dialect, Helper, Logic, Width};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// GLSL, fragment and compute.
#[derive(Clone, Copy, Debug, Default)]
pub struct Glsl;

/// The component names, by number.
pub const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

impl Glsl {
    /// Number `n` of the launch out of the vectors `c<n / 4>` that were read before.
    pub(crate) fn held_word(&self, n: usize, dtype: DType) -> String {
        typed_word(format!("c{}.{}", n / 4, COMPONENTS[n % 4]), dtype)
    }
}

/// An int of the launch's numbers as the dtype that it stands for.
fn typed_word(word: String, dtype: DType) -> String {
    match dtype {
        DType::Bool => format!("({word} != 0)"),
        DType::U32 => format!("uint({word})"),
        DType::F32 => format!("intBitsToFloat({word})"),
        _ => word,
    }
}

impl Dialect for Glsl {
    fn type_name(&self, dtype: DType, width: Width) -> &'static str {
        match (dtype, width) {
            (DType::Bool, Width::One) => "bool",
            (DType::Bool, Width::Four) => "bvec4",
            (DType::I32, Width::One) => "int",
            (DType::I32, Width::Four) => "ivec4",
            (DType::U32, Width::One) => "uint",
            (DType::U32, Width::Four) => "uvec4",
            (_, Width::One) => "float",
            (_, Width::Four) => "vec4",
        }
    }

    fn declare(&self, dtype: DType, width: Width, name: &str, value: &str) -> String {
        format!("{} = {value}", self.variable(dtype, width, name))
    }

    fn variable(&self, dtype: DType, width: Width, name: &str) -> String {
        let precise = if dtype.is_float() { "precise " } else { "" };
        format!("{precise}{} {name}", self.type_name(dtype, width))
    }

    fn word(&self, n: usize, dtype: DType) -> String {
        typed_word(format!("k[{}].{}", n / 4, COMPONENTS[n % 4]), dtype)
    }

    fn literal(&self, value: Scalar) -> String {
        match value.dtype {
            DType::Bool => value.as_bool().to_string(),
            DType::U32 => format!("{:#x}u", value.as_u32()),
            DType::F32 => format!("uintBitsToFloat({:#010x}u)", value.as_u32()),
            // The least integer has no decimal literal.
            _ if value.as_i32() == i32::MIN => "int(0x80000000u)".to_owned(),
            _ if value.as_i32() < 0 => format!("({})", value.as_i32()),
            _ => value.as_i32().to_string(),
        }
    }

    fn splat(&self, dtype: DType, width: Width, scalar: &str) -> String {
        match width {
            Width::One => scalar.to_owned(),
            Width::Four => format!("{}({scalar})", self.type_name(dtype, width)),
        }
    }

    fn compare(&self, op: Op, width: Width, a: &str, b: &str) -> String {
        let (operator, function) = match op {
            Op::Eq => ("==", "equal"),
            Op::Ne => ("!=", "notEqual"),
            Op::Lt => ("<", "lessThan"),
            Op::Le => ("<=", "lessThanEqual"),
            Op::Gt => (">", "greaterThan"),
            _ => (">=", "greaterThanEqual"),
        };
        match width {
            Width::One => format!("({a} {operator} {b})"),
            Width::Four => format!("{function}({a}, {b})"),
        }
    }

    fn logic(&self, logic: Logic, width: Width, a: &str, b: &str) -> String {
        let (operator, function) = match logic {
            Logic::And => ("&&", "both"),
            Logic::Or => ("||", "either"),
            Logic::Xor => ("!=", "notEqual"),
        };
        match width {
            Width::One => format!("({a} {operator} {b})"),
            Width::Four => format!("{function}({a}, {b})"),
        }
    }

    fn inverse(&self, width: Width, a: &str) -> String {
        match width {
            Width::One => format!("(!{a})"),
            Width::Four => format!("not({a})"),
        }
    }

    fn any(&self, a: &str) -> String {
        format!("any({a})")
    }

    fn select(&self, dtype: DType, width: Width, condition: &str, a: &str, b: &str) -> String {
        match (width, dtype) {
            (Width::One, _) => format!("({condition} ? {a} : {b})"),
            // With a bool as its weight `mix` chooses and computes nothing.
            (Width::Four, DType::F32) => format!("mix({b}, {a}, {condition})"),
            (Width::Four, _) => format!("choose({condition}, {a}, {b})"),
        }
    }

    fn bitcast(&self, from: DType, to: DType, width: Width, a: &str) -> String {
        match (from, to) {
            (DType::F32, DType::I32) => format!("floatBitsToInt({a})"),
            (DType::F32, DType::U32) => format!("floatBitsToUint({a})"),
            (DType::I32, DType::F32) => format!("intBitsToFloat({a})"),
            (DType::U32, DType::F32) => format!("uintBitsToFloat({a})"),
            (from, to) if from == to => a.to_owned(),
            _ => self.convert(to, width, a),
        }
    }

    fn convert(&self, to: DType, width: Width, a: &str) -> String {
        format!("{}({a})", self.type_name(to, width))
    }

    fn builtin(&self, op: Op) -> Option<&'static str> {
        Some(match op {
            Op::Sqrt => "sqrt",
            Op::Floor => "floor",
            Op::Ceil => "ceil",
            Op::Trunc => "trunc",
            Op::Rint => "roundEven",
            Op::Min => "min",
            Op::Max => "max",
            Op::Sign => "sign",
            _ => return None,
        })
    }

    fn helpers(&self) -> &'static [Helper] {
        HELPERS
    }
}

/// A helper's name, its definitions for one element, and those for four.
macro_rules! helper {
    ($name:literal, $one:literal, $four:literal) => {
        Helper { name: $name, one: concat!($one, "\n"), four: concat!($four, "\n") }
    };
}

const HELPERS: &[Helper] = &[
    helper!(
        "both",
        "bool both(bool a, bool b) { return a && b; }",
        "bvec4 both(bvec4 a, bvec4 b) { \
         return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }"
    ),
    helper!(
        "either",
        "bool either(bool a, bool b) { return a || b; }",
        "bvec4 either(bvec4 a, bvec4 b) { \
         return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }"
    ),
    // Four overloads: GLSL 4.00 has `mix` with bools for floats only.
    helper!(
        "choose",
        "int choose(bool c, int a, int b) { return c ? a : b; }\n\
         uint choose(bool c, uint a, uint b) { return c ? a : b; }\n\
         bool choose(bool c, bool a, bool b) { return c ? a : b; }",
        "ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { \
         return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }\n\
         uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { \
         return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }\n\
         bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { \
         return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }"
    ),
    // The sign bit and exponent of one, but zero for zeros, and NaN as it is.
    helper!(
        "sign_of",
        "float sign_of(float a) { uint m = floatBitsToUint(a) & 0x7fffffffu; \
         uint s = (floatBitsToUint(a) & 0x80000000u) | 0x3f800000u; \
         return m > 0x7f800000u ? a : uintBitsToFloat(m == 0u ? 0u : s); }",
        "vec4 sign_of(vec4 a) { return vec4(sign_of(a.x), sign_of(a.y), sign_of(a.z), \
         sign_of(a.w)); }"
    ),
    // Values out of range and NaN become the least integer.
    helper!(
        "int_of_float",
        "int int_of_float(float a) { \
         return a >= -2147483648.0 && a < 2147483648.0 ? int(a) : int(0x80000000u); }",
        "ivec4 int_of_float(vec4 a) { return ivec4(int_of_float(a.x), int_of_float(a.y), \
         int_of_float(a.z), int_of_float(a.w)); }"
    ),
    // The low bits of the integer part, whatever its size, as a conversion by way of int64 gives.
    helper!(
        "uint_of_float",
        "uint uint_of_float(float a) { uint b = floatBitsToUint(a); \
         int s = int((b >> 23) & 0xffu) - 150; uint m = (b & 0x7fffffu) | 0x800000u; \
         uint u = s >= 0 ? (s < 32 ? m << uint(s) : 0u) : (s > -24 ? m >> uint(-s) : 0u); \
         return (b >> 31) != 0u ? 0u - u : u; }",
        "uvec4 uint_of_float(vec4 a) { return uvec4(uint_of_float(a.x), uint_of_float(a.y), \
         uint_of_float(a.z), uint_of_float(a.w)); }"
    ),
    // By way of magnitudes, because C's quotient of the least integer by -1 is undefined.
    helper!(
        "floor_div",
        "int floor_div(int a, int b) { uint x = a < 0 ? 0u - uint(a) : uint(a); \
         uint y = b < 0 ? 0u - uint(b) : uint(b); uint d = y == 0u ? 1u : y; \
         uint q = (a < 0) != (b < 0) ? 0u - (x / d + (x % d != 0u ? 1u : 0u)) : x / d; \
         return y == 0u ? 0 : int(q); }\n\
         uint floor_div(uint a, uint b) { return b == 0u ? 0u : a / (b == 0u ? 1u : b); }",
        "ivec4 floor_div(ivec4 a, ivec4 b) { return ivec4(floor_div(a.x, b.x), \
         floor_div(a.y, b.y), floor_div(a.z, b.z), floor_div(a.w, b.w)); }\n\
         uvec4 floor_div(uvec4 a, uvec4 b) { return uvec4(floor_div(a.x, b.x), \
         floor_div(a.y, b.y), floor_div(a.z, b.z), floor_div(a.w, b.w)); }"
    ),
    helper!(
        "floor_mod",
        "int floor_mod(int a, int b) { return b == 0 ? 0 : a - floor_div(a, b) * b; }\n\
         uint floor_mod(uint a, uint b) { return b == 0u ? 0u : a % (b == 0u ? 1u : b); }",
        "ivec4 floor_mod(ivec4 a, ivec4 b) { return ivec4(floor_mod(a.x, b.x), \
         floor_mod(a.y, b.y), floor_mod(a.z, b.z), floor_mod(a.w, b.w)); }\n\
         uvec4 floor_mod(uvec4 a, uvec4 b) { return uvec4(floor_mod(a.x, b.x), \
         floor_mod(a.y, b.y), floor_mod(a.z, b.z), floor_mod(a.w, b.w)); }"
    ),
    // A negative count is a huge one as an unsigned number.
    helper!(
        "shift_left",
        "int shift_left(int a, int b) { return uint(b) < 32u ? a << (b & 31) : 0; }\n\
         uint shift_left(uint a, uint b) { return b < 32u ? a << (b & 31u) : 0u; }",
        "ivec4 shift_left(ivec4 a, ivec4 b) { return ivec4(shift_left(a.x, b.x), \
         shift_left(a.y, b.y), shift_left(a.z, b.z), shift_left(a.w, b.w)); }\n\
         uvec4 shift_left(uvec4 a, uvec4 b) { return uvec4(shift_left(a.x, b.x), \
         shift_left(a.y, b.y), shift_left(a.z, b.z), shift_left(a.w, b.w)); }"
    ),
    helper!(
        "shift_right",
        "int shift_right(int a, int b) { return a >> (uint(b) < 32u ? b & 31 : 31); }\n\
         uint shift_right(uint a, uint b) { return b < 32u ? a >> (b & 31u) : 0u; }",
        "ivec4 shift_right(ivec4 a, ivec4 b) { return ivec4(shift_right(a.x, b.x), \
         shift_right(a.y, b.y), shift_right(a.z, b.z), shift_right(a.w, b.w)); }\n\
         uvec4 shift_right(uvec4 a, uvec4 b) { return uvec4(shift_right(a.x, b.x), \
         shift_right(a.y, b.y), shift_right(a.z, b.z), shift_right(a.w, b.w)); }"
    ),
];
