//! Elements and launches as text.
//!
//! Owns [`show`], [`elements`] and [`numbers`]. Invariant: an element is always shown with its bits.
//!
//! Not here: the users of the text (`compare.rs`, `logging_driver.rs`).

use gpupy_core::driver::Access;
use gpupy_core::ir::Program;
use gpupy_core::{DType, Scalar};

/// Elements of a range that are told in full.
const TOLD: usize = 64;

/// A value and its bits.
pub fn show(x: Scalar) -> String {
    let digits = 2 + 2 * x.dtype.size();
    format!("{x} ({:#0digits$x})", x.bits)
}

/// Host memory as elements.
pub fn elements(dtype: DType, bytes: &[u8]) -> String {
    let all = bytes.chunks_exact(dtype.size());
    let count = all.len();
    let told: Vec<_> =
        all.take(TOLD).filter_map(|bytes| Scalar::read(dtype, bytes)).map(show).collect();
    let rest = count.saturating_sub(TOLD);
    let rest = if rest > 0 { format!(", and {rest} more") } else { String::new() };
    format!("{}{rest}", told.join(", "))
}

/// The numbers of a launch, and where its destinations are.
pub fn numbers<'a>(
    program: &Program,
    shape: &[usize],
    params: &[u64],
    accesses: &[Access],
    dests: impl Iterator<Item = (String, &'a Access)>,
) -> String {
    let params = program.params.iter().zip(params);
    let params: Vec<_> = params.map(|(dtype, bits)| show(Scalar::new(*dtype, *bits))).collect();
    let mut words = format!("shape {shape:?}, params [{}]\n", params.join(", "));
    for (at, access) in accesses.iter().enumerate() {
        words += &format!("a{at}: offset {}, strides {:?}\n", access.offset, access.strides);
    }
    for (at, (block, access)) in dests.enumerate() {
        let (offset, strides) = (access.offset, &access.strides);
        words += &format!("d{at}: {block}, offset {offset}, strides {strides:?}\n");
    }
    words
}
