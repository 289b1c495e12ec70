//! `take` and `take_along_axis`: functions that select by index arrays.
//!
//! Owns [`take`] and [`take_along`]. Invariant: the result is a copy.
//!
//! Not here: keys with index arrays (`fancy.rs`), NumPy's signatures (`python/gpupy/_indexing/index_arrays.py`).

use crate::array::classes::wrap::wrap_array;
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::convert::dtypes::numpy;
use crate::convert::numpy_arrays;
use crate::index::fancy::refusal;
use crate::index::fast_path;
use crate::session::context::{ready, supports};
use crate::session::errors::to_py;
use crate::session::python_objects;
use crate::session::waiting::wait;
use gpupy_core::{ErrorKind, Op};
use gpupy_engine::{Array, Outside};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use smallvec::SmallVec;

/// `take(array, indices, axis, mode=mode)`; `None` leaves it to NumPy.
#[pyfunction]
pub fn take<'py>(
    array: &Bound<'py, NdArray>,
    indices: &Bound<'py, PyAny>,
    axis: isize,
    mode: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let ArrayElements::Lazy(array) = elements(array) else { return Ok(None) };
    let outside = match mode {
        "raise" => Outside::Refuse,
        "wrap" => Outside::Wrap,
        "clip" => Outside::Clip,
        _ => return Ok(None),
    };
    let context = ready(py)?;
    let Some(axis) = normal(axis, array.ndim()) else { return Ok(None) };
    if let (0, "raise", Some(index)) = (axis, mode, fast_path::index(indices)?)
        && let Some(picked) = context.take_rows_eagerly(&array, &index)
    {
        return wrap_array(py, picked).map(Some);
    }
    if !supports(context, Op::Gather, array.dtype()) {
        return Ok(None);
    }
    let index = match numbers(indices)? {
        Some(index) => index,
        None => return Ok(None),
    };
    let all: SmallVec<[Option<&Array>; 4]> =
        (0..array.ndim()).map(|k| (k == axis).then_some(&index)).collect();
    let found = wait(py, || context.fancy_index(&array, &all, axis, outside));
    let refused = || {
        refusal(&array, indices, |meta, indices| {
            let kwargs = PyDict::new(py);
            kwargs.set_item("axis", axis)?;
            kwargs.set_item("mode", mode)?;
            meta.call_method("take", (indices,), Some(&kwargs))
        })
    };
    match found {
        Ok(found) => {
            if found.size() == 0 {
                refused()?;
            }
            wrap_array(py, found).map(Some)
        }
        Err(error) if error.kind() == ErrorKind::Index => {
            refused()?;
            Err(to_py(error))
        }
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(to_py(error)),
    }
}

/// `take_along_axis(array, indices, axis)`; `None` leaves it to NumPy.
#[pyfunction]
pub fn take_along<'py>(
    array: &Bound<'py, NdArray>,
    indices: &Bound<'py, PyAny>,
    axis: isize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let ArrayElements::Lazy(array) = elements(array) else { return Ok(None) };
    let context = ready(py)?;
    let Some(axis) = normal(axis, array.ndim()) else { return Ok(None) };
    if !supports(context, Op::Gather, array.dtype()) {
        return Ok(None);
    }
    let Some(index) = numbers(indices)?.filter(|index| index.ndim() == array.ndim()) else {
        return Ok(None);
    };
    let found = wait(py, || {
        let mut all: SmallVec<[Array; 4]> = SmallVec::new();
        for k in 0..array.ndim() {
            if k == axis {
                all.push(index.clone());
                continue;
            }
            let line = context.index(&[array.shape()[k]], 0)?;
            all.push((k + 1..array.ndim()).fold(line, |line, _| line.insert_axis(line.ndim())));
        }
        let all: SmallVec<[Option<&Array>; 4]> = all.iter().map(Some).collect();
        context.fancy_index(&array, &all, 0, Outside::Refuse)
    });
    match found {
        Ok(found) if found.size() > 0 => wrap_array(py, found).map(Some),
        // NumPy does it, or words the error.
        Err(error) => match error.kind() {
            ErrorKind::Index | ErrorKind::Shape | ErrorKind::Unsupported => Ok(None),
            _ => Err(to_py(error)),
        },
        Ok(_) => Ok(None),
    }
}

/// The normalised number of an axis; `None` where the array has no such axis.
fn normal(axis: isize, ndim: usize) -> Option<usize> {
    let axis = if axis < 0 { axis + ndim as isize } else { axis };
    usize::try_from(axis).ok().filter(|axis| *axis < ndim)
}

/// Integers as an index array, which may have no axes; `None` for other objects.
fn numbers(given: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if let Ok(array) = given.cast::<NdArray>()
        && let ArrayElements::Lazy(array) = elements(array)
    {
        return match array.dtype().is_int() {
            true => array.snapshot().map(Some).map_err(to_py),
            false => Ok(None),
        };
    }
    let py = given.py();
    let host = python_objects::TO_HOST.get(py)?.call1((given,))?;
    let array = numpy(py)?.asarray.bind(py).call1((host,))?;
    let kind: char = array.getattr("dtype")?.getattr("kind")?.extract()?;
    match kind {
        'i' | 'u' => numpy_arrays::indices(&array),
        _ => Ok(None),
    }
}
