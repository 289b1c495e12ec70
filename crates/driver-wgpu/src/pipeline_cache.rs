//! The disk cache of compiled pipelines, between runs, for devices that support it.
//!
//! Owns [`PipelineStore`]. One file has all pipelines of a device and its driver's version. Invariant: wgpu
//! only gets bytes that it returned for the same device and version.
//!
//! Not here: the files (`gpupy_codegen::disk_cache`), kernels of this run (`gpupy_codegen::kernel_cache`).

use crate::gpu_device::Gpu;
use gpupy_codegen::disk_cache::DiskCache;

/// Pipelines of this device, from this and earlier runs.
pub struct PipelineStore {
    pipelines: wgpu::PipelineCache,
    disk_cache: DiskCache,
    key: String,
    /// The bytes that were loaded.
    loaded: Option<Vec<u8>>,
}

impl PipelineStore {
    /// The device's pipelines of earlier runs, where the device supports it.
    pub fn open(gpu: &Gpu) -> Option<PipelineStore> {
        if !gpu.features.contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let disk_cache = DiskCache::of(crate::NAME)?;
        let key = format!("pipelines\n{}", gpu.identity());
        let loaded = disk_cache.take(&key);
        // SAFETY: the bytes are whole and were returned by this device's `get_data`, as their key says;
        // wgpu checks their header again.
        let pipelines = unsafe {
            gpu.device.create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
                label: None,
                data: loaded.as_deref(),
                fallback: true,
            })
        };
        gpu.faults.check("init").ok()?;
        Some(PipelineStore { pipelines, disk_cache, key, loaded })
    }

    /// wgpu's pipeline cache.
    pub fn pipelines(&self) -> &wgpu::PipelineCache {
        &self.pipelines
    }

    /// Stores the pipelines, if they have changed.
    pub fn save(&self) {
        match self.pipelines.get_data() {
            Some(data) if self.loaded.as_ref() != Some(&data) => {
                self.disk_cache.put(&self.key, &data)
            }
            _ => {}
        }
    }
}
