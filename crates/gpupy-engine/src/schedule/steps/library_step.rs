//! Steps of library operations: their operands, and whether a kernel does them.
//!
//! Invariant: an operation is done in host memory if the device has no room for it at once (a row of a sort, the
//! operands of a product), or if tiles cut it apart.
//!
//! Not here: kernels and the work in host memory (`execute/host_ops/host_library_op.rs`).

use super::on_host::missing;
use crate::graph::library_op::LibraryOp;
use crate::graph::value::{Input, Value, ValueKind};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::walk::{Needs, lost};
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::shape::{Shape, contiguous_strides, size_of};
use std::ops::Range;

/// The step that computes a tile of a library operation's value.
pub(crate) struct LibraryStep {
    pub whole: LibraryOp,
    /// The box of the value that is computed: its first point and extents.
    pub origin: Shape,
    pub extents: Shape,
    pub reads: Vec<LibraryOperand>,
    /// Whether it is done in host memory.
    pub is_on_host: bool,
}

impl LibraryStep {
    /// The step of a tile, and what it needs.
    ///
    /// # Errors
    /// - `Lost`: its operands are not held any more.
    pub(super) fn of(
        device: &OpenDevice,
        whole: LibraryOp,
        value: &Value,
        tile: &Tile,
    ) -> Result<(LibraryStep, Needs)> {
        let longest = device.caps.max_block_len;
        let apart = whole.is_apart(value.shape(), tile);
        let (origin, extents) = match apart {
            true => (tile.origin.clone(), tile.shape.clone()),
            false => rows(whole, value.shape(), tile),
        };
        let reads = reads(whole, value, &origin, &extents)?;
        let needs = missing(device, reads.iter().map(|read| (read.value.clone(), read.reach())));
        let fits = |read: &LibraryOperand| size_of(&read.still()) <= longest;
        let is_on_host = !apart || !reads.iter().all(fits);
        Ok((LibraryStep { whole, origin, extents, reads, is_on_host }, needs))
    }
}

impl LibraryStep {
    /// The positions of the box, which are whole rows, in a value of this shape.
    pub fn range(&self, shape: &[usize]) -> Range<usize> {
        let steps = contiguous_strides(shape);
        let first: usize = steps.iter().zip(&self.origin).map(|(s, o)| *s as usize * o).sum();
        first..first + size_of(&self.extents)
    }
}

/// An operand of one launch: its value, and how it is walked over.
pub(crate) struct LibraryOperand {
    pub value: Value,
    pub access: Access,
    pub space: Shape,
}

impl LibraryOperand {
    /// The positions that it reads.
    pub fn reach(&self) -> Range<usize> {
        access::reach(&self.access, &self.space)
    }

    /// The extents of the operand, of one point where it does not move.
    pub fn still(&self) -> Shape {
        let extents = self.space.iter().zip(&self.access.strides);
        extents.map(|(extent, stride)| if *stride == 0 { 1 } else { *extent }).collect()
    }
}

/// The elements of each operand that a box of the value reads.
fn reads(
    form: LibraryOp,
    value: &Value,
    origin: &[usize],
    extents: &[usize],
) -> Result<Vec<LibraryOperand>> {
    let ValueKind::Expr { inputs, .. } = &value.0.kind else { return Ok(Vec::new()) };
    let operands = value.state().operands.clone();
    let read = |(which, (input, operand)): (usize, (&Input, Option<Value>))| {
        let Some(operand) = operand else { return Err(lost(value.id())) };
        let mut access = input.access(&form.operand_space(which, value.shape()));
        for (axis, (stride, first)) in access.strides.iter().zip(origin).enumerate() {
            let chunks =
                axis + 1 == origin.len() && matches!(form, LibraryOp::Scan(_)) && which == 1;
            let first = if chunks { *first / REDUCE_CHUNK } else { *first };
            access.offset += stride * first as i64;
        }
        Ok(LibraryOperand { value: operand, access, space: form.operand_space(which, extents) })
    };
    if operands.len() != inputs.len() {
        return Err(lost(value.id()));
    }
    inputs.iter().zip(operands).enumerate().map(read).collect()
}

/// The box of the rows that a tile meets: a tile that cuts rows is part of one, or of several beside each other.
fn rows(whole: LibraryOp, value: &[usize], tile: &Tile) -> (Shape, Shape) {
    let (mut origin, mut extents) = (tile.origin.clone(), tile.shape.clone());
    for axis in whole.rows_from(value.len())..value.len() {
        (origin[axis], extents[axis]) = (0, value[axis]);
    }
    (origin, extents)
}
