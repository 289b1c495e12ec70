//! Lazy scalars: a full reduction, or an element that was read, while it is pending.
//!
//! Owns [`LazyScalar`]: an immutable 0-d value that is evaluated at first need and then serves as its NumPy scalar.
//! Invariants: writing to an array never changes a scalar that was read from it before; equal scalars hash like
//! NumPy's and Python's; a value that is known at once is no lazy scalar, but NumPy's own ([`leaving`]).
//!
//! Not here: its methods in Python (`methods/scalar_methods.rs`), arithmetic (`compute`); anything not lazy is
//! delegated to the NumPy scalar.

use crate::array::recording::{self, RecordingTag};
use crate::convert::numpy_arrays;
use crate::session::errors::to_py;
use crate::session::python_objects;
use crate::thresholds::T;
use gpupy_core::{DType, Scalar};
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::sync::Arc;

/// An immutable scalar, evaluated when its value is needed.
// A mapping, because C code takes a class with a sequence's slots for a sequence: of extents, of sizes, of axes.
#[pyclass(name = "scalar", module = "gpupy", frozen, weakref, mapping)]
pub struct LazyScalar {
    /// An array without axes, the only one of its base.
    array: Array,
    /// How many operations on scalars alone led here since a value was known.
    pub operations: u32,
    /// The tag of the recording that made it.
    made: Option<Arc<RecordingTag>>,
    /// It stands for a Python float, and takes the dtype of the other operand.
    pub is_weak: bool,
    /// It stands for a number among the arguments, while a function is recorded.
    stands: bool,
    value: PyOnceLock<Py<PyAny>>,
}

/// What a program does with a number that it gets.
enum NumberUse {
    /// Nothing that tells a pending one from NumPy's.
    Stays,
    /// What needs NumPy's own.
    Leaves,
    /// The same, and drops what the number is computed from.
    LeavesAlone,
}

/// A 0-d array, whose base is never written, as a program gets it: NumPy's scalar, because all code accepts it as a
/// number; a lazy scalar where it is pending and the program does nothing with it that would tell one from the other.
pub fn leaving(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    leaving_after(py, array, 0)
}

/// The same as the result of a recorded function, which is pending wherever it goes.
pub fn leaving_recorded(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    match known(py, &array)? {
        Some(known) => Ok(known),
        None => Ok(Bound::new(py, LazyScalar::new(array, 0))?.into_any()),
    }
}

fn leaving_after(py: Python<'_>, array: Array, operations: u32) -> PyResult<Bound<'_, PyAny>> {
    if let Some(known) = known(py, &array)? {
        return Ok(known);
    }
    match fate(py, &array)? {
        NumberUse::Stays => Ok(Bound::new(py, LazyScalar::new(array, operations))?.into_any()),
        NumberUse::Leaves => numpy_arrays::scalar(py, &array),
        NumberUse::LeavesAlone => numpy_arrays::scalar_of_passing(py, &array),
    }
}

/// The number, if no lazy scalar stands for it.
fn known<'py>(py: Python<'py>, array: &Array) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(known) = array.known_element() {
        return numpy_arrays::numpy_scalar(py, known).map(Some);
    }
    // They have no scalar form in the core.
    let is_complex = array.dtype().is_complex() && array.is_there();
    // A pending one is no instance of ml_dtypes' scalar, and so no number to that package's code.
    if is_complex || array.dtype() == DType::BF16 && !array.is_open() {
        return numpy_arrays::scalar(py, array).map(Some);
    }
    Ok(None)
}

/// What the program does with the number that its present instruction gives.
fn fate(py: Python<'_>, array: &Array) -> PyResult<NumberUse> {
    if array.is_open() || recording::is_on() {
        return Ok(NumberUse::Stays);
    }
    let (stays, passing): (bool, bool) = python_objects::FATE.get(py)?.call0()?.extract()?;
    Ok(match (stays, passing) {
        (true, _) => NumberUse::Stays,
        (false, false) => NumberUse::Leaves,
        (false, true) => NumberUse::LeavesAlone,
    })
}

