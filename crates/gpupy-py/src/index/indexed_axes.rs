//! Which elements the parts of a key name: a view, and index arrays over its axes.
//!
//! Owns [`Picked`] and [`place`]. Invariant: picked axes stand where NumPy puts them.
//!
//! Not here: reading and writing them (`fancy.rs`).

use crate::convert::numpy_arrays;
use crate::index::advanced_key::Part;
use crate::index::basic::Item;
use crate::session::errors::to_py;
use gpupy_core::memory;
use gpupy_engine::Array;
use pyo3::prelude::*;
use smallvec::SmallVec;

/// Of each axis an index array, or none.
pub type Indices = SmallVec<[Option<Array>; 4]>;

/// What a key with index arrays names: of each axis of a view an index array, or all of it; and
/// where the picked axes stand among the others.
pub struct Picked {
    pub view: Array,
    pub indices: Indices,
    pub at: usize,
}

/// The view and the index arrays of a key's parts; `None` when they do not fit the array.
pub fn place(py: Python<'_>, array: &Array, parts: &[Part<'_>]) -> PyResult<Option<Picked>> {
    let axes = |part: &Part<'_>| match part {
        Part::Basic(Item::At(_) | Item::Range(_)) | Part::Index(_) => 1,
        Part::Basic(Item::Ellipsis | Item::NewAxis) => 0,
        Part::Mask(shape, _) => shape.len(),
    };
    let used: usize = parts.iter().map(axes).sum();
    let ellipses = parts.iter().filter(|part| matches!(part, Part::Basic(Item::Ellipsis))).count();
    if used > array.ndim() || ellipses > 1 {
        return Ok(None);
    }
    let mut made =
        View { array, axis: 0, offset: array.offset(), picked: SmallVec::new(), run: Run::Before };
    for part in parts {
        match part {
            Part::Index(index) => {
                made.advanced();
                made.keep(Some(index.clone()));
            }
            Part::Mask(shape, positions) => {
                made.advanced();
                if !made.mask(py, shape, positions)? {
                    return Ok(None);
                }
            }
            Part::Basic(Item::At(at)) => {
                made.advanced();
                let n = array.shape()[made.axis] as isize;
                let at = if *at < 0 { at.wrapping_add(n) } else { *at };
                if at < 0 || at >= n {
                    return Ok(None);
                }
                made.offset += at * array.strides()[made.axis];
                made.axis += 1;
            }
            Part::Basic(Item::Range(slice)) => {
                made.basic();
                let (n, stride) = (array.shape()[made.axis] as isize, array.strides()[made.axis]);
                let range = slice.indices(n)?;
                if range.slicelength > 0 {
                    made.offset += range.start * stride;
                }
                made.picked.push((range.slicelength, stride * range.step, None));
                made.axis += 1;
            }
            Part::Basic(Item::NewAxis) => {
                made.basic();
                made.picked.push((1, 0, None));
            }
            Part::Basic(Item::Ellipsis) => {
                made.basic();
                (0..array.ndim() - used).for_each(|_| made.keep(None));
            }
        }
    }
    while made.axis < array.ndim() {
        made.keep(None);
    }
    made.finish().map(Some)
}

/// Where the index arrays of a key stand: in one run, or in several with others between them.
enum Run {
    Before,
    /// In the first run, before this kept axis.
    Within(usize),
    Behind(usize),
    Several,
}

/// The view that a key names so far: its axes, and which of them are indexed.
struct View<'a> {
    array: &'a Array,
    axis: usize,
    offset: isize,
    picked: SmallVec<[(usize, isize, Option<Array>); 4]>,
    run: Run,
}

impl View<'_> {
    /// Takes the next axis of the array whole.
    fn keep(&mut self, index: Option<Array>) {
        let (n, stride) = (self.array.shape()[self.axis], self.array.strides()[self.axis]);
        self.picked.push((n, stride, index));
        self.axis += 1;
    }

    /// Takes the next axes where a mask is true: as one axis, where they are one line. False when
    /// the mask has other extents.
    fn mask(&mut self, py: Python<'_>, mask: &[usize], positions: &Array) -> PyResult<bool> {
        let axes = self.axis..self.axis + mask.len();
        let (shape, strides) = (&self.array.shape()[axes.clone()], &self.array.strides()[axes]);
        // NumPy does not look at extents of 0.
        if mask.iter().zip(shape).any(|(n, extent)| *n > 0 && n != extent) {
            return Ok(false);
        }
        let line = |k: usize| strides[k - 1] == strides[k] * shape[k] as isize;
        if mask == shape && (1..mask.len()).all(line) {
            let stride = strides.last().copied().unwrap_or(1);
            self.picked.push((mask.iter().product(), stride, Some(positions.clone())));
        } else {
            let positions = numpy_arrays::numbers(py, positions)?;
            let mut step = 1;
            let mut taken: SmallVec<[_; 4]> = SmallVec::new();
            for (k, n) in mask.iter().enumerate().rev() {
                let n = *n as i32;
                let along = positions.iter().map(|p| p / step % n.max(1));
                let along = memory::collected(positions.len(), along).map_err(to_py)?;
                taken.push((
                    shape[k],
                    strides[k],
                    Some(numpy_arrays::index_array(&[along.len()], &along)?),
                ));
                step *= n.max(1);
            }
            self.picked.extend(taken.into_iter().rev());
        }
        self.axis += mask.len();
        Ok(true)
    }

    /// Notes an index array, or an integer, which counts as one beside them.
    fn advanced(&mut self) {
        let kept = self.picked.iter().filter(|(_, _, index)| index.is_none()).count();
        self.run = match self.run {
            Run::Before => Run::Within(kept),
            Run::Within(at) => Run::Within(at),
            Run::Behind(_) | Run::Several => Run::Several,
        };
    }

    fn basic(&mut self) {
        if let Run::Within(at) = self.run {
            self.run = Run::Behind(at);
        }
    }

    fn finish(self) -> PyResult<Picked> {
        let shape: SmallVec<[usize; 4]> = self.picked.iter().map(|axis| axis.0).collect();
        let strides: SmallVec<[isize; 4]> = self.picked.iter().map(|axis| axis.1).collect();
        let view = self.array.view(&shape, &strides, self.offset).map_err(to_py)?;
        let indices = self.picked.into_iter().map(|axis| axis.2).collect();
        // Runs that are apart have no one place, so their axes come first.
        let at = match self.run {
            Run::Within(at) | Run::Behind(at) => at,
            Run::Before | Run::Several => 0,
        };
        Ok(Picked { view, indices, at })
    }
}
