//! Horizontal (multi-output) fusion: pending values, *siblings*, that are computed almost for free beside the wanted
//! one.
//!
//! Owns the choice of values that a launch computes besides its own. The three channels of an image share most of their
//! operations, and several destinations of one launch compute those once. A sibling is a living expression of the same
//! shape that no other pending expression uses, at least half of whose operations the wanted value needs as well; or
//! one that is wanted next, or by the same later step (a *fellow*), and reads an operand of the wanted one. A costly
//! value that something holds, and that is computed on the way to the wanted one, is written beside it. Invariant:
//! nothing is launched here; whether all fit into one kernel is asked of their kernel (`walk_kernels.rs`).
//!
//! A reduction is no sibling (`reduction_groups.rs`), but may share operations of its map; those are chosen here too.
//!
//! Not here: values that the wanted one itself needs (`walk/mod.rs`).

use crate::graph::value::{Input, NodeOp, Value, ValueId, ValueKind};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::program::kernel::Marks;
use crate::schedule::walk::{Child, FusionWalk, Needs, Role, Start, WalkNode, nodes_of};
use crate::thresholds::T;
use gpupy_core::DType;
use gpupy_core::driver::{Part, Resources};
use gpupy_core::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;

/// A value that may be computed beside another one.
#[derive(Clone)]
struct Candidate {
    value: Value,
    /// It is asked for as well, so that it is enough if both read the same elements.
    is_wanted: bool,
}

/// The values that are computed beside one.
pub(crate) enum Beside {
    Nothing,
    /// The value with its siblings, and the walk of all of them.
    Siblings(Vec<Value>, FusionWalk),
    /// What its siblings need first.
    First(Needs),
}

/// Whether a kernel of a device may compute several values: where it may not, none of them had better wait for others.
pub(crate) fn is_possible(device: &OpenDevice) -> bool {
    let (of, add) = (DType::I32, Part::Op(Op::Add, DType::I32));
    let mut need = Resources::default();
    for part in [Part::Operand(of), add, add, Part::Dest(of), Part::Dest(of)] {
        device.driver.resource_add(&mut need, &device.driver.resource_get(part));
    }
    device.driver.resource_check(&need)
}

/// The siblings of a value whose tile this walk computes.
pub(crate) fn beside(device: &OpenDevice, walk: &FusionWalk, value: &Value, tile: &Tile) -> Beside {
    let is_next = |other: &&Value| other.id() != value.id() && is_alike(device, other, value, tile);
    let most = device.caps.max_dests;
    let fellows: Vec<&Value> = device.flush.fellows.iter().filter(is_next).take(most - 1).collect();
    let fellows = match of_few_operations(device, (value, walk), fellows, tile) {
        Ok(fellows) => fellows,
        Err(needs) => return Beside::First(needs),
    };
    let next = device.flush.next.iter().filter(is_next).take(most);
    let next = next.filter(|next| !fellows.iter().any(|other| other.id() == next.id()));
    let next: Vec<&Value> = fellows.iter().copied().chain(next).collect();
    let mut found = candidates(device, walk, value, tile);
    let is_alone = next.is_empty() && found.is_empty();
    found.extend(on_the_way(device, walk, (value, is_alone), tile));
    found.retain(|other| !next.iter().any(|next| next.id() == other.id()));
    let next = next.into_iter().map(|value| Candidate { value: value.clone(), is_wanted: true });
    let found = found.into_iter().map(|value| Candidate { value, is_wanted: false });
    let all: Vec<Candidate> = next.chain(found).collect();
    let siblings = match all.is_empty() {
        true => None,
        false => with_siblings(device, (value, walk), all, tile),
    };
    siblings.map_or(Beside::Nothing, |(values, walk)| Beside::Siblings(values, walk))
}

