//! Steps: what is done to compute one tile of a value, or what has to be computed before that.
//!
//! Owns [`Step`] and the choice. Invariants: nothing is launched or stored here; a step reads what is computed.
//!
//! Not here: how a step is done (`execute/perform.rs`), in which order tiles are wanted (`execute/evaluate.rs`).

use crate::graph::value::{Kind, NodeOp, Value};
use crate::graph::whole::Whole;
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::again::Again;
use crate::schedule::boxes;
use crate::schedule::device::Device;
use crate::schedule::partition::Possible;
use crate::schedule::reduction::{self, in_rows, reduced_tile};
use crate::schedule::siblings;
use crate::schedule::walk::{Child, Needs, Obstacle, Start, Walk, lost};
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use gpupy_core::shape::size_of;
use std::ops::Range;
use std::sync::Arc;

/// What computes a tile.
pub(crate) enum Step {
    /// Nothing: it is there.
    Nothing,
    /// A walk into the tile.
    Walk(Walk, Form),
    /// A walk into tiles of several values, the wanted one first; where that is no one kernel, the walk of the wanted
    /// one alone, which is the same with its first root where there is no other.
    Beside { tiles: Vec<(Value, Tile)>, together: Walk, alone: Option<Walk> },
    /// Walks into places of the tile's block.
    Boxes(Vec<(Walk, Access)>),
    /// A reduction of more than a block, piece by piece; of as many elements, by this operation.
    Reduction(Op, usize),
    /// The same of a map that is stored piece by piece.
    StoredReduction(Op, usize),
    /// An assignment, which finds out itself what it needs.
    Assignment,
    /// As `Assignment`.
    Whole(Whole),
    /// As `Assignment`.
    Scatter,
    /// As `Assignment`.
    WhereTrue,
    /// A gather in host memory, as `Assignment`.
    Gathering,
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
            NodeOp::Assign(_) => Ok(Ok(Step::Assignment)),
            NodeOp::Whole(whole) => Ok(Ok(Step::Whole(*whole))),
            NodeOp::Scatter(_) => Ok(Ok(Step::Scatter)),
            NodeOp::WhereTrue => Ok(Ok(Step::WhereTrue)),
            NodeOp::Reduce { op, n } => {
                let operand = value.state().operands.first().cloned().flatten();
                of_reduction(device, again, value, (*op, *n), operand.as_ref(), tile)
            }
            NodeOp::Gather if !gathers(device, value)? => Ok(Ok(Step::Gathering)),
            NodeOp::Gather | NodeOp::Apply(_) | NodeOp::Index(_) | NodeOp::Join(_) => {
                of_map(device, again, value, tile)
            }
        }
    }
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
        return Ok(Ok(Step::Beside { tiles, together, alone: None }));
    }
    if device.caps.max_dests > 1
        && let Some((values, together)) = siblings::beside(device, &walk, value, tile)
    {
        let tiles = values.into_iter().map(|value| (value, tile.clone())).collect();
        return Ok(Ok(Step::Beside { tiles, together, alone: Some(walk) }));
    }
    Ok(Ok(Step::Walk(walk, Form::Map)))
}

fn of_reduction(
    device: &Device,
    again: &mut Again,
    value: &Value,
    (op, n): (Op, usize),
    operand: Option<&Value>,
    tile: &Tile,
) -> Result<Possible<Step>> {
    let Kind::Expr { inputs, .. } = &value.0.kind else { return Err(lost(value.id())) };
    let (at, space) = reduced_tile(&inputs[0], value.shape(), tile, n);
    let reach = access::reach(&at, &space);
    if let Some(operand) = operand.filter(|operand| wanted_by_others(operand, &reach)) {
        return Ok(Err(vec![(operand.clone(), reach)]));
    }
    let start = Start::input(&inputs[0], operand)?;
    if size_of(&space) > device.reach_len() {
        return match (reduction::needs(device, again, (value, n), start, tile)?, operand) {
            (None, _) => Ok(Ok(Step::Reduction(op, n))),
            (Some((needs, true)), Some(operand)) if is_before(device, operand, &needs) => {
                let needs =
                    reduction::needs_of_stored(device, again, (value, n), operand, tile, &reach)?;
                Ok(needs.map_or(Ok(Step::StoredReduction(op, n)), Err))
            }
            (Some((needs, _)), _) => Ok(Err(needs)),
        };
    }
    let rows = operand.and_then(|operand| in_rows(&at, &space, operand.shape()));
    let mut found = Walk::of_reduction(device, start, at, space)?;
    if let (Err(_), Some((at, space))) = (&found, rows) {
        found = Walk::of_reduction(device, start, at, space)?;
    }
    let walk = match (found, operand) {
        (Ok(walk), _) => walk,
        (Err(needs), Some(operand)) if is_before(device, operand, &needs) => {
            let needs =
                reduction::needs_of_stored(device, again, (value, n), operand, tile, &reach)?;
            return Ok(needs.map_or(Ok(Step::StoredReduction(op, n)), Err));
        }
        (Err(needs), _) => return Ok(Err(needs)),
    };
    if let Some(shared) = siblings::costly_for_others(&walk, value) {
        return Ok(Err(vec![shared]));
    }
    Ok(match again.stored_first(&walk, value, device) {
        Some(needs) => Err(needs),
        None => Ok(Step::Walk(walk, Form::Reduce { op })),
    })
}

/// Whether a reduction's operand, which it and the caller hold, is pending, and for others too:
/// then it is computed by itself, and both find it.
fn wanted_by_others(operand: &Value, reach: &Range<usize>) -> bool {
    Arc::strong_count(&operand.0) > 2 && !operand.state().computed.covers(reach.clone())
}

/// Whether a reduction's operand is pending and better stored by itself than after what the reduction's map needs
/// first: that (an index in one long row, say) is mostly less cheap than the map in its own shape.
fn is_before(device: &Device, operand: &Value, needs: &Needs) -> bool {
    !operand.is_computed() && !all_before_maps(device, needs) && !any_elsewhere(device, needs)
}

/// Whether nothing of these could be computed in a kernel of what reads it.
fn all_before_maps(device: &Device, needs: &Needs) -> bool {
    needs.iter().all(|(value, _)| stands_alone(value) || device.halos.has(value))
}

/// Whether another device computes one of these.
fn any_elsewhere(device: &Device, needs: &Needs) -> bool {
    needs.iter().any(|(value, _)| device.elsewhere.contains(&value.id()))
}

/// Whether a value is never computed in a kernel of another one.
fn stands_alone(value: &Value) -> bool {
    !matches!(&value.0.kind, Kind::Expr { op, .. } if !op.stands_alone())
}
