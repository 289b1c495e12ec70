//! Repetition: `repeat` and `tile`, as copies of broadcast views.
//!
//! Owns [`repeated`] and [`tiled`]. Invariant: `None` leaves the call to NumPy, and nothing is recorded then.
//!
//! Not here: NumPy's signatures (`python/gpupy/_views/joining.py`), shifts and pads (`shifts.rs`).

use crate::array::ndarray::NdArray;
use crate::session::context::context;
use crate::session::errors::to_py;
use gpupy_core::{MAX_RANK, Shape};
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use smallvec::SmallVec;

/// `numpy.repeat`: each element `repeats` times, along an axis, or as one row of all elements without an axis.
#[pyfunction]
#[pyo3(signature = (array, repeats, axis=None))]
pub fn repeated(
    array: &Bound<'_, NdArray>,
    repeats: &Bound<'_, PyAny>,
    axis: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<NdArray>> {
    let this = array.get().read(array.py());
    let (Some(array), Some(times)) = (this.as_lazy(), count(repeats)) else { return Ok(None) };
    let mut spread = RepeatLayout::default();
    match axis {
        // In C order all elements are one row.
        None => (0..array.ndim()).for_each(|axis| spread.keep(array.shape()[axis])),
        Some(axis) => {
            let Some(axis) = axis_of(axis, array.ndim()) else { return Ok(None) };
            (0..=axis).for_each(|axis| spread.keep(array.shape()[axis]));
        }
    }
    spread.times(times);
    let kept = spread.alone.len() - 1;
    (kept..array.ndim()).for_each(|axis| spread.keep(array.shape()[axis]));
    let extents: Shape = match (axis, kept) {
        (None, _) => [array.size().saturating_mul(times)].into_iter().collect(),
        (Some(_), kept) => {
            let wide = |(axis, n): (usize, &usize)| match axis + 1 == kept {
                true => n.saturating_mul(times),
                false => *n,
            };
            array.shape().iter().enumerate().map(wide).collect()
        }
    };
    spread.copy(array, &extents)
}

/// `numpy.tile`: an array repeated along each of its axes; further axes of extent 1 are added in front.
#[pyfunction]
pub fn tiled(array: &Bound<'_, NdArray>, times: &Bound<'_, PyTuple>) -> PyResult<Option<NdArray>> {
    let this = array.get().read(array.py());
    let Some(array) = this.as_lazy() else { return Ok(None) };
    let times = times.iter_borrowed().map(|times| count(&times));
    let Some(times) = times.collect::<Option<SmallVec<[usize; 4]>>>() else { return Ok(None) };
    let rank = times.len().max(array.ndim());
    let (given, there) = (rank - times.len(), rank - array.ndim());
    let (mut spread, mut extents) = (RepeatLayout::default(), Shape::new());
    for axis in 0..rank {
        let times = if axis < given { 1 } else { times[axis - given] };
        let n = if axis < there { 1 } else { array.shape()[axis - there] };
        spread.times(times);
        spread.keep(n);
        extents.push(n.saturating_mul(times));
    }
    spread.copy(array, &extents)
}

/// An array's shape with axes of one element between its own, and the one that it is broadcast to.
#[derive(Default)]
struct RepeatLayout {
    alone: Shape,
    several: Shape,
}

impl RepeatLayout {
    fn keep(&mut self, n: usize) {
        self.alone.push(n);
        self.several.push(n);
    }

    fn times(&mut self, n: usize) {
        self.alone.push(1);
        self.several.push(n);
    }

    /// A copy of all of it, in C order, under another shape; `None` where there are too many axes or elements.
    fn copy(&self, array: &Array, shape: &[usize]) -> PyResult<Option<NdArray>> {
        let size = shape.iter().try_fold(1usize, |size, n| size.checked_mul(*n));
        let fits = size.is_some_and(|size| size < isize::MAX as usize / 16);
        if !fits || self.several.len() > MAX_RANK {
            return Ok(None);
        }
        let context = context()?;
        let seen = match array.reshape(&self.alone) {
            Some(seen) => seen,
            None => match context.copy(array).map_err(to_py)?.reshape(&self.alone) {
                Some(seen) => seen,
                None => return Ok(None),
            },
        };
        let several = seen.broadcast_to(&self.several).map_err(to_py)?;
        let copied = context.copy(&several).map_err(to_py)?;
        Ok(copied.reshape(shape).map(NdArray::lazy))
    }
}

/// A count from a Python int.
fn count(number: &Bound<'_, PyAny>) -> Option<usize> {
    number.cast_exact::<PyInt>().ok()?.extract().ok()
}

/// A normalised axis number from a Python int, which may count from the end.
fn axis_of(axis: &Bound<'_, PyAny>, rank: usize) -> Option<usize> {
    let axis: isize = axis.cast_exact::<PyInt>().ok()?.extract().ok()?;
    let rank = rank as isize;
    (-rank..rank).contains(&axis).then(|| axis.rem_euclid(rank) as usize)
}
