//! Functions on rows for the operations that reduce.
//!
//! Owns [`reducing`]: it calls a [`RowFnMaker`] with the closure that combines two elements; and [`accumulate`], the
//! simplest of its functions. Not here: the other makers.

use super::complex_rows;
use super::row_fn::{RowFn, RowFnMaker};
use super::row_loops::{Accumulate, AccumulateThree, best};
use gpupy_core::op_eval::element::{Element, Stored};
use gpupy_core::op_eval::table::{Combiner, combine};
use gpupy_core::{DType, Op};

/// The operation that combines each element of the results with the operand's, for operations that reduce
/// (`Op::reduces`); the result is its left operand.
pub fn accumulate(op: Op, dtype: DType) -> Option<RowFn> {
    reducing(op, dtype, Accumulating)
}

/// Combines the elements of three operands into the results, from the first to the last; otherwise like
/// [`accumulate`].
pub fn accumulate_three(op: Op, dtype: DType) -> Option<RowFn> {
    reducing(op, dtype, AccumulatingThree)
}

/// Calls the maker with an operation, if it reduces elements of the dtype.
pub fn reducing<M: RowFnMaker>(op: Op, dtype: DType, maker: M) -> Option<M::Out> {
    match dtype {
        _ if !op.reduces(dtype) => None,
        DType::C64 | DType::C128 => complex_rows::combine(op, dtype, maker),
        _ => combine(op, dtype, OfTable(maker)),
    }
}

/// A maker for the elements of the operation table.
struct OfTable<M>(M);

impl<M: RowFnMaker> Combiner for OfTable<M> {
    type Out = M::Out;

    fn combine<A: Element, F: Fn(A, A) -> A + Copy + 'static>(self, f: F) -> M::Out {
        self.0.make(f)
    }
}

/// Makes functions that accumulate.
struct Accumulating;

impl RowFnMaker for Accumulating {
    type Out = RowFn;
    fn make<A: Stored, F: Fn(A, A) -> A + Copy + 'static>(self, _: F) -> RowFn {
        best::<Accumulate<A, F>>()
    }
}

/// Makes functions that accumulate three operands.
struct AccumulatingThree;

impl RowFnMaker for AccumulatingThree {
    type Out = RowFn;
    fn make<A: Stored, F: Fn(A, A) -> A + Copy + 'static>(self, _: F) -> RowFn {
        best::<AccumulateThree<A, F>>()
    }
}
