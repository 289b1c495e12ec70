//! The block cache of one device: which piece of which value is in which block.
//!
//! Owns [`BlockCache`], a hash table. A block is named by value and part: a tile, or a gathered view (with its offset,
//! shape and strides, as in the thesis). Invariants: a pinned block is never evicted; a tile that is nowhere else is
//! saved to host memory before it is evicted; blocks of dead values are freed before anything is evicted.
//!
//! Not here: what to evaluate (`evaluate.rs`), how a block leaves the device and comes back (`eviction.rs`), which one
//! is evicted first (`eviction_queue.rs`), in which block an operand is found (`operand_lookup.rs`), views that are one
//! block (`shared_views.rs`), blocks whose value was written in host memory (`stale.rs`), lack of room and the length
//! of tiles (`shortage.rs`), free blocks (`block_pool.rs`), the driver's own memory.

mod eviction;
mod eviction_queue;
mod operand_lookup;
mod shared_views;
mod shortage;
mod stale;

pub(crate) use operand_lookup::Placed;

use crate::blocks::block_pool::BlockPool;
use crate::blocks::reuse_interval::ReuseInterval;
use crate::explain::stats::Stats;
use crate::explain::step::StepAction;
use crate::explain::tracer::{Doing, Tracer};
use crate::graph::value::{DeadList, Node, Value, ValueId};
use crate::memory::host_buffer::HostBuffer;
use crate::memory::ranges::Ranges;
use crate::memory::tiling::Tile;
use eviction_queue::EvictionQueue;
use gpupy_core::driver::{Access, BlockId, BlockSpec, Capabilities, Driver};
use gpupy_core::shape::Shape;
use gpupy_core::{Error, ErrorKind, Result, memory};
use rustc_hash::{FxHashMap, FxHashSet};
use shortage::Shortage;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, PoisonError, Weak};

/// Which piece of a value a block holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BlockPart {
    /// A tile of the device's tiling.
    Tile(usize),
    /// The points of a space, gathered in C order.
    View(Box<(Access, Shape)>),
}

pub(crate) type BlockKey = (ValueId, BlockPart);

struct CachedBlock {
    block: BlockId,
    spec: BlockSpec,
    reuse: ReuseInterval,
    value: Weak<Node>,
    /// The positions of a tile; empty for a gathered view, which can always be gathered again.
    range: Range<usize>,
    pins: u32,
    /// Its place in the list of the value's parts.
    listed: usize,
    /// The host memory that the block is read in (`imported_blocks.rs`).
    imported: Option<Arc<HostBuffer>>,
    /// The positions at which the value has other elements by now (`stale.rs`).
    stale: Ranges,
}

impl CachedBlock {
    /// Notes that the block's elements are no more, as far as they are not in host memory.
    fn mark_lost(&self) {
        let Some(value) = self.value.upgrade().map(Value) else { return };
        value.only_on_device(&self.range).into_iter().for_each(|gap| value.mark_lost(gap));
    }
}

/// The blocks of an open driver, and the driver, which allocates them.
pub(crate) struct BlockCache {
    pub name: &'static str,
    pub driver: Box<dyn Driver>,
    pub caps: Capabilities,
    pub tracer: Tracer,
    /// Elements in the largest tile: the user's limit, and no more than the largest block; or fewer.
    tile_len: usize,
    /// Its elements where there is no lack of room.
    most_len: usize,
    shortage: Shortage,
    blocks: FxHashMap<BlockKey, CachedBlock>,
    /// Tiles that kernels will bring which are not launched yet.
    coming: FxHashSet<BlockKey>,
    parts: FxHashMap<ValueId, SmallVec<[BlockPart; 1]>>,
    /// The order in which blocks go, while blocks are evicted.
    victims: Option<EvictionQueue<BlockKey>>,
    /// The reuse intervals of blocks of living values that were evicted.
    evicted: FxHashMap<ValueId, FxHashMap<BlockPart, ReuseInterval>>,
    /// Uses of blocks so far.
    clock: u64,
    /// Blocks that were evicted in this evaluation and could not be read.
    pub spoiled: usize,
    pool: BlockPool,
    dead: DeadList,
    /// Host memory of blocks that were not freed, for as long as the driver is open.
    kept: Vec<Arc<HostBuffer>>,
}

