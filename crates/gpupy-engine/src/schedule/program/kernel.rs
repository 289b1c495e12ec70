//! Kernels: the program of a piece of a walk, and the numbers of its launch.
//!
//! Owns [`Kernel`], a [`KernelCode`] with its values and scalars, and the order in which a piece's nodes are emitted:
//! depth first, larger sub-trees first, so that values are used soon after they are computed (article, section 4.8).
//! The order depends on structure alone, so that equal pieces are equal programs.
//!
//! Not here: how a program is built (`emit.rs`), which nodes form a piece (`partition.rs`), where blocks come from
//! (`cache/`).

use crate::blocks::cache::BlockPart;
use crate::graph::value::Value;
use crate::schedule::walk::{Child, FusionWalk, Role, nodes_of};
use gpupy_core::driver::Access;
use gpupy_core::ir::{Fingerprint, Form, Program};
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use smallvec::SmallVec;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A program and how its launch walks over its blocks: all of a kernel but its values and scalars.
pub(crate) struct KernelCode {
    pub program: Arc<Program>,
    /// The iteration space after merging axes.
    pub space: Shape,
    pub accesses: Vec<Access>,
    /// The destinations' accesses over the merged (output) space.
    pub dests: Vec<Access>,
    /// Where the parameters of a walk's kernel come from; empty for other kernels.
    pub places: Vec<ParamPlace>,
    /// The program's, once it was asked for.
    fingerprint: OnceLock<Fingerprint>,
}

impl KernelCode {
    pub fn new(
        program: Program,
        space: Shape,
        accesses: Vec<Access>,
        dests: Vec<Access>,
    ) -> KernelCode {
        debug_assert!(program.verify().is_ok(), "{program}: {:?}", program.verify().err());
        KernelCode {
            program: Arc::new(program),
            space,
            accesses,
            dests,
            places: Vec::new(),
            fingerprint: OnceLock::new(),
        }
    }

    /// This program over other points.
    pub fn over(&self, space: Shape, accesses: Vec<Access>, dests: Vec<Access>) -> KernelCode {
        let (program, fingerprint) = (self.program.clone(), self.fingerprint.clone());
        let places = self.places.clone();
        KernelCode { program, space, accesses, dests, places, fingerprint }
    }

    /// The program's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        *self.fingerprint.get_or_init(|| self.program.fingerprint())
    }
}

/// Where a parameter of a walk's kernel comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ParamPlace {
    /// This root of the walk.
    Root(u32),
    /// A node's operand in this place.
    Operand(u32, u32),
    /// The structure of the walk determines it.
    Bits(u64),
}

/// A kernel: a program with the values and scalars of one launch.
pub(crate) struct Kernel {
    pub code: Arc<KernelCode>,
    /// The operands' values and parts.
    pub operands: Vec<(Value, BlockPart)>,
    pub params: Vec<u64>,
}

impl Deref for Kernel {
    type Target = KernelCode;

    fn deref(&self) -> &KernelCode {
        &self.code
    }
}

/// The purpose of a kernel: the form, and where it writes.
pub(crate) struct KernelTarget<'a> {
    pub form: Form,
    /// Of a reduce form, the operations of the roots behind the first.
    pub further: &'a [Op],
    /// One for each root, over the space (of a reduce form: the output space).
    pub dests: &'a [Access],
}

/// A node of a piece.
#[derive(Clone, Copy)]
pub(crate) struct Emitted {
    pub node: u32,
    /// It is read from a block.
    pub is_loaded: bool,
}

/// The nodes of a walk that one launch computes.
pub(crate) struct KernelPiece {
    /// The nodes whose own tiles it fills; none: the walk's roots, which go where the walk does.
    pub stores: SmallVec<[u32; 1]>,
    /// Its nodes, children before parents.
    pub order: Vec<Emitted>,
}

/// The nodes of the piece below `roots`, in the order of emission: children before parents, the
/// larger sub-tree first. `collapsed` nodes count as leaves.
pub(crate) fn emission_order(
    walk: &FusionWalk,
    roots: &[Child],
    collapsed: &[bool],
    size: &[u32],
    seen: &mut Marks,
) -> Vec<Emitted> {
    enum EmitStep {
        Enter(u32),
        Leave(u32),
    }
    let mut order = Vec::new();
    seen.clear(walk.nodes.len());
    let mut stack: Vec<EmitStep> = nodes_of(roots).map(EmitStep::Enter).collect();
    stack.reverse();
    while let Some(step) = stack.pop() {
        match step {
            EmitStep::Leave(node) => {
                let is_leaf = matches!(walk.nodes[node as usize].role, Role::Leaf);
                order.push(Emitted { node, is_loaded: is_leaf || collapsed[node as usize] });
            }
            EmitStep::Enter(node) => {
                if !seen.mark(node) {
                    continue;
                }
                stack.push(EmitStep::Leave(node));
                if collapsed[node as usize] {
                    continue;
                }
                if let Role::Apply(_, children) = &walk.nodes[node as usize].role {
                    let mut below: SmallVec<[u32; 3]> = nodes_of(children).collect();
                    // The last pushed is entered first; ties go left to right.
                    below.reverse();
                    below.sort_by_key(|child| size[*child as usize]);
                    stack.extend(below.into_iter().map(EmitStep::Enter));
                }
            }
        }
    }
    order
}

/// A set of nodes that is emptied in no time: pieces are many, and small beside their walk.
#[derive(Default)]
pub(crate) struct Marks {
    stamps: Vec<u32>,
    now: u32,
}

impl Marks {
    /// Empties the set, for nodes below `count`.
    pub fn clear(&mut self, count: usize) {
        if self.stamps.len() != count || self.now == u32::MAX {
            self.stamps = vec![0; count];
            self.now = 0;
        }
        self.now += 1;
    }

    /// Adds a node; false when it was there.
    pub fn mark(&mut self, node: u32) -> bool {
        std::mem::replace(&mut self.stamps[node as usize], self.now) != self.now
    }

    /// Whether a node is in the set.
    pub fn has(&self, node: u32) -> bool {
        self.stamps[node as usize] == self.now
    }
}

/// Groups of neighbouring axes that every access walks over as one axis: for each, the axis whose
/// stride is the group's, and its extent. The last axis of a reduce form stays alone.
pub(crate) fn merge_axes<'a>(
    space: &[usize],
    walks: impl Iterator<Item = &'a Access> + Clone,
    reduce: bool,
) -> SmallVec<[(usize, usize); 4]> {
    let mut groups: SmallVec<[(usize, usize); 4]> = SmallVec::new();
    for (axis, extent) in space.iter().enumerate() {
        let keep = reduce && axis + 1 == space.len();
        if *extent == 1 && !keep {
            continue;
        }
        if let Some(group) = groups.last_mut()
            && !keep
            && walks
                .clone()
                .all(|walk| walk.strides[group.0] == walk.strides[axis] * *extent as i64)
        {
            *group = (axis, group.1 * extent);
            continue;
        }
        groups.push((axis, *extent));
    }
    if groups.is_empty() {
        groups.push((space.len() - 1, 1));
    }
    groups
}
