//! `gpupy.ndarray`: what a user holds.
//!
//! Owns [`NdArray`], which is either a lazy array of the core or, for dtypes that are not numbers or
//! that no driver in use holds, a NumPy array that NumPy alone works on (drivers read
//! fields of records, `mirror.rs`). Invariants: its elements are
//! replaced only while nobody reads them; `base` is the array of ours that owns the elements.
//!
//! Not here: attributes (`attributes.rs`), conversions (`conversion.rs`), operators (`operators.rs`),
//! indexing (`index.rs`), the many methods that are a few lines of Python
//! (`python/gpupy/_methods.py`).

use crate::assign;
use crate::dtypes;
use crate::errors::{to_py, warn_of_lost_parts};
use crate::few;
use crate::host;
use crate::index;
use crate::lend;
use crate::masks::Positions;
use crate::mirror::{self, Mirrors};
use crate::pick;
use crate::protocols::{wrap, wrap_array, wrap_of};
use crate::rows::Rows;
use crate::scalar::LazyScalar;
use crate::session::{context, holds, open, ready};
use crate::slot::{Reading, Slot};
use crate::standin;
use crate::unfit;
use crate::waiting::wait;
use gpupy_core::DType;
use gpupy_engine::{Array, LastFace};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

/// How the elements are held.
pub enum Repr {
    /// Recorded, evaluated on a driver.
    Lazy(Array),
    /// NumPy's own array.
    Numpy(Py<PyAny>),
}

impl Repr {
    /// The lazy array, or `None`.
    #[inline]
    pub fn as_lazy(&self) -> Option<&Array> {
        match self {
            Repr::Lazy(array) => Some(array),
            Repr::Numpy(_) => None,
        }
    }
}

/// What few arrays keep besides their elements.
#[derive(Default)]
pub struct Kept {
    /// Where the true elements of a mask are, once somebody asked.
    pub positions: Mutex<Option<Positions>>,
    /// The parts of complex elements, as they were read last.
    pub parts: LastFace,
    /// Of records, what drivers read of their fields.
    pub mirrors: Mirrors,
}

/// Elements read one by one before reading computes at once: a program that walks an array would
/// otherwise compute each element in a kernel of its own.
const FEW_READS: u32 = 8;

/// An array: NumPy's `ndarray`, evaluated when its elements are needed.
#[pyclass(name = "ndarray", module = "gpupy", frozen, weakref, subclass)]
pub struct NdArray {
    /// The elements.
    repr: Slot<Repr>,
    /// The array of which this is a view.
    pub base: Option<Py<PyAny>>,
    /// False for views that NumPy would not let anyone write to.
    writable: AtomicBool,
    /// How many elements were read one by one.
    element_reads: AtomicU32,
    kept: OnceLock<Box<Kept>>,
}

impl NdArray {
    /// An array around a NumPy array whose memory is this array's.
    pub fn numpy_view(array: &Bound<'_, PyAny>, of: &Bound<'_, NdArray>) -> NdArray {
        let base = match &of.get().base {
            Some(base) => base.clone_ref(of.py()),
            None => of.clone().into_any().unbind(),
        };
        NdArray { base: Some(base), ..NdArray::numpy(array) }
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
        NdArray {
            repr: Slot::new(repr),
            base,
            writable: AtomicBool::new(writable),
            element_reads: AtomicU32::new(0),
            kept: OnceLock::new(),
        }
    }

    /// A view of this array, whose object is given.
    #[inline]
    pub fn view(&self, object: &Bound<'_, NdArray>, array: Array, writable: bool) -> NdArray {
        let base = match &self.base {
            Some(base) => base.clone_ref(object.py()),
            None => object.clone().into_any().unbind(),
        };
        let writable = writable && self.is_writable();
        NdArray::made_of(Repr::Lazy(array), Some(base), writable)
    }

    /// The elements, which stay as long as they are read.
    #[inline(always)]
    pub fn read<'a>(&'a self, py: Python<'a>) -> Reading<'a, Repr> {
        self.repr.read(py)
    }

    /// Takes other elements in place of its own, which are dropped.
    ///
    /// # Errors
    /// An operation of another thread reads them.
    pub fn replace(&self, py: Python<'_>, repr: Repr) -> PyResult<()> {
        let busy = |_| PyRuntimeError::new_err("the array is in use by an operation");
        self.repr.replace(py, repr).map(drop).map_err(busy)
    }

    /// Whether it may be written to.
    #[inline]
    pub fn is_writable(&self) -> bool {
        self.writable.load(Ordering::Relaxed)
    }

