//! How arrays come to be and go, as Python says it: `ndarray(…)`, `resize`, `dispose`, `with array:`.
//!
//! Owns these methods of [`NdArray`]. Invariant: operations that were recorded before still see the elements.
//!
//! Not here: arrays from nothing (`create`), from NumPy's (`array/classes/wrap.rs`).

use crate::array::classes::subclass::Seed;
use crate::array::classes::wrap::{adopt, references};
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::repr::Repr;
use crate::convert::{dtypes, numpy_arrays};
use crate::session::python_objects;
use crate::session::waiting::wait;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

#[pymethods]
impl NdArray {
    #[new]
    #[pyo3(signature = (*args, **kwargs))]
    fn new(
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<NdArray> {
        if let Ok(seed) = args.get_borrowed_item(0)
            && let Ok(seed) = seed.cast_exact::<Seed>()
            && let Some(array) = seed.get().take()
        {
            return Ok(array);
        }
        let made = dtypes::numpy(py)?.ndarray.bind(py).call(args, kwargs)?;
        let writable = made.getattr("flags")?.getattr("writeable")?.is_truthy()?;
        if writable && !made.getattr("base")?.is_none() {
            // Other code owns its memory, may write to it, and reads the array's writes there.
            return adopt(&made);
        }
        Ok(match numpy_arrays::from_numpy(&made)? {
            Some(array) => {
                let made = NdArray::lazy(array);
                made.set_writable(writable);
                made
            }
            None => NdArray::numpy(&made),
        })
    }

    /// Takes another array's elements in place of its own.
    fn _replace(slf: &Bound<'_, Self>, other: &Bound<'_, NdArray>) -> PyResult<()> {
        let elements = match elements(other) {
            ArrayElements::Lazy(array) => Repr::Lazy(array),
            ArrayElements::Numpy(array) => Repr::Numpy(array.unbind()),
        };
        slf.get().replace(slf.py(), elements)
    }

    /// Changes shape and size in place: elements keep their order in memory, and new ones are zeros.
    /// An array whose memory something else may see is refused, if it is not told by `refcheck=False`.
    #[pyo3(
        signature = (*new_shape, refcheck=1),
        text_signature = "($self, /, *new_shape, refcheck=True)"
    )]
    fn resize(
        slf: &Bound<'_, Self>,
        new_shape: &Bound<'_, PyTuple>,
        refcheck: i32,
    ) -> PyResult<()> {
        let is_shared = refcheck != 0 && (is_referenced(slf) || is_exported(slf));
        python_objects::RESIZE.get(slf.py())?.call1((slf, new_shape, is_shared)).map(drop)
    }

    /// Lets go of the elements now, on every device and in host memory. The array and its views keep
    /// shape and dtype; other operations on them are errors. Operations recorded before still see
    /// the elements.
    fn dispose(slf: &Bound<'_, Self>) -> PyResult<()> {
        if slf.get().base.is_some() {
            return Err(PyValueError::new_err(
                "this array is a view and owns no elements; dispose of its base",
            ));
        }
        let nothing = match elements(slf) {
            ArrayElements::Lazy(array) => {
                // Freeing memory may take a while, and locks.
                wait(slf.py(), || array.dispose());
                return Ok(());
            }
            ArrayElements::Numpy(array) => dtypes::nothing_like(&array)?,
        };
        slf.get().replace(slf.py(), Repr::Lazy(nothing))
    }

    /// `with array:` disposes of it at the end of the block.
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(slf: &Bound<'_, Self>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        Self::dispose(slf)
    }
}

/// Whether anything but the caller of a method refers to an array: NumPy's rule.
fn is_referenced(array: &Bound<'_, NdArray>) -> bool {
    // The variable and the call; Python 3.14 counts the latter no more.
    let own = if array.py().version_info() >= (3, 14) { 1 } else { 2 };
    references(array) > own
}

/// Whether other code has the memory of an array's elements.
fn is_exported(array: &Bound<'_, NdArray>) -> bool {
    match &*array.get().read(array.py()) {
        Repr::Lazy(array) => array.is_exported(),
        Repr::Numpy(own) => references(own.bind(array.py())) > 1,
    }
}
