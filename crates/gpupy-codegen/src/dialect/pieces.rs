//! What a C-like shading language must spell for the shared printer.
//!
//! Owns [`Dialect`], [`Width`], [`Logic`] and [`Helper`]; and [`held`] and [`hold`], which say how
//! narrow dtypes lie in registers. Invariants: operands handed to a method are names or
//! parenthesised, so a method may use them more than once and beside any operator; methods take
//! narrow dtypes for those that hold them.
//!
//! Not here: operations made of these pieces (`operations.rs`), functions made of operations
//! (`emit/library/`).

use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar, op_eval};

/// How many consecutive elements a value holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// One element.
    One,
    /// Four elements, one for each component of a vector.
    Four,
}

/// Connectives of bools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// Both hold.
    And,
    /// At least one holds.
    Or,
    /// Exactly one holds.
    Xor,
}

/// A function that a language lacks, and a kernel's text defines when it calls it.
#[derive(Clone, Copy, Debug)]
pub struct Helper {
    /// Its name, a whole word.
    pub name: &'static str,
    /// Its definitions.
    pub text: &'static str,
}

/// The component names, by number.
pub const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// The dtype that holds values of a dtype in registers: 32 bits for the narrow ones, whose values it
/// has exactly.
pub const fn held(dtype: DType) -> DType {
    match dtype {
        DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        DType::F16 => DType::F32,
        wide => wide,
    }
}

/// A scalar as it lies in a register.
pub fn hold(value: Scalar) -> Scalar {
    let held = held(value.dtype);
    // Only complex numbers have no casts, and no printer takes them.
    op_eval::eval(Op::Cast, held, &[value]).unwrap_or(value)
}

/// A shading language.
pub trait Dialect {
    /// The type of a value.
    fn type_name(&self, dtype: DType, width: Width) -> &'static str;

    /// Declares a value whose arithmetic is done exactly as written.
    fn declare(&self, dtype: DType, width: Width, name: &str, value: &str) -> String;

    /// Declares a variable to be assigned later, with the same promise.
    fn variable(&self, dtype: DType, width: Width, name: &str) -> String;

    /// Declares a variable with a first value, with the same promise.
    fn start(&self, dtype: DType, width: Width, name: &str, value: &str) -> String;

    /// Declares the int that counts a loop's iterations.
    fn counter(&self, name: &str) -> String;

    /// Opens a function of the width; parameters are names and dtypes.
    fn function(&self, name: &str, params: &[(&str, DType)], to: DType, width: Width) -> String;

    /// A scalar by its bits.
    fn literal(&self, value: Scalar) -> String;

    /// A scalar in every component.
    fn splat(&self, dtype: DType, width: Width, scalar: &str) -> String {
        match width {
            Width::One => scalar.to_owned(),
            Width::Four => format!("{}({scalar})", self.type_name(dtype, width)),
        }
    }

    /// A comparison of two values of `dtype`, not bool.
    fn compare(&self, op: Op, dtype: DType, width: Width, a: &str, b: &str) -> String;

    /// Whether a float is NaN.
    fn is_nan(&self, dtype: DType, width: Width, a: &str) -> String;

    /// A connective of two bools.
    fn logic(&self, logic: Logic, width: Width, a: &str, b: &str) -> String;

    /// The opposite of a bool.
    fn inverse(&self, width: Width, a: &str) -> String;

    /// Whether one of four bools holds.
    fn any(&self, a: &str) -> String {
        format!("any({a})")
    }

    /// `a` where `condition` holds, otherwise `b`.
    fn select(&self, dtype: DType, width: Width, condition: &str, a: &str, b: &str) -> String;

    /// The same bits as another dtype of the same size, 4 or 8 bytes.
    fn bitcast(&self, from: DType, to: DType, width: Width, a: &str) -> String;

    /// The built-in conversion between dtypes, where every value has one result.
    fn convert(&self, to: DType, width: Width, a: &str) -> String {
        format!("{}({a})", self.type_name(to, width))
    }

    /// The result of an operation on floats, so that no compiler looks through it; as it is where
    /// declarations promise that already.
    fn exact(&self, dtype: DType, width: Width, value: String) -> String;

    /// The name of the built-in function for sqrt, floor, ceil, trunc, rint, min or max.
    fn builtin(&self, op: Op) -> Option<&'static str>;

    /// The functions that the language lacks, each after those that it calls itself.
    fn helpers(&self) -> &'static [Helper];

    /// Number `n` of the launch, read as a scalar of `dtype`, out of the array `k` of vectors of four
    /// ints; one of 64 bits is numbers `n`, the low half, and `n + 1`.
    fn word(&self, n: usize, dtype: DType) -> String {
        let int = |n: usize| format!("k[{}].{}", n / 4, COMPONENTS[n % 4]);
        self.typed(dtype, &int(n), &int(n + 1))
    }

    /// A scalar of `dtype` that was given as an int, or of 64 bits as two.
    fn typed(&self, dtype: DType, low: &str, high: &str) -> String {
        let one = Width::One;
        match dtype {
            DType::Bool => format!("({low} != 0)"),
            dtype if dtype.size() == 8 => {
                let [low, high] = [low, high].map(|half| {
                    let half = self.bitcast(DType::I32, DType::U32, one, half);
                    self.convert(DType::U64, one, &half)
                });
                self.bitcast(DType::U64, dtype, one, &format!("({low} | ({high} << 32u))"))
            }
            dtype => self.bitcast(DType::I32, held(dtype), one, low),
        }
    }
}

/// A literal in every component.
pub(crate) fn literal(d: &dyn Dialect, dtype: DType, width: Width, bits: u64) -> String {
    d.splat(dtype, width, &d.literal(Scalar::new(dtype, bits)))
}
