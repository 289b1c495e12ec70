//! Transfers: values between host memory and devices, and from one device to another.
//!
//! Owns the rule where an operand's elements come from: a block on the device, or host memory, to which blocks of other
//! devices are copied first. Invariant: host memory is written only where the evaluated map has a gap.
//!
//! Not here: the evaluated map (`value/`), eviction (`cache/eviction.rs`).

use crate::blocks::cache::{BlockKey, BlockPart};
use crate::execute::evaluate::Engine;
use crate::explain::step::StepAction;
use crate::explain::tracer::Doing;
use crate::graph::value::{HostSlice, NodeOp, Value, ValueId, ValueKind, set_aside};
use crate::memory::access;
use crate::memory::element_bytes::fill_all;
use crate::memory::ranges::Ranges;
use crate::memory::strided::gather;
use crate::schedule::walk::lost;
use crate::thresholds::T;
use gpupy_core::driver::BlockId;
use gpupy_core::{Error, ErrorKind, Result, Scalar};
use std::ops::Range;
use std::sync::Arc;

impl Engine {
    /// The block of an operand's part on a device, copied or gathered there if need be. The part's
    /// elements are computed.
    pub fn operand_block(
        &mut self,
        position: usize,
        value: &Value,
        part: &BlockPart,
    ) -> Result<BlockId> {
        let (device, stats) = self.device_and_stats(position)?;
        if let Some(block) = device.find(value.id(), part) {
            stats.cache_hits += 1;
            let stale = device.stale(value, part);
            if stale.is_empty() {
                return Ok(block);
            }
            // They may be on the disk.
            stale.iter().try_for_each(|range| self.bring_to_host(value, range))?;
            let (device, stats) = self.device_and_stats(position)?;
            device.refresh(value, part, stats)?;
            return Ok(block);
        }
        stats.cache_misses += 1;
        let size = value.dtype().size();
        let (range, gathered) = match part {
            BlockPart::Tile(number) => {
                let range = self.device(position)?.tiling_of(value).tile(*number).range;
                (range, None)
            }
            BlockPart::View(view) => (access::reach(&view.0, &view.1), Some(&**view)),
        };
        if let Some((walk, space)) = gathered
            && value.is_external()
        {
            return self.outside_view(position, value, part, (walk, space));
        }
        if gathered.is_none() && self.device(position)?.caps.host_memory {
            // A value that was cut otherwise when it was computed has part of a tile, as it is cut now.
            let computed = value.state().computed.within(range.clone());
            if !computed.is_empty() && !computed.covers(range.clone()) {
                computed.iter().try_for_each(|range| self.bring_to_host(value, range))?;
                let (device, stats) = self.device_and_stats(position)?;
                return device.lay_out(value, part.clone(), range, stats);
            }
        }
        let bytes = self.brought(value, range.clone())?;
        let (device, stats) = self.device_and_stats(position)?;
        match gathered {
            None => device.upload(value, part.clone(), range, &bytes, stats),
            Some((walk, space)) => {
                let data = gather(&bytes, size, &access::within(walk, &range), space)?;
                device.upload(value, part.clone(), 0..0, &data, stats)
            }
        }
    }

    /// Copies computed positions to host memory, from whichever devices hold them.
    ///
    /// # Errors
    /// - `Lost`: the positions are nowhere any more.
    /// - `Poisoned`: the same, because the evaluation that should have given them failed.
    pub fn bring_to_host(&mut self, value: &Value, range: Range<usize>) -> Result<()> {
        match &value.0.kind {
            ValueKind::Constant(scalar) => self.fill_host(value, *scalar)?,
            ValueKind::External(external) => {
                self.read_outside(value, &*external.0, range.clone())?
            }
            ValueKind::Host(_) | ValueKind::Expr { .. } if value.0.paged => {
                self.bring_back(value, &range)?
            }
            ValueKind::Host(_) | ValueKind::Expr { .. } => {}
        }
        if value.state().on_host.covers(range.clone()) {
            return Ok(());
        }
        let mut poisoned = None;
        for position in 0..self.devices.len() {
            let Ok((device, _)) = self.device_and_stats(position) else { continue };
            let meet = |tile: &Range<usize>| tile.start < range.end && range.start < tile.end;
            let tiles = device.tiles(value.id()).into_iter().filter(|(_, tile)| meet(tile));
            for (number, _) in tiles {
                let key = (value.id(), BlockPart::Tile(number));
                let Ok((device, stats)) = self.device_and_stats(position) else { break };
                let Err(error) = device.save(&key, stats) else { continue };
                let error = self.unreadable(position, &key, error)?;
                if error.kind() == ErrorKind::Poisoned {
                    poisoned = Some(error);
                }
            }
        }
        if value.state().on_host.covers(range) {
            return Ok(());
        }
        Err(poisoned.unwrap_or_else(|| {
            Error::new(ErrorKind::Lost, "read")
                .says("elements were lost with their device")
                .with("value", value.id())
        }))
    }

