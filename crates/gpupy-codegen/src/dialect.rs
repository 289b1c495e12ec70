//! What a C-like shading language must spell for the shared printer.
//!
//! Owns [`Dialect`], [`Width`], [`Logic`] and [`Helper`]. Invariant: operands handed to a method are
//! names or parenthesised, so a method may use them more than once and beside any operator.
//!
//! Not here: operations made of these pieces (`operations.rs`).

use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// How many consecutive elements a value holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// One element.
    One,
    /// Four elements, one for each component of a texel.
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

/// A function that a kernel's text defines when it calls it.
#[derive(Clone, Copy, Debug)]
pub struct Helper {
    /// Its name, a whole word.
    pub name: &'static str,
    /// Its definition for one element.
    pub one: &'static str,
    /// Its definition for four.
    pub four: &'static str,
}

/// A shading language.
pub trait Dialect {
    /// The type of a value.
    fn type_name(&self, dtype: DType, width: Width) -> &'static str;

    /// Declares a value whose arithmetic is done exactly as written.
    fn declare(&self, dtype: DType, width: Width, name: &str, value: &str) -> String;

    /// Declares a variable to be assigned later, with the same promise.
    fn variable(&self, dtype: DType, width: Width, name: &str) -> String;

    /// Number `n` of the launch, read as a scalar of `dtype`.
    fn word(&self, n: usize, dtype: DType) -> String;

    /// A scalar by its bits.
    fn literal(&self, value: Scalar) -> String;

    /// A scalar in every component.
    fn splat(&self, dtype: DType, width: Width, scalar: &str) -> String;

    /// A comparison of two values of `dtype`, not bool.
    fn compare(&self, op: Op, width: Width, a: &str, b: &str) -> String;

    /// A connective of two bools.
    fn logic(&self, logic: Logic, width: Width, a: &str, b: &str) -> String;

    /// The opposite of a bool.
    fn inverse(&self, width: Width, a: &str) -> String;

    /// Whether one of four bools holds.
    fn any(&self, a: &str) -> String;

    /// `a` where `condition` holds, otherwise `b`.
    fn select(&self, dtype: DType, width: Width, condition: &str, a: &str, b: &str) -> String;

    /// The same bits as another dtype of four bytes.
    fn bitcast(&self, from: DType, to: DType, width: Width, a: &str) -> String;

    /// The built-in conversion between dtypes, where every value has one result.
    fn convert(&self, to: DType, width: Width, a: &str) -> String;

    /// The name of the built-in function for sqrt, floor, ceil, trunc, rint, min, max or sign.
    fn builtin(&self, op: Op) -> Option<&'static str>;

    /// The functions that operations may call, each after those that it calls itself.
    fn helpers(&self) -> &'static [Helper];
}

/// Definitions of the helpers that `text` calls; those for four elements only where it has fours.
pub fn definitions(dialect: &dyn Dialect, text: &str, four: bool) -> String {
    let mut wanted: Vec<String> = Vec::new();
    for helper in dialect.helpers().iter().rev() {
        let call = format!("{}(", helper.name);
        if text.contains(&call) || wanted.iter().any(|w| w.contains(&call)) {
            // The definitions for four may call those for one.
            wanted.push([helper.one, if four { helper.four } else { "" }].concat());
        }
    }
    wanted.reverse();
    wanted.concat()
}
