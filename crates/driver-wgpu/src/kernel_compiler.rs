//! Compiles kernels, each with the layout of its bindings.
//!
//! Owns [`Compiler`] and [`Kernel`]. Invariant: a refused kernel is saved to a file that the error names.
//!
//! Not here: the text (`gpupy-codegen`), the cache of kernels (`gpupy_codegen::kernel_cache`).

use crate::gpu_device::Gpu;
use crate::pipeline_cache;
use gpupy_codegen::compute::{self, spirv};
use gpupy_core::memory::private_file;
use gpupy_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// A compiled kernel; copies share it.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The pipeline.
    pub pipeline: wgpu::ComputePipeline,
    /// The layout of its bindings.
    pub layout: wgpu::BindGroupLayout,
    /// Its text.
    pub code: Arc<str>,
}

/// The compiler of kernels.
pub struct Compiler {
    /// Layouts by the number of operands and of destinations.
    layouts: FxHashMap<(usize, usize), (wgpu::BindGroupLayout, wgpu::PipelineLayout)>,
    cache: Option<pipeline_cache::PipelineStore>,
    /// The target of kernels. Kernels without guards in their text reach the device as SPIR-V that this driver
    /// makes.
    shaping: compute::KernelFeatures,
}

impl Compiler {
    /// A compiler for a device, with this target.
    pub fn new(gpu: &Gpu, shaping: compute::KernelFeatures) -> Compiler {
        Compiler {
            layouts: FxHashMap::default(),
            cache: pipeline_cache::PipelineStore::open(gpu),
            shaping,
        }
    }

    /// Compiles a kernel with these numbers of operands and destinations.
    ///
    /// # Errors
    /// - `Refused`: naga or the device's compiler rejects it.
    /// - `DeviceLost`: the device is gone.
    pub fn compile(
        &mut self,
        gpu: &Gpu,
        source: &str,
        (operands, dests): (usize, usize),
    ) -> Result<Kernel> {
        let (layout, pipeline_layout) = self.layout(gpu, operands, dests);
        let module = self.module(gpu, source)?;
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Kernels write workgroup memory before they read it.
                zero_initialize_workgroup_memory: false,
                ..wgpu::PipelineCompilationOptions::default()
            },
            cache: self.cache.as_ref().map(pipeline_cache::PipelineStore::pipelines),
        });
        gpu.faults.check("eval_ir").map_err(|error| match error.kind() {
            ErrorKind::Refused => refused(gpu, error.fact("reason").unwrap_or_default(), source),
            _ => error,
        })?;
        Ok(Kernel { pipeline, layout, code: source.into() })
    }

    /// Saves compiled pipelines for the next run.
    pub fn save(&self) {
        if let Some(cache) = &self.cache {
            cache.save();
        }
    }

    fn module(&self, gpu: &Gpu, source: &str) -> Result<wgpu::ShaderModule> {
        if self.shaping.guards {
            let text = wgpu::ShaderModuleDescriptor {
                label: None,
                source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(source)),
            };
            let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
            // SAFETY: the contract guarantees that accesses stay inside their blocks; gathers clamp their
            // index, loops run a counted number of times, and divisions are kept from 0.
            let module = unsafe { gpu.device.create_shader_module_trusted(text, unchecked) };
            return Ok(module);
        }
        let words = spirv::compile(source, &self.shaping)
            .map_err(|reason| refused(gpu, &reason, source))?;
        let binary = wgpu::ShaderModuleDescriptorPassthrough {
            entry_points: Cow::Owned(vec![wgpu::PassthroughShaderEntryPoint {
                name: Cow::Borrowed("main"),
                workgroup_size: (0, 0, 0),
            }]),
            spirv: Some(Cow::Owned(words)),
            ..wgpu::ShaderModuleDescriptorPassthrough::default()
        };
        // SAFETY: naga has validated the module; accesses stay inside their blocks by contract.
        Ok(unsafe { gpu.device.create_shader_module_passthrough(binary) })
    }

    /// The layouts: binding 0 has the kernel arguments, then follow operands and destinations.
    fn layout(
        &mut self,
        gpu: &Gpu,
        operands: usize,
        dests: usize,
    ) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
        let make = || {
            let blocks = (0..operands + dests)
                .map(|block| wgpu::BufferBindingType::Storage { read_only: block < operands });
            let entries: Vec<wgpu::BindGroupLayoutEntry> =
                std::iter::once(wgpu::BufferBindingType::Uniform)
                    .chain(blocks)
                    .enumerate()
                    .map(|(binding, ty)| wgpu::BindGroupLayoutEntry {
                        binding: binding as u32,
                        visibility: wgpu::ShaderStages::COMPUTE,
                        ty: wgpu::BindingType::Buffer {
                            ty,
                            has_dynamic_offset: binding == 0,
                            min_binding_size: None,
                        },
                        count: None,
                    })
                    .collect();
            let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: None,
                entries: &entries,
            });
            let pipeline = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            (layout, pipeline)
        };
        self.layouts.entry((operands, dests)).or_insert_with(make).clone()
    }
}

/// Whether kernels reach the device as SPIR-V that this driver makes, with the demand that arithmetic is exact.
pub fn is_exact(gpu: &Gpu) -> bool {
    gpu.info.backend == wgpu::Backend::Vulkan
        && gpu.features.contains(wgpu::Features::PASSTHROUGH_SHADERS)
}

/// The error of a refused kernel, which is saved for people to look at.
fn refused(gpu: &Gpu, reason: &str, source: &str) -> Error {
    let error = Error::new(ErrorKind::Refused, "eval_ir")
        .with("driver", crate::NAME)
        .with("device", &gpu.name)
        .with("compiler", crate::faults::one_line(reason));
    match private_file::temporary("gpupy-refused", ".wgsl", source) {
        Ok(path) => error.with("source", path.display()),
        Err(_) => error.with("source", "could not be saved"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::gpu_device::Adapters;
    use crate::open::shaping;
    use gpupy_core::driver::Config;

    #[test]
    fn a_refusal_names_the_compilers_reason_and_the_saved_source_and_the_next_kernel_compiles() {
        let config = Config::default();
        let Ok(gpu) = Adapters::new(&config).open(&config) else {
            return gpupy_conformance::skipped("no device");
        };
        for guards in [!is_exact(&gpu), true] {
            let mut compiler =
                Compiler::new(&gpu, compute::KernelFeatures { guards, ..shaping(&gpu) });
            let wrong = "@compute @workgroup_size(1) fn main() { undeclared = 1; }";
            let error = compiler.compile(&gpu, wrong, (0, 1)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused);
            assert!(error.fact("compiler").unwrap().contains("undeclared"), "{error}");
            let path = error.fact("source").unwrap().to_owned();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), wrong);
            std::fs::remove_file(path).unwrap();
            let right = "@compute @workgroup_size(1) fn main() { }";
            compiler.compile(&gpu, right, (0, 1)).unwrap();
        }
    }
}
