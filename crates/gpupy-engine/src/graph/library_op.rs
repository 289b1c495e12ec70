//! Library operations as expressions: scans, sorts, matrix products and routines (the whole-program forms of the IR).
//!
//! Owns [`LibraryOp`]: which form, and which operands it reads for which elements.
//!
//! Not here: their evaluation (`execute/host_ops/host_library_op.rs`), how they are recorded
//! (`record/library_recording.rs`).

use crate::memory::tiling::Tile;
use gpupy_core::DType;
use gpupy_core::ir::{Builder, Form, REDUCE_CHUNK};
use gpupy_core::op::Op;
use gpupy_core::routines::RoutineCall;
use gpupy_core::shape::Shape;

/// The library operation that a whole-program form computes from its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LibraryOp {
    /// Running results along the last axis, of elements and the starts of their chunks.
    Scan(Op),
    /// The elements of the last axis in order.
    Sort,
    /// The positions that put the last axis in order.
    ArgSort,
    /// A sum of products over an axis behind those of the value, which has this many points.
    MatMul(usize),
    /// A row of the table of library operations.
    Routine(RoutineCall),
}

impl LibraryOp {
    /// The instruction.
    pub fn op(self) -> Op {
        match self {
            LibraryOp::Scan(_) => Op::Scan,
            LibraryOp::Sort => Op::Sort,
            LibraryOp::ArgSort => Op::ArgSort,
            LibraryOp::MatMul(_) => Op::MatMul,
            LibraryOp::Routine(_) => Op::Routine,
        }
    }

    /// The operation's name.
    pub fn name(self) -> &'static str {
        match self {
            LibraryOp::Routine(call) => call.info().name,
            _ => self.op().info().name,
        }
    }

    /// The parameters of its program.
    pub fn params(&self) -> &[u64] {
        match self {
            LibraryOp::Routine(call) => call.attributes(),
            _ => &[],
        }
    }

    /// The instruction, on the values of its loads, that gives results of a dtype.
    pub fn emit(self, builder: &mut Builder, values: &[u32], dtype: DType) -> u32 {
        match self {
            LibraryOp::Routine(call) => builder.routine(call.routine(), values[0], dtype),
            _ => builder.library_op(self.op(), values),
        }
    }

    pub fn form(self) -> Form {
        match self {
            LibraryOp::Scan(op) => Form::Scan { op },
            LibraryOp::Sort | LibraryOp::ArgSort => Form::Sort,
            LibraryOp::MatMul(_) => Form::MatMul,
            LibraryOp::Routine(call) => Form::Routine { routine: call.routine() },
        }
    }

    /// The launch's extents for results of these.
    pub fn space(self, out: &[usize]) -> Shape {
        let mut space = Shape::from(out);
        if let LibraryOp::MatMul(k) = self {
            space.push(k);
        }
        space
    }

    /// The extents over which an operand of a value of these extents is seen.
    pub fn operand_space(self, which: usize, out: &[usize]) -> Shape {
        self.form().operand_shape(which, &self.space(out), self.params())
    }

    /// The axis, and those behind it, that a box has all of if it cuts no row: of values of so many axes.
    pub fn rows_from(self, rank: usize) -> usize {
        match self {
            LibraryOp::Routine(call) => call.axis(),
            _ => rank.saturating_sub(1),
        }
    }

    /// Whether a box of a value is one of the form's own: no row of a sort or of a routine, and no chunk of a scan,
    /// is cut.
    pub fn is_apart(self, value: &[usize], tile: &Tile) -> bool {
        let (Some(all), Some(first), Some(n)) =
            (value.last(), tile.origin.last(), tile.shape.last())
        else {
            return true;
        };
        match self {
            LibraryOp::MatMul(_) => true,
            LibraryOp::Routine(call) => tile.shape[call.axis()] == value[call.axis()],
            LibraryOp::Sort | LibraryOp::ArgSort => n == all,
            LibraryOp::Scan(_) => {
                let end = first + n;
                first.is_multiple_of(REDUCE_CHUNK)
                    && (end == *all || end.is_multiple_of(REDUCE_CHUNK))
            }
        }
    }
}
