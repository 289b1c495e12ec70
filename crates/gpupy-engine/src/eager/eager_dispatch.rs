//! Eager dispatch: the one place that decides whether an operation is eager or recorded.
//!
//! Owns [`EagerDispatch`], through which all operations go. It asks the policy (`policy.rs`) once for each operation. A
//! scalar operation is computed, or is to be recorded ([`Later`]). An operation of several steps gets a [`Recorder`]
//! that computes each step, or records all. Invariant: a result has the same bits either way.
//!
//! Not here: pinned operands, evaluation when much is pending (`context/`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::array::contents::{Contents, Current};
use crate::eager::eager_evaluator::EagerEvaluator;
use crate::eager::policy::{self, ProductExtents, WorkSize};
use crate::eager::segment::Segment;
use crate::eager::small_fancy_index::{self, Outside};
use crate::eager::{host_moves, small_argmin, small_argsort, small_boolean_mask, small_nonzero};
use crate::graph::scalar_function::ScalarFunction;
use crate::graph::value::Operand;
use crate::record::recorder::Recorder;
use crate::thresholds::T;
use gpupy_core::op::Op;
use gpupy_core::shape::{MAX_RANK, size_of};
use gpupy_core::{DType, Error, Scalar};
use std::sync::Arc;

/// The entry of all operations: eager or recorded.
pub(crate) struct EagerDispatch {
    later: Recorder,
    /// `None` where all work is the chosen driver's.
    now: Option<EagerHost>,
}

/// The evaluator of little work.
struct EagerHost {
    evaluator: EagerEvaluator,
    /// Computes the steps of larger operations.
    recorder: Recorder,
}

/// The recorder of an operation that was not eager.
pub(crate) struct Later<'a> {
    pub recorder: &'a Recorder,
    /// It is little work, but an operand is not in host memory, or not just now.
    pub lacks: bool,
}

impl EagerDispatch {
    /// A dispatch that records all work.
    pub fn strict() -> EagerDispatch {
        EagerDispatch { later: Recorder::default(), now: None }
    }

    /// A dispatch that computes little work.
    pub fn by(evaluator: EagerEvaluator) -> EagerDispatch {
        let later = Recorder::default();
        let recorder = later.computing(Box::new(evaluator.clone()));
        EagerDispatch { later, now: Some(EagerHost { evaluator, recorder }) }
    }

    /// Whether little work is computed now at all.
    pub fn computes(&self) -> bool {
        self.now.is_some()
    }

    /// The recorder that records every operation, however small.
    pub fn recorder(&self) -> &Recorder {
        &self.later
    }

