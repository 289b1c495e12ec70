//! The available devices, and opening one.
//!
//! Owns [`Gpu`] and [`Adapters`]. Open devices share the list of adapters, because listing takes longer than
//! opening; the list is dropped with the last device, and a forked process makes its own. Devices of Vulkan,
//! Metal and Direct3D come first, ranked by kind. Those of OpenGL come last, and are only listed if there are
//! no others or the configuration names one: listing them opens a context, which costs 50 ms on Mesa.
//! Invariant: the order, and so each device's number, does not depend on whether OpenGL's devices are listed.
//!
//! Not here: the properties of a device's arithmetic (`gpupy_codegen::probe`).

use crate::faults::{Faults, caught, one_line};
use crate::instance;
use gpupy_core::driver::Config;
use gpupy_core::{Error, ErrorKind, Result};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A device, open.
pub struct Gpu {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    /// The adapter's report.
    pub info: wgpu::AdapterInfo,
    /// Its name in the list of devices.
    pub name: String,
    /// The enabled features.
    pub features: wgpu::Features,
    /// Its limits.
    pub limits: wgpu::Limits,
    /// The errors that it reported.
    pub faults: Faults,
    /// Keeps the shared list of adapters alive; last, because the device is made from it.
    _found: Arc<AdapterList>,
}

/// The features that this driver uses where a device has them.
const USEFUL: wgpu::Features = wgpu::Features::SHADER_F64
    .union(wgpu::Features::SHADER_INT64)
    .union(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS)
    .union(wgpu::Features::PIPELINE_CACHE)
    .union(wgpu::Features::PASSTHROUGH_SHADERS);

/// With fewer buffers in a kernel, an operation of three operands would not fit.
const LEAST_BUFFERS: u32 = 5;

impl Gpu {
    /// The device and its driver's version, as a key of the disk cache.
    pub fn identity(&self) -> String {
        let info = &self.info;
        format!("{}\n{}\n{}", self.name, info.driver, info.driver_info)
    }

    /// Whether it is not the CPU.
    pub fn is_hardware(&self) -> bool {
        self.info.device_type != wgpu::DeviceType::Cpu
    }
}

/// The available devices, best first.
pub struct Adapters {
    shared: Arc<AdapterList>,
    /// Those of OpenGL. Each is a context, for one device alone.
    own: AdapterList,
    /// The names of all.
    pub names: Vec<String>,
}

/// The adapters of some APIs.
#[derive(Default)]
struct AdapterList {
    adapters: Vec<wgpu::Adapter>,
    names: Vec<String>,
}

/// The adapters that open devices were chosen from, except OpenGL's, and the process that listed them.
static SHARED: Mutex<(u32, Weak<AdapterList>)> = Mutex::new((0, Weak::new()));

impl AdapterList {
    /// The adapters of all APIs except OpenGL.
    fn shared() -> Arc<AdapterList> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let here = std::process::id();
        if let (true, Some(found)) = (shared.0 == here, shared.1.upgrade()) {
            return found;
        }
        let mut found = AdapterList::default();
        found.look(instance::vulkan, wgpu::Backends::VULKAN);
        found.look(instance::of, wgpu::Backends::METAL | wgpu::Backends::DX12);
        let found = Arc::new(found);
        *shared = (here, Arc::downgrade(&found));
        found
    }

    fn look(
        &mut self,
        instance: impl FnOnce(wgpu::Backends) -> Option<wgpu::Instance>,
        backends: wgpu::Backends,
    ) {
        if !wgpu::Instance::enabled_backend_features().intersects(backends) {
            return;
        }
        // A library that is only partly installed makes wgpu panic; then it has no devices.
        let found = caught(|| {
            let instance = instance(backends)?;
            Some(pollster::block_on(instance.enumerate_adapters(backends)))
        });
        let found = found.ok().flatten();
        let mut found = found.unwrap_or_default();
        found.retain(|adapter| {
            let computes = wgpu::DownlevelFlags::COMPUTE_SHADERS;
            adapter.get_downlevel_capabilities().flags.contains(computes)
                && adapter.limits().max_storage_buffers_per_shader_stage >= LEAST_BUFFERS
        });
        found.sort_by_key(|adapter| rank(adapter.get_info().device_type));
        self.names.extend(found.iter().map(|adapter| name(&adapter.get_info())));
        self.adapters.extend(found);
    }
}

