//! Commands of assignments: into the block of the old value, or into a new one to which the rest of the old tile is
//! copied.
//!
//! The old block is reused when only the written expression holds the old value, and reads an element only where it
//! writes it. A simulation step writes nearly all of an array, so otherwise only its edges are copied, not all of it.
//! Invariant: every element of the tile outside the region is copied; of those inside, some may be.
//!
//! Not here: which region is written, and how it is read (`steps/assignment_step.rs`), whether the old value has other
//! owners (`in_place.rs`).

use super::OpenedBlock;
use super::open_walk::{OpenWalk, WalkSource};
use crate::explain::trace::{Event, subject};
use crate::graph::value::{Value, ValueKind};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::compiled::flush_recorder::FlushRecorder;
use crate::schedule::destination::Destination;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::in_place::SelfReads;
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::steps::{Region, Written};
use crate::schedule::walk::lost;
use gpupy_core::Result;
use gpupy_core::ir::Form;
use gpupy_core::shape::{Shape, contiguous_strides};
use smallvec::smallvec;
use std::ops::Range;

/// The work on a tile of an assignment's value, before its block is closed.
pub(super) struct Writing {
    /// The block is opened.
    pub opened: OpenedBlock,
    /// Old elements are copied around those that are written.
    pub copies: Vec<OpenWalk>,
    /// The kernels of the written elements, and their destination; nothing where none of them lies in the tile.
    pub kernels: Option<(Box<WalkKernels>, Destination)>,
}

impl Writing {
    /// For a tile of a value that is to be written so.
    ///
    /// # Errors
    /// - `Lost`: the old value is not held any more.
    pub fn of(
        device: &OpenDevice,
        recorder: &FlushRecorder,
        Written { kernels, reads, region, covered, whole }: Written,
        value: &Value,
        tile: &Tile,
    ) -> Result<Writing> {
        let old = value.state().operands.first().cloned().flatten();
        let old = old.ok_or_else(|| lost(value.id()))?;
        let constant = match old.0.kind {
            ValueKind::Constant(scalar) => Some(scalar),
            _ => None,
        };
        // All of a value is replaced by an assignment only where its memory is wanted.
        let wanted = !covered || device.caps.host_memory;
        let may_take = wanted && constant.is_none() && recorder.may_take(device, &old, tile);
        let is_sole = match reads {
            SelfReads::WhereWritten => device.writes_in_place(),
            SelfReads::Nothing | SelfReads::Elsewhere => recorder.is_only_read_by(&old, value),
        };
        let taken = (may_take && is_sole).then(|| recorder.taken_by(&old, value)).flatten();
        let in_place = taken.is_some();
        device.tracer.event(|| Event::Assigned(subject(value), in_place));
        let opened = match taken {
            Some(taken) => OpenedBlock::Old { value: value.clone(), old: old.clone(), taken },
            None => OpenedBlock::New(smallvec![value.clone()]),
        };
        let copies = match in_place || covered {
            true => Vec::new(),
            false => {
                let from = constant.map_or(WalkSource::Value(old), WalkSource::Scalar);
                around(from, value.shape(), tile, region.as_ref())
            }
        };
        let dest = Destination::Open { number: 0, whole };
        let kernels = kernels.map(|kernels| (Box::new(kernels), dest));
        Ok(Writing { opened, copies, kernels })
    }
}

/// The copies of a tile of a value of this shape (or its constant) into a block, but for a region.
fn around(
    from: WalkSource,
    shape: &[usize],
    tile: &Tile,
    region: Option<&Region>,
) -> Vec<OpenWalk> {
    let copy = |at, space: Shape, access, whole| OpenWalk {
        from: from.clone(),
        at,
        space,
        form: Form::Map,
        number: 0,
        access,
        whole,
    };
    let Some(region) = region else {
        let at = access::access(tile.range.start as isize, &[1]);
        return vec![copy(at, smallvec![tile.range.len()], access::access(0, &[1]), true)];
    };
    let strides = contiguous_strides(shape);
    let copies = outside(tile, region).into_iter().map(|part| {
        let places = strides.iter().zip(&part).map(|(stride, range)| stride * range.start as isize);
        let at = access::access(places.sum(), &strides);
        let mut access = at.clone();
        access.offset -= tile.range.start as i64;
        copy(at, part.iter().map(Range::len).collect(), access, false)
    });
    copies.collect()
}

/// The boxes that are a tile without a region of it: along each axis those before and behind the region, as wide as the
/// region along earlier axes.
fn outside(tile: &Tile, region: &Region) -> Vec<Region> {
    let whole =
        tile.origin.iter().zip(&tile.shape).map(|(origin, extent)| *origin..origin + extent);
    let mut rest: Region = whole.collect();
    let mut parts = Vec::new();
    for (axis, inside) in region.iter().enumerate() {
        for outside in [rest[axis].start..inside.start, inside.end..rest[axis].end] {
            if !outside.is_empty() {
                let mut part = rest.clone();
                part[axis] = outside;
                parts.push(part);
            }
        }
        rest[axis] = inside.clone();
    }
    parts
}
