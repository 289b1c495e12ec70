//! Reshaping: a view where strides allow it, otherwise a lazy copy.
//!
//! Owns the parsing of shape arguments. Invariant: errors about shapes are in NumPy's words.
//!
//! Not here: the other functions that change shapes (`python/gpupy/_views/shape.py`).

use crate::array::classes::subclass::{like, view_of};
use crate::array::classes::wrap::wrap_of;
use crate::array::meta::numpy_error;
use crate::array::ndarray::{ArrayElements, NdArray, elements, host_of};
use crate::index::basic_key::integer;
use crate::session::context::context;
use crate::session::errors::to_py;
use crate::session::python_objects;
use gpupy_core::MAX_RANK;
use gpupy_core::shape::contiguous_strides;
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};
use smallvec::SmallVec;

/// The shape that an argument (an int or a sequence of them) means for this array, and whether it leaves an extent
/// open.
pub fn parse(array: &Array, shape: &Bound<'_, PyAny>) -> PyResult<(SmallVec<[usize; 6]>, bool)> {
    let refuse = || numpy_error(shape.py(), array, |meta| meta.call_method1("reshape", (shape,)));
    let mut wanted: SmallVec<[isize; 6]> = SmallVec::new();
    let mut take = |extent: &Bound<'_, PyAny>| {
        let known = match extent.cast_exact::<PyInt>() {
            Ok(extent) => integer(extent),
            Err(_) => extent.extract().ok(),
        };
        let Some(known) = known else { return false };
        wanted.push(known);
        true
    };
    let all_taken = match shape.cast_exact::<PyTuple>() {
        Ok(extents) => extents.iter_borrowed().all(|extent| take(&extent)),
        Err(_) if take(shape) => true,
        Err(_) => {
            let Ok(mut extents) = shape.try_iter() else { return Err(refuse()) };
            extents.try_fold(true, |all, extent| PyResult::Ok(all && take(&extent?)))?
        }
    };
    if !all_taken {
        return Err(refuse());
    }
    // To NumPy any negative extent is the one that is left open.
    let open = wanted.iter().filter(|n| **n < 0).count();
    let known = wanted
        .iter()
        .filter(|n| **n >= 0)
        .try_fold(1usize, |product, n| product.checked_mul(*n as usize));
    let Some(known) = known else { return Err(refuse()) };
    let fits = match open {
        0 => known == array.size(),
        1 => known != 0 && array.size().is_multiple_of(known),
        _ => false,
    };
    if !fits || wanted.len() > MAX_RANK {
        return Err(refuse());
    }
    let rest = array.size().checked_div(known).unwrap_or(0);
    Ok((wanted.iter().map(|n| usize::try_from(*n).unwrap_or(rest)).collect(), open > 0))
}

/// The view of an array in a shape of as many elements, as [`parse`] gives it, if there is one. Where there are no
/// elements, strides are NumPy's: those of its shape stay, and in others an empty axis counts as one of one element.
pub fn reshaped(array: &Array, (shape, is_open): (&[usize], bool)) -> Option<Array> {
    if array.size() > 0 || !is_open && array.shape() == shape {
        return array.reshape(shape);
    }
    let extents: SmallVec<[usize; 6]> = shape.iter().map(|n| (*n).max(1)).collect();
    array.view(shape, &contiguous_strides(&extents), array.offset()).ok()
}

/// `a.reshape(*shape, order=, copy=)`.
pub fn reshape<'py>(
    slf: &Bound<'py, NdArray>,
    shape: &Bound<'py, PyTuple>,
    order: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    let row_major = match order {
        None => true,
        Some(order) => order.is_none() || order.eq("C")?,
    };
    let one = if shape.len() == 1 { shape.get_item(0)? } else { shape.clone().into_any() };
    if one.is_none() {
        // Whatever the order is.
        return slf.call_method0("view");
    }
    let array = match elements(slf) {
        ArrayElements::Lazy(array) if row_major && !shape.is_empty() => array,
        ArrayElements::Lazy(_) if !row_major => {
            return python_objects::RESHAPE_AS.get(py)?.call1((slf, one, order, copy));
        }
        _ => {
            let kwargs = PyDict::new(py);
            kwargs.set_item(
                "order",
                order.map_or_else(
                    || "C".into_pyobject(py).map(|s| s.into_any()),
                    |o| Ok(o.clone()),
                )?,
            )?;
            // NumPy 2.0 does not know the keyword.
            if let Some(copy) = copy {
                kwargs.set_item("copy", copy)?;
            }
            let host = host_of(slf)?;
            return wrap_of(slf, &host, &host.call_method("reshape", shape, Some(&kwargs))?);
        }
    };
    let (wanted, is_open) = parse(&array, &one)?;
    let wanted = (&wanted[..], is_open);
    if copy != Some(true)
        && let Some(view) = reshaped(&array, wanted)
    {
        return view_of(slf, view, true);
    }
    if copy == Some(false) {
        return Err(pyo3::exceptions::PyValueError::new_err(
            "Unable to avoid creating a copy while reshaping.",
        ));
    }
    let copied = context()?.copy(&array).map_err(to_py)?;
    let made = reshaped(&copied, wanted).unwrap_or(copied);
    like(slf, NdArray::lazy(made))
}
