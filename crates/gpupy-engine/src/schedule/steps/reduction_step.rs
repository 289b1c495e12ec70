//! Steps of reductions: alone or several together, in one launch or piece by piece.
//!
//! Invariant: a map that other values read too is computed by itself, and all of them find it.
//!
//! Not here: pieces and their needs (`schedule/steps/reduction_tile.rs`), which reductions go together
//! (`schedule/passes/reduction_groups.rs`).

use super::{PreparedStep, TileStep};
use crate::graph::value::{Value, ValueKind};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::horizontal_fusion;
use crate::schedule::kernels::partition::Possible;
use crate::schedule::steps::reduction_tile::{
    self, Combined, ReductionPieces, in_rows, reduced_tile,
};
use crate::schedule::walk::rematerialisation::Rematerialisation;
use crate::schedule::walk::{FusionWalk, Needs, Start, lost};
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use gpupy_core::shape::{Shape, size_of};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// The step of a tile of a reduction.
pub(super) fn of_reduction(
    device: &mut OpenDevice,
    again: &mut Rematerialisation,
    value: &Value,
    (op, n): (Op, usize),
    operand: Option<&Value>,
    tile: &Tile,
) -> Result<Possible<PreparedStep>> {
    let ready = |step| Ok(Ok(PreparedStep::ready(step)));
    let ValueKind::Expr { inputs, .. } = &value.0.kind else { return Err(lost(value.id())) };
    let (at, space) = reduced_tile(&inputs[0], value.shape(), tile, n);
    let reach = access::reach(&at, &space);
    let start = Start::input(&inputs[0], operand)?;
    let rows = operand.and_then(|operand| in_rows(&at, &space, operand.shape()));
    let is_one = size_of(&space) <= device.reach_len(value);
    let spaces = std::iter::once((at.clone(), space.clone())).chain(rows.clone());
    let spaces: SmallVec<[(Access, Shape); 2]> = spaces.filter(|_| is_one).collect();
    if let Some(operand) = operand
        && is_apart(device, operand, &reach)
    {
        return Ok(Err(vec![(operand.clone(), reach)]));
    }
    let group = group(device, value, tile);
    if group.len() > 1
        && let Some(step) = of_several(device, again, (value, n), tile, &group, &spaces)?
    {
        return Ok(step);
    }
    if !is_one {
        return match (reduction_tile::needs(device, again, (value, n), &[start], tile)?, operand) {
            (None, _) => ready(TileStep::Reductions(smallvec![value.clone()], n)),
            (Some((needs, true)), Some(operand)) if is_before(device, operand, &needs) => {
                let needs = reduction_tile::needs_of_stored(
                    device,
                    again,
                    (value, n),
                    operand,
                    tile,
                    &reach,
                )?;
                needs
                    .map_or_else(|| ready(TileStep::StoredReduction(op, n)), |needs| Ok(Err(needs)))
            }
            (Some((needs, _)), _) => Ok(Err(needs)),
        };
    }
    let mut walk = FusionWalk::of_reduction(device, &[start], at, space)?;
    if let (false, Some((at, space))) = (walk.needs.is_empty(), rows) {
        walk = FusionWalk::of_reduction(device, &[start], at, space)?;
    }
    if let Some(operand) = operand
        && !walk.needs.is_empty()
        && is_before(device, operand, &walk.needs)
    {
        let needs =
            reduction_tile::needs_of_stored(device, again, (value, n), operand, tile, &reach)?;
        return needs
            .map_or_else(|| ready(TileStep::StoredReduction(op, n)), |needs| Ok(Err(needs)));
    }
    if let Some(needs) = first_of_map(device, again, &walk, value, &[]) {
        return Ok(Err(needs));
    }
    if group.len() > 1 && !walk.needs.is_empty() {
        // This may be all that keeps others from going along.
        return Ok(Err(walk.needs));
    }
    PreparedStep::of_walk(device, walk, Form::Reduce { op })
}

/// A reduction with the pending members of its group.
fn group(device: &OpenDevice, value: &Value, tile: &Tile) -> SmallVec<[Value; 4]> {
    let is_pending = |other: &Value| {
        !device.is_there(other, tile.range.clone())
            && device.is_tile_of(other, tile.number, &tile.range)
    };
    let mut values = device.together.with_others(value, is_pending);
    // Groups are made for the first device of a flush.
    values.retain(|member| member.id() == value.id() || is_for(device, member));
    values.truncate(device.caps.max_reductions.min(device.caps.max_dests).max(1));
    values
}

