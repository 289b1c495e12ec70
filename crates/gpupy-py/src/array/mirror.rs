//! Records, which NumPy owns, as the drivers see them: their memory mirrored in arrays of the core.
//!
//! Owns [`Mirrors`]. A field of records is NumPy's view of their memory, so that writes of any kind
//! reach them. Where an operation reads one, the memory is compared with what it was at the last operation, and
//! the smallest stretch that holds all that changed is written to the mirror. So it is all that a device with
//! memory of its own is sent. Invariant: what an operation was recorded with, later writes do not change.
//!
//! Not here: which fields have one (`fields.rs`), what else is asked of records, which NumPy answers (`python/gpupy/_fallback.py`).

use crate::session::context::context;
use crate::session::errors::to_py;
use gpupy_core::DType;
use gpupy_engine::{Arg, Array};
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Bytes that are compared at once.
const PIECE: usize = 4096;

/// The mirrors of an array's memory: one for each dtype whose fields were read.
pub type Mirrors = Mutex<Vec<Mirror>>;

/// Memory as elements of one dtype, one behind the other.
pub struct Mirror {
    /// The elements.
    pub elements: Array,
    /// The bytes that the elements have.
    pub seen: Vec<u8>,
}

impl Mirror {
    /// Of all whole elements in these bytes.
    pub fn new(dtype: DType, bytes: &[u8]) -> PyResult<Mirror> {
        let count = bytes.len() / dtype.size();
        let seen = bytes[..count * dtype.size()].to_vec();
        Ok(Mirror { elements: Array::from_bytes(dtype, &[count], &seen).map_err(to_py)?, seen })
    }

    /// Takes over what changed.
    pub fn follow(&mut self, bytes: &[u8]) -> PyResult<()> {
        let bytes = &bytes[..self.seen.len()];
        let Some(changed) = difference(bytes, &self.seen) else { return Ok(()) };
        let (dtype, size) = (self.elements.dtype(), self.elements.dtype().size());
        let (start, end) = (changed.start / size, changed.end.div_ceil(size));
        let changed = &bytes[start * size..end * size];
        let source = Array::from_bytes(dtype, &[end - start], changed).map_err(to_py)?;
        let dest = self.elements.slice_axis(0, start, end - start, 1);
        context()?.assign(&dest, Arg::Array(&source)).map_err(to_py)?;
        self.seen[start * size..end * size].copy_from_slice(changed);
        Ok(())
    }
}

/// The smallest stretch outside of which two pieces of memory of one size are the same.
fn difference(now: &[u8], before: &[u8]) -> Option<Range<usize>> {
    // Whole pieces are compared as fast as memory gives them, single bytes are not.
    let piece = |number: usize| number * PIECE..now.len().min((number + 1) * PIECE);
    let mut pieces = 0..now.len().div_ceil(PIECE);
    let differs = |number: &usize| now[piece(*number)] != before[piece(*number)];
    let first = pieces.find(differs)?;
    let last = pieces.rfind(differs).unwrap_or(first);
    let unlike = |at: &usize| now[*at] != before[*at];
    Some(piece(first).find(unlike)?..piece(last).rfind(unlike)? + 1)
}
