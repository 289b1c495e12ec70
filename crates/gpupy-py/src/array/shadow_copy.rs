//! Shadow copies: the memory of records, which NumPy owns, copied into arrays of the core that drivers can read.
//!
//! Owns [`ShadowCopies`]. A field of records is NumPy's view of their memory, so that writes of any kind reach it.
//! When an operation reads a field, the memory is compared with its state at the last operation, and the smallest
//! stretches that hold all changes are written to the copy. Only these are sent to a device with memory of its own.
//! Invariant: later writes do not change the elements that an operation was recorded with.
//!
//! Not here: which fields have a copy (`record_fields.rs`), other operations on records, which NumPy does
//! (`python/gpupy/_fallback`).

use crate::session::context::context;
use crate::session::errors::to_py;
use crate::thresholds::T;
use gpupy_core::DType;
use gpupy_engine::{Array, ArrayOrScalar};
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// The shadow_copies of an array's memory: one for each dtype whose fields were read.
pub type ShadowCopies = Mutex<Vec<ShadowCopy>>;

/// Memory as elements of one dtype, one behind the other.
pub struct ShadowCopy {
    /// The elements.
    pub elements: Array,
    /// The bytes that the elements have.
    pub seen: Vec<u8>,
}

impl ShadowCopy {
    /// A copy of all whole elements in these bytes.
    pub fn new(dtype: DType, bytes: &[u8]) -> PyResult<ShadowCopy> {
        let count = bytes.len() / dtype.size();
        let seen = bytes[..count * dtype.size()].to_vec();
        Ok(ShadowCopy { elements: Array::from_bytes(dtype, &[count], &seen).map_err(to_py)?, seen })
    }

    /// Copies the stretches that changed.
    pub fn follow(&mut self, bytes: &[u8]) -> PyResult<()> {
        let (dtype, size) = (self.elements.dtype(), self.elements.dtype().size());
        for changed in self.changes(bytes) {
            let (start, count) = (changed.start / size, changed.len() / size);
            let now = &bytes[changed.clone()];
            let source = Array::from_bytes(dtype, &[count], now).map_err(to_py)?;
            let dest = self.elements.slice_axis(0, start, count, 1);
            context()?.assign(&dest, ArrayOrScalar::Array(&source)).map_err(to_py)?;
            self.seen[changed].copy_from_slice(now);
        }
        Ok(())
    }

    /// The stretches of whole elements that changed, which have equal pieces of memory between them, if there are not
    /// too many.
    pub fn changes(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut changes = differences(&bytes[..self.seen.len()], &self.seen);
        if changes.len() > T.written_stretches {
            let end = changes[changes.len() - 1].end;
            changes.truncate(1);
            changes[0].end = end;
        }
        // Pieces are whole elements, so no two stretches have one in common.
        let size = self.elements.dtype().size();
        for range in &mut changes {
            *range = range.start / size * size..range.end.next_multiple_of(size);
        }
        changes
    }
}

/// The smallest ranges that hold all differences of two memories of one size; neighbouring pieces share a range.
fn differences(now: &[u8], before: &[u8]) -> Vec<Range<usize>> {
    // Whole pieces are compared as fast as memory gives them, single bytes are not.
    let piece =
        |number: usize| number * T.compared_piece..now.len().min((number + 1) * T.compared_piece);
    let unlike = |at: &usize| now[*at] != before[*at];
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for number in
        (0..now.len().div_ceil(T.compared_piece)).filter(|n| now[piece(*n)] != before[piece(*n)])
    {
        let (first, end) = (piece(number).find(unlike), piece(number).rfind(unlike));
        let (Some(first), Some(end)) = (first, end) else { continue };
        match found.last_mut().filter(|_| number > 0 && last == Some(number - 1)) {
            Some(stretch) => stretch.end = end + 1,
            None => found.push(first..end + 1),
        }
        last = Some(number);
    }
    found
}
