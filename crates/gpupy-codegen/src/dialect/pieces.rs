//! The trait of a C-like shading language.
//!
//! Owns [`Dialect`], [`Width`], [`Logic`] and [`Helper`]; and [`held`] and [`hold`], the representation of narrow
//! dtypes in registers. Invariants: operands passed to a method are names or parenthesised, so that a method may use
//! them more than once and beside any operator. A method treats a narrow dtype like the dtype that holds it.
//!
//! Not here: operations (`emit/operations.rs`), functions of several operations (`emit/library/`).

use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar, op_eval};

/// The number of consecutive elements in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// One element.
    One,
    /// Four elements, the components of a vector.
    Four,
}

/// Logical connectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// Both hold.
    And,
    /// At least one holds.
    Or,
    /// Exactly one holds.
    Xor,
}

/// A function that a language lacks. A kernel that calls it defines it.
#[derive(Clone, Copy, Debug)]
pub struct Helper {
    /// Its name, one identifier.
    pub name: &'static str,
    /// Its definitions.
    pub text: &'static str,
}

/// The names of vector components, by index.
pub const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// The dtype that holds values of a dtype in registers. Narrow dtypes are held in 32 bits, exactly.
pub const fn held(dtype: DType) -> DType {
    dtype.held()
}

/// A scalar as registers hold it.
pub fn hold(value: Scalar) -> Scalar {
    let held = held(value.dtype);
    // Only complex numbers have no cast, and no kernel of this crate has them.
    op_eval::eval(Op::Cast, held, &[value]).unwrap_or(value)
}

/// A shading language.
pub trait Dialect {
    /// The type of a value.
    fn type_name(&self, dtype: DType, width: Width) -> &'static str;

    /// Declares a value, with arithmetic done exactly as written (`precise`).
    fn declare(&self, dtype: DType, width: Width, name: &str, value: &str) -> String;

    /// Declares a `precise` variable without a value.
    fn variable(&self, dtype: DType, width: Width, name: &str) -> String;

    /// Declares a `precise` variable with a first value.
    fn start(&self, dtype: DType, width: Width, name: &str, value: &str) -> String;

    /// Declares a loop counter, an int.
    fn counter(&self, name: &str) -> String;

    /// Opens the definition of a function. `params` are names and dtypes.
    fn function(&self, name: &str, params: &[(&str, DType)], to: DType, width: Width) -> String;

    /// A scalar literal.
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

    /// Whether compilers may take a select between the operands of its own comparison for their built-in minimum or
    /// maximum, which drops NaN.
    fn drops_nan(&self) -> bool {
        false
    }

    /// Whether a float is NaN.
    fn is_nan(&self, dtype: DType, width: Width, a: &str) -> String;

    /// A logical connective of two bools.
    fn logic(&self, logic: Logic, width: Width, a: &str, b: &str) -> String;

    /// The negation of a bool.
    fn inverse(&self, width: Width, a: &str) -> String;

    /// Whether any of four bools holds.
    fn any(&self, a: &str) -> String {
        format!("any({a})")
    }

    /// `a` where `condition` holds, otherwise `b`.
    fn select(&self, dtype: DType, width: Width, condition: &str, a: &str, b: &str) -> String;

    /// A bitcast between dtypes of one size, 4 or 8 bytes.
    fn bitcast(&self, from: DType, to: DType, width: Width, a: &str) -> String;

    /// The built-in conversion between dtypes, for values with one defined result.
    fn convert(&self, to: DType, width: Width, a: &str) -> String {
        format!("{}({a})", self.type_name(to, width))
    }

    /// A float result that compilers cannot transform. It is `value` itself if declarations are `precise`.
    fn exact(&self, dtype: DType, width: Width, value: String) -> String;

    /// The name of the built-in function for sqrt, floor, ceil, trunc, rint, min or max.
    fn builtin(&self, op: Op) -> Option<&'static str>;

    /// The functions that the language lacks, each after the functions that it calls.
    fn helpers(&self) -> &'static [Helper];

    /// Argument word `n` as a scalar of `dtype`, from the array `k` of vectors of four ints. A 64-bit scalar has its
    /// low half in word `n` and its high half in `n + 1`.
    fn word(&self, n: usize, dtype: DType) -> String {
        let int = |n: usize| format!("k[{}].{}", n / 4, COMPONENTS[n % 4]);
        self.typed(dtype, &int(n), &int(n + 1))
    }

    /// A scalar of `dtype` from the int, or for 64 bits the two ints, that hold its bits.
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
