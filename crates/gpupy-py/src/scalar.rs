//! Lazy scalars: what a full reduction or an element read gives.
//!
//! Owns [`LazyScalar`]: an immutable 0-d value that is evaluated at first need and then serves as
//! the NumPy scalar that it is. Invariants: writing to an array never changes a scalar read from it
//! before; equal scalars hash like NumPy's and Python's. Most are known when they are made, and are
//! nothing but their bits.
//!
//! Not here: arithmetic (`ufunc.rs`); anything not lazy is delegated to the NumPy scalar.

use crate::array::NdArray;
use crate::errors::to_py;
use crate::operand::{Held, Operand};
use crate::operators::{self, Operator};
use crate::{dtypes, host, protocols};
use gpupy_core::{DType, Scalar};
use gpupy_engine::Array;
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyTuple};

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

    /// The scalar that an operation on these operands gives.
    pub fn recorded<'py>(
        py: Python<'py>,
        array: Array,
        operands: &[Operand<'_>],
    ) -> PyResult<Bound<'py, PyAny>> {
        let pending = |operand: &Operand<'_>| match &operand.held {
            Held::Scalar(scalar) if scalar.value.get(py).is_none() => scalar.operations,
            _ => 0,
        };
        let operations = operands.iter().map(pending).fold(1, u32::saturating_add);
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

#[pymethods]
impl LazyScalar {
    /// The dtype.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dtypes::to_numpy(py, self.dtype_of())
    }

    /// The shape of every scalar.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        PyTuple::empty(py)
    }

    /// The rank of every scalar.
    #[getter]
    fn ndim(&self) -> usize {
        0
    }

    /// The number of elements of every scalar.
    #[getter]
    fn size(&self) -> usize {
        1
    }

    /// The class of the NumPy scalar, so that `isinstance` takes one for the other.
    #[getter(__class__)]
    fn class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = dtypes::numpy(py)?;
        Ok(numpy.scalar(self.dtype_of()).bind(py).clone())
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.value(py)?.getattr(name)
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.value(py)?.repr()?.into_any())
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.value(py)?.str()?.into_any())
    }

    fn __format__<'py>(&self, py: Python<'py>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        self.value(py)?.call_method1("__format__", (spec,))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.value(py)?.hash()
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        match self.as_known() {
            Some(known) if !known.dtype.is_float() => Ok(known.as_bool()),
            _ => self.value(py)?.is_truthy(),
        }
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.element_now() {
            Some(it) if it.dtype == DType::F32 => {
                Ok(PyFloat::new(py, it.as_f32().into()).into_any())
            }
            Some(it) if it.dtype == DType::F64 => {
                Ok(PyFloat::new(py, f64::from_bits(it.bits)).into_any())
            }
            _ => self.value(py)?.call_method0("__float__"),
        }
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.as_known() {
            Some(known) if known.dtype.is_int() => host::python_int(py, known),
            _ => self.value(py)?.call_method0("__int__"),
        }
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<pyo3::types::PyComplex>().call1((self.value(py)?,))
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.as_known() {
            Some(known) if known.dtype.is_int() => host::python_int(py, known),
            _ => py.import("operator")?.call_method1("index", (self.value(py)?,)),
        }
    }

    #[pyo3(signature = (*args))]
    fn __round__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut all = vec![self.value(py)?];
        all.extend(args.iter());
        py.import("builtins")?.getattr("round")?.call1(PyTuple::new(py, all)?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.value(py)?.call_method0("__reduce__")
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        protocols::wrap(&self.value(py)?.get_item(key)?)
    }

    #[pyo3(signature = (dtype=None, *, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let kwargs = PyDict::new(py);
        kwargs.set_item("dtype", dtype)?;
        let _ = copy; // a scalar has no memory to share
        dtypes::numpy(py)?.array.bind(py).call((self.value(py)?,), Some(&kwargs))
    }

    /// The namespace of arrays, which is this package's.
    #[pyo3(signature = (*, api_version=None))]
    fn __array_namespace__<'py>(
        &self,
        py: Python<'py>,
        api_version: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyModule>> {
        let _ = api_version; // there is one
        py.import("gpupy")
    }

    /// The element as DLPack's tensor without axes, over memory of its own.
    #[pyo3(signature = (**kwargs))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array =
            dtypes::numpy(slf.py())?.array.bind(slf.py()).call1((slf.get().value(slf.py())?,))?;
        array.call_method("__dlpack__", (), kwargs)
    }

    /// Where DLPack finds the element.
    fn __dlpack_device__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let array = dtypes::numpy(py)?.array.bind(py).call1((self.value(py)?,))?;
        array.call_method0("__dlpack_device__")
    }

    #[pyo3(signature = (ufunc, method, *inputs, **kwargs))]
    fn __array_ufunc__<'py>(
        &self,
        ufunc: &Bound<'py, PyAny>,
        method: &Bound<'py, PyAny>,
        inputs: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        protocols::array_ufunc(ufunc, method, inputs, kwargs)
    }

    fn __array_function__<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        types: &Bound<'py, PyAny>,
        args: &Bound<'py, PyAny>,
        kwargs: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        protocols::array_function(function, types, args, kwargs)
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        operators::binary(Operator::comparison(op), slf.as_any(), other)
    }

    /// The NumPy scalar.
    fn _value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.value(py)
    }

    /// A 0-d array with this value.
    fn _array(&self) -> PyResult<NdArray> {
        Ok(NdArray::lazy(self.to_array()?.snapshot().map_err(to_py)?))
    }
}
