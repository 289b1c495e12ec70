//! Basic keys on the fast path: integers, slices, new axes and `...`.
//!
//! Owns [`BasicKey`] and [`integer`]. Invariants: the numbers of a key may be objects with code of their own, so
//! all are converted before any array is read; a key that does not fit gives `None`.
//!
//! Not here: other keys, and the words for mistakes (`basic.rs`).

use crate::convert::numpy_arrays;
use gpupy_core::{MAX_RANK, Shape, Strides};
use gpupy_engine::{Array, View};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PySlice, PyTuple};
use smallvec::SmallVec;

/// A basic key, axis by axis; axes that it does not name are taken whole.
#[derive(Default)]
pub struct BasicKey(SmallVec<[KeyItem; 4]>);

enum KeyItem {
    At(isize),
    Range(SliceRange),
    NewAxis,
    /// `...`: the axes that no other part names.
    Rest,
}

/// A slice's start, stop and step, before they are clipped to an extent.
pub struct SliceRange {
    start: isize,
    stop: isize,
    /// Elements from one to the next; never 0.
    pub step: isize,
}

impl SliceRange {
    /// The numbers of a slice; `None` where one of them is no number, or the step is 0.
    ///
    /// # Errors
    /// Other exceptions of their code.
    #[inline]
    pub fn of(slice: &Bound<'_, PySlice>) -> PyResult<Option<SliceRange>> {
        let (mut start, mut stop, mut step) = (0, 0, 0);
        // SAFETY: the object is a slice, and the three pointers are to live integers.
        let done = unsafe { ffi::PySlice_Unpack(slice.as_ptr(), &mut start, &mut stop, &mut step) };
        if done == 0 {
            return Ok(Some(SliceRange { start, stop, step }));
        }
        let (py, error) = (slice.py(), PyErr::fetch(slice.py()));
        let is_the_keys =
            error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyValueError>(py);
        if is_the_keys { Ok(None) } else { Err(error) }
    }

    /// The first selected element of an axis, and their number; with none, the first is arbitrary.
    #[inline]
    pub fn within(&self, extent: usize) -> (usize, usize) {
        let (mut start, mut stop) = (self.start, self.stop);
        // SAFETY: the function only reads and writes these two integers.
        let len = unsafe {
            ffi::PySlice_AdjustIndices(extent as isize, &mut start, &mut stop, self.step)
        };
        (start.max(0) as usize, len as usize)
    }
}

impl BasicKey {
    /// Reads a key from an object; false for other keys. It is filled in place, because moving it would take as long.
    ///
    /// # Errors
    /// Exceptions of a slice's numbers. A type error among them may not be the key's first mistake, and gives false.
    #[inline]
    pub fn read(&mut self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(keys) = key.cast_exact::<PyTuple>() {
            for key in keys.iter_borrowed() {
                if !self.add(&key)? {
                    return Ok(false);
                }
            }
            // `a[()]` may be an element.
            return Ok(!self.0.is_empty());
        }
        self.add(key)
    }

    #[inline]
    fn add(&mut self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(key) = key.cast_exact::<PySlice>() {
            let Some(range) = SliceRange::of(key)? else { return Ok(false) };
            self.0.push(KeyItem::Range(range));
        } else if let Ok(key) = key.cast_exact::<PyInt>() {
            // Beyond isize no axis has an element.
            let Some(at) = integer(key) else { return Ok(false) };
            self.0.push(KeyItem::At(at));
        } else if key.is_none() {
            self.0.push(KeyItem::NewAxis);
        } else if key.cast_exact::<PyEllipsis>().is_ok() {
            if self.0.iter().any(|part| matches!(part, KeyItem::Rest)) {
                return Ok(false);
            }
            self.0.push(KeyItem::Rest);
        } else {
            let at = numpy_arrays::real(key)?.filter(|number| number.dtype.is_int());
            let Some(at) = at.and_then(|at| isize::try_from(at.as_int()).ok()) else {
                return Ok(false);
            };
            self.0.push(KeyItem::At(at));
        }
        Ok(true)
    }

    /// Whether it names one element of an array, by a number for each axis.
    pub fn is_element_of(&self, array: &Array) -> bool {
        let all = || self.0.iter().all(|part| matches!(part, KeyItem::At(_)));
        !self.0.is_empty() && self.0.len() == array.ndim() && all()
    }

    /// The view that it names; `None` where it names none.
    #[inline]
    pub fn view(&self, array: &Array) -> Option<View> {
        let (extents, steps) = (array.shape(), array.strides());
        let (mut shape, mut strides) = (Shape::new(), Strides::new());
        let (mut offset, mut axis) = (array.offset(), 0);
        for part in &self.0 {
            match part {
                KeyItem::NewAxis => {
                    shape.push(1);
                    strides.push(0);
                    continue;
                }
                KeyItem::Rest => {
                    let named =
                        |part: &&KeyItem| matches!(part, KeyItem::At(_) | KeyItem::Range(_));
                    let named = self.0.iter().filter(named).count();
                    let end = axis + extents.len().checked_sub(named)?;
                    shape.extend_from_slice(&extents[axis..end]);
                    strides.extend_from_slice(&steps[axis..end]);
                    axis = end;
                    continue;
                }
                KeyItem::At(_) | KeyItem::Range(_) => {}
            }
            let (extent, stride) = (*extents.get(axis)? as isize, *steps.get(axis)?);
            axis += 1;
            match *part {
                KeyItem::NewAxis | KeyItem::Rest => {}
                KeyItem::At(at) => {
                    let at = if at < 0 { at.wrapping_add(extent) } else { at };
                    if at < 0 || at >= extent {
                        return None;
                    }
                    offset += at * stride;
                }
                KeyItem::Range(ref range) => {
                    let (start, len) = range.within(extent as usize);
                    shape.push(len);
                    // As in NumPy, a slice of nothing has no step.
                    strides.push(if len > 0 { stride * range.step } else { stride });
                    if len > 0 {
                        offset += start as isize * stride;
                    }
                }
            }
        }
        shape.extend_from_slice(&extents[axis..]);
        strides.extend_from_slice(&steps[axis..]);
        (shape.len() <= MAX_RANK).then_some(View { offset, shape, strides })
    }
}

/// A Python int, if an isize holds it. It is one call, where `extract` takes four.
#[inline]
pub fn integer(key: &Bound<'_, PyInt>) -> Option<isize> {
    // SAFETY: the key is a live int; for one that does not fit, the error that is set is cleared below.
    match unsafe { ffi::PyLong_AsSsize_t(key.as_ptr()) } {
        -1 if PyErr::occurred(key.py()) => {
            drop(PyErr::take(key.py()));
            None
        }
        at => Some(at),
    }
}
