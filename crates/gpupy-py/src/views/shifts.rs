//! Shifts and paddings, for `roll` and `pad`: views of one array, joined.
//!
//! Owns the bounds of these views. Invariant: the result is a new array.
//!
//! Not here: shifts, widths and modes in NumPy's forms (`python/gpupy/_views/joining.py`).

use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::session::context::{open, ready};
use crate::session::errors::to_py;
use gpupy_core::Result;
use gpupy_engine::{Array, Context};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use smallvec::SmallVec;

/// Shifts, each with its axis.
type Shifts = SmallVec<[(isize, usize); 4]>;

/// An array shifted along axes, one after another, where elements that leave at one end enter at the other.
fn shifted(context: &Context, array: &Array, shifts: &[(isize, usize)]) -> Result<Array> {
    let mut moved: Option<Array> = None;
    for (by, axis) in shifts {
        let from = moved.as_ref().unwrap_or(array);
        let Some(extent) = from.shape().get(*axis).copied().filter(|extent| *extent > 0) else {
            continue;
        };
        let last = by.rem_euclid(extent as isize) as usize;
        if last > 0 {
            let first = extent - last;
            let parts =
                [from.slice_axis(*axis, first, last, 1), from.slice_axis(*axis, 0, first, 1)];
            moved = Some(context.join(*axis, &parts)?);
        }
    }
    moved.map_or_else(|| context.copy(array), Ok)
}

/// A lazy array shifted by so many elements along each axis that stands beside them; `None` where it is
/// NumPy's.
#[pyfunction]
pub fn rolled(
    py: Python<'_>,
    array: &Bound<'_, NdArray>,
    shifts: Vec<(isize, usize)>,
) -> PyResult<Option<NdArray>> {
    let ArrayElements::Lazy(array) = elements(array) else { return Ok(None) };
    let moved = shifted(ready(py)?, &array, &shifts).map_err(to_py)?;
    Ok(Some(NdArray::lazy(moved)))
}

/// The fast path of `roll`: a lazy array in C order, and ints or tuples of ints; `None` for other arguments.
#[pyfunction]
pub fn roll_alike(
    array: &Bound<'_, PyAny>,
    shift: &Bound<'_, PyAny>,
    axis: &Bound<'_, PyAny>,
) -> PyResult<Option<NdArray>> {
    let (Ok(array), Some((context, _))) = (array.cast_exact::<NdArray>(), open()) else {
        return Ok(None);
    };
    let array = array.get().read(array.py());
    let Some(array) = array.as_lazy().filter(|array| array.is_contiguous()) else {
        return Ok(None);
    };
    let Some(shifts) = plain(shift, axis, array.ndim()) else { return Ok(None) };
    shifted(context, array, &shifts).map(NdArray::lazy).map(Some).map_err(to_py)
}

/// Shifts and axes that are ints, one or a tuple of them each.
fn plain(shift: &Bound<'_, PyAny>, axis: &Bound<'_, PyAny>, rank: usize) -> Option<Shifts> {
    let one = |shift: &Bound<'_, PyAny>, axis: &Bound<'_, PyAny>| {
        let [by, axis] = [shift, axis].map(|n| n.cast_exact::<PyInt>().ok()?.extract().ok());
        let (by, axis): (isize, isize) = (by?, axis?);
        let axis = if axis < 0 { axis.checked_add_unsigned(rank)? } else { axis };
        usize::try_from(axis).ok().filter(|axis| *axis < rank).map(|axis| (by, axis))
    };
    let (Ok(several), Ok(axes)) = (shift.cast_exact::<PyTuple>(), axis.cast_exact::<PyTuple>())
    else {
        return one(shift, axis).map(|shift| Shifts::from_slice(&[shift]));
    };
    if several.len() != axes.len() {
        return None;
    }
    several.iter_borrowed().zip(axes.iter_borrowed()).map(|(by, axis)| one(&by, &axis)).collect()
}

/// A lazy array with a pair of numbers of elements more before and behind it along an axis, its own as a mode
/// of `pad` says; `None` where it is NumPy's. It has as many as the mode takes.
#[pyfunction]
pub fn padded(
    py: Python<'_>,
    array: &Bound<'_, NdArray>,
    axis: usize,
    pair: (usize, usize),
    mode: &str,
) -> PyResult<Option<NdArray>> {
    let ArrayElements::Lazy(array) = elements(array) else { return Ok(None) };
    let (before, behind) = pair;
    let extent = array.shape().get(axis).copied().unwrap_or(0);
    let skipped = usize::from(mode == "reflect");
    let offered = if mode == "edge" { usize::MAX } else { extent.saturating_sub(skipped) };
    if extent == 0 || before.max(behind) > offered {
        return Err(PyValueError::new_err("the array has too few elements to pad it with"));
    }
    let part = |start, n, step| array.slice_axis(axis, start, n, step);
    let repeated = |start, n| {
        let mut shape: SmallVec<[usize; 6]> = array.shape().into();
        shape[axis] = n;
        part(start, 1, 1).broadcast_to(&shape).map_err(to_py)
    };
    let (first, last) = match mode {
        "edge" => (repeated(0, before)?, repeated(extent - 1, behind)?),
        "wrap" => (part(extent - before, before, 1), part(0, behind, 1)),
        // Mirrored, with the outermost element or without it.
        _ => {
            let first = (before + skipped).saturating_sub(1);
            (part(first, before, -1), part(extent - 1 - skipped, behind, -1))
        }
    };
    let joined = ready(py)?.join(axis, &[first, array.clone(), last]).map_err(to_py)?;
    Ok(Some(NdArray::lazy(joined)))
}
