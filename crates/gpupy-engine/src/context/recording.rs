//! What a front end records: operations on arrays, writes into them, copies.
//!
//! Owns the recording methods of [`Context`]. Each is the recorder's, or is computed at once; what is recorded
//! is evaluated where too much is pending behind it. Invariant: what fails leaves every array as it was.
//!
//! Not here: what recorded operations become (`record/`), what is computed at once (`at_once.rs`), reading
//! (`read.rs`).

use super::Context;
use crate::array::base::{Arg, Array, checked_size};
use crate::array::order::{self, Steps};
use crate::eager::masked;
use crate::eager::{in_memory, indexed};
use crate::graph::value::{Operand, Value};
use crate::memory::little::is_little;
use crate::record::extreme;
use crate::record::recorder::source_of;
use gpupy_core::op::Op;
use gpupy_core::{DType, Result, Scalar};
use std::slice;

/// The most elements of a constant that take memory at once.
const FEW: usize = 1 << 10;

impl Context {
    /// The coordinate of each element along `axis`, an int32; computed where it is used.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32.
    /// - `Shape`: there would be more elements than positions.
    pub fn index(&self, shape: &[usize], axis: usize) -> Result<Array> {
        self.inner.recorder.index(shape, axis)
    }

    /// A scalar operation on operands that broadcast; records only.
    ///
    /// # Errors
    /// - `Shape`, `DType`: the operands do not fit.
    /// - any error of an evaluation, when so much was pending that it had to run.
    pub fn apply(&self, op: Op, args: &[Arg<'_>]) -> Result<Array> {
        let recorder = &self.inner.recorder;
        let at_once = |args: &[Arg<'_>]| recorder.at_once.apply(op, DType::Bool, args);
        order::kept(args, |args| match at_once(args) {
            Some(array) => Ok(array),
            None => match self.ripen(args)?.then(|| at_once(args)).flatten() {
                Some(array) => Ok(array),
                None => self.recorded(args, |args| recorder.apply(op, args)),
            },
        })
    }

    /// The result of a scalar operation that is computed at once, on few elements in host memory.
    /// `None` where that is too much or not so.
    pub fn at_once(&self, op: Op, args: &[Arg<'_>]) -> Option<Array> {
        let at_once = &self.inner.recorder.at_once;
        order::kept(args, |args| at_once.apply(op, DType::Bool, args).ok_or(())).ok()
    }

    /// The product of two vectors of one real dtype that is computed at once. `None` as of `at_once`, and
    /// where the vectors are none, or differ.
    pub fn dot_at_once(&self, left: &Array, right: &Array) -> Option<Scalar> {
        self.inner.recorder.at_once.dot(left, right)
    }

    /// Puts the result of a scalar operation, computed at once, where an array shows elements that nobody
    /// but its base has; false, with nothing done, where it is not so.
    pub fn update_at_once(&self, op: Op, args: &[Arg<'_>], dest: &Array) -> bool {
        self.inner.recorder.at_once.update(op, args, dest).is_some()
    }

    /// Integers to a power, which wrap.
    ///
    /// # Errors
    /// - `DType`: they are no integers. Otherwise as `apply`.
    pub fn integer_power(&self, array: &Array, exponent: u64) -> Result<Array> {
        order::kept(&[Arg::Array(array)], |args| {
            let array = if let [Arg::Array(moved)] = args { moved } else { array };
            self.recorded_of(array, |array| self.inner.recorder.integer_power(array, exponent))
        })
    }

    /// Arrays one behind the other along an axis; a view of each is read where it is needed.
    ///
    /// # Errors
    /// - `Shape`, `Index`, `DType`: the arrays or the axis do not fit.
    pub fn join(&self, axis: usize, arrays: &[Array]) -> Result<Array> {
        let recorder = &self.inner.recorder;
        order::kept_along(arrays, axis, Steps::OrNone, |arrays, axis| {
            self.recorded_of_all(arrays, |arrays| recorder.join(axis, arrays))
        })
    }

    /// A cast by value.
    ///
    /// # Errors
    /// As `apply`.
    pub fn cast(&self, array: &Array, dtype: DType) -> Result<Array> {
        let recorder = &self.inner.recorder;
        if array.dtype() == dtype {
            return self.copy_as_it_lies(array);
        }
        order::kept(&[Arg::Array(array)], |args| {
            match recorder.at_once.apply(Op::Cast, dtype, args) {
                Some(array) => Ok(array),
                None => self.recorded(args, |args| recorder.convert(Op::Cast, args, dtype)),
            }
        })
    }

    /// A reduction over distinct axes by the canonical tree.
    ///
    /// # Errors
    /// - `Shape`: nothing to reduce. `DType`: the operation does not reduce this dtype.
    pub fn reduce(&self, op: Op, array: &Array, axes: &[usize], keepdims: bool) -> Result<Array> {
        if axes.len() == array.ndim()
            && !keepdims
            && let Some(reduced) = self.inner.recorder.at_once.whole(op, array)
        {
            return Ok(reduced);
        }
        self.ripen(&[Arg::Array(array)])?;
        let recorder = &self.inner.recorder;
        order::kept_but(array, axes, keepdims, |array, axes| {
            self.recorded_of(array, |array| recorder.reduce(op, array, axes, keepdims))
        })
    }

    /// Running results along an axis: element `i` combines the elements up to `i`, chunk by chunk
    /// (`ir::Form::Scan`).
    ///
    /// # Errors
    /// - `Index`: there is no such axis. `DType`: the operation does not scan this dtype.
    pub fn scan(&self, op: Op, array: &Array, axis: usize) -> Result<Array> {
        order::kept_along(slice::from_ref(array), axis, Steps::Any, |arrays, axis| {
            self.recorded_of(&arrays[0], |array| self.inner.recorder.scan(op, array, axis))
        })
    }

    /// The elements of each row along an axis in ascending order (`ir::Form::Sort`).
    ///
    /// # Errors
    /// - `Index`: there is no such axis.
    pub fn sort(&self, array: &Array, axis: usize) -> Result<Array> {
        order::kept_along(slice::from_ref(array), axis, Steps::OrNone, |arrays, axis| {
            self.recorded_of(&arrays[0], |array| self.inner.recorder.sort(array, axis))
        })
    }

    /// The positions, int32, that put each row along an axis in the order of `sort`.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32.
    pub fn argsort(&self, array: &Array, axis: usize) -> Result<Array> {
        self.recorded_of(array, |array| self.inner.recorder.argsort(array, axis))
    }

    /// The place along an axis, int32, of the first element that `op` (the minimum or maximum) gives of
    /// each row, where the first NaN wins; the axis stays, with one element.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32. `Shape`: the rows have no
    ///   elements. `DType`: the operation does not reduce this dtype.
    pub fn place(&self, op: Op, array: &Array, axis: usize) -> Result<Array> {
        self.recorded_of(array, |array| self.inner.recorder.place(op, array, axis))
    }

    /// The place in C order of the first of all elements that `op` (the minimum or maximum) gives, where the first NaN
    /// wins, found at once; `None` where these are not few elements in host memory.
    pub fn place_at_once(&self, op: Op, array: &Array) -> Option<usize> {
        let allowed = self.inner.recorder.at_once.is_allowed();
        allowed.then(|| extreme::place_of_all(op, array)).flatten()
    }

    /// The matrix product of stacks of matrices, `(…, m, k)` and `(…, k, n)`, whose stacks broadcast
    /// (`ir::Form::MatMul`).
    ///
    /// # Errors
    /// - `Shape`: the extents do not fit, or an array has fewer than two axes. `DType`: the dtypes
    ///   differ.
    pub fn matmul(&self, left: &Array, right: &Array) -> Result<Array> {
        let args = [Arg::Array(left), Arg::Array(right)];
        self.ripen(&args)?;
        self.recorded(&args, |args| match args {
            [Arg::Array(left), Arg::Array(right)] => self.inner.recorder.matmul(left, right),
            _ => self.inner.recorder.matmul(left, right),
        })
    }

    /// An array whose elements are all `scalar`. Few elements take memory at once; many, when
    /// something needs them.
    ///
    /// # Errors
    /// - `Shape`: there would be more elements than positions.
    pub fn full(&self, shape: &[usize], scalar: Scalar) -> Result<Array> {
        let len = checked_size(shape)?;
        let few = self.inner.recorder.at_once.is_allowed() && len <= FEW;
        match few.then(|| in_memory::filled(shape, scalar)).flatten() {
            Some(array) => Ok(array),
            None => Array::full(shape, scalar),
        }
    }

    /// Rows of few elements in host memory, by an index array along the first axis or a mask of the
    /// leading axes; `None` where `pick` has to find them.
    pub fn picked_at_once(&self, array: &Array, index: &Array) -> Option<Array> {
        if !self.inner.recorder.at_once.is_allowed() {
            return None;
        }
        match index.dtype() {
            DType::Bool => masked::selected(array, index),
            _ => indexed::picked(array, index),
        }
    }

    /// Writes a scalar, or elements one after another, where a mask of the same shape is true, if these
    /// are few elements that nobody else has; false, with nothing done, where it is not so, or what is
    /// written does not fit.
    pub fn write_masked(&self, array: &Array, mask: &Array, source: Arg<'_>) -> bool {
        self.inner.recorder.at_once.is_allowed() && masked::write(array, mask, &source).is_some()
    }

    /// Writes a scalar, or rows one after another, to the rows that an index array names along the first axis, if these
    /// are few elements that nobody else has; false, with nothing done, where it is not so, one lies outside, or what is
    /// written does not fit.
    pub fn write_picked(&self, array: &Array, index: &Array, source: Arg<'_>) -> bool {
        self.inner.recorder.at_once.is_allowed() && indexed::write(array, index, &source).is_some()
    }

    /// Writes one element at a position of the base, if nobody else has the base's elements; false,
    /// with nothing done, where `assign` has to do it.
    pub fn write_element(&self, array: &Array, position: isize, element: Scalar) -> bool {
        in_memory::write_element(array, position, element)
    }

    /// A new base with the same elements, in C order.
    ///
    /// # Errors
    /// - `Disposed`: the array has none any more.
    pub fn copy(&self, array: &Array) -> Result<Array> {
        let recorder = &self.inner.recorder;
        match recorder.copy_at_once(array) {
            Some(copied) => Ok(copied),
            None => self.recorded_of(array, |array| recorder.copy(array)),
        }
    }

    /// A new base with the same elements, whose axes lie from the longest stride to the shortest.
    ///
    /// # Errors
    /// - `Disposed`: the array has none any more.
    pub fn copy_by_strides(&self, array: &Array) -> Result<Array> {
        order::kept_by_strides(array, |array| self.copy(array))
    }

    /// A cast by value, whose axes lie from the longest stride to the shortest.
    ///
    /// # Errors
    /// As `apply`.
    pub fn cast_by_strides(&self, array: &Array, dtype: DType) -> Result<Array> {
        order::kept_by_strides(array, |array| self.cast(array, dtype))
    }

    /// A new base with the same elements, whose axes lie in memory as an operation's result does.
    ///
    /// # Errors
    /// - `Disposed`: the array has none any more.
    pub fn copy_as_it_lies(&self, array: &Array) -> Result<Array> {
        order::kept(&[Arg::Array(array)], |args| match args {
            [Arg::Array(moved)] => self.copy(moved),
            _ => self.copy(array),
        })
    }

    /// A constant that lies in memory as the result of an operation on an array would.
    ///
    /// # Errors
    /// - `Shape`: it has too many elements.
    pub fn full_as_it_lies(&self, array: &Array, scalar: Scalar) -> Result<Array> {
        order::kept(&[Arg::Array(array)], |args| match args {
            [Arg::Array(moved)] => Array::full(moved.shape(), scalar),
            _ => Array::full(array.shape(), scalar),
        })
    }

    /// Writes into a view, with broadcasting. The source is read as it is before the write.
    ///
    /// # Errors
    /// - `Shape`, `DType`: the source does not fit. The destination is unchanged then.
    pub fn assign(&self, dest: &Array, source: Arg<'_>) -> Result<()> {
        if let Arg::Array(same) = source
            && same.shows_what(dest)
        {
            // `a[1:] += 1` ends with writing what was written.
            return same.check_there();
        }
        let small = self.inner.recorder.at_once.is_allowed();
        if small && in_memory::write_own(dest, &source).is_some() {
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
            if dest.is_pinned() {
                match self.write_pinned(dest, &left)? {
                    true => return Ok(()),
                    false => continue,
                }
            }
            if let Some(face) = dest.face()
                && let Some((target, source)) = face.through(dest, given)?
            {
                return self.assign(&target, Arg::Array(&source));
            }
            if small && is_little(dest.size(), dest.base_len()) {
                self.settle(dest, &left)?;
            }
            left = match self.put_operand(dest, left)? {
                Put::Done(replaced) => return self.bound_written(dest, &replaced),
                Put::Pinned(source) => source,
            };
        }
    }

    /// Writes an array into a view, and evaluates nothing, however much is pending; false, with nothing done,
    /// where the base is pinned.
    ///
    /// # Errors
    /// As `assign`.
    pub(crate) fn put_value(&self, dest: &Array, source: &Array) -> Result<bool> {
        let source = source_of(dest, Arg::Array(source))?;
        self.put_operand(dest, source).map(|put| matches!(put, Put::Done(_)))
    }

    /// Puts an operand in the place of what a view shows.
    fn put_operand(&self, dest: &Array, source: Operand) -> Result<Put> {
        let mut current = dest.current();
        let Some(value) = current.value_mut()? else { return Ok(Put::Pinned(source)) };
        if !in_memory::write(value, dest, &source, self.inner.recorder.at_once.is_allowed()) {
            let empty = Value::constant(&[], Scalar::zero(dest.dtype()));
            let old = std::mem::replace(value, empty);
            *value = self.inner.recorder.assigned(old, dest, source);
        }
        let value = value.clone();
        current.version += 1;
        if let Some(face) = dest.face()
            && !face.pass_on(&mut current)?
        {
            drop(current);
            // The face has its old elements again, and its whole is written in the next turn.
            let written = Array::with_view(value, dest.layout().clone());
            return written.operand(dest.shape()).map(Put::Pinned);
        }
        Ok(Put::Done(value))
    }
}

/// What became of an operand that was to be put somewhere.
enum Put {
    /// It is there; this is the base's new value.
    Done(Value),
    /// It is not, as the base is pinned: its elements have to be written where they lie.
    Pinned(Operand),
}
