//! Conversions of arrays: to text, Python numbers, NumPy's arrays, buffers.
//!
//! Owns the special methods that Python and NumPy call for them. Invariant: other code gets the memory of a pinned
//! base, or a copy.
//!
//! Not here: the exchange of memory behind them (`numpy_arrays.rs`, `array_export.rs`).

use crate::array::classes::subclass::{is_plain, like};
use crate::array::meta;
use crate::array::ndarray::{ArrayElements, NdArray, elements, host_of, pinned_host_of};
use crate::array::recording;
use crate::array::repr::Repr;
use crate::convert::array_export::{self, Exported};
use crate::convert::dtypes;
use crate::methods::dispatch;
use crate::session::context::context;
use crate::session::errors::to_py;
use crate::session::python_objects;
use gpupy_core::DType;
use pyo3::exceptions::{PyAttributeError, PyBufferError, PyException};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMemoryView, PyTuple};
use smallvec::SmallVec;
use std::cell::Cell;
use std::ffi::c_int;

thread_local! {
    /// The array that gave no buffer last, and why. NumPy drops such errors and asks for the array's
    /// interface next: the error is raised again there, where it is not dropped, without another wait.
    static REFUSED: Cell<Option<(usize, PyErr)>> = const { Cell::new(None) };
    /// The array that gave no buffer last because its memory is not all of its data. NumPy asks for its interfaces
    /// next, which would bypass `__array__`; other code, which asks for one of them alone, gets it.
    static ASKED: Cell<Option<usize>> = const { Cell::new(None) };
}

