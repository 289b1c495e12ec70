//! In-place operations: a launch writes into the block of an operand that has no other use left.
//!
//! Owns the rule when that is allowed. The value of `2.5 * x + y` takes the block of `x` when nothing else holds `x`,
//! nor any operation between the two; so may an assignment take that of the value that it changes. Then a loop over
//! large arrays moves no more memory than it must, and allocates no more. Invariants: an operand that anything else
//! could read is never written; after a failed launch, the operand is unchanged.
//!
//! Not here: what holds an operand (`compiled/lifetimes.rs`), the evaluation of assignments (`host_assign.rs`).

use crate::blocks::cache::BlockPart;
use crate::graph::value::{Value, ValueId, ValueKind};
use crate::memory::access;
use crate::memory::ranges::Ranges;
use crate::memory::tiling::Tile;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::program::kernel::Kernel;
use crate::schedule::walk::{FusionWalk, Role};
use gpupy_core::driver::{Access, Capabilities};
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use gpupy_core::{Error, ErrorKind};
use smallvec::SmallVec;
use std::sync::Arc;

/// An operand whose block a launch writes into.
pub(crate) struct TakenOperand {
    /// Its place among the kernel's operands.
    pub operand: usize,
    value: Value,
    /// The value that takes the block, with its one tile.
    heir: Value,
    tile: Tile,
    /// The operands of the heir, taken out of it: another handle of the heir could read them.
    operands: OperandAccesses,
}

type OperandAccesses = SmallVec<[Option<Value>; 3]>;

impl TakenOperand {
    /// The operand at this place, whose block an heir takes for its one tile; the heir's operands are taken out of it
    /// from now on.
    pub fn of(operand: usize, value: Value, heir: Value, tile: Tile) -> TakenOperand {
        let operands = std::mem::take(&mut heir.state().operands);
        TakenOperand { operand, value, heir, tile, operands }
    }

    /// Hands the block over after the launch, or gives everything back after an error.
    pub fn end(self, device: &mut OpenDevice, error: Option<&Error>) {
        let all = self.tile.range.clone();
        let Some(error) = error else {
            device.hand_over(&self.value, &self.heir, &self.tile);
            self.value.state().computed.remove(all.clone());
            self.heir.mark_computed(all);
            // After a pause, a step is found again by its operands, and these by theirs.
            if self.heir.keeps_operands() && self.value.keeps_operands() {
                self.give_back();
            }
            return;
        };
        if error.kind() == ErrorKind::DeviceLost {
            // The launch may have written any part of it.
            self.value.state().on_host.remove(all.clone());
            self.value.mark_lost(all);
        }
        self.give_back();
    }

    /// Takes nothing after all.
    pub fn give_back(self) {
        self.value.is_left();
        self.heir.state().operands = self.operands;
    }
}

/// How an assigned expression reads the value that it is written into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelfReads {
    /// Not at all.
    Nothing,
    /// Each element only at the point that writes it, or one that is not written.
    WhereWritten,
    /// Other elements too.
    Elsewhere,
}

impl FusionWalk {
    /// How this walk, whose points are written to a tile at an access, reads a value.
    pub fn reads(&self, value: &Value, (at, tile): (&Access, &Tile)) -> SelfReads {
        let steps = || at.strides.iter().zip(&self.space).filter(|(_, extent)| **extent != 1);
        let is_same = |access: &Access| {
            let own = access.strides.iter().zip(&self.space).filter(|(_, extent)| **extent != 1);
            access.offset == at.offset && steps().map(|s| s.0).eq(own.map(|s| s.0))
        };
        let coordinates = |access| access::coordinates(access, &self.space, value.shape());
        let written = (tile.range == (0..value.len())).then(|| coordinates(at)).flatten();
        let is_apart = |access| match (&written, coordinates(access)) {
            (Some(written), Some(read)) => {
                access::are_apart((&read, &self.space), (written, &self.space))
            }
            _ => false,
        };
        let mut reads = SelfReads::Nothing;
        for node in self.nodes.iter().filter(|node| Arc::ptr_eq(&node.value.0, &value.0)) {
            match node.role {
                // Where points share an element, one may read what another has written.
                Role::Leaf if is_same(&node.access) && steps().all(|s| *s.0 != 0) => {
                    reads = SelfReads::WhereWritten;
                }
                Role::Leaf if is_apart(&node.access) => reads = SelfReads::WhereWritten,
                _ => return SelfReads::Elsewhere,
            }
        }
        reads
    }
}

/// Whether a device may write into an operand of a kernel like this.
fn allows(caps: &Capabilities, kernel: &Kernel) -> bool {
    caps.in_place && caps.host_memory && kernel.program.form == Form::Map
}

/// Whether a kernel that gives all of a value might write into one of its operands, given which of them have other
/// handles.
pub(crate) fn may_take(
    caps: &Capabilities,
    kernel: &Kernel,
    value: &Value,
    is_unheld: impl Fn(ValueId) -> bool,
) -> bool {
    let is_taken = |k: usize| is_unheld(kernel.operands[k].0.id()) && fits(kernel, k, value);
    allows(caps, kernel) && (0..kernel.operands.len()).any(is_taken)
}

/// The operands whose block a kernel that gives a tile of a value might take, by their places.
pub(crate) fn fitting(
    caps: &Capabilities,
    kernel: &Kernel,
    value: &Value,
    tile: &Tile,
) -> impl Iterator<Item = usize> {
    let all = if allows(caps, kernel) && is_new(value, tile) { kernel.operands.len() } else { 0 };
    (0..all).filter(|operand| fits(kernel, *operand, value))
}

/// Whether a tile is all of a value that is not computed yet.
fn is_new(value: &Value, tile: &Tile) -> bool {
    tile.range == (0..value.len()) && value.state().computed == Ranges::default()
}

/// Whether an operand is of the value's kind, and each point reads only the element that it writes.
fn fits(kernel: &Kernel, operand: usize, value: &Value) -> bool {
    let (candidate, part) = &kernel.operands[operand];
    let is_alike = |access: u32| kernel.accesses[access as usize] == kernel.dests[0];
    let mut reads = kernel.program.insts.iter().filter(|inst| {
        matches!(inst.op, Op::Load | Op::Gather) && inst.args[0] as usize == operand
    });
    matches!(part, BlockPart::Tile(_))
        && matches!(candidate.0.kind, ValueKind::Expr { .. })
        && candidate.dtype() == value.dtype()
        && candidate.len() == value.len()
        && reads.all(|inst| inst.op == Op::Load && is_alike(inst.args[1]))
}
