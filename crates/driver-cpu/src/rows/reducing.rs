//! Functions on rows for the operations that reduce.
//!
//! Owns [`reducing`]: it calls a [`RowFnMaker`] with the closure that combines two elements. Not here: the
//! makers.

use super::complex_rows;
use super::row_fn::RowFnMaker;
use gpupy_core::op_eval::element::Element;
use gpupy_core::op_eval::table::{Combiner, combine};
use gpupy_core::{DType, Op};

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
