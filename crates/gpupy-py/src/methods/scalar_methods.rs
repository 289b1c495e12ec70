//! The Python methods of scalars.
//!
//! Owns the methods of [`LazyScalar`]. Invariant: everything that is not lazy is delegated to the NumPy scalar.
//!
//! Not here: its value (`array/lazy_scalar.rs`), arithmetic (`compute/operators.rs`).

use crate::array::classes::wrap::wrap;
use crate::array::lazy_scalar::LazyScalar;
use crate::array::ndarray::NdArray;
use crate::array::recording;
use crate::compute::operator::Operator;
use crate::compute::operators;
use crate::convert::dtypes;
use crate::methods::dispatch;
use crate::session::errors::to_py;
use crate::session::python_objects;
use gpupy_core::DType;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

#[pymethods]
impl LazyScalar {
    /// The dtype.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.check_has(py, "dtype")?;
        dtypes::to_numpy(py, self.dtype_of())
    }

    /// The shape of every scalar.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.check_has(py, "shape")?;
        Ok(PyTuple::empty(py))
    }

    /// The rank of every scalar.
    #[getter]
    fn ndim(&self, py: Python<'_>) -> PyResult<usize> {
        self.check_has(py, "ndim")?;
        Ok(0)
    }

    /// The number of elements of every scalar.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<usize> {
        self.check_has(py, "size")?;
        Ok(1)
    }

    /// The class of the NumPy scalar, so that `isinstance` takes one for the other. An open bfloat16 has its own class:
    /// the code of ml_dtypes reads the memory of what `isinstance` takes for its scalar.
    #[getter(__class__)]
    fn class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.dtype_of() == DType::BF16 {
            return Ok(py.get_type::<LazyScalar>().into_any());
        }
        if self.is_weak {
            return Ok(self.value(py)?.get_type().into_any());
        }
        let numpy = dtypes::numpy(py)?;
        Ok(numpy.scalar(py, self.dtype_of())?.bind(py).clone())
    }

    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        // As bytes, by which bfloat16 would be read.
        let is_memory = matches!(name, "__array_interface__" | "__array_struct__");
        if is_memory && self.dtype_of() == DType::BF16 {
            return Err(PyAttributeError::new_err(name.to_owned()));
        }
        self.value(py)?.getattr(name)
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.check_formatted()?;
        Ok(self.value(py)?.repr()?.into_any())
    }

    fn __str__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.check_formatted()?;
        Ok(self.value(py)?.str()?.into_any())
    }

    fn __format__<'py>(&self, py: Python<'py>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        self.check_formatted()?;
        self.value(py)?.call_method1("__format__", (spec,))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.value(py)?.hash()
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        if recording::is_on() && self.as_array().is_open() {
            return recording::materialise::decide(py, self.as_array());
        }
        self.value(py)?.is_truthy()
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.value(py)?.call_method0("__float__")
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.value(py)?.call_method0("__int__")
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<pyo3::types::PyComplex>().call1((self.value(py)?,))
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("operator")?.call_method1("index", (self.value(py)?,))
    }

    fn __trunc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("math")?.call_method1("trunc", (self.value(py)?,))
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
        wrap(&self.value(py)?.get_item(key)?)
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
    ) -> PyResult<Bound<'py, PyAny>> {
        python_objects::NAMESPACE.get(py)?.call1((api_version,))
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
        dispatch::array_ufunc(ufunc, method, inputs, kwargs)
    }

    fn __array_function__<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        types: &Bound<'py, PyAny>,
        args: &Bound<'py, PyAny>,
        kwargs: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dispatch::array_function(function, types, args, kwargs)
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
    fn _array(&self, py: Python<'_>) -> PyResult<NdArray> {
        self.check_has(py, "__float__")?;
        Ok(NdArray::lazy(self.as_array().snapshot().map_err(to_py)?))
    }
}
