//! Argmin and argmax: the position of the least or greatest element along an axis.
//!
//! Owns their recording, as reductions of positions. Invariant: the first NaN wins, otherwise the first of equal
//! extremes; so the position is exact on every driver.
//!
//! Not here: min and max (`reduction_recording.rs`), the search in few elements (`eager/small_argmin.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::graph::deferred::WholeAxisOp;
use crate::graph::value::NodeOp;
use crate::record::recorder::Recorder;
use crate::thresholds::T;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::SmallVec;

impl Recorder {
    /// The place along an axis, an int32, of the first element that `op` (the minimum or maximum) gives
    /// of each row; the axis stays, with one element.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for int32.
    /// - `Shape`: the rows have no elements.
    /// - `DType`: the operation does not reduce this dtype.
    pub fn place(&self, op: Op, array: &Array, axis: usize) -> Result<Array> {
        let rank = array.ndim();
        if array.shape().get(axis).is_none_or(|extent| *extent > i32::MAX as usize) {
            return Err(Error::new(ErrorKind::Index, "place")
                .says("there is no such axis, or it is too long for int32")
                .with("axis", axis));
        }
        let kept = || {
            let mut kept = Shape::from(array.shape());
            kept[axis] = 1;
            kept
        };
        if op.reduces(array.dtype())
            && array.shape()[axis] > 0
            && let Some(deferred) =
                self.deferred(|| WholeAxisOp::Place { op, axis }, (DType::I32, kept), &[array])
        {
            return deferred;
        }
        let last = rank - 1;
        let there: SmallVec<[usize; 4]> = (0..rank).filter(|a| *a != axis).chain([axis]).collect();
        let back: SmallVec<[usize; 4]> = (0..axis).chain([last]).chain(axis..last).collect();
        let moved = array.transpose(&there);
        // The reduction's own view of the rows, so that its first step is found again.
        let rows = moved.reshape(moved.shape()).unwrap_or(moved);
        let extreme = self.reduce(op, &rows, &[last], true)?;
        let n = rows.shape()[last];
        let found = if array.constant().is_some() {
            Array::full(extreme.shape(), Scalar::i32(0))?
        } else if n <= T.short_row || array.base_len() > i32::MAX as usize {
            self.first(&rows, &extreme, &self.index(rows.shape(), last)?, n)?
        } else {
            self.place_in_chunks(op, &rows, &extreme)?
        };
        Ok(found.transpose(&back))
    }

    /// The place in the last axis of long rows: first the chunk that has the extreme, then the element.
    fn place_in_chunks(&self, op: Op, rows: &Array, extreme: &Array) -> Result<Array> {
        let last = rows.ndim() - 1;
        let n = rows.shape()[last];
        let mut shape = Shape::from(rows.shape());
        shape[last] = n.div_ceil(REDUCE_CHUNK);
        let step = NodeOp::Reduce { op, n };
        let chunks = self.array(rows.dtype(), &shape, step, &[ArrayOrScalar::Array(rows)])?;
        let chunk = self.first(&chunks, extreme, &self.index(&shape, last)?, shape[last])?;
        let on = |op, a: &Array, b: i32| {
            self.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(Scalar::i32(b))])
        };
        let sum = |a: &Array, b: &Array| {
            self.apply(Op::Add, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)])
        };
        let start = on(Op::Mul, &chunk, REDUCE_CHUNK as i32)?;
        let inside = sum(&start, &self.index(&[REDUCE_CHUNK], 0)?)?;
        let place = on(Op::Min, &inside, n as i32 - 1)?;
        // Their positions in the base.
        let view = rows.layout();
        let mut at = on(Op::Mul, &place, view.strides[last] as i32)?;
        at = on(Op::Add, &at, view.offset as i32)?;
        for axis in (0..last).filter(|axis| view.shape[*axis] > 1) {
            let line = self.index(&[view.shape[axis]], 0)?;
            let mut moved = on(Op::Mul, &line, view.strides[axis] as i32)?;
            for _ in axis..last {
                moved = moved.insert_axis(moved.ndim());
            }
            at = sum(&at, &moved)?;
        }
        self.first(&self.gather(rows, &at)?, extreme, &place, n)
    }

    /// The least of the numbers, which are below `n`, whose elements are the extreme or NaN: one element at least is.
    /// The others count as the last number, so that the place is known to be in the row before it is computed.
    fn first(&self, rows: &Array, extreme: &Array, numbers: &Array, n: usize) -> Result<Array> {
        let mut found =
            self.apply(Op::Eq, &[ArrayOrScalar::Array(rows), ArrayOrScalar::Array(extreme)])?;
        if rows.dtype().is_float() {
            let nan = self.apply(Op::IsNan, &[ArrayOrScalar::Array(rows)])?;
            found =
                self.apply(Op::Or, &[ArrayOrScalar::Array(&found), ArrayOrScalar::Array(&nan)])?;
        }
        let last = ArrayOrScalar::Scalar(Scalar::i32(n as i32 - 1));
        let numbers = self.apply(
            Op::Select,
            &[ArrayOrScalar::Array(&found), ArrayOrScalar::Array(numbers), last],
        )?;
        debug_assert_eq!(numbers.dtype(), DType::I32);
        self.reduce(Op::Min, &numbers, &[rows.ndim() - 1], true)
    }
}
