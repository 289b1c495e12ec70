//! The fusion walk: the expression that one block of a value needs, from the value down to computed ones.
//!
//! Owns [`FusionWalk`]: the nodes of one evaluation, each a value with the access at which it is needed. Partitioning
//! cuts it into fused kernels. Invariants: a node's children are other nodes of the walk; a leaf is computed, or one of
//! the walk's needs. [`Rematerialisation`](rematerialisation::Rematerialisation) says which values are stored instead
//! of recomputed.
//!
//! Imports `cost.rs`, `engine_device.rs` and `lowering` of the schedule. Not here: how a walk is made (`walker.rs`,
//! `joined_values.rs`, `chain.rs`, `expanded.rs`), which nodes go into which kernel (`partition.rs`).

mod begun;
mod chain;
mod expanded;
mod join_parts;
mod joined_values;
pub(crate) mod rematerialisation;
mod walker;

use crate::graph::piecewise_number::InPieces;
use crate::graph::scalar_function::Called;
use crate::graph::value::{Input, TopologicalRank, Value, ValueId};
use crate::memory::access;
use crate::memory::tiling::Tile;
use gpupy_core::driver::Access;
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use gpupy_core::{Error, ErrorKind, Result, Scalar};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

/// A node's operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Child {
    Node(u32),
    Scalar(Scalar),
}

/// The source of a node's elements.
#[derive(Clone, Debug)]
pub(crate) enum Role {
    /// Computed before: loaded from a block.
    Leaf,
    /// Computed before, and whole in one block, for a gather to read anywhere.
    Table,
    /// The affine number of an access.
    Index(Access),
    /// A number in pieces, or the piece in which it lies.
    InPieces(Arc<InPieces>),
    /// A scalar operation, or a function; `cast` to the operand's own dtype is a copy. A gather's operands are the
    /// position and the table.
    Apply(Applied, SmallVec<[Child; 3]>),
}

/// The operation that gives an element from those of the operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Applied {
    Op(Op),
    Call(Called),
}

/// A value as it is needed.
pub(crate) struct WalkNode {
    pub value: Value,
    pub access: Access,
    pub role: Role,
}

/// The fusion region of one evaluation over a space.
pub(crate) struct FusionWalk {
    pub space: Shape,
    /// Parents before children.
    pub nodes: Vec<WalkNode>,
    /// The results of the evaluation.
    pub roots: SmallVec<[Child; 1]>,
    /// Nodes that it computes on the way and had better store, as others read them: each is a tile of its value.
    pub besides: SmallVec<[u32; 2]>,
    /// The tiles to compute before a device can do it: its leaves that are not computed yet.
    pub needs: Needs,
}

/// The nodes among children.
pub(crate) fn nodes_of(children: &[Child]) -> impl Iterator<Item = u32> + '_ {
    children.iter().filter_map(|child| match child {
        Child::Node(node) => Some(*node),
        Child::Scalar(_) => None,
    })
}

impl FusionWalk {
    /// The access at which a walk over a tile begins.
    pub fn start(&self, tile: &Tile) -> Access {
        access::from(tile.range.start, &self.space)
    }

    /// By how many accesses the walk reads, or computes, a value.
    pub fn accesses_of(&self, value: &Value) -> usize {
        self.nodes.iter().filter(|node| node.value.id() == value.id()).count()
    }

    /// All nodes, operands before their readers; otherwise in the order of recording. What is read at several accesses,
    /// as a step of a chain, stands right before its first reader, as it is computed again for each of them.
    pub fn operands_first(&self) -> Vec<u32> {
        let mut readers = vec![0u32; self.nodes.len()];
        let mut accesses: FxHashMap<ValueId, u32> = FxHashMap::default();
        for node in &self.nodes {
            *accesses.entry(node.value.id()).or_default() += 1;
            if let Role::Apply(_, children) = &node.role {
                nodes_of(children).for_each(|child| readers[child as usize] += 1);
            }
        }
        let place = |number: u32, reader: TopologicalRank| {
            let value = &self.nodes[number as usize].value;
            let is_once = !value.is_step() && accesses.get(&value.id()) == Some(&1);
            (if is_once { value.order() } else { reader }, value.order(), number)
        };
        let last = (ValueId::MAX, u32::MAX);
        let is_root = |number: &u32| readers[*number as usize] == 0;
        let roots = (0..self.nodes.len() as u32).filter(is_root);
        let mut ready: BinaryHeap<_> = roots.map(|root| place(root, last)).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some((at, _, number)) = ready.pop() {
            order.push(number);
            if let Role::Apply(_, children) = &self.nodes[number as usize].role {
                for child in nodes_of(children) {
                    readers[child as usize] -= 1;
                    if readers[child as usize] == 0 {
                        ready.push(place(child, at));
                    }
                }
            }
        }
        order.reverse();
        order
    }

    /// The walk, if nothing has to be computed before it.
    pub fn complete(self) -> std::result::Result<FusionWalk, Needs> {
        if self.needs.is_empty() { Ok(self) } else { Err(self.needs) }
    }

    /// Whether a gather reads a value anywhere.
    pub fn is_table(&self, value: ValueId) -> bool {
        let is_table =
            |node: &WalkNode| matches!(node.role, Role::Table) && node.value.id() == value;
        self.nodes.iter().any(is_table)
    }

    /// How many operations it computes at a point.
    pub fn operations(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node.role, Role::Apply(..))).count()
    }

    /// Whether all of its needs are among these.
    pub fn needs_no_more_than(&self, others: &Needs) -> bool {
        self.needs_beyond(others).next().is_none()
    }

    /// Its needs that are not among these.
    pub fn needs_beyond<'n>(
        &'n self,
        others: &'n Needs,
    ) -> impl Iterator<Item = &'n (Value, Range<usize>)> {
        self.needs.iter().filter(|(value, reach)| {
            let is_same = |(known, range): &(Value, Range<usize>)| {
                known.id() == value.id() && range.start <= reach.start && reach.end <= range.end
            };
            !others.iter().any(is_same)
        })
    }
}

/// Where a walk starts.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    /// At a value that the walk computes.
    Itself(&'a Value),
    /// At a value that the walk reads.
    Value(&'a Value),
    Scalar(Scalar),
}

/// A start, with the access at which it is needed.
type PlacedStart<'a> = (Start<'a>, Access);

impl<'a> Start<'a> {
    /// The start at an input of an expression.
    ///
    /// # Errors
    /// - `Lost`: the input's value is not held any more.
    pub fn input(input: &Input, value: Option<&'a Value>) -> Result<Start<'a>> {
        match (input, value) {
            (Input::Scalar(scalar), _) => Ok(Start::Scalar(*scalar)),
            (_, Some(value)) => Ok(Start::Value(value)),
            (Input::Whole(id) | Input::View(id, _), None) => Err(lost(*id)),
        }
    }
}

/// Values (with positions) that have to be computed before a step is done.
pub(crate) type Needs = Vec<(Value, Range<usize>)>;

/// The points of an axis from which on another part of a joined value is read.
pub(crate) type JoinCut = (usize, usize);

/// A walk over the first points of a space, with the cuts that leave these, or where it is cut before there is one.
pub(crate) type CutWalk = std::result::Result<(FusionWalk, Vec<JoinCut>), JoinCut>;

/// The error of a value that is nowhere any more, and whose operands have been let go.
pub(crate) fn lost(id: ValueId) -> Error {
    Error::new(ErrorKind::Lost, "evaluate")
        .says("a value was lost with its device and cannot be computed again")
        .with("value", id)
}