#[pymethods]
impl NdArray {
    /// The elements as a NumPy array, to read until the next write.
    fn _host<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        host_of(slf)
    }

    /// The elements as a NumPy array over the base's own memory, which others may read and write as long as they
    /// have it, or as long as there is the base.
    #[pyo3(signature = (for_life=false))]
    fn _pinned<'py>(slf: &Bound<'py, Self>, for_life: bool) -> PyResult<Bound<'py, PyAny>> {
        pinned_host_of(slf, for_life)
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        check_formatted(slf)?;
        match text_of_corners(slf, true)? {
            Some(text) => Ok(text),
            None => Ok(shown_of(slf)?.repr()?.into_any()),
        }
    }

    fn __str__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        check_formatted(slf)?;
        match text_of_corners(slf, false)? {
            Some(text) => Ok(text),
            None => Ok(shown_of(slf)?.str()?.into_any()),
        }
    }

    fn __format__<'py>(slf: &Bound<'py, Self>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        check_formatted(slf)?;
        if !is_plain(slf) && NdArray::ndim(slf)? > 0 && spec.is_empty() {
            // By the class's own `__str__`.
            return Ok(slf.str()?.into_any());
        }
        host_of(slf)?.call_method1("__format__", (spec,))
    }

    /// A copy: lazy, unless the elements are external.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, /, order='C')")]
    fn copy<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if args.is_empty()
            && kwargs.is_none()
            && let Some(array) = slf.get().read(slf.py()).as_lazy()
            && !array.is_external()
        {
            let copied = context()?.copy(array).map_err(to_py)?;
            return like(slf, NdArray::lazy(copied));
        }
        let copy = python_objects::COPY.get(slf.py())?;
        copy.call_method1("__get__", (slf,))?.call(args, kwargs)
    }

    /// The elements in lists.
    fn tolist<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(list) = few_floats(slf)? {
            return Ok(list);
        }
        host_of(slf)?.call_method0("tolist")
    }

    fn __bool__(slf: &Bound<'_, Self>) -> PyResult<bool> {
        if recording::is_on()
            && let ArrayElements::Lazy(array) = elements(slf)
            && array.size() == 1
            && array.is_open()
        {
            return recording::materialise::decide(slf.py(), &array);
        }
        one_element(slf)?.is_truthy()
    }

    fn __float__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        one_element(slf)?.call_method0("__float__")
    }

    fn __int__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        one_element(slf)?.call_method0("__int__")
    }

    fn __complex__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        one_element(slf)?.call_method0("__complex__")
    }

    fn __index__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        one_element(slf)?.call_method0("__index__")
    }

    #[pyo3(
        signature = (dtype=None, *, copy=None),
        text_signature = "($self, dtype=None, /, *, copy=None)"
    )]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let host = if copy == Some(true) { host_of(slf)? } else { pinned_host_of(slf, false)? };
        if dtype.is_none() && copy != Some(true) {
            return Ok(host);
        }
        let kwargs = PyDict::new(py);
        kwargs.set_item("dtype", dtype)?;
        kwargs.set_item("copy", copy)?;
        dtypes::numpy(py)?.array.bind(py).call((host,), Some(&kwargs))
    }

    /// The memory as a capsule, which keeps it.
    #[getter(__array_struct__)]
    fn array_struct<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        raise_refusal(slf)?;
        let host = pinned_host_of(slf, false)?;
        if loses_units(&host)? || hides_memory(&host)? || ASKED.get() == Some(slf.as_ptr() as usize)
        {
            return Err(PyAttributeError::new_err("__array_struct__"));
        }
        host.getattr("__array_struct__")
    }

    #[getter(__array_interface__)]
    fn array_interface<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        raise_refusal(slf)?;
        // The address is a bare number: its uses cannot be tracked.
        let host = pinned_host_of(slf, true)?;
        if hides_memory(&host)? || ASKED.take() == Some(slf.as_ptr() as usize) {
            return Err(PyAttributeError::new_err("__array_interface__"));
        }
        host.getattr("__array_interface__")
    }

    /// The elements as a memoryview.
    #[getter]
    fn data<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        pinned_host_of(slf, false)?.getattr("data")
    }

    // SAFETY: Python calls this with a writable `Py_buffer`.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        REFUSED.set(None);
        ASKED.set(None);
        if is_more_than_memory(&slf)? {
            ASKED.set(Some(slf.as_ptr() as usize));
            let words = format!(
                "`{}` is more than memory: take the buffer of its data",
                slf.get_type().name()?
            );
            return Err(PyBufferError::new_err(words));
        }
        let refused = |error: &PyErr| {
            REFUSED.set(Some((slf.as_ptr() as usize, error.clone_ref(slf.py()))));
        };
        // Elements in host memory are exported in place; others are waited for, without a read guard.
        let there = slf.get().read(slf.py()).as_lazy().and_then(|array| array.pin_now(false));
        // As NumPy, for what it would warn of.
        let writable = slf.get().is_freely_writable();
        let given = match there {
            Some(pin) => BufferSource::Exported(Box::new(Exported::pinned(pin, writable))),
            None => match elements(&slf) {
                // External elements are never written, so that a read-only array over those in view is enough.
                ArrayElements::Lazy(array) if array.is_external() && !writable => {
                    let exported = Exported::of(slf.py(), &array).inspect_err(refused)?;
                    BufferSource::Exported(Box::new(exported))
                }
                ArrayElements::Lazy(array) => {
                    let pin = array_export::pin(slf.py(), &array, false).inspect_err(refused)?;
                    BufferSource::Exported(Box::new(Exported::pinned(pin, writable)))
                }
                ArrayElements::Numpy(array) => BufferSource::Numpy(array),
            },
        };
        match given {
            BufferSource::Exported(exported) => {
                // SAFETY: `view` is a description to fill in. It points into `exported`, which lives
                // until `__releasebuffer__` drops it.
                unsafe {
                    exported.describe(view, flags)?;
                    (*view).internal = Box::into_raw(exported).cast();
                    (*view).obj = slf.into_ptr();
                }
                Ok(())
            }
            BufferSource::Numpy(array)
                if !is_foreign(&array)? && (hides_memory(&array)? || is_misread(&array)?) =>
            {
                ASKED.set(Some(slf.as_ptr() as usize));
                Err(PyBufferError::new_err(
                    "NumPy reads the buffer of records with such fields wrongly: take `.data` of the array",
                ))
            }
            BufferSource::Numpy(array) => {
                // SAFETY: `view` is writable; NumPy's array fills it in, and is the owner that releases it.
                let status = unsafe { ffi::PyObject_GetBuffer(array.as_ptr(), view, flags) };
                if status == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
            }
        }
    }

    // SAFETY: Python calls this once for each `Py_buffer` that `__getbuffer__` filled in for this array.
    unsafe fn __releasebuffer__(_slf: Bound<'_, Self>, view: *mut ffi::Py_buffer) {
        // SAFETY: only buffers of lazy elements have an array of ours as their owner; `__getbuffer__` put a boxed
        // `Exported` into their `internal`.
        drop(unsafe { Box::from_raw((*view).internal.cast::<Exported>()) });
    }

    #[pyo3(
        signature = (ufunc, method, *inputs, **kwargs),
        text_signature = "($self, ufunc, method, /, *inputs, **kwargs)"
    )]
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
        func: &Bound<'py, PyAny>,
        types: &Bound<'py, PyAny>,
        args: &Bound<'py, PyAny>,
        kwargs: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dispatch::array_function(func, types, args, kwargs)
    }
}

