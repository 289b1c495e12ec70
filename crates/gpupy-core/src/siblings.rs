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

use crate::access;
use crate::cache::Device;
use crate::error::{ErrorKind, Result};
use crate::evaluate::{Destination, Engine};
use crate::ir::Form;
use crate::partition::{Evaluation, Flow};
use crate::plans::Structure;
use crate::tiling::Tile;
use crate::value::{Input, Kind, NodeOp, Value, ValueId};
use crate::walk::{RECOMPUTE, Role, Start, Walk, WalkNode};
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
        let mut siblings = siblings(self.device(device)?, &walk, value, tile);
        let caps = &self.device(device)?.caps;
        siblings.retain(|sibling| caps.dtypes.contains(&sibling.dtype()));
        siblings.truncate(caps.max_dests - 1);
        if !siblings.is_empty() {
            let all: Vec<Value> = [value.clone()].into_iter().chain(siblings).collect();
            let starts: Vec<Start<'_>> = all.iter().map(Start::Value).collect();
            let (at, space) = access::space_of_tile(value.shape(), tile);
            if let Ok(together) = Walk::new(self.device(device)?, &starts, at, space)? {
                let dests: Vec<Destination> = all.iter().map(dest).collect();
                if self.run_together(together, &dests, device)? {
                    return Ok(Flow::Done);
                }
            }
        }
        self.run(walk, Form::Map, dest(value), device)
    }

    /// Launches a walk with several roots as one kernel; false when it does not fit in one.
    fn run_together(&mut self, walk: Walk, dests: &[Destination], device: usize) -> Result<bool> {
        let roots = walk.roots.clone();
        let open = self.device(device)?;
        let structure = Structure::of(open, &walk, Form::Map, dests);
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
            Ok(launched) => Ok(launched),
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

/// The siblings of a value whose tile this walk computes.
fn siblings(device: &Device, walk: &Walk, value: &Value, tile: &Tile) -> Vec<Value> {
    /// Nodes in a walk that could still be one kernel with others beside it.
    const MANY: usize = 2048;
    let size = walk.nodes.len();
    if size < RECOMPUTE as usize || size > MANY || !is_shared(walk) {
        return Vec::new();
    }
    let mut computed = operations(walk);
    let pending = value.0.interner.as_ref().map_or_else(Vec::new, |table| table.pending());
    let used: FxHashSet<ValueId> = pending.iter().flat_map(inputs).collect();
    let mut candidates: Vec<Value> = pending
        .into_iter()
        .filter(|other| {
            matches!(other.0.kind, Kind::Expr { op: NodeOp::Apply(_) | NodeOp::Gather, .. })
                && other.shape() == value.shape()
                && !other.state().computed.covers(tile.range.clone())
                && !used.contains(&other.id())
                && !computed.contains(&other.id())
        })
        .collect();
    candidates.sort_unstable_by_key(Value::id);
    candidates.retain(|other| {
        let (at, space) = access::space_of_tile(value.shape(), tile);
        let walk = Walk::new(device, &[Start::Value(other)], at, space);
        let Ok(Ok(walk)) = walk else { return false };
        let own = operations(&walk);
        let shared = own.intersection(&computed).count();
        let pays = shared >= RECOMPUTE as usize && shared * 2 >= own.len();
        if pays {
            computed.extend(own);
        }
        pays
    });
    candidates
}

/// The operations that a walk computes.
fn operations(walk: &Walk) -> FxHashSet<ValueId> {
    let computes = |role: &Role| matches!(role, Role::Apply(..));
    walk.nodes.iter().filter(|node| computes(&node.role)).map(|node| node.value.id()).collect()
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
            for child in crate::kernel::nodes_of(children) {
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
