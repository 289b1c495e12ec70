//! The state of an open driver.
//!
//! Owns [`OpenDriver`]. Invariants: when it is dropped, the device has finished and all objects are freed; a
//! failed allocation is tried again after all retired objects are freed.
//!
//! Not here: transfers (`block_transfer.rs`), evaluation (`eval.rs`).

use super::commands::blocks::Blocks;
use super::commands::buffer_allocator::{BufferAllocator, DeviceBuffer, Purpose};
use super::commands::imported_buffer;
use super::commands::launch_arguments::ArgumentBuffer;
use super::commands::queue::{Queue, Retired};
use super::commands::recordings::Recordings;
use super::gpu::gpu_device::Gpu;
use super::shaders::kernel_compiler::{Compiler, Kernel};
use crate::NAME;
use gpupy_codegen::compute::DispatchPlan;
use gpupy_codegen::kernel_cache::KernelCache;
use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{Error, ErrorKind, Result};
use std::sync::Arc;

/// A device with its memory, queue, blocks and kernels.
pub struct OpenDriver {
    /// The compiled kernels.
    pub kernels: KernelCache<DispatchPlan, Kernel>,
    /// The compiler of kernels.
    pub compiler: Compiler,
    /// The blocks.
    pub blocks: Blocks,
    /// Kernel arguments that are too long for push constants.
    pub arguments: ArgumentBuffer,
    /// Whether blocks are bound to kernels where possible, rather than reached by address.
    pub binds: bool,
    /// Commands that are kept.
    pub recordings: Recordings,
    /// The queue.
    pub queue: Queue,
    /// The memory.
    pub memory: BufferAllocator,
    /// The device.
    pub gpu: Arc<Gpu>,
}

impl OpenDriver {
    /// The state of a new driver; all blocks together may take `limit` bytes, and each may have `longest`
    /// elements.
    ///
    /// # Errors
    /// - `OutOfMemory`, `DeviceLost`: the device's own.
    pub fn new(gpu: Gpu, limit: u64, longest: usize) -> Result<OpenDriver> {
        let gpu = Arc::new(gpu);
        Ok(OpenDriver {
            kernels: KernelCache::default(),
            compiler: Compiler::new(gpu.clone()),
            blocks: Blocks::new(limit, longest),
            arguments: ArgumentBuffer::default(),
            binds: true,
            recordings: Recordings::default(),
            queue: Queue::new(gpu.clone())?,
            memory: BufferAllocator::new(gpu.clone())?,
            gpu,
        })
    }

    /// Allocates a block.
    ///
    /// # Errors
    /// - `OutOfMemory`: no room now.
    /// - `Invalid`: no block has such a length or dtype.
    /// - `DeviceLost`: the device is gone.
    pub fn alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let stored = self.gpu.traits.kernels.stored(spec.dtype).ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "block_alloc")
                .says("there is no such block")
                .with("driver", NAME)
                .with("dtype", spec.dtype)
        })?;
        self.blocks.check(spec)?;
        let bytes = spec.len as u64 * stored as u64;
        let buffer = match spec.memory {
            None => self.buffer(bytes, Purpose::Block)?,
            // Widened elements differ from the host's.
            Some(_) if stored != spec.dtype.size() => {
                return Err(imported_buffer::not_imported("the device widens its elements"));
            }
            Some(memory) => self.memory.import(memory, bytes)?,
        };
        Ok(self.blocks.add(spec, stored, buffer))
    }

    /// Frees a block; its memory comes back when the device has finished with it. If the memory is the host's,
    /// this waits. If memory was trimmed, kernels go, too.
    pub fn free(&mut self, id: BlockId) {
        for kernel in self.kernels.trimmed() {
            self.compiler.forget(&kernel);
            self.queue.retire(Retired::Pipeline(kernel.pipeline));
        }
        let Some(block) = self.blocks.remove(id) else { return };
        self.recordings.forget(block.buffer.handle, &mut self.queue);
        if block.buffer.is_imported() {
            // A lost device reads nothing any more.
            let _ = self.queue.wait(block.touched.used);
            return self.memory.free(block.buffer);
        }
        match self.queue.is_done(block.touched.used) {
            Ok(true) => self.memory.free(block.buffer),
            _ => self.queue.retire(Retired::Buffer(block.buffer)),
        }
    }

    /// A buffer.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no memory, even after all retired objects are freed.
    /// - `DeviceLost`: the device is gone.
    pub fn buffer(&mut self, bytes: u64, purpose: Purpose) -> Result<DeviceBuffer> {
        match self.memory.buffer(bytes, purpose) {
            Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                self.queue.wait_for_all()?;
                self.queue.collect(&mut self.memory)?;
                self.memory.buffer(bytes, purpose)
            }
            outcome => outcome,
        }
    }
}

impl Drop for OpenDriver {
    fn drop(&mut self) {
        self.recordings.close(&mut self.queue);
        self.queue.close(&mut self.memory);
        for block in self.blocks.take_all() {
            self.memory.free(block.buffer);
        }
        self.arguments.close(&mut self.memory);
    }
}
