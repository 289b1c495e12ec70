//! The type of functions on rows.
//!
//! Owns [`RowFn`] and [`RowFnMaker`]. Not here: the functions (`row_loops.rs` and its neighbours).

use gpupy_core::op_eval::element::Stored;

/// An operation on rows: the first argument is the row of results, the second the operands, and the third the
/// number of elements, at least 1.
///
/// Rows need no alignment. The results may be one of the operands' rows, but may not overlap it partly.
///
/// # Safety
/// Every row has that many elements; a scalar operand has one.
pub type RowFn = unsafe fn(*mut u8, [*const u8; 3], usize);

/// Makes functions from a closure that combines two elements.
pub trait RowFnMaker {
    type Out;
    fn make<A: Stored, F: Fn(A, A) -> A + Copy + 'static>(self, f: F) -> Self::Out;
}
