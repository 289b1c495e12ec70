//! Deferred operations: operations over whole axes of arrays that are being recorded.
//!
//! Owns [`Deferred`]. The steps of a reduction, a scan or a product depend on extents. On open operands, whose extents
//! are unknown, such an operation is recorded as one expression. Its steps are recorded when the extents are known
//! (`record/known_extents.rs`). Invariant: a deferred operation has no elements and is never evaluated.
//!
//! Not here: the steps (`record/reduction_recording.rs`, `record/library_recording.rs`, `record/argmin_recording.rs`).

use gpupy_core::op::Op;
use gpupy_core::routines::RoutineCall;
use gpupy_core::shape::Shape;
use smallvec::SmallVec;

/// An operation over whole axes, and the extents of its operands as they are seen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Deferred {
    pub over: WholeAxisOp,
    pub shapes: SmallVec<[Shape; 2]>,
}

/// An operation over whole axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WholeAxisOp {
    Reduce {
        op: Op,
        axes: SmallVec<[usize; 4]>,
        keepdims: bool,
    },
    Scan {
        op: Op,
        axis: usize,
    },
    /// Where the least or the greatest element of each row stands.
    Place {
        op: Op,
        axis: usize,
    },
    Sort {
        axis: usize,
    },
    ArgSort {
        axis: usize,
    },
    MatMul,
    /// A routine, for the extents that were recorded.
    Routine(RoutineCall),
}

impl WholeAxisOp {
    /// The operation's name.
    pub fn name(&self) -> &'static str {
        match self {
            WholeAxisOp::Reduce { .. } => "reduce",
            WholeAxisOp::Scan { .. } => "scan",
            WholeAxisOp::Place { .. } => "place",
            WholeAxisOp::Sort { .. } => "sort",
            WholeAxisOp::ArgSort { .. } => "argsort",
            WholeAxisOp::MatMul => "matmul",
            WholeAxisOp::Routine(call) => call.info().name,
        }
    }
}
