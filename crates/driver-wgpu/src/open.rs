//! The state of an open driver.
//!
//! Owns [`OpenDriver`], and the target of a device's kernels ([`shaping`]). Not here: transfers
//! (`block_transfer.rs`), evaluation (`eval.rs`).

use crate::block_transfer;
use crate::blocks::Blocks;
use crate::eval::Evaluator;
use crate::gpu_device::Gpu;
use crate::kernel_compiler::{self, Compiler, Kernel};
use crate::queue::Queue;
use gpupy_codegen::compute::{self, DispatchPlan, Language};
use gpupy_codegen::kernel_cache::KernelCache;
use gpupy_core::Result;
use gpupy_core::driver::{BlockId, BlockSpec};

/// The state of an open driver. The device is dropped last, because other fields hold parts of it.
pub struct OpenDriver {
    /// The queue of all commands.
    pub queue: Queue,
    /// The blocks.
    pub blocks: Blocks,
    /// The compiled kernels.
    kernels: KernelCache<DispatchPlan, Kernel>,
    /// The compiler of kernels.
    pub compiler: Compiler,
    shaping: compute::KernelFeatures,
    /// The device.
    pub gpu: Gpu,
}

impl OpenDriver {
    /// The state of a new driver, without kernels.
    ///
    /// # Errors
    /// - `OutOfMemory`: no memory for kernel arguments.
    pub fn new(gpu: Gpu, shaping: compute::KernelFeatures, blocks: Blocks) -> Result<OpenDriver> {
        let (queue, compiler) = (Queue::new(&gpu)?, Compiler::new(&gpu, shaping));
        Ok(OpenDriver { queue, blocks, kernels: KernelCache::default(), compiler, shaping, gpu })
    }

    /// Allocates a block.
    ///
    /// # Errors
    /// Those of [`Blocks::alloc`].
    pub fn alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.blocks.alloc(&self.gpu, &self.shaping, spec)
    }

    /// Frees a block, and kernels if memory was trimmed.
    pub fn free(&mut self, block: BlockId) {
        drop(self.kernels.trimmed());
        self.blocks.free(block);
    }

    /// Reads elements of a block.
    ///
    /// # Errors
    /// Those of [`block_transfer::read`].
    pub fn read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        block_transfer::read(&self.gpu, &mut self.queue, self.blocks.get(block)?, offset, out)
    }

    /// Writes elements of a block.
    ///
    /// # Errors
    /// Those of [`block_transfer::write`].
    pub fn write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        block_transfer::write(&self.gpu, &mut self.queue, self.blocks.get_mut(block)?, offset, data)
    }

    /// The evaluator of launches.
    pub fn evaluator(&mut self) -> Evaluator<'_> {
        Evaluator {
            gpu: &self.gpu,
            queue: &mut self.queue,
            blocks: &mut self.blocks,
            kernels: &mut self.kernels,
            compiler: &mut self.compiler,
            shaping: &self.shaping,
        }
    }
}

/// The target of a device's kernels.
pub fn shaping(gpu: &Gpu) -> compute::KernelFeatures {
    let group = gpu.limits.max_compute_invocations_per_workgroup;
    compute::KernelFeatures {
        language: Language::Wgsl,
        addresses: false,
        int64: gpu.features.contains(wgpu::Features::SHADER_INT64),
        float64: gpu.features.contains(wgpu::Features::SHADER_F64),
        bytes: false,
        halves: false,
        group: group.min(gpu.limits.max_compute_workgroup_size_x).clamp(32, 256),
        group_bytes: gpu.limits.max_compute_workgroup_storage_size,
        groups: gpu.limits.max_compute_workgroups_per_dimension,
        push_bytes: 0,
        guards: !kernel_compiler::is_exact(gpu),
        shares: gpu.is_hardware(),
    }
}
