//! Joins of arrays, lists of numbers and numbers, one behind the other along an axis.
//!
//! Owns [`join`] and its fast path, [`join_plainly`]. Invariant: the fast path joins what NumPy does; everything else,
//! mistakes too, it leaves to `python/gpupy/_views/joining.py`.
//!
//! Not here: shifts, whose parts are views of one array (`shifts.rs`).

use crate::array::common_dtype::common_dtype;
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::operand::OperandKind;
use crate::convert::numpy_arrays;
use crate::index::listed_numbers;
use crate::session::context::{holds, open, ready};
use crate::session::errors::to_py;
use gpupy_core::{DType, MAX_RANK, Shape, Strides};
use gpupy_engine::{Array, Context};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};
use smallvec::SmallVec;

/// Lazy arrays of one dtype, one behind the other along an axis; `None` where one of them is NumPy's.
#[pyfunction]
pub fn join<'py>(
    py: Python<'py>,
    arrays: Vec<Bound<'py, NdArray>>,
    axis: usize,
) -> PyResult<Option<NdArray>> {
    let mut parts = Vec::with_capacity(arrays.len());
    for array in &arrays {
        match elements(array) {
            ArrayElements::Lazy(part) => parts.push(part),
            ArrayElements::Numpy(_) => return Ok(None),
        }
    }
    let joined = ready(py)?.join(axis, &parts).map_err(to_py)?;
    Ok(Some(NdArray::lazy(joined)))
}

/// The most axes that a part is given.
const MOST_ADDED: usize = 3;

/// The axes that a function gives to its parts before it joins them.
#[derive(Clone, Copy, PartialEq)]
enum JoinedForm {
    Concatenate,
    Stack,
    Rows,
    Columns,
    Depths,
    Horizontally,
    /// The elements of each part one after another.
    Flat,
}

impl JoinedForm {
    fn of(function: &str) -> Option<JoinedForm> {
        Some(match function {
            "concatenate" => JoinedForm::Concatenate,
            "stack" => JoinedForm::Stack,
            "vstack" => JoinedForm::Rows,
            "column_stack" => JoinedForm::Columns,
            "dstack" => JoinedForm::Depths,
            "hstack" => JoinedForm::Horizontally,
            "append" => JoinedForm::Flat,
            _ => return None,
        })
    }

    /// Whether numbers are parts.
    fn takes_numbers(self) -> bool {
        self != JoinedForm::Concatenate
    }

    /// The axis along which parts of so many axes are joined, of those that they have afterwards; `None` where there is
    /// none.
    fn axis(self, ndim: usize, given: Option<isize>) -> Option<usize> {
        let ndim = match self {
            JoinedForm::Stack => ndim + 1,
            JoinedForm::Concatenate => ndim,
            JoinedForm::Rows | JoinedForm::Flat => return Some(0),
            JoinedForm::Columns => return Some(1),
            JoinedForm::Depths => return Some(2),
            JoinedForm::Horizontally => return Some(usize::from(ndim > 1)),
        };
        let given = given?;
        let axis = if given < 0 { given + ndim as isize } else { given };
        usize::try_from(axis).ok().filter(|axis| *axis < ndim)
    }

    /// The part with the axes that the function gives it.
    fn seen(self, context: &Context, part: Array, axis: usize) -> gpupy_core::Result<Array> {
        // Where axes of one element go.
        let places: &[usize] = match (self, part.ndim()) {
            (JoinedForm::Stack, _) => &[axis],
            (JoinedForm::Rows | JoinedForm::Columns, 0) => &[0, 0],
            (JoinedForm::Rows, 1) => &[0],
            (JoinedForm::Columns, 1) => &[1],
            (JoinedForm::Depths, 0) => &[0, 0, 0],
            (JoinedForm::Depths, 1) => &[0, 2],
            (JoinedForm::Depths, 2) => &[2],
            (JoinedForm::Horizontally, 0) => &[0],
            (JoinedForm::Flat, _) => {
                let len = [part.size()];
                return match part.reshape(&len) {
                    Some(flat) => Ok(flat),
                    None => context.copy(&part).map(|own| own.reshape(&len).unwrap_or(own)),
                };
            }
            _ => return Ok(part),
        };
        let (mut shape, mut strides) = (Shape::from(part.shape()), Strides::from(part.strides()));
        for place in places {
            shape.insert(*place, 1);
            strides.insert(*place, 0);
        }
        part.view(&shape, &strides, part.offset())
    }
}