    /// Says whether it may be written to.
    pub fn set_writable(&self, writable: bool) {
        self.writable.store(writable, Ordering::Relaxed);
    }

    /// What it keeps besides its elements, if it ever kept anything.
    pub fn kept(&self) -> Option<&Kept> {
        self.kept.get().map(|kept| &**kept)
    }

    /// A place for what it keeps besides its elements.
    pub fn keep(&self) -> &Kept {
        self.kept.get_or_init(Box::default)
    }
}

/// The elements, cloned out of a borrow that ends at once.
pub enum Elements<'py> {
    /// A lazy array.
    Lazy(Array),
    /// A NumPy array.
    Numpy(Bound<'py, PyAny>),
}

/// What an array holds.
pub fn elements<'py>(slf: &Bound<'py, NdArray>) -> Elements<'py> {
    match &*slf.get().read(slf.py()) {
        Repr::Lazy(array) => Elements::Lazy(array.clone()),
        Repr::Numpy(array) => Elements::Numpy(array.bind(slf.py()).clone()),
    }
}

/// The elements as a NumPy array: of a lazy array, a read-only view of evaluated memory.
pub fn host_of<'py>(slf: &Bound<'py, NdArray>) -> PyResult<Bound<'py, PyAny>> {
    match elements(slf) {
        Elements::Lazy(array) => lend::to_numpy(slf.py(), &array),
        Elements::Numpy(array) => Ok(array),
    }
}

/// The elements as a NumPy array over the memory that the array's base has, which stays pinned while that is
/// used, or for its life.
pub fn pinned_host_of<'py>(
    slf: &Bound<'py, NdArray>,
    for_life: bool,
) -> PyResult<Bound<'py, PyAny>> {
    match elements(slf) {
        Elements::Lazy(array) => {
            lend::to_numpy_pinned(slf.py(), &array, slf.get().is_writable(), for_life)
        }
        Elements::Numpy(array) => Ok(array),
    }
}

/// Whether the base had better be pinned where the array's elements are gone through one by one: where that moves
/// nothing, or not much more than is read. Otherwise each element is read by itself.
fn pays_to_pin(array: &Array) -> bool {
    /// Bases of so many elements may be evaluated and copied for any part of them.
    const FEW: usize = 1 << 16;
    /// Others, where they are not more than so many times what is read: NumPy's iterator gives an element in
    /// 25 ns, an index takes 110, and a copy of an element 0.5 to 1.
    const TIMES: usize = 64;
    array.is_there() || array.base_len() <= array.size().saturating_mul(TIMES).max(FEW)
}

/// A view of `parent`'s elements.
pub fn view_of<'py>(
    parent: &Bound<'py, NdArray>,
    array: Array,
    writable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let view = parent.get().view(parent, array, writable);
    Ok(Bound::new(parent.py(), view)?.into_any())
}

/// Stands for `ndarray`'s attributes that NumPy answers.
fn attribute<'py>(slf: &Bound<'py, NdArray>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    match elements(slf) {
        Elements::Lazy(array) => wrap(&lend::to_numpy(slf.py(), &array)?.getattr(name)?),
        Elements::Numpy(array) => wrap_of(slf, &array, &array.getattr(name)?),
    }
}

#[pymethods]
impl NdArray {
    #[new]
    #[pyo3(signature = (*args, **kwargs))]
    fn new(
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<NdArray> {
        let made = dtypes::numpy(py)?.ndarray.bind(py).call(args, kwargs)?;
        let writable = made.getattr("flags")?.getattr("writeable")?.is_truthy()?;
        if writable && !made.getattr("base")?.is_none() {
            // Its memory is somebody else's, who may write to it and read what is written here.
            return host::adopt(&made);
        }
        Ok(match host::from_numpy(&made)? {
            Some(array) => NdArray { writable: writable.into(), ..NdArray::lazy(array) },
            None => NdArray::numpy(&made),
        })
    }

    /// The view that a view function of NumPy's gives.
    #[pyo3(signature = (function, *args, **kwargs))]
    fn _views<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match elements(slf) {
            Elements::Lazy(array) => {
                let found = |view, writable| view_of(slf, view, writable);
                standin::views(&array, function, args, kwargs, &found)
            }
            Elements::Numpy(array) => {
                let mut all = vec![array.clone()];
                all.extend(args.iter());
                wrap_of(slf, &array, &function.call(PyTuple::new(slf.py(), all)?, kwargs)?)
            }
        }
    }

