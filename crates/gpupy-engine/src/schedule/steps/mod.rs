//! Steps: what is done to compute one tile of a value, or what has to be computed before that.
//!
//! Owns [`Step`] and the choice; `reduced.rs`, `assigned.rs`, `whole.rs` and `on_host.rs` find what their operations
//! read. Invariants: nothing is launched or stored here; a step reads what is computed.
//!
//! Not here: how a step is done (`execute/perform.rs`), in which order tiles are wanted (`execute/evaluate.rs`).

mod assigned;
mod on_host;
mod reduced;
mod whole;

pub(crate) use assigned::{Assigned, Region, Written};
pub(crate) use whole::WholeStep;

use self::on_host::missing_operands;
use crate::graph::value::{Kind, NodeOp, Value};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::again::Again;
use crate::schedule::boxes;
use crate::schedule::device::Device;
use crate::schedule::partition::Possible;
use crate::schedule::siblings;
use crate::schedule::walk::{Child, Needs, Obstacle, Start, Walk, lost};
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use smallvec::SmallVec;

/// What computes a tile.
pub(crate) enum Step {
    /// Nothing: it is there.
    Nothing,
    /// A walk into the tile.
    Walk(Walk, Form),
    /// A walk into tiles of several values, the wanted one first. Where that is no one kernel, the first half of them,
    /// and so on; the wanted one alone has a walk of its own, which is the same with its first root where none is given.
    Beside {
        tiles: Vec<(Value, Tile)>,
        together: Walk,
        alone: Option<Walk>,
        form: Form,
        /// Of reductions, the operations of those behind the first.
        further: SmallVec<[Op; 4]>,
    },
    /// Walks into places of the tile's block.
    Boxes(Vec<(Walk, Access)>),
    /// Reductions of more than a block, piece by piece, the wanted one first; of as many elements.
    Reductions(SmallVec<[Value; 4]>, usize),
    /// The same of a map that is stored piece by piece.
    StoredReduction(Op, usize),
    /// An assignment.
    Assignment(Assigned),
    /// A whole-program form.
    Whole(WholeStep),
    /// All of a scatter, in host memory.
    Scatter,
    /// All positions of a mask, in host memory.
    WhereTrue,
    /// A gather in host memory that reads its positions so.
    Gathering(Access),
}

impl Step {
    /// The step that computes a tile on a device.
    ///
    /// # Errors
    /// - `Unsupported`: the device cannot do an operation that lies on the way.
    /// - `Lost`: a value was lost with its device, and cannot be computed again.
    pub fn of(
        device: &Device,
        again: &mut Again,
        value: &Value,
        tile: &Tile,
    ) -> Result<Possible<Step>> {
        let Kind::Expr { op, inputs } = &value.0.kind else { return Ok(Ok(Step::Nothing)) };
        let lack = device.lack(value, op, inputs, &value.state().operands);
        if let Some(error) = lack {
            return Err(error);
        }
        match op {
            NodeOp::Assign(_) => {
                let step = Assigned::of(device, again, value, tile)?;
                Ok(step.map(Step::Assignment))
            }
            NodeOp::Whole(whole) => {
                Ok(WholeStep::of(device, *whole, value, tile)?.map(Step::Whole))
            }
            NodeOp::Scatter(_) => Ok(unless(missing_operands(value)?, Step::Scatter)),
            NodeOp::WhereTrue => Ok(unless(missing_operands(value)?, Step::WhereTrue)),
            NodeOp::Reduce { op, n } => {
                let operand = value.state().operands.first().cloned().flatten();
                reduced::of_reduction(device, again, value, (*op, *n), operand.as_ref(), tile)
            }
            NodeOp::Gather if !gathers(device, value)? => {
                let (at, needs) = on_host::gathering(value, tile)?;
                Ok(unless(needs, Step::Gathering(at)))
            }
            NodeOp::Gather | NodeOp::Apply(_) | NodeOp::Index(_) | NodeOp::Join(_) => {
                of_map(device, again, value, tile)
            }
        }
    }
}

/// A step, unless something is needed first.
fn unless(needs: Needs, step: Step) -> Possible<Step> {
    if needs.is_empty() { Ok(step) } else { Err(needs) }
}

/// Whether a kernel of the device does a gather.
fn gathers(device: &Device, value: &Value) -> Result<bool> {
    let table = value.state().operands.get(1).cloned().flatten();
    Ok(device.gathers_from(&table.ok_or_else(|| lost(value.id()))?))
}

fn of_map(
    device: &Device,
    again: &mut Again,
    value: &Value,
    tile: &Tile,
) -> Result<Possible<Step>> {
    let (at, space) = access::space_of_tile(value.shape(), tile);
    let walk = match Walk::up_to_cuts(device, &[Start::Itself(value)], at, space)? {
        Ok((walk, cuts)) if cuts.is_empty() => walk,
        Err(Obstacle::Needs(needs)) => return Ok(Err(needs)),
        found => {
            return Ok(boxes::of_tile(device, again, value, tile, found)?.map(Step::Boxes));
        }
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
        return Ok(Ok(beside(tiles, together, None)));
    }
    if device.caps.max_dests > 1
        && let Some((values, together)) = siblings::beside(device, &walk, value, tile)
    {
        let tiles = values.into_iter().map(|value| (value, tile.clone())).collect();
        return Ok(Ok(beside(tiles, together, Some(walk))));
    }
    Ok(Ok(Step::Walk(walk, Form::Map)))
}

/// The step of maps that one launch computes.
fn beside(tiles: Vec<(Value, Tile)>, together: Walk, alone: Option<Walk>) -> Step {
    Step::Beside { tiles, together, alone, form: Form::Map, further: SmallVec::new() }
}