    /// Elements of a value that is computed there, brought to host memory.
    ///
    /// # Errors
    /// As of `bring_to_host`.
    pub fn brought(&mut self, value: &Value, range: Range<usize>) -> Result<HostSlice> {
        self.bring_to_host(value, range.clone())?;
        value.host_slice(range).ok_or_else(|| lost(value.id()))
    }

    /// Lets a value that was made of another one in host memory have its blocks, where `written` gives the positions at
    /// which they differ. Nothing needs the other one any more.
    pub(super) fn inherit(&mut self, from: ValueId, to: &Value, written: impl FnOnce() -> Ranges) {
        let mut devices = self.devices.iter_mut().flatten();
        if devices.any(|device| !device.tiles(from).is_empty()) {
            let written = written();
            self.devices.iter_mut().flatten().for_each(|device| device.inherit(from, to, &written));
        }
    }

    /// Sets the blocks of a value aside, whose elements are in host memory and written there next; `None` where there
    /// are none, or other handles of the value need them.
    pub(crate) fn set_aside(&mut self, value: &Value) -> Option<Value> {
        // The base has one handle, and the caller.
        if Arc::strong_count(&value.0) > 2 {
            return None;
        }
        let blocks = Value::on_device(value.dtype(), value.shape());
        blocks.state().is_set_aside = true;
        self.inherit(value.id(), &blocks, Ranges::default);
        let mut devices = self.devices.iter().flatten();
        devices.any(|device| !device.tiles(blocks.id()).is_empty()).then_some(blocks)
    }

    /// Has values take over blocks that were set aside for them.
    pub(crate) fn settle(&mut self) {
        for (blocks, heir, written) in set_aside::heirs() {
            self.inherit(blocks.id(), &heir, || written);
        }
    }

    /// The positions of a value that are missing on the device: those that the host has written since, those that were
    /// never brought there, and pending ones; without a device, all. A constant has none, as it is a launch argument.
    pub fn pending(&self, position: Option<usize>, value: &Value) -> Ranges {
        let device = position.and_then(|at| self.devices.get(at)?.as_ref());
        let (mut value, mut open) = (value.clone(), Ranges::full(value.len()));
        let mut pending = Ranges::default();
        loop {
            let is_constant = matches!(value.0.kind, ValueKind::Constant(_));
            let current = match device {
                _ if is_constant => open.clone(),
                Some(device) => device.current(&value),
                None => Ranges::default(),
            };
            current.iter().for_each(|range| open.remove(range));
            let old = value.state().operands.first().cloned().flatten();
            match (&value.0.kind, old) {
                (ValueKind::Expr { op: NodeOp::Assign(view), .. }, Some(old)) => {
                    for range in view.positions(T.sent_ranges).iter() {
                        open.within(range.clone()).iter().for_each(|range| pending.insert(range));
                        open.remove(range);
                    }
                    value = old;
                }
                _ => {
                    open.iter().for_each(|range| pending.insert(range));
                    return pending;
                }
            }
        }
    }

    /// Notes that a block could not be read, and gives the error back when that is all that there is
    /// to do: the block is discarded, or its device is no longer open.
    fn unreadable(&mut self, position: usize, key: &BlockKey, error: Error) -> Result<Error> {
        match error.kind() {
            ErrorKind::DeviceLost => self.lose_device(position),
            ErrorKind::Poisoned => {
                let device = self.device(position)?;
                device.discard(key);
                // A copy that did not arrive may have been an operand.
                device.discard_copies();
            }
            _ => return Err(error),
        }
        Ok(error)
    }

