//! Buffers in sub-allocated device memory.
//!
//! Owns [`BufferAllocator`] and [`DeviceBuffer`]. Invariants: every buffer has an address and the alignment
//! that kernels need; buffers for the host stay mapped as long as they live.
//!
//! Not here: buffers over host memory (`imported_buffer.rs`), the buffers of blocks (`blocks.rs`), when a buffer
//! may be freed (`queue.rs`).

use crate::NAME;
use crate::vulkan::gpu::errors::failed;
use crate::vulkan::gpu::gpu_device::Gpu;
use ash::vk;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationError, AllocationSizes, MemoryLocation};
use gpupy_codegen::compute::ALIGNMENT;
use gpupy_core::driver::HostMemory;
use gpupy_core::{Error, ErrorKind, Result};
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes of the device allocations, the first and the largest: in device memory, and in host memory.
const PIECES: [(u64, u64); 2] = [(32 << 20, 256 << 20), (8 << 20, 64 << 20)];

/// The use of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A block: on the device, mapped where its memory is the host's.
    Block,
    /// Mapped, written by the host and read by the device.
    Upload,
    /// Mapped, written by the device and read by the host.
    Download,
}

/// A buffer.
#[derive(Debug)]
pub struct DeviceBuffer {
    /// Its handle.
    pub handle: vk::Buffer,
    /// Its address in kernels.
    pub address: u64,
    /// Its memory.
    pub(super) backing: Backing,
}

/// The memory behind a buffer.
#[derive(Debug)]
pub(super) enum Backing {
    /// A part of the device's memory that the host reaches slowly or not at all.
    Slow(Allocation),
    /// A part that the host reaches as fast as its own memory.
    Mapped(Allocation),
    /// Host memory (`imported_buffer.rs`).
    Imported(vk::DeviceMemory, HostMemory),
}

impl DeviceBuffer {
    /// The mapped bytes, where the host reaches them as fast as its own memory.
    pub fn mapped(&self) -> Option<NonNull<u8>> {
        match &self.backing {
            Backing::Slow(_) => None,
            Backing::Mapped(allocation) => allocation.mapped_ptr().map(NonNull::cast),
            Backing::Imported(_, memory) => NonNull::new(memory.as_ptr()),
        }
    }

    /// Whether its memory is the host's, which must be released at once.
    pub fn is_imported(&self) -> bool {
        matches!(self.backing, Backing::Imported(..))
    }
}

/// The device's memory.
pub struct BufferAllocator {
    // Dropped first, because it returns memory to the device.
    allocator: Allocator,
    pub(super) gpu: Arc<Gpu>,
}

impl BufferAllocator {
    /// The allocator of an open device.
    ///
    /// # Errors
    /// - `Unavailable`: the device does not report its memory.
    pub fn new(gpu: Arc<Gpu>) -> Result<BufferAllocator> {
        let [(device, device_most), (host, host_most)] = PIECES;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: gpu.instance.raw.clone(),
            device: gpu.raw.clone(),
            physical_device: gpu.handle,
            debug_settings: Default::default(),
            buffer_device_address: true,
            allocation_sizes: AllocationSizes::new(device, host)
                .with_max_device_memblock_size(device_most)
                .with_max_host_memblock_size(host_most),
        });
        let allocator = allocator.map_err(|error| {
            Error::new(ErrorKind::Unavailable, "init").with("driver", NAME).with("reason", error)
        })?;
        Ok(BufferAllocator { allocator, gpu })
    }

    /// A buffer of at least `bytes` bytes, with undefined contents.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no memory now.
    /// - `DeviceLost`: the device is gone.
    pub fn buffer(&mut self, bytes: u64, purpose: Purpose) -> Result<DeviceBuffer> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let size = bytes.max(1).next_multiple_of(ALIGNMENT as u64);
        let create = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is open.
        let handle = unsafe { self.gpu.raw.create_buffer(&create, None) }
            .map_err(|result| failed("block_alloc", "vkCreateBuffer", result))?;
        self.back(handle, purpose).inspect_err(|_| {
            // SAFETY: the buffer was just created and is used nowhere else.
            unsafe { self.gpu.raw.destroy_buffer(handle, None) };
        })
    }

    /// Binds memory to a new buffer.
    fn back(&mut self, handle: vk::Buffer, purpose: Purpose) -> Result<DeviceBuffer> {
        // SAFETY: the buffer is one of this device's.
        let mut requirements = unsafe { self.gpu.raw.get_buffer_memory_requirements(handle) };
        requirements.alignment = requirements.alignment.max(ALIGNMENT as u64);
        let location = match purpose {
            Purpose::Block if !self.gpu.traits.shared_memory => MemoryLocation::GpuOnly,
            Purpose::Block | Purpose::Download => MemoryLocation::GpuToCpu,
            Purpose::Upload => MemoryLocation::CpuToGpu,
        };
        let allocation = self.allocator.allocate(&AllocationCreateDesc {
            name: "",
            requirements,
            location,
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        });
        let allocation = allocation.map_err(|error| no_room(&error, requirements.size))?;
        // SAFETY: the memory is new, large enough and aligned, and was allocated with device addresses.
        let bound = unsafe {
            self.gpu.raw.bind_buffer_memory(handle, allocation.memory(), allocation.offset())
        };
        if let Err(result) = bound {
            // A failure to free the new allocation cannot be reported in addition.
            let _ = self.allocator.free(allocation);
            return Err(failed("block_alloc", "vkBindBufferMemory", result));
        }
        let info = vk::BufferDeviceAddressInfo::default().buffer(handle);
        // SAFETY: the buffer is bound, and was made for addresses.
        let address = unsafe { self.gpu.raw.get_buffer_device_address(&info) };
        let backing = match location {
            MemoryLocation::GpuOnly => Backing::Slow(allocation),
            _ => Backing::Mapped(allocation),
        };
        Ok(DeviceBuffer { handle, address, backing })
    }

    /// Frees a buffer that the device does not use any more.
    pub fn free(&mut self, buffer: DeviceBuffer) {
        // SAFETY: the caller owns the buffer and has waited for the device.
        unsafe { self.gpu.raw.destroy_buffer(buffer.handle, None) };
        match buffer.backing {
            // The allocation came from this allocator.
            Backing::Slow(part) | Backing::Mapped(part) => _ = self.allocator.free(part),
            // SAFETY: the device does not use the memory any more, and no other buffer lies in it.
            Backing::Imported(memory, _) => unsafe { self.gpu.raw.free_memory(memory, None) },
        }
    }
}

fn no_room(error: &AllocationError, bytes: u64) -> Error {
    Error::new(ErrorKind::OutOfMemory, "block_alloc")
        .with("driver", NAME)
        .with("bytes", bytes)
        .with("reason", error)
}
