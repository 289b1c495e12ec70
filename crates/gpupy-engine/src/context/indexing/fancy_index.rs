//! Fancy (advanced) indexing: the elements that index arrays name, axis by axis.
//!
//! Owns [`Context::fancy_index`]. Index arrays become one int32 expression, the positions in the base, which a kernel
//! reads like any other operand, and gathers from the base (`gather_recording.rs`). Invariant: an index outside its
//! axis is an error of the call that picks, and no gather ever reads outside its base. Where `bounds` proves all
//! indices inside, nothing is computed for the check.
//!
//! Not here: keys as NumPy reads them (the front end), few elements (`eager/small_fancy_index.rs`).

use crate::array::base::{Array, ArrayOrScalar, checked_size};
use crate::context::Context;
use crate::eager::small_fancy_index::Outside;
use crate::graph::bounds;
use crate::graph::interval::Bounds;
use gpupy_core::op::Op;
use gpupy_core::shape::{MAX_RANK, Shape, broadcast_shapes, size_of};
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::SmallVec;

impl Context {
    /// The elements that index arrays name, as an array of its own. Of each axis of `array` there is
    /// an index array or `None`, which keeps the axis whole; at least one is an index array.
    ///
    /// The index arrays broadcast to one shape, whose axes stand in the result's before kept axis
    /// number `at`. Nothing is computed but an index whose elements may be outside.
    ///
    /// # Errors
    /// - `Shape`: index arrays that do not broadcast, or not one entry for each axis.
    /// - `DType`: an index array of no integers.
    /// - `Index`: an index outside its axis, where that is refused.
    /// - `Unsupported`: the base, or an axis, has more elements than an int32 counts.
    /// - any error of an evaluation that looked for indices outside.
    pub fn fancy_index(
        &self,
        array: &Array,
        indices: &[Option<&Array>],
        at: usize,
        outside: Outside,
    ) -> Result<Array> {
        let shape = self.picked_shape(array, indices, at)?;
        if size_of(&shape) == 0 {
            return Array::full(&shape, Scalar::zero(array.dtype()));
        }
        if let Some(found) = self.picked_now(array, indices, (at, &shape), outside) {
            return Ok(found);
        }
        let positions = self.picked_positions(array, indices, at, outside)?;
        self.recorded_of(array, |array| self.inner.dispatch.recorder().gather(array, &positions))
    }

    /// Like `fancy_index`, for few elements in host memory; waits for no lock. `None` for others, and where
    /// `fancy_index` has to say what does not fit.
    pub fn fancy_index_eagerly(
        &self,
        array: &Array,
        indices: &[Option<&Array>],
        at: usize,
        outside: Outside,
    ) -> Option<Array> {
        let shape = self.picked_shape(array, indices, at).ok()?;
        self.picked_now(array, indices, (at, &shape), outside)
    }

    fn picked_now(
        &self,
        array: &Array,
        indices: &[Option<&Array>],
        laid: (usize, &[usize]),
        outside: Outside,
    ) -> Option<Array> {
        self.inner.dispatch.picked_along(array, indices, laid, outside)
    }

    /// The extents of the result of index arrays.
    pub(crate) fn picked_shape(
        &self,
        array: &Array,
        indices: &[Option<&Array>],
        at: usize,
    ) -> Result<Shape> {
        ResultLayout::new(array, indices, at).map(|layout| layout.shape)
    }

    /// The positions in the base that index arrays name, as an int32 array of these extents.
    pub(crate) fn picked_positions(
        &self,
        array: &Array,
        indices: &[Option<&Array>],
        at: usize,
        outside: Outside,
    ) -> Result<Array> {
        let layout = ResultLayout::new(array, indices, at)?;
        let most = array.shape().iter().copied().fold(array.base_len(), usize::max);
        if most > i32::MAX as usize {
            return Err(Error::new(ErrorKind::Unsupported, "pick")
                .says("there are more elements than an int32 counts")
                .with("elements", most));
        }
        // Terms are added where elements are picked, which needs each sum once: computed before, the sum of a column
        // and a row would be stored with all the result's elements.
        let recorder = self.inner.dispatch.recorder();
        let mut sum: Option<Array> = None;
        let mut add = |term: Array| -> Result<()> {
            sum = Some(match sum.take() {
                Some(sum) => {
                    let both = [&sum, &term].map(ArrayOrScalar::Array);
                    recorder.convert(Op::Add, &both, DType::Bool)?
                }
                None => term,
            });
            Ok(())
        };
        for (axis, index) in indices.iter().enumerate() {
            let Some(index) = index else { continue };
            // Its elements are looked at twice.
            let index = if index.is_pinned() { &index.snapshot()? } else { *index };
            let index = self.inside(index, array.shape()[axis], axis, outside)?;
            add(self.times(&layout.lift(&index), array.strides()[axis])?)?;
        }
        // Coordinates along kept axes are loaded from nowhere.
        for (place, extents, stride) in layout.runs(array, indices) {
            let index = recorder.index(&[size_of(&extents)], 0)?;
            let term = self.times(&index, stride)?;
            // A line seen under another shape.
            let term = term.reshape(&extents).unwrap_or(term);
            let behind = layout.shape.len() - place - extents.len();
            add((0..behind).fold(term, |term, _| term.insert_axis(term.ndim())))?;
        }
        let sum = sum.ok_or_else(|| wrong("there is no index array"))?;
        let offset = i32::try_from(array.offset()).unwrap_or(i32::MAX);
        let sum = if offset == 0 {
            sum
        } else {
            self.two(Op::Add, &sum, ArrayOrScalar::Scalar(Scalar::i32(offset)))?
        };
        sum.broadcast_to(&layout.shape)
    }

