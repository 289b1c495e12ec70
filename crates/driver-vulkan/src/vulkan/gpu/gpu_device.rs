//! An open device: its limits and features, and its one queue.
//!
//! Owns [`Gpu`] and [`Traits`]. Invariants: only features that the device offers are enabled, and only enabled
//! features are used; the device is closed when the last object that was made from it is gone.
//!
//! Not here: memory and commands (`commands`), the import of host memory (`external.rs`).

use super::errors::unavailable;
use super::external::{self, Import};
use super::instance::{FoundDevice, VulkanInstance};
use crate::NAME;
use ash::ext::external_memory_host;
use ash::khr::push_descriptor;
use ash::vk;
use gpupy_codegen::compute::{self, Language};
use gpupy_core::driver::Config;
use gpupy_core::{Error, ErrorKind, Result};
use std::ffi::c_char;
use std::sync::Arc;

/// An open device.
pub struct Gpu {
    /// Its functions.
    pub raw: ash::Device,
    /// The push descriptor extension, if the device has it.
    pub push_descriptor: Option<push_descriptor::Device>,
    /// The import of host memory, if the device has it.
    pub import: Option<Import>,
    /// The queue for all work.
    pub queue: vk::Queue,
    /// The family of the queue.
    pub family: u32,
    /// Its limits and features.
    pub traits: Traits,
    /// The handle of its physical device.
    pub handle: vk::PhysicalDevice,
    /// Last, because the device is made of it.
    pub instance: Arc<VulkanInstance>,
}

/// The limits and features of a device that this driver uses.
#[derive(Clone, Debug)]
pub struct Traits {
    /// Its name.
    pub name: String,
    /// False for the CPU.
    pub hardware: bool,
    /// Whether the device's memory is the host's, so that blocks are mapped.
    pub shared_memory: bool,
    /// Bytes of the largest allocation.
    pub largest: u64,
    /// Bytes of the memory for blocks.
    pub memory: u64,
    /// The device and everything that compiles for it, as text: findings hold for every device with an equal
    /// text.
    pub identity: String,
    /// The target of kernels that reach blocks by addresses; bound kernels differ in nothing else.
    pub kernels: compute::KernelFeatures,
    /// The limits of bindings; `None` for a device without push descriptors.
    pub bound: Option<BindingLimits>,
    /// The float controls that kernels ask for.
    pub floats: FloatModes,
}

/// The limits of the bindings of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct BindingLimits {
    /// Buffers, including the one of the kernel arguments.
    pub buffers: u32,
    /// Bytes of a block.
    pub block: u64,
    /// Bytes of the kernel arguments.
    pub numbers: u32,
}

/// Float controls that a device offers, by size: 16, 32, 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FloatModes {
    /// Subnormal numbers are kept.
    pub keeps_subnormals: [bool; 3],
    /// NaN, infinities and the sign of zero are kept.
    pub keeps_special: [bool; 3],
    /// Results are rounded to the nearest, ties to even.
    pub rounds_to_even: [bool; 3],
}

