//! Spilling: elements go to the disk where host memory is limited, and come back when they are needed.
//!
//! Invariants: elements that the current step needs stay; a full disk loses nothing; elements that an export or a read
//! has given out stay.
//!
//! Not here: the limit (`memory/limit.rs`), the file (`memory/spill_file.rs`), elements that can be read again
//! (`external_elements.rs`).

use crate::array::base;
use crate::execute::evaluate::Engine;
use crate::explain::tracer::Doing;
use crate::graph::value::{Value, paged};
use crate::memory::host_buffer::HostBuffer;
use crate::memory::limit;
use crate::schedule::walk::lost;
use gpupy_core::Result;
use gpupy_core::memory::refused;
use std::ops::Range;

impl Engine {
    /// Makes room for `more` bytes within the limit: elements that can be read again are released, and then the least
    /// recently used ones are spilled to the disk.
    ///
    /// # Errors
    /// - `OutOfMemory`: elements that have to stay take too much. `File`: the disk is full.
    pub(crate) fn keep_within(&mut self, more: u64) -> Result<()> {
        let Some(most) = limit::host_bytes() else { return Ok(()) };
        let held = |engine: &Engine, all: &[Value]| {
            limit::owned() + engine.residents.bytes() + all.iter().map(bytes_there).sum::<u64>()
        };
        let all = paged::living();
        if held(self, &all) + more <= most {
            return Ok(());
        }
        base::share_large();
        let all = paged::living();
        self.make_place_within(0, most.saturating_sub(most / 2))?;
        let mut there = held(self, &all);
        // No more than a step needs goes at once, so that what it needs seldom keeps anything else.
        let part = limit::step_bytes().unwrap_or(1 << 20);
        // Some at once, so that it is seldom looked for them.
        let aim = most.saturating_sub(more).saturating_sub(most / 16);
        for value in &all {
            let step = (part / value.dtype().size()).max(1);
            for here in there_of(value) {
                let mut next = here.start;
                while next < here.end && there > aim {
                    let piece = next..(next / step + 1).saturating_mul(step).min(here.end);
                    next = piece.end;
                    let bytes = (piece.len() * value.dtype().size()) as u64;
                    there -= if self.spill(value, &piece)? { bytes } else { 0 };
                }
            }
            if there <= aim {
                break;
            }
        }
        if there + more > most { Err(refused(more as usize)) } else { Ok(()) }
    }

    /// Makes room for a tile of a value that is going to be computed.
    ///
    /// # Errors
    /// As of `keep_within`.
    pub(super) fn make_way(&mut self, value: &Value, range: &Range<usize>) -> Result<()> {
        if limit::host_bytes().is_none() {
            return Ok(());
        }
        if value.0.paged {
            self.residents.need(value, range);
        }
        self.keep_within((range.len() * value.dtype().size()) as u64)
    }

    /// Writes positions of a value to the disk, and lets go of their memory; false where they have to stay.
    fn spill(&mut self, value: &Value, range: &Range<usize>) -> Result<bool> {
        let mut devices = self.devices.iter().flatten();
        if self.residents.is_needed(value, range)
            || !devices.all(|device| device.may_leave_memory(value, range))
        {
            return Ok(false);
        }
        let size = value.dtype().size();
        let began = self.tracer.clock();
        let mut state = value.state();
        let is_alone = state.host.as_ref().is_some_and(HostBuffer::is_sole);
        if !is_alone || !state.on_host.covers(range.clone()) {
            return Ok(false);
        }
        let mut spilled = state
            .spilled
            .take()
            .unwrap_or_else(|| Box::new(paged::Spilled::new(value.byte_len() as usize, size)));
        let written = spilled.gaps(range.clone()).into_iter().try_for_each(|gap| {
            let from = state.host_bytes(gap.clone(), size).ok_or_else(|| lost(value.id()))?;
            spilled.write(gap.start, from)?;
            self.stats.bytes_spilled += from.len() as u64;
            Ok(())
        });
        state.spilled = Some(spilled);
        drop(state);
        written?;
        for device in self.devices.iter_mut().flatten() {
            device.leave_memory(value, range)?;
        }
        if !value.state().release(range.clone(), size) {
            return Ok(false);
        }
        self.tracer.step(|| Doing::on_host("spill").reads(value, range.clone()).since(began));
        Ok(true)
    }

    /// Brings spilled positions of a value back to host memory.
    ///
    /// # Errors
    /// As of `keep_within`. `File`: the disk fails.
    pub(super) fn bring_back(&mut self, value: &Value, range: &Range<usize>) -> Result<()> {
        self.residents.need(value, range);
        let missing = |value: &Value| {
            let state = value.state();
            let Some(spilled) = &state.spilled else { return Vec::new() };
            let mut found = Vec::new();
            for gap in state.on_host.gaps(range.clone()) {
                // Those of the gap that are no gaps of what is spilled.
                let mut next = gap.start;
                for lack in spilled.gaps(gap.clone()) {
                    found.push(next..lack.start);
                    next = lack.end;
                }
                found.push(next..gap.end);
            }
            found.retain(|part| !part.is_empty());
            found
        };
        let parts = missing(value);
        if parts.is_empty() {
            return Ok(());
        }
        let (size, began) = (value.dtype().size(), self.tracer.clock());
        let wanted: usize = parts.iter().map(Range::len).sum();
        self.keep_within((wanted * size) as u64)?;
        for part in parts {
            value.write_host(part.clone(), |into| {
                let state = value.state();
                state.spilled.as_ref().map_or(Err(lost(value.id())), |on| on.read(part.start, into))
            })?;
        }
        self.tracer.step(|| Doing::on_host("unspill").writes(value, range.clone()).since(began));
        Ok(())
    }
}

/// The bytes of a value that are in host memory.
fn bytes_there(value: &Value) -> u64 {
    let size = value.dtype().size();
    there_of(value).iter().map(|part| (part.len() * size) as u64).sum()
}

/// The positions of a value that are in host memory.
fn there_of(value: &Value) -> Vec<Range<usize>> {
    let state = value.state();
    let mut parts = Vec::new();
    let mut next = 0;
    for gap in state.on_host.gaps(0..value.len()) {
        parts.push(next..gap.start);
        next = gap.end;
    }
    parts.push(next..value.len());
    parts.retain(|part| !part.is_empty());
    parts
}
