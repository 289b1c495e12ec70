//! Dtype views (reinterpret casts) of an array's elements: parts of complex numbers, and bits.
//!
//! Owns [`part_of`] and `NdArray._under`. Invariant: shape and strides are those that NumPy gives, and writes to
//! either array are seen through the other.
//!
//! Not here: how elements become those of another dtype (`gpupy-engine/src/context/dtype_view.rs`).

use crate::array::classes::subclass::view_of;
use crate::array::meta::{self, MetaView};
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::recording;
use crate::convert::dtypes;
use crate::session::context::{holds, ready, supports};
use crate::session::errors::to_py;
use gpupy_core::{DType, Op};
use gpupy_engine::{Array, dtype_view_steps};
use pyo3::prelude::*;
use smallvec::SmallVec;

/// Whether elements of one dtype can be seen as those of another, by the drivers in use.
fn can(py: Python<'_>, from: DType, to: DType) -> PyResult<bool> {
    let context = ready(py)?;
    let mut at = from;
    for dtype in dtype_view_steps(from, to) {
        let there = match (at.is_complex(), dtype.is_complex()) {
            (true, _) => supports(context, Op::Real, at),
            (_, true) => supports(context, Op::Complex, at),
            _ if at.size() == dtype.size() && dtype != DType::Bool => {
                supports(context, Op::Bitcast, dtype)
            }
            _ => true,
        };
        if !there || !holds(dtype)? {
            return Ok(false);
        }
        at = dtype;
    }
    Ok(true)
}

/// The real or the imaginary part of a complex array, which shares its elements; `None` where no driver in use
/// gives it.
#[pyfunction]
pub fn part_of<'py>(
    object: &Bound<'py, NdArray>,
    imaginary: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let ArrayElements::Lazy(array) = elements(object) else { return Ok(None) };
    let Some(part) = array.dtype().part() else { return Ok(None) };
    recording::unrecordable::spoil(
        &array,
        "it takes the real or imaginary part of an array as a view",
    )?;
    if !can(object.py(), array.dtype(), part)? {
        return Ok(None);
    }
    let base = object.get().base.as_ref().map(|base| base.bind(object.py()));
    let owner = base.and_then(|base| base.cast::<NdArray>().ok()).unwrap_or(object);
    let halves = owner.get().side_data_or_new().parts.get(ready(object.py())?, &array, part);
    let strides: SmallVec<[isize; 4]> = array.strides().iter().map(|stride| stride * 2).collect();
    let offset = array.offset() * 2 + isize::from(imaginary);
    let view = halves.view(array.shape(), &strides, offset).map_err(to_py)?;
    view_of(object, view, true).map(Some)
}

/// The view of another dtype; `None` where its elements do not lie at multiples of their size, or no driver in
/// use gives them.
fn under(py: Python<'_>, array: &Array, seen: &MetaView) -> PyResult<Option<Array>> {
    let Some(dtype) = seen.dtype else { return Ok(None) };
    recording::unrecordable::spoil(array, "it takes a view of another dtype")?;
    if !can(py, array.dtype(), dtype)? {
        return Ok(None);
    }
    let (have, want) = (array.dtype().size() as isize, dtype.size() as isize);
    // The first of the elements that make up one of the view's.
    let start = (seen.offset / have) % (want / have).max(1);
    let offset = seen.offset - start * have;
    let mut axes = seen.shape.iter().zip(&seen.strides).filter(|(extent, _)| **extent > 1);
    if offset % want != 0 || axes.any(|(_, stride)| stride % want != 0) {
        return Ok(None);
    }
    let strides: SmallVec<[isize; 4]> = seen.strides.iter().map(|stride| stride / want).collect();
    let whole = ready(py)?.dtype_view(array, dtype, start as usize);
    whole.view(&seen.shape, &strides, offset / want).map(Some).map_err(to_py)
}

#[pymethods]
impl NdArray {
    /// The view of the same bits as elements of another dtype; `None` leaves it to the slow path.
    fn _under<'py>(
        slf: &Bound<'py, Self>,
        dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let ArrayElements::Lazy(array) = elements(slf) else { return Ok(None) };
        let seen = match dtypes::known(dtype)? {
            Some(dtype) if dtype.size() == array.dtype().size() => {
                MetaView::as_it_lies(&array, dtype)
            }
            _ => meta::under(&array, dtype)?,
        };
        under(slf.py(), &array, &seen)?.map(|view| view_of(slf, view, true)).transpose()
    }
}
