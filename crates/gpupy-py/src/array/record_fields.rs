//! Fields of records, which NumPy owns, as operands of operations.
//!
//! Owns [`field`], and the ranges of their memory that a device lacks. Invariant: later writes do not change the
//! elements that an operation was recorded with.
//!
//! Not here: how changes of the memory are found (`shadow_copy.rs`).

use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::shadow_copy::ShadowCopy;
use crate::convert::dtypes;
use crate::convert::numpy_arrays::{address, bytes};
use crate::session::context::{context, holds};
use crate::session::errors::to_py;
use crate::session::waiting::wait;
use crate::thresholds::T;
use gpupy_core::DType;
use gpupy_engine::{Array, Placement};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ops::Range;

/// A numeric field of records as an array that drivers see, with its elements of now; `None` for other arrays.
#[pyfunction]
pub fn of_field(array: &Bound<'_, NdArray>) -> PyResult<Option<NdArray>> {
    Ok(field(array)?.map(NdArray::lazy))
}

/// The ranges of the memory of records, in bytes, whose present state the driver in use lacks; for a field, only those
/// of copies of its dtype. `None` for other arrays, and where no operation has read such a field yet.
pub fn pending(array: &Bound<'_, NdArray>) -> PyResult<Option<Vec<Range<usize>>>> {
    let py = array.py();
    let own = array.clone().into_any();
    let base = array.get().base.as_ref().map_or(&own, |base| base.bind(py));
    let Ok(owner) = base.cast::<NdArray>() else { return Ok(None) };
    let (ArrayElements::Numpy(host), ArrayElements::Numpy(records)) =
        (elements(array), elements(owner))
    else {
        return Ok(None);
    };
    let dtype = dtypes::from_numpy(&host.getattr(intern!(py, "dtype"))?)?;
    let Some(bytes) = bytes(records.cast::<PyUntypedArray>()?) else { return Ok(None) };
    // The thread that holds this lock may be waiting for Python's.
    let Ok(shadow_copies) = owner.get().side_data_or_new().shadow_copies.try_lock() else {
        return Ok(None);
    };
    let read = |copy: &&ShadowCopy| {
        dtype.is_none_or(|dtype| copy.elements.dtype() == dtype) && copy.seen.len() <= bytes.len()
    };
    let mut found = None;
    for copy in shadow_copies.iter().filter(read) {
        let pending: &mut Vec<Range<usize>> = found.get_or_insert_default();
        pending.extend(copy.changes(bytes));
        let context = context()?;
        let sent = wait(py, || context.pending_extents(&copy.elements)).map_err(to_py)?;
        pending.extend(sent);
    }
    Ok(found)
}

/// The elements of a field of records, as they are at present; `None` for other arrays, and for fields that do
/// not lie at multiples of their size.
pub fn field(array: &Bound<'_, NdArray>) -> PyResult<Option<Array>> {
    let py = array.py();
    let Some(base) = &array.get().base else { return Ok(None) };
    let Ok(owner) = base.bind(py).cast::<NdArray>() else { return Ok(None) };
    let (ArrayElements::Numpy(host), ArrayElements::Numpy(records)) =
        (elements(array), elements(owner))
    else {
        return Ok(None);
    };
    let (records, part) = (records.cast::<PyUntypedArray>()?, host.cast::<PyUntypedArray>()?);
    if !records.dtype().has_fields() || records.dtype().has_object() {
        return Ok(None);
    }
    let dtype = match dtypes::from_numpy(&part.dtype())? {
        Some(dtype) if holds(dtype)? => dtype,
        _ => return Ok(None),
    };
    let Some(bytes) = bytes(records) else { return Ok(None) };
    let size = dtype.size() as isize;
    let away = (address(part) as isize).wrapping_sub(address(records) as isize);
    if away % size != 0 || part.strides().iter().any(|stride| stride % size != 0) {
        return Ok(None);
    }
    if part.len() <= T.copied_field
        && context()?.settings().placement == Placement::Auto
        && let Some(few) = few(part, dtype, away, bytes)
    {
        return Array::from_bytes(dtype, part.shape(), &few).map(Some).map_err(to_py);
    }
    let strides: SmallVec<[isize; 4]> = part.strides().iter().map(|stride| stride / size).collect();
    // The thread that holds this lock may be waiting for Python's.
    let Ok(mut shadow_copies) = owner.get().side_data_or_new().shadow_copies.try_lock() else {
        return Ok(None);
    };
    let fits =
        |copy: &&mut ShadowCopy| copy.elements.dtype() == dtype && copy.seen.len() <= bytes.len();
    let elements = match shadow_copies.iter_mut().find(fits) {
        Some(copy) => {
            copy.follow(bytes)?;
            copy.elements.clone()
        }
        None => {
            let made = ShadowCopy::new(dtype, bytes)?;
            let elements = made.elements.clone();
            shadow_copies.push(made);
            elements
        }
    };
    // Records that got other memory have fields elsewhere, which are none of theirs any more.
    Ok(elements.view(part.shape(), &strides, away / size).ok())
}

/// The elements of a field along one axis, which begins so many bytes behind the records' first byte; `None` for
/// others.
fn few(
    part: &Bound<'_, PyUntypedArray>,
    dtype: DType,
    away: isize,
    bytes: &[u8],
) -> Option<SmallVec<[u8; 64]>> {
    let ([n], [stride]) = (part.shape(), part.strides()) else { return None };
    // Of bools each byte would have to be looked at.
    if dtype == DType::Bool {
        return None;
    }
    let mut found = SmallVec::with_capacity(n * dtype.size());
    for k in 0..*n as isize {
        let start = usize::try_from(away + k * stride).ok()?;
        found.extend_from_slice(bytes.get(start..start + dtype.size())?);
    }
    Some(found)
}
