//! Recording library operations: scans, sorts, matrix products and routines (the whole-program forms of the IR).
//!
//! Owns the axes that they walk along, how a scan is made of steps, [`ProductsBy`] and [`lacks_room`]. Invariants:
//! operands are views; results lie in C order.
//!
//! Not here: how the values are evaluated (`host_library_op.rs`).

use crate::array::base::{Array, ArrayOrScalar, checked_size};
use crate::graph::deferred::WholeAxisOp;
use crate::graph::library_op::LibraryOp;
use crate::graph::tree_lanes::{Products, folded};
use crate::graph::value::NodeOp;
use crate::memory::host_buffer::{HostBuffer, POOL_BYTES};
use crate::record::recorder::Recorder;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::op::Op;
use gpupy_core::op_eval;
use gpupy_core::routines::RoutineCall;
use gpupy_core::shape::{MAX_RANK, Shape, broadcast_shapes};
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::SmallVec;

/// How products of matrices are recorded that are not few.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProductsBy {
    /// A library operation of its own, by tiles of the result.
    Library,
    /// A reduction, which fuses with what computes its operands: many points, few results.
    Reduction,
}

/// Whether there is no memory for elements that are not computed yet, all of which a library operation needs at once.
pub(crate) fn lacks_room(array: &Array) -> bool {
    let bytes = array.base_len().saturating_mul(array.dtype().size());
    let takes_none = || array.is_pending() || array.constant().is_some() || array.is_outside();
    // Little is asked for in vain so seldom that it is not asked about.
    bytes > POOL_BYTES && takes_none() && HostBuffer::new(bytes).is_err()
}

impl Recorder {
    /// Running results along an axis: element `i` combines the elements up to `i`.
    ///
    /// # Errors
    /// - `Index`: there is no such axis.
    /// - `DType`: the operation does not scan this dtype.
    pub fn scan(&self, op: Op, array: &Array, axis: usize) -> Result<Array> {
        let dtype = array.dtype();
        let start = identity(op, dtype).filter(|_| op.reduces(dtype)).ok_or_else(|| {
            Error::new(ErrorKind::DType, "scan")
                .says("the operation does not scan this dtype")
                .with("operation", op.info().name)
                .with("dtype", dtype)
        })?;
        self.along(WholeAxisOp::Scan { op, axis }, dtype, array, axis, |rows| {
            self.scanned(op, rows, &start)
        })
    }

    /// The elements of each row along an axis in ascending order.
    ///
    /// # Errors
    /// - `Index`: there is no such axis.
    pub fn sort(&self, array: &Array, axis: usize) -> Result<Array> {
        self.along(WholeAxisOp::Sort { axis }, array.dtype(), array, axis, |rows| {
            self.whole(rows.dtype(), rows.shape(), LibraryOp::Sort, &[ArrayOrScalar::Array(rows)])
        })
    }

    /// The positions, int32, that put each row along an axis in ascending order.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32.
    pub fn argsort(&self, array: &Array, axis: usize) -> Result<Array> {
        if array.shape().get(axis).is_some_and(|extent| *extent > i32::MAX as usize) {
            return Err(Error::new(ErrorKind::Index, "argsort")
                .says("the axis is too long for int32")
                .with("axis", axis));
        }
        self.along(WholeAxisOp::ArgSort { axis }, DType::I32, array, axis, |rows| {
            self.whole(DType::I32, rows.shape(), LibraryOp::ArgSort, &[ArrayOrScalar::Array(rows)])
        })
    }

    /// A routine of an array, as many of whose points along the whole axis are read as the call says.
    ///
    /// # Errors
    /// - `DType`: the routine does not take the dtype.
    /// - `Shape`: the array has other extents than the call, or the results too many elements.
    pub fn routine(&self, call: RoutineCall, array: &Array) -> Result<Array> {
        let wrong = |kind, said: &str| Error::new(kind, call.info().name).says(said);
        let dtype = call.routine().result_dtype(array.dtype()).ok_or_else(|| {
            wrong(ErrorKind::DType, "the operation does not take this dtype")
                .with("dtype", array.dtype())
        })?;
        let (axis, points) = (call.axis(), call.points());
        if array.shape().get(axis) != Some(&points.operand) {
            return Err(wrong(ErrorKind::Shape, "the array has other extents than were recorded"));
        }
        let mut shape = Shape::from(array.shape());
        shape[axis] = points.result;
        checked_size(&shape)?;
        let made = || shape.clone();
        if let Some(deferred) =
            self.deferred(|| WholeAxisOp::Routine(call), (dtype, made), &[array])
        {
            return deferred;
        }
        let array = self.shown(array)?;
        self.whole(dtype, &shape, LibraryOp::Routine(call), &[ArrayOrScalar::Array(&array)])
    }