/// As many of a value's fellows as are one kernel of few operations with it. Or what one of them needs first, so that
/// none is left behind for that; but not where one needs another.
///
/// # Errors
/// The needs of all, where they are more than those of the value's own walk.
fn of_few_operations<'v>(
    device: &OpenDevice,
    (value, alone): (&Value, &FusionWalk),
    mut fellows: Vec<&'v Value>,
    tile: &Tile,
) -> Result<Vec<&'v Value>, Needs> {
    while !fellows.is_empty() {
        let all = || std::iter::once(value).chain(fellows.iter().copied());
        let starts: Vec<Start<'_>> = all().map(Start::Itself).collect();
        let (at, space) = (alone.start(tile), alone.space.clone());
        let Ok(together) = FusionWalk::new(device, &starts, at, space) else { break };
        let operations = together.operations();
        if operations > T.fellow_operations {
            let most = starts.len() * T.fellow_operations / operations;
            fellows.truncate(most.saturating_sub(1));
            continue;
        }
        let is_more = !together.needs_no_more_than(&alone.needs);
        // A fellow by itself is cut where the parts of a joined value end, instead of needing that value.
        let is_join = |value: &Value| {
            matches!(value.0.kind, ValueKind::Expr { op: NodeOp::Join(_), .. })
                && !alone.needs.iter().any(|(known, _)| known.id() == value.id())
        };
        let are_cut = together.needs.iter().any(|(value, _)| is_join(value));
        if is_more && !are_cut && are_before(&together.needs, all()) {
            return Err(together.needs);
        }
        break;
    }
    Ok(fellows)
}

/// Whether these needs, of some values, are few elements, and none of these values.
pub(crate) fn are_before<'v>(needs: &Needs, mut values: impl Iterator<Item = &'v Value>) -> bool {
    let mut bytes: FxHashMap<ValueId, u64> = FxHashMap::default();
    bytes.extend(needs.iter().map(|(value, _)| (value.id(), value.byte_len())));
    bytes.values().sum::<u64>() <= T.fellow_bytes
        && !values.any(|own| bytes.contains_key(&own.id()))
}

/// Whether a launch for a value's tile could compute the same tile of another value that is pending.
fn is_alike(device: &OpenDevice, other: &Value, value: &Value, tile: &Tile) -> bool {
    matches!(
        other.0.kind,
        ValueKind::Expr { op: NodeOp::Apply(_) | NodeOp::Call(_) | NodeOp::Gather, .. }
    ) && other.shape() == value.shape()
        && device.is_tile_of(other, tile.number, &tile.range)
        && device.caps.dtypes.contains(&other.dtype())
        && !device.is_there(other, tile.range.clone())
}

/// The candidates for siblings of a value whose tile this walk computes.
fn candidates(device: &OpenDevice, walk: &FusionWalk, value: &Value, tile: &Tile) -> Vec<Value> {
    let size = walk.nodes.len();
    if size < T.recompute as usize
        || size > T.siblings_nodes
        || shared(walk, device).next().is_none()
    {
        return Vec::new();
    }
    let computed: FxHashSet<ValueId> = operations(walk).collect();
    let is_alike =
        |other: &Value| !computed.contains(&other.id()) && is_alike(device, other, value, tile);
    let mut candidates: Vec<Value> = device.flush.others.pending().filter(is_alike).collect();
    if candidates.is_empty() {
        return candidates;
    }
    let used: FxHashSet<ValueId> =
        device.flush.others.pending().flat_map(|other| inputs(&other)).collect();
    candidates.retain(|other| !used.contains(&other.id()));
    candidates.sort_unstable_by_key(Value::id);
    candidates
}

