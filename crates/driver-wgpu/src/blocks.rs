//! The live blocks, each a buffer of its own.
//!
//! Owns [`Blocks`] and [`Block`]. A buffer that a kernel writes may not be read through another binding of it,
//! so blocks do not share buffers. Invariant: the memory of live blocks never exceeds the limit.
//!
//! Not here: the meaning of the bytes (`block_transfer.rs`).

use crate::gpu_device::Gpu;
use crate::queue::Batch;
use gpupy_codegen::compute::{self, ALIGNMENT};
use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// A block.
#[derive(Debug)]
pub struct Block {
    /// Its dtype and length.
    pub spec: BlockSpec,
    /// Bytes of an element in the buffer.
    pub stored: usize,
    /// Its buffer.
    pub buffer: wgpu::Buffer,
    /// The last batch that uses it; 0 for none.
    pub batch: Batch,
}

/// The number of blocks that this process has had: a handle is unique across all drivers of this kind.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The live blocks.
#[derive(Debug)]
pub struct Blocks {
    blocks: FxHashMap<u64, Block>,
    /// Bytes of live blocks, and the most that there may be.
    used: u64,
    limit: u64,
    max_len: usize,
}

impl Blocks {
    /// No blocks; they may take `limit` bytes together, and each `max_len` elements.
    pub fn new(limit: u64, max_len: usize) -> Blocks {
        Blocks { blocks: FxHashMap::default(), used: 0, limit, max_len }
    }

    /// Allocates a block.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no memory for it.
    /// - `Invalid`: no block has this length and dtype.
    pub fn alloc(
        &mut self,
        gpu: &Gpu,
        kernels: &compute::KernelFeatures,
        spec: BlockSpec,
    ) -> Result<BlockId> {
        let error = |kind| {
            Error::new(kind, "block_alloc")
                .with("driver", crate::NAME)
                .with("dtype", spec.dtype.name())
                .with("elements", spec.len)
        };
        let stored = kernels.stored(spec.dtype);
        let (Some(stored), true) = (stored, (1..=self.max_len).contains(&spec.len)) else {
            return Err(error(ErrorKind::Invalid)
                .says("no block has this length and dtype")
                .with("most elements", self.max_len));
        };
        let bytes = ((spec.len * stored) as u64).next_multiple_of(ALIGNMENT as u64);
        if self.used.saturating_add(bytes) > self.limit {
            return Err(error(ErrorKind::OutOfMemory)
                .with("bytes", bytes)
                .with("used", self.used)
                .with("limit", self.limit));
        }
        use wgpu::BufferUsages as Use;
        let mut usage = Use::STORAGE | Use::COPY_SRC | Use::COPY_DST;
        if gpu.features.contains(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS) {
            usage |= Use::MAP_READ | Use::MAP_WRITE;
        }
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes,
            usage,
            mapped_at_creation: false,
        });
        gpu.faults.check("block_alloc")?;
        self.used += bytes;
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        self.blocks.insert(id, Block { spec, stored, buffer, batch: 0 });
        Ok(BlockId(id))
    }

    /// Frees a block; wgpu keeps its buffer until the work that uses it is done.
    pub fn free(&mut self, id: BlockId) {
        if let Some(block) = self.blocks.remove(&id.0) {
            self.used -= block.buffer.size();
        }
    }

    /// A live block.
    ///
    /// # Errors
    /// - `Invalid`: the handle is dead or was never given out.
    pub fn get(&self, id: BlockId) -> Result<&Block> {
        self.blocks.get(&id.0).ok_or_else(|| dead(id))
    }

    /// A live block, to note its use.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_mut(&mut self, id: BlockId) -> Result<&mut Block> {
        self.blocks.get_mut(&id.0).ok_or_else(|| dead(id))
    }
}

fn dead(id: BlockId) -> Error {
    Error::new(ErrorKind::Invalid, "block")
        .says("the handle of a block is dead or was never given out")
        .with("driver", crate::NAME)
        .with("block", id.0)
}