/// The NumPy array whose text is an array's: for an instance of a subclass, one whose class has the same name.
fn shown_of<'py>(slf: &Bound<'py, NdArray>) -> PyResult<Bound<'py, PyAny>> {
    let host = host_of(slf)?;
    if is_plain(slf) {
        return Ok(host);
    }
    python_objects::TWIN.get(slf.py())?.call1((slf, host))
}

/// From so many elements on, NumPy writes the corners of an array alone, where it is not told otherwise.
const SUMMARISED: usize = 1001;

/// The text of an array most of whose elements are not to be computed or moved for it; `None` for others.
fn text_of_corners<'py>(
    slf: &Bound<'py, NdArray>,
    is_repr: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_elsewhere = match &*slf.get().read(slf.py()) {
        Repr::Lazy(array) => {
            array.is_outside() || array.size() >= SUMMARISED && array.unread().is_some()
        }
        Repr::Numpy(_) => false,
    };
    if !is_elsewhere || !is_plain(slf) {
        return Ok(None);
    }
    python_objects::TEXT.get(slf.py())?.call1((slf, is_repr)).map(Some)
}

/// Refuses to make text of an open array.
fn check_formatted(slf: &Bound<'_, NdArray>) -> PyResult<()> {
    match &*slf.get().read(slf.py()) {
        Repr::Lazy(array) => recording::unrecordable::check_formatted(array),
        Repr::Numpy(_) => Ok(()),
    }
}

/// The owner of an exported buffer.
enum BufferSource<'py> {
    Exported(Box<Exported>),
    Numpy(Bound<'py, PyAny>),
}

/// Raises why the array gave no buffer, where it was the last that gave none.
fn raise_refusal(slf: &Bound<'_, NdArray>) -> PyResult<()> {
    match REFUSED.take() {
        Some((array, error)) if array == slf.as_ptr() as usize => Err(error),
        _ => Ok(()),
    }
}

/// The most elements of a list that are read one by one.
const LISTED_ELEMENTS: usize = 64;

/// A list of few floats of one axis that are known already; `None` for other arrays.
fn few_floats<'py>(slf: &Bound<'py, NdArray>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let this = slf.get().read(slf.py());
    let Some(array) = this.as_lazy().filter(|array| array.ndim() == 1) else { return Ok(None) };
    let is_float = matches!(array.dtype(), DType::F32 | DType::F64);
    if !is_float || array.size() > LISTED_ELEMENTS {
        return Ok(None);
    }
    let Some(bytes) = array.known_elements() else { return Ok(None) };
    let floats: SmallVec<[f64; LISTED_ELEMENTS]> = match array.dtype() {
        DType::F32 => bytes.as_chunks().0.iter().map(|it| f32::from_ne_bytes(*it).into()).collect(),
        _ => bytes.as_chunks().0.iter().map(|it| f64::from_ne_bytes(*it)).collect(),
    };
    Ok(Some(PyList::new(slf.py(), floats)?.into_any()))
}

