//! Buffers over host memory, which the device reads in place.
//!
//! Owns the import of the [`BufferAllocator`]. Invariants: only devices that share the host's memory import; an
//! imported buffer is freed only after the device has finished with it, because the host may change the memory
//! then.
//!
//! Not here: whether a device imports (`gpu/external.rs`), buffers in the device's own memory
//! (`buffer_allocator.rs`), which values are imported (the engine).

use super::buffer_allocator::{Backing, BufferAllocator, DeviceBuffer};
use crate::NAME;
use crate::vulkan::gpu::errors::failed;
use crate::vulkan::gpu::external::{Import, KIND, USAGE};
use ash::vk;
use gpupy_core::driver::HostMemory;
use gpupy_core::{Error, ErrorKind, Result};

impl BufferAllocator {
    /// A buffer over `bytes` of host memory, which is aligned and readable up to the next multiple of the
    /// alignment.
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
        // SAFETY: the contract guarantees that the memory is readable up to `size`; the buffer is this device's
        // and not bound.
        let backed = unsafe { back(&gpu.raw, import, handle, memory, size) };
        let imported = backed.inspect_err(|_| {
            // SAFETY: the buffer was just created and is used nowhere else.
            unsafe { gpu.raw.destroy_buffer(handle, None) };
        })?;
        let info = vk::BufferDeviceAddressInfo::default().buffer(handle);
        // SAFETY: the buffer is bound, and was made for addresses.
        let address = unsafe { gpu.raw.get_buffer_device_address(&info) };
        Ok(DeviceBuffer { handle, address, backing: Backing::Imported(imported, memory) })
    }
}

/// Imports memory and binds it to a buffer of `size` bytes.
///
/// # Safety
/// The buffer is the device's, and not bound; the host memory has `size` bytes.
unsafe fn back(
    device: &ash::Device,
    import: &Import,
    handle: vk::Buffer,
    memory: HostMemory,
    size: u64,
) -> Result<vk::DeviceMemory> {
    let start = memory.as_ptr().cast();
    let mut known = vk::MemoryHostPointerPropertiesEXT::default();
    // SAFETY: the buffer is the device's; `start` points to host memory.
    let needs = unsafe {
        let ask = import.functions.fp().get_memory_host_pointer_properties_ext;
        ask(device.handle(), KIND, start, &mut known).result().map_err(declined)?;
        device.get_buffer_memory_requirements(handle)
    };
    // The device must see writes of the host without a flush.
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
    // SAFETY: the host memory has `size` bytes, and the buffer is not bound; memory that cannot be bound is freed.
    unsafe {
        let imported = device.allocate_memory(&allocate, None).map_err(declined)?;
        device.bind_buffer_memory(handle, imported, 0).map_err(|result| {
            device.free_memory(imported, None);
            declined(result)
        })?;
        Ok(imported)
    }
}

/// The error of an import. Except for a lost device, the engine can copy the memory instead.
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