    /// An index array with all elements from 0 up to the extent of its axis, as int32.
    fn inside(&self, index: &Array, extent: usize, axis: usize, outside: Outside) -> Result<Array> {
        if !index.dtype().is_int() {
            return Err(Error::new(ErrorKind::DType, "pick")
                .says("arrays used as indices must be of integer (or boolean) type")
                .with("dtype", index.dtype()));
        }
        let n = extent as i128;
        let whole = |low, high| Bounds::Whole { low, high };
        let mut found = bounds::bounds(&index.value()?);
        if !found.is_within(whole(0, n - 1)) {
            match outside {
                Outside::Refuse if found.is_within(whole(-n, n - 1)) => {}
                Outside::Refuse => {
                    found = self.extremes(index)?;
                    if !found.is_within(whole(-n, n - 1)) {
                        return Err(self.outside(index, extent, axis));
                    }
                }
                Outside::Wrap | Outside::Clip if extent == 0 => {
                    return Err(Error::new(ErrorKind::Index, "pick")
                        .says("cannot do a non-empty take from an empty axes."));
                }
                Outside::Wrap => return self.wrapped(index, extent),
                Outside::Clip => return self.clipped(index, found, extent),
            }
        }
        let index = self.cast(index, DType::I32)?;
        if found.is_within(whole(0, n - 1)) {
            return Ok(index);
        }
        let from_end =
            self.two(Op::Add, &index, ArrayOrScalar::Scalar(Scalar::i32(extent as i32)))?;
        if found.is_within(whole(-n, -1)) {
            return Ok(from_end);
        }
        let negative = self.two(Op::Lt, &index, ArrayOrScalar::Scalar(Scalar::i32(0)))?;
        self.apply(
            Op::Select,
            &[
                ArrayOrScalar::Array(&negative),
                ArrayOrScalar::Array(&from_end),
                ArrayOrScalar::Array(&index),
            ],
        )
    }

    fn wrapped(&self, index: &Array, extent: usize) -> Result<Array> {
        // Of a narrow dtype the extent may be no number.
        let index = self.wide(index)?;
        let extent = Scalar::new(index.dtype(), extent as u64);
        self.cast(&self.two(Op::Mod, &index, ArrayOrScalar::Scalar(extent))?, DType::I32)
    }

    fn clipped(&self, index: &Array, found: Bounds, extent: usize) -> Result<Array> {
        let mut index = self.wide(index)?;
        let last = Scalar::new(index.dtype(), extent as u64 - 1);
        index = self.two(Op::Min, &index, ArrayOrScalar::Scalar(last))?;
        if !found.is_within(Bounds::Whole { low: 0, high: i128::MAX }) {
            index =
                self.two(Op::Max, &index, ArrayOrScalar::Scalar(Scalar::zero(index.dtype())))?;
        }
        self.cast(&index, DType::I32)
    }

    /// An index array of at least 32 bits.
    fn wide(&self, index: &Array) -> Result<Array> {
        match index.dtype().size() {
            1 | 2 => self.cast(index, DType::I32),
            _ => Ok(index.clone()),
        }
    }

    /// The least and the greatest element, computed; a view's are those of its own elements.
    fn extremes(&self, index: &Array) -> Result<Bounds> {
        let index = self.copy(index)?;
        let value = index.value()?;
        self.compute(&value, 0..value.len())?;
        if let Some(found) = bounds::of_host(&value) {
            return Ok(found);
        }
        let axes: SmallVec<[usize; 4]> = (0..index.ndim()).collect();
        let mut ends = [Op::Min, Op::Max].into_iter().map(|op| {
            let end = self.reduce(op, &index, &axes, false)?;
            Ok(Bounds::of_scalar(self.item(&end, &[])?))
        });
        match (ends.next(), ends.next()) {
            (Some(low), Some(high)) => {
                let found = low?.union(high?);
                value.state().bounds = Some(Box::new(found));
                Ok(found)
            }
            _ => Ok(Bounds::of_dtype(index.dtype())),
        }
    }

