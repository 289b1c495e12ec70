//! Comparison with expected values, and the text of a mismatch.
//!
//! Owns [`accepts`], [`same`] and [`Mismatches`]. Invariant: with a bound of 0 ULP only equal bits are
//! accepted, except that all NaN are equal.
//!
//! Not here: the expected values (`oracle.rs`).

use crate::reporting::describe::show;
use crate::reporting::outcome::{Outcome, fail};
use crate::reporting::trace::trace;
use gpupy_core::{DType, Scalar};

/// True when `got` is within `ulp` of `wanted`.
pub fn accepts(got: Scalar, wanted: Scalar, ulp: f32) -> bool {
    if got.bits == wanted.bits {
        return true;
    }
    if is_nan(got) || is_nan(wanted) {
        return is_nan(got) && is_nan(wanted);
    }
    let (g, w) = (got.as_f32(), wanted.as_f32());
    got.dtype == DType::F32 && ulp > 0.0 && distance(g, w) as f32 <= ulp
}

/// True for a float that is no number.
fn is_nan(x: Scalar) -> bool {
    let sign = 1u64 << (8 * x.dtype.size() - 1);
    x.dtype.is_float() && x.bits & (sign - 1) > x.dtype.infinity()
}

/// Compares moved elements, bit for bit.
pub fn same(got: &[Scalar], wanted: &[Scalar], what: &str) -> Outcome {
    if got.len() != wanted.len() {
        return fail(format!("{what}: {} elements, not {}", got.len(), wanted.len()));
    }
    match got.iter().zip(wanted).position(|(got, wanted)| got.bits != wanted.bits) {
        None => Ok(()),
        Some(at) => {
            let (got, wanted) = (show(got[at]), show(wanted[at]));
            fail(format!("{what}: element {at} is {got}, not {wanted}"))
        }
    }
}

/// How many float32 numbers lie between two that are no NaN; both zeros are one.
fn distance(a: f32, b: f32) -> u64 {
    let ordered = |x: f32| {
        let magnitude = i64::from(x.to_bits() & 0x7fff_ffff);
        if x.is_sign_negative() { -magnitude } else { magnitude }
    };
    ordered(a).abs_diff(ordered(b))
}

/// True for float32 numbers that a device that flushes subnormals may take or give as zero. The
/// least normal number counts, as a device may flush before it rounds.
pub fn may_flush(x: Scalar) -> bool {
    let magnitude = x.as_f32().abs();
    x.dtype == DType::F32 && magnitude > 0.0 && magnitude <= f32::MIN_POSITIVE
}

/// The first mismatches of a case, in words, and the count of all.
#[derive(Default)]
pub struct Mismatches {
    words: String,
    count: usize,
    compared: usize,
}

/// Mismatches that a failure tells in full.
const TOLD: usize = 4;

/// Comparisons that are told in full when a case is repeated.
const TOLD_ON_REQUEST: usize = 256;

impl Mismatches {
    /// Compares one element; `inputs` is asked for only when it is told.
    pub fn compare(
        &mut self,
        at: usize,
        got: Scalar,
        wanted: Scalar,
        ulp: f32,
        inputs: impl Fn() -> Vec<Scalar>,
    ) {
        self.compared += 1;
        if self.compared <= TOLD_ON_REQUEST {
            trace(|| words(at, got, wanted, ulp, &inputs()));
        }
        if accepts(got, wanted, ulp) {
            return;
        }
        self.count += 1;
        if self.count <= TOLD {
            self.words += "\n";
            self.words += &words(at, got, wanted, ulp, &inputs());
        }
    }

    /// Notes an element that was compared and found right in another way.
    pub fn right(&mut self) {
        self.compared += 1;
    }

    /// Fails when anything differed.
    pub fn outcome(self) -> Outcome {
        if self.count == 0 {
            return Ok(());
        }
        fail(format!("{} of {} elements differ{}", self.count, self.compared, self.words))
    }
}

/// One comparison.
fn words(at: usize, got: Scalar, wanted: Scalar, ulp: f32, inputs: &[Scalar]) -> String {
    let mut words = format!("  element {at}: got {}, wanted {}", show(got), show(wanted));
    if !inputs.is_empty() {
        let inputs: Vec<_> = inputs.iter().map(|x| show(*x)).collect();
        words += &format!(", from {}", inputs.join(", "));
    }
    let (g, w) = (got.as_f32(), wanted.as_f32());
    if got.dtype == DType::F32 && !g.is_nan() && !w.is_nan() {
        words += &format!("; {} ULP apart, at most {ulp}", distance(g, w));
    }
    words
}
