//! What an open driver has.
//!
//! Owns [`Open`], and the transfers of its blocks. Not here: evaluation (`eval.rs`), the context's side of transfers
//! (`textures.rs`).

use crate::blocks::Blocks;
use crate::context::egl::Limits;
use crate::context::gpu::KernelId;
use crate::context::thread::GlThread;
use crate::eval::Compiled;
use gpupy_codegen::cache::Kernels;
use gpupy_codegen::fragment::Plan;
use gpupy_core::Result;
use gpupy_core::driver::{BlockId, BlockSpec};
use std::ops::Range;

/// Writes up to this many bytes are copied and queued; longer ones wait for the device to take
/// them.
const QUEUED_WRITE: usize = 1 << 16;

/// What an open driver has.
pub struct Open {
    /// The context's thread.
    pub thread: GlThread,
    /// What the context can do.
    pub context: Limits,
    /// The blocks.
    pub blocks: Blocks,
    /// The kernels that there are.
    pub kernels: Kernels<Plan, Compiled>,
    /// The name of the kernel that was compiled last.
    pub newest: KernelId,
}

impl Open {
    /// Allocates a block that is one texture.
    ///
    /// # Errors
    /// Those of [`Blocks::alloc`].
    pub fn alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.blocks.alloc(&self.thread, spec)
    }

    /// Frees such a block.
    pub fn free(&mut self, block: BlockId) {
        self.blocks.free(&self.thread, block);
    }

    /// Reads elements of such a block.
    ///
    /// # Errors
    /// - `Invalid`: a dead handle.
    /// - `Poisoned`, `OutOfMemory`, `DeviceLost`: the context's own.
    pub fn read(&mut self, block: BlockId, range: Range<usize>, out: &mut [u8]) -> Result<()> {
        let (texture, _) = self.blocks.texture(&self.thread, block, None)?;
        self.thread.ask(|gpu| gpu.read(texture, range, out))?
    }

    /// Writes elements of such a block.
    ///
    /// # Errors
    /// - `Invalid`: a dead handle.
    /// - `Poisoned`, `OutOfMemory`, `DeviceLost`: the context's own.
    pub fn write(&mut self, block: BlockId, range: Range<usize>, data: &[u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        let whole = range.len() == self.blocks.get(block)?.spec.len;
        let (texture, _) = self.blocks.texture(&self.thread, block, None)?;
        if data.len() > QUEUED_WRITE {
            return self.thread.ask(|gpu| gpu.write(texture, range, data, whole))?;
        }
        let data = data.to_vec();
        self.thread.post(move |gpu| {
            if let Err(error) = gpu.write(texture, range, &data, whole) {
                gpu.poison(texture, error);
            }
        })
    }
}
