//! Siblings: pending values that are computed almost for free beside the one that is wanted.
//!
//! Owns the choice of values that a launch computes besides its own: the three channels of an image
//! share most of their operations, and several destinations of one launch compute those once. A
//! sibling is a living expression of the same shape that no other pending expression uses, at
//! least half of whose operations the wanted value needs as well. Invariant: siblings are taken
//! only when everything still fits into one kernel; when that fails, the wanted value is computed
//! alone.
//!
//! A reduction is no sibling, but may share what its map computes: that is chosen here too.
//!
//! Not here: values that the wanted one itself needs (`walk.rs`).

use crate::execute::evaluate::Engine;
use crate::graph::value::{Input, Kind, NodeOp, Value, ValueId};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::again::Passes;
use crate::schedule::destination::Destination;
use crate::schedule::device::Device;
use crate::schedule::partition::{Evaluation, Flow};
use crate::schedule::program::kernel::{Marks, nodes_of};
use crate::schedule::walk::{Child, RECOMPUTE, Role, Start, Walk, WalkNode};
use gpupy_core::ir::Form;
use gpupy_core::{ErrorKind, Result};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::Arc;

impl Engine {
    /// Takes the walk of a value's tile through a device, with its siblings where that pays.
    pub fn run_with_siblings(
        &mut self,
        walk: Walk,
        value: &Value,
        tile: &Tile,
        device: usize,
    ) -> Result<Flow> {
        let dest = |value: &Value| Destination::Tile { value: value.clone(), tile: tile.clone() };
        let open = self.device(device)?;
        let candidates = candidates(open, &walk, value, tile);
        if !candidates.is_empty()
            && let Some((all, together)) = with_siblings(open, value, candidates, tile)
        {
            let dests: Vec<Destination> = all.iter().map(dest).collect();
            if self.run_together(together, &dests, device)? {
                return Ok(Flow::Done);
            }
        }
        self.run(walk, Form::Map, dest(value), device)
    }

    /// Launches a walk with several roots as one kernel; false when it does not fit in one.
    fn run_together(&mut self, walk: Walk, dests: &[Destination], device: usize) -> Result<bool> {
        let (roots, passes) = (walk.roots.clone(), Passes::of(&walk));
        let open = self.device(device)?;
        let structure = open.plans.structure(&open.blocks, &walk, Form::Map, dests);
        let plan = structure.as_ref().and_then(|structure| open.plans.find(structure));
        let mut evaluation = Evaluation::new(self, device, walk);
        let launched = match plan {
            Some(plan) => evaluation.replay(&plan, dests, Form::Map),
            None => {
                let kernel = evaluation.kernel_for(&roots, dests, Form::Map)?;
                let check = evaluation.engine.device(device)?.driver.check_ir(&kernel.program);
                if !check.is_ok_and(|check| check.fits) {
                    return Ok(false);
                }
                evaluation.structure = structure;
                evaluation.launch(&roots, dests, Form::Map).map(|_| true)
            }
        };
        match launched {
            Ok(launched) => {
                if launched {
                    passes.note();
                }
                Ok(launched)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::DeviceLost | ErrorKind::Interrupted | ErrorKind::Invalid
                ) =>
            {
                Err(error)
            }
            // Whatever a sibling lacks, the wanted value alone may not need it.
            Err(_) => Ok(false),
        }
    }
}

/// What may be siblings of a value whose tile this walk computes.
fn candidates(device: &Device, walk: &Walk, value: &Value, tile: &Tile) -> Vec<Value> {
    /// Nodes in a walk that could still be one kernel with others beside it.
    const MANY: usize = 2048;
    let size = walk.nodes.len();
    if size < RECOMPUTE as usize || size > MANY || !is_shared(walk) {
        return Vec::new();
    }
    let computed: FxHashSet<ValueId> = operations(walk).collect();
    let pending = value.0.interner.as_ref().map_or_else(Vec::new, |table| table.pending());
    let is_alike = |other: &&Value| {
        matches!(other.0.kind, Kind::Expr { op: NodeOp::Apply(_) | NodeOp::Gather, .. })
            && other.shape() == value.shape()
            && device.caps.dtypes.contains(&other.dtype())
            && !computed.contains(&other.id())
            && !other.state().computed.covers(tile.range.clone())
    };
    let mut candidates: Vec<Value> = pending.iter().filter(is_alike).cloned().collect();
    if candidates.is_empty() {
        return candidates;
    }
    let used: FxHashSet<ValueId> = pending.iter().flat_map(inputs).collect();
    candidates.retain(|other| !used.contains(&other.id()));
    candidates.sort_unstable_by_key(Value::id);
    candidates
}

