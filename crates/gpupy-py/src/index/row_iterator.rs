//! Iteration over the rows of an array: `for row in a`, `x, y = a`.
//!
//! Owns [`RowIterator`]. Invariant: the rows are views, as by an index of the first axis.
//!
//! Not here: arrays of one axis, whose elements are read together (`methods/indexing.rs`).

use crate::array::classes::subclass::{is_plain, view_of};
use crate::array::ndarray::NdArray;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An iterator over the first axis.
#[pyclass(name = "rows", module = "gpupy", frozen)]
pub struct RowIterator {
    array: Py<NdArray>,
    next: AtomicUsize,
}

impl RowIterator {
    /// From the first row on.
    pub fn of(array: &Bound<'_, NdArray>) -> RowIterator {
        RowIterator { array: array.clone().unbind(), next: AtomicUsize::new(0) }
    }
}

#[pymethods]
impl RowIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (array, at) = (self.array.bind(py), self.next.load(Ordering::Relaxed));
        // Read each time: the array's shape may have been changed.
        if at >= array.len()? {
            return Ok(None);
        }
        self.next.store(at + 1, Ordering::Relaxed);
        // An instance of a subclass may have an index of its own.
        let row = if is_plain(array) {
            let this = array.get().read(py);
            this.as_lazy().filter(|lazy| lazy.ndim() > 1).map(|lazy| lazy.index_axis(0, at))
        } else {
            None
        };
        match row {
            Some(row) => view_of(array, row, true).map(Some),
            None => array.get_item(at).map(Some),
        }
    }

    fn __length_hint__(&self, py: Python<'_>) -> PyResult<usize> {
        let next = self.next.load(Ordering::Relaxed);
        Ok(self.array.bind(py).len()?.saturating_sub(next))
    }
}
