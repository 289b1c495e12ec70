//! In-place operations: a launch writes into the block of an operand that has no other use left.
//!
//! Owns the rule when that is allowed. The value of `2.5 * x + y` takes the block of `x` when nothing else holds `x`,
//! nor any operation between the two; so may an assignment take that of the value that it changes. Then a loop over
//! large arrays moves no more memory than it must, and allocates no more. Invariants: an operand that anything else
//! could read is never written; after a failed launch, the operand is unchanged.
//!
//! Not here: the evaluation of assignments (`host_assign.rs`).

use crate::blocks::cache::BlockPart;
use crate::graph::value::{Value, ValueId, ValueKind};
use crate::memory::ranges::Ranges;
use crate::memory::tiling::Tile;
use crate::schedule::destination::Destination;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::{KernelPiece, Partition};
use crate::schedule::program::kernel::Kernel;
use crate::schedule::walk::{FusionWalk, Role};
use crate::thresholds::T;
use gpupy_core::driver::{Access, Capabilities};
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use gpupy_core::{Error, ErrorKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cmp::Reverse;
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
    /// The values between the two, which cannot be found any more.
    between: SmallVec<[Value; 2]>,
}

type OperandAccesses = SmallVec<[Option<Value>; 3]>;

impl TakenOperand {
    /// The operand at this place, whose block an heir takes for its one tile; the heir's operands are taken out of it
    /// from now on.
    pub fn of(operand: usize, value: Value, heir: Value, tile: Tile) -> TakenOperand {
        let operands = std::mem::take(&mut heir.state().operands);
        TakenOperand { operand, value, heir, tile, operands, between: SmallVec::new() }
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

    fn give_back(self) {
        self.between.iter().chain([&self.value]).for_each(Value::is_left);
        self.heir.state().operands = self.operands;
    }
}

impl Partition {
    /// The operand whose block the only destination of a piece's kernel may take, if there is one.
    pub fn operand_to_take(
        &mut self,
        device: &OpenDevice,
        piece: &KernelPiece,
        kernel: &Kernel,
        dests: &[Destination],
    ) -> Option<TakenOperand> {
        let (Some(root), [Destination::Tile { value, tile }]) = (self.root_of(piece), dests) else {
            return None;
        };
        let many = self.walk.nodes.len() > T.in_place_nodes;
        if many || !allows(&device.caps, kernel) || !is_new(value, tile) {
            return None;
        }
        let fitting: SmallVec<[usize; 4]> =
            (0..kernel.operands.len()).filter(|k| fits(kernel, *k, value)).collect();
        for operand in fitting {
            let (candidate, _) = &kernel.operands[operand];
            if !device.may_take(candidate, tile) {
                continue;
            }
            let mut taken =
                TakenOperand::of(operand, candidate.clone(), value.clone(), tile.clone());
            self.look_up();
            self.mark(piece);
            if self.is_only_here(&mut taken, kernel, root) {
                return Some(taken);
            }
            taken.give_back();
        }
        None
    }

    /// Whether nothing but this evaluation holds the value that would be taken, or anything between it and the root.
    /// Holders are checked before the values that they hold, and are removed from the tables that could find them
    /// again; so no new handle appears after a check.
    fn is_only_here(&self, taken: &mut TakenOperand, kernel: &Kernel, root: u32) -> bool {
        let is_taken = |value: &Value| Arc::ptr_eq(&value.0, &taken.value.0);
        let all = 0..self.walk.nodes.len() as u32;
        let mut own = all.filter(|node| is_taken(&self.walk.nodes[*node as usize].value));
        let (Some(leaf), None) = (own.next(), own.next()) else { return false };
        // Nodes between, with the handles that are known of.
        let mut known: Vec<(u32, usize)> = vec![(leaf, 0)];
        let mut at = 0;
        while let Some((node, _)) = known.get(at).copied() {
            let value = &self.walk.nodes[node as usize].value;
            // The walk's handle; of the taken one, also ours and the kernel's.
            let mut handles = 1;
            if node == leaf {
                handles += 1 + kernel.operands.iter().filter(|(value, _)| is_taken(value)).count();
            }
            let mut above = self.parents(node).to_vec();
            above.dedup();
            for parent in above {
                let slots = |operands: &OperandAccesses| {
                    operands.iter().flatten().filter(|o| Arc::ptr_eq(&o.0, &value.0)).count()
                };
                let held = match parent == root {
                    true => slots(&taken.operands),
                    false => slots(&self.walk.nodes[parent as usize].value.state().operands),
                };
                if held == 0 {
                    continue;
                }
                handles += held;
                if parent != root && !self.marks.has(parent) {
                    // Another piece of the walk needs it.
                    return false;
                }
                if parent != root && !known.iter().any(|(node, _)| *node == parent) {
                    known.push((parent, 0));
                }
            }
            known[at].1 = handles;
            at += 1;
        }
        // A holder is newer than the values that it holds.
        known.sort_unstable_by_key(|(node, _)| {
            Reverse(self.walk.nodes[*node as usize].value.order())
        });
        for (node, handles) in known {
            let value = &self.walk.nodes[node as usize].value;
            if !value.is_held_by(handles) {
                return false;
            }
            if node != leaf {
                taken.between.push(value.clone());
            }
        }
        true
    }
}

/// How an assigned expression reads the value that it is written into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelfReads {
    /// Not at all.
    Nothing,
    /// Each element only at the point that writes it.
    WhereWritten,
    /// Other elements too.
    Elsewhere,
}

