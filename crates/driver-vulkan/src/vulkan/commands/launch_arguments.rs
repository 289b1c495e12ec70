//! Numbers of launches that are too many to be pushed.
//!
//! Owns [`ArgumentBuffer`]: a mapped buffer that is filled from its start to its end, then retired for a new
//! one. Invariant: what a launch was given nobody overwrites while the device may read it.
//!
//! Not here: what the numbers are (`compute::Planned`).

use super::buffer_allocator::{BufferAllocator, DeviceBuffer, Purpose};
use super::queue::{Queue, Retired};
use ash::vk;
use gpupy_core::{Error, ErrorKind, Result};

/// Bytes of a buffer; those of one launch are a few hundred.
const BYTES: usize = 1 << 18;

/// Every device binds what lies at multiples of so many bytes.
const ALIGNMENT: usize = 256;

/// Where a launch's numbers are.
#[derive(Clone, Copy, Debug)]
pub struct ArgumentPlace {
    /// The buffer.
    pub handle: vk::Buffer,
    /// Bytes from its start.
    pub offset: u64,
    /// Where kernels find them by address.
    pub address: u64,
}

/// Where the next launch's numbers go.
#[derive(Debug, Default)]
pub struct ArgumentBuffer {
    buffer: Option<DeviceBuffer>,
    length: usize,
    used: usize,
}

impl ArgumentBuffer {
    /// Puts bytes where the device finds them, at the place that is given back.
    ///
    /// # Errors
    /// - `OutOfMemory`: no room for another buffer.
    pub fn put(
        &mut self,
        bytes: &[u8],
        queue: &mut Queue,
        memory: &mut BufferAllocator,
    ) -> Result<ArgumentPlace> {
        if self.buffer.is_none() || self.used + bytes.len() > self.length {
            let length = BYTES.max(bytes.len());
            let fresh = memory.buffer(length as u64, Purpose::Upload)?;
            if let Some(full) = self.buffer.replace(fresh) {
                queue.retire(Retired::Buffer(full));
            }
            (self.length, self.used) = (length, 0);
        }
        let mapped = self.buffer.as_ref().and_then(|b| Some((b.handle, b.address, b.mapped()?)));
        let Some((handle, address, base)) = mapped else {
            return Err(Error::new(ErrorKind::OutOfMemory, "eval_ir")
                .says("no memory is mapped")
                .with("driver", crate::NAME));
        };
        let at = self.used;
        // SAFETY: the buffer is mapped, and the device was given nothing of it from `used` on.
        unsafe { base.add(at).as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.used = (at + bytes.len()).next_multiple_of(ALIGNMENT);
        let offset = at as u64;
        Ok(ArgumentPlace { handle, offset, address: address + offset })
    }

    /// Gives the buffer back, once the device is done.
    pub fn close(&mut self, memory: &mut BufferAllocator) {
        if let Some(buffer) = self.buffer.take() {
            memory.free(buffer);
        }
    }
}
