//! The pool of free blocks, kept for the next allocations of the same dtype and length.
//!
//! Owns [`BlockPool`]. A block is worth keeping because fresh device memory costs more than most arithmetic on it
//! (Accelerator, section 5.5). Invariants: the pool holds no more than `T.pool_bytes` and `T.pool_blocks`; a block that
//! stays unused for `T.pool_flushes` flushes is freed; when a driver runs out of memory, the whole pool is freed before
//! anything is evicted.
//!
//! Not here: blocks in use (`cache/`).

use crate::thresholds::T;
use gpupy_core::driver::{BlockId, BlockSpec};
use std::collections::VecDeque;

struct Free {
    spec: BlockSpec,
    block: BlockId,
    /// The flush in which it came.
    flush: u64,
}

/// Free blocks of one device, oldest first.
#[derive(Default)]
pub(crate) struct BlockPool {
    free: VecDeque<Free>,
    bytes: u64,
    flush: u64,
}

impl BlockPool {
    /// A block of this kind, the youngest, which is the likeliest to be in a processor's cache.
    pub fn take(&mut self, spec: BlockSpec) -> Option<BlockId> {
        self.take_at(|free| free.spec == spec)
    }

    /// This block, if it is free, and of this kind.
    pub fn take_again(&mut self, block: BlockId, spec: BlockSpec) -> Option<BlockId> {
        self.take_at(|free| free.block == block && free.spec == spec)
    }

    fn take_at(&mut self, is_it: impl Fn(&Free) -> bool) -> Option<BlockId> {
        let at = self.free.iter().rposition(is_it)?;
        let free = self.free.remove(at)?;
        self.bytes -= free.spec.bytes();
        Some(free.block)
    }

    /// Keeps a block. Gives the blocks that exceed the pool, for the driver to free.
    pub fn put(&mut self, spec: BlockSpec, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.free.push_back(Free { spec, block, flush: self.flush });
        self.bytes += spec.bytes();
        std::iter::from_fn(|| {
            let much = self.bytes > T.pool_bytes || self.free.len() > T.pool_blocks;
            if much { self.oldest() } else { None }
        })
    }

    /// Notes the end of a flush. Gives the blocks that were not reused for long.
    pub fn rest(&mut self) -> impl Iterator<Item = BlockId> + '_ {
        self.flush += 1;
        let flush = self.flush;
        std::iter::from_fn(move || {
            let old = self.free.front().is_some_and(|free| free.flush + T.pool_flushes < flush);
            if old { self.oldest() } else { None }
        })
    }

    /// Gives everything back.
    pub fn drain(&mut self) -> impl Iterator<Item = BlockId> + '_ {
        std::iter::from_fn(|| self.oldest())
    }

    /// How many blocks are kept.
    pub fn len(&self) -> usize {
        self.free.len()
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Forgets all blocks: their device is gone.
    pub fn clear(&mut self) {
        self.free.clear();
        self.bytes = 0;
    }

    fn oldest(&mut self) -> Option<BlockId> {
        let free = self.free.pop_front()?;
        self.bytes -= free.spec.bytes();
        Some(free.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpupy_core::DType;

    const SMALL: BlockSpec = BlockSpec::new(DType::F32, 10);

    fn put(pool: &mut BlockPool, spec: BlockSpec, block: u64) -> Vec<u64> {
        pool.put(spec, BlockId(block)).map(|block| block.0).collect()
    }

    #[test]
    fn a_block_serves_again_only_for_its_own_dtype_and_length() {
        let mut pool = BlockPool::default();
        put(&mut pool, SMALL, 1);
        put(&mut pool, SMALL, 2);
        assert_eq!(pool.take(BlockSpec { len: 11, ..SMALL }), None);
        assert_eq!(pool.take(BlockSpec { dtype: DType::I32, ..SMALL }), None);
        assert_eq!(pool.take(SMALL), Some(BlockId(2)));
        assert_eq!((pool.len(), pool.bytes()), (1, 40));
    }

    #[test]
    fn the_pool_is_bounded_in_bytes_and_in_blocks() {
        let mut pool = BlockPool::default();
        let large = BlockSpec::new(DType::F32, (T.pool_bytes / 8) as usize);
        assert!(put(&mut pool, large, 1).is_empty() && put(&mut pool, large, 2).is_empty());
        assert_eq!(put(&mut pool, SMALL, 3), [1]);
        assert!(pool.bytes() <= T.pool_bytes);
        let gone: Vec<u64> = (4..1000).flat_map(|n| put(&mut pool, SMALL, n)).collect();
        assert_eq!((gone.len(), pool.len()), (998 - T.pool_blocks, T.pool_blocks));
    }

    #[test]
    fn what_nobody_takes_for_long_goes_back() {
        let mut pool = BlockPool::default();
        put(&mut pool, SMALL, 1);
        for _ in 0..T.pool_flushes {
            assert_eq!(pool.rest().count(), 0);
        }
        put(&mut pool, SMALL, 2);
        assert_eq!(pool.rest().collect::<Vec<_>>(), [BlockId(1)]);
        assert_eq!(pool.drain().collect::<Vec<_>>(), [BlockId(2)]);
        assert_eq!(pool.bytes(), 0);
    }
}