/// The values that a walk for a value's tile computes on the way, that something holds, and that take much longer to
/// compute than to store, or are most of the wanted one's cost: what is made of them later would compute them again,
/// and all that they are made of. What is read is rarely a step of something else: of those that are not costly the
/// nearest is enough then, which may be a loop's, unless others are computed beside it.
fn on_the_way(
    device: &OpenDevice,
    walk: &FusionWalk,
    (value, is_alone): (&Value, bool),
    tile: &Tile,
) -> Vec<Value> {
    let least = T.recompute.max(value.0.weight / 2);
    let is_step = device.flush.fates.is_stored(value.id());
    let (mut seen, mut has_nearest) = (FxHashSet::default(), false);
    let held = shared(walk, device).map(|node| &node.value);
    held.filter(|other| other.0.weight > least.min(T.costly))
        .filter(|other| other.id() != value.id() && seen.insert(other.id()))
        .filter(|other| is_alike(device, other, value, tile))
        .filter(|other| {
            let is_most = other.0.weight > least;
            let is_nearest = is_most && !std::mem::replace(&mut has_nearest, true);
            other.0.weight > T.costly || is_nearest && is_alone || is_most && is_step
        })
        .take(device.caps.max_dests)
        .cloned()
        .collect()
}

/// A value with those of the candidates that pay as its siblings, if there are any, and the walk of all.
fn with_siblings(
    device: &OpenDevice,
    (value, alone): (&Value, &FusionWalk),
    mut candidates: Vec<Candidate>,
    tile: &Tile,
) -> Option<(Vec<Value>, FusionWalk)> {
    let walk = |candidates: &[Candidate]| {
        let others = candidates.iter().map(|candidate| &candidate.value);
        let starts: Vec<Start<'_>> =
            std::iter::once(value).chain(others).map(Start::Itself).collect();
        FusionWalk::new(device, &starts, alone.start(tile), alone.space.clone()).ok()
    };
    let needs_no_more = |walk: &FusionWalk| walk.needs_no_more_than(&alone.needs);
    let mut together = walk(&candidates);
    if let Some(all) = together.take_if(|all| !needs_no_more(all)) {
        let mut needs_more = needing_more(&all, &alone.needs).into_iter();
        let before = candidates.len();
        candidates.retain(|_| !needs_more.next().unwrap_or(false));
        if (1..before).contains(&candidates.len()) {
            together = walk(&candidates).filter(needs_no_more);
        }
    }
    if together.is_none() && !candidates.is_empty() {
        // Some need something first only beside others, or cannot be computed here.
        let pair = |other: &Candidate| walk(std::slice::from_ref(other)).filter(needs_no_more);
        candidates.retain(|other| pair(other).is_some());
        if !candidates.is_empty() {
            together = walk(&candidates).filter(needs_no_more);
        }
    }
    let all = candidates.len();
    let mut pays = paying(together.as_ref()?, &candidates).into_iter();
    candidates.retain(|_| pays.next().unwrap_or(false));
    candidates.truncate(device.caps.max_dests - 1);
    if candidates.is_empty() {
        return None;
    }
    if candidates.len() < all {
        // One of them may read another that does not pay: that would be needed first, and itself needs the value.
        together = walk(&candidates).filter(needs_no_more);
    }
    let others = candidates.into_iter().map(|candidate| candidate.value);
    Some((std::iter::once(value.clone()).chain(others).collect(), together?))
}

/// For each root of a walk but the first, whether it needs more first than these, which no other root reads: beside the
/// first one alone it needs that, too.
fn needing_more(walk: &FusionWalk, known: &Needs) -> Vec<bool> {
    let more: FxHashSet<ValueId> = walk.needs_beyond(known).map(|(value, _)| value.id()).collect();
    let mut seen = Marks::default();
    let mut of = |root: &Child| -> FxHashSet<ValueId> {
        let (_, loads) = below(walk, root, &mut seen);
        let values = loads.into_iter().map(|node| walk.nodes[node as usize].value.id());
        values.filter(|value| more.contains(value)).collect()
    };
    let all: Vec<FxHashSet<ValueId>> = walk.roots.iter().map(&mut of).collect();
    let readers = |value: &ValueId| all.iter().filter(|own| own.contains(value)).count();
    all.iter().skip(1).map(|own| own.iter().any(|value| readers(value) == 1)).collect()
}

