//! Attributes of an array: shape, dtype, strides, base, flags.
//!
//! Owns the getters of [`NdArray`] and their setters. Invariant: none of them evaluates anything.
//!
//! Not here: attributes that are elements, such as `real` and `flat` (`python/gpupy/_methods`).

use crate::array::classes::subclass::view_of;
use crate::array::classes::wrap::wrap_of;
use crate::array::ndarray::{ArrayElements, NdArray, elements, host_of};
use crate::array::recording;
use crate::array::repr::Repr;
use crate::convert::dtypes;
use crate::convert::numpy_arrays::ndarray;
use crate::session::python_objects;
use crate::views::reshape;
use gpupy_engine::Array;
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

#[pymethods]
impl NdArray {
    /// Extents.
    #[getter]
    fn shape<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(array) = slf.get().read(slf.py()).as_lazy() {
            return Ok(PyTuple::new(slf.py(), array.shape())?.into_any());
        }
        host_of(slf)?.getattr("shape")
    }

    #[setter(shape)]
    fn set_shape(slf: &Bound<'_, Self>, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        match elements(slf) {
            ArrayElements::Numpy(array) => array.setattr("shape", shape),
            ArrayElements::Lazy(array) => {
                let (wanted, is_open) = reshape::parse(&array, shape)?;
                let Some(view) = reshape::reshaped(&array, (&wanted, is_open)) else {
                    return Err(pyo3::exceptions::PyAttributeError::new_err(
                        "Incompatible shape for in-place modification. Use `.reshape()` to make \
                         a copy with the desired shape.",
                    ));
                };
                slf.get().replace(slf.py(), Repr::Lazy(view))
            }
        }
    }

    /// The type of the elements.
    #[getter]
    fn dtype<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(array) = slf.get().read(slf.py()).as_lazy() {
            return dtypes::to_numpy(slf.py(), array.dtype());
        }
        host_of(slf)?.getattr("dtype")
    }

    #[setter(dtype)]
    fn set_dtype(slf: &Bound<'_, Self>, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        python_objects::SET_DTYPE.get(slf.py())?.call1((slf, dtype)).map(drop)
    }

    /// How many axes.
    #[getter]
    pub fn ndim(slf: &Bound<'_, Self>) -> PyResult<usize> {
        if let Some(array) = slf.get().read(slf.py()).as_lazy() {
            return Ok(array.ndim());
        }
        host_of(slf)?.getattr("ndim")?.extract()
    }

    /// How many elements.
    #[getter]
    pub fn size(slf: &Bound<'_, Self>) -> PyResult<usize> {
        if let Some(array) = slf.get().read(slf.py()).as_lazy() {
            return Ok(array.size());
        }
        Ok(ndarray(&host_of(slf)?)?.len())
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(slf: &Bound<'_, Self>) -> PyResult<usize> {
        if let Some(array) = slf.get().read(slf.py()).as_lazy() {
            return Ok(array.dtype().size());
        }
        host_of(slf)?.getattr("itemsize")?.extract()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(slf: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(Self::size(slf)? * Self::itemsize(slf)?)
    }

    /// Bytes from one element to the next along each axis.
    #[getter]
    fn strides<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match elements(slf) {
            ArrayElements::Lazy(array) => {
                let size = array.dtype().size() as isize;
                let bytes: Vec<isize> = array.strides().iter().map(|s| s * size).collect();
                Ok(PyTuple::new(slf.py(), bytes)?.into_any())
            }
            ArrayElements::Numpy(array) => array.getattr("strides"),
        }
    }

    #[setter(strides)]
    fn set_strides(slf: &Bound<'_, Self>, strides: &Bound<'_, PyAny>) -> PyResult<()> {
        // Deprecated in NumPy: it may be slow.
        slf.call_method1(intern!(slf.py(), "_set_strides"), (strides,)).map(drop)
    }

    /// The array of which this is a view, or `None`.
    #[getter]
    fn base<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        recording::unrecordable::asked_of(slf.get().made_in(), "it asks an array for its base");
        let py = slf.py();
        if let Some(base) = &slf.get().base {
            return Ok(base.bind(py).clone());
        }
        match elements(slf) {
            ArrayElements::Lazy(_) => Ok(py.None().into_bound(py)),
            ArrayElements::Numpy(array) => {
                let base = array.getattr("base")?;
                match base.is_exact_instance(dtypes::numpy(py)?.ndarray.bind(py)) {
                    true => Ok(Bound::new(py, NdArray::numpy(&base))?.into_any()),
                    false => Ok(base),
                }
            }
        }
    }

    /// The array with its axes in reverse order.
    #[getter(T)]
    pub fn transposed<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match elements(slf) {
            ArrayElements::Lazy(array) => {
                let order: Vec<usize> = (0..array.ndim()).rev().collect();
                view_of(slf, array.transpose(&order), true)
            }
            ArrayElements::Numpy(array) => wrap_of(slf, &array, &array.getattr("T")?),
        }
    }

    /// True when the array is evaluated by a driver of ours, false when it is NumPy's own.
    #[getter]
    fn _lazy(&self, py: Python<'_>) -> bool {
        self.read(py).as_lazy().is_some()
    }

    #[getter]
    fn _writable(slf: &Bound<'_, Self>) -> PyResult<bool> {
        if slf.get().read(slf.py()).as_lazy().is_some() {
            return Ok(slf.get().is_writable());
        }
        host_of(slf)?.getattr("flags")?.getattr("writeable")?.extract()
    }

    /// Whether it shows no element of its memory twice; false also of some views that do not, whose axes interlock.
    #[getter]
    fn _shows_each_once(slf: &Bound<'_, Self>) -> bool {
        let held = slf.get().read(slf.py());
        held.as_lazy().is_none_or(|array| array.layout().is_injective())
    }

    /// Whether it may be written to, as it is about to be; warns where NumPy does.
    fn _may_write(slf: &Bound<'_, Self>) -> PyResult<bool> {
        if slf.get().read(slf.py()).as_lazy().is_some() {
            return slf.get().may_write(slf.py());
        }
        NdArray::_writable(slf)
    }

    /// Whether the first write is to be warned of.
    #[getter]
    fn _warns_of_write(&self) -> bool {
        self.is_writable() && !self.is_freely_writable()
    }

    /// Has the first write warned of, as NumPy does for results of `broadcast_arrays`.
    fn _warn_of_write(&self) {
        self.warn_of_write();
    }

    /// Whether the elements lie side by side in C order.
    #[getter]
    fn _c_contiguous(slf: &Bound<'_, Self>) -> PyResult<bool> {
        match elements(slf) {
            ArrayElements::Lazy(array) => Ok(array.is_contiguous() || array.size() == 0),
            ArrayElements::Numpy(array) => {
                array.getattr("flags")?.getattr("c_contiguous")?.extract()
            }
        }
    }

    /// Whether the memory of the elements is the array's own.
    #[getter]
    fn _owns(slf: &Bound<'_, Self>) -> PyResult<bool> {
        match elements(slf) {
            ArrayElements::Lazy(array) => {
                Ok(slf.get().base.is_none() && !array.is_over_foreign_memory())
            }
            ArrayElements::Numpy(array) => array.getattr("flags")?.getattr("owndata")?.extract(),
        }
    }

    /// Whether the elements are read from a file or by a reader; these are never written.
    #[getter]
    fn _external(slf: &Bound<'_, Self>) -> bool {
        matches!(elements(slf), ArrayElements::Lazy(array) if array.is_external())
    }

    #[setter(_writable)]
    fn _set_writable(slf: &Bound<'_, Self>, writable: bool) -> PyResult<()> {
        if writable && NdArray::_external(slf) {
            let words = "cannot set WRITEABLE flag to True of an array whose elements are read from outside: copy it";
            return Err(PyValueError::new_err(words));
        }
        slf.get().set_writable(writable);
        Ok(())
    }

    /// True when both arrays show elements of one owner.
    fn _shares(slf: &Bound<'_, Self>, other: &Bound<'_, NdArray>) -> bool {
        match (elements(slf), elements(other)) {
            (ArrayElements::Lazy(a), ArrayElements::Lazy(b)) => a.aliases(&b),
            _ => false,
        }
    }

    /// True while others show the elements of the base.
    #[getter]
    fn _is_pinned(&self, py: Python<'_>) -> bool {
        self.read(py).as_lazy().is_some_and(Array::is_pinned)
    }

    /// The first element's place in its owner, in bytes.
    #[getter]
    fn _offset(&self, py: Python<'_>) -> isize {
        self.read(py).as_lazy().map_or(0, |array| array.byte_offset())
    }

    /// The memory layout, as NumPy shows it.
    #[getter]
    fn flags<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        python_objects::FLAGS.get(slf.py())?.call1((slf,))
    }
}
