//! Kernels: shaders compiled into pipelines, in this run and between runs.
//!
//! Owns [`Kernels`] and [`Kernel`]. On disk lie a shader's SPIR-V and what the device made of it.
//! Invariants: all pipelines have one layout, of push constants alone; a pipeline lives until it is
//! retired or the driver closed.
//!
//! Not here: the compiler (`compiler.rs`), which kernel a launch gets (`eval.rs` and
//! `gpupy_codegen::cache`), the folder on disk (`gpupy_codegen::disk`).

use crate::compiler::{self, refused};
use crate::device::Gpu;
use crate::failure::failed;
use ash::vk;
use gpupy_codegen::cache;
use gpupy_codegen::compute::Plan;
use gpupy_codegen::disk::Shelf;
use gpupy_core::{ErrorKind, Result};
use std::sync::Arc;

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What is dispatched.
    pub pipeline: vk::Pipeline,
    /// What it was compiled from.
    pub code: Arc<str>,
}

/// All kernels of an open device.
pub struct Kernels {
    /// Which there are.
    pub known: cache::Kernels<Plan, Kernel>,
    /// The layout of all.
    pub layout: vk::PipelineLayout,
    pipelines: Vec<vk::Pipeline>,
    shelf: Option<Shelf>,
    gpu: Arc<Gpu>,
}

/// What lies on disk of a kernel.
struct Stored {
    spirv: Vec<u32>,
    /// The contents of a pipeline cache.
    compiled: Vec<u8>,
}

impl Kernels {
    /// No kernels yet.
    ///
    /// # Errors
    /// - `OutOfMemory`, `DeviceLost`: the device's own.
    pub fn new(gpu: Arc<Gpu>) -> Result<Kernels> {
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(gpu.traits.kernels.push_bytes)];
        let create = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        // SAFETY: the range is within the device's limits.
        let layout = unsafe { gpu.raw.create_pipeline_layout(&create, None) }
            .map_err(|result| failed("init", "vkCreatePipelineLayout", result))?;
        Ok(Kernels {
            known: cache::Kernels::default(),
            layout,
            pipelines: Vec::new(),
            shelf: Shelf::of(crate::NAME),
            gpu,
        })
    }

    /// Compiles a shader, or takes it from the disk.
    ///
    /// # Errors
    /// - `Refused`: a compiler does not take it.
    /// - `OutOfMemory`, `DeviceLost`: the device's own.
    pub fn compile(&mut self, source: &str) -> Result<Kernel> {
        let key = format!("{}\n{:?}\n{source}", self.gpu.traits.identity, self.gpu.traits.floats);
        let found = self.shelf.as_ref().and_then(|shelf| Stored::from_bytes(&shelf.take(&key)?));
        let stored = match found {
            Some(stored) => stored,
            None => {
                let spirv = compiler::compile(source, &self.gpu.traits)?;
                Stored { spirv, compiled: Vec::new() }
            }
        };
        let fresh = stored.compiled.is_empty();
        let (pipeline, compiled) = self.pipeline(&stored, fresh).map_err(|result| {
            let error = failed("eval_ir", "vkCreateComputePipelines", result);
            match error.kind() {
                ErrorKind::OutOfMemory => error,
                _ if result == vk::Result::ERROR_DEVICE_LOST => error,
                _ => refused(&result.to_string(), source, &self.gpu.traits),
            }
        })?;
        self.pipelines.push(pipeline);
        if let (Some(compiled), Some(shelf)) = (compiled, &self.shelf) {
            shelf.put(&key, &Stored { compiled, ..stored }.to_bytes());
        }
        Ok(Kernel { pipeline, code: source.into() })
    }

    /// Forgets a kernel, whose pipeline is then the caller's to retire.
    pub fn forget(&mut self, kernel: &Kernel) {
        self.pipelines.retain(|pipeline| *pipeline != kernel.pipeline);
    }

    /// Makes a pipeline; with `keep`, gives what the device has made of it.
    fn pipeline(
        &self,
        stored: &Stored,
        keep: bool,
    ) -> std::result::Result<(vk::Pipeline, Option<Vec<u8>>), vk::Result> {
        let device = &self.gpu.raw;
        let create = vk::ShaderModuleCreateInfo::default().code(&stored.spirv);
        let cache = vk::PipelineCacheCreateInfo::default().initial_data(&stored.compiled);
        // SAFETY: the code is the compiler's, found on disk whole; a device checks the contents of a
        // cache itself. What is made here is destroyed here, but for the pipeline.
        unsafe {
            let module = device.create_shader_module(&create, None)?;
            let cache = device.create_pipeline_cache(&cache, None);
            let made = cache.and_then(|cache| {
                let stage = vk::PipelineShaderStageCreateInfo::default()
                    .stage(vk::ShaderStageFlags::COMPUTE)
                    .module(module)
                    .name(c"main");
                let create =
                    vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout);
                let made = device.create_compute_pipelines(cache, &[create], None);
                let compiled = keep.then(|| device.get_pipeline_cache_data(cache).ok()).flatten();
                device.destroy_pipeline_cache(cache, None);
                made.map(|pipelines| (pipelines[0], compiled)).map_err(|(_, result)| result)
            });
            device.destroy_shader_module(module, None);
            made
        }
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        // SAFETY: the queue has been closed, so the device is done with all of them.
        unsafe {
            for pipeline in &self.pipelines {
                self.gpu.raw.destroy_pipeline(*pipeline, None);
            }
            self.gpu.raw.destroy_pipeline_layout(self.layout, None);
        }
    }
}

impl Stored {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = (self.spirv.len() as u32).to_le_bytes().to_vec();
        bytes.extend(self.spirv.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(&self.compiled);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Stored> {
        let (count, rest) = bytes.split_first_chunk()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (spirv, compiled) = rest.split_at_checked(count.checked_mul(4)?)?;
        let words = spirv.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
        Some(Stored { spirv: words.collect(), compiled: compiled.to_vec() })
    }
}
