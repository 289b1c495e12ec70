//! The representation of an array's elements: lazy, or NumPy's.
//!
//! Owns [`Repr`]. Not here: the array (`ndarray.rs`), the elements that it shows while a function is recorded
//! (`recording/recorded_repr.rs`).

use gpupy_engine::Array;
use pyo3::prelude::*;

/// How the elements are held.
pub enum Repr {
    /// Recorded, evaluated on a driver.
    Lazy(Array),
    /// NumPy's own array.
    Numpy(Py<PyAny>),
}

impl Repr {
    /// The lazy array, or `None`.
    #[inline]
    pub fn as_lazy(&self) -> Option<&Array> {
        match self {
            Repr::Lazy(array) => Some(array),
            Repr::Numpy(_) => None,
        }
    }
}
