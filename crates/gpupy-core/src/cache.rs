//! The block cache of one device: which piece of which value is where.
//!
//! Owns [`Device`]'s blocks: a hash table with an LRU list. A block is named by value and part: a
//! tile, or a gathered view (with its offset, shape and strides, as in the thesis). Invariants: a
//! pinned block is never evicted; a tile that is nowhere else is saved to host memory before it is
//! evicted; blocks of dead values are freed before anything is evicted.
//!
//! Not here: what to evaluate (`evaluate.rs`), the driver's own memory.

use crate::access::{self};
use crate::driver::{Access, BlockId, BlockSpec, Capabilities, Driver};
use crate::error::{Error, ErrorKind, Result};
use crate::stats::Stats;
use crate::tiling::{Tile, Tiling};
use crate::trace::{Event, Tracer, subject};
use crate::value::{DeadList, Node, Value, ValueId};
use crate::view::{Shape, size_of};
use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, PoisonError, Weak};

/// Which piece of a value a block holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// A tile of the device's tiling.
    Tile(usize),
    /// The points of a space, gathered in C order.
    View(Box<(Access, Shape)>),
}

type Key = (ValueId, Part);

struct Entry {
    block: BlockId,
    value: Weak<Node>,
    /// The positions of a tile; empty for a gathered view, which can always be gathered again.
    range: Range<usize>,
    pins: u32,
}

/// Where a kernel finds an operand: the block's part, and the access within the block.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub part: Part,
    pub access: Access,
}

/// An open driver with its blocks.
pub(crate) struct Device {
    pub name: &'static str,
    pub driver: Box<dyn Driver>,
    pub caps: Capabilities,
    pub tracer: Tracer,
    /// Elements in the largest tile: what the user allows, and no more than the largest block.
    tile_len: usize,
    blocks: LruCache<Key, Entry, FxBuildHasher>,
    parts: FxHashMap<ValueId, SmallVec<[Part; 1]>>,
    dead: DeadList,
}

impl Device {
    pub fn new(
        name: &'static str,
        driver: Box<dyn Driver>,
        caps: Capabilities,
        tile_len: usize,
        tracer: Tracer,
    ) -> Device {
        Device {
            name,
            tile_len: tile_len.clamp(1, caps.max_block_len),
            driver,
            caps,
            tracer,
            blocks: LruCache::unbounded_with_hasher(FxBuildHasher),
            parts: FxHashMap::default(),
            dead: DeadList::default(),
        }
    }

    /// How values of this shape are cut for this device.
    pub fn tiling(&self, shape: &[usize]) -> Tiling {
        Tiling::new(shape, self.tile_len)
    }

    /// Where a kernel over `space` would find the elements of a computed value: in a tile, or, when
    /// they lie in several tiles or are few of many that are only in host memory, gathered.
    pub fn place(&self, value: &Value, walk: &Access, space: &[usize]) -> Placed {
        let tiling = self.tiling(value.shape());
        let reach = access::reach(walk, space);
        let numbers = tiling.numbers(reach);
        if numbers.len() == 1 {
            let tile = tiling.tile(numbers.start);
            let sparse = size_of(space).saturating_mul(8) < tile.range.len()
                && !self.blocks.contains(&(value.id(), Part::Tile(tile.number)))
                && value.state().on_host.covers(tile.range.clone());
            if !sparse {
                let mut within = walk.clone();
                within.offset -= tile.range.start as i64;
                return Placed { part: Part::Tile(tile.number), access: within };
            }
        }
        let strides = crate::view::contiguous_strides(space);
        Placed {
            part: Part::View(Box::new((walk.clone(), space.into()))),
            access: access::access(0, &strides),
        }
    }

    /// The block of a part, if it is on the device; marks it as used.
    pub fn find(&mut self, value: ValueId, part: &Part) -> Option<BlockId> {
        self.blocks.get(&(value, part.clone())).map(|entry| entry.block)
    }

