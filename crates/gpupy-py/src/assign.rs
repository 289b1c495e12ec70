//! Writing into lazy arrays.
//!
//! Owns [`set`] (`a[key] = value`) and [`output`] (`out=`, in-place operators). Invariant: a write
//! that is refused leaves the array as it was.
//!
//! Not here: which elements a key means (`index.rs`).

use crate::array::{Elements, NdArray, elements};
use crate::dtypes::{self, numpy};
use crate::errors::{shape_words, to_py};
use crate::host;
use crate::operand::{Held, Kind, Operand, classify};
use crate::session::{context, ready};
use gpupy_core::{Arg, Array, DType, Scalar};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Writes the result of an operation into the array given for it.
pub fn output(py: Python<'_>, dest: &Array, result: &Array) -> PyResult<()> {
    let extra = dest.ndim().checked_sub(result.ndim());
    let fits = extra.is_some_and(|extra| {
        (result.shape().iter().zip(&dest.shape()[extra..])).all(|(r, d)| r == d || *r == 1)
    });
    if !fits {
        return Err(PyValueError::new_err(format!(
            "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
            shape_words(dest.shape()),
            shape_words(result.shape())
        )));
    }
    write(py, dest, Arg::Array(result))
}

/// Writes any value that NumPy would take into a view.
pub fn set(py: Python<'_>, dest: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Some(operand) = classify(value)? {
        if let Held::Array(array) = &operand.held {
            if array.dtype() == dest.dtype() {
                return write(py, dest, Arg::Array(array));
            }
            let cast = ready(py)?.cast(array, dest.dtype()).map_err(to_py)?;
            return write(py, dest, Arg::Array(&cast));
        }
        if let Some(scalar) = plain(&operand, dest.dtype()) {
            return write(py, dest, Arg::Scalar(scalar));
        }
    }
    // Everything else is converted by NumPy, which also has the words for what cannot be.
    let kwargs = PyDict::new(py);
    kwargs.set_item("dtype", dtypes::to_numpy(py, dest.dtype())?)?;
    let given = match value.cast::<NdArray>() {
        Ok(array) => match elements(array) {
            Elements::Numpy(array) => array,
            Elements::Lazy(array) => host::to_numpy(py, &array)?,
        },
        Err(_) => value.clone(),
    };
    let converted = numpy(py)?.array.bind(py).call((given,), Some(&kwargs))?;
    match host::from_numpy(&converted)? {
        Some(array) => write(py, dest, Arg::Array(&array)),
        None => Err(PyValueError::new_err("setting an array element with a sequence.")),
    }
}

/// A scalar in the destination's dtype, when the conversion needs no warning and no refusal.
fn plain(operand: &Operand, dtype: DType) -> Option<Scalar> {
    match (operand.kind, &operand.held, dtype) {
        (Kind::WeakFloat | Kind::F32, Held::Float(v), DType::F32) if v.is_finite() => {
            let narrow = *v as f32;
            narrow.is_finite().then(|| Scalar::f32(narrow))
        }
        // Between -2^31 and 2^31 exclusive, truncation is exact and in range.
        (Kind::WeakFloat | Kind::F32, Held::Float(v), DType::I32) => {
            (v.abs() < 2147483648.0).then(|| Scalar::i32(*v as i32))
        }
        _ => operand.scalar(dtype),
    }
}

fn write(py: Python<'_>, dest: &Array, source: Arg<'_>) -> PyResult<()> {
    let _ = py;
    context()?.assign(dest, source).map_err(to_py)
}

/// Writes a value into a whole array of ours, as `a[...] = value` does.
#[pyfunction]
pub fn assign_all(dest: &Bound<'_, NdArray>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match elements(dest) {
        Elements::Lazy(array) => {
            if !dest.borrow().writable {
                return Err(PyValueError::new_err("assignment destination is read-only"));
            }
            set(dest.py(), &array, value)
        }
        Elements::Numpy(array) => array.set_item(dest.py().Ellipsis(), value),
    }
}