    /// The recorder of an operation of several steps with results of this shape, which may compute them.
    pub fn recorder_of(
        &self,
        work: WorkSize,
        args: &[ArrayOrScalar<'_>],
        results: &[usize],
    ) -> &Recorder {
        match &self.now {
            Some(now) if work.is_little() && policy::are_there(args, results) => &now.recorder,
            _ => &self.later,
        }
    }

    /// The recorder of a join of arrays, which may compute it.
    pub fn joining(&self, arrays: &[Array]) -> &Recorder {
        let points = arrays.iter().map(Array::size).fold(0, usize::saturating_add);
        self.recorder_of(WorkSize::Joined(points, arrays.len()), &[], &[])
    }

    /// A scalar operation on operands that broadcast: computed, or given to `otherwise`; `to` is the result's dtype of
    /// a cast.
    #[inline(always)]
    pub fn apply<E>(
        &self,
        op: Op,
        to: DType,
        args: &[ArrayOrScalar<'_>],
        otherwise: impl FnOnce(Later<'_>) -> Result<Array, E>,
    ) -> Result<Array, E> {
        let mut later = Later { recorder: &self.later, lacks: false };
        if let Some(now) = &self.now
            && let Some(shape) = policy::little(args)
        {
            if op != Op::Pow {
                if let Some(array) = now.evaluator.apply(op, to, args, &shape) {
                    return Ok(array);
                }
                later.lacks = true;
            } else if policy::are_there(args, &shape) {
                // Some powers are steps of exact operations.
                later.recorder = &now.recorder;
            } else {
                later.lacks = true;
            }
        }
        otherwise(later)
    }

    /// Like `apply`, for operands that are not pinned; an operation that is not computed now is recorded.
    ///
    /// # Errors
    /// As of `Recorder::convert`.
    pub fn convert(&self, op: Op, to: DType, args: &[ArrayOrScalar<'_>]) -> Result<Array, Error> {
        self.apply(op, to, args, |later| later.recorder.convert(op, args, to))
    }

    /// A scalar operation on real numbers, with the bits of an element of an array; `None` where it is not computed
    /// now.
    pub fn number(&self, op: Op, numbers: &[Scalar]) -> Option<Scalar> {
        self.now.as_ref().filter(|_| op != Op::Pow)?.evaluator.number(op, numbers)
    }

    /// A function without loops, on operands that broadcast; `None` where it is not computed now.
    pub fn call(
        &self,
        function: &Arc<ScalarFunction>,
        args: &[ArrayOrScalar<'_>],
    ) -> Option<Array> {
        let now = self.now.as_ref()?;
        now.evaluator.call(function, args, &policy::little(args)?)
    }

    /// Puts the results of a scalar operation where an array shows elements of a base that has its own;
    /// `None`, with nothing done, where they are not computed now, or not of its dtype and shape.
    pub fn update(&self, op: Op, args: &[ArrayOrScalar<'_>], dest: &Array) -> Option<()> {
        let evaluator = &self.now.as_ref()?.evaluator;
        if op == Op::Pow || !matches!(dest.current_to_write()?.held(), Contents::Own(_)) {
            return None;
        }
        evaluator.update(op, args, &policy::little(args)?, dest)
    }

    /// The reduction of all elements to one, where that is one launch; `None` where it takes several steps.
    pub fn whole(&self, op: Op, array: &Array) -> Option<Array> {
        let evaluator = &self.now.as_ref()?.evaluator;
        if !WorkSize::Elements(array.size()).is_little() || !op.reduces(array.dtype()) {
            return None;
        }
        evaluator.whole(op, array)
    }

    /// The product of two vectors, real ones of one dtype; `None` where it is not computed now.
    pub fn dot(&self, left: &Array, right: &Array) -> Option<Scalar> {
        let evaluator = &self.now.as_ref()?.evaluator;
        let extents = little_product(left, right)?;
        let are_vectors = [left, right].iter().all(|operand| operand.ndim() == 1);
        if !are_vectors || left.dtype().is_complex() {
            return None;
        }
        evaluator.dot(left, right, &extents)
    }

    /// The product of stacks of matrices, or of one with a vector, of one dtype; `None` where it is not computed now,
    /// or not in one launch.
    pub fn product(&self, left: &Array, right: &Array) -> Option<Array> {
        let evaluator = &self.now.as_ref()?.evaluator;
        let extents = little_product(left, right)?;
        evaluator.product(left, right, &extents)
    }

    /// The places of extremes along an axis; `None` where they are not found now.
    pub fn places(&self, op: Op, array: &Array, axis: usize) -> Option<Array> {
        self.searches(array)?;
        small_argmin::places(op, array, axis)
    }

    /// The place of the extreme of all elements; as of `places`.
    pub fn place(&self, op: Op, array: &Array) -> Option<usize> {
        self.searches(array)?;
        small_argmin::place(op, array)
    }

    /// A copy; `None` where it is not made now, and of a whole value, which takes no copy.
    pub fn copy(&self, array: &Array) -> Option<Array> {
        self.elements(array.size().max(1))?;
        host_moves::copied(array)
    }

    /// Elements that are all the same scalar; `None` where they take no memory yet.
    pub fn filled(&self, shape: &[usize], len: usize, scalar: Scalar) -> Option<Array> {
        if self.computes() && len <= T.filled { host_moves::filled(shape, scalar) } else { None }
    }

    /// The rows that an index array names along the first axis, or a mask of the leading axes chooses; `None` where
    /// they are not found now.
    pub fn picked(&self, array: &Array, index: &Array) -> Option<Array> {
        match index.dtype() {
            DType::Bool => {
                self.elements(array.size())?;
                small_boolean_mask::selected(array, index)
            }
            _ => {
                // Rows that don't lie one after another are picked from a copy of them all.
                if !array.is_contiguous() {
                    self.elements(array.size())?;
                }
                let row = array.shape().get(1..).map_or(0, size_of);
                let picked = index.size().saturating_mul(row);
                // Rows are copied as such, where a kernel would find the place of each element.
                if row >= small_fancy_index::moved_beside() {
                    self.scatters(picked)
                } else {
                    self.elements(picked)
                }?;
                small_fancy_index::picked(array, index)
            }
        }
    }

    /// Whether elements are written into an array by a mask now, if all of them are there.
    pub fn writes_by_mask(&self, array: &Array) -> bool {
        self.computes() && WorkSize::Masked(array.size()).is_little()
    }

    /// The elements that index arrays name, as an array of this shape (`Context::fancy_index`); `None` where they are
    /// not found now, or an index is refused.
    pub fn picked_along(
        &self,
        array: &Array,
        indices: &[Option<&Array>],
        (at, shape): (usize, &[usize]),
        outside: Outside,
    ) -> Option<Array> {
        self.picks(indices, at, shape)?;
        let integers = indices.iter().flatten().all(|index| index.dtype().is_int());
        integers
            .then(|| small_fancy_index::picked_along(array, indices, (at, shape), outside))
            .flatten()
    }

    /// The positions that put rows in the order of keys (`small_argsort::places`); `None` where they are not found now.
    pub fn order(&self, keys: &[&Array], axis: usize) -> Option<Array> {
        let points = keys.iter().fold(0, |points: usize, key| points.saturating_add(key.size()));
        let is_little = self.computes() && (1..=T.most_ordered).contains(&points);
        is_little.then(|| small_argsort::places(keys, axis))?
    }

    /// The coordinates of elements that are not zero (`small_nonzero::places`); `None` where they are not found now.
    pub fn nonzero(&self, array: &Array) -> Option<Array> {
        self.elements(array.size())?;
        small_nonzero::places(array)
    }

    /// How many elements of a mask are true; `None` where they are not in host memory, side by side.
    pub fn count_true(&self, mask: &Array) -> Option<usize> {
        if self.computes() && mask.is_contiguous() {
            small_boolean_mask::counted(mask)
        } else {
            None
        }
    }

    /// Writes a scalar, or elements one after another, where a mask of the same shape is true; `None`, with nothing
    /// done, where that is not done now, or does not fit.
    pub fn write_masked(
        &self,
        dest: &Array,
        mask: &Array,
        source: &ArrayOrScalar<'_>,
    ) -> Option<()> {
        self.writes_by_mask(dest).then(|| small_boolean_mask::write(dest, mask, source))?
    }

    /// Writes a scalar, or rows one after another, to the rows that an index array names along the first axis; `None`,
    /// with nothing done, where that is not done now, one lies outside, or it does not fit.
    pub fn write_picked(
        &self,
        dest: &Array,
        index: &Array,
        source: &ArrayOrScalar<'_>,
    ) -> Option<()> {
        let row = dest.shape().get(1..).map_or(0, size_of);
        self.scatters(index.size().saturating_mul(row))?;
        small_fancy_index::write(dest, index, source)
    }

    /// Writes a scalar, or the elements of an array of this shape, to those that index arrays name (`Context::put`);
    /// `None`, with nothing done, where that is not done now, an index is refused, or it does not fit.
    pub fn write_along(
        &self,
        dest: &Array,
        indices: &[Option<&Array>],
        (at, shape): (usize, &[usize]),
        outside: Outside,
        source: &ArrayOrScalar<'_>,
    ) -> Option<()> {
        self.scatters(size_of(shape))?;
        self.names(indices, at, shape)?;
        small_fancy_index::write_along(dest, indices, (at, shape), outside, source)
    }

    /// Writes into a view of a base that has elements of its own, if the source is in host memory and needs no
    /// broadcasting but of one element; `None`, with nothing done, for others.
    pub fn write(&self, dest: &Array, source: &ArrayOrScalar<'_>) -> Option<()> {
        self.elements(dest.size())?;
        host_moves::write_own(dest, source)
    }

    /// Writes an operand (see `source_of`) into a view of a base with these contents, if that moves elements in host
    /// memory; false, with nothing done, where the write is to be recorded.
    pub fn write_operand(&self, current: &mut Current, dest: &Array, source: &Operand) -> bool {
        let little = self.elements(dest.size()).is_some();
        host_moves::write(current, dest, source, little).is_some()
    }

    /// The recorder of a write of an operand into a view.
    pub fn assigning(&self, dest: &Array) -> &Recorder {
        match &self.now {
            Some(now) if self.elements(dest.size()).is_some() => &now.recorder,
            _ => &self.later,
        }
    }

    /// The results of a segment for the bases of these arrays; `None` where it was not planned, or cannot be done now.
    pub fn segment(&self, segment: &Segment, given: &[&Array]) -> Option<Vec<Array>> {
        self.now.as_ref()?.evaluator.segment(segment, given)
    }

    /// Whether so many elements are moved now.
    #[inline]
    fn elements(&self, points: usize) -> Option<()> {
        (self.computes() && WorkSize::Elements(points).is_little()).then_some(())
    }

    /// Whether so many elements are moved now to, or from, where index arrays say.
    fn scatters(&self, points: usize) -> Option<()> {
        (self.computes() && WorkSize::Masked(points).is_little()).then_some(())
    }

    /// Whether elements of this shape are picked now by index arrays along axes.
    fn picks(&self, indices: &[Option<&Array>], at: usize, shape: &[usize]) -> Option<()> {
        self.elements(size_of(shape))?;
        self.names(indices, at, shape)
    }

    /// Whether the numbers of index arrays along axes are few enough to be looked at now.
    fn names(&self, indices: &[Option<&Array>], at: usize, shape: &[usize]) -> Option<()> {
        let picked = size_of(small_fancy_index::picked_extents(indices, at, shape)?);
        let arrays = indices.iter().flatten().count();
        WorkSize::Picked(picked.saturating_mul(arrays)).is_little().then_some(())
    }

    /// Whether extremes of an array are looked for now.
    fn searches(&self, array: &Array) -> Option<()> {
        (self.computes() && WorkSize::Searched(array.size()).is_little()).then_some(())
    }
}

/// The extents of a product of operands of one dtype, if it is little work and one launch computes it: many small
/// matrices are sums of products instead.
fn little_product(left: &Array, right: &Array) -> Option<ProductExtents> {
    let extents = ProductExtents::of(left.shape(), right.shape())?;
    let is_one_launch = left.dtype() == right.dtype()
        && extents.stack.len() + 3 <= MAX_RANK
        && extents.work().is_little()
        && !extents.are_sums();
    is_one_launch.then_some(extents)
}
