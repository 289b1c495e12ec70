//! Steps: the operation that computes one tile of a value, and the tiles that have to be computed before it.
//!
//! Owns [`TileStep`], [`PreparedStep`] and the choice; `reduction_step.rs`, `assignment_step.rs`, `boxes.rs`,
//! `components.rs`, `library_step.rs` and `on_host.rs` find the operands of their operations. A
//! [`Schedule`](ordering::Schedule) has the steps in their order, and [`Strips`](strip_mining::Strips) are steps whose
//! kernels read the same rows. Invariants: nothing is launched or stored here; a step reads tiles that are present
//! or that are among its needs.
//!
//! Not here: how a step is done (`commands/`, `execute/run_commands.rs`).

mod assignment_step;
mod boxes;
mod components;
mod contraction;
mod library_step;
mod on_host;
pub(crate) mod ordering;
mod reduction_step;
pub(crate) mod reduction_tile;
mod row_kernel;
pub(crate) mod strip_mining;

pub(crate) use assignment_step::{Assigned, Region, Written};
pub(crate) use library_step::{LibraryOperand, LibraryStep};

use self::on_host::missing_operands;
use crate::graph::value::{Node, NodeOp, Value, ValueId, ValueKind};
use crate::memory::tiling::Tile;
use crate::schedule::destination::RootDestinations;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::horizontal_fusion::{self, Beside};
use crate::schedule::kernels::partition::Possible;
use crate::schedule::kernels::walk_kernels::{MostKernels, WalkKernels};
use crate::schedule::walk::rematerialisation::Rematerialisation;
use crate::schedule::walk::{Child, FusionWalk, Needs, lost};
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;
use std::sync::{Arc, Weak};

/// The operation that computes a tile.
pub(crate) enum TileStep {
    /// Nothing: it is there.
    Nothing,
    /// Kernels into the tile.
    Kernels(Box<WalkKernels>),
    /// One kernel into tiles of several values, the wanted one first.
    Beside { tiles: Vec<(Value, Tile)>, kernels: Box<WalkKernels> },
    /// Kernels into places of the tile's block.
    Boxes(Vec<WalkKernels>),
    /// Reductions of more than a block, piece by piece, the wanted one first; of as many elements.
    Reductions(SmallVec<[Value; 4]>, usize),
    /// A reduction of a map that is stored piece by piece.
    StoredReduction(Op, usize),
    /// An assignment.
    Assignment(Assigned),
    /// A whole-program form.
    Whole(LibraryStep),
    /// All of a scatter, in host memory.
    Scatter,
    /// All positions of a mask, in host memory.
    WhereTrue,
    /// A gather in host memory that reads its positions so.
    Gathering(Access),
}

impl TileStep {
    /// The elements that are there when it is done, of the value and tile that it is for and of others.
    pub fn gives(&self, device: &OpenDevice, value: &Value, tile: &Tile) -> GivenElements {
        let elements =
            |(value, tile): (&Value, &Tile)| (Arc::downgrade(&value.0), tile.range.clone());
        let mut given: SmallVec<[(Weak<Node>, Range<usize>); 1]> = match self {
            TileStep::Beside { tiles, .. } => {
                tiles.iter().map(|(value, tile)| elements((value, tile))).collect()
            }
            TileStep::Reductions(values, _) => {
                values.iter().map(|value| elements((value, tile))).collect()
            }
            TileStep::Scatter | TileStep::WhereTrue => {
                smallvec![(Arc::downgrade(&value.0), 0..value.len())]
            }
            _ => smallvec![elements((value, tile))],
        };
        for kernels in self.kernels() {
            given.extend(kernels.stored(device).map(|(value, tile)| elements((value, &tile))));
        }
        GivenElements(given)
    }

    /// The nodes of its walks: a rough measure of its memory.
    pub fn nodes(&self) -> usize {
        self.kernels().map(|kernels| kernels.partition.walk.nodes.len()).sum()
    }

    /// Whether steps that will be done before it compute values that it computes on the way.
    pub fn is_outdated(&self, device: &OpenDevice) -> bool {
        self.kernels().any(|kernels| kernels.are_outdated(device))
    }

    /// Whether one of its known kernels reads a value of which this is so.
    pub fn reads_any(&self, is_so: impl Fn(&Value) -> bool) -> bool {
        self.kernels().flat_map(WalkKernels::operands).any(is_so)
    }

    /// Whether it may read a value; false only where all that it reads is known.
    pub fn may_read(&self, value: ValueId) -> bool {
        match self {
            TileStep::Nothing => false,
            TileStep::Kernels(_) | TileStep::Beside { .. } | TileStep::Boxes(_) => {
                self.kernels().any(|kernels| kernels.reads(value))
            }
            _ => true,
        }
    }