impl Gpu {
    /// Opens the best device that a configuration selects.
    ///
    /// # Errors
    /// - `Unavailable`: none is selected, or it lacks a required feature.
    pub fn open(
        instance: Arc<VulkanInstance>,
        devices: &[FoundDevice],
        config: &Config,
    ) -> Result<Gpu> {
        let found = choose(devices, config)?;
        let handle = found.handle;
        // SAFETY: plain queries on a handle of this instance.
        let families = unsafe { instance.raw.get_physical_device_queue_family_properties(handle) };
        let computes =
            |f: &vk::QueueFamilyProperties| f.queue_flags.contains(vk::QueueFlags::COMPUTE);
        let family = families.iter().position(computes);
        let family = family.ok_or_else(|| lacking(found, "queues that compute"))? as u32;

        let mut has_11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut has_12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut has =
            vk::PhysicalDeviceFeatures2::default().push_next(&mut has_11).push_next(&mut has_12);
        // SAFETY: the chain consists of structs that a device of Vulkan 1.2 fills.
        unsafe { instance.raw.get_physical_device_features2(handle, &mut has) };
        let has = has.features;
        if has_12.buffer_device_address == 0 {
            return Err(lacking(found, "addresses of buffers"));
        }
        if has_12.timeline_semaphore == 0 {
            return Err(lacking(found, "timeline semaphores"));
        }
        let mut use_11 = vk::PhysicalDeviceVulkan11Features::default()
            .storage_buffer16_bit_access(has_11.storage_buffer16_bit_access != 0);
        let mut use_12 = vk::PhysicalDeviceVulkan12Features::default()
            .buffer_device_address(true)
            .timeline_semaphore(true)
            .storage_buffer8_bit_access(has_12.storage_buffer8_bit_access != 0)
            .shader_int8(has_12.shader_int8 != 0);
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .features(
                vk::PhysicalDeviceFeatures::default()
                    .shader_int64(has.shader_int64 != 0)
                    .shader_float64(has.shader_float64 != 0)
                    .shader_int16(has.shader_int16 != 0),
            )
            .push_next(&mut use_11)
            .push_next(&mut use_12);
        let mut traits = Traits::of(&instance, found, &has, &has_11, &has_12);
        traits.bound = bound(&instance, handle);
        if cfg!(not(feature = "shaderc")) {
            traits.write_wgsl();
        }
        let pushes = traits.bound.is_some();
        let alignment = external::alignment(&instance.raw, handle).filter(|_| traits.shared_memory);
        let wanted =
            [(pushes, push_descriptor::NAME), (alignment.is_some(), external_memory_host::NAME)];
        let extensions = wanted.into_iter().filter(|(has, _)| *has);
        let extensions: Vec<*const c_char> = extensions.map(|(_, name)| name.as_ptr()).collect();
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&priorities)];
        let create =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut features);
        let create = create.enabled_extension_names(&extensions);
        // SAFETY: the features are the device's, and all pointers are valid until the call returns.
        let raw =
            unsafe { instance.raw.create_device(handle, &create, None) }.map_err(|result| {
                unavailable("the device cannot be opened")
                    .with("device", &found.name)
                    .with("vkCreateDevice", result)
            })?;
        // SAFETY: one queue of this family was made with the device.
        let queue = unsafe { raw.get_device_queue(family, 0) };
        let push_descriptor = pushes.then(|| push_descriptor::Device::new(&instance.raw, &raw));
        let import = alignment.map(|alignment| Import::new(&instance.raw, handle, &raw, alignment));
        Ok(Gpu { raw, push_descriptor, import, queue, family, traits, handle, instance })
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: all objects that were made from the device hold it in an `Arc`, so they are gone.
        unsafe { self.raw.destroy_device(None) };
    }
}

impl Traits {
    /// Makes kernels be written in WGSL, which naga compiles, instead of GLSL for shaderc. WGSL has no device
    /// addresses, and no elements of 8 or 16 bits.
    pub fn write_wgsl(&mut self) {
        self.kernels = compute::KernelFeatures {
            language: Language::Wgsl,
            addresses: false,
            bytes: false,
            halves: false,
            ..self.kernels
        };
    }

