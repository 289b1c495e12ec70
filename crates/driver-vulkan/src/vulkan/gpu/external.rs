//! Whether a device reads host memory where it lies.
//!
//! Owns [`Import`] and [`alignment`]. Invariant: a device is asked for what is then imported: memory of this kind, for
//! this use.
//!
//! Not here: buffers over such memory (`commands/host_import.rs`).

use ash::ext::external_memory_host;
use ash::vk;

/// How the memory of a process is named.
pub const KIND: vk::ExternalMemoryHandleTypeFlags =
    vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// What imported buffers are for: kernels read them, and copies.
pub const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// What imports host memory.
pub struct Import {
    /// The functions of the extension.
    pub functions: external_memory_host::Device,
    /// The kinds of the device's memory.
    pub kinds: vk::PhysicalDeviceMemoryProperties,
    /// Bytes to whose multiples memory must be aligned.
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

/// Bytes to whose multiples memory must be aligned for a device to import it; `None` where it imports none.
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