    /// The kernels that it launches, as far as these are known before it is done.
    fn kernels(&self) -> impl Iterator<Item = &WalkKernels> {
        let one = match self {
            TileStep::Kernels(kernels) | TileStep::Beside { kernels, .. } => Some(&**kernels),
            TileStep::Assignment(Assigned::InBlock(written)) => written.kernels.as_ref(),
            _ => None,
        };
        let boxes = if let TileStep::Boxes(boxes) = self { &boxes[..] } else { &[] };
        one.into_iter().chain(boxes)
    }
}

/// Elements of values, which are held weakly: a value without other handles is not asked for.
pub(crate) struct GivenElements(SmallVec<[(Weak<Node>, Range<usize>); 1]>);

impl GivenElements {
    /// The values that are still held, each with its elements.
    pub fn of_values(&self) -> impl Iterator<Item = (ValueId, Range<usize>)> + '_ {
        self.0.iter().filter_map(|(value, range)| Some((value.upgrade()?.id, range.clone())))
    }
}

/// A step, with the tiles that have to be computed before it.
pub(crate) struct PreparedStep {
    pub step: TileStep,
    pub needs: Needs,
}

impl PreparedStep {
    /// A step that needs nothing.
    fn ready(step: TileStep) -> PreparedStep {
        PreparedStep { step, needs: Needs::new() }
    }

    /// How many kernels there are of a step that needs nothing, if it is of kernels alone.
    fn kernels(&self) -> Option<usize> {
        match &self.step {
            TileStep::Kernels(kernels) if self.needs.is_empty() => Some(kernels.len()),
            _ => None,
        }
    }

    /// The step that computes a walk into a tile, with the needs of the walk.
    ///
    /// # Errors
    /// As of kernels.
    fn of_walk(
        device: &mut OpenDevice,
        mut walk: FusionWalk,
        form: Form,
    ) -> Result<Possible<PreparedStep>> {
        let needs = std::mem::take(&mut walk.needs);
        let kernels = WalkKernels::of(device, walk, RootDestinations::tile(form))?;
        Ok(match kernels {
            Ok(kernels) => Ok(PreparedStep { step: TileStep::Kernels(Box::new(kernels)), needs }),
            Err(more) => Err(before(needs, more)),
        })
    }
}

impl TileStep {
    /// The step that computes a tile on a device; or the tiles that have to be computed before it is known.
    ///
    /// # Errors
    /// - `Unsupported`: the device cannot do an operation that lies on the way.
    /// - `Refused`: one operation alone exceeds the driver's limits.
    /// - `Lost`: a value was lost with its device, and cannot be computed again.
    pub fn of(
        device: &mut OpenDevice,
        again: &mut Rematerialisation,
        value: &Value,
        tile: &Tile,
    ) -> Result<Possible<PreparedStep>> {
        let ValueKind::Expr { op, inputs } = &value.0.kind else {
            return Ok(Ok(PreparedStep::ready(TileStep::Nothing)));
        };
        let lack = device.lack(value, op, inputs, &value.state().operands);
        if let Some(error) = lack {
            return Err(error);
        }
        let prepared = |step, needs| Ok(Ok(PreparedStep { step, needs }));
        match op {
            NodeOp::Assign(_) => assignment_step::of_assignment(device, again, value, tile),
            NodeOp::Whole(whole) => {
                let (step, needs) = LibraryStep::of(device, *whole, value, tile)?;
                prepared(TileStep::Whole(step), needs)
            }
            NodeOp::Scatter(_) => prepared(TileStep::Scatter, missing_operands(device, value)?),
            // That it lacks elements was said.
            NodeOp::Argument | NodeOp::Deferred(_) => {
                Ok(Ok(PreparedStep::ready(TileStep::Nothing)))
            }
            NodeOp::WhereTrue => prepared(TileStep::WhereTrue, missing_operands(device, value)?),
            NodeOp::Reduce { op, n } => {
                let operand = value.state().operands.first().cloned().flatten();
                reduction_step::of_reduction(
                    device,
                    again,
                    value,
                    (*op, *n),
                    operand.as_ref(),
                    tile,
                )
            }
            NodeOp::Gather if !gathers(device, value)? => {
                let (at, needs) = on_host::gathering(device, value, tile)?;
                prepared(TileStep::Gathering(at), needs)
            }
            NodeOp::Gather
            | NodeOp::Apply(_)
            | NodeOp::Call(_)
            | NodeOp::Index(_)
            | NodeOp::InPieces(_)
            | NodeOp::Join(_) => of_map(device, again, value, tile),
        }
    }
}

