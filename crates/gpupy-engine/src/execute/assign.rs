//! Assignment: a tile of a value that is another value with some elements replaced.
//!
//! Owns the rule when this happens in place: when nobody holds the old value but what is written, and
//! that reads an element only where it writes it, the old block is written and handed over; otherwise
//! the rest of the old tile is copied first. Sources are evaluated straight into the destination's
//! positions. Invariant: the old value's block is handed over only after the write succeeded.
//!
//! Not here: recording assignments (`recorder.rs`), copies of old elements (`fill.rs`), who holds the
//! old value (`in_place.rs`).

use crate::blocks::cache::Part;
use crate::execute::evaluate::Engine;
use crate::execute::fill;
use crate::explain::trace::{Event, subject};
use crate::explain::tracer::Doing;
use crate::graph::value::{Input, Kind, NodeOp, Value};
use crate::memory::access::{self, Coordinates};
use crate::memory::strided;
use crate::memory::tiling::Tile;
use crate::memory::view::View;
use crate::schedule::destination::Destination;
use crate::schedule::device::Device;
use crate::schedule::in_place::Reads;
use crate::schedule::walk::{Flow, Start, Walk, lost};
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Form};
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{ErrorKind, Result};
use smallvec::SmallVec;

/// A source with less than this part of a tile's elements is computed by itself rather than to copy the
/// tile.
const LITTLE: usize = 4;

/// The part of the assigned view that lies in a tile: first point and extents.
type Window = (Shape, Shape);

impl Engine {
    /// Evaluates a tile of an assignment's value, or tells what it needs first.
    pub fn assign(&mut self, value: &Value, tile: &Tile, device: usize) -> Result<Flow> {
        let Kind::Expr { op: NodeOp::Assign(view), inputs } = &value.0.kind else {
            return Ok(Flow::Done);
        };
        let View { offset, shape, strides } = &**view;
        let (old, source) = {
            let state = value.state();
            match state.operands.as_slice() {
                [Some(old), source] => (old.clone(), source.clone()),
                _ => {
                    return Err(lost(value.id()));
                }
            }
        };
        let found = access::coordinates(&access::access(*offset, strides), shape, value.shape());
        let window = found.as_ref().and_then(|found| window(found, shape, tile));
        let (Some((first, extents)), false) = (window, value.is_begun(tile.range.clone())) else {
            return self.assign_on_host(value, &old, (&inputs[1], source.as_ref()), tile);
        };
        let points = size_of(&extents);
        let region = found.and_then(|found| fill::region(&found, &first, &extents, tile));
        let covered = points == tile.range.len();
        if !covered
            && !matches!(old.0.kind, Kind::Constant(_))
            && !old.state().computed.covers(tile.range.clone())
        {
            return Ok(Flow::Needs(vec![(old, tile.range.clone())]));
        }
        let walk = if points == 0 {
            None
        } else {
            let open = self.device(device)?;
            match source_walk(open, &inputs[1], source.as_ref(), shape, &first, &extents)? {
                Ok(walk) => {
                    if let Some(needs) = self.stored_first(&walk, value, device) {
                        return Ok(Flow::Needs(needs));
                    }
                    Some(walk)
                }
                Err(needs) => return Ok(Flow::Needs(needs)),
            }
        };
        let at = within_tile(view, &first, tile);
        let reads = walk.as_ref().map_or(Reads::Nothing, |walk| walk.reads(&old, &at));
        if let (Reads::Elsewhere, Some(source)) = (reads, &source)
            && points.saturating_mul(LITTLE) <= tile.range.len()
            && !source.is_computed()
        {
            // What is little is computed by itself; then nobody but us holds the old value.
            let reach = access::reach(&inputs[1].access(shape), shape);
            return Ok(Flow::Needs(vec![(source.clone(), reach)]));
        }
        // From here on nothing else needs to be computed first, unless a piece has to be collapsed,
        // which leaves the old block as it was.
        drop((old, source));
        let sole = match (reads, &walk) {
            (Reads::WhereWritten, Some(walk)) => {
                self.device(device)?.writes_in_place() && walk.is_all_that_holds_the_old(value)
            }
            _ => {
                let state = value.state();
                state.operands.first().and_then(Option::as_ref).is_some_and(Value::is_sole)
            }
        };
        let Some(old) = value.state().operands.first().cloned().flatten() else {
            return Err(lost(value.id()));
        };
        let constant = match old.0.kind {
            Kind::Constant(scalar) => Some(scalar),
            _ => None,
        };
        let open = self.device(device)?;
        // All of a value is replaced by an assignment only where its memory is wanted.
        let wanted = !covered || open.caps.host_memory;
        let in_place = sole && wanted && constant.is_none() && open.may_take(&old, tile);
        self.tracer.event(|| Event::Assigned(subject(value), in_place));
        let mark = self.tracer.mark();
        let part = Part::Tile(tile.number);
        let (block, spec) = if in_place {
            (self.operand_block(device, &old, &part)?, None)
        } else {
            let (open, stats) = self.device_and_stats(device)?;
            let spec = open.spec(value, &tile.range)?;
            (open.alloc(spec, stats)?, Some(spec))
        };
        if in_place {
            self.device(device)?.pin(old.id(), &part);
        }
        let written = if in_place || covered {
            Ok(Flow::Done)
        } else {
            let start = constant.map_or(Start::Value(&old), Start::Scalar);
            self.fill_around(start, value.shape(), (tile, region.as_ref()), device, block)
        };
        let written = match (written, walk) {
            (Ok(Flow::Done), Some(walk)) => {
                let contiguous = access::kind(&at, &walk.space) == AccessKind::Contiguous;
                let whole = covered && (contiguous || points == 1) && at.offset == 0;
                let dest = Destination::Block { block, access: at, whole };
                self.run(walk, Form::Map, dest, device)
            }
            (other, _) => other,
        };
        if in_place {
            self.device(device)?.unpin(old.id(), &part);
        }
        match written {
            Ok(Flow::Done) => {
                let (open, stats) = self.device_and_stats(device)?;
                stats.in_place += u64::from(in_place);
                if let Some(spec) = spec {
                    open.insert(value, part, (block, spec), tile.range.clone());
                } else {
                    open.hand_over(&old, value, tile);
                    let mut state = old.state();
                    if !state.on_host.covers(tile.range.clone()) {
                        state.computed.remove(tile.range.clone());
                    }
                }
                value.mark_computed(tile.range.clone());
                self.tracer.filled(
                    mark,
                    std::slice::from_ref(value),
                    &tile.range,
                    in_place.then_some(&old),
                );
                Ok(Flow::Done)
            }
            other => {
                if in_place && other.as_ref().is_err_and(|e| e.kind() == ErrorKind::DeviceLost) {
                    // Nobody knows how far it came.
                    old.state().on_host.remove(tile.range.clone());
                    old.mark_lost(tile.range.clone());
                }
                if !in_place {
                    self.device(device)?.driver.block_free(block);
                }
                other
            }
        }
    }

