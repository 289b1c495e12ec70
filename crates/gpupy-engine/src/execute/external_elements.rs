//! External elements: read into host memory from a file or another source, and released from it.
//!
//! Invariants: elements are released only where nothing refers to them: no block of a device lies over them, and no
//! pointer to them was given out; elements that the current launch needs stay.
//!
//! Not here: how they are read (`memory/reader.rs`), which part is released first (`blocks/streams.rs`).

use crate::blocks::cache::BlockPart;
use crate::execute::evaluate::Engine;
use crate::explain::tracer::Doing;
use crate::graph::value::Value;
use crate::memory::access;
use crate::memory::limit;
use crate::memory::reader::{self, BYTES_READ, Reader};
use crate::memory::strided::gather_into;
use crate::thresholds::T;
use gpupy_core::driver::{Access, BlockId, BlockSpec};
use gpupy_core::ir::AccessKind;
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{Error, ErrorKind, Result, memory};
use std::ops::Range;
use std::sync::atomic::Ordering;

impl Engine {
    /// Reads positions of a value into its host memory, as far as they are not there.
    ///
    /// # Errors
    /// Those of the reader; what it gave before is there.
    pub(super) fn read_outside(
        &mut self,
        value: &Value,
        reader: &dyn Reader,
        range: Range<usize>,
    ) -> Result<()> {
        self.residents.touch(value, &range);
        if range.is_empty() || value.state().on_host.covers(range.clone()) {
            return Ok(());
        }
        let (unit, size) = (reader.unit().max(1), value.dtype().size());
        let all = range.start / unit * unit..range.end.next_multiple_of(unit).min(value.len());
        let gaps = value.state().on_host.gaps(all);
        let wanted: usize = gaps.iter().map(Range::len).sum();
        let bytes = (wanted * size) as u64;
        self.make_place_within(bytes, limit::host_bytes().map_or(u64::MAX, |most| most / 2))?;
        self.keep_within(bytes)?;
        for gap in gaps {
            let mut next = gap.start;
            while next < gap.end {
                let part = next..(next / unit + 1).saturating_mul(unit).min(gap.end);
                let began = self.tracer.clock();
                let read = |into: &mut [u8]| reader::read(reader, part.start, into);
                value.write_host(part.clone(), read).map_err(|error| {
                    error.with_default("elements", format!("{}..{}", part.start, part.end))
                })?;
                BYTES_READ.fetch_add((part.len() * size) as u64, Ordering::Relaxed);
                self.stats.bytes_read += (part.len() * size) as u64;
                self.residents.insert(value, part.clone());
                self.tracer
                    .step(|| Doing::on_host("read").writes(value, part.clone()).since(began));
                next = part.end;
            }
        }
        Ok(())
    }

    /// Lets go of what was read and used longest ago, so that there is room for so many bytes within a limit; as far as
    /// nothing looks at it.
    pub(super) fn make_place_within(&mut self, bytes: u64, limit: u64) -> Result<()> {
        for (value, range) in self.residents.leaving(bytes, limit) {
            if !self.let_go(&value, &range)? {
                self.residents.put_back(&value, range);
            }
        }
        Ok(())
    }

    /// Lets go of positions of a value that were read; false where something looks at them.
    fn let_go(&mut self, value: &Value, range: &Range<usize>) -> Result<bool> {
        let mut devices = self.devices.iter_mut().flatten();
        if !devices.all(|device| device.may_leave_memory(value, range)) {
            return Ok(false);
        }
        for device in self.devices.iter_mut().flatten() {
            device.leave_memory(value, range)?;
        }
        let mut state = value.state();
        // Without memory, another value has it now.
        Ok(state.host.is_none() || state.release(range.clone(), value.dtype().size()))
    }

    /// The block of a view of a value that lies outside: where it is read to, if that is possible, or gathered part by
    /// part.
    pub(super) fn outside_view(
        &mut self,
        position: usize,
        value: &Value,
        part: &BlockPart,
        (walk, space): (&Access, &Shape),
    ) -> Result<BlockId> {
        let device = self.device(position)?;
        if device.caps.host_memory && access::kind(walk, space) == AccessKind::Contiguous {
            let reach = access::reach(walk, space);
            self.bring_to_host(value, reach.clone())?;
            let (device, stats) = self.device_and_stats(position)?;
            let memory = value.host_memory(&reach)?;
            let spec = BlockSpec { memory, ..BlockSpec::new(value.dtype(), reach.len()) };
            let block = device.alloc(spec, stats)?;
            device.insert(value, part.clone(), (block, spec), 0..0);
            return Ok(block);
        }
        let size = value.dtype().size();
        let mut data = memory::zeroed(size_of(space).saturating_mul(size))?;
        self.gather_outside(value, walk, space, &mut data)?;
        let (device, stats) = self.device_and_stats(position)?;
        device.upload(value, part.clone(), 0..0, &data, stats)
    }

    /// The elements of an access over a space, in C order; few of them are in memory at a time, and little is read that
    /// the access does not name.
    fn gather_outside(
        &mut self,
        value: &Value,
        walk: &Access,
        space: &[usize],
        out: &mut [u8],
    ) -> Result<()> {
        let (size, points, reach) =
            (value.dtype().size(), size_of(space), access::reach(walk, space));
        let most = T.streamed_tile.min(points.saturating_mul(4)).max(T.streamed_least);
        let axis = space.iter().position(|extent| *extent > 1);
        let Some(axis) = axis.filter(|_| reach.len() > most) else {
            let bytes = self.brought(value, reach.clone())?;
            let walk = access::within(walk, &reach);
            self.residents.advance();
            return gather_into(out, &bytes, size, &walk, space).ok_or_else(|| {
                Error::new(ErrorKind::Invalid, "gather").says("an access leaves its value")
            });
        };
        let (mut first, mut second) = (Shape::from_slice(space), Shape::from_slice(space));
        first[axis] = space[axis] / 2;
        second[axis] -= first[axis];
        let mut behind = walk.clone();
        behind.offset += walk.strides[axis] * first[axis] as i64;
        let (low, high) = out.split_at_mut(size_of(&first) * size);
        self.gather_outside(value, walk, &first, low)?;
        self.gather_outside(value, &behind, &second, high)
    }
}