    /// The error that names the first index outside, in NumPy's words.
    fn outside(&self, index: &Array, extent: usize, axis: usize) -> Error {
        let read = match self.read(index).and_then(|read| read.to_vec()) {
            Ok(read) => read,
            Err(error) => return error,
        };
        let inside = Bounds::Whole { low: -(extent as i128), high: extent as i128 - 1 };
        let elements = read.chunks_exact(index.dtype().size());
        let first = elements
            .filter_map(|bytes| Bounds::of_elements(index.dtype(), bytes))
            .find(|found| !found.is_within(inside));
        let first = match first {
            Some(Bounds::Whole { low, .. }) => low,
            _ => 0,
        };
        Error::new(ErrorKind::Index, "pick")
            .says(format!("index {first} is out of bounds for axis {axis} with size {extent}"))
    }

    fn times(&self, index: &Array, stride: isize) -> Result<Array> {
        match stride {
            1 => Ok(index.clone()),
            _ => self.two(Op::Mul, index, ArrayOrScalar::Scalar(Scalar::i32(stride as i32))),
        }
    }

    fn two(&self, op: Op, a: &Array, b: ArrayOrScalar<'_>) -> Result<Array> {
        self.inner.dispatch.convert(op, DType::Bool, &[ArrayOrScalar::Array(a), b])
    }
}

fn wrong(words: &str) -> Error {
    Error::new(ErrorKind::Shape, "pick").says(words)
}

/// Where the result's axes come from.
struct ResultLayout {
    /// The result's extents.
    shape: Shape,
    /// Where the index arrays' axes stand among the result's, and how many they are.
    at: usize,
    picked: usize,
}

impl ResultLayout {
    fn new(array: &Array, indices: &[Option<&Array>], at: usize) -> Result<ResultLayout> {
        if indices.len() != array.ndim() {
            return Err(wrong("there is not one entry for each axis"));
        }
        let shapes: SmallVec<[&[usize]; 4]> =
            indices.iter().flatten().map(|index| index.shape()).collect();
        let picked = broadcast_shapes(&shapes).map_err(|_| {
            let words: Vec<_> = shapes.iter().map(|s| gpupy_core::shape::shape_words(s)).collect();
            wrong(&format!(
                "shape mismatch: indexing arrays could not be broadcast together with shapes {} ",
                words.join(" ")
            ))
        })?;
        let mut shape: Shape = kept(array, indices).map(|axis| array.shape()[axis]).collect();
        if at > shape.len() {
            return Err(wrong("there are not so many kept axes").with("at", at));
        }
        shape.insert_many(at, picked.iter().copied());
        if shape.len() > MAX_RANK {
            return Err(Error::new(ErrorKind::Index, "pick").says(format!(
                "number of dimensions must be within [0, {MAX_RANK}], indexing result would have {}",
                shape.len()
            )));
        }
        checked_size(&shape)?;
        Ok(ResultLayout { shape, at, picked: picked.len() })
    }

    /// An index array seen with the axes that stand behind it in the result.
    fn lift(&self, index: &Array) -> Array {
        let behind = self.shape.len() - self.at - self.picked;
        (0..behind).fold(index.clone(), |index, _| index.insert_axis(index.ndim()))
    }

    /// The kept axes in runs that are one line each: the place of the first among the result's axes,
    /// the extents, and the step along the line.
    fn runs(&self, array: &Array, indices: &[Option<&Array>]) -> Vec<(usize, Shape, isize)> {
        let mut runs: Vec<(usize, Shape, isize)> = Vec::new();
        let axes: SmallVec<[usize; 4]> = kept(array, indices).collect();
        for (number, axis) in axes.iter().copied().enumerate().rev() {
            let (extent, stride) = (array.shape()[axis], array.strides()[axis]);
            let place = if number < self.at { number } else { number + self.picked };
            match runs.last_mut() {
                Some((first, extents, step))
                    if *first == place + 1 && stride == *step * size_of(extents) as isize =>
                {
                    *first = place;
                    extents.insert(0, extent);
                }
                _ => runs.push((place, [extent].into_iter().collect(), stride)),
            }
        }
        runs
    }
}

/// The axes that are kept whole.
fn kept<'a>(array: &'a Array, indices: &'a [Option<&Array>]) -> impl Iterator<Item = usize> + 'a {
    (0..array.ndim()).filter(|axis| indices[*axis].is_none())
}