/// A value with those of the candidates that pay as its siblings, if there are any, and the walk of all.
fn with_siblings(
    device: &Device,
    value: &Value,
    mut candidates: Vec<Value>,
    tile: &Tile,
) -> Option<(Vec<Value>, Walk)> {
    let walk = |candidates: &[Value]| {
        let starts: Vec<Start<'_>> =
            std::iter::once(value).chain(candidates).map(Start::Value).collect();
        let (at, space) = access::space_of_tile(value.shape(), tile);
        Walk::new(device, &starts, at, space).ok()?.ok()
    };
    let mut together = walk(&candidates);
    if together.is_none() {
        // Some need something first, or cannot be computed here.
        candidates.retain(|other| walk(std::slice::from_ref(other)).is_some());
        together = walk(&candidates);
    }
    let all = candidates.len();
    let mut pays = paying(together.as_ref()?).into_iter();
    candidates.retain(|_| pays.next().unwrap_or(false));
    candidates.truncate(device.caps.max_dests - 1);
    if candidates.is_empty() {
        return None;
    }
    if candidates.len() < all {
        together = walk(&candidates);
    }
    let siblings = std::iter::once(value.clone()).chain(candidates).collect();
    Some((siblings, together?))
}

/// For each root of a walk but the first, whether it shares so much with those before it that pay that it is
/// computed almost for free beside them.
fn paying(walk: &Walk) -> Vec<bool> {
    let mut computed = vec![false; walk.nodes.len()];
    let mut seen = Marks::default();
    let mut below = |root: &Child| -> Vec<u32> {
        seen.clear(walk.nodes.len());
        let mut found: Vec<u32> = Vec::new();
        let mut open: Vec<u32> = nodes_of(std::slice::from_ref(root)).collect();
        while let Some(node) = open.pop() {
            if let Role::Apply(_, children) = &walk.nodes[node as usize].role
                && seen.mark(node)
            {
                found.push(node);
                open.extend(nodes_of(children));
            }
        }
        found
    };
    let mut pays = Vec::new();
    for (number, root) in walk.roots.iter().enumerate() {
        let own = below(root);
        let shared = own.iter().filter(|node| computed[**node as usize]).count();
        let is_kept = number == 0 || shared >= RECOMPUTE as usize && shared * 2 >= own.len();
        if is_kept {
            own.iter().for_each(|node| computed[*node as usize] = true);
        }
        if number > 0 {
            pays.push(is_kept);
        }
    }
    pays
}

/// The values of the operations that a walk computes.
fn operations(walk: &Walk) -> impl Iterator<Item = ValueId> + '_ {
    let computes = |node: &&WalkNode| matches!(node.role, Role::Apply(..));
    walk.nodes.iter().filter(computes).map(|node| node.value.id())
}

/// What the map of a reduction (the value) computes at great cost and another pending expression wants as
/// well, a second reduction of it for one, with the positions that the map reads: computed by itself, it
/// is there for both.
pub(crate) fn costly_for_others(walk: &Walk, value: &Value) -> Option<(Value, Range<usize>)> {
    /// Operations that take much longer than to store an element and to load it.
    const COSTLY: u32 = 48;
    let is_costly = |node: &&WalkNode| node.value.0.weight >= COSTLY;
    // Most walks have none, and what is not held outside nobody wants.
    walk.nodes.iter().find(is_costly).and_then(|_| shared(walk).find(is_costly))?;
    let own: FxHashSet<ValueId> = walk.nodes.iter().map(|node| node.value.id()).collect();
    let pending = value.0.interner.as_ref().map_or_else(Vec::new, |table| table.pending());
    let others =
        pending.iter().filter(|other| !own.contains(&other.id()) && other.id() != value.id());
    let wanted: FxHashSet<ValueId> = others.flat_map(inputs).collect();
    let is_wanted = |node: &&WalkNode| is_costly(node) && wanted.contains(&node.value.id());
    let node = shared(walk).find(is_wanted)?;
    Some((node.value.clone(), access::reach(&node.access, &walk.space)))
}

/// The values that an expression reads.
fn inputs(value: &Value) -> impl Iterator<Item = ValueId> + '_ {
    let inputs = match &value.0.kind {
        Kind::Expr { inputs, .. } => &inputs[..],
        _ => &[],
    };
    inputs.iter().filter_map(Input::id)
}

/// Whether somebody outside the walk holds one of its inner values: without that there is no
/// sibling, and nothing to look for.
fn is_shared(walk: &Walk) -> bool {
    shared(walk).next().is_some()
}

/// The inner nodes whose values somebody outside the walk holds.
fn shared(walk: &Walk) -> impl Iterator<Item = &WalkNode> {
    let mut handles = vec![1usize; walk.nodes.len()];
    for node in &walk.nodes {
        if let Role::Apply(_, children) = &node.role {
            for child in nodes_of(children) {
                handles[child as usize] += 1;
            }
        }
    }
    let inner = |role: &Role| matches!(role, Role::Apply(..));
    walk.nodes
        .iter()
        .zip(handles)
        .skip(1)
        .filter(move |(node, known)| inner(&node.role) && Arc::strong_count(&node.value.0) > *known)
        .map(|(node, _)| node)
}