/// The fast path of NumPy's `function`: a list or a tuple of lazy arrays, lists of numbers and, where it takes them,
/// numbers, whose extents are equal but along `axis`; `None` for other arguments.
#[pyfunction]
pub fn join_plainly<'py>(
    function: &str,
    arrays: &Bound<'py, PyAny>,
    axis: &Bound<'py, PyAny>,
) -> PyResult<Option<NdArray>> {
    let (Some(form), Some((context, _))) = (JoinedForm::of(function), open()) else {
        return Ok(None);
    };
    let axis = axis.cast_exact::<PyInt>().ok().and_then(|axis| axis.extract::<isize>().ok());
    let mut parts: Vec<Array> = Vec::new();
    if let Ok(list) = arrays.cast_exact::<PyList>() {
        parts.reserve(list.len());
        for item in list.iter() {
            let Some(part) = part_of(&item, form)? else { return Ok(None) };
            parts.push(part);
        }
    } else if let Ok(tuple) = arrays.cast_exact::<PyTuple>() {
        parts.reserve(tuple.len());
        for item in tuple.iter_borrowed() {
            let Some(part) = part_of(&item, form)? else { return Ok(None) };
            parts.push(part);
        }
    }
    let Some(first) = parts.first() else { return Ok(None) };
    let Some(axis) = form.axis(first.ndim(), axis) else { return Ok(None) };
    if form != JoinedForm::Concatenate {
        let ndim = first.ndim();
        let has_place = |part: &Array| form != JoinedForm::Stack || part.ndim() == ndim;
        if parts.iter().any(|part| part.ndim() + MOST_ADDED > MAX_RANK || !has_place(part)) {
            return Ok(None);
        }
        let seen = parts.into_iter().map(|part| form.seen(context, part, axis));
        parts = seen.collect::<gpupy_core::Result<_>>().map_err(to_py)?;
    }
    if !fit(&parts, axis) {
        return Ok(None);
    }
    let Some(dtype) = dtype_of(arrays.py(), &parts)? else { return Ok(None) };
    if !holds(dtype)? {
        return Ok(None);
    }
    for part in parts.iter_mut().filter(|part| part.dtype() != dtype) {
        *part = context.cast_by_strides(part, dtype).map_err(to_py)?;
    }
    context.join(axis, &parts).map(NdArray::lazy).map(Some).map_err(to_py)
}

/// The lazy array that a part is or becomes; `None` for others.
#[inline]
fn part_of(item: &Bound<'_, PyAny>, form: JoinedForm) -> PyResult<Option<Array>> {
    if let Ok(array) = item.cast_exact::<NdArray>() {
        return Ok(array.get().read(item.py()).as_lazy().cloned());
    }
    if item.is_exact_instance_of::<PyUntypedArray>() {
        return numpy_arrays::from_numpy(item);
    }
    let is_list = item.is_exact_instance_of::<PyList>() || item.is_exact_instance_of::<PyTuple>();
    if is_list || form.takes_numbers() { listed_numbers::array_of(item, None) } else { Ok(None) }
}

/// Whether parts have one rank, which has the axis, and equal extents along the others.
fn fit(parts: &[Array], axis: usize) -> bool {
    parts.first().is_some_and(|first| {
        let fits = |part: &Array| {
            let extents = part.shape().iter().zip(first.shape()).enumerate();
            let others = extents.into_iter().all(|(k, (own, first))| k == axis || own == first);
            part.ndim() == first.ndim() && others
        };
        axis < first.ndim() && parts.iter().all(fits)
    })
}

/// The dtype of a join; `None` of more than two dtypes, for which NumPy has other rules than for pairs.
fn dtype_of(py: Python<'_>, parts: &[Array]) -> PyResult<Option<DType>> {
    let mut dtypes: SmallVec<[DType; 2]> = SmallVec::new();
    for part in parts {
        if !dtypes.contains(&part.dtype()) {
            dtypes.push(part.dtype());
        }
    }
    match dtypes[..] {
        [one] => Ok(Some(one)),
        [one, other] => common_dtype(py, OperandKind::of(one), OperandKind::of(other)),
        _ => Ok(None),
    }
}