/// The step of several reductions that combine the same points, if nothing has to be computed first; piece by piece
/// where no space is given.
fn of_several(
    device: &mut OpenDevice,
    again: &mut Rematerialisation,
    (value, n): (&Value, usize),
    tile: &Tile,
    values: &[Value],
    spaces: &[(Access, Shape)],
) -> Result<Option<Possible<PreparedStep>>> {
    let combined = Combined::of(values);
    let starts = combined.starts()?;
    if spaces.is_empty() {
        let needs = reduction_tile::needs(device, again, (value, n), &starts, tile)?;
        if needs.is_some() {
            return Ok(None);
        }
        let count = reduced_in_one(device, values, n, tile)?;
        return Ok(Some(Ok(PreparedStep::ready(TileStep::Reductions(values[..count].into(), n)))));
    }
    let open = &*device;
    let walk = |starts: &[Start<'_>]| {
        spaces.iter().find_map(|(at, space)| {
            let walk = FusionWalk::of_reduction(open, starts, at.clone(), space.clone());
            walk.ok()?.complete().ok()
        })
    };
    let (mut together, mut chosen) = (walk(&starts), SmallVec::<[Value; 4]>::from(values));
    if together.is_none() {
        // Some need something first, or cannot be computed here.
        let alike = |other: &Start<'_>| walk(&[starts[0], *other]).is_some();
        let fits: SmallVec<[bool; 4]> = starts.iter().map(alike).collect();
        let fitting = |place: &usize| fits[*place];
        let rest: SmallVec<[usize; 4]> = (0..values.len()).filter(fitting).collect();
        if rest.len() < 2 || rest[0] != 0 {
            return Ok(None);
        }
        chosen = rest.iter().map(|place| values[*place].clone()).collect();
        let starts: SmallVec<[Start<'_>; 4]> = rest.iter().map(|place| starts[*place]).collect();
        together = walk(&starts);
    }
    let Some(together) = together else { return Ok(None) };
    if let Some(needs) = first_of_map(device, again, &together, value, &chosen[1..]) {
        return Ok(Some(Err(needs)));
    }
    let mut ops = chosen.iter().filter_map(Value::reduces);
    let Some(op) = ops.next() else { return Ok(None) };
    let further: SmallVec<[Op; 4]> = ops.collect();
    let alone = walk(&starts[..1]);
    let tiles = chosen.iter().map(|value| (value.clone(), tile.clone())).collect();
    super::beside(device, tiles, (together, alone), (Form::Reduce { op }, &further)).map(Some)
}

/// How many of these, from the first, one kernel of a piece does.
///
/// # Errors
/// As of a walk.
fn reduced_in_one(
    device: &mut OpenDevice,
    values: &[Value],
    n: usize,
    tile: &Tile,
) -> Result<usize> {
    let mut count = values.len();
    while count > 1
        && let Some(part) = ReductionPieces::of(device, &values[0], n, tile).next()
        && Combined::of(&values[..count]).kernels(device, &part)?.is_none()
    {
        count /= 2;
    }
    Ok(count)
}

/// Whether a device may do a reduction beside another.
fn is_for(device: &OpenDevice, value: &Value) -> bool {
    let ValueKind::Expr { op, inputs } = &value.0.kind else { return false };
    let lack = device.lack(value, op, inputs, &value.state().operands);
    lack.is_none() && !device.elsewhere.contains(&value.id())
}

/// The values that a reduction's map, and the maps beside it, should read instead of computing them: computed first,
/// they serve other readers too.
fn first_of_map(
    device: &OpenDevice,
    again: &mut Rematerialisation,
    walk: &FusionWalk,
    value: &Value,
    beside: &[Value],
) -> Option<Needs> {
    match horizontal_fusion::costly_for_others(walk, device, value, beside) {
        Some(shared) => Some(vec![shared]),
        None => again.stored_first(walk, value, device),
    }
}

/// Whether a reduction's operand is pending, and stored, as others read it: then it is computed by itself, and all find
/// it.
fn is_apart(device: &OpenDevice, operand: &Value, reach: &Range<usize>) -> bool {
    device.fates.is_stored(operand.id()) && !device.is_there(operand, reach.clone())
}

/// Whether a reduction's pending operand is better stored by itself than after the needs of the reduction's map: those
/// (an index in one long row, say) usually cost more than the map in its own shape.
fn is_before(device: &OpenDevice, operand: &Value, needs: &Needs) -> bool {
    !device.is_all_there(operand)
        && !all_before_maps(device, needs)
        && !any_elsewhere(device, needs)
}

/// Whether none of these could be computed inside a reader's kernel.
fn all_before_maps(device: &OpenDevice, needs: &Needs) -> bool {
    needs.iter().all(|(value, _)| stands_alone(value) || device.halos.has(value))
}

/// Whether another device computes one of these.
fn any_elsewhere(device: &OpenDevice, needs: &Needs) -> bool {
    needs.iter().any(|(value, _)| device.elsewhere.contains(&value.id()))
}

/// Whether a value is never computed in a kernel of another one.
fn stands_alone(value: &Value) -> bool {
    !matches!(&value.0.kind, ValueKind::Expr { op, .. } if !op.stands_alone())
}
