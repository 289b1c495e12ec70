//! Buffers over host memory of the core, which the device reads where it lies.
//!
//! Owns how [`BufferAllocator`] imports. Invariants: only devices whose memory is the host's import; whoever
//! frees an imported buffer has waited for the device, as the host's memory is its owner's again then.
//!
//! Not here: whether a device imports (`gpu/external.rs`), buffers in memory of the device's own (`buffer_allocator.rs`), which values
//! are imported (the engine).

use super::buffer_allocator::{Backing, BufferAllocator, DeviceBuffer};
use crate::NAME;
use crate::vulkan::gpu::errors::failed;
use crate::vulkan::gpu::external::{Import, KIND, USAGE};
use ash::vk;
use gpupy_core::driver::HostMemory;
use gpupy_core::{Error, ErrorKind, Result};

impl BufferAllocator {
    /// A buffer over `bytes` of host memory, which is aligned, and the caller's up to the next multiple.
    ///
    /// # Errors
    /// - `Unsupported`: the device does not import it.
    /// - `DeviceLost`: the device is gone.
    pub fn import(&mut self, memory: HostMemory, bytes: u64) -> Result<DeviceBuffer> {
        let gpu = self.gpu.clone();
        let Some(import) = &gpu.import else {
            return Err(not_imported("the device imports no memory"));
        };
        let size = bytes.next_multiple_of(import.alignment as u64);
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(KIND);
        let create =
            vk::BufferCreateInfo::default().size(size).usage(USAGE).push_next(&mut external);
        // SAFETY: the device is open, and has the extension.
        let handle = unsafe { gpu.raw.create_buffer(&create, None) }.map_err(declined)?;
        // SAFETY: as promised by the caller; the buffer is this device's.
        let backed = unsafe { back(&gpu.raw, import, handle, memory, size) };
        let imported = backed.inspect_err(|_| {
            // SAFETY: nobody else knows the buffer.
            unsafe { gpu.raw.destroy_buffer(handle, None) };
        })?;
        let info = vk::BufferDeviceAddressInfo::default().buffer(handle);
        // SAFETY: the buffer is bound, and was made for addresses.
        let address = unsafe { gpu.raw.get_buffer_device_address(&info) };
        Ok(DeviceBuffer { handle, address, backing: Backing::Imported(imported, memory) })
    }
}

/// Imports memory and puts it behind a buffer of so many bytes.
///
/// # Safety
/// The buffer is the device's, and not bound; the host has so many bytes there.
unsafe fn back(
    device: &ash::Device,
    import: &Import,
    handle: vk::Buffer,
    memory: HostMemory,
    size: u64,
) -> Result<vk::DeviceMemory> {
    let start = memory.as_ptr().cast();
    let mut known = vk::MemoryHostPointerPropertiesEXT::default();
    // SAFETY: promised by the caller.
    let needs = unsafe {
        let ask = import.functions.fp().get_memory_host_pointer_properties_ext;
        ask(device.handle(), KIND, start, &mut known).result().map_err(declined)?;
        device.get_buffer_memory_requirements(handle)
    };
    // What the host has written the device finds without being told.
    let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let allowed = needs.memory_type_bits & known.memory_type_bits;
    let kind = import
        .kinds
        .memory_types_as_slice()
        .iter()
        .enumerate()
        .position(|(n, kind)| allowed & 1 << n != 0 && kind.property_flags.contains(wanted));
    let Some(kind) = kind.filter(|_| needs.size <= size) else {
        return Err(not_imported("no kind of memory fits"));
    };
    let mut source =
        vk::ImportMemoryHostPointerInfoEXT::default().handle_type(KIND).host_pointer(start);
    let mut flags =
        vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
    let allocate = vk::MemoryAllocateInfo::default()
        .allocation_size(size)
        .memory_type_index(kind as u32)
        .push_next(&mut source)
        .push_next(&mut flags);
    // SAFETY: promised by the caller; what is made here is given back where it cannot be bound.
    unsafe {
        let imported = device.allocate_memory(&allocate, None).map_err(declined)?;
        device.bind_buffer_memory(handle, imported, 0).map_err(|result| {
            device.free_memory(imported, None);
            declined(result)
        })?;
        Ok(imported)
    }
}

/// The error of an import; whatever the device lacks, a copy may do.
fn declined(result: vk::Result) -> Error {
    match result {
        vk::Result::ERROR_DEVICE_LOST => failed("block_alloc", "import", result),
        other => not_imported(&other.to_string()),
    }
}

/// The error of memory that is not imported.
pub fn not_imported(why: &str) -> Error {
    Error::new(ErrorKind::Unsupported, "block_alloc")
        .says("host memory cannot be imported")
        .with("driver", NAME)
        .with("reason", why)
}
