//! Steps of reductions: alone or several together, in one launch or piece by piece.
//!
//! Several go together that combine the same elements (a group), or that the same later step needs (its fellows).
//!
//! Invariant: a map that other values read too is computed by itself, and all of them find it.
//!
//! Not here: pieces and their needs (`schedule/steps/reduction_tile.rs`), which reductions go together
//! (`schedule/passes/reduction_groups.rs`).

use super::{PreparedStep, TileStep};
use crate::graph::value::{Input, NodeOp, Value, ValueKind};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::horizontal_fusion;
use crate::schedule::kernels::partition::Possible;
use crate::schedule::passes::reduction_groups;
use crate::schedule::steps::reduction_tile::{
    self, Combined, ReductionPieces, in_rows, reduced_tile,
};
use crate::schedule::walk::rematerialisation::Rematerialisation;
use crate::schedule::walk::{FusionWalk, Needs, Start, lost};
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use gpupy_core::shape::{Shape, size_of};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// The space of a reduction's tile.
struct ReducedSpace {
    at: Access,
    space: Shape,
    /// As rows of the operand, where it may be read so.
    rows: Option<(Access, Shape)>,
    /// Whether it is reduced at once, not piece by piece.
    is_one: bool,
}

impl ReducedSpace {
    fn of(
        device: &OpenDevice,
        (value, n): (&Value, usize),
        input: &Input,
        operand: Option<&Value>,
        tile: &Tile,
    ) -> ReducedSpace {
        let (at, space) = reduced_tile(input, value.shape(), tile, n);
        let rows = operand.and_then(|operand| in_rows(&at, &space, operand.shape()));
        let is_one = size_of(&space) <= device.reach_len(value);
        ReducedSpace { at, space, rows, is_one }
    }

    /// The walks over it to try, one after another.
    fn walks(&self) -> SmallVec<[(Access, Shape); 2]> {
        let walks = std::iter::once((self.at.clone(), self.space.clone())).chain(self.rows.clone());
        walks.filter(|_| self.is_one).collect()
    }
}

/// How a reduction is done by itself.
enum Alone {
    Step(TileStep),
    /// By a kernel, after the needs of its walk.
    Walk(FusionWalk),
}

/// The step of a tile of a reduction.
pub(super) fn of_reduction(
    device: &mut OpenDevice,
    again: &mut Rematerialisation,
    value: &Value,
    (op, n): (Op, usize),
    operand: Option<&Value>,
    tile: &Tile,
) -> Result<Possible<PreparedStep>> {
    let ValueKind::Expr { inputs, .. } = &value.0.kind else { return Err(lost(value.id())) };
    let space = ReducedSpace::of(device, (value, n), &inputs[0], operand, tile);
    let reach = access::reach(&space.at, &space.space);
    if let Some(operand) = operand
        && is_apart(device, operand, &reach)
    {
        return Ok(Err(vec![(operand.clone(), reach)]));
    }
    let group = group(device, value, tile);
    let walks = space.walks();
    if space.is_one
        && let Some(step) = with_fellows(device, again, (value, n), tile, &group, &walks)?
    {
        return Ok(step);
    }
    if group.len() > 1
        && let Some(step) = of_several(device, again, (value, n), tile, &group, &walks)?
    {
        return Ok(step);
    }
    match alone(device, again, value, tile)? {
        Ok(Alone::Step(step)) => Ok(Ok(PreparedStep::ready(step))),
        // This may be all that keeps others from going along.
        Ok(Alone::Walk(walk)) if group.len() > 1 && !walk.needs.is_empty() => Ok(Err(walk.needs)),
        Ok(Alone::Walk(walk)) => PreparedStep::of_walk(device, walk, Form::Reduce { op }),
        Err(needs) => Ok(Err(needs)),
    }
}

/// How a tile of a reduction is done by itself, or what has to be computed first.
///
/// # Errors
/// As of a walk.
fn alone(
    device: &mut OpenDevice,
    again: &mut Rematerialisation,
    value: &Value,
    tile: &Tile,
) -> Result<Possible<Alone>> {
    let ValueKind::Expr { op: NodeOp::Reduce { op, n }, inputs } = &value.0.kind else {
        return Err(lost(value.id()));
    };
    let operand = value.state().operands.first().cloned().flatten();
    let (operand, of) = (operand.as_ref(), (value, *n));
    let space = ReducedSpace::of(device, of, &inputs[0], operand, tile);
    let reach = access::reach(&space.at, &space.space);
    let start = Start::input(&inputs[0], operand)?;
    let stored = |device: &mut OpenDevice, again: &mut Rematerialisation, operand: &Value| {
        let needs = reduction_tile::needs_of_stored(device, again, of, operand, tile, &reach)?;
        Ok(match needs {
            None => Ok(Alone::Step(TileStep::StoredReduction(*op, *n))),
            Some(needs) => Err(needs),
        })
    };
    if !space.is_one {
        return match (reduction_tile::needs(device, again, of, &[start], tile)?, operand) {
            (None, _) => Ok(Ok(Alone::Step(TileStep::Reductions(smallvec![value.clone()], *n)))),
            (Some((needs, true)), Some(operand)) if is_before(device, operand, &needs) => {
                stored(device, again, operand)
            }
            (Some((needs, _)), _) => Ok(Err(needs)),
        };
    }
    let ReducedSpace { at, space, rows, .. } = space;
    let mut walk = FusionWalk::new(device, &[start], at, space)?;
    if let (false, Some((at, space))) = (walk.needs.is_empty(), rows) {
        walk = FusionWalk::new(device, &[start], at, space)?;
    }
    // A table is computed first in any case.
    let needs = walk.needs.iter().filter(|(value, _)| !walk.is_table(value.id())).cloned();
    if let Some(operand) = operand
        && is_before(device, operand, &needs.collect())
    {
        return stored(device, again, operand);
    }
    Ok(match first_of_map(device, again, &walk, value, &[]) {
        Some(needs) => Err(needs),
        None => Ok(Alone::Walk(walk)),
    })
}