    /// A tile done in host memory: the view does not follow the value's axes, or part of the tile is
    /// computed already, because values were cut otherwise then, and the old value may lack it.
    fn assign_on_host(
        &mut self,
        value: &Value,
        old: &Value,
        (input, source): (&Input, Option<&Value>),
        tile: &Tile,
    ) -> Result<Flow> {
        let Kind::Expr { op: NodeOp::Assign(view), .. } = &value.0.kind else {
            return Ok(Flow::Done);
        };
        let View { offset, shape, strides } = &**view;
        let missing = value.state().computed.gaps(tile.range.clone());
        let mut needs: Vec<_> = Vec::new();
        needs.extend(source.filter(|s| !s.is_computed()).map(|s| (s.clone(), 0..s.len())));
        for gap in &missing {
            if !old.state().computed.covers(gap.clone()) {
                needs.push((old.clone(), gap.clone()));
            }
        }
        if !needs.is_empty() {
            return Ok(Flow::Needs(needs));
        }
        for gap in &missing {
            self.bring_to_host(old, gap.clone())?;
        }
        if let Some(source) = source {
            self.bring_to_host(source, 0..source.len())?;
        }
        let began = self.tracer.clock();
        let size = value.dtype().size();
        let data = match (input, source) {
            (Input::Scalar(scalar), _) => scalar.bytes()[..size].to_vec(),
            (input, Some(source)) => {
                let host = source.host_buffer()?;
                // SAFETY: all of the source is in its evaluated map, so nobody writes it.
                let bytes = unsafe { host.bytes(0..source.len() * size) };
                strided::gather(bytes, size, &input.access(shape), shape)?
            }
            (_, None) => return Err(lost(value.id())),
        };
        for gap in missing {
            let (from, to) = (old.host_buffer()?, value.host_buffer()?);
            let bytes = gap.start * size..gap.end * size;
            // SAFETY: the gap is in the old value's evaluated map, so nobody writes it there, and
            // not in the new one's, so nobody reads it there; we hold the engine's lock.
            let (from, to) = unsafe { (from.bytes(bytes.clone()), to.bytes_mut(bytes)) };
            to.copy_from_slice(from);
            let mut within = access::access(*offset, strides);
            within.offset -= gap.start as i64;
            match input {
                Input::Scalar(_) => strided::spread(to, &within, shape, &data),
                _ => strided::scatter(to, size, &within, shape, &data),
            }
            value.state().on_host.insert(gap.clone());
            value.mark_computed(gap);
        }
        self.tracer.step(|| {
            let all = tile.range.clone();
            let doing = Doing::on_host("assign").reads(old, all.clone());
            let doing = match source {
                Some(source) => doing.reads(source, access::reach(&input.access(shape), shape)),
                None => doing,
            };
            doing.writes(value, all).since(began)
        });
        Ok(Flow::Done)
    }
}

