//! Lazy scalars: what a full reduction or an element read gives.
//!
//! Owns [`LazyScalar`]: an immutable 0-d value that is evaluated at first need and then serves as
//! the NumPy scalar that it is. Invariants: writing to an array never changes a scalar read from it
//! before; equal scalars hash like NumPy's and Python's. Most are known when they are made, and are
//! nothing but their bits.
//!
//! Not here: its methods in Python (`methods/scalar.rs`), arithmetic (`compute`); anything not lazy is delegated to the NumPy scalar.

use crate::convert::{dtypes, host};
use crate::session::errors::to_py;
use gpupy_core::{DType, Scalar};
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// An immutable scalar, evaluated when its value is needed.
// A mapping, because C code takes a class with a sequence's slots for a sequence: of extents, of sizes, of axes.
#[pyclass(name = "scalar", module = "gpupy", frozen, weakref, mapping)]
pub struct LazyScalar {
    element: Element,
    /// How many operations on scalars alone led here since a value was known.
    pub operations: u32,
    value: PyOnceLock<Py<PyAny>>,
}

/// The one element.
enum Element {
    /// It is known.
    Known(Scalar),
    /// An array without axes; nobody else sees its base.
    Array(Box<Array>),
}

/// Pending operations on scalars after which the value is computed: arithmetic in a Python loop
/// would otherwise become ever larger kernels of one element.
const MANY_OPERATIONS: u32 = 64;

/// A scalar that is known: a truth value is NumPy's, of which there are two, and programs ask which one
/// it is.
pub fn of(py: Python<'_>, scalar: Scalar) -> PyResult<Bound<'_, PyAny>> {
    match scalar.dtype {
        DType::Bool => Ok(dtypes::numpy(py)?.truth(py, scalar.as_bool())),
        _ => Ok(Bound::new(py, LazyScalar::of(scalar))?.into_any()),
    }
}

impl LazyScalar {
    /// A scalar for a 0-d array whose base nobody writes to.
    pub fn new(array: Array) -> LazyScalar {
        LazyScalar::after(array, 0)
    }

    /// A scalar that is known.
    pub fn of(scalar: Scalar) -> LazyScalar {
        LazyScalar { element: Element::Known(scalar), operations: 0, value: PyOnceLock::new() }
    }

    fn after(array: Array, operations: u32) -> LazyScalar {
        let element = match array.known_element() {
            Some(scalar) => Element::Known(scalar),
            None => Element::Array(Box::new(array)),
        };
        LazyScalar { element, operations, value: PyOnceLock::new() }
    }

    /// An element of an array as it is now: known at once if nothing has to be computed for it, or
    /// if it is one of many, for which the array's blocks are better computed than each alone.
    pub fn element<'py>(
        py: Python<'py>,
        view: &Array,
        one_of_many: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(element) = view.known_element() {
            return of(py, element);
        }
        let array = view.snapshot().map_err(to_py)?;
        let is_there = array.value().map_err(to_py)?.is_computed();
        let scalar = LazyScalar::new(array);
        if one_of_many || is_there {
            let value = scalar.value(py)?;
            if scalar.dtype_of() == DType::Bool {
                return Ok(value);
            }
        }
        Ok(Bound::new(py, scalar)?.into_any())
    }

    /// The dtype.
    pub fn dtype_of(&self) -> DType {
        match &self.element {
            Element::Known(scalar) => scalar.dtype,
            Element::Array(array) => array.dtype(),
        }
    }

    /// The element, if it was known from the beginning.
    pub fn as_known(&self) -> Option<Scalar> {
        match &self.element {
            Element::Known(scalar) => Some(*scalar),
            Element::Array(_) => None,
        }
    }

    /// The 0-d array, where the element was not known from the beginning.
    pub fn as_array(&self) -> Option<&Array> {
        match &self.element {
            Element::Known(_) => None,
            Element::Array(array) => Some(array),
        }
    }

    /// The element as a 0-d array.
    pub fn to_array(&self) -> PyResult<Array> {
        match &self.element {
            Element::Known(scalar) => Array::full(&[], *scalar).map_err(to_py),
            Element::Array(array) => Ok((**array).clone()),
        }
    }

    /// How many operations on scalars alone wait for this one to be evaluated.
    #[inline]
    pub fn pending(&self, py: Python<'_>) -> u32 {
        if self.value.get(py).is_none() { self.operations } else { 0 }
    }

    /// The scalar that an operation gives on operands for which so many operations wait.
    #[inline]
    pub fn recorded(
        py: Python<'_>,
        array: Array,
        pending: impl Iterator<Item = u32>,
    ) -> PyResult<Bound<'_, PyAny>> {
        let operations = pending.fold(1, u32::saturating_add);
        let scalar = LazyScalar::after(array, operations);
        if operations >= MANY_OPERATIONS {
            scalar.value(py)?;
        }
        Ok(Bound::new(py, scalar)?.into_any())
    }

    /// The NumPy scalar, evaluated if need be.
    pub fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(value) = self.value.get(py) {
            return Ok(value.bind(py).clone());
        }
        let value = match &self.element {
            Element::Known(scalar) => host::numpy_scalar(py, *scalar)?,
            Element::Array(array) => host::scalar(py, array)?,
        };
        Ok(self.value.get_or_init(py, || value.unbind()).bind(py).clone())
    }

    /// The element, if it is known by now.
    pub fn element_now(&self) -> Option<Scalar> {
        match &self.element {
            Element::Known(scalar) => Some(*scalar),
            Element::Array(array) => array.known_element(),
        }
    }

    /// The NumPy scalar if it has been evaluated already.
    pub fn known<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match self.value.get(py) {
            Some(value) => Some(value.bind(py).clone()),
            None => self.element_now().and_then(|_| self.value(py).ok()),
        }
    }
}
