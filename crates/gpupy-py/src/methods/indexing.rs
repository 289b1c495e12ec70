//! `a[key]`, `a[key] = value`, `len(a)` and `for row in a`.
//!
//! Owns these methods of [`NdArray`]. Invariant: an element that is read by itself is computed by itself only as
//! long as such reads are few.
//!
//! Not here: the meaning of keys (`index`).

use crate::array::classes::subclass::{is_plain, like_view, view_of};
use crate::array::lazy_scalar::LazyScalar;
use crate::array::masked_selection;
use crate::array::ndarray::{ArrayElements, NdArray, elements, host_of, pinned_host_of};
use crate::array::recording;
use crate::compute::operators::known_number;
use crate::index::row_iterator::RowIterator;
use crate::index::{basic, fancy, fast_path, held, setitem};
use crate::session::python_objects;
use crate::thresholds::T;
use gpupy_engine::Array;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Whether to pin the base before iterating over the array's elements: where that moves nothing, or not many more
/// elements than are read. Otherwise each element is read by itself.
fn pays_to_pin(array: &Array) -> bool {
    array.is_there()
        || array.base_len() <= array.size().saturating_mul(T.pinned_times).max(T.pinned_elements)
}

#[pymethods]
impl NdArray {
    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        if let Some(array) = slf.get().read(slf.py()).as_lazy() {
            let first = array.shape().first().copied();
            return first.ok_or_else(|| PyTypeError::new_err("len() of unsized object"));
        }
        host_of(slf)?.len()
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if recording::is_on()
            && let Some(selected) = masked_selection::of(slf, key)?
        {
            return Ok(selected);
        }
        if let Some(found) = fast_path::get(slf, key)? {
            return Ok(found);
        }
        if let ArrayElements::Lazy(array) = elements(slf) {
            if let Some(selected) = basic::select(&array, key)? {
                if selected.element {
                    let reads = slf.get().count_element();
                    return LazyScalar::element(py, &selected.view, reads >= T.single_reads);
                }
                return view_of(slf, selected.view, true);
            }
            if let Some(picked) = fancy::fancy_index(&array, key)? {
                return like_view(slf, NdArray::lazy(picked));
            }
        } else if let Some(found) = held::get(slf, key)? {
            return Ok(found);
        }
        python_objects::GETITEM.get(py)?.call1((slf, key))
    }

    fn __setitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let py = slf.py();
        if recording::is_on() && masked_selection::is_one(value)? {
            value.call_method1("put", (slf, key))?;
            return Ok(());
        }
        let known;
        let value = if recording::is_on() {
            known = known_number(value)?;
            &known
        } else {
            value
        };
        if fast_path::set(slf, key, value)? {
            return Ok(());
        }
        if let ArrayElements::Lazy(array) = elements(slf) {
            if !slf.get().may_write(py)? {
                return Err(PyValueError::new_err("assignment destination is read-only"));
            }
            if let Some(selected) = basic::select(&array, key)? {
                return setitem::set_item(&array, key, &selected, value);
            }
        } else if held::set(slf, key, value)? {
            return Ok(());
        }
        python_objects::SETITEM.get(py)?.call1((slf, key, value)).map(drop)
    }

    fn __delitem__(_slf: &Bound<'_, Self>, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyValueError::new_err("cannot delete array elements"))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match Self::ndim(slf)? {
            0 => Err(PyTypeError::new_err("iteration over a 0-d array")),
            // A Python loop sees its own writes.
            1 if is_plain(slf) && slf.get().read(py).as_lazy().is_none_or(pays_to_pin) => {
                Ok(pinned_host_of(slf, false)?.try_iter()?.into_any())
            }
            _ => Ok(Bound::new(py, RowIterator::of(slf))?.into_any()),
        }
    }
}
