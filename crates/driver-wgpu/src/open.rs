//! What an open driver has.
//!
//! Owns [`Open`], and what shapes a device's kernels ([`shaping`]). Not here: transfers (`transfer.rs`), evaluation
//! (`eval.rs`).

use crate::blocks::Blocks;
use crate::device::Gpu;
use crate::eval::Evaluator;
use crate::kernels::{self, Compiler, Kernel};
use crate::queue::Queue;
use crate::transfer;
use gpupy_codegen::compute::{self, DispatchPlan, Language};
use gpupy_codegen::kernel_cache::KernelCache;
use gpupy_core::Result;
use gpupy_core::driver::{BlockId, BlockSpec};

/// What an open driver has. The device goes last, as others hold parts of it.
pub struct Open {
    /// All work goes through it.
    pub queue: Queue,
    /// The blocks.
    pub blocks: Blocks,
    /// The kernels that there are.
    kernels: KernelCache<DispatchPlan, Kernel>,
    /// What compiles more.
    pub compiler: Compiler,
    shaping: compute::KernelFeatures,
    /// The device.
    pub gpu: Gpu,
}

impl Open {
    /// Everything on an open device, with no kernels yet.
    ///
    /// # Errors
    /// - `OutOfMemory`: no room for the numbers of launches.
    pub fn new(gpu: Gpu, shaping: compute::KernelFeatures, blocks: Blocks) -> Result<Open> {
        let (queue, compiler) = (Queue::new(&gpu)?, Compiler::new(&gpu, shaping));
        Ok(Open { queue, blocks, kernels: KernelCache::default(), compiler, shaping, gpu })
    }

    /// Allocates a block.
    ///
    /// # Errors
    /// Those of [`Blocks::alloc`].
    pub fn alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.blocks.alloc(&self.gpu, &self.shaping, spec)
    }

    /// Frees a block.
    pub fn free(&mut self, block: BlockId) {
        self.blocks.free(block);
    }

    /// Reads elements of a block.
    ///
    /// # Errors
    /// Those of [`transfer::read`].
    pub fn read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        transfer::read(&self.gpu, &mut self.queue, self.blocks.get(block)?, offset, out)
    }

    /// Writes elements of a block.
    ///
    /// # Errors
    /// Those of [`transfer::write`].
    pub fn write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        transfer::write(&self.gpu, &mut self.queue, self.blocks.get_mut(block)?, offset, data)
    }

    /// What evaluates launches.
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

/// What shapes the kernels of a device.
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
        guards: !kernels::is_exact(gpu),
        shares: gpu.is_hardware(),
    }
}