/// The walk over a tile's block that a window of a view is, by the window's points.
fn within_tile(view: &View, first: &[usize], tile: &Tile) -> Access {
    let start = view.offset as i64 - tile.range.start as i64;
    let mut at = Access { offset: start, strides: SmallVec::new() };
    for (stride, start) in view.strides.iter().zip(first) {
        at.offset += *stride as i64 * *start as i64;
        at.strides.push(*stride as i64);
    }
    if at.strides.is_empty() {
        at.strides.push(0);
    }
    at
}

/// The walk that gives the source's elements for a window of the assigned view.
fn source_walk(
    device: &Device,
    input: &Input,
    source: Option<&Value>,
    shape: &[usize],
    first: &[usize],
    extents: &[usize],
) -> Result<std::result::Result<Walk, crate::schedule::walk::Needs>> {
    let mut at = input.access(shape);
    for (stride, start) in at.strides.iter().zip(first) {
        at.offset += stride * *start as i64;
    }
    let mut space: Shape = extents.into();
    if space.is_empty() {
        space.push(1);
        at.strides.push(0);
    }
    Walk::new(device, &[Start::input(input, source)?], at, space)
}

/// The window of a view over coordinates that lies in a tile, or `None` where several axes of the
/// view move along one axis of the value.
fn window(coordinates: &Coordinates, shape: &[usize], tile: &Tile) -> Option<Window> {
    let mut first: Shape = SmallVec::from_elem(0, shape.len());
    let mut extents: Shape = shape.into();
    let mut empty = false;
    for (axis, coordinate) in coordinates.iter().enumerate() {
        let (low, high) = (tile.origin[axis] as i64, (tile.origin[axis] + tile.shape[axis]) as i64);
        let mut movers = (0..shape.len()).filter(|k| shape[*k] != 1 && coordinate.strides[*k] != 0);
        match (movers.next(), movers.next()) {
            (None, _) => empty |= coordinate.offset < low || coordinate.offset >= high,
            (Some(k), None) => {
                let (at, step) = (coordinate.offset, coordinate.strides[k]);
                let inside = |i: &usize| {
                    let c = at + step * *i as i64;
                    c >= low && c < high
                };
                // Coordinates move one way, so the points inside are neighbours.
                let bound = |edge: i64| (edge - at).div_euclid(step).clamp(0, shape[k] as i64);
                let (a, b) = if step > 0 { (low, high) } else { (high, low) };
                let from = (bound(a).max(1) as usize - 1..shape[k]).find(inside);
                let till = (0..=(bound(b) as usize).min(shape[k] - 1)).rev().find(inside);
                match (from, till) {
                    (Some(from), Some(till)) if from <= till => {
                        // An axis of the view may move along several axes of the value.
                        let start = first[k].max(from);
                        let end = (first[k] + extents[k]).min(till + 1);
                        first[k] = start;
                        extents[k] = end.saturating_sub(start);
                    }
                    _ => empty = true,
                }
            }
            (Some(_), Some(_)) => return None,
        }
    }
    if empty {
        extents.iter_mut().for_each(|e| *e = 0);
        if extents.is_empty() {
            // A view of no axes outside the tile: no points, which only an extent can say.
            return Some((first, [0].into_iter().collect()));
        }
    }
    Some((first, extents))
}
