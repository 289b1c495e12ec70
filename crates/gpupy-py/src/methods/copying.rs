//! Copies of arrays, in another dtype and order where that is asked.
//!
//! Owns these methods of [`NdArray`]. Invariant: later writes do not change a copy. It is lazy, unless the elements are
//! external: then it is read at once.
//!
//! Not here: NumPy's signatures (`python/gpupy/_methods`).

use crate::array::classes::subclass::like;
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::convert::{cast_warnings, dtypes};
use crate::session::context::{context, holds, open, ready};
use crate::session::errors::{to_py, warn_of_lost_parts};
use crate::session::waiting;
use pyo3::prelude::*;

#[pymethods]
impl NdArray {
    /// A copy, lazy; the dtype may change. It lies in C order, or with its axes by their strides.
    #[pyo3(signature = (dtype=None, by_strides=false))]
    fn _copy<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        by_strides: bool,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let ArrayElements::Lazy(array) = elements(slf) else { return Ok(None) };
        let wanted = dtype.map(dtypes::from_any).transpose()?.flatten();
        if array.is_external() && (dtype.is_none() || wanted == Some(array.dtype())) {
            let context = ready(slf.py())?;
            let taken = waiting::wait(slf.py(), || context.read_copy(&array)).map_err(to_py)?;
            return like(slf, NdArray::lazy(taken)).map(Some);
        }
        if dtype.is_none() {
            let context = context()?;
            let copied =
                if by_strides { context.copy_by_strides(&array) } else { context.copy(&array) };
            return like(slf, NdArray::lazy(copied.map_err(to_py)?)).map(Some);
        }
        match wanted {
            Some(dtype) => {
                warn_of_lost_parts(slf.py(), array.dtype(), dtype)?;
                cast_warnings::warn_of(slf.py(), &array, dtype)?;
                let context = ready(slf.py())?;
                let cast = context.cast_by_strides(&array, dtype).map_err(to_py)?;
                let as_asked = by_strides || cast.is_contiguous();
                let cast = if as_asked { cast } else { context.copy(&cast).map_err(to_py)? };
                like(slf, NdArray::lazy(cast)).map(Some)
            }
            None => Ok(None),
        }
    }

    /// The elements of a view whose base has no other array, as an array that is no view.
    fn _alone<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let alone = match elements(slf) {
            ArrayElements::Lazy(array) => NdArray::lazy(array),
            ArrayElements::Numpy(array) => NdArray::numpy(&array),
        };
        like(slf, alone)
    }

    /// A copy in the order in which operations read the elements.
    fn _copy_as_read<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let ArrayElements::Lazy(array) = elements(slf) else { return Ok(None) };
        let copied = context()?.copy_as_it_lies(&array).map_err(to_py)?;
        like(slf, NdArray::lazy(copied)).map(Some)
    }

    /// A copy with the elements as another dtype; `None` leaves it to the slow path.
    fn _cast<'py>(
        slf: &Bound<'py, Self>,
        dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let this = slf.get().read(slf.py());
        let (Some(array), Some((context, _))) = (this.as_lazy(), open()) else { return Ok(None) };
        match dtypes::known(dtype)? {
            Some(dtype) if holds(dtype)? => {
                warn_of_lost_parts(slf.py(), array.dtype(), dtype)?;
                cast_warnings::warn_of(slf.py(), array, dtype)?;
                let cast = context.cast_by_strides(array, dtype).map_err(to_py)?;
                like(slf, NdArray::lazy(cast)).map(Some)
            }
            _ => Ok(None),
        }
    }
}