    /// Discards those of these blocks whose elements are gone, as a launch said of some that it reads.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is no longer open.
    pub(super) fn discard_unreadable(
        &mut self,
        position: usize,
        parts: &[(ValueId, BlockPart)],
    ) -> Result<()> {
        for key in parts {
            let device = self.device(position)?;
            let Some(block) = device.find(key.0, &key.1) else { continue };
            if let Err(error) = device.read(key, block, 0, &mut []) {
                self.unreadable(position, key, error)?;
            }
        }
        Ok(())
    }

    /// Waits for the work that writes a value's tiles.
    ///
    /// # Errors
    /// - `DeviceLost`, `Poisoned`: it failed, and the tiles that it should have given are lost.
    pub fn wait_for(&mut self, value: &Value) -> Result<()> {
        for position in 0..self.devices.len() {
            let Ok((device, _)) = self.device_and_stats(position) else { continue };
            for (number, _) in device.tiles(value.id()) {
                let key = (value.id(), BlockPart::Tile(number));
                let device = self.device(position)?;
                let Some(block) = device.find(key.0, &key.1) else { continue };
                if let Err(error) = device.read(&key, block, 0, &mut []) {
                    return Err(self.unreadable(position, &key, error)?);
                }
            }
        }
        Ok(())
    }

    /// Writes a constant's elements out.
    fn fill_host(&mut self, value: &Value, scalar: Scalar) -> Result<()> {
        let (len, size) = (value.len(), value.dtype().size());
        if value.state().on_host.covers(0..len) {
            return Ok(());
        }
        let began = self.tracer.clock();
        value.write_host(0..len, |to| {
            fill_all(to, &scalar.bytes()[..size]);
            Ok(())
        })?;
        self.tracer.step(|| Doing::on_host("fill").writes(value, 0..len).since(began));
        Ok(())
    }

    /// Puts the bytes of computed elements into a buffer, moving no more than these; false, with nothing done, where no
    /// block of a device has all of them.
    ///
    /// # Errors
    /// As of `bring_to_host`.
    pub fn download(
        &mut self,
        value: &Value,
        range: Range<usize>,
        into: &mut [u8],
    ) -> Result<bool> {
        for at in 0..self.devices.len() {
            let Ok((device, stats)) = self.device_and_stats(at) else { continue };
            let tiles = device.tiles(value.id());
            let has_all = |tile: &Range<usize>| tile.start <= range.start && range.end <= tile.end;
            let Some((number, tile)) = tiles.iter().find(|(_, tile)| has_all(tile)) else {
                continue;
            };
            let key = (value.id(), BlockPart::Tile(*number));
            let Some(block) = device.find(key.0, &key.1) else { continue };
            let began = device.tracer.clock();
            if let Err(error) = device.read(&key, block, range.start - tile.start, into) {
                return Err(self.unreadable(at, &key, error)?);
            }
            stats.bytes_downloaded += into.len() as u64;
            device.tracer.step(|| {
                let doing = Doing::new(StepAction::Download, device.name);
                doing.reads(value, range.clone()).moves(into.len()).since(began)
            });
            return Ok(true);
        }
        Ok(false)
    }

    /// One computed element, moving no more than it, or its tile `with_block`.
    pub fn element(&mut self, value: &Value, position: usize, with_block: bool) -> Result<Scalar> {
        let dtype = value.dtype();
        if let ValueKind::Constant(scalar) = value.0.kind {
            return Ok(scalar);
        }
        let bad = || {
            Error::new(ErrorKind::DType, "read")
                .says("the dtype has no scalar")
                .with("dtype", dtype)
        };
        let range = position..position + 1;
        let is_there = value.state().on_host.covers(range.clone());
        let mut bytes = [0u8; 8];
        let out = bytes.get_mut(..dtype.size()).ok_or_else(bad)?;
        if !is_there && !with_block && self.download(value, range.clone(), out)? {
            return Scalar::read(dtype, &bytes).ok_or_else(bad);
        }
        let bytes = self.brought(value, range)?;
        Scalar::read(dtype, &bytes).ok_or_else(bad)
    }
}
