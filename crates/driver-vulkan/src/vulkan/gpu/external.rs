//! Whether a device reads host memory in place.
//!
//! Owns [`Import`] and [`alignment`]. Invariant: the query and the import use the same handle type and buffer
//! usage.
//!
//! Not here: buffers over such memory (`commands/imported_buffer.rs`).

use ash::ext::external_memory_host;
use ash::vk;

/// The handle type of a process's memory.
pub const KIND: vk::ExternalMemoryHandleTypeFlags =
    vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// The usage of imported buffers: kernels read them, and copies.
pub const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// The import of host memory.
pub struct Import {
    /// The functions of the extension.
    pub functions: external_memory_host::Device,
    /// The memory types of the device.
    pub kinds: vk::PhysicalDeviceMemoryProperties,
    /// The alignment of imported memory, in bytes.
    pub alignment: usize,
}

impl Import {
    /// The import of a device that was opened with the extension, and has this [`alignment`].
    pub fn new(
        instance: &ash::Instance,
        handle: vk::PhysicalDevice,
        device: &ash::Device,
        alignment: usize,
    ) -> Import {
        // SAFETY: a plain query on a handle of the instance.
        let kinds = unsafe { instance.get_physical_device_memory_properties(handle) };
        Import { functions: external_memory_host::Device::new(instance, device), kinds, alignment }
    }
}

/// The alignment of imported memory in bytes; `None` if the device imports none.
pub fn alignment(instance: &ash::Instance, device: vk::PhysicalDevice) -> Option<usize> {
    let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut host);
    let asked = vk::PhysicalDeviceExternalBufferInfo::default().usage(USAGE).handle_type(KIND);
    let mut buffers = vk::ExternalBufferProperties::default();
    // SAFETY: plain queries; the chain's struct is filled by a device that has the extension, and passed
    // over by others.
    let offered = unsafe {
        instance.get_physical_device_properties2(device, &mut properties);
        instance.get_physical_device_external_buffer_properties(device, &asked, &mut buffers);
        instance.enumerate_device_extension_properties(device)
    };
    let named = |extension: &vk::ExtensionProperties| {
        extension.extension_name_as_c_str() == Ok(external_memory_host::NAME)
    };
    let features = buffers.external_memory_properties.external_memory_features;
    let can = features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE)
        && !features.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY)
        && offered.ok()?.iter().any(named);
    let alignment = usize::try_from(host.min_imported_host_pointer_alignment).ok()?;
    (can && alignment.is_power_of_two()).then_some(alignment)
}