/// A placeholder for a number while a function is recorded: an open array without axes. A weak one stands for a
/// Python float.
pub fn standing(py: Python<'_>, array: Array, is_weak: bool) -> PyResult<Bound<'_, PyAny>> {
    let scalar = LazyScalar { is_weak, stands: true, ..LazyScalar::new(array, 0) };
    Ok(Bound::new(py, scalar)?.into_any())
}

impl LazyScalar {
    fn new(array: Array, operations: u32) -> LazyScalar {
        let made = if recording::is_on() { recording::made(&array) } else { None };
        let value = PyOnceLock::new();
        LazyScalar { array, operations, made, is_weak: false, stands: false, value }
    }

    /// Refuses an attribute that the number behind a placeholder lacks; the number is read for it.
    ///
    /// # Errors
    /// - `AttributeError`: as of a Python float.
    pub fn check_has(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        if self.is_weak { self.value(py)?.getattr(name).map(drop) } else { Ok(()) }
    }

    /// Refuses to make text of an open scalar; a placeholder for a number is read.
    ///
    /// # Errors
    /// - `FormatError`: it is open.
    pub fn check_formatted(&self) -> PyResult<()> {
        if self.stands { Ok(()) } else { recording::unrecordable::check_formatted(&self.array) }
    }

    /// The tag of the recording that made it.
    pub fn made(&self) -> Option<Arc<RecordingTag>> {
        self.made.clone()
    }

    /// An element of an array as it is now: NumPy's if nothing has to be computed for it, or if it is one
    /// of many, for which the array's blocks are better computed than each alone.
    pub fn element<'py>(
        py: Python<'py>,
        view: &Array,
        one_of_many: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(element) = numpy_arrays::known_element(py, view, view.offset())? {
            return Ok(element);
        }
        let array = view.snapshot().map_err(to_py)?;
        let value = array.value().map_err(to_py)?;
        if (one_of_many || value.is_computed()) && !array.is_open() {
            return numpy_arrays::scalar(py, &array);
        }
        leaving(py, array)
    }

    /// The dtype.
    pub fn dtype_of(&self) -> DType {
        self.array.dtype()
    }

    /// The element as a 0-d array.
    pub fn as_array(&self) -> &Array {
        &self.array
    }

    /// How many operations on scalars alone wait for this one to be evaluated.
    #[inline]
    pub fn pending(&self, py: Python<'_>) -> u32 {
        if self.value.get(py).is_none() { self.operations } else { 0 }
    }

    /// The scalar result of an operation; `pending` are the numbers of operations that its operands wait for.
    #[inline]
    pub fn recorded(
        py: Python<'_>,
        array: Array,
        pending: impl Iterator<Item = u32>,
    ) -> PyResult<Bound<'_, PyAny>> {
        let operations = pending.fold(1, u32::saturating_add);
        if operations >= T.pending_on_scalars && !array.is_open() {
            return numpy_arrays::scalar(py, &array);
        }
        leaving_after(py, array, operations)
    }

    /// The NumPy scalar, evaluated if need be.
    pub fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(value) = self.value.get(py) {
            return Ok(value.bind(py).clone());
        }
        let mut value = numpy_arrays::scalar(py, &self.array)?;
        if self.is_weak {
            value = value.call_method0("__float__")?;
        }
        Ok(self.value.get_or_init(py, || value.unbind()).bind(py).clone())
    }

    /// The element, if it is known by now.
    pub fn element_now(&self) -> Option<Scalar> {
        self.array.known_element()
    }

    /// The NumPy scalar if it has been evaluated already.
    pub fn known<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match self.value.get(py) {
            Some(value) => Some(value.bind(py).clone()),
            None if self.is_weak => None,
            None => self.element_now().and_then(|_| self.value(py).ok()),
        }
    }
}