    /// The product of stacks of matrices, `(…, m, k)` and `(…, k, n)`, whose stacks broadcast.
    ///
    /// # Errors
    /// - `Shape`: the extents do not fit, or an array has fewer than two axes.
    /// - `DType`: the dtypes differ.
    pub fn matmul(&self, left: &Array, right: &Array, by: ProductsBy) -> Result<Array> {
        let wrong = |kind, words: &str| Error::new(kind, "matmul").says(words);
        let dtype = left.dtype();
        if right.dtype() != dtype {
            return Err(wrong(ErrorKind::DType, "the matrices' dtypes differ"));
        }
        let (left, right) = (&self.shown(left)?, &self.shown(right)?);
        let ([a @ .., m, k], [b @ .., same, n]) = (left.shape(), right.shape()) else {
            return Err(wrong(ErrorKind::Shape, "a matrix has at least two axes"));
        };
        if k != same {
            let error =
                wrong(ErrorKind::Shape, "the first matrix's rows are not the second's columns");
            return Err(error.with("row", k).with("column", same));
        }
        let mut shape = broadcast_shapes(&[a, b])?;
        shape.extend([*m, *n]);
        checked_size(&shape)?;
        if shape.len() >= MAX_RANK {
            return Err(wrong(ErrorKind::Shape, "a product has at most 63 axes"));
        }
        let product = || shape.clone();
        if let Some(deferred) =
            self.deferred(|| WholeAxisOp::MatMul, (dtype, product), &[left, right])
        {
            return deferred;
        }
        if *k == 0 || shape.contains(&0) {
            // A copy: each element of a result can be written by itself.
            return self.copy(&repeated(dtype, &shape, &vec![0; dtype.size()])?);
        }
        let mut space = shape.clone();
        space.push(*k);
        let rows = left.layout().insert_axis(left.ndim() - 1).broadcast_to(&space)?;
        let mut columns = right.layout().clone();
        let last = columns.shape.len() - 1;
        columns.shape.swap(last - 1, last);
        columns.strides.swap(last - 1, last);
        let columns = columns.insert_axis(last - 1).broadcast_to(&space)?;
        let (rows, columns) = (left.seen_as(rows), right.seen_as(columns));
        let operands = [ArrayOrScalar::Array(&rows), ArrayOrScalar::Array(&columns)];
        let product = NodeOp::Whole(LibraryOp::MatMul(*k));
        let few = Products::are_few(&shape, *k);
        if !few && Products::are_dots(&shape, *k) {
            return self.reduced_products(&rows, &columns);
        }
        if !few && by == ProductsBy::Library {
            return self.array(dtype, &shape, product, &operands);
        }
        // Little work takes the library's one launch, whatever the device.
        match self.computed(dtype, &shape, &product, &operands) {
            Some(product) => Ok(product),
            None if few => self.few_products(&rows, &columns, *k),
            None => self.reduced_products(&rows, &columns),
        }
    }

    /// The sum of few products, whose pairs of factors lie along the last axis.
    fn few_products(&self, left: &Array, right: &Array, count: usize) -> Result<Array> {
        let (dtype, last) = (left.dtype(), left.ndim() - 1);
        let term = |k: usize| {
            let [left, right] = [left, right].map(|side| side.index_axis(last, k));
            self.multiplied(&left, &right)
        };
        let terms = (0..count).map(term).collect::<Result<Vec<Array>>>()?;
        let add = Products::of(dtype).add;
        let both = |term, with| {
            self.apply(add, &[ArrayOrScalar::Array(&term), ArrayOrScalar::Array(&with)])
        };
        let sum = folded(terms, both)?.unwrap_or_else(|| left.clone());
        self.narrowed(sum, dtype)
    }

    /// The sums of any number of products, likewise.
    fn reduced_products(&self, left: &Array, right: &Array) -> Result<Array> {
        let (dtype, last) = (left.dtype(), left.ndim() - 1);
        let products = self.multiplied(left, right)?;
        let sums = self.reduce(Products::of(dtype).add, &products, &[last], false)?;
        self.narrowed(sums, dtype)
    }

    /// The products of factors, in the dtype in which they are summed.
    fn multiplied(&self, left: &Array, right: &Array) -> Result<Array> {
        let Products { multiply, wide, .. } = Products::of(left.dtype());
        let factor = |side: &Array| match side.dtype() == wide {
            true => Ok(side.clone()),
            false => self.convert(Op::Cast, &[ArrayOrScalar::Array(side)], wide),
        };
        let [left, right] = [factor(left)?, factor(right)?];
        self.apply(multiply, &[ArrayOrScalar::Array(&left), ArrayOrScalar::Array(&right)])
    }

    /// Sums of products, in the dtype of their factors.
    fn narrowed(&self, sums: Array, dtype: DType) -> Result<Array> {
        match sums.dtype() == dtype {
            true => Ok(sums),
            false => self.convert(Op::Cast, &[ArrayOrScalar::Array(&sums)], dtype),
        }
    }

