//! Instances of subclasses of `gpupy.ndarray`, which programs define.
//!
//! Owns [`like`], by which results are of the class of the array that they come from, and [`new_array`], which is
//! `ndarray.__new__`. Invariants: an instance is finalised once, when its elements are in it; for a plain array all
//! of this is one comparison of classes.
//!
//! Not here: the classes of results of ufuncs and reductions (`python/gpupy/_classes/subclass.py`).

use crate::array::ndarray::NdArray;
use crate::array::recording;
use crate::session::python_objects;
use gpupy_engine::Array;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::sync::{Mutex, PoisonError};

/// The slot `tp_new` of the class: allocates an instance of it or of a subclass, and calls [`NdArray::new`].
static ALLOCATE: PyOnceLock<ffi::newfunc> = PyOnceLock::new();

/// An array on its way into an object of a subclass.
#[pyclass(frozen, module = "gpupy")]
pub struct Seed(Mutex<Option<NdArray>>);

impl Seed {
    /// The array, which is given once.
    pub fn take(&self) -> Option<NdArray> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Whether an array is of `gpupy.ndarray` itself.
#[inline(always)]
pub fn is_plain(array: &Bound<'_, NdArray>) -> bool {
    array.is_exact_instance_of::<NdArray>()
}

/// An array as an object of the class of another one, from which it comes.
#[inline(always)]
pub fn like<'py>(of: &Bound<'py, NdArray>, array: NdArray) -> PyResult<Bound<'py, PyAny>> {
    if is_plain(of) {
        return Ok(Bound::new(of.py(), array)?.into_any());
    }
    instance(&of.get_type(), array, Some(of.as_any()))
}

/// A view of `parent`'s elements.
pub fn view_of<'py>(
    parent: &Bound<'py, NdArray>,
    array: Array,
    writable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    like(parent, parent.get().view(parent, array, writable))
}

/// Like [`like`], but finalised as a view of a plain array, as NumPy's results of ufuncs and indexing are.
#[inline(always)]
pub fn like_view<'py>(of: &Bound<'py, NdArray>, array: NdArray) -> PyResult<Bound<'py, PyAny>> {
    if is_plain(of) {
        return Ok(Bound::new(of.py(), array)?.into_any());
    }
    let class = of.get_type();
    let view = shown(&Bound::new(of.py(), array)?, &class);
    instance(&class, view, Some(of.as_any()))
}

/// Whether a class says nothing of its own about results of ufuncs, and its instances come before plain arrays.
pub fn is_simple(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let ours = py.get_type::<NdArray>();
    for name in [intern!(py, "__array_ufunc__"), intern!(py, "__array_wrap__")] {
        if !class.getattr(name)?.is(&ours.getattr(name)?) {
            return Ok(false);
        }
    }
    let priority = class.getattr(intern!(py, "__array_priority__"))?;
    Ok(priority.extract::<f64>().is_ok_and(|priority| priority >= 0.0))
}

/// An array as an object of a class, finalised as one that comes from another object, or from none.
#[cold]
pub fn instance<'py>(
    class: &Bound<'py, PyType>,
    array: NdArray,
    of: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    if recording::is_on() {
        let name = class.name()?;
        recording::unrecordable::instance_of(array.read(py).as_lazy(), name.to_str()?)?;
    }
    let seed = Bound::new(py, Seed(Mutex::new(Some(array))))?;
    let made = allocated(class, &PyTuple::new(py, [seed])?, None)?;
    finalize(class, &made, of)?;
    Ok(made)
}

/// A new object of a class, not yet finalised.
fn allocated<'py>(
    class: &Bound<'py, PyType>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    if !class.is_subclass_of::<NdArray>()? {
        let words = format!("ndarray.__new__(X): `{}` is not a subtype of ndarray", class.name()?);
        return Err(PyTypeError::new_err(words));
    }
    let unknown = || PyRuntimeError::new_err("gpupy was not imported completely: import `gpupy`");
    let allocate = *ALLOCATE.get(py).ok_or_else(unknown)?;
    let kwargs = kwargs.map_or(std::ptr::null_mut(), |kwargs| kwargs.as_ptr());
    // SAFETY: `allocate` is `tp_new` of `NdArray`, `class` is a subclass of it, and the arguments outlive the call.
    unsafe {
        let made = allocate(class.as_type_ptr(), args.as_ptr(), kwargs);
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// Calls the class's `__array_finalize__`.
fn finalize<'py>(
    class: &Bound<'py, PyType>,
    made: &Bound<'py, PyAny>,
    of: Option<&Bound<'py, PyAny>>,
) -> PyResult<()> {
    let py = made.py();
    let name = intern!(py, "__array_finalize__");
    let own = class.getattr(name)?;
    if own.is(&py.get_type::<NdArray>().getattr(name)?) {
        return Ok(());
    }
    if own.is_none() {
        // NumPy has the words of its warning.
        return python_objects::WARN_OF_NONE.get(py)?.call0().map(drop);
    }
    own.call1((made, of)).map(drop)
}

/// `ndarray.__new__`: an array of a shape, or over memory; an instance of a subclass is finalised.
#[pyfunction]
#[pyo3(signature = (class, /, *args, **kwargs))]
pub fn new_array<'py>(
    class: &Bound<'py, PyType>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = allocated(class, args, kwargs)?;
    if !class.is(class.py().get_type::<NdArray>()) {
        finalize(class, &made, None)?;
    }
    Ok(made)
}

/// Keeps the allocating slot, before `ndarray.__new__` is replaced.
pub fn keep_allocation(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<NdArray>();
    // SAFETY: the class is a heap type that PyO3 made, for which `PyType_GetSlot` is defined.
    let slot = unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_new) };
    if slot.is_null() {
        return Err(PyRuntimeError::new_err("the class of arrays makes no instances"));
    }
    // SAFETY: the slot `Py_tp_new` is not null, and holds a function of this type.
    let allocate = unsafe { std::mem::transmute::<*mut std::ffi::c_void, ffi::newfunc>(slot) };
    // A second module of one process has the same function.
    let _ = ALLOCATE.set(py, allocate);
    Ok(())
}

#[pymethods]
impl NdArray {
    /// A view of all elements, as an array of a class; finalised with this array as its origin, or with none.
    #[pyo3(signature = (class, comes_from_it=true))]
    fn _as<'py>(
        slf: &Bound<'py, Self>,
        class: &Bound<'py, PyType>,
        comes_from_it: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let view = shown(slf, class);
        match class.is(slf.py().get_type::<NdArray>()) {
            true => Ok(Bound::new(slf.py(), view)?.into_any()),
            false => instance(class, view, comes_from_it.then_some(slf.as_any())),
        }
    }

    /// A view of all elements, as an instance of the class of another array, which is its origin.
    fn _like<'py>(slf: &Bound<'py, Self>, of: &Bound<'py, NdArray>) -> PyResult<Bound<'py, PyAny>> {
        like(of, shown(slf, &of.get_type()))
    }

    /// Called at the end of making an instance of a subclass; for plain arrays there is nothing to do.
    #[pyo3(signature = (obj, /))]
    fn __array_finalize__(&self, obj: &Bound<'_, PyAny>) {
        let _ = obj;
    }
}

/// A view of all of an array, to be of a class.
fn shown<'py>(array: &Bound<'py, NdArray>, class: &Bound<'py, PyType>) -> NdArray {
    let this = array.get();
    let base = match &this.base {
        Some(base) if base.bind(array.py()).get_type().is(class) => base.clone_ref(array.py()),
        _ => array.clone().into_any().unbind(),
    };
    this.shown(array.py(), base)
}
