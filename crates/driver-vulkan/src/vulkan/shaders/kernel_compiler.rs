//! Kernels: shaders compiled into pipelines, with a disk cache between runs.
//!
//! Owns [`Compiler`] and [`Kernel`]. The disk cache has a shader's SPIR-V and the device's pipeline cache. Several
//! shaders that are known to be wanted are compiled side by side, by threads that end before the call does. Invariants:
//! pipelines with equally many bound blocks share a layout; a pipeline lives until it is retired or the driver is
//! closed.
//!
//! Not here: compilation to SPIR-V (`to_spirv.rs`), the choice of a launch's kernel (`eval.rs` and
//! `gpupy_codegen::kernel_cache`), the files on disk (`gpupy_codegen::disk`).

use super::to_spirv::{self, refused};
use crate::vulkan::gpu::errors::failed;
use crate::vulkan::gpu::gpu_device::Gpu;
use ash::vk;
use gpupy_codegen::disk_cache::DiskCache;
use gpupy_core::{ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

/// The text of a shader, and the number of blocks that are bound to it; 0 where blocks are reached by address.
pub type Shader = (String, usize);

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The pipeline that is dispatched.
    pub pipeline: vk::Pipeline,
    /// The layout of its arguments.
    pub layout: vk::PipelineLayout,
    /// The text that it was compiled from.
    pub code: Arc<str>,
}

/// The compiler of an open device's kernels, which owns their pipelines.
pub struct Compiler {
    /// The layouts of kernels, by the number of blocks that are bound.
    layouts: FxHashMap<usize, KernelLayout>,
    pipelines: Vec<vk::Pipeline>,
    /// What was compiled before it is asked for.
    ahead: FxHashMap<Shader, vk::Pipeline>,
    disk_cache: Option<DiskCache>,
    gpu: Arc<Gpu>,
}

/// The layout of kernels' arguments.
#[derive(Clone, Copy, Default)]
struct KernelLayout {
    /// The descriptor set of blocks; null where none is bound.
    set: vk::DescriptorSetLayout,
    /// The set together with push constants.
    pipeline: vk::PipelineLayout,
}

/// The disk cache's entry for a kernel.
struct StoredKernel {
    spirv: Vec<u32>,
    /// The contents of a pipeline cache.
    compiled: Vec<u8>,
}

impl Compiler {
    /// No kernels yet.
    pub fn new(gpu: Arc<Gpu>) -> Compiler {
        Compiler {
            layouts: FxHashMap::default(),
            pipelines: Vec::new(),
            ahead: FxHashMap::default(),
            disk_cache: DiskCache::of(crate::NAME),
            gpu,
        }
    }

