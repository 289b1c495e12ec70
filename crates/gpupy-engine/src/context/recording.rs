//! The operations of a front end: on arrays, writes into them, copies.
//!
//! Owns the recording methods of [`Context`]. An operation is eager, or it is recorded. A recorded one is evaluated
//! when too much is pending. Invariant: an operation that fails leaves every array as it was.
//!
//! Not here: expressions of recorded operations (`record/`), eager operations (`eager_evaluator.rs`), reading
//! (`read/mod.rs`).

use super::Context;
use crate::array::axis_order::{self, AxisRole};
use crate::array::base::{Array, ArrayOrScalar, checked_size};
use crate::eager::eager_dispatch::Later;
use crate::eager::host_moves;
use crate::eager::policy::{ProductExtents, WorkSize};
use crate::graph::scalar_function::ScalarFunction;
use crate::graph::value::{Operand, Value};
use crate::record::library_recording::{ProductsBy, lacks_room};
use crate::record::recorder::{Recorder, source_of};
use gpupy_core::op::Op;
use gpupy_core::routines::RoutineCall;
use gpupy_core::{DType, Result, Scalar};
use std::slice;
use std::sync::Arc;

impl Context {
    /// The coordinate of each element along `axis`, an int32; computed where it is used.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32.
    /// - `Shape`: there would be more elements than positions.
    pub fn index(&self, shape: &[usize], axis: usize) -> Result<Array> {
        let work = WorkSize::Elements(checked_size(shape)?);
        self.inner.dispatch.recorder_of(work, &[], shape).index(shape, axis)
    }

