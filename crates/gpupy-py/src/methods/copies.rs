//! Copies of arrays, in another dtype and order where that is asked.
//!
//! Owns these methods of [`NdArray`]. Invariant: a copy is lazy, and later writes do not change it.
//!
//! Not here: NumPy's signatures (`python/gpupy/_methods.py`).

use crate::array::ndarray::{Elements, NdArray, elements};
use crate::convert::{dtypes, unfit};
use crate::session::context::{context, holds, open, ready};
use crate::session::errors::{to_py, warn_of_lost_parts};
use pyo3::prelude::*;

#[pymethods]
impl NdArray {
    /// A copy, lazy; the dtype may change. It lies in C order, or with its axes by their strides.
    #[pyo3(signature = (dtype=None, by_strides=false))]
    fn _copy<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        by_strides: bool,
    ) -> PyResult<Option<NdArray>> {
        let Elements::Lazy(array) = elements(slf) else { return Ok(None) };
        let Some(dtype) = dtype else {
            let context = context()?;
            let copied =
                if by_strides { context.copy_by_strides(&array) } else { context.copy(&array) };
            return copied.map(NdArray::lazy).map(Some).map_err(to_py);
        };
        match dtypes::from_any(dtype)? {
            Some(dtype) => {
                warn_of_lost_parts(slf.py(), array.dtype(), dtype)?;
                unfit::warn_of(slf.py(), &array, dtype)?;
                let context = ready(slf.py())?;
                let cast = context.cast_by_strides(&array, dtype).map_err(to_py)?;
                let as_asked = by_strides || cast.is_contiguous();
                let cast = if as_asked { cast } else { context.copy(&cast).map_err(to_py)? };
                Ok(Some(NdArray::lazy(cast)))
            }
            None => Ok(None),
        }
    }

    /// The elements of a view of an array that nobody else has, as an array that is no view.
    fn _alone(slf: &Bound<'_, Self>) -> NdArray {
        match elements(slf) {
            Elements::Lazy(array) => NdArray::lazy(array),
            Elements::Numpy(array) => NdArray::numpy(&array),
        }
    }

    /// A copy in the order in which operations read the elements.
    fn _copy_as_read<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<NdArray>> {
        let Elements::Lazy(array) = elements(slf) else { return Ok(None) };
        context()?.copy_as_it_lies(&array).map(NdArray::lazy).map(Some).map_err(to_py)
    }

    /// A copy with the elements as another dtype; `None` leaves it to the longer way.
    fn _cast<'py>(slf: &Bound<'py, Self>, dtype: &Bound<'py, PyAny>) -> PyResult<Option<NdArray>> {
        let this = slf.get().read(slf.py());
        let (Some(array), Some((context, _))) = (this.as_lazy(), open()) else { return Ok(None) };
        match dtypes::known(dtype)? {
            Some(dtype) if holds(dtype)? => {
                warn_of_lost_parts(slf.py(), array.dtype(), dtype)?;
                unfit::warn_of(slf.py(), array, dtype)?;
                context.cast_by_strides(array, dtype).map(NdArray::lazy).map(Some).map_err(to_py)
            }
            _ => Ok(None),
        }
    }
}
