//! Transfers: values between host memory and devices, and from one device to another.
//!
//! Owns the rule where an operand's elements come from: a block on the device, or host memory, to
//! which other devices' blocks are copied first. Invariant: host memory is written only where the
//! evaluated map has a gap.
//!
//! Not here: the evaluated map (`value.rs`), eviction (`cache.rs`).

use crate::access;
use crate::cache::{Part, gather};
use crate::driver::BlockId;
use crate::error::{Error, ErrorKind, Result};
use crate::evaluate::Engine;
use crate::scalar::Scalar;
use crate::trace::{Event, subject};
use crate::value::{Kind, Value};
use std::ops::Range;

impl Engine {
    /// The block of an operand's part on a device, copied or gathered there if need be. The part's
    /// elements are computed.
    pub fn operand_block(
        &mut self,
        position: usize,
        value: &Value,
        part: &Part,
    ) -> Result<BlockId> {
        if let Some(block) = self.device(position)?.find(value.id(), part) {
            self.stats.cache_hits += 1;
            return Ok(block);
        }
        self.stats.cache_misses += 1;
        let size = value.dtype().size();
        let (range, gathered) = match part {
            Part::Tile(number) => {
                let range = self.device(position)?.tiling(value.shape()).tile(*number).range;
                (range, None)
            }
            Part::View(view) => (access::reach(&view.0, &view.1), Some(&**view)),
        };
        self.bring_to_host(value, range.clone())?;
        let buffer = value.host_buffer();
        let (device, stats) = self.device_and_stats(position)?;
        match gathered {
            None => {
                // SAFETY: the range is in the evaluated map, so nobody writes it any more.
                let bytes = unsafe { buffer.bytes(range.start * size..range.end * size) };
                device.upload(value, part.clone(), range, bytes, stats)
            }
            Some((walk, space)) => {
                // SAFETY: as above, for every position that the view names; the gaps between them
                // may be written only under the engine's lock, which we hold.
                let bytes = unsafe { buffer.bytes(0..range.end * size) };
                let data = gather(bytes, size, walk, space)?;
                device.upload(value, part.clone(), 0..0, &data, stats)
            }
        }
    }

    /// Copies computed positions to host memory, from whichever devices hold them.
    ///
    /// # Errors
    /// - `Lost`: the positions are nowhere any more.
    pub fn bring_to_host(&mut self, value: &Value, range: Range<usize>) -> Result<()> {
        if let Kind::Constant(scalar) = value.0.kind {
            self.fill_host(value, scalar);
        }
        if value.state().on_host.covers(range.clone()) {
            return Ok(());
        }
        let Engine { devices, stats, .. } = self;
        for slot in devices.iter_mut() {
            let Some(device) = slot else { continue };
            let tiles = device.tiles(value.id()).into_iter();
            let meet = |tile: &Range<usize>| tile.start < range.end && range.start < tile.end;
            let saved = tiles
                .filter(|(_, tile)| meet(tile))
                .try_for_each(|(number, _)| device.save(&(value.id(), Part::Tile(number)), stats));
            match saved {
                Err(error) if error.kind() == ErrorKind::DeviceLost => {
                    device.lose_all();
                    *slot = None;
                }
                other => other?,
            }
        }
        if value.state().on_host.covers(range) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Lost, "read")
            .says("elements were lost with their device")
            .with("value", value.id()))
    }

    /// Writes a constant's elements out.
    fn fill_host(&mut self, value: &Value, scalar: Scalar) {
        let (len, size) = (value.len(), value.dtype().size());
        if value.state().on_host.covers(0..len) {
            return;
        }
        let buffer = value.host_buffer();
        // SAFETY: the evaluated map is empty, so nobody reads; we hold the engine's lock.
        let bytes = unsafe { buffer.bytes_mut(0..len * size) };
        for chunk in bytes.chunks_exact_mut(size) {
            chunk.copy_from_slice(&scalar.bytes()[..size]);
        }
        value.state().on_host.insert(0..len);
    }

    /// One computed element, moving no more than it; after some of these from one value, its tile.
    pub fn element(&mut self, value: &Value, position: usize) -> Result<Scalar> {
        /// Single reads before the whole tile is fetched: about where one transfer of a tile costs
        /// less than another round trip for each element.
        const SINGLE_READS: u32 = 4;
        let dtype = value.dtype();
        if let Kind::Constant(scalar) = value.0.kind {
            return Ok(scalar);
        }
        let bad = || {
            Error::new(ErrorKind::DType, "read")
                .says("the dtype has no scalar")
                .with("dtype", dtype)
        };
        let reads = value.0.element_reads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if reads < SINGLE_READS && !value.state().on_host.covers(position..position + 1) {
            let Engine { devices, stats, .. } = self;
            for device in devices.iter_mut().flatten() {
                let tiles = device.tiles(value.id());
                let Some((number, tile)) = tiles.iter().find(|(_, r)| r.contains(&position)) else {
                    continue;
                };
                if let Some(block) = device.find(value.id(), &Part::Tile(*number)) {
                    let mut bytes = [0u8; 8];
                    let out = bytes.get_mut(..dtype.size()).ok_or_else(bad)?;
                    device.driver.block_read(block, position - tile.start, out)?;
                    stats.bytes_downloaded += dtype.size() as u64;
                    let name = device.name;
                    device.tracer.event(|| Event::Downloaded(subject(value), name, dtype.size()));
                    return Scalar::read(dtype, &bytes).ok_or_else(bad);
                }
            }
        }
        self.bring_to_host(value, position..position + 1)?;
        let (buffer, size) = (value.host_buffer(), dtype.size());
        // SAFETY: the position is in the evaluated map.
        let bytes = unsafe { buffer.bytes(position * size..(position + 1) * size) };
        Scalar::read(dtype, bytes).ok_or_else(bad)
    }
}