impl Adapters {
    /// Lists devices; OpenGL's only if no other is selected by the configuration.
    pub fn new(config: &Config) -> Adapters {
        gpupy_codegen::mesa_cache::keep_from_full_disk();
        let (shared, mut own) = (AdapterList::shared(), AdapterList::default());
        if shared.names.is_empty() || config.choose(&shared.names).is_err() {
            own.look(instance::of, wgpu::Backends::GL);
        }
        let names = shared.names.iter().chain(&own.names).cloned().collect();
        Adapters { shared, own, names }
    }

    /// Opens the device that a configuration selects.
    ///
    /// # Errors
    /// - `Unavailable`: there is no device, none is selected, or it does not open.
    pub fn open(&self, config: &Config) -> Result<Gpu> {
        let unavailable = || Error::new(ErrorKind::Unavailable, "init").with("driver", crate::NAME);
        let chosen = config.choose(&self.names)?;
        let position = *chosen.first().ok_or_else(|| {
            unavailable().says(
                "there is no device; install a driver of Vulkan or OpenGL \
                 (on Debian: `apt install mesa-vulkan-drivers`)",
            )
        })?;
        let adapter = match position.checked_sub(self.shared.adapters.len()) {
            None => &self.shared.adapters[position],
            Some(position) => &self.own.adapters[position],
        };
        let name = &self.names[position];
        let offered = adapter.features();
        let mut features = USEFUL & offered;
        // On a card with its own memory, blocks that the host can map would lie in host memory.
        let info = adapter.get_info();
        if !shares_memory(info.device_type) {
            features.remove(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS);
        }
        if config.hardware && info.device_type == wgpu::DeviceType::Cpu {
            return Err(unavailable().says("the device is no hardware GPU").with("device", name));
        }
        let limits = adapter.limits();
        let opened = caught(|| {
            pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                required_features: features,
                required_limits: limits.clone(),
                ..wgpu::DeviceDescriptor::default()
            }))
        });
        let failed = |reason: String| {
            unavailable()
                .says("the device does not open")
                .with("device", name)
                .with("reason", one_line(&reason))
        };
        let (device, queue) = opened
            .map_err(failed)?
            .map_err(|error| failed(error.to_string()).from_source(error))?;
        let faults = Faults::of(&device);
        let (name, _found) = (name.clone(), self.shared.clone());
        Ok(Gpu { device, queue, info, name, features, limits, faults, _found })
    }
}

/// True when host and device share memory.
fn shares_memory(kind: wgpu::DeviceType) -> bool {
    matches!(kind, wgpu::DeviceType::Cpu | wgpu::DeviceType::IntegratedGpu)
}

/// Better devices have lower ranks.
fn rank(kind: wgpu::DeviceType) -> u8 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

/// A device's name with its API, since one device may have several.
fn name(info: &wgpu::AdapterInfo) -> String {
    let api = match info.backend {
        wgpu::Backend::Vulkan => "Vulkan",
        wgpu::Backend::Metal => "Metal",
        wgpu::Backend::Dx12 => "Direct3D 12",
        wgpu::Backend::Gl => "OpenGL",
        wgpu::Backend::Noop | wgpu::Backend::BrowserWebGpu => "other",
    };
    format!("{}, {api}", info.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_is_refused_with_those_that_are() {
        let config = Config { device: "no such device".to_owned(), ..Config::default() };
        let all = Adapters::new(&config);
        let Err(error) = all.open(&config) else { panic!("it opened") };
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(all.names.iter().all(|name| error.to_string().contains(name)), "{error}");
    }
}
