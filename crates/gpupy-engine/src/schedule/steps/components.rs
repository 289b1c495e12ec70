//! Components: a map whose last axis is short, as colours or coordinates are, in one launch over the other axes.
//!
//! Owns the choice. Operations that are the same for all components of a point, as positions of pixels are, are then
//! computed once, and their results stay in registers: a launch over all axes would compute them for each component, or
//! load them. The kernel is that of boxes side by side (`boxes.rs`), one for each component. Invariant: a value has the
//! same bits either way.
//!
//! Not here: joins of components (`boxes.rs`), reductions along short axes (`reduction_step.rs`).

use super::{PreparedStep, TileStep};
use crate::graph::value::{NodeOp, Value, ValueKind};
use crate::schedule::cost::is_by_components;
use crate::schedule::destination::RootDestinations;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::walk::rematerialisation::Rematerialisation;
use crate::schedule::walk::{FusionWalk, Role};
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::shape::{Shape, contiguous_strides};
use smallvec::SmallVec;

/// The step that computes a tile of a map component by component, if that pays; `walk` is the walk over all of its
/// points, which begin at `at`.
///
/// # Errors
/// As of a walk.
pub(super) fn of_tile(
    device: &mut OpenDevice,
    again: &mut Rematerialisation,
    value: &Value,
    at: &Access,
    walk: &FusionWalk,
) -> Result<Option<PreparedStep>> {
    let [others @ .., components] = &walk.space[..] else { return Ok(None) };
    let is_short = (2..=T.most_components).contains(components) && !others.is_empty();
    let points = others.iter().product();
    if !is_short
        || *components > device.caps.max_dests
        || !is_by_components(shared_operations(walk), points, *components, &device.caps)
    {
        return Ok(None);
    }
    let dest = contiguous_strides(&walk.space);
    let component = |strides: &[i64], offset: i64, number: usize| {
        let (step, others) = strides.split_last().unwrap_or((&0, &[]));
        Access { offset: offset + number as i64 * step, strides: SmallVec::from_slice(others) }
    };
    let space = Shape::from_slice(others);
    let starts = (0..*components).map(|number| component(&at.strides, at.offset, number));
    let Some(mut together) = FusionWalk::of_boxes(device, value, starts, space)? else {
        return Ok(None);
    };
    let is_whole = together.roots.len() == *components && together.besides.is_empty();
    if !is_whole
        || !together.needs_no_more_than(&walk.needs)
        || again.stored_first(&together, value, device).is_some()
    {
        return Ok(None);
    }
    let needs = std::mem::take(&mut together.needs);
    let strides: SmallVec<[i64; 4]> = dest.iter().map(|step| *step as i64).collect();
    let places = (0..*components).map(|number| Some(component(&strides, 0, number))).collect();
    let ends = RootDestinations { form: Form::Map, further: SmallVec::new(), places };
    let kernels = WalkKernels::of_all(device, together, ends).ok();
    Ok(kernels.map(|kernels| PreparedStep { step: TileStep::Boxes(vec![kernels]), needs }))
}

/// The operations at a point that are the same for all of its components.
fn shared_operations(walk: &FusionWalk) -> u32 {
    let is_shared = |access: &Access| access.strides.last() == Some(&0);
    let computed = walk.nodes.iter().filter_map(|node| match (&node.role, &node.value.0.kind) {
        (Role::Apply(..), ValueKind::Expr { op, .. }) if is_shared(&node.access) => Some(op),
        _ => None,
    });
    computed.map(NodeOp::cost).fold(0, u32::saturating_add)
}
