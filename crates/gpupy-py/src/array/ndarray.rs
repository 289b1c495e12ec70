//! `gpupy.ndarray`: the array that a user holds.
//!
//! Owns [`NdArray`], which is either a lazy array of the core or a NumPy array. The latter is for dtypes that are
//! not numbers or that no driver in use holds; NumPy alone works on it, but for fields of records, which drivers
//! read (`record_fields.rs`). Invariants: the elements are replaced only while they have no readers; `base` is the
//! array of ours that owns the elements.
//!
//! Not here: its methods in Python (`methods`, and `python/gpupy/_methods` for the many that are a few
//! lines), indexing (`index`), data besides the elements (`side_data.rs`).

use crate::array::read_cell::{ReadCell, ReadGuard};
use crate::array::recording::{self, RecordingTag};
use crate::array::repr::Repr;
use crate::array::side_data::SideData;
use crate::convert::array_export;
use crate::session::errors::warn;
use crate::session::first_array;
use gpupy_engine::Array;
use pyo3::exceptions::{PyDeprecationWarning, PyRuntimeError};
use pyo3::prelude::*;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// An array: NumPy's `ndarray`, evaluated when its elements are needed.
#[pyclass(name = "ndarray", module = "gpupy", frozen, weakref, subclass, sequence)]
pub struct NdArray {
    /// The elements.
    repr: ReadCell<Repr>,
    /// The array of which this is a view.
    pub base: Option<Py<PyAny>>,
    /// False for views that NumPy would not let anyone write to.
    writable: AtomicBool,
    /// Whether NumPy warns of the first write.
    warns: AtomicBool,
    /// How many elements were read one by one.
    element_reads: AtomicU32,
    /// The tag of the recording that made it.
    made: Option<Arc<RecordingTag>>,
    kept: OnceLock<Box<SideData>>,
}

impl NdArray {
    /// An array around a NumPy array whose memory is this array's.
    pub fn numpy_view(array: &Bound<'_, PyAny>, of: &Bound<'_, NdArray>) -> NdArray {
        NdArray { base: Some(of.get().base_of_views(of)), ..NdArray::numpy(array) }
    }

    /// An array of its own with these elements.
    pub fn lazy(array: Array) -> NdArray {
        NdArray::owner(Repr::Lazy(array))
    }

    /// An array around a NumPy array.
    pub fn numpy(array: &Bound<'_, PyAny>) -> NdArray {
        NdArray::owner(Repr::Numpy(array.clone().unbind()))
    }

    fn owner(repr: Repr) -> NdArray {
        NdArray::made_of(repr, None, true)
    }

    #[inline(always)]
    fn made_of(repr: Repr, base: Option<Py<PyAny>>, writable: bool) -> NdArray {
        first_array::made();
        let made = match &repr {
            Repr::Lazy(array) if recording::is_on() => recording::made(array),
            _ => None,
        };
        NdArray {
            repr: ReadCell::new(repr),
            made,
            base,
            writable: AtomicBool::new(writable),
            warns: AtomicBool::new(false),
            element_reads: AtomicU32::new(0),
            kept: OnceLock::new(),
        }
    }

    /// A view of this array, whose object is given.
    #[inline]
    pub fn view(&self, object: &Bound<'_, NdArray>, array: Array, writable: bool) -> NdArray {
        let writable = writable && self.is_writable();
        let made = NdArray::made_of(Repr::Lazy(array), Some(self.base_of_views(object)), writable);
        if self.warns() {
            made.warn_of_write();
        }
        made
    }

    /// The base of a view of this array, whose object is given: as in NumPy, the array's own base where that is of the
    /// array's class.
    #[inline(always)]
    fn base_of_views(&self, object: &Bound<'_, NdArray>) -> Py<PyAny> {
        match &self.base {
            Some(base) if base.bind(object.py()).get_type_ptr() == object.get_type_ptr() => {
                base.clone_ref(object.py())
            }
            _ => object.clone().into_any().unbind(),
        }
    }

    /// A view of all elements, with this base.
    pub fn shown(&self, py: Python<'_>, base: Py<PyAny>) -> NdArray {
        let repr = match &*self.read(py) {
            Repr::Lazy(array) => Repr::Lazy(array.clone()),
            Repr::Numpy(array) => Repr::Numpy(array.clone_ref(py)),
        };
        NdArray::made_of(repr, Some(base), self.is_writable())
    }

    /// The elements, which stay as long as they are read.
    #[inline(always)]
    pub fn read<'a>(&'a self, py: Python<'a>) -> ReadGuard<'a, Repr> {
        if recording::is_on() {
            return self.read_recorded(py);
        }
        self.repr.read(py)
    }

    /// The elements to read while some thread records: placeholders where this thread does and the array is older.
    #[cold]
    fn read_recorded<'a>(&'a self, py: Python<'a>) -> ReadGuard<'a, Repr> {
        match recording::number() {
            number if number == 0 || number == self.made_in() => self.repr.read(py),
            number => self.side_data_or_new().shadow.read(py, number, self.address(), &self.repr),
        }
    }

