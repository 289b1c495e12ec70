//! The WGSL dialect, with naga's 64-bit types on devices that have them.
//!
//! Owns [`Wgsl`]. WGSL specifies float arithmetic loosely: a compiler may fuse, reassociate, and fold as if all
//! numbers were finite. [`Wgsl::guards`] hides each result from it. Invariant: nothing here depends on how NaN
//! compares.
//!
//! Not here: the code around a kernel's statements (`compute/`).

use crate::dialect::{Dialect, Helper, Logic, Width, hold};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// WGSL, compute.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wgsl {
    /// True if float results must be opaque to compilers: the bits of each are combined by exclusive or with the u32
    /// `zero`, which the kernel reads from its arguments.
    pub guards: bool,
}

impl Dialect for Wgsl {
    fn type_name(&self, dtype: DType, width: Width) -> &'static str {
        let [one, four] = match dtype {
            DType::Bool => ["bool", "vec4<bool>"],
            DType::I8 | DType::I16 | DType::I32 => ["i32", "vec4<i32>"],
            DType::U8 | DType::U16 | DType::U32 => ["u32", "vec4<u32>"],
            DType::I64 => ["i64", "vec4<i64>"],
            DType::U64 => ["u64", "vec4<u64>"],
            DType::F64 => ["f64", "vec4<f64>"],
            _ => ["f32", "vec4<f32>"],
        };
        if width == Width::One { one } else { four }
    }

    fn declare(&self, dtype: DType, width: Width, name: &str, value: &str) -> String {
        format!("let {name}: {} = {value}", self.type_name(dtype, width))
    }

    fn variable(&self, dtype: DType, width: Width, name: &str) -> String {
        format!("var {name}: {}", self.type_name(dtype, width))
    }

    fn start(&self, dtype: DType, width: Width, name: &str, value: &str) -> String {
        format!("{} = {value}", self.variable(dtype, width, name))
    }

    fn counter(&self, name: &str) -> String {
        format!("var {name}: i32")
    }

    fn function(&self, name: &str, params: &[(&str, DType)], to: DType, width: Width) -> String {
        let typed =
            |(name, dtype): &(&str, DType)| format!("{name}: {}", self.type_name(*dtype, width));
        let params: Vec<String> = params.iter().map(typed).collect();
        format!("fn {name}({}) -> {} {{", params.join(", "), self.type_name(to, width))
    }

    fn literal(&self, value: Scalar) -> String {
        let value = hold(value);
        let (int, bits) = (value.as_i32(), value.bits);
        match value.dtype {
            DType::Bool => value.as_bool().to_string(),
            DType::U32 if bits < 256 => format!("{bits}u"),
            DType::U32 => format!("{bits:#x}u"),
            DType::F32 => format!("bitcast<f32>({bits:#010x}u)"),
            // A call: naga folds constant expressions, and cannot cast such literals.
            DType::U64 => format!("ulong({:#x}u, {:#x}u)", bits as u32, bits >> 32),
            dtype if dtype.size() == 8 => {
                let bits = self.literal(Scalar::new(DType::U64, bits));
                self.bitcast(DType::U64, dtype, Width::One, &bits)
            }
            // The least integer has no decimal literal.
            _ if int == i32::MIN => "bitcast<i32>(0x80000000u)".to_owned(),
            _ if int < 0 => format!("({int}i)"),
            _ => format!("{int}i"),
        }
    }

    fn compare(&self, op: Op, dtype: DType, _: Width, a: &str, b: &str) -> String {
        let operator = match op {
            // `NaN != x` is false on some devices.
            Op::Ne if dtype.is_float() => return format!("(!({a} == {b}))"),
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            _ => ">=",
        };
        format!("({a} {operator} {b})")
    }

    fn drops_nan(&self) -> bool {
        // Results that are opaque are no operands of the comparison.
        !self.guards
    }

    fn is_nan(&self, dtype: DType, width: Width, a: &str) -> String {
        let (bits, mask, infinity) = match dtype {
            DType::F64 => (DType::U64, u64::MAX >> 1, f64::INFINITY.to_bits()),
            _ => (DType::U32, 0x7fff_ffff, f32::INFINITY.to_bits().into()),
        };
        let word = |word| self.splat(bits, width, &self.literal(Scalar::new(bits, word)));
        format!("(({} & {}) > {})", self.bitcast(dtype, bits, width, a), word(mask), word(infinity))
    }

    fn logic(&self, logic: Logic, _: Width, a: &str, b: &str) -> String {
        let operator = match logic {
            Logic::And => "&",
            Logic::Or => "|",
            Logic::Xor => "!=",
        };
        format!("({a} {operator} {b})")
    }

    fn inverse(&self, _: Width, a: &str) -> String {
        format!("(!{a})")
    }

    fn select(&self, _: DType, _: Width, condition: &str, a: &str, b: &str) -> String {
        format!("select({b}, {a}, {condition})")
    }

    fn bitcast(&self, from: DType, to: DType, width: Width, a: &str) -> String {
        if from == to {
            a.to_owned()
        } else {
            format!("bitcast<{}>({a})", self.type_name(to, width))
        }
    }

    fn exact(&self, dtype: DType, width: Width, value: String) -> String {
        if !self.guards {
            return value;
        }
        let (bits, zero) = match dtype {
            DType::F64 => (DType::U64, "u64(zero)"),
            _ => (DType::U32, "zero"),
        };
        let hidden = self.bitcast(dtype, bits, width, &value);
        let hidden = format!("({hidden} ^ {})", self.splat(bits, width, zero));
        self.bitcast(bits, dtype, width, &hidden)
    }

    fn builtin(&self, op: Op) -> Option<&'static str> {
        Some(match op {
            Op::Sqrt => "sqrt",
            Op::Floor => "floor",
            Op::Ceil => "ceil",
            Op::Trunc => "trunc",
            Op::Rint => "round",
            Op::Min => "min",
            Op::Max => "max",
            _ => return None,
        })
    }

    fn helpers(&self) -> &'static [Helper] {
        HELPERS
    }
}

const HELPERS: &[Helper] = &[Helper {
    name: "ulong",
    text: "fn ulong(low: u32, high: u32) -> u64 { return u64(low) | (u64(high) << 32u); }\n",
}];
