//! Assignment: a tile of a value that is another value with some elements replaced.
//!
//! Owns the rule when this happens in place: when nobody holds the old value but what is written, and
//! that reads an element only where it writes it, the old block is written and handed over; otherwise
//! the rest of the old tile is copied first. Sources are evaluated straight into the destination's
//! positions. Invariant: the old value's block is handed over only after the write succeeded.
//!
//! Not here: recording assignments (`recorder.rs`), what is written where (`schedule/steps/assigned.rs`), copies of
//! old elements (`fill.rs`), who holds the old value (`in_place.rs`).

use crate::execute::evaluate::Engine;
use crate::explain::trace::{Event, subject};
use crate::explain::tracer::Doing;
use crate::graph::value::{Input, Kind, NodeOp, Value};
use crate::memory::access;
use crate::memory::strided;
use crate::memory::tiling::Tile;
use crate::memory::view::View;
use crate::schedule::destination::Destination;
use crate::schedule::in_place::Reads;
use crate::schedule::steps::{Assigned, Written};
use crate::schedule::walk::{Flow, Start, lost};
use gpupy_core::Result;
use std::ops::Range;

impl Engine {
    /// Evaluates a tile of an assignment's value, or tells what it needs first.
    pub fn assign(
        &mut self,
        value: &Value,
        step: Assigned,
        tile: &Tile,
        device: usize,
    ) -> Result<Flow> {
        match step {
            Assigned::InBlock(written) => self.assign_in_block(value, *written, tile, device),
            Assigned::OnHost(missing) => self.assign_on_host(value, &missing, tile),
        }
    }

    fn assign_in_block(
        &mut self,
        value: &Value,
        Written { kernels, at, reads, region, covered, whole }: Written,
        tile: &Tile,
        device: usize,
    ) -> Result<Flow> {
        // Nothing else needs to be computed first, unless a piece has to be collapsed, which leaves the old block as it
        // was.
        let sole = match (reads, &kernels) {
            (Reads::WhereWritten, Some(kernels)) => {
                self.device(device)?.writes_in_place() && kernels.are_all_that_holds_the_old(value)
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
        let filling = match in_place {
            true => self.fill_old(value, old.clone(), tile, device)?,
            false => self.fill_new(std::slice::from_ref(value), tile, device)?,
        };
        let block = filling.blocks[0];
        let written = if in_place || covered {
            Ok(Flow::Done)
        } else {
            let start = constant.map_or(Start::Value(&old), Start::Scalar);
            self.fill_around(start, value.shape(), (tile, region.as_ref()), device, block)
        };
        let written = match (written, kernels) {
            (Ok(Flow::Done), Some(kernels)) => {
                let dest = Destination::Block { block, access: at, whole };
                self.run(kernels, &[dest], device)
            }
            (other, _) => other,
        };
        match &written {
            Ok(Flow::Done) => {
                self.filled(filling, device)?;
                let (value, old) = (std::slice::from_ref(value), in_place.then_some(&old));
                self.tracer.filled(mark, value, &tile.range, old);
            }
            Ok(Flow::Needs(_)) => self.not_filled(filling, None, device),
            Err(error) => self.not_filled(filling, Some(error), device),
        }
        written
    }

    /// Writes what is missing of a tile in host memory.
    fn assign_on_host(
        &mut self,
        value: &Value,
        missing: &[Range<usize>],
        tile: &Tile,
    ) -> Result<Flow> {
        self.capture_no_more();
        let operands = value.state().operands.clone();
        let (Kind::Expr { op: NodeOp::Assign(view), inputs }, [Some(old), source]) =
            (&value.0.kind, operands.as_slice())
        else {
            return Err(lost(value.id()));
        };
        let (View { offset, shape, strides }, input) = (&**view, &inputs[1]);
        for gap in missing {
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
            value.mark_computed(gap.clone());
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
