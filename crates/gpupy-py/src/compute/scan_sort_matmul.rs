//! Library ops: scans, sorts and matrix products, which drivers do as whole programs.
//!
//! Owns their dtypes, which are NumPy's, and products of one-dimensional operands.
//!
//! Not here: axes and keyword arguments (`python/gpupy/_compute/reductions.py`, `_compute/sorting.py`), products that
//! are made of this one (`_compute/linear.py`).

use crate::array::classes::wrap::wrap_array;
use crate::array::ndarray::NdArray;
use crate::compute::reduce::{reduction, wide};
use crate::convert::numpy_arrays;
use crate::session::context::{self, holds, ready, supports};
use crate::session::errors::to_py;
use gpupy_core::{DType, Op, Result, Scalar};
use gpupy_engine::{Array, Context};
use pyo3::prelude::*;

/// The matrix product by NumPy's rules; `None` for operands that it refuses.
pub fn product(context: &Context, left: &Array, right: &Array) -> Result<Option<Array>> {
    if left.ndim() == 0 || right.ndim() == 0 {
        return Ok(None);
    }
    // A vector is a row on the left and a column on the right, which the result lacks.
    let row = left.ndim() == 1;
    let column = right.ndim() == 1;
    let left = if row { left.insert_axis(0) } else { left.clone() };
    let right = if column { right.insert_axis(1) } else { right.clone() };
    let (a, b) = (left.shape(), right.shape());
    let stacks = (&a[..a.len() - 2], &b[..b.len() - 2]);
    let fit = a[a.len() - 1] == b[b.len() - 2]
        && gpupy_core::broadcast_shapes(&[stacks.0, stacks.1]).is_ok();
    if !fit {
        return Ok(None);
    }
    let mut result = context.matmul(&left, &right)?;
    if row {
        result = result.index_axis(result.ndim() - 2, 0);
    }
    if column {
        result = result.index_axis(result.ndim() - 1, 0);
    }
    Ok(Some(result))
}

/// The product of two vectors or matrices that are arrays of ours, by `@` and by `dot`, where it is computed eagerly in
/// one launch; `None` for others.
#[pyfunction]
pub fn little_product<'py>(
    left: &Bound<'py, PyAny>,
    right: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = left.py();
    let (Ok(left), Ok(right)) = (left.cast_exact::<NdArray>(), right.cast_exact::<NdArray>())
    else {
        return Ok(None);
    };
    let (left, right) = (left.get().read(py), right.get().read(py));
    let (Some(left), Some(right)) = (left.as_lazy(), right.as_lazy()) else { return Ok(None) };
    let Some((context, _)) = context::open() else { return Ok(None) };
    // NumPy's `matmul` gives float32 for bfloat16, and NumPy computes while a program wants to hear of its mistakes.
    if left.dtype() == DType::BF16 || context::eager() {
        return Ok(None);
    }
    match [left.ndim(), right.ndim()] {
        [1, 1] => {
            let found = context.dot_eagerly(left, right);
            found.map(|product| numpy_arrays::numpy_scalar(py, product)).transpose()
        }
        // The two differ for stacks.
        [1 | 2, 1 | 2] => {
            let found = context.product_eagerly(left, right);
            found.map(|product| Ok(Bound::new(py, NdArray::lazy(product))?.into_any())).transpose()
        }
        _ => Ok(None),
    }
}

/// The axis of a number that may count from the end; `None` where the array has no such axis.
pub fn place_of(axis: isize, array: &Array) -> Option<usize> {
    let rank = array.ndim() as isize;
    (-rank..rank).contains(&axis).then(|| axis.rem_euclid(rank) as usize)
}

/// Running results along an axis, or the only one where none is named, of the ufunc that NumPy calls `name`,
/// of elements that are cast to `dtype` first where it is given; `None` leaves it to NumPy.
#[pyfunction]
#[pyo3(signature = (name, array, axis, dtype=None))]
pub fn scan(
    py: Python<'_>,
    name: &str,
    array: &Bound<'_, NdArray>,
    axis: Option<isize>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<NdArray>> {
    let Some(array) = array.get().read(py).as_lazy().cloned() else { return Ok(None) };
    let given = match dtype {
        Some(dtype) => match crate::convert::dtypes::from_any(dtype)? {
            Some(dtype) => dtype,
            None => return Ok(None),
        },
        None if matches!(name, "add" | "multiply") => wide(array.dtype()),
        None => array.dtype(),
    };
    let Some(op) = reduction(name, given).map(|found| found.op) else { return Ok(None) };
    let axis = match axis {
        None if array.ndim() == 1 => Some(0),
        None => None,
        Some(axis) => place_of(axis, &array),
    };
    let Some(axis) = axis else { return Ok(None) };
    let dtype = given;
    let truth = name.starts_with("logical");
    let context = ready(py)?;
    let able = op.reduces(dtype) && supports(context, Op::Scan, dtype) && holds(dtype)?;
    // One times a complex number is not that number where a part is infinite.
    let product = op == Op::Mul && matches!(dtype, DType::C64 | DType::C128);
    // NumPy rounds narrow floats at every step, and so differs from chunks.
    let rounded = array.dtype().is_narrow_float();
    if !able || truth || product || rounded {
        return Ok(None);
    }
    let source =
        if array.dtype() == dtype { array } else { context.cast(&array, dtype).map_err(to_py)? };
    context.scan(op, &source, axis).map(NdArray::lazy).map(Some).map_err(to_py)
}

/// The place, int64, of the first extreme along an axis, which stays with one element if it is kept; `None`
/// leaves it to NumPy.
#[pyfunction]
pub fn place<'py>(
    py: Python<'py>,
    greatest: bool,
    array: &Bound<'_, NdArray>,
    axis: usize,
    kept: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(array) = array.get().read(py).as_lazy().cloned() else { return Ok(None) };
    placed(py, greatest, &array, axis, kept)
}