/// The tiles to compute before a walk is made once more. Its needs come first; if it has none, those for which it could
/// not be cut into kernels. With them computed, it may be cut otherwise.
fn before(needs: Needs, more: Needs) -> Needs {
    if needs.is_empty() { more } else { needs }
}

/// Whether a kernel of the device does a gather.
fn gathers(device: &OpenDevice, value: &Value) -> Result<bool> {
    let table = value.state().operands.get(1).cloned().flatten();
    Ok(device.gathers_from(&table.ok_or_else(|| lost(value.id()))?))
}

fn of_map(
    device: &mut OpenDevice,
    again: &mut Rematerialisation,
    value: &Value,
    tile: &Tile,
) -> Result<Possible<PreparedStep>> {
    let walk = match FusionWalk::of_tile(device, value, tile)? {
        Ok((walk, cuts)) if cuts.is_empty() => walk,
        found => return boxes::of_tile(device, again, value, tile, found),
    };
    if let Some(needs) = again.stored_first(&walk, value, device) {
        return Ok(Err(needs));
    }
    if !walk.besides.is_empty() {
        let (mut tiles, mut together) = (vec![(value.clone(), tile.clone())], walk);
        for node in std::mem::take(&mut together.besides) {
            let beside = &together.nodes[node as usize];
            if let Some(tile) = device.own_tile(&beside.value, &beside.access, &together.space) {
                tiles.push((beside.value.clone(), tile));
                together.roots.push(Child::Node(node));
            }
        }
        return beside(device, tiles, (together, None), (Form::Map, &[]));
    }
    if device.caps.max_dests > 1 {
        match horizontal_fusion::beside(device, &walk, value, tile) {
            Beside::Siblings(values, together) => {
                let tiles = values.into_iter().map(|value| (value, tile.clone())).collect();
                return beside(device, tiles, (together, Some(walk)), (Form::Map, &[]));
            }
            Beside::First(needs) => return Ok(Err(needs)),
            Beside::Nothing => {}
        }
    }
    if let Some(step) = components::of_tile(device, again, value, &walk.start(tile), &walk)? {
        return Ok(Ok(step));
    }
    PreparedStep::of_walk(device, walk, Form::Map)
}

/// The step of tiles that one launch computes, the wanted one first: as many of them as the device takes where all are
/// no one kernel, unless something is needed first, as what computes that may compute some of them. The wanted one
/// alone may have a walk of its own; else it is the same with its first root. Of reductions, with the operations of
/// those behind the first. Several kernels may be the way to them: where all are asked for, if these are fewer than the
/// first one's and one for each of the others, or compute less than each by itself would; else, if they are no more
/// than the first one's.
///
/// # Errors
/// As of kernels.
fn beside(
    device: &mut OpenDevice,
    mut tiles: Vec<(Value, Tile)>,
    (together, mut alone): (FusionWalk, Option<FusionWalk>),
    (form, further): (Form, &[Op]),
) -> Result<Possible<PreparedStep>> {
    let mut walk = match together.complete() {
        Ok(walk) => walk,
        Err(needs) => return Ok(Err(needs)),
    };
    let next = device.flush.next.clone();
    let is_next = |(value, _): &(Value, Tile)| next.iter().any(|next| next.id() == value.id());
    let mut first = None;
    while tiles.len() > 1 {
        // A value that was not asked for is computed almost for free, or not at all.
        let are_wanted = form == Form::Map && tiles[1..].iter().all(is_next);
        let further = further.get(..tiles.len() - 1).unwrap_or_default().into();
        let ends = RootDestinations { form, further, places: smallvec![None; tiles.len()] };
        let mut found = WalkKernels::of_all(device, walk, ends.clone());
        if form == Form::Map
            && let Err(rest) = found
        {
            if let Some(walk) = alone.take() {
                first = Some(PreparedStep::of_walk(device, walk, form)?);
            }
            let alone = first.as_ref().and_then(|first| first.as_ref().ok()?.kernels());
            let most = match are_wanted {
                true => alone.map(|count| MostKernels::OrSaving(count + tiles.len() - 2)),
                false => alone.filter(|count| *count > 1).map(MostKernels::Are),
            };
            found = match most {
                Some(most) => WalkKernels::of_several(device, rest.walk, ends, most),
                None => Err(rest),
            };
        }
        match found {
            Ok(kernels) => {
                let kernels = Box::new(kernels);
                return Ok(Ok(PreparedStep::ready(TileStep::Beside { tiles, kernels })));
            }
            Err(rest) => {
                tiles.truncate(rest.fewer(tiles.len()));
                walk = rest.walk;
            }
        }
        walk.roots.truncate(tiles.len());
    }
    match first {
        Some(first) => Ok(first),
        None => PreparedStep::of_walk(device, alone.unwrap_or(walk), form),
    }
}
