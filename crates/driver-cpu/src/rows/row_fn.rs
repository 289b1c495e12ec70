//! Functions on rows.
//!
//! Owns [`RowFn`] and [`RowFnMaker`]. Not here: functions (`row_loops.rs` and its neighbours).

use gpupy_core::op_eval::element::Stored;

/// An operation on rows: results go to the first argument, operands come from the second, and the
/// third is how many elements there are, at least 1.
///
/// Rows need no alignment. Results and an operand may be the same row, but then not partly.
///
/// # Safety
/// Every row has that many elements; a scalar operand has one.
pub type RowFn = unsafe fn(*mut u8, [*const u8; 3], usize);

/// Makes functions of what combines two elements.
pub trait RowFnMaker {
    type Out;
    fn make<A: Stored, F: Fn(A, A) -> A + Copy + 'static>(self, f: F) -> Self::Out;
}
