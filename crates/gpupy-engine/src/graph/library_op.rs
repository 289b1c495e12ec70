//! Library operations as expressions: scans, sorts and matrix products (the whole-program forms of the IR).
//!
//! Owns [`LibraryOp`]: which form, and which operands it reads for which elements.
//!
//! Not here: their evaluation (`execute/host_ops/host_library_op.rs`), how they are recorded
//! (`record/library_recording.rs`).

use crate::memory::tiling::Tile;
use gpupy_core::ir::{Form, REDUCE_CHUNK};
use gpupy_core::op::Op;
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
}

impl LibraryOp {
    /// The instruction.
    pub fn op(self) -> Op {
        match self {
            LibraryOp::Scan(_) => Op::Scan,
            LibraryOp::Sort => Op::Sort,
            LibraryOp::ArgSort => Op::ArgSort,
            LibraryOp::MatMul(_) => Op::MatMul,
        }
    }

    pub fn form(self) -> Form {
        match self {
            LibraryOp::Scan(op) => Form::Scan { op },
            LibraryOp::Sort | LibraryOp::ArgSort => Form::Sort,
            LibraryOp::MatMul(_) => Form::MatMul,
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
        self.form().operand_shape(which, &self.space(out))
    }

    /// Whether a box of a value is one of the form's own: no row of a sort, and no chunk of a scan,
    /// is cut.
    pub fn is_apart(self, value: &[usize], tile: &Tile) -> bool {
        let (Some(all), Some(first), Some(n)) =
            (value.last(), tile.origin.last(), tile.shape.last())
        else {
            return true;
        };
        match self {
            LibraryOp::MatMul(_) => true,
            LibraryOp::Sort | LibraryOp::ArgSort => n == all,
            LibraryOp::Scan(_) => {
                let end = first + n;
                first.is_multiple_of(REDUCE_CHUNK)
                    && (end == *all || end.is_multiple_of(REDUCE_CHUNK))
            }
        }
    }
}
