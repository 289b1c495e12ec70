//! Arrays of what there is: the fast paths of `array`, `asarray` and `asanyarray`.
//!
//! Owns these functions, for arrays of ours that stay as they are and for numbers in lists. Invariant: they do what the
//! slow path (`python/gpupy/_creation/conversion.py`) does, to which they leave everything else.
//!
//! Not here: the numbers of lists (`index/listed_numbers.rs`).

use crate::array::classes::subclass::view_of;
use crate::array::ndarray::NdArray;
use crate::convert::dtypes;
use crate::index::basic_key::integer;
use crate::index::listed_numbers;
use crate::session::python_objects::{self, PythonObject};
use gpupy_core::{DType, MAX_RANK, Shape};
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString, PyTuple};

/// NumPy's `array`.
pub fn array<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let request = Conversion { dtype: None, copy: Some(true), ndmin: 0, is_array: true };
    request.made(args, kwargs, &python_objects::ARRAY)
}

/// NumPy's `asarray`.
pub fn asarray<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    converted(args, kwargs, &python_objects::ASARRAY)
}

/// NumPy's `asanyarray`.
pub fn asanyarray<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    converted(args, kwargs, &python_objects::ASANYARRAY)
}

fn converted<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
    otherwise: &PythonObject,
) -> PyResult<Bound<'py, PyAny>> {
    let request = Conversion { dtype: None, copy: None, ndmin: 0, is_array: false };
    request.made(args, kwargs, otherwise)
}

/// What a conversion is asked for besides its object.
struct Conversion {
    dtype: Option<DType>,
    copy: Option<bool>,
    ndmin: usize,
    /// Whether it is `array`, which has more arguments than the others.
    is_array: bool,
}

impl Conversion {
    fn made<'py>(
        mut self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        otherwise: &PythonObject,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.takes(args, kwargs)?
            && let Some(made) = self.of(&args.get_item(0)?)?
        {
            return Ok(made);
        }
        otherwise.get(args.py())?.call(args, kwargs)
    }

    /// Reads the arguments; false where they say more than is known here.
    fn takes(
        &mut self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<bool> {
        let is_known = match args.len() {
            1 => true,
            2 => self.takes_dtype(&args.get_item(1)?)?,
            _ => false,
        };
        let Some(kwargs) = kwargs.filter(|_| is_known) else { return Ok(is_known) };
        for (name, value) in kwargs.iter() {
            let name = name.cast::<PyString>()?.to_cow()?;
            let is_known = match &*name {
                "dtype" if args.len() == 1 => self.takes_dtype(&value)?,
                "copy" => {
                    let copy = value.cast_exact::<PyBool>().ok().map(|copy| copy.is_true());
                    self.copy = copy;
                    copy.is_some() || value.is_none()
                }
                // Both say nothing of what is known here.
                "subok" if self.is_array => value.is_exact_instance_of::<PyBool>(),
                "order" => {
                    value.is_none() || value.cast_exact::<PyString>().is_ok_and(|it| it == "K")
                }
                "ndmin" if self.is_array => {
                    let ndmin = value.cast_exact::<PyInt>().ok().and_then(integer);
                    let ndmin = ndmin.and_then(|ndmin| usize::try_from(ndmin).ok());
                    self.ndmin = ndmin.unwrap_or(0);
                    ndmin.is_some_and(|ndmin| ndmin <= MAX_RANK)
                }
                _ => false,
            };
            if !is_known {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn takes_dtype(&mut self, spec: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.dtype = if spec.is_none() { None } else { dtypes::known(spec)? };
        Ok(spec.is_none() || self.dtype.is_some())
    }

    /// The array that an object is or becomes; `None` leaves it to the slow path.
    fn of<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = object.py();
        if let Ok(given) = object.cast_exact::<NdArray>() {
            let this = given.get().read(py);
            let stays = |array: &&Array| {
                self.copy != Some(true) && self.dtype.is_none_or(|dtype| dtype == array.dtype())
            };
            return match this.as_lazy().filter(stays) {
                Some(array) if array.ndim() >= self.ndmin => Ok(Some(object.clone())),
                Some(array) => self.grown(array).map(|it| view_of(given, it, true)).transpose(),
                None => Ok(None),
            };
        }
        if self.copy == Some(false) {
            return Ok(None);
        }
        let array = listed_numbers::array_of(object, self.dtype)?;
        let array =
            array.and_then(|it| if it.ndim() < self.ndmin { self.grown(&it) } else { Some(it) });
        array.map(|it| Ok(Bound::new(py, NdArray::lazy(it))?.into_any())).transpose()
    }

    /// A view with as many axes as are asked for.
    fn grown(&self, array: &Array) -> Option<Array> {
        let mut shape = Shape::from_elem(1, self.ndmin.saturating_sub(array.ndim()));
        shape.extend_from_slice(array.shape());
        array.reshape(&shape)
    }
}
