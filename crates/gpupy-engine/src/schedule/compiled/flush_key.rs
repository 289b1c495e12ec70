//! The structure of a flush: the key by which an equal flush is recognised.
//!
//! Owns the key, a [`Structure`] of everything that the schedule of a flush depends on: each pending value with its
//! inputs and what was computed of it in passing, the values that may be computed beside them, which values have other
//! handles, how the computed ones lie, and which are wanted. Which values and which scalars they are is not part of it.
//! Invariants: a flush has none if any of it is computed already; a constant value stands in it with its bits.
//!
//! Not here: what is kept by it (`command.rs`).

use crate::explain::not_kept::NotKept;
use crate::graph::library_op::LibraryOp;
use crate::graph::value::{Input, NodeOp, Value, ValueKind};
use crate::schedule::compiled::flush_cache::Structure;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::passes::demand::Demand;
use crate::schedule::passes::pending_graph::{InputSource, PendingGraph};
use crate::thresholds::T;

/// Words of a value, mostly at most.
const WORDS: usize = 13;

/// The structure of a flush on a device; of one that is irregular, why it has none.
pub(crate) fn structure(
    demand: &Demand<'_>,
    below: &PendingGraph,
    device: &OpenDevice,
) -> Result<Structure, NotKept> {
    if !device.keeps_flushes {
        return Err(NotKept::NotWanted);
    }
    if below.values.len() > T.replayed_values {
        return Err(NotKept::TooLong);
    }
    let mut words = Structure::with_room(WORDS * (below.values.len() + below.leaves.len()));
    words.push(device.tiling(&[usize::MAX]).tile(0).range.len() as u64);
    words.push(u64::from(demand.is_window));
    words.extend([demand.range.start as u64, demand.range.end as u64, below.values.len() as u64]);
    for (number, value) in below.values.iter().enumerate() {
        if !below.is_new[number] {
            return Err(NotKept::PartlyComputed);
        }
        pending(&mut words, value, &below.reads[number], below.outlives[number], device)?;
    }
    words.push(below.others.len() as u64);
    for (value, reads) in below.others.iter().zip(&below.other_reads) {
        pending(&mut words, value, reads, true, device)?;
    }
    for (leaf, outlives) in below.leaves.iter().zip(&below.leaf_outlives) {
        computed(&mut words, leaf, *outlives, device);
    }
    words.push(u64::MAX);
    words.extend(demand.wanted().filter_map(|value| below.number(value.id()).map(u64::from)));
    Ok(words)
}

/// A value without computed elements.
fn pending(
    words: &mut Structure,
    value: &Value,
    reads: &[InputSource],
    outlives: bool,
    device: &OpenDevice,
) -> Result<(), NotKept> {
    let ValueKind::Expr { op, inputs } = &value.0.kind else { return Err(NotKept::OtherValue) };
    if reads.len() != inputs.len() {
        return Err(NotKept::OtherValue);
    }
    let dtype = value.dtype() as u64;
    words.push(u64::from(value.0.weight) << 32 | dtype << 8 | u64::from(outlives));
    words.push(device.most_of_tile(value) as u64);
    words.extents(value.shape());
    if let Some(passed) = &value.state().passed {
        passed.words(|word| words.push(word));
    }
    match op {
        NodeOp::Apply(op) => words.push(1 << 32 | *op as u64),
        NodeOp::Argument | NodeOp::Deferred(_) | NodeOp::InPieces(_) => {
            return Err(NotKept::OtherValue);
        }
        NodeOp::Call(called) => {
            words.push(12 << 32 | u64::from(called.result));
            words.fingerprint(called.function.fingerprint());
        }
        NodeOp::Index(axis) => words.push(2 << 32 | u64::from(*axis)),
        NodeOp::Reduce { op, n } => words.extend([3 << 32 | *op as u64, *n as u64]),
        NodeOp::Gather => words.push(4 << 32),
        NodeOp::Assign(view) => {
            words.push(5 << 32);
            words.layout(view.offset, &view.strides);
            words.extents(&view.shape);
        }
        NodeOp::Join(join) => {
            words.push(6 << 32 | u64::from(join.axis));
            words.extents(&join.ends);
        }
        NodeOp::Whole(whole) => match whole {
            LibraryOp::Scan(op) => words.push(7 << 32 | *op as u64),
            LibraryOp::Sort => words.push(8 << 32),
            LibraryOp::ArgSort => words.push(9 << 32),
            LibraryOp::MatMul(n) => words.extend([10 << 32, *n as u64]),
            LibraryOp::Routine(call) => {
                words.push(13 << 32 | u64::from(call.routine().number()));
                words.extend(call.attributes().iter().copied());
            }
        },
        // They are done in host memory.
        NodeOp::Scatter(_) | NodeOp::WhereTrue => return Err(NotKept::OnHost),
    }
    for (input, source) in inputs.iter().zip(reads) {
        match source {
            InputSource::Scalar => {}
            InputSource::Pending(number) => words.push(1 << 32 | u64::from(*number)),
            InputSource::Leaf(number) => words.push(2 << 32 | u64::from(*number)),
            InputSource::Other(number) => words.push(5 << 32 | u64::from(*number)),
        }
        match input {
            Input::Scalar(scalar) => words.push(3 << 32 | scalar.dtype as u64),
            Input::Whole(_) => words.push(4 << 32),
            Input::View(_, layout) => words.layout(layout.offset, &layout.strides),
        }
    }
    Ok(())
}

/// A computed value: where its elements are, as far as it matters.
fn computed(words: &mut Structure, leaf: &Value, outlives: bool, device: &OpenDevice) {
    // Only a computed value gives its block away.
    let is_free = !outlives
        && matches!(leaf.0.kind, ValueKind::Expr { .. })
        && device.may_take(leaf, &device.tiling_of(leaf).tile(0));
    let dtype = leaf.dtype() as u64;
    let streams = u64::from(leaf.is_external());
    words.push(dtype << 8 | streams << 2 | u64::from(is_free) << 1 | u64::from(outlives));
    words.push(device.most_of_tile(leaf) as u64);
    words.extents(leaf.shape());
    if let ValueKind::Constant(scalar) = leaf.0.kind {
        words.extend([1, scalar.bits]);
        return;
    }
    words.push(0);
    // Few elements of a value that is only in host memory may be gathered.
    if !device.caps.host_memory {
        let mut tiles: Vec<u64> =
            device.tiles(leaf.id()).into_iter().map(|(number, _)| number as u64).collect();
        tiles.sort_unstable();
        words.push(tiles.len() as u64);
        words.extend(tiles);
        words.push(u64::from(leaf.state().on_host.covers(0..leaf.len())));
    }
}