    /// The tiles of a value on this device.
    pub fn tiles(&self, value: ValueId) -> Vec<(usize, Range<usize>)> {
        let parts = self.parts.get(&value).map_or(&[][..], |parts| &parts[..]);
        parts
            .iter()
            .filter_map(|part| match part {
                Part::Tile(number) => {
                    let entry = self.blocks.peek(&(value, part.clone()))?;
                    Some((*number, entry.range.clone()))
                }
                Part::View(_) => None,
            })
            .collect()
    }

    /// Allocates a block, evicting others while there is no room.
    pub fn alloc(&mut self, spec: BlockSpec, stats: &mut Stats) -> Result<BlockId> {
        self.sweep();
        loop {
            match self.driver.block_alloc(spec) {
                Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                    if !self.evict_one(stats)? {
                        return Err(error.with("driver", self.name));
                    }
                }
                other => return other,
            }
        }
    }

    /// Takes the least recently used block that is not pinned from the device. False when there is
    /// none.
    pub fn evict_one(&mut self, stats: &mut Stats) -> Result<bool> {
        let Some((key, _)) = self.blocks.iter().rev().find(|(_, entry)| entry.pins == 0) else {
            return Ok(false);
        };
        let key = key.clone();
        self.save(&key, stats)?;
        if let Some(node) = self.blocks.peek(&key).and_then(|entry| entry.value.upgrade()) {
            self.tracer.event(|| Event::Evicted(subject(&Value(node)), self.name));
        }
        self.forget(&key);
        stats.evictions += 1;
        Ok(true)
    }

    /// Copies a tile to host memory unless it is there already.
    pub fn save(&mut self, key: &Key, stats: &mut Stats) -> Result<()> {
        let Some(entry) = self.blocks.peek(key) else {
            return Ok(());
        };
        let Some(node) = entry.value.upgrade() else {
            return Ok(());
        };
        let (value, range, block) = (Value(node), entry.range.clone(), entry.block);
        if range.is_empty() || value.state().on_host.covers(range.clone()) {
            return Ok(());
        }
        let size = value.dtype().size();
        let buffer = value.host_buffer();
        let bytes = range.start * size..range.end * size;
        stats.bytes_downloaded += bytes.len() as u64;
        // SAFETY: the range is not in the evaluated map, so nobody reads it; only the holder of the
        // engine's lock writes.
        self.driver.block_read(block, 0, unsafe { buffer.bytes_mut(bytes) })?;
        self.tracer.event(|| Event::Downloaded(subject(&value), self.name, range.len() * size));
        value.state().on_host.insert(range);
        Ok(())
    }

    /// Puts a block into the cache as the newest.
    pub fn insert(&mut self, value: &Value, part: Part, block: BlockId, range: Range<usize>) {
        let id = value.id();
        if !self.parts.contains_key(&id) {
            let mut state = value.state();
            if !state.watchers.iter().any(|w| Arc::ptr_eq(w, &self.dead)) {
                state.watchers.push(self.dead.clone());
            }
        }
        self.forget(&(id, part.clone()));
        self.parts.entry(id).or_default().push(part.clone());
        let entry = Entry { block, value: Arc::downgrade(&value.0), range, pins: 0 };
        self.blocks.put((id, part), entry);
    }

    /// Gives a tile's block to another value, which has changed some of its elements in place.
    pub fn hand_over(&mut self, from: &Value, to: &Value, tile: &Tile) {
        let part = Part::Tile(tile.number);
        let key = (from.id(), part.clone());
        if let Some(entry) = self.blocks.pop(&key) {
            self.unlist(&key);
            self.insert(to, part, entry.block, tile.range.clone());
        }
    }

    /// Keeps a block on the device until `unpin`.
    pub fn pin(&mut self, value: ValueId, part: &Part) {
        if let Some(entry) = self.blocks.get_mut(&(value, part.clone())) {
            entry.pins += 1;
        }
    }

    /// Undoes one `pin`.
    pub fn unpin(&mut self, value: ValueId, part: &Part) {
        if let Some(entry) = self.blocks.peek_mut(&(value, part.clone())) {
            entry.pins = entry.pins.saturating_sub(1);
        }
    }

    /// Copies host memory into a new block of this part.
    pub fn upload(
        &mut self,
        value: &Value,
        part: Part,
        range: Range<usize>,
        data: &[u8],
        stats: &mut Stats,
    ) -> Result<BlockId> {
        let len = data.len() / value.dtype().size();
        let block = self.alloc(BlockSpec { dtype: value.dtype(), len }, stats)?;
        if let Err(error) = self.driver.block_write(block, 0, data) {
            self.driver.block_free(block);
            return Err(error);
        }
        stats.bytes_uploaded += data.len() as u64;
        let gathered = matches!(part, Part::View(_));
        self.tracer.event(|| Event::Uploaded(subject(value), self.name, data.len(), gathered));
        self.insert(value, part, block, range);
        Ok(block)
    }

    /// Frees the blocks of values that are gone.
    pub fn sweep(&mut self) {
        let dead = std::mem::take(&mut *self.dead.lock().unwrap_or_else(PoisonError::into_inner));
        for id in dead {
            for part in self.parts.remove(&id).unwrap_or_default() {
                if let Some(entry) = self.blocks.pop(&(id, part)) {
                    self.driver.block_free(entry.block);
                }
            }
        }
    }

    /// Frees one block without saving it.
    pub fn forget(&mut self, key: &Key) {
        if let Some(entry) = self.blocks.pop(key) {
            self.unlist(key);
            self.driver.block_free(entry.block);
        }
    }

    /// Waits for the work that writes a value's tiles.
    pub fn wait_for(&mut self, value: ValueId) -> Result<()> {
        for (number, _) in self.tiles(value) {
            if let Some(block) = self.find(value, &Part::Tile(number)) {
                self.driver.block_read(block, 0, &mut [])?;
            }
        }
        Ok(())
    }

    /// The number of blocks on the device.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Copies to host memory what is nowhere else, and frees all blocks. What cannot be copied has
    /// to be computed again.
    pub fn save_all(&mut self, stats: &mut Stats) {
        let keys: Vec<Key> = self.blocks.iter().map(|(key, _)| key.clone()).collect();
        for key in keys {
            // What fails here is found unsaved below.
            let _ = self.save(&key, stats);
        }
        self.lose_all();
    }

    /// Notes that the device lost everything: what was only there has to be computed again.
    pub fn lose_all(&mut self) {
        for ((_, _), entry) in self.blocks.iter() {
            if let Some(node) = entry.value.upgrade() {
                let value = Value(node);
                let saved = value.state().on_host.covers(entry.range.clone());
                if !saved {
                    value.mark_lost(entry.range.clone());
                }
            }
        }
        self.blocks.clear();
        self.parts.clear();
    }

    fn unlist(&mut self, key: &Key) {
        if let Some(parts) = self.parts.get_mut(&key.0) {
            parts.retain(|part| *part != key.1);
            if parts.is_empty() {
                self.parts.remove(&key.0);
            }
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.driver.cleanup();
    }
}

/// The elements of an access over a space, in C order, out of a value's host memory.
pub(crate) fn gather(bytes: &[u8], size: usize, walk: &Access, space: &[usize]) -> Result<Vec<u8>> {
    let mut out = vec![0u8; size_of(space) * size];
    let mut point: SmallVec<[usize; 4]> = SmallVec::from_elem(0, space.len());
    let mut position = walk.offset;
    for chunk in out.chunks_exact_mut(size) {
        let at = position as usize * size;
        let element = bytes.get(at..at + size).ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "gather").says("an access leaves its value")
        })?;
        chunk.copy_from_slice(element);
        for axis in (0..space.len()).rev() {
            point[axis] += 1;
            position += walk.strides[axis];
            if point[axis] < space[axis] {
                break;
            }
            position -= walk.strides[axis] * space[axis] as i64;
            point[axis] = 0;
        }
    }
    Ok(out)
}
