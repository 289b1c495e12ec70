//! Records, which NumPy owns, as the drivers see them: their memory mirrored in arrays of the core.
//!
//! Owns [`Mirrors`] and [`field`]. A field of records is NumPy's view of their memory, so that writes of any kind
//! reach them. Where an operation reads one, the memory is compared with what it was at the last operation, and
//! the smallest stretch that holds all that changed is written to the mirror. So it is all that a device with
//! memory of its own is sent. Invariant: what an operation was recorded with, later writes do not change.
//!
//! Not here: what else is asked of records, which NumPy answers (`python/gpupy/_fallback.py`).

use crate::array::{Elements, NdArray, elements};
use crate::dtypes;
use crate::errors::to_py;
use crate::host::{address, bytes};
use crate::session::{context, holds};
use gpupy_core::DType;
use gpupy_engine::{Arg, Array};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Mutex;

/// Bytes that are compared at once.
const PIECE: usize = 4096;

/// The mirrors of an array's memory: one for each dtype whose fields were read.
pub type Mirrors = Mutex<Vec<Mirror>>;

/// Memory as elements of one dtype, one behind the other.
pub struct Mirror {
    elements: Array,
    /// The bytes that the elements have.
    seen: Vec<u8>,
}

impl Mirror {
    /// Of all whole elements in these bytes.
    fn new(dtype: DType, bytes: &[u8]) -> PyResult<Mirror> {
        let count = bytes.len() / dtype.size();
        let seen = bytes[..count * dtype.size()].to_vec();
        Ok(Mirror { elements: Array::from_bytes(dtype, &[count], &seen).map_err(to_py)?, seen })
    }

    /// Takes over what changed.
    fn follow(&mut self, bytes: &[u8]) -> PyResult<()> {
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

/// The elements of a field of records, as they are at present; `None` for other arrays, and for fields that do
/// not lie at multiples of their size.
pub fn field(array: &Bound<'_, NdArray>) -> PyResult<Option<Array>> {
    let py = array.py();
    let Some(base) = &array.get().base else { return Ok(None) };
    let Ok(owner) = base.bind(py).cast::<NdArray>() else { return Ok(None) };
    let (Elements::Numpy(host), Elements::Numpy(records)) = (elements(array), elements(owner))
    else {
        return Ok(None);
    };
    let of_records = records.getattr(intern!(py, "dtype"))?;
    if of_records.getattr(intern!(py, "names"))?.is_none()
        || of_records.getattr(intern!(py, "hasobject"))?.is_truthy()?
    {
        return Ok(None);
    }
    let dtype = match dtypes::from_numpy(&host.getattr(intern!(py, "dtype"))?)? {
        Some(dtype) if holds(dtype)? => dtype,
        _ => return Ok(None),
    };
    let (records, part) = (records.cast::<PyUntypedArray>()?, host.cast::<PyUntypedArray>()?);
    let Some(bytes) = bytes(records) else { return Ok(None) };
    let size = dtype.size() as isize;
    let away = (address(part) as isize).wrapping_sub(address(records) as isize);
    if away % size != 0 || part.strides().iter().any(|stride| stride % size != 0) {
        return Ok(None);
    }
    let strides: SmallVec<[isize; 4]> = part.strides().iter().map(|stride| stride / size).collect();
    // Who has the mirrors may be waiting for Python's lock.
    let Ok(mut mirrors) = owner.get().keep().mirrors.try_lock() else { return Ok(None) };
    let fits =
        |mirror: &&mut Mirror| mirror.elements.dtype() == dtype && mirror.seen.len() <= bytes.len();
    let elements = match mirrors.iter_mut().find(fits) {
        Some(mirror) => {
            mirror.follow(bytes)?;
            mirror.elements.clone()
        }
        None => {
            let made = Mirror::new(dtype, bytes)?;
            let elements = made.elements.clone();
            mirrors.push(made);
            elements
        }
    };
    // Records that got other memory have fields elsewhere, which are none of theirs any more.
    Ok(elements.view(part.shape(), &strides, away / size).ok())
}