/// The step of a reduction, of its group, and of other reductions that the same later step reads and that combine as
/// many points: of as many as are a kernel of few operations. Or what one of them needs first. `None` where there are
/// no others.
///
/// # Errors
/// As of a walk.
fn with_fellows(
    device: &mut OpenDevice,
    again: &mut Rematerialisation,
    (value, n): (&Value, usize),
    tile: &Tile,
    group: &[Value],
    walks: &[(Access, Shape)],
) -> Result<Option<Possible<PreparedStep>>> {
    let mut all: SmallVec<[Value; 4]> = group.into();
    let is_fellow = |other: &&Value| {
        !group.iter().any(|own| own.id() == other.id())
            && combine_alike(value, other)
            && is_pending_tile(device, other, tile)
            && is_for(device, other)
    };
    all.extend(device.flush.fellows.iter().filter(is_fellow).cloned());
    if all.len() == group.len() || most_reductions(device) == 1 {
        return Ok(None);
    }
    let first = &all[..all.len().min(most_reductions(device))];
    let together = complete_walk(device, &Combined::of(first).starts()?, walks);
    if let Some(walk) = together {
        let most = first.len() * T.fellow_operations / walk.operations().max(1);
        let first = &first[..first.len().min(most.max(group.len()))];
        return match first.len() > group.len() {
            true => of_several(device, again, (value, n), tile, first, walks),
            false => Ok(None),
        };
    }
    // Those of later launches, too, so that what they need is computed together.
    let mut needs = Needs::new();
    for own in &all {
        match alone(device, again, own, tile)? {
            Ok(Alone::Walk(walk)) => needs.extend(walk.needs),
            Ok(Alone::Step(_)) => {}
            Err(more) => needs.extend(more),
        }
    }
    let is_possible = !needs.is_empty() && horizontal_fusion::are_before(&needs, all.iter());
    Ok(is_possible.then_some(Err(needs)))
}

/// Whether two reductions combine as many points to results of the same shape, and lie alike in their operands.
fn combine_alike(value: &Value, other: &Value) -> bool {
    let space = reduction_groups::space(value);
    space.is_some() && space == reduction_groups::space(other)
}

/// A reduction with the pending members of its group.
fn group(device: &OpenDevice, value: &Value, tile: &Tile) -> SmallVec<[Value; 4]> {
    let is_pending = |other: &Value| is_pending_tile(device, other, tile);
    let mut values = device.flush.together.with_others(value, is_pending);
    // Groups are made for the first device of a flush.
    values.retain(|member| member.id() == value.id() || is_for(device, member));
    values.truncate(most_reductions(device));
    values
}

/// The most reductions of a launch.
fn most_reductions(device: &OpenDevice) -> usize {
    device.caps.max_reductions.min(device.caps.max_dests).max(1)
}

/// Whether a tile is one of a value, and not there.
fn is_pending_tile(device: &OpenDevice, value: &Value, tile: &Tile) -> bool {
    !device.is_there(value, tile.range.clone())
        && device.is_tile_of(value, tile.number, &tile.range)
}

/// The walk of what reductions combine over the first of these spaces that needs nothing first.
fn complete_walk(
    device: &OpenDevice,
    starts: &[Start<'_>],
    spaces: &[(Access, Shape)],
) -> Option<FusionWalk> {
    spaces.iter().find_map(|(at, space)| {
        let walk = FusionWalk::new(device, starts, at.clone(), space.clone());
        walk.ok()?.complete().ok()
    })
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
    let walk = |starts: &[Start<'_>]| complete_walk(open, starts, spaces);
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
    lack.is_none() && !device.flush.elsewhere.contains(&value.id())
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
    device.flush.fates.is_stored(operand.id()) && !device.is_there(operand, reach.clone())
}

/// Whether a reduction's pending operand is better stored by itself than after the needs of the reduction's map: those
/// (an index in one long row, say) usually cost more than the map in its own shape.
fn is_before(device: &OpenDevice, operand: &Value, needs: &Needs) -> bool {
    !device.is_all_there(operand)
        && !all_before_maps(device, operand, needs)
        && !any_elsewhere(device, needs)
}

/// Whether none of these would be computed inside the kernel of a reduction of this operand: joins that it reads many
/// times over are not.
fn all_before_maps(device: &OpenDevice, operand: &Value, needs: &Needs) -> bool {
    let is_read_over = |value: &Value| {
        matches!(value.0.kind, ValueKind::Expr { op: NodeOp::Join(_), .. })
            && operand.len() > T.read_over * value.len()
    };
    let is_before = |value: &Value| {
        stands_alone(value) || is_read_over(value) || device.flush.fates.is_stored(value.id())
    };
    needs.iter().all(|(value, _)| is_before(value))
}

/// Whether another device computes one of these.
fn any_elsewhere(device: &OpenDevice, needs: &Needs) -> bool {
    needs.iter().any(|(value, _)| device.flush.elsewhere.contains(&value.id()))
}

/// Whether a value is never computed in a kernel of another one.
fn stands_alone(value: &Value) -> bool {
    !matches!(&value.0.kind, ValueKind::Expr { op, .. } if !op.stands_alone())
}
