//! A launch of a routine.
//!
//! Owns [`RoutineLaunch`]. Not here: the driver's method of each routine (`mod.rs`).

use crate::traversal::iteration_space::StridedAccess;
use gpupy_core::DType;
use gpupy_core::routines::RoutineCall;

/// A launch of a routine, whose operand and result have the launch's axes.
pub struct RoutineLaunch<'a> {
    pub call: RoutineCall,
    /// The results' extents.
    pub shape: &'a [usize],
    /// The dtype of the operand.
    pub dtype: DType,
    pub read: StridedAccess<'a>,
    pub dest: StridedAccess<'a>,
}

// SAFETY: threads write different elements and read none that is written; the core does not touch any
// of them until the evaluation returns.
unsafe impl Sync for RoutineLaunch<'_> {}