/// Whether an array's class overrides `__array__`, so that its memory alone is not all of its data.
fn is_more_than_memory(slf: &Bound<'_, NdArray>) -> PyResult<bool> {
    if is_plain(slf) {
        return Ok(false);
    }
    let name = intern!(slf.py(), "__array__");
    Ok(!slf.get_type().getattr(name)?.is(&slf.py().get_type::<NdArray>().getattr(name)?))
}

/// True for records that hold objects or times, for those without fields, and for dtypes of other packages: NumPy reads
/// its own description of their memory as another dtype, where `__array__` gives the array itself.
fn hides_memory(host: &Bound<'_, PyAny>) -> PyResult<bool> {
    let dtype = host.getattr("dtype")?;
    if dtype.getattr("num")?.extract::<i32>()? != VOID {
        return is_foreign(host);
    }
    Ok(dtype.getattr("names")?.is_none() || has_hidden_fields(&dtype)?)
}

/// True for dtypes of other packages, of which NumPy gives no buffer and describes the memory as bytes.
fn is_foreign(host: &Bound<'_, PyAny>) -> PyResult<bool> {
    let number = host.getattr("dtype")?.getattr("num")?.extract::<i32>()?;
    Ok(number >= USERS && number != STRINGS)
}

/// True for records whose buffer NumPy reads as another dtype than theirs, or not at all: its own description of them
/// may have padding that is not there, or lack some. This depends on the fields, on their offsets, on the strides and
/// on the address, so NumPy is asked.
fn is_misread(host: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = host.py();
    let dtype = host.getattr("dtype")?;
    if dtype.getattr("num")?.extract::<i32>()? != VOID {
        return Ok(false);
    }
    let uncopied = PyDict::new(py);
    uncopied.set_item("copy", py.None())?;
    let read = || -> PyResult<bool> {
        let memory = PyMemoryView::from(host)?;
        let read = dtypes::numpy(py)?.array.bind(py).call((memory,), Some(&uncopied))?;
        // By their texts: dtypes are equal whether they are aligned or not.
        let (found, wanted) = (read.getattr("dtype")?.repr()?, dtype.repr()?);
        Ok(found.to_cow()? == wanted.to_cow()?)
    };
    match read() {
        Ok(is_same) => Ok(!is_same),
        // NumPy refuses to read it, or warns, of which some programs make an exception.
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether a dtype has objects or times in it, at any depth.
fn has_hidden_fields(dtype: &Bound<'_, PyAny>) -> PyResult<bool> {
    if dtype.getattr("hasobject")?.is_truthy()? {
        return Ok(true);
    }
    let subarray = dtype.getattr("subdtype")?;
    if !subarray.is_none() {
        return has_hidden_fields(&subarray.get_item(0)?);
    }
    let names = dtype.getattr("names")?;
    if names.is_none() {
        return Ok(TIMES.contains(&dtype.getattr("num")?.extract::<i32>()?));
    }
    for name in names.try_iter()? {
        if has_hidden_fields(&dtype.get_item(name?)?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a capsule would not tell all of the dtype: it has a letter and a size, and no unit of time.
fn loses_units(host: &Bound<'_, PyAny>) -> PyResult<bool> {
    let number = host.getattr("dtype")?.getattr("num")?.extract::<i32>()?;
    Ok(TIMES.contains(&number))
}

/// NumPy's numbers of the dtypes of times.
const TIMES: [i32; 2] = [21, 22];

/// NumPy's number of the dtypes of records.
const VOID: i32 = 20;

/// NumPy's least number of the dtypes of other packages.
const USERS: i32 = 256;
/// The number of NumPy's strings of any length.
const STRINGS: i32 = 2056;

/// The element that `float(a)` and similar calls convert; NumPy refuses larger arrays in its words.
fn one_element<'py>(slf: &Bound<'py, NdArray>) -> PyResult<Bound<'py, PyAny>> {
    if let ArrayElements::Lazy(array) = elements(slf)
        && array.size() != 1
    {
        return meta::meta_array(slf.py(), array.shape(), array.dtype());
    }
    host_of(slf)
}