impl BlockCache {
    pub fn new(
        name: &'static str,
        driver: Box<dyn Driver>,
        caps: Capabilities,
        tile_len: usize,
        tracer: Tracer,
    ) -> BlockCache {
        BlockCache {
            name,
            tile_len: tile_len.clamp(1, caps.max_block_len),
            most_len: tile_len.clamp(1, caps.max_block_len),
            shortage: Shortage::default(),
            driver,
            caps,
            tracer,
            blocks: FxHashMap::default(),
            coming: FxHashSet::default(),
            parts: FxHashMap::default(),
            victims: None,
            evicted: FxHashMap::default(),
            clock: 0,
            spoiled: 0,
            pool: BlockPool::default(),
            dead: DeadList::default(),
            kept: Vec::new(),
        }
    }

    /// The block of a part, if it is on the device; marks it as used.
    pub fn find(&mut self, value: ValueId, part: &BlockPart) -> Option<BlockId> {
        let near = self.blocks.len() as u64;
        let entry = self.blocks.get_mut(&(value, part.clone()))?;
        self.clock += 1;
        let (before, block) = (entry.reuse, entry.block);
        entry.reuse.used(self.clock, near);
        let after = entry.reuse;
        self.moved(before, after);
        Some(block)
    }

    /// The tiles of a value on this device.
    pub fn tiles(&self, value: ValueId) -> Vec<(usize, Range<usize>)> {
        let parts = self.parts.get(&value).map_or(&[][..], |parts| &parts[..]);
        parts
            .iter()
            .filter_map(|part| match part {
                BlockPart::Tile(number) => {
                    let entry = self.blocks.get(&(value, part.clone()))?;
                    Some((*number, entry.range.clone()))
                }
                BlockPart::View(_) => None,
            })
            .collect()
    }

    /// The block of a value's tile: in the value's own host memory where the driver works on that.
    ///
    /// # Errors
    /// - `OutOfMemory`: the system has no memory for all of the value.
    pub fn spec(&self, value: &Value, tile: &Range<usize>) -> Result<BlockSpec> {
        let memory = if self.caps.host_memory { value.host_memory(tile)? } else { None };
        Ok(BlockSpec { memory, ..BlockSpec::new(value.dtype(), tile.len()) })
    }