    /// The layout of kernels with `blocks` bound blocks; 0 where blocks are reached by address.
    fn layout(&mut self, blocks: usize) -> Result<vk::PipelineLayout> {
        if let Some(known) = self.layouts.get(&blocks) {
            return Ok(known.pipeline);
        }
        let device = &self.gpu.raw;
        let stage = vk::ShaderStageFlags::COMPUTE;
        let bindings: Vec<_> = (0..=blocks as u32)
            .map(|binding| {
                let kind = match binding {
                    0 => vk::DescriptorType::UNIFORM_BUFFER,
                    _ => vk::DescriptorType::STORAGE_BUFFER,
                };
                let layout = vk::DescriptorSetLayoutBinding::default().binding(binding);
                layout.descriptor_type(kind).descriptor_count(1).stage_flags(stage)
            })
            .collect();
        let pushed = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
        let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).flags(pushed);
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(stage)
            .size(self.gpu.traits.kernels.push_bytes)];
        let mut made = KernelLayout::default();
        // SAFETY: bindings and push constants are within the device's limits, and sets are pushed only
        // where the device has the extension.
        let result = unsafe {
            let mut sets = Vec::new();
            let bound = match blocks {
                0 => Ok(()),
                _ => device.create_descriptor_set_layout(&set, None).map(|set| sets.push(set)),
            };
            bound.and_then(|()| {
                made.set = sets.first().copied().unwrap_or_default();
                let create = vk::PipelineLayoutCreateInfo::default();
                let create = create.push_constant_ranges(&ranges).set_layouts(&sets);
                made.pipeline = device.create_pipeline_layout(&create, None)?;
                Ok(())
            })
        };
        if let Err(result) = result {
            // SAFETY: the set was just created and is used nowhere else; null is ignored.
            unsafe { device.destroy_descriptor_set_layout(made.set, None) };
            return Err(failed("eval_ir", "vkCreatePipelineLayout", result));
        }
        self.layouts.insert(blocks, made);
        Ok(made.pipeline)
    }

    /// Compiles shaders, each another one, side by side, for [`compile`](Self::compile) to find. What was compiled so
    /// before and is not asked for by now is forgotten.
    pub fn compile_ahead(&mut self, shaders: Vec<Shader>) {
        for pipeline in std::mem::take(&mut self.ahead).into_values() {
            // SAFETY: nothing was recorded with a pipeline that was not asked for.
            unsafe { self.gpu.raw.destroy_pipeline(pipeline, None) };
        }
        let with_layout = |shader: Shader| Some((self.layout(shader.1).ok()?, shader));
        let wanted: Vec<_> = shaders.into_iter().filter_map(with_layout).collect();
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let made: Vec<OnceLock<_>> = wanted.iter().map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let next = || wanted.iter().zip(&made).nth(next.fetch_add(1, Ordering::Relaxed));
            while let Some(((layout, (source, _)), made)) = next() {
                made.get_or_init(|| self.made(source, *layout));
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads.min(wanted.len()) {
                // Without another thread, this one compiles all.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let made = wanted.into_iter().zip(made.into_iter().map(OnceLock::into_inner));
        // What failed is compiled again by itself: with less memory in use, or for its error.
        let made = made.filter_map(|((_, shader), made)| Some((shader, made?.ok()?)));
        self.ahead = made.collect();
    }

    /// Compiles a shader with `blocks` bound blocks, or loads it from the disk cache, unless that is done.
    ///
    /// # Errors
    /// - `Refused`: a compiler rejects it.
    /// - `OutOfMemory`, `DeviceLost`: the device's own.
    pub fn compile(&mut self, (source, blocks): Shader) -> Result<Kernel> {
        let layout = self.layout(blocks)?;
        let code: Arc<str> = source.as_str().into();
        let pipeline = match self.ahead.remove(&(source, blocks)) {
            Some(made) => made,
            None => self.made(&code, layout)?,
        };
        self.pipelines.push(pipeline);
        Ok(Kernel { pipeline, layout, code })
    }

    /// A shader's pipeline.
    ///
    /// # Errors
    /// As of `compile`.
    fn made(&self, source: &str, layout: vk::PipelineLayout) -> Result<vk::Pipeline> {
        let key = format!("{}\n{:?}\n{source}", self.gpu.traits.identity, self.gpu.traits.floats);
        let found = self
            .disk_cache
            .as_ref()
            .and_then(|disk_cache| StoredKernel::from_bytes(&disk_cache.take(&key)?));
        let stored = match found {
            Some(stored) => stored,
            None => {
                let spirv = to_spirv::compile(source, &self.gpu.traits)?;
                StoredKernel { spirv, compiled: Vec::new() }
            }
        };
        let fresh = stored.compiled.is_empty();
        let (pipeline, compiled) = self.pipeline(&stored, layout, fresh).map_err(|result| {
            let error = failed("eval_ir", "vkCreateComputePipelines", result);
            match error.kind() {
                ErrorKind::OutOfMemory => error,
                _ if result == vk::Result::ERROR_DEVICE_LOST => error,
                _ => refused(&result.to_string(), source, &self.gpu.traits),
            }
        })?;
        if let (Some(compiled), Some(disk_cache)) = (compiled, &self.disk_cache) {
            disk_cache.put(&key, &StoredKernel { compiled, ..stored }.to_bytes());
        }
        Ok(pipeline)
    }

    /// Forgets a kernel; the caller retires its pipeline.
    pub fn forget(&mut self, kernel: &Kernel) {
        self.pipelines.retain(|pipeline| *pipeline != kernel.pipeline);
    }

    /// Creates a pipeline; with `keep`, also returns the contents of the device's pipeline cache.
    fn pipeline(
        &self,
        stored: &StoredKernel,
        layout: vk::PipelineLayout,
        keep: bool,
    ) -> std::result::Result<(vk::Pipeline, Option<Vec<u8>>), vk::Result> {
        let device = &self.gpu.raw;
        let create = vk::ShaderModuleCreateInfo::default().code(&stored.spirv);
        let cache = vk::PipelineCacheCreateInfo::default().initial_data(&stored.compiled);
        // SAFETY: the code comes from the compiler or whole from the disk; a device checks the contents of a
        // cache itself. All objects that are made here are destroyed here, except the pipeline.
        unsafe {
            let module = device.create_shader_module(&create, None)?;
            let cache = device.create_pipeline_cache(&cache, None);
            let made = cache.and_then(|cache| {
                let stage = vk::PipelineShaderStageCreateInfo::default()
                    .stage(vk::ShaderStageFlags::COMPUTE)
                    .module(module)
                    .name(c"main");
                let create = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
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

impl Drop for Compiler {
    fn drop(&mut self) {
        // SAFETY: the queue has been closed, so the device has finished with all of them.
        unsafe {
            for pipeline in self.pipelines.iter().chain(self.ahead.values()) {
                self.gpu.raw.destroy_pipeline(*pipeline, None);
            }
            for layout in self.layouts.values() {
                self.gpu.raw.destroy_pipeline_layout(layout.pipeline, None);
                self.gpu.raw.destroy_descriptor_set_layout(layout.set, None);
            }
        }
    }
}

impl StoredKernel {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = (self.spirv.len() as u32).to_le_bytes().to_vec();
        bytes.extend(self.spirv.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(&self.compiled);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<StoredKernel> {
        let (count, rest) = bytes.split_first_chunk()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (spirv, compiled) = rest.split_at_checked(count.checked_mul(4)?)?;
        let words = spirv.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
        Some(StoredKernel { spirv: words.collect(), compiled: compiled.to_vec() })
    }
}
