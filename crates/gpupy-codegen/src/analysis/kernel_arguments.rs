//! Kernel arguments: the 32-bit words (uniforms or push constants) by which one kernel serves many launches.
//!
//! Owns `ArgumentWords` and the types that refer to words: `AffineIndex`, `Divisor`, `ParameterSource`.
//! Invariant: a word is named by its position in the list, and positions depend on the plan alone.
//!
//! Not here: how a kernel reads its words (`fragment/texel_reader.rs`, `compute/text/kernel_text.rs`).

use crate::dialect::hold;
use gpupy_core::Scalar;

/// The argument words of a launch.
#[derive(Debug, Default)]
pub(crate) struct ArgumentWords {
    pub list: Vec<i32>,
    /// True when the kernel computes a quotient.
    pub divides: bool,
}

impl ArgumentWords {
    pub fn int(&mut self, value: i64) -> u16 {
        self.bits(value as i32)
    }

    /// Adds a summand, usually the offset of a block, unless it is 0.
    pub fn offset(&mut self, value: i64) -> Option<u16> {
        (value != 0).then(|| self.int(value))
    }

    pub fn float(&mut self, value: f32) -> u16 {
        self.bits(value.to_bits() as i32)
    }

    pub fn bits(&mut self, bits: i32) -> u16 {
        self.list.push(bits);
        (self.list.len() - 1) as u16
    }

    /// Adds a scalar as registers hold it: one word, or two with the low one first.
    pub fn scalar(&mut self, value: Scalar) -> u16 {
        let held = hold(value);
        let first = self.bits(held.bits as i32);
        if held.dtype.size() == 8 {
            self.bits((held.bits >> 32) as i32);
        }
        first
    }
}

/// `constant + Σ coefficient · i[axis]`, in words. A missing constant is 0; a missing coefficient is 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AffineIndex {
    pub constant: Option<u16>,
    pub terms: Vec<(u8, Option<u16>)>,
}

impl AffineIndex {
    pub fn new(
        words: &mut ArgumentWords,
        constant: i64,
        strides: &[i64],
        shape: &[i64],
    ) -> AffineIndex {
        let constant = words.offset(constant);
        let mut terms = Vec::new();
        for (axis, (stride, n)) in strides.iter().zip(shape).enumerate() {
            if *stride != 0 && *n > 1 {
                terms.push((axis as u8, (*stride != 1).then(|| words.int(*stride))));
            }
        }
        AffineIndex { constant, terms }
    }

    /// The sum in parentheses. `word` gives the text of a word, `coordinate` that of an axis' coordinate.
    pub fn text(
        &self,
        word: impl Fn(u16) -> String,
        mut coordinate: impl FnMut(u8) -> String,
    ) -> String {
        let mut parts: Vec<String> = self.constant.iter().map(|n| word(*n)).collect();
        for (axis, coefficient) in &self.terms {
            let name = coordinate(*axis);
            parts.push(match coefficient {
                Some(coefficient) => format!("{} * {name}", word(*coefficient)),
                None => name,
            });
        }
        if parts.is_empty() { "0".to_owned() } else { format!("({})", parts.join(" + ")) }
    }
}

/// A divisor: the word of its value and the word of its reciprocal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Divisor {
    pub by: u16,
    pub reciprocal: u16,
}

impl Divisor {
    pub fn new(words: &mut ArgumentWords, by: i64) -> Divisor {
        words.divides = true;
        Divisor { by: words.int(by), reciprocal: words.float(1.0 / by as f32) }
    }
}

/// How a scalar parameter reaches the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ParameterSource {
    /// As an argument word.
    Word(u16),
    /// As a literal of these bits.
    Literal(u64),
}

/// True for operands that compilers fold even under `precise`.
pub(crate) fn is_hazardous(value: Scalar) -> bool {
    if !value.dtype.is_float() {
        return false;
    }
    let infinity = value.dtype.infinity();
    // The exponent of one is the bias: all bits of an exponent but the first.
    let one = infinity >> 1 & infinity;
    // All bits but the sign's.
    let size = value.bits & ((1 << (8 * value.dtype.size() - 1)) - 1);
    size == 0 || size == one || size >= infinity
}