    /// The address by which a recording knows this array.
    pub fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// The tag of the recording that made it.
    pub fn made(&self) -> Option<Arc<RecordingTag>> {
        self.made.clone()
    }

    /// The recording in which it was made, or 0.
    pub fn made_in(&self) -> u32 {
        self.made.as_ref().map_or(0, |made| made.number)
    }

    /// Takes other elements in place of its own, which are dropped.
    ///
    /// # Errors
    /// An operation of another thread reads them.
    pub fn replace(&self, py: Python<'_>, repr: Repr) -> PyResult<()> {
        let repr = if recording::is_on() { self.replaced(py, repr) } else { repr };
        let busy = |_| PyRuntimeError::new_err("the array is in use by an operation");
        self.repr.replace(py, repr).map(drop).map_err(busy)
    }

    /// The elements to keep where this thread's recording replaces them; the array shows the new ones from now on.
    #[cold]
    fn replaced(&self, py: Python<'_>, repr: Repr) -> Repr {
        // Makes sure that it has placeholders.
        drop(self.read(py));
        let own = repr
            .as_lazy()
            .and_then(|array| recording::unrecordable::replaced(self.made_in(), array));
        match own {
            Some(own) => {
                self.side_data_or_new().shadow.show(py, repr);
                Repr::Lazy(own)
            }
            None => repr,
        }
    }

    /// Whether it may be written to.
    #[inline]
    pub fn is_writable(&self) -> bool {
        self.writable.load(Ordering::Relaxed)
    }

    /// Whether it may be written to, and NumPy says nothing of it.
    #[inline]
    pub fn is_freely_writable(&self) -> bool {
        self.is_writable() && !self.warns()
    }

    /// Whether NumPy warns of the first write.
    #[inline]
    fn warns(&self) -> bool {
        self.warns.load(Ordering::Relaxed)
    }

    /// Has the first write warned of.
    pub fn warn_of_write(&self) {
        self.warns.store(true, Ordering::Relaxed);
    }

    /// Whether it may be written to, as it is about to be.
    ///
    /// # Errors
    /// NumPy's warning, where the program made an exception of it.
    pub fn may_write(&self, py: Python<'_>) -> PyResult<bool> {
        if self.is_writable() && self.warns() {
            warn(py, &py.get_type::<PyDeprecationWarning>(), WARNING)?;
            self.warns.store(false, Ordering::Relaxed);
        }
        Ok(self.is_writable())
    }

    /// Says whether it may be written to.
    pub fn set_writable(&self, writable: bool) {
        self.writable.store(writable, Ordering::Relaxed);
        self.warns.store(false, Ordering::Relaxed);
    }

    /// Counts an element that is read by itself; returns how many were before.
    pub fn count_element(&self) -> u32 {
        self.element_reads.fetch_add(1, Ordering::Relaxed)
    }

    /// Its data besides the elements, if it has any.
    pub fn side_data(&self) -> Option<&SideData> {
        self.kept.get().map(|kept| &**kept)
    }

    /// Its data besides the elements, allocated if need be.
    pub fn side_data_or_new(&self) -> &SideData {
        self.kept.get_or_init(Box::default)
    }
}

/// NumPy's words for a write to a result of `broadcast_arrays`.
const WARNING: &CStr = c"Numpy has detected that you (may be) writing to an array with\noverlapping memory from np.broadcast_arrays. If this is intentional\nset the WRITEABLE flag True or make a copy immediately before writing.";

/// The elements, cloned out of a borrow that ends at once.
pub enum ArrayElements<'py> {
    /// A lazy array.
    Lazy(Array),
    /// A NumPy array.
    Numpy(Bound<'py, PyAny>),
}

/// The elements of an array.
pub fn elements<'py>(slf: &Bound<'py, NdArray>) -> ArrayElements<'py> {
    match &*slf.get().read(slf.py()) {
        Repr::Lazy(array) => ArrayElements::Lazy(array.clone()),
        Repr::Numpy(array) => ArrayElements::Numpy(array.bind(slf.py()).clone()),
    }
}

/// The elements as a NumPy array: of a lazy array, a read-only view of evaluated memory.
pub fn host_of<'py>(slf: &Bound<'py, NdArray>) -> PyResult<Bound<'py, PyAny>> {
    match elements(slf) {
        ArrayElements::Lazy(array) => array_export::to_numpy(slf.py(), &array),
        ArrayElements::Numpy(array) => Ok(array),
    }
}

/// The elements as a NumPy array over the memory that the array's base has, which stays pinned while that is
/// used, or for its life.
pub fn pinned_host_of<'py>(
    slf: &Bound<'py, NdArray>,
    for_life: bool,
) -> PyResult<Bound<'py, PyAny>> {
    match elements(slf) {
        // External elements are never written, so that a read-only array over those in view is enough.
        ArrayElements::Lazy(array) if array.is_external() && !slf.get().is_writable() => {
            array_export::to_numpy_constant(slf.py(), &array)
        }
        ArrayElements::Lazy(array) => {
            array_export::to_numpy_pinned(slf.py(), &array, slf.get().is_writable(), for_life)
        }
        ArrayElements::Numpy(array) => Ok(array),
    }
}