    /// A scalar operation on operands that broadcast.
    ///
    /// # Errors
    /// - `Shape`, `DType`: the operands do not fit.
    /// - any error of an evaluation, when so much was pending that it had to run.
    pub fn apply(&self, op: Op, args: &[ArrayOrScalar<'_>]) -> Result<Array> {
        axis_order::kept(args, |args| self.computed(op, args, DType::Bool))
    }

    /// Like `apply`, without any wait; `None` where `apply` has to wait or has an error to give, and for powers, which
    /// differ for operators and functions.
    pub fn apply_eagerly(&self, op: Op, args: &[ArrayOrScalar<'_>]) -> Option<Array> {
        if op == Op::Pow {
            return None;
        }
        axis_order::kept(args, |args| {
            let recorded = |later: Later<'_>| self.record_eagerly(op, args, later);
            self.inner.dispatch.apply(op, DType::Bool, args, recorded)
        })
        .ok()
    }

    /// A scalar operation on real numbers, with the bits of an element of an array; `None` where it is not computed
    /// now, and for powers.
    pub fn number_eagerly(&self, op: Op, numbers: &[Scalar]) -> Option<Scalar> {
        self.inner.dispatch.number(op, numbers)
    }

    /// Records an operation that was not computed, without any wait.
    #[cold]
    fn record_eagerly(
        &self,
        op: Op,
        args: &[ArrayOrScalar<'_>],
        later: Later<'_>,
    ) -> std::result::Result<Array, Postponed> {
        let is_pinned = |arg: &ArrayOrScalar<'_>| matches!(arg, ArrayOrScalar::Array(array) if array.is_to_be_pinned());
        if later.lacks && !self.often_read(args).is_empty() || args.iter().any(is_pinned) {
            return Err(Postponed);
        }
        match later.recorder.convert(op, args, DType::Bool) {
            Ok(array) if !self.may_be_much_behind(&array) => Ok(array),
            _ => Err(Postponed),
        }
    }

    /// A scalar operation; `to` is the dtype that a cast gives.
    fn computed(&self, op: Op, args: &[ArrayOrScalar<'_>], to: DType) -> Result<Array> {
        let dispatch = &self.inner.dispatch;
        let recorded =
            |later: Later<'_>| self.recorded(args, |args| later.recorder.convert(op, args, to));
        dispatch.apply(op, to, args, |later| {
            match later.lacks && self.promote_often_read(args)? {
                true => dispatch.apply(op, to, args, recorded),
                false => recorded(later),
            }
        })
    }

    /// The product of two vectors of one real dtype that is computed eagerly. `None` as of `apply_eagerly`, and
    /// where the vectors are none, or differ.
    pub fn dot_eagerly(&self, left: &Array, right: &Array) -> Option<Scalar> {
        self.inner.dispatch.dot(left, right)
    }

    /// The product of matrices, or of one with a vector, of one dtype, where that is computed eagerly in one launch;
    /// `None` as of `apply_eagerly`.
    pub fn product_eagerly(&self, left: &Array, right: &Array) -> Option<Array> {
        self.inner.dispatch.product(left, right)
    }

    /// Puts the result of a scalar operation, computed eagerly, where an array shows elements of its base's own; false,
    /// with nothing done, for others.
    pub fn update_eagerly(&self, op: Op, args: &[ArrayOrScalar<'_>], dest: &Array) -> bool {
        self.inner.dispatch.update(op, args, dest).is_some()
    }

    /// Integers to a power, which wrap.
    ///
    /// # Errors
    /// - `DType`: they are no integers. Otherwise as `apply`.
    pub fn integer_power(&self, array: &Array, exponent: u64) -> Result<Array> {
        axis_order::kept(&[ArrayOrScalar::Array(array)], |args| {
            let array = if let [ArrayOrScalar::Array(moved)] = args { moved } else { array };
            self.recorded_of(array, |array| {
                let args = [ArrayOrScalar::Array(array)];
                let work = WorkSize::Elements(array.size());
                let recorder = self.inner.dispatch.recorder_of(work, &args, array.shape());
                recorder.integer_power(array, exponent)
            })
        })
    }

    /// Arrays one behind the other along an axis; a view of each is read where it is needed.
    ///
    /// # Errors
    /// - `Shape`, `Index`, `DType`: the arrays or the axis do not fit.
    pub fn join(&self, axis: usize, arrays: &[Array]) -> Result<Array> {
        axis_order::kept_along(arrays, axis, AxisRole::OrNone, |arrays, axis| {
            self.recorded_of_all(arrays, |arrays| {
                self.inner.dispatch.joining(arrays).join(axis, arrays)
            })
        })
    }

    /// A cast by value.
    ///
    /// # Errors
    /// As `apply`.
    pub fn cast(&self, array: &Array, dtype: DType) -> Result<Array> {
        if array.dtype() == dtype {
            return self.copy_as_it_lies(array);
        }
        axis_order::kept(&[ArrayOrScalar::Array(array)], |args| {
            self.computed(Op::Cast, args, dtype)
        })
    }

    /// What several elementwise operations give that stand for one of these operands: it lies as that one's result
    /// would.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn composed(
        &self,
        args: &[ArrayOrScalar<'_>],
        compute: impl FnOnce(&[ArrayOrScalar<'_>]) -> Result<Array>,
    ) -> Result<Array> {
        axis_order::kept(args, compute)
    }

    /// A copy of the elements with their bits read as another dtype of equal size; no view.
    ///
    /// # Errors
    /// As `apply`; `DType`: the sizes differ.
    pub fn bitcast(&self, array: &Array, dtype: DType) -> Result<Array> {
        axis_order::kept(&[ArrayOrScalar::Array(array)], |args| {
            self.computed(Op::Bitcast, args, dtype)
        })
    }

    /// The result of a function without loops, which has one, computed eagerly. `None` where its operands are not few
    /// elements in host memory, or do not broadcast.
    pub fn call_eagerly(
        &self,
        function: &Arc<ScalarFunction>,
        args: &[ArrayOrScalar<'_>],
    ) -> Option<Array> {
        axis_order::kept(args, |args| self.inner.dispatch.call(function, args).ok_or(Postponed))
            .ok()
    }

    /// A result of a function on operands that broadcast and have its arguments' dtypes.
    ///
    /// # Errors
    /// - `Shape`, `DType`, `Index`: the operands or the result's number do not fit. Otherwise as `apply`.
    pub fn call(
        &self,
        function: &Arc<ScalarFunction>,
        result: usize,
        args: &[ArrayOrScalar<'_>],
    ) -> Result<Array> {
        let dispatch = &self.inner.dispatch;
        axis_order::kept(args, |args| match dispatch.call(function, args).filter(|_| result == 0) {
            Some(made) => Ok(made),
            None => self.recorded(args, |args| dispatch.recorder().call(function, result, args)),
        })
    }

    /// A reduction over distinct axes by the canonical tree.
    ///
    /// # Errors
    /// - `Shape`: nothing to reduce. `DType`: the operation does not reduce this dtype.
    pub fn reduce(&self, op: Op, array: &Array, axes: &[usize], keepdims: bool) -> Result<Array> {
        if axes.len() == array.ndim()
            && !keepdims
            && let Some(reduced) = self.inner.dispatch.whole(op, array)
        {
            return Ok(reduced);
        }
        self.promote_often_read(&[ArrayOrScalar::Array(array)])?;
        axis_order::kept_but(array, axes, keepdims, |array, axes| {
            self.recorded_of(array, |array| {
                let recorder = self.along(WorkSize::Elements(array.size()), array);
                recorder.reduce(op, array, axes, keepdims)
            })
        })
    }

    /// What does an operation along axes of an array.
    fn along(&self, work: WorkSize, array: &Array) -> &Recorder {
        self.inner.dispatch.recorder_of(work, &[ArrayOrScalar::Array(array)], &[])
    }

    /// Running results along an axis: element `i` combines the elements up to `i`, chunk by chunk
    /// (`ir::Form::Scan`).
    ///
    /// # Errors
    /// - `Index`: there is no such axis. `DType`: the operation does not scan this dtype.
    pub fn scan(&self, op: Op, array: &Array, axis: usize) -> Result<Array> {
        axis_order::kept_along(slice::from_ref(array), axis, AxisRole::Any, |arrays, axis| {
            self.recorded_of(&arrays[0], |array| {
                self.along(WorkSize::Elements(array.size()), array).scan(op, array, axis)
            })
        })
    }

    /// The elements of each row along an axis in ascending order (`ir::Form::Sort`).
    ///
    /// # Errors
    /// - `Index`: there is no such axis.
    pub fn sort(&self, array: &Array, axis: usize) -> Result<Array> {
        axis_order::kept_along(slice::from_ref(array), axis, AxisRole::OrNone, |arrays, axis| {
            self.recorded_of(&arrays[0], |array| {
                self.along(WorkSize::Sorted(array.size()), array).sort(array, axis)
            })
        })
    }

    /// The positions, int32, that put each row along an axis in the order of `sort`.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32.
    pub fn argsort(&self, array: &Array, axis: usize) -> Result<Array> {
        self.recorded_of(array, |array| {
            self.along(WorkSize::Sorted(array.size()), array).argsort(array, axis)
        })
    }

    /// The positions, int64, that put each row along an axis in the order of the last key, equal ones in that of the
    /// key before it, and so on; `None` where these are not few elements in host memory.
    pub fn order_eagerly(&self, keys: &[&Array], axis: usize) -> Option<Array> {
        self.inner.dispatch.order(keys, axis)
    }

    /// The place along an axis, int32, of the first element that `op` (the minimum or maximum) gives of
    /// each row, where the first NaN wins; the axis stays, with one element.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32. `Shape`: the rows have no
    ///   elements. `DType`: the operation does not reduce this dtype.
    pub fn place(&self, op: Op, array: &Array, axis: usize) -> Result<Array> {
        let dispatch = &self.inner.dispatch;
        self.recorded_of(array, |array| match dispatch.places(op, array, axis) {
            Some(places) => Ok(places),
            None => dispatch.recorder().place(op, array, axis),
        })
    }

    /// The place in C order of the first of all elements that `op` (the minimum or maximum) gives, where the first NaN
    /// wins, found eagerly; `None` where these are not few elements in host memory.
    pub fn place_of_extreme_eagerly(&self, op: Op, array: &Array) -> Option<usize> {
        self.inner.dispatch.place(op, array)
    }

    /// The coordinates, int64, of elements that are not zero: a row for each of them, in C order, with a number for
    /// each axis; `None` where these are not few elements in host memory.
    pub fn nonzero_eagerly(&self, array: &Array) -> Option<Array> {
        self.inner.dispatch.nonzero(array)
    }

    /// How many elements of a mask are true; `None` where they are not in host memory, side by side.
    pub fn count_true(&self, mask: &Array) -> Option<usize> {
        self.inner.dispatch.count_true(mask)
    }

    /// The matrix product of stacks of matrices, `(…, m, k)` and `(…, k, n)`, whose stacks broadcast
    /// (`ir::Form::MatMul`).
    ///
    /// # Errors
    /// - `Shape`: the extents do not fit, or an array has fewer than two axes. `DType`: the dtypes
    ///   differ.
    pub fn matmul(&self, left: &Array, right: &Array) -> Result<Array> {
        let dispatch = &self.inner.dispatch;
        let args = [ArrayOrScalar::Array(left), ArrayOrScalar::Array(right)];
        if left.ndim() > 1 && right.ndim() > 1 {
            if let Some(product) = dispatch.product(left, right) {
                return Ok(product);
            }
            if self.promote_often_read(&args)?
                && let Some(product) = dispatch.product(left, right)
            {
                return Ok(product);
            }
        }
        self.recorded(&args, |args| {
            let (left, right) = match args {
                [ArrayOrScalar::Array(left), ArrayOrScalar::Array(right)] => (*left, *right),
                _ => (left, right),
            };
            let extents = ProductExtents::of(left.shape(), right.shape());
            let by = match extents.as_ref().is_some_and(ProductExtents::have_few_results) {
                true if !self.computes_in_host_memory() => ProductsBy::Reduction,
                true if lacks_room(left) || lacks_room(right) => ProductsBy::Reduction,
                _ => ProductsBy::Library,
            };
            let work = extents.map_or(WorkSize::Products(0), |extents| extents.work());
            dispatch.recorder_of(work, args, &[]).matmul(left, right, by)
        })
    }

    /// A routine of an array: a row of the table of library operations.
    ///
    /// # Errors
    /// - `DType`: the routine does not take the dtype. `Shape`: the array has other extents than the call.
    pub fn routine(&self, call: RoutineCall, array: &Array) -> Result<Array> {
        let arrays = slice::from_ref(array);
        axis_order::kept_along(arrays, call.axis(), AxisRole::OrNone, |arrays, axis| {
            let call = call.along(axis);
            self.recorded_of(&arrays[0], |array| {
                let work = WorkSize::of_routine(&call, array.size());
                self.along(work, array).routine(call, array)
            })
        })
    }

    /// An array whose elements are all `scalar`. Few elements take memory at once; many, when
    /// something needs them.
    ///
    /// # Errors
    /// - `Shape`: there would be more elements than positions.
    pub fn full(&self, shape: &[usize], scalar: Scalar) -> Result<Array> {
        let len = checked_size(shape)?;
        match self.inner.dispatch.filled(shape, len, scalar) {
            Some(array) => Ok(array),
            None => Array::full(shape, scalar),
        }
    }

    /// Rows of few elements in host memory, by an index array along the first axis or a mask of the
    /// leading axes; `None` where `fancy_index` has to find them.
    pub fn take_rows_eagerly(&self, array: &Array, index: &Array) -> Option<Array> {
        self.inner.dispatch.picked(array, index)
    }

    /// Writes a scalar, or elements one after another, where a mask of the same shape is true, if these are few
    /// elements of the base's own; false, with nothing done, for others, and if the source does not fit.
    pub fn write_masked(&self, array: &Array, mask: &Array, source: ArrayOrScalar<'_>) -> bool {
        self.inner.dispatch.write_masked(array, mask, &source).is_some()
    }

    /// Writes a scalar, or rows one after another, to the rows that an index array names along the first axis, if these
    /// are few elements of the base's own; false, with nothing done, for others, if an index is outside, and if the
    /// source does not fit.
    pub fn write_picked(&self, array: &Array, index: &Array, source: ArrayOrScalar<'_>) -> bool {
        self.inner.dispatch.write_picked(array, index, &source).is_some()
    }

    /// Writes the bytes of one element of the array's dtype at a position of the base, if the elements are the base's
    /// own; false, with nothing done, where `assign` has to do it.
    pub fn write_element(&self, array: &Array, position: isize, element: &[u8]) -> bool {
        host_moves::write_element(array, position, element)
    }

    /// A new base with the same elements, in C order.
    ///
    /// # Errors
    /// - `Disposed`: the array has none any more.
    pub fn copy(&self, array: &Array) -> Result<Array> {
        let dispatch = &self.inner.dispatch;
        match dispatch.copy(array) {
            Some(copied) => Ok(copied),
            None => self.recorded_of(array, |array| dispatch.recorder().copy(array)),
        }
    }

    /// A new base with the same elements, whose axes lie from the longest stride to the shortest.
    ///
    /// # Errors
    /// - `Disposed`: the array has none any more.
    pub fn copy_by_strides(&self, array: &Array) -> Result<Array> {
        axis_order::kept_by_strides(array, |array| self.copy(array))
    }

    /// A cast by value, whose axes lie from the longest stride to the shortest.
    ///
    /// # Errors
    /// As `apply`.
    pub fn cast_by_strides(&self, array: &Array, dtype: DType) -> Result<Array> {
        axis_order::kept_by_strides(array, |array| self.cast(array, dtype))
    }

    /// A new base with the same elements, whose axes lie in memory as an operation's result does.
    ///
    /// # Errors
    /// - `Disposed`: the array has none any more.
    pub fn copy_as_it_lies(&self, array: &Array) -> Result<Array> {
        axis_order::kept(&[ArrayOrScalar::Array(array)], |args| match args {
            [ArrayOrScalar::Array(moved)] => self.copy(moved),
            _ => self.copy(array),
        })
    }

    /// A constant that lies in memory as the result of an operation on an array would.
    ///
    /// # Errors
    /// - `Shape`: it has too many elements.
    pub fn full_as_it_lies(&self, array: &Array, scalar: Scalar) -> Result<Array> {
        axis_order::kept(&[ArrayOrScalar::Array(array)], |args| match args {
            [ArrayOrScalar::Array(moved)] => Array::full(moved.shape(), scalar),
            _ => Array::full(array.shape(), scalar),
        })
    }

    /// Writes into a view, with broadcasting. The source is read as it is before the write.
    ///
    /// # Errors
    /// - `Shape`, `DType`: the source does not fit. The destination is unchanged then.
    pub fn assign(&self, dest: &Array, source: ArrayOrScalar<'_>) -> Result<()> {
        if let ArrayOrScalar::Array(same) = source
            && same.shows_what(dest)
        {
            // `a[1:] += 1` ends with writing what was written.
            return same.check_there();
        }
        let dispatch = &self.inner.dispatch;
        if dispatch.write(dest, &source).is_some() {
            return Ok(());
        }
        let given = source;
        let source = source_of(dest, given)?;
        if dest.size() == 0 {
            return Ok(());
        }
        let mut left = source;
        // Other threads may pin the base, or let go of it, at any time.
        loop {
            if dest.is_shown() {
                match self.write_pinned(dest, &left)? {
                    true => return Ok(()),
                    false => continue,
                }
            }
            if let Some(dtype_view) = dest.dtype_view()
                && let Some((target, source)) = dtype_view.through(dest, given)?
            {
                return self.assign(&target, ArrayOrScalar::Array(&source));
            }
            if dispatch.computes() {
                self.promote_for_write(dest, &left)?;
            }
            left = match self.put_operand(dest, left)? {
                PutOutcome::Done(recorded) => return self.bound_written(dest, recorded.as_ref()),
                PutOutcome::Pinned(source) => source,
            };
        }
    }

    /// Writes an array into a view, and evaluates nothing, however much is pending; false, with nothing done,
    /// where the base is pinned.
    ///
    /// # Errors
    /// As `assign`.
    pub(crate) fn put_value(&self, dest: &Array, source: &Array) -> Result<bool> {
        let source = source_of(dest, ArrayOrScalar::Array(source))?;
        self.put_operand(dest, source).map(|put| matches!(put, PutOutcome::Done(_)))
    }

    /// Puts an operand in the place of what a view shows.
    fn put_operand(&self, dest: &Array, source: Operand) -> Result<PutOutcome> {
        let (mut current, dispatch) = (dest.current(), &self.inner.dispatch);
        let mut recorded = None;
        if !dispatch.write_operand(&mut current, dest, &source) {
            let Some(value) = current.value_mut()? else { return Ok(PutOutcome::Pinned(source)) };
            let empty = Value::constant(&[], Scalar::zero(dest.dtype()));
            let old = std::mem::replace(value, empty);
            *value = dispatch.assigning(dest).assigned(old, dest, source);
            recorded = Some(value.clone());
        }
        current.version += 1;
        if let Some(dtype_view) = dest.dtype_view()
            && !dtype_view.pass_on(&mut current)?
        {
            // The dtype view has its old elements again, and its whole is written in the next turn.
            let written = Array::with_view(current.value()?, dest.layout().clone());
            drop(current);
            return written.operand(dest.shape()).map(PutOutcome::Pinned);
        }
        Ok(PutOutcome::Done(recorded))
    }
}

/// It takes a wait, or is an error.
struct Postponed;

/// The outcome of putting an operand into a view.
enum PutOutcome {
    /// It is there; this is the base's new value, where the write was recorded.
    Done(Option<Value>),
    /// It is not, as the base is pinned: its elements have to be written where they lie.
    Pinned(Operand),
}
