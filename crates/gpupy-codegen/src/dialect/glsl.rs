//! The GLSL dialect, for versions 4.00, 4.50, and 3.30 with `GL_ARB_gpu_shader5`.
//!
//! Owns [`Glsl`]. Invariant: nothing but 64-bit integers needs more than GLSL 4.00, so `mix` takes bools only for
//! floats. 64-bit integers need `GL_ARB_gpu_shader_int64` or `GL_EXT_shader_explicit_arithmetic_types_int64`, which
//! have the same syntax.
//!
//! Not here: the code around a kernel's statements (`fragment/`, `compute/`).

use crate::dialect::{COMPONENTS, Dialect, Helper, Logic, Width, hold};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// GLSL, fragment and compute.
#[derive(Clone, Copy, Debug, Default)]
pub struct Glsl;

impl Glsl {
    /// Argument word `n`, from the vectors `c<n / 4>` that were read before.
    pub(crate) fn held_word(&self, n: usize, dtype: DType) -> String {
        let int = |n: usize| format!("c{}.{}", n / 4, COMPONENTS[n % 4]);
        self.typed(dtype, &int(n), &int(n + 1))
    }
}

impl Dialect for Glsl {
    fn type_name(&self, dtype: DType, width: Width) -> &'static str {
        let [one, four] = match dtype {
            DType::Bool => ["bool", "bvec4"],
            DType::I8 | DType::I16 | DType::I32 => ["int", "ivec4"],
            DType::U8 | DType::U16 | DType::U32 => ["uint", "uvec4"],
            DType::I64 => ["int64_t", "i64vec4"],
            DType::U64 => ["uint64_t", "u64vec4"],
            DType::F64 => ["double", "dvec4"],
            _ => ["float", "vec4"],
        };
        if width == Width::One { one } else { four }
    }

    fn declare(&self, dtype: DType, width: Width, name: &str, value: &str) -> String {
        format!("{} = {value}", self.variable(dtype, width, name))
    }

    fn variable(&self, dtype: DType, width: Width, name: &str) -> String {
        let precise = if dtype.is_float() { "precise " } else { "" };
        format!("{precise}{} {name}", self.type_name(dtype, width))
    }

    fn start(&self, dtype: DType, width: Width, name: &str, value: &str) -> String {
        self.declare(dtype, width, name, value)
    }

    fn counter(&self, name: &str) -> String {
        format!("int {name}")
    }

    fn function(&self, name: &str, params: &[(&str, DType)], to: DType, width: Width) -> String {
        let typed =
            |(name, dtype): &(&str, DType)| self.type_name(*dtype, width).to_owned() + " " + name;
        let params: Vec<String> = params.iter().map(typed).collect();
        format!("{} {name}({}) {{", self.type_name(to, width), params.join(", "))
    }

    fn literal(&self, value: Scalar) -> String {
        let value = hold(value);
        let (int, bits) = (value.as_i32(), value.bits);
        match value.dtype {
            DType::Bool => value.as_bool().to_string(),
            DType::U32 if bits < 256 => format!("{bits}u"),
            DType::U32 => format!("{bits:#x}u"),
            DType::F32 => format!("uintBitsToFloat({bits:#010x}u)"),
            DType::U64 => format!("{bits:#x}ul"),
            DType::I64 => format!("int64_t({bits:#x}ul)"),
            DType::F64 => format!("uint64BitsToDouble({bits:#x}ul)"),
            // The least integer has no decimal literal.
            _ if int == i32::MIN => "int(0x80000000u)".to_owned(),
            _ if int < 0 => format!("({int})"),
            _ => int.to_string(),
        }
    }

    fn compare(&self, op: Op, _: DType, width: Width, a: &str, b: &str) -> String {
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

    fn is_nan(&self, _: DType, _: Width, a: &str) -> String {
        format!("isnan({a})")
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

    fn select(&self, dtype: DType, width: Width, condition: &str, a: &str, b: &str) -> String {
        match (width, dtype) {
            (Width::One, _) => format!("({condition} ? {a} : {b})"),
            // With a bool as weight, `mix` selects without arithmetic.
            (Width::Four, dtype) if dtype.is_float() => format!("mix({b}, {a}, {condition})"),
            (Width::Four, DType::I64 | DType::U64) => format!("choose_long({condition}, {a}, {b})"),
            (Width::Four, _) => format!("choose({condition}, {a}, {b})"),
        }
    }

    fn bitcast(&self, from: DType, to: DType, width: Width, a: &str) -> String {
        let function = match (from, to) {
            (from, to) if from == to => return a.to_owned(),
            (DType::F32, DType::I32) => "floatBitsToInt",
            (DType::F32, DType::U32) => "floatBitsToUint",
            (DType::I32, DType::F32) => "intBitsToFloat",
            (DType::U32, DType::F32) => "uintBitsToFloat",
            (DType::F64, DType::I64) => "doubleBitsToInt64",
            (DType::F64, DType::U64) => "doubleBitsToUint64",
            (DType::I64, DType::F64) => "int64BitsToDouble",
            (DType::U64, DType::F64) => "uint64BitsToDouble",
            _ => return self.convert(to, width, a),
        };
        format!("{function}({a})")
    }

    fn exact(&self, _: DType, _: Width, value: String) -> String {
        value
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
            _ => return None,
        })
    }

    fn helpers(&self) -> &'static [Helper] {
        HELPERS
    }
}

const HELPERS: &[Helper] = &[
    Helper {
        name: "both",
        text: "bvec4 both(bvec4 a, bvec4 b) { \
               return bvec4(a.x && b.x, a.y && b.y, a.z && b.z, a.w && b.w); }\n",
    },
    Helper {
        name: "either",
        text: "bvec4 either(bvec4 a, bvec4 b) { \
               return bvec4(a.x || b.x, a.y || b.y, a.z || b.z, a.w || b.w); }\n",
    },
    // Overloads: GLSL 4.00 has `mix` with bools for floats only.
    Helper {
        name: "choose",
        text: "ivec4 choose(bvec4 c, ivec4 a, ivec4 b) { \
               return ivec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }\n\
               uvec4 choose(bvec4 c, uvec4 a, uvec4 b) { \
               return uvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }\n\
               bvec4 choose(bvec4 c, bvec4 a, bvec4 b) { \
               return bvec4(c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }\n",
    },
    Helper {
        name: "choose_long",
        text: "i64vec4 choose_long(bvec4 c, i64vec4 a, i64vec4 b) { return i64vec4(\
               c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }\n\
               u64vec4 choose_long(bvec4 c, u64vec4 a, u64vec4 b) { return u64vec4(\
               c.x ? a.x : b.x, c.y ? a.y : b.y, c.z ? a.z : b.z, c.w ? a.w : b.w); }\n",
    },
];