    /// Allocates a block, evicting others while there is no room.
    ///
    /// # Errors
    /// - `Unsupported`: the driver has no blocks of the dtype.
    pub fn alloc(&mut self, spec: BlockSpec, stats: &mut Stats) -> Result<BlockId> {
        if !self.caps.dtypes.contains(&spec.dtype) {
            return Err(Error::new(ErrorKind::Unsupported, "block_alloc")
                .says("the driver has no such elements")
                .with("driver", self.name)
                .with("dtype", spec.dtype));
        }
        self.sweep();
        loop {
            if let Some(block) = self.pool.take(spec) {
                stats.pool_hits += 1;
                return Ok(block);
            }
            match self.driver.block_alloc(spec) {
                Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                    if !self.relieve(&error, stats)? {
                        if !memory::is_refusal(&error) {
                            self.note_lack(spec);
                        }
                        return Err(error.with_default("driver", self.name));
                    }
                }
                other => return other,
            }
        }
    }

    /// Allocates a block, if there is room for it as it is; and whether it came from the pool.
    ///
    /// # Errors
    /// - `DeviceLost`: every block is gone.
    pub fn alloc_as_it_is(&mut self, spec: BlockSpec) -> Result<Option<(BlockId, bool)>> {
        if let Some(block) = self.pool.take(spec) {
            return Ok(Some((block, true)));
        }
        if !self.caps.dtypes.contains(&spec.dtype) {
            return Ok(None);
        }
        match self.driver.block_alloc(spec) {
            Err(error) if error.kind() == ErrorKind::DeviceLost => Err(error),
            other => Ok(other.ok().map(|block| (block, false))),
        }
    }

    /// Takes this block from the pool, if it is there.
    pub fn pooled(&mut self, block: BlockId, spec: BlockSpec) -> Option<BlockId> {
        self.pool.take_again(block, spec)
    }

    /// Whether blocks are evicted, or tiles are cut smaller, as there was a lack of room.
    pub fn is_short(&self) -> bool {
        self.victims.is_some() || self.was_short()
    }

    /// Puts a block into the cache.
    pub fn insert(
        &mut self,
        value: &Value,
        part: BlockPart,
        (block, spec): (BlockId, BlockSpec),
        range: Range<usize>,
    ) {
        let key = (value.id(), part);
        let reuse = self.reuse(&key);
        if spec.memory.is_some() {
            value.state().on_host.insert(range.clone());
        }
        let (value_of, imported, stale) = (Weak::new(), None, Ranges::default());
        let entry = CachedBlock {
            block,
            spec,
            reuse,
            value: value_of,
            range,
            pins: 0,
            listed: 0,
            imported,
            stale,
        };
        self.put(value, key, entry);
    }

    fn put(&mut self, value: &Value, key: BlockKey, entry: CachedBlock) {
        if !self.parts.contains_key(&key.0) {
            let mut state = value.state();
            if !state.watchers.iter().any(|w| Arc::ptr_eq(w, &self.dead)) {
                state.watchers.push(self.dead.clone());
            }
        }
        debug_assert!(
            match key.1 {
                BlockPart::Tile(number) => self.is_tile_of(value, number, &entry.range),
                BlockPart::View(_) => true,
            },
            "a tile is one of its value's, as that is cut"
        );
        self.forget(&key);
        let parts = self.parts.entry(key.0).or_default();
        let listed = parts.len();
        parts.push(key.1.clone());
        if let Some(victims) = &mut self.victims {
            victims.insert(key.clone(), entry.reuse);
        }
        self.blocks.insert(key, CachedBlock { value: Arc::downgrade(&value.0), listed, ..entry });
    }

    /// Takes a block out of the cache.
    fn take_out(&mut self, key: &BlockKey) -> Option<CachedBlock> {
        let entry = self.blocks.remove(key)?;
        if let Some(victims) = &mut self.victims {
            victims.remove(entry.reuse);
        }
        let Some(parts) = self.parts.get_mut(&key.0) else { return Some(entry) };
        parts.swap_remove(entry.listed);
        // The last of the list stands in its place.
        match parts.get(entry.listed) {
            Some(last) => {
                if let Some(last) = self.blocks.get_mut(&(key.0, last.clone())) {
                    last.listed = entry.listed;
                }
            }
            None if parts.is_empty() => drop(self.parts.remove(&key.0)),
            None => {}
        }
        Some(entry)
    }

    /// Whether a tile of a value without other handles may be changed in place, and become the tile of another value,
    /// which has this tile. Host memory goes along as a whole, if it was not given out.
    pub fn may_take(&self, from: &Value, tile: &Tile) -> bool {
        if from.is_external() || !self.is_tile_of(from, tile.number, &tile.range) {
            return false;
        }
        if !self.caps.host_memory {
            return match self.blocks.get(&(from.id(), BlockPart::Tile(tile.number))) {
                Some(entry) => entry.imported.is_none(),
                None => !self.would_import(from.dtype(), tile.range.len()),
            };
        }
        let whole = tile.range.len() == from.len();
        whole && from.state().host.as_ref().is_some_and(HostBuffer::is_sole)
    }

    /// Whether a launch may write into a block that it reads.
    pub fn writes_in_place(&self) -> bool {
        self.caps.in_place && self.caps.host_memory
    }

    /// Gives a tile's block to another value, which has changed some of its elements in place.
    pub fn hand_over(&mut self, from: &Value, to: &Value, tile: &Tile) {
        let key = (from.id(), BlockPart::Tile(tile.number));
        let Some(entry) = self.take_out(&key) else { return };
        if entry.spec.memory.is_some() {
            let mut old = from.state();
            old.on_host.remove(tile.range.clone());
            let memory = old.host.take();
            drop(old);
            let mut new = to.state();
            new.host = memory;
            new.on_host.insert(tile.range.clone());
        }
        self.put(to, (to.id(), key.1), entry);
    }

    /// Keeps a block on the device until `unpin`.
    pub fn pin(&mut self, value: ValueId, part: &BlockPart) {
        if let Some(entry) = self.blocks.get_mut(&(value, part.clone())) {
            entry.pins += 1;
        }
    }

    /// Undoes one `pin`.
    pub fn unpin(&mut self, value: ValueId, part: &BlockPart) {
        if let Some(entry) = self.blocks.get_mut(&(value, part.clone())) {
            entry.pins = entry.pins.saturating_sub(1);
        }
    }

    /// A new block of a tile where it lies in host memory, for a driver that works on that.
    pub fn lay_out(
        &mut self,
        value: &Value,
        part: BlockPart,
        range: Range<usize>,
        stats: &mut Stats,
    ) -> Result<BlockId> {
        let spec = self.spec(value, &range)?;
        let block = self.alloc(spec, stats)?;
        self.insert(value, part, (block, spec), range);
        Ok(block)
    }

    /// Copies host memory into a new block of this part; a driver that works on host memory, or imports it,
    /// takes a tile where it lies.
    pub fn upload(
        &mut self,
        value: &Value,
        part: BlockPart,
        range: Range<usize>,
        data: &[u8],
        stats: &mut Stats,
    ) -> Result<BlockId> {
        let len = data.len() / value.dtype().size();
        if self.caps.host_memory && matches!(part, BlockPart::Tile(_)) {
            return self.lay_out(value, part, range, stats);
        }
        if matches!(part, BlockPart::Tile(_))
            && let Some((block, spec, memory)) = self.imported(value, &range, stats)?
        {
            let key = (value.id(), part.clone());
            self.insert(value, part, (block, spec), range);
            self.blocks.entry(key).and_modify(|entry| entry.imported = Some(memory));
            return Ok(block);
        }
        let spec = BlockSpec::new(value.dtype(), len);
        let block = self.alloc(spec, stats)?;
        let began = self.tracer.clock();
        if let Err(error) = self.driver.block_write(block, 0, data) {
            self.driver.block_free(block);
            return Err(error);
        }
        stats.bytes_uploaded += data.len() as u64;
        self.tracer.step(|| {
            let what = StepAction::Upload { gathered: matches!(part, BlockPart::View(_)) };
            let doing = Doing::new(what, self.name).reads(value, self.reach_of(value, &part));
            doing.moves(data.len()).since(began)
        });
        self.insert(value, part, (block, spec), range);
        Ok(block)
    }

    /// Frees the blocks of values that are gone.
    pub fn sweep(&mut self) {
        let dead = std::mem::take(&mut *self.dead.lock().unwrap_or_else(PoisonError::into_inner));
        for id in dead {
            self.evicted.remove(&id);
            // The last first, so that none takes another's place.
            while let Some(part) = self.parts.get(&id).and_then(|parts| parts.last()).cloned() {
                let Some(entry) = self.take_out(&(id, part)) else { break };
                self.recycle(&entry);
            }
        }
    }

    /// Frees one block without saving it.
    pub fn forget(&mut self, key: &BlockKey) {
        if let Some(entry) = self.take_out(key) {
            self.recycle(&entry);
        }
    }

    fn recycle(&mut self, entry: &CachedBlock) {
        self.free((entry.block, entry.spec));
    }

    /// Frees a block that is not in the cache; the pool keeps it for another one.
    pub fn free(&mut self, (block, spec): (BlockId, BlockSpec)) {
        if spec.memory.is_some() {
            return self.driver.block_free(block);
        }
        for block in self.pool.put(spec, block) {
            self.driver.block_free(block);
        }
    }

    /// Forgets the facts of the evaluation before.
    pub fn begin(&mut self) {
        self.spoiled = 0;
        self.coming.clear();
    }

    /// Frees pooled blocks that were not reused for long.
    pub fn rest(&mut self) {
        self.sweep();
        for block in self.pool.rest() {
            self.driver.block_free(block);
        }
    }

    /// Gives all free blocks back.
    pub fn empty_pool(&mut self) {
        for block in self.pool.drain() {
            self.driver.block_free(block);
        }
    }

    /// The blocks that lie in host memory, in a value's positions of a range.
    fn lying_in(&self, value: &Value, range: &Range<usize>) -> Vec<BlockKey> {
        let parts = self.parts.get(&value.id()).map_or(&[][..], |parts| &parts[..]);
        let keys = parts.iter().map(|part| (value.id(), part.clone()));
        keys.filter(|key| {
            let reach = self.reach_of(value, &key.1);
            let is_lent = self.blocks.get(key).is_some_and(|entry| entry.spec.memory.is_some());
            is_lent && reach.start < range.end && range.start < reach.end
        })
        .collect()
    }

    /// Whether no launch at hand reads a value's host memory there.
    pub fn may_leave_memory(&self, value: &Value, range: &Range<usize>) -> bool {
        let is_free = |key| self.blocks.get(key).is_some_and(|entry| entry.pins == 0);
        self.lying_in(value, range).iter().all(is_free)
    }

    /// Frees the blocks that lie in a value's host memory there, when the device is done with them.
    ///
    /// # Errors
    /// Any of reading a block.
    pub fn leave_memory(&mut self, value: &Value, range: &Range<usize>) -> Result<()> {
        for key in self.lying_in(value, range) {
            if let Some(block) = self.find(key.0, &key.1) {
                self.read(&key, block, 0, &mut [])?;
            }
            self.forget(&key);
        }
        Ok(())
    }

    /// Frees gathered views of external values, which are usually read once.
    pub fn forget_views(&mut self, operands: &[(Value, BlockPart)]) {
        for (value, part) in operands {
            let key = (value.id(), part.clone());
            let is_view = value.is_external() && matches!(part, BlockPart::View(_));
            if is_view && self.blocks.get(&key).is_some_and(|entry| entry.pins == 0) {
                self.forget(&key);
            }
        }
    }

    /// Adds the contents of the device to the counts.
    pub fn count(&self, stats: &mut Stats) {
        stats.blocks += self.blocks.len() as u64;
        stats.block_bytes += self.bytes();
        stats.pool_blocks += self.pool.len() as u64;
        stats.pool_bytes += self.pool.bytes();
    }

    /// Reads elements of a value's block, which wait for the work that writes them.
    pub fn read(
        &mut self,
        key: &BlockKey,
        block: BlockId,
        offset: usize,
        out: &mut [u8],
    ) -> Result<()> {
        let read = self.driver.block_read(block, offset, out);
        read.map_err(|error| error.with_default("driver", self.name).with("value", key.0))
    }

    /// Frees a block whose elements cannot be read: elements that are only there have to be computed again.
    pub fn discard(&mut self, key: &BlockKey) {
        if let Some(entry) = self.take_out(key) {
            entry.mark_lost();
            // It is not pooled: only a write of the whole block would make it readable.
            self.driver.block_free(entry.block);
        }
    }

    /// Frees the blocks whose elements are in host memory as well.
    pub fn discard_copies(&mut self) {
        let copied = |(key, entry): (&BlockKey, &CachedBlock)| {
            let value = entry.value.upgrade().map(Value)?;
            let copied = value.state().on_host.covers(entry.range.clone());
            (copied && entry.pins == 0).then(|| key.clone())
        };
        let keys: Vec<BlockKey> = self.blocks.iter().filter_map(copied).collect();
        keys.iter().for_each(|key| self.discard(key));
    }

    /// Notes that the device lost everything: elements that were only there have to be computed again.
    pub fn lose_all(&mut self) {
        self.blocks.values().for_each(CachedBlock::mark_lost);
        self.kept.extend(self.blocks.drain().filter_map(|(_, entry)| entry.imported));
        self.parts.clear();
        self.victims = None;
        self.pool.clear();
    }
}

impl Drop for BlockCache {
    fn drop(&mut self) {
        self.driver.cleanup();
    }
}
