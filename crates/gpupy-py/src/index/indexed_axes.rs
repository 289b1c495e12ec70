//! The elements that the parts of an advanced key select: a view, and index arrays over its axes.
//!
//! Owns [`IndexedAxes`] and [`place`]. Invariant: indexed axes stand where NumPy puts them.
//!
//! Not here: reading and writing them (`fancy.rs`).

use crate::convert::numpy_arrays;
use crate::index::advanced_key::KeyPart;
use crate::index::basic::BasicPart;
use crate::session::errors::to_py;
use gpupy_core::memory;
use gpupy_engine::Array;
use pyo3::prelude::*;
use smallvec::SmallVec;

/// An index array for each axis, or none.
pub type Indices = SmallVec<[Option<Array>; 4]>;

/// The selection of an advanced key: for each axis of a view an index array, or the whole axis; and the place of the
/// indexed axes among the others.
pub struct IndexedAxes {
    pub view: Array,
    pub indices: Indices,
    pub at: usize,
}

/// The view and the index arrays of a key's parts; `None` when they do not fit the array.
pub fn place(
    py: Python<'_>,
    array: &Array,
    parts: &[KeyPart<'_>],
) -> PyResult<Option<IndexedAxes>> {
    let axes = |part: &KeyPart<'_>| match part {
        KeyPart::Basic(BasicPart::At(_) | BasicPart::Range(_)) | KeyPart::Index(_) => 1,
        KeyPart::Basic(BasicPart::Ellipsis | BasicPart::NewAxis) => 0,
        KeyPart::Mask(shape, _) => shape.len(),
    };
    let used: usize = parts.iter().map(axes).sum();
    let ellipses =
        parts.iter().filter(|part| matches!(part, KeyPart::Basic(BasicPart::Ellipsis))).count();
    if used > array.ndim() || ellipses > 1 {
        return Ok(None);
    }
    let mut made = AxesBuilder {
        array,
        axis: 0,
        offset: array.offset(),
        picked: SmallVec::new(),
        run: AdvancedRun::Before,
    };
    for part in parts {
        match part {
            KeyPart::Index(index) => {
                made.advanced();
                made.keep(Some(index.clone()));
            }
            KeyPart::Mask(shape, positions) => {
                made.advanced();
                if !made.mask(py, shape, positions)? {
                    return Ok(None);
                }
            }
            KeyPart::Basic(BasicPart::At(at)) => {
                made.advanced();
                let n = array.shape()[made.axis] as isize;
                let at = if *at < 0 { at.wrapping_add(n) } else { *at };
                if at < 0 || at >= n {
                    return Ok(None);
                }
                made.offset += at * array.strides()[made.axis];
                made.axis += 1;
            }
            KeyPart::Basic(BasicPart::Range(slice)) => {
                made.basic();
                let (n, stride) = (array.shape()[made.axis] as isize, array.strides()[made.axis]);
                let range = slice.indices(n)?;
                if range.slicelength > 0 {
                    made.offset += range.start * stride;
                }
                made.picked.push((range.slicelength, stride * range.step, None));
                made.axis += 1;
            }
            KeyPart::Basic(BasicPart::NewAxis) => {
                made.basic();
                made.picked.push((1, 0, None));
            }
            KeyPart::Basic(BasicPart::Ellipsis) => {
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
enum AdvancedRun {
    Before,
    /// In the first run, before this kept axis.
    Within(usize),
    Behind(usize),
    Several,
}

/// The view that a key names so far: its axes, and which of them are indexed.
struct AxesBuilder<'a> {
    array: &'a Array,
    axis: usize,
    offset: isize,
    picked: SmallVec<[(usize, isize, Option<Array>); 4]>,
    run: AdvancedRun,
}

impl AxesBuilder<'_> {
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
            AdvancedRun::Before => AdvancedRun::Within(kept),
            AdvancedRun::Within(at) => AdvancedRun::Within(at),
            AdvancedRun::Behind(_) | AdvancedRun::Several => AdvancedRun::Several,
        };
    }

    fn basic(&mut self) {
        if let AdvancedRun::Within(at) = self.run {
            self.run = AdvancedRun::Behind(at);
        }
    }

    fn finish(self) -> PyResult<IndexedAxes> {
        let shape: SmallVec<[usize; 4]> = self.picked.iter().map(|axis| axis.0).collect();
        let strides: SmallVec<[isize; 4]> = self.picked.iter().map(|axis| axis.1).collect();
        let view = self.array.view(&shape, &strides, self.offset).map_err(to_py)?;
        let indices = self.picked.into_iter().map(|axis| axis.2).collect();
        // Runs that are apart have no one place, so their axes come first.
        let at = match self.run {
            AdvancedRun::Within(at) | AdvancedRun::Behind(at) => at,
            AdvancedRun::Before | AdvancedRun::Several => 0,
        };
        Ok(IndexedAxes { view, indices, at })
    }
}