/// Like [`place`], but of a lazy array.
pub fn placed<'py>(
    py: Python<'py>,
    greatest: bool,
    array: &Array,
    axis: usize,
    kept: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some((context, op)) = places(py, greatest, array.dtype())? else { return Ok(None) };
    let long = array.shape().get(axis).is_none_or(|extent| *extent > i32::MAX as usize);
    if long || array.size() == 0 {
        return Ok(None);
    }
    let place = context.place(op, array, axis).and_then(|at| context.cast(&at, DType::I64));
    let place = place.map_err(to_py)?;
    if kept {
        return Ok(Some(Bound::new(py, NdArray::lazy(place))?.into_any()));
    }
    wrap_array(py, place.index_axis(axis, 0)).map(Some)
}

/// The place in C order, int64, of the first extreme of all elements, found eagerly; `None` where that is too much, or
/// NumPy's.
pub fn place_of_all<'py>(
    py: Python<'py>,
    greatest: bool,
    array: &Array,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some((context, op)) = places(py, greatest, array.dtype())? else { return Ok(None) };
    let found = context.place_of_extreme_eagerly(op, array);
    found
        .map(|place| numpy_arrays::numpy_scalar(py, Scalar::new(DType::I64, place as u64)))
        .transpose()
}

/// The operation whose place is looked for, and the context, where drivers find it.
fn places(
    py: Python<'_>,
    greatest: bool,
    dtype: DType,
) -> PyResult<Option<(&'static Context, Op)>> {
    let op = if greatest { Op::Max } else { Op::Min };
    let context = ready(py)?;
    let able = op.reduces(dtype)
        && supports(context, op, dtype)
        && supports(context, Op::Gather, dtype)
        && holds(DType::I64)?;
    Ok(able.then_some((context, op)))
}

/// The elements along an axis in ascending order; `None` leaves it to NumPy.
#[pyfunction]
pub fn sort(py: Python<'_>, array: &Bound<'_, NdArray>, axis: isize) -> PyResult<Option<NdArray>> {
    let Some(array) = array.get().read(py).as_lazy().cloned() else { return Ok(None) };
    let Some(axis) = place_of(axis, &array) else { return Ok(None) };
    let context = ready(py)?;
    if !supports(context, Op::Sort, array.dtype()) {
        return Ok(None);
    }
    context.sort(&array, axis).map(NdArray::lazy).map(Some).map_err(to_py)
}

/// The positions, int64, that put few elements in the order of several keys, the last one first; `None` leaves it to
/// sorts by one key after another.
#[pyfunction]
pub fn lexsort<'py>(keys: Vec<Bound<'py, NdArray>>, axis: isize) -> PyResult<Option<NdArray>> {
    let Some((context, _)) = context::open() else { return Ok(None) };
    let read: Vec<_> = keys.iter().map(|key| key.get().read(key.py())).collect();
    let Some(arrays) = read.iter().map(|key| key.as_lazy()).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let axis = arrays.first().and_then(|first| place_of(axis, first));
    match axis.filter(|_| arrays.iter().all(|key| supports(context, Op::ArgSort, key.dtype()))) {
        Some(axis) if holds(DType::I64)? => {
            Ok(context.order_eagerly(&arrays, axis).map(NdArray::lazy))
        }
        _ => Ok(None),
    }
}

/// The positions, int64, that put each row along an axis in that order, stably; `None` leaves it to
/// NumPy.
#[pyfunction]
pub fn argsort(
    py: Python<'_>,
    array: &Bound<'_, NdArray>,
    axis: isize,
) -> PyResult<Option<NdArray>> {
    let Some(array) = array.get().read(py).as_lazy().cloned() else { return Ok(None) };
    let Some(axis) = place_of(axis, &array) else { return Ok(None) };
    let context = ready(py)?;
    let able = supports(context, Op::ArgSort, array.dtype()) && holds(DType::I64)?;
    if able && let Some(places) = context.order_eagerly(&[&array], axis) {
        return Ok(Some(NdArray::lazy(places)));
    }
    if !able || array.shape()[axis] > i32::MAX as usize {
        return Ok(None);
    }
    let places = context.argsort(&array, axis).and_then(|at| context.cast(&at, DType::I64));
    places.map(NdArray::lazy).map(Some).map_err(to_py)
}
