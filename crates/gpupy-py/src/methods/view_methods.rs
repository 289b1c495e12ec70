//! Views of arrays as methods: reshaped, transposed, and whatever NumPy's view functions give.
//!
//! Owns these methods of [`NdArray`], and [`numpy_attribute`]. Invariant: nothing is evaluated for a view.
//!
//! Not here: where views lie (`views`, `array/meta.rs`).

use crate::array::classes::subclass::view_of;
use crate::array::classes::wrap::{wrap, wrap_of};
use crate::array::meta;
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::convert::{array_export, dtypes};
use crate::index::basic_key::integer;
use crate::views::reshape;
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};
use smallvec::SmallVec;

#[pymethods]
impl NdArray {
    /// The view that a view function of NumPy's gives.
    #[pyo3(signature = (function, *args, **kwargs))]
    fn _views<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match elements(slf) {
            ArrayElements::Lazy(array) => {
                let found = |view, writable| view_of(slf, view, writable);
                meta::views(&array, function, args, kwargs, &found)
            }
            ArrayElements::Numpy(array) => {
                let mut all = vec![array.clone()];
                all.extend(args.iter());
                wrap_of(slf, &array, &function.call(PyTuple::new(slf.py(), all)?, kwargs)?)
            }
        }
    }

    /// An ndarray of this shape and dtype without elements, for NumPy to word a mistake on.
    fn _meta_array<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match elements(slf) {
            ArrayElements::Lazy(array) => meta::meta_array(slf.py(), array.shape(), array.dtype()),
            ArrayElements::Numpy(array) => Ok(array),
        }
    }

    /// A view with another shape, or a copy where no view can have it.
    #[pyo3(
        signature = (*shape, order=None, copy=None),
        text_signature = "($self, /, *shape, order='C', copy=None)"
    )]
    fn reshape<'py>(
        slf: &Bound<'py, Self>,
        shape: &Bound<'py, PyTuple>,
        order: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reshape::reshape(slf, shape, order, copy)
    }

    /// All elements along one axis, as a view, where they stand one after another in C order.
    fn _row<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let ArrayElements::Lazy(array) = elements(slf) else { return Ok(None) };
        let row = array
            .is_contiguous()
            .then(|| reshape::reshaped(&array, (&[array.size()], true)))
            .flatten();
        row.map(|row| view_of(slf, row, true)).transpose()
    }

    /// The axes in another order.
    #[pyo3(signature = (*axes))]
    fn transpose<'py>(
        slf: &Bound<'py, Self>,
        axes: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if axes.is_empty() {
            return Self::transposed(slf);
        }
        let this = slf.get().read(slf.py());
        let plain = this.as_lazy().and_then(|array| Some((array, permutation(array, axes)?)));
        if let Some((array, order)) = plain {
            return view_of(slf, array.transpose(&order), true);
        }
        let function = dtypes::numpy(slf.py())?.ndarray.bind(slf.py()).getattr("transpose")?;
        Self::_views(slf, &function, axes, None)
    }
}

/// The axes in another order, one Python int for each, or a tuple of them; `None` where NumPy has to judge them.
fn permutation(array: &Array, axes: &Bound<'_, PyTuple>) -> Option<SmallVec<[usize; 4]>> {
    let given;
    let axes = match axes.get_item(0).ok()?.cast_into_exact::<PyTuple>() {
        Ok(axes) => {
            given = axes;
            &given
        }
        Err(_) => axes,
    };
    let rank = array.ndim() as isize;
    if axes.len() != array.ndim() {
        return None;
    }
    let mut order: SmallVec<[usize; 4]> = SmallVec::new();
    for axis in axes.iter_borrowed() {
        let axis = integer(&*axis.cast_exact::<PyInt>().ok()?)?;
        let axis = (-rank..rank).contains(&axis).then(|| axis.rem_euclid(rank) as usize)?;
        if order.contains(&axis) {
            return None;
        }
        order.push(axis);
    }
    Some(order)
}

/// Stands for `ndarray`'s attributes that NumPy answers.
fn attribute<'py>(slf: &Bound<'py, NdArray>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    match elements(slf) {
        ArrayElements::Lazy(array) => {
            wrap(&array_export::to_numpy(slf.py(), &array)?.getattr(name)?)
        }
        ArrayElements::Numpy(array) => wrap_of(slf, &array, &array.getattr(name)?),
    }
}

/// The attribute of the name, from NumPy.
#[pyfunction]
pub fn numpy_attribute<'py>(
    array: &Bound<'py, NdArray>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    attribute(array, name)
}
