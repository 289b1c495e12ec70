//! Kernel arguments (offsets, strides, scalars) that are too long for push constants.
//!
//! Owns [`ArgumentBuffer`]: a mapped buffer that is filled from its start to its end, then retired and
//! replaced; the arguments of commands that are kept stay. Invariant: the arguments of a launch are not overwritten
//! while the device may read them.
//!
//! Not here: the arguments themselves (`compute::PlannedDispatch`).

use super::buffer_allocator::{BufferAllocator, DeviceBuffer, Purpose};
use super::queue::{Queue, Retired};
use ash::vk;
use gpupy_core::{Error, ErrorKind, Result};

/// Bytes of a buffer; the arguments of one launch take a few hundred. And of one for commands that are kept.
const BYTES: [usize; 2] = [1 << 18, 1 << 14];

/// Every device can bind offsets that are multiples of this.
const ALIGNMENT: usize = 256;

/// The place of a launch's arguments.
#[derive(Clone, Copy, Debug)]
pub struct ArgumentPlace {
    /// The buffer.
    pub handle: vk::Buffer,
    /// Bytes from its start.
    pub offset: u64,
    /// Their address in kernels.
    pub address: u64,
}

/// The buffer for the next launch's arguments.
#[derive(Debug, Default)]
pub struct ArgumentBuffer {
    buffer: Option<DeviceBuffer>,
    length: usize,
    used: usize,
    /// Whether its commands are kept, and the buffers that are full.
    is_kept: bool,
    full: Vec<DeviceBuffer>,
}

impl ArgumentBuffer {
    /// One for commands that are kept.
    pub fn kept() -> ArgumentBuffer {
        ArgumentBuffer { is_kept: true, ..ArgumentBuffer::default() }
    }

    /// All of its buffers.
    pub fn into_buffers(self) -> impl Iterator<Item = DeviceBuffer> {
        self.full.into_iter().chain(self.buffer)
    }

    /// Copies bytes to the buffer, and returns their place.
    ///
    /// # Errors
    /// - `OutOfMemory`: no memory for another buffer.
    pub fn put(
        &mut self,
        bytes: &[u8],
        queue: &mut Queue,
        memory: &mut BufferAllocator,
    ) -> Result<ArgumentPlace> {
        if self.buffer.is_none() || self.used + bytes.len() > self.length {
            let length = BYTES[usize::from(self.is_kept)].max(bytes.len());
            let fresh = memory.buffer(length as u64, Purpose::Upload)?;
            match self.buffer.replace(fresh) {
                Some(full) if self.is_kept => self.full.push(full),
                Some(full) => queue.retire(Retired::Buffer(full)),
                None => {}
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
        // SAFETY: the buffer is mapped and has room, and no launch reads it from `used` on.
        unsafe { base.add(at).as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.used = (at + bytes.len()).next_multiple_of(ALIGNMENT);
        let offset = at as u64;
        Ok(ArgumentPlace { handle, offset, address: address + offset })
    }

    /// Frees the buffer, after the device has finished.
    pub fn close(&mut self, memory: &mut BufferAllocator) {
        if let Some(buffer) = self.buffer.take() {
            memory.free(buffer);
        }
    }
}