impl FusionWalk {
    /// How this walk, whose points are written at an access, reads a value.
    pub fn reads(&self, value: &Value, at: &Access) -> SelfReads {
        let steps = || at.strides.iter().zip(&self.space).filter(|(_, extent)| **extent != 1);
        let is_same = |access: &Access| {
            let own = access.strides.iter().zip(&self.space).filter(|(_, extent)| **extent != 1);
            access.offset == at.offset && steps().map(|s| s.0).eq(own.map(|s| s.0))
        };
        let mut reads = SelfReads::Nothing;
        for node in self.nodes.iter().filter(|node| Arc::ptr_eq(&node.value.0, &value.0)) {
            match node.role {
                // Where points share an element, one may read what another has written.
                Role::Leaf if is_same(&node.access) && steps().all(|s| *s.0 != 0) => {
                    reads = SelfReads::WhereWritten;
                }
                _ => return SelfReads::Elsewhere,
            }
        }
        reads
    }

    /// Whether nothing but an assignment, this walk of its source and these handles of its kernels hold the old value,
    /// or anything between it and the source. Those are asked first that hold the others (see `is_only_here`).
    pub fn is_all_that_holds_the_old<'v>(
        &self,
        assignment: &Value,
        of_kernels: impl Iterator<Item = &'v Value>,
    ) -> bool {
        if self.nodes.len() > T.in_place_nodes {
            return false;
        }
        let own = assignment.state().operands.clone();
        let Some(old) = own.first().cloned().flatten() else { return false };
        let mut handles: FxHashMap<ValueId, usize> = FxHashMap::default();
        // Each handle in the walk, and in the list above; of the old value, also the one beside it.
        let listed = self.nodes.iter().map(|node| &node.value).chain(own.iter().flatten());
        listed.chain([&old]).for_each(|value| *handles.entry(value.id()).or_default() += 1);
        own.iter().flatten().for_each(|value| *handles.entry(value.id()).or_default() += 1);
        of_kernels.for_each(|value| *handles.entry(value.id()).or_default() += 1);
        let mut inner: Vec<&Value> = Vec::new();
        for node in &self.nodes {
            if matches!(node.role, Role::Apply(..)) {
                inner.push(&node.value);
            }
        }
        inner.sort_unstable_by_key(|value| value.order());
        inner.dedup_by_key(|value| value.order());
        // The values that read the old one, directly or not: operands come before their readers.
        let mut between: Vec<&Value> = vec![&old];
        let mut known: FxHashSet<ValueId> = [old.id()].into_iter().collect();
        for value in inner {
            let operands = value.state().operands.clone();
            for operand in operands.iter().flatten() {
                *handles.entry(operand.id()).or_default() += 1;
            }
            if operands.iter().flatten().any(|operand| known.contains(&operand.id())) {
                known.insert(value.id());
                between.push(value);
            }
        }
        let handles = |value: &Value| handles.get(&value.id()).copied().unwrap_or(0);
        let is_all = between.iter().rev().all(|value| value.is_held_by(handles(value)));
        if !is_all {
            between.iter().for_each(|value| value.is_left());
        }
        is_all
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