    /// Records something along the last axis for another one.
    fn along(
        &self,
        over: WholeAxisOp,
        dtype: DType,
        array: &Array,
        axis: usize,
        record: impl Fn(&Array) -> Result<Array>,
    ) -> Result<Array> {
        let rank = array.ndim();
        if axis >= rank {
            return Err(Error::new(ErrorKind::Index, over.name())
                .says("there is no such axis")
                .with("axis", axis));
        }
        let shape = || array.shape().into();
        if let Some(deferred) = self.deferred(|| over, (dtype, shape), &[array]) {
            return deferred;
        }
        // The axis goes behind the others; and comes back.
        let there: SmallVec<[usize; 4]> = (0..rank).filter(|a| *a != axis).chain([axis]).collect();
        let back: SmallVec<[usize; 4]> =
            (0..axis).chain([rank - 1]).chain(axis..rank - 1).collect();
        let result = record(&self.shown(array)?.transpose(&there))?.transpose(&back);
        // Results lie in C order, like all recorded values; their readers may fuse the copy.
        if result.is_contiguous() { Ok(result) } else { self.copy(&result) }
    }

    /// Running results along the last axis, each chunk from the result of those before it.
    fn scanned(&self, op: Op, rows: &Array, identity: &[u8]) -> Result<Array> {
        let dtype = rows.dtype();
        let mut shape = Shape::from(rows.shape());
        let Some((n, outer)) = rows.shape().split_last().filter(|_| rows.size() > 0) else {
            return Array::from_bytes(dtype, rows.shape(), &[]);
        };
        let chunks = n.div_ceil(REDUCE_CHUNK);
        let last = outer.len();
        shape[last] = 1;
        let first = repeated(dtype, &shape, identity)?;
        let starts = if chunks == 1 {
            first
        } else {
            shape[last] = chunks;
            let step = NodeOp::Reduce { op, n: *n };
            let totals = self.array(dtype, &shape, step, &[ArrayOrScalar::Array(rows)])?;
            let ends = self.scanned(op, &totals, identity)?;
            self.join(last, &[first, ends.slice_axis(last, 0, chunks - 1, 1)])?
        };
        let operands = [ArrayOrScalar::Array(rows), ArrayOrScalar::Array(&starts)];
        self.whole(dtype, rows.shape(), LibraryOp::Scan(op), &operands)
    }

    fn whole(
        &self,
        dtype: DType,
        shape: &[usize],
        whole: LibraryOp,
        operands: &[ArrayOrScalar<'_>],
    ) -> Result<Array> {
        if shape.contains(&0) {
            return Array::from_bytes(dtype, shape, &[]);
        }
        self.array(dtype, shape, NodeOp::Whole(whole), operands)
    }
}

/// An array of one element again and again, by its bytes: complex numbers too.
fn repeated(dtype: DType, shape: &[usize], element: &[u8]) -> Result<Array> {
    let ones: Shape = SmallVec::from_elem(1, shape.len());
    Array::from_bytes(dtype, &ones, element)?.broadcast_to(shape)
}

/// The left identity of an operation, if it has one.
fn identity(op: Op, dtype: DType) -> Option<Vec<u8>> {
    let size = dtype.size();
    let complex = matches!(dtype, DType::C64 | DType::C128);
    let number = |x: f64| {
        let number = op_eval::eval(Op::Cast, dtype, &[Scalar::f64(x)])?;
        Some(number.bytes()[..size].to_vec())
    };
    let signed = dtype.is_signed_int();
    // The greatest integer and the least; of bool, true and false.
    let ends = |low: bool| {
        let mut bytes = vec![if low { 0 } else { 0xff }; size];
        if dtype == DType::Bool && !low {
            bytes[0] = 1;
        }
        if signed {
            bytes[size - 1] = if low { 0x80 } else { 0x7f };
        }
        bytes
    };
    Some(match op {
        // Only the negative zero leaves both zeros as they are.
        Op::Add if complex => {
            let part = if size == 8 {
                (-0f32).to_le_bytes().to_vec()
            } else {
                (-0f64).to_le_bytes().to_vec()
            };
            part.repeat(2)
        }
        Op::Add if dtype.is_float() => number(-0.0)?,
        Op::Mul if dtype.is_float() => number(1.0)?,
        Op::Min if dtype.is_float() => number(f64::INFINITY)?,
        Op::Max if dtype.is_float() => number(f64::NEG_INFINITY)?,
        // One times a complex number is not that number where a part is infinite.
        _ if complex => return None,
        Op::Add | Op::Or | Op::Xor => vec![0; size],
        Op::Mul => {
            let mut bytes = vec![0; size];
            bytes[0] = 1;
            bytes
        }
        Op::Min => ends(false),
        Op::Max => ends(true),
        Op::And if dtype == DType::Bool => vec![1],
        Op::And => vec![0xff; size],
        _ => return None,
    })
}
