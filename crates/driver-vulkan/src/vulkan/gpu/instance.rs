//! Vulkan's loader, an instance, and the devices that it lists.
//!
//! Owns [`VulkanInstance`] and [`FoundDevice`]. The library is opened at run time. Invariants: all open devices
//! of a process share an instance, because creating one takes longer than the rest of opening a device; when
//! the last device drops it, the library is unloaded too; a forked process creates its own.
//!
//! Not here: the choice of a device and its features (`gpu_device.rs`), messages of the validation layers
//! (`validation.rs`).

use super::errors::unavailable;
use super::validation::{self, Watch};
use ash::vk;
use gpupy_codegen::mesa_cache;
use gpupy_core::Result;
use std::ffi::{CStr, c_char};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// An instance of Vulkan.
pub struct VulkanInstance {
    /// Its functions.
    pub raw: ash::Instance,
    watch: Option<Watch>,
    // Last, because it unloads the library.
    _entry: ash::Entry,
}

/// A device that could be opened.
#[derive(Clone, Debug)]
pub struct FoundDevice {
    /// Its handle.
    pub handle: vk::PhysicalDevice,
    /// Its name.
    pub name: String,
    /// The kind of device.
    pub kind: vk::PhysicalDeviceType,
}

/// The instances that open devices share, without and with the validation layers, and the process that made
/// them.
static SHARED: Mutex<(u32, [Weak<VulkanInstance>; 2])> =
    Mutex::new((0, [const { Weak::new() }; 2]));

impl VulkanInstance {
    /// The instance of this process; with `watched`, one whose calls the validation layers check.
    ///
    /// # Errors
    /// - `Unavailable`: no Vulkan here, or an old version; the message says what to install.
    pub fn shared(watched: bool) -> Result<Arc<VulkanInstance>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let (process, instances) = &mut *shared;
        let here = std::process::id();
        if *process != here {
            (*process, *instances) = (here, Default::default());
        }
        let known = &mut instances[usize::from(watched)];
        if let Some(instance) = known.upgrade() {
            return Ok(instance);
        }
        let instance = Arc::new(VulkanInstance::new(watched)?);
        *known = Arc::downgrade(&instance);
        Ok(instance)
    }

    fn new(watched: bool) -> Result<VulkanInstance> {
        mesa_cache::keep_from_full_disk();
        // SAFETY: the loader is a library that may be initialised and unloaded at any time.
        let entry = unsafe { ash::Entry::load() }
            .map_err(|error| unavailable("there is no Vulkan loader").with("reason", error))?;
        // SAFETY: a plain query.
        let version = unsafe { entry.try_enumerate_instance_version() }.ok().flatten();
        if version.unwrap_or(vk::API_VERSION_1_0) < vk::API_VERSION_1_2 {
            return Err(unavailable("Vulkan's loader is older than 1.2"));
        }
        let application = vk::ApplicationInfo::default()
            .application_name(c"gpupy")
            .api_version(vk::API_VERSION_1_3);
        let layers: &[*const c_char] = if watched { &[validation::LAYER.as_ptr()] } else { &[] };
        let extensions: &[*const c_char] =
            if watched { &[ash::ext::debug_utils::NAME.as_ptr()] } else { &[] };
        let mut messages = validation::messages();
        let mut create = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_layer_names(layers)
            .enabled_extension_names(extensions);
        if watched {
            create = create.push_next(&mut messages);
        }
        // SAFETY: all pointers are valid until the call returns.
        let raw = unsafe { entry.create_instance(&create, None) }.map_err(|result| {
            unavailable("no instance can be made").with("vkCreateInstance", result)
        })?;
        let watch = watched.then(|| Watch::new(&entry, &raw)).transpose()?;
        Ok(VulkanInstance { raw, watch, _entry: entry })
    }

    /// The devices, best first: discrete ones, integrated, virtual, others, the CPU.
    ///
    /// # Errors
    /// - `Unavailable`: there is none.
    pub fn devices(&self) -> Result<Vec<FoundDevice>> {
        // SAFETY: a plain query.
        let handles = unsafe { self.raw.enumerate_physical_devices() }.map_err(|result| {
            unavailable("devices cannot be listed").with("vkEnumeratePhysicalDevices", result)
        })?;
        let mut devices: Vec<FoundDevice> = handles
            .into_iter()
            .filter_map(|handle| {
                // SAFETY: the handle was just given out.
                let properties = unsafe { self.raw.get_physical_device_properties(handle) };
                let name = properties.device_name_as_c_str().ok().map(CStr::to_string_lossy)?;
                (properties.api_version >= vk::API_VERSION_1_2).then(|| FoundDevice {
                    handle,
                    name: name.into_owned(),
                    kind: properties.device_type,
                })
            })
            .collect();
        devices.sort_by_key(|device| rank(device.kind));
        match devices.is_empty() {
            true => Err(unavailable("there is no device with Vulkan 1.2")),
            false => Ok(devices),
        }
    }
}

impl Drop for VulkanInstance {
    fn drop(&mut self) {
        self.watch = None;
        // SAFETY: devices hold the instance in an `Arc`, so none is left.
        unsafe { self.raw.destroy_instance(None) };
    }
}

fn rank(kind: vk::PhysicalDeviceType) -> u32 {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 4,
        _ => 3,
    }
}