    /// An ndarray of this shape and dtype without elements, for NumPy to word a mistake on.
    fn _hollow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match elements(slf) {
            Elements::Lazy(array) => standin::hollow(slf.py(), array.shape(), array.dtype()),
            Elements::Numpy(array) => Ok(array),
        }
    }

    /// Takes another array's elements in place of its own.
    fn _replace(slf: &Bound<'_, Self>, other: &Bound<'_, NdArray>) -> PyResult<()> {
        let elements = match elements(other) {
            Elements::Lazy(array) => Repr::Lazy(array),
            Elements::Numpy(array) => Repr::Numpy(array.unbind()),
        };
        slf.get().replace(slf.py(), elements)
    }

    /// Lets go of the elements now, on every device and in host memory. The array and its views keep
    /// shape and dtype; what else is asked of them is an error. Operations recorded before still see
    /// the elements.
    fn dispose(slf: &Bound<'_, Self>) -> PyResult<()> {
        if slf.get().base.is_some() {
            return Err(PyValueError::new_err(
                "this array is a view and owns no elements; dispose of its base",
            ));
        }
        let nothing = match elements(slf) {
            Elements::Lazy(array) => {
                // Freeing memory may take a while, and locks.
                wait(slf.py(), || array.dispose());
                return Ok(());
            }
            Elements::Numpy(array) => dtypes::nothing_like(&array)?,
        };
        slf.get().replace(slf.py(), Repr::Lazy(nothing))
    }

    /// `with array:` disposes of it at the end of the block.
    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(slf: &Bound<'_, Self>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        Self::dispose(slf)
    }

    /// A copy, lazy; the dtype may change. It lies in C order, or with its axes by their strides.
    #[pyo3(signature = (dtype=None, by_strides=false))]
    fn _copy<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        by_strides: bool,
    ) -> PyResult<Option<NdArray>> {
        let Elements::Lazy(array) = elements(slf) else { return Ok(None) };
        let Some(dtype) = dtype else {
            let context = context()?;
            let copied =
                if by_strides { context.copy_by_strides(&array) } else { context.copy(&array) };
            return copied.map(NdArray::lazy).map(Some).map_err(to_py);
        };
        match dtypes::from_any(dtype)? {
            Some(dtype) => {
                warn_of_lost_parts(slf.py(), array.dtype(), dtype)?;
                unfit::warn_of(slf.py(), &array, dtype)?;
                let context = ready(slf.py())?;
                let cast = context.cast_by_strides(&array, dtype).map_err(to_py)?;
                let as_asked = by_strides || cast.is_contiguous();
                let cast = if as_asked { cast } else { context.copy(&cast).map_err(to_py)? };
                Ok(Some(NdArray::lazy(cast)))
            }
            None => Ok(None),
        }
    }

    /// The elements of a view of an array that nobody else has, as an array that is no view.
    fn _alone(slf: &Bound<'_, Self>) -> NdArray {
        match elements(slf) {
            Elements::Lazy(array) => NdArray::lazy(array),
            Elements::Numpy(array) => NdArray::numpy(&array),
        }
    }

    /// A copy in the order in which operations read the elements.
    fn _copy_as_read<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<NdArray>> {
        let Elements::Lazy(array) = elements(slf) else { return Ok(None) };
        context()?.copy_as_it_lies(&array).map(NdArray::lazy).map(Some).map_err(to_py)
    }

    /// A copy with the elements as another dtype; `None` leaves it to the longer way.
    fn _cast<'py>(slf: &Bound<'py, Self>, dtype: &Bound<'py, PyAny>) -> PyResult<Option<NdArray>> {
        let this = slf.get().read(slf.py());
        let (Some(array), Some((context, _))) = (this.as_lazy(), open()) else { return Ok(None) };
        match dtypes::known(dtype)? {
            Some(dtype) if holds(dtype)? => {
                warn_of_lost_parts(slf.py(), array.dtype(), dtype)?;
                unfit::warn_of(slf.py(), array, dtype)?;
                context.cast_by_strides(array, dtype).map(NdArray::lazy).map(Some).map_err(to_py)
            }
            _ => Ok(None),
        }
    }

    fn __len__(slf: &Bound<'_, Self>) -> PyResult<usize> {
        if let Some(array) = slf.get().read(slf.py()).as_lazy() {
            let first = array.shape().first().copied();
            return first.ok_or_else(|| PyTypeError::new_err("len() of unsized object"));
        }
        host_of(slf)?.len()
    }

    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let Some(found) = few::get(slf, key)? {
            return Ok(found);
        }
        if let Elements::Lazy(array) = elements(slf) {
            if let Some(selected) = index::select(&array, key)? {
                if selected.element {
                    let reads = slf.get().element_reads.fetch_add(1, Ordering::Relaxed);
                    return LazyScalar::element(py, &selected.view, reads >= FEW_READS);
                }
                return view_of(slf, selected.view, true);
            }
            if let Some(picked) = pick::pick(&array, key)? {
                return Ok(picked);
            }
        }
        py.import("gpupy._indexing")?.call_method1("getitem", (slf, key))
    }

    fn __setitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let py = slf.py();
        if few::set(slf, key, value)? {
            return Ok(());
        }
        if let Elements::Lazy(array) = elements(slf) {
            if !slf.get().is_writable() {
                return Err(PyValueError::new_err("assignment destination is read-only"));
            }
            if let Some(selected) = index::select(&array, key)? {
                return assign::set_item(&array, key, &selected, value);
            }
        }
        py.import("gpupy._indexing")?.call_method1("setitem", (slf, key, value))?;
        Ok(())
    }

    fn __delitem__(_slf: &Bound<'_, Self>, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyValueError::new_err("cannot delete array elements"))
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match Self::ndim(slf)? {
            0 => Err(PyTypeError::new_err("iteration over a 0-d array")),
            // Python's loop sees what it writes meanwhile.
            1 if slf.get().read(py).as_lazy().is_none_or(pays_to_pin) => {
                Ok(pinned_host_of(slf, false)?.try_iter()?.into_any())
            }
            _ => Ok(Bound::new(py, Rows::of(slf))?.into_any()),
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
        crate::shape::reshape(slf, shape, order, copy)
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
        let function = dtypes::numpy(slf.py())?.ndarray.bind(slf.py()).getattr("transpose")?;
        Self::_views(slf, &function, axes, None)
    }

    /// The reduction of the named operation over an axis, or over all, of the elements as `dtype` where that
    /// is given; `None` where it is not as simple, or the driver does not do it.
    #[pyo3(signature = (name, axis=None, dtype=None))]
    fn _reduce_along<'py>(
        slf: &Bound<'py, Self>,
        name: &str,
        axis: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        reduced_along(slf, axis, dtype, |array, axes, dtype| {
            crate::reduce::reduce(slf.py(), name, array, axes, false, dtype)
        })
    }

    /// The mean over an axis, or over all, in `dtype` where that is given; `None` where it is not as simple,
    /// or the driver does not do it.
    #[pyo3(signature = (axis=None, dtype=None))]
    fn _mean_along<'py>(
        slf: &Bound<'py, Self>,
        axis: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        reduced_along(slf, axis, dtype, |array, axes, dtype| {
            crate::reduce::mean(slf.py(), array, axes, dtype)
        })
    }

    /// The reduction of the named operation over axes, which are normalised, of the elements as
    /// `dtype` where that is given; `None` when the driver does not do it.
    #[pyo3(signature = (name, axes, keepdims, dtype=None))]
    fn _reduce<'py>(
        slf: &Bound<'py, Self>,
        name: &str,
        axes: Vec<usize>,
        keepdims: bool,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Elements::Lazy(array) = elements(slf) else { return Ok(None) };
        let dtype = match dtype {
            None => None,
            Some(dtype) => match dtypes::from_any(dtype)? {
                Some(dtype) => Some(dtype),
                None => return Ok(None),
            },
        };
        match crate::reduce::reduce(slf.py(), name, &array, &axes, keepdims, dtype)? {
            // Whole reductions are scalars, but for those asked to keep their axes.
            Some(array) => wrap_array(slf.py(), array).map(Some),
            None => Ok(None),
        }
    }
}

/// What a reduction gives along one axis, or along all; `None` for other axes, and where it leaves it to NumPy.
fn reduced_along<'py>(
    slf: &Bound<'py, NdArray>,
    axis: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    reduce: impl FnOnce(&Array, &[usize], Option<DType>) -> PyResult<Option<Array>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let array = match elements(slf) {
        Elements::Lazy(array) => Some(array),
        Elements::Numpy(_) => mirror::field(slf)?,
    };
    let Some(array) = array else { return Ok(None) };
    let Some((axes, dtype)) = crate::reduce::plain(&array, axis, dtype)? else { return Ok(None) };
    let reduced = reduce(&array, &axes, dtype)?;
    reduced.map(|array| wrap_array(slf.py(), array)).transpose()
}

/// The attribute of the name, from NumPy.
#[pyfunction]
pub fn numpy_attribute<'py>(
    array: &Bound<'py, NdArray>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    attribute(array, name)
}