    /// The compiler of the kernels.
    pub fn compiler(&self) -> &'static str {
        match self.kernels.language {
            Language::Glsl => "shaderc",
            Language::Wgsl => "naga",
        }
    }

    /// The number of blocks that a kernel can reach, and the bytes of the largest.
    ///
    /// # Errors
    /// - `Unavailable`: it reaches none.
    pub fn reach(&self) -> Result<(u32, u64)> {
        match (self.kernels.language, self.bound) {
            // Any number of blocks can be reached by address.
            (Language::Glsl, _) => Ok((u32::MAX, self.largest)),
            (Language::Wgsl, Some(bound)) => {
                Ok((bound.buffers.saturating_sub(1), bound.block.min(self.largest)))
            }
            (Language::Wgsl, None) => Err(unavailable(
                "the device has no descriptors that are pushed, without which only kernels of a build with \
                 shaderc work (README.md, Drivers)",
            )
            .with("device", &self.name)),
        }
    }

    fn of(
        instance: &VulkanInstance,
        found: &FoundDevice,
        has: &vk::PhysicalDeviceFeatures,
        has_11: &vk::PhysicalDeviceVulkan11Features<'_>,
        has_12: &vk::PhysicalDeviceVulkan12Features<'_>,
    ) -> Traits {
        let mut properties_11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut properties_12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut properties_11)
            .push_next(&mut properties_12);
        // SAFETY: plain queries; the chain consists of structs that a device of Vulkan 1.2 fills.
        let memory = unsafe {
            instance.raw.get_physical_device_properties2(found.handle, &mut properties);
            instance.raw.get_physical_device_memory_properties(found.handle)
        };
        let properties = properties.properties;
        let limits = properties.limits;
        let largest_heap = memory
            .memory_heaps_as_slice()
            .iter()
            .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
            .map(|heap| heap.size)
            .max();
        let hardware = found.kind != vk::PhysicalDeviceType::CPU;
        let shared_memory = !hardware || found.kind == vk::PhysicalDeviceType::INTEGRATED_GPU;
        let group =
            limits.max_compute_work_group_invocations.min(limits.max_compute_work_group_size[0]);
        Traits {
            name: found.name.clone(),
            hardware,
            shared_memory,
            largest: properties_11.max_memory_allocation_size,
            memory: largest_heap
                .map_or(0, |bytes| if shared_memory { bytes / 2 } else { bytes / 4 * 3 }),
            identity: format!(
                "{} {:x}:{:x} {} {:x} {:02x?}",
                found.name,
                properties.vendor_id,
                properties.device_id,
                properties_12.driver_info_as_c_str().unwrap_or_default().to_string_lossy(),
                properties.driver_version,
                properties.pipeline_cache_uuid,
            ),
            kernels: compute::KernelFeatures {
                language: Language::Glsl,
                addresses: true,
                int64: has.shader_int64 != 0,
                float64: has.shader_float64 != 0,
                bytes: has_12.storage_buffer8_bit_access != 0 && has_12.shader_int8 != 0,
                halves: has_11.storage_buffer16_bit_access != 0 && has.shader_int16 != 0,
                group: group.clamp(32, 256),
                group_bytes: limits.max_compute_shared_memory_size,
                groups: limits.max_compute_work_group_count.into_iter().min().unwrap_or(1),
                push_bytes: limits.max_push_constants_size,
                guards: false,
                shares: hardware,
            },
            bound: None,
            floats: FloatModes {
                keeps_subnormals: [
                    properties_12.shader_denorm_preserve_float16 != 0,
                    properties_12.shader_denorm_preserve_float32 != 0,
                    properties_12.shader_denorm_preserve_float64 != 0,
                ],
                keeps_special: [
                    properties_12.shader_signed_zero_inf_nan_preserve_float16 != 0,
                    properties_12.shader_signed_zero_inf_nan_preserve_float32 != 0,
                    properties_12.shader_signed_zero_inf_nan_preserve_float64 != 0,
                ],
                rounds_to_even: [
                    properties_12.shader_rounding_mode_rte_float16 != 0,
                    properties_12.shader_rounding_mode_rte_float32 != 0,
                    properties_12.shader_rounding_mode_rte_float64 != 0,
                ],
            },
        }
    }
}

/// The best of the devices that are selected.
fn choose<'a>(devices: &'a [FoundDevice], config: &Config) -> Result<&'a FoundDevice> {
    let names: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
    let meant = config.choose(&names)?;
    let good = |found: &&FoundDevice| !config.hardware || found.kind != vk::PhysicalDeviceType::CPU;
    meant.into_iter().map(|position| &devices[position]).find(good).ok_or_else(|| {
        Error::new(ErrorKind::Unavailable, "init")
            .says("there is no hardware GPU")
            .with("driver", NAME)
            .with("devices", names.join(", "))
    })
}

/// The limits of bindings of a device, if it has push descriptors.
fn bound(instance: &VulkanInstance, handle: vk::PhysicalDevice) -> Option<BindingLimits> {
    let mut pushed = vk::PhysicalDevicePushDescriptorPropertiesKHR::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut pushed);
    // SAFETY: these are queries; the chain's struct is filled by a device that has the extension, and
    // ignored by others.
    let offered = unsafe {
        instance.raw.get_physical_device_properties2(handle, &mut properties);
        instance.raw.enumerate_device_extension_properties(handle)
    };
    let limits = properties.properties.limits;
    let named =
        |e: &vk::ExtensionProperties| e.extension_name_as_c_str() == Ok(push_descriptor::NAME);
    offered.ok()?.iter().any(named).then(|| BindingLimits {
        buffers: pushed
            .max_push_descriptors
            .min(limits.max_per_stage_descriptor_storage_buffers)
            .min(limits.max_descriptor_set_storage_buffers),
        block: limits.max_storage_buffer_range.into(),
        numbers: limits.max_uniform_buffer_range,
    })
}

fn lacking(found: &FoundDevice, what: &str) -> Error {
    Error::new(ErrorKind::Unavailable, "init")
        .says(format!("the device has no {what}"))
        .with("driver", NAME)
        .with("device", &found.name)
}