/// The cone of a root of a walk: the operations that compute it, and the nodes that it reads from blocks.
fn below(walk: &FusionWalk, root: &Child, seen: &mut Marks) -> (Vec<u32>, Vec<u32>) {
    seen.clear(walk.nodes.len());
    let (mut operations, mut loads) = (Vec::new(), Vec::new());
    let mut open: Vec<u32> = nodes_of(std::slice::from_ref(root)).collect();
    while let Some(node) = open.pop() {
        if !seen.mark(node) {
            continue;
        }
        match &walk.nodes[node as usize].role {
            Role::Apply(_, children) => {
                operations.push(node);
                open.extend(nodes_of(children));
            }
            Role::Leaf | Role::Table => loads.push(node),
            Role::Index(_) | Role::InPieces(_) => {}
        }
    }
    (operations, loads)
}

/// For each candidate, whose roots are those of the walk but the first: whether it shares so much with those before it
/// that pay that it is computed almost for free beside them.
fn paying(walk: &FusionWalk, candidates: &[Candidate]) -> Vec<bool> {
    let mut known = vec![false; walk.nodes.len()];
    let mut seen = Marks::default();
    let mut pays = Vec::new();
    let wanted = candidates.iter().map(|candidate| Some(candidate.is_wanted));
    for (root, wanted) in walk.roots.iter().zip(std::iter::once(None).chain(wanted)) {
        let (operations, loads) = below(walk, root, &mut seen);
        let shared = operations.iter().filter(|node| known[**node as usize]).count();
        let shares_loads = || loads.iter().any(|node| known[*node as usize]);
        let is_kept = match wanted {
            None => true,
            Some(true) => shared > 0 || shares_loads(),
            Some(false) => shared >= T.recompute as usize && shared * 2 >= operations.len(),
        };
        if is_kept {
            operations.iter().chain(&loads).for_each(|node| known[*node as usize] = true);
        }
        if wanted.is_some() {
            pays.push(is_kept);
        }
    }
    pays
}

/// The values of the operations that a walk computes.
fn operations(walk: &FusionWalk) -> impl Iterator<Item = ValueId> + '_ {
    let computes = |node: &&WalkNode| matches!(node.role, Role::Apply(..));
    walk.nodes.iter().filter(computes).map(|node| node.value.id())
}

/// The costly operand that a reduction's map shares with another pending expression (such as a second reduction that is
/// not computed beside it), with the positions that the map reads. Computed by itself, it serves both.
pub(crate) fn costly_for_others(
    walk: &FusionWalk,
    device: &OpenDevice,
    value: &Value,
    beside: &[Value],
) -> Option<(Value, Range<usize>)> {
    let is_costly = |node: &&WalkNode| node.value.0.weight >= T.costly;
    // Most walks have none, and a value that is not held outside is not wanted.
    walk.nodes.iter().find(is_costly).and_then(|_| shared(walk, device).find(is_costly))?;
    let own: FxHashSet<ValueId> = walk.nodes.iter().map(|node| node.value.id()).collect();
    let is_other = |other: &Value| {
        let id = other.id();
        !own.contains(&id) && id != value.id() && !beside.iter().any(|beside| beside.id() == id)
    };
    let others = device.flush.others.pending().filter(is_other);
    let wanted: FxHashSet<ValueId> = others.flat_map(|other| inputs(&other)).collect();
    let is_wanted = |node: &&WalkNode| is_costly(node) && wanted.contains(&node.value.id());
    let node = shared(walk, device).find(is_wanted)?;
    Some((node.value.clone(), access::reach(&node.access, &walk.space)))
}

/// The values that an expression reads.
fn inputs(value: &Value) -> SmallVec<[ValueId; 3]> {
    match &value.0.kind {
        ValueKind::Expr { inputs, .. } => inputs.iter().filter_map(Input::id).collect(),
        _ => SmallVec::new(),
    }
}

/// The inner nodes whose values something outside the walk may hold: without one there is no sibling, and nothing to
/// look for.
fn shared<'w>(walk: &'w FusionWalk, device: &OpenDevice) -> impl Iterator<Item = &'w WalkNode> {
    let inner = walk.nodes.iter().skip(1).filter(|node| matches!(node.role, Role::Apply(..)));
    inner.filter(|node| device.flush.fates.lasts(&node.value))
}
