//! Reductions of arrays, as `python/gpupy/_compute/reductions.py` asks for them.
//!
//! Owns these methods of [`NdArray`]. Invariant: `None` means that NumPy has to do it.
//!
//! Not here: the reductions (`compute/reduce.rs`).

use crate::array::classes::subclass::is_plain;
use crate::array::classes::wrap::wrap_array;
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::record_fields;
use crate::compute::{reduce, scan_sort_matmul};
use crate::convert::dtypes;
use crate::session::context::ready;
use gpupy_core::DType;
use gpupy_engine::Array;
use pyo3::prelude::*;

#[pymethods]
impl NdArray {
    /// The reduction of the named operation over axes, or over all, of the elements as `dtype` where that
    /// is given; `None` for other arguments, for subclasses, or where the driver lacks it.
    #[pyo3(signature = (name, axis=None, dtype=None, keepdims=false))]
    fn _reduce_along<'py>(
        slf: &Bound<'py, Self>,
        name: &str,
        axis: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        keepdims: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        reduced_along(slf, axis, dtype, |array, axes, dtype| {
            reduce::reduce(slf.py(), name, array, axes, keepdims, dtype)
        })
    }

    /// The mean over axes, or over all, in `dtype` where that is given; `None` for other arguments,
    /// or where the driver lacks it.
    #[pyo3(signature = (axis=None, dtype=None, keepdims=false))]
    fn _mean_along<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        keepdims: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        reduced_along(slf, axis, dtype, |array, axes, dtype| {
            reduce::mean(slf.py(), array, axes, keepdims, dtype)
        })
    }

    /// How many elements of a mask are true; `None` where that takes more than to count them in host memory.
    fn _count_true(slf: &Bound<'_, Self>) -> PyResult<Option<usize>> {
        let py = slf.py();
        let this = slf.get().read(py);
        let Some(mask) = this.as_lazy() else { return Ok(None) };
        Ok(ready(py)?.count_true(mask))
    }

    /// The place of the first extreme along an axis, or of all elements; `None` for other arguments, or where
    /// the driver lacks it.
    #[pyo3(signature = (greatest, axis=None))]
    fn _place_along<'py>(
        slf: &Bound<'py, Self>,
        greatest: bool,
        axis: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        let this = slf.get().read(py);
        let Some(array) = this.as_lazy().filter(|_| is_plain(slf)) else { return Ok(None) };
        let Some(axis) = axis else {
            return scan_sort_matmul::place_of_all(py, greatest, array);
        };
        match reduce::one_axis(array, axis) {
            Some(axis) => scan_sort_matmul::placed(py, greatest, array, axis, false),
            None => Ok(None),
        }
    }

    /// The reduction of the named operation over axes, which are normalised, of the elements as
    /// `dtype` where that is given; `None` when the driver does not do it.
    #[pyo3(signature = (name, axes, keepdims, dtype=None))]
    fn _reduce<'py>(
        slf: &Bound<'py, Self>,
        name: &str,
        axes: Vec<usize>,
        keepdims: bool,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let ArrayElements::Lazy(array) = elements(slf) else { return Ok(None) };
        let dtype = match dtype {
            None => None,
            Some(dtype) => match dtypes::from_any(dtype)? {
                Some(dtype) => Some(dtype),
                None => return Ok(None),
            },
        };
        match reduce::reduce(slf.py(), name, &array, &axes, keepdims, dtype)? {
            // Whole reductions are scalars, but for those asked to keep their axes.
            Some(array) => wrap_array(slf.py(), array).map(Some),
            None => Ok(None),
        }
    }
}

/// The result of a reduction along axes that integers name, or along all; `None` for others, and where it is left to
/// NumPy.
fn reduced_along<'py>(
    slf: &Bound<'py, NdArray>,
    axis: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    reduce: impl FnOnce(&Array, &[usize], Option<DType>) -> PyResult<Option<Array>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let array = match elements(slf) {
        _ if !is_plain(slf) => None,
        ArrayElements::Lazy(array) => Some(array),
        ArrayElements::Numpy(_) => record_fields::field(slf)?,
    };
    let Some(array) = array else { return Ok(None) };
    let Some((axes, dtype)) = reduce::plain(&array, axis, dtype)? else { return Ok(None) };
    let reduced = reduce(&array, &axes, dtype)?;
    reduced.map(|array| wrap_array(slf.py(), array)).transpose()
}
