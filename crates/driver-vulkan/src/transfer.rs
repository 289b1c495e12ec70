//! Elements between host memory and blocks.
//!
//! Owns the reads and writes of [`Open`]. A block that the host can reach is copied to and from once
//! the device is done with what concerns it; all others go through a mapped buffer and a copy in the
//! queue, and so does a small write into a block that the device still works on, which then waits for
//! nothing. Invariant: what was queued before a write sees the old contents.
//!
//! Not here: waiting (`queue.rs`), widths of elements (`stored.rs`).

use crate::blocks::Block;
use crate::memory::{Buffer, Purpose};
use crate::open::Open;
use crate::queue::{Retired, Touch};
use crate::stored::{narrow, widen};
use ash::vk;
use gpupy_core::driver::BlockId;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::ops::Range;
use std::ptr::NonNull;

/// Bytes up to which a write into a block that is in use is queued.
const QUEUED_WRITE: usize = 1 << 20;

/// Bytes of the largest buffer that a transfer goes through.
const LARGEST_STAGE: usize = 64 << 20;

impl Open {
    /// Copies elements of a block to the host.
    ///
    /// # Errors
    /// - `OutOfMemory`: no room for a buffer to go through.
    /// - `DeviceLost`: the device is gone.
    pub fn read(&mut self, id: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let Block { spec, stored, touched, ref buffer, .. } = *self.blocks.get(id)?;
        if let Some(base) = buffer.mapped() {
            self.queue.wait(touched.changed)?;
            // SAFETY: the range lies inside the block, which is mapped, and the device is done with it.
            unsafe { fetch(base.add(offset * stored), stored, spec.dtype, out) };
            return self.queue.collect(&mut self.memory);
        }
        if out.is_empty() {
            return self.queue.wait(touched.changed);
        }
        let size = spec.dtype.size();
        let mut at = offset;
        for out in out.chunks_mut(LARGEST_STAGE / stored * size) {
            let range = at * stored..(at + out.len() / size) * stored;
            at += out.len() / size;
            let stage = self.stage(range.len(), Purpose::Download)?;
            let copied = self.copy(id, Touch::Read, range, &stage);
            let waited = copied.and_then(|()| self.queue.wait_for_all());
            if let (Ok(()), Some(base)) = (&waited, stage.mapped()) {
                // SAFETY: the buffer is mapped and as large as the chunk, and the device is done.
                unsafe { fetch(base, stored, spec.dtype, out) };
            }
            self.queue.retire(Retired::Buffer(stage));
            waited?;
        }
        self.queue.collect(&mut self.memory)
    }

    /// Copies elements of the host into a block.
    ///
    /// # Errors
    /// As `read`.
    pub fn write(&mut self, id: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let Block { spec, stored, touched, ref buffer, .. } = *self.blocks.get(id)?;
        if let Some(base) = buffer.mapped() {
            let idle = self.queue.is_done(touched.used)?;
            if idle || data.len() > QUEUED_WRITE {
                self.queue.wait(touched.used)?;
                // SAFETY: the range lies inside the block, which is mapped, and the device is done
                // with it.
                unsafe { put(base.add(offset * stored), stored, spec.dtype, data) };
                return Ok(());
            }
        }
        let size = spec.dtype.size();
        let mut at = offset;
        for data in data.chunks(LARGEST_STAGE / stored * size) {
            let range = at * stored..(at + data.len() / size) * stored;
            at += data.len() / size;
            let stage = self.stage(range.len(), Purpose::Upload)?;
            if let Some(base) = stage.mapped() {
                // SAFETY: the buffer is mapped, as large as the chunk, and nobody else's.
                unsafe { put(base, stored, spec.dtype, data) };
            }
            let copied = self.copy(id, Touch::Write, range, &stage);
            self.queue.retire(Retired::Buffer(stage));
            copied?;
        }
        self.queue.submit_if_worth_it()?;
        self.queue.collect(&mut self.memory)
    }

    /// A mapped buffer to go through.
    fn stage(&mut self, bytes: usize, purpose: Purpose) -> Result<Buffer> {
        self.buffer(bytes as u64, purpose).and_then(|buffer| match buffer.mapped() {
            Some(_) => Ok(buffer),
            None => {
                self.memory.free(buffer);
                Err(Error::new(ErrorKind::OutOfMemory, "block_write")
                    .says("no memory is mapped")
                    .with("driver", crate::NAME))
            }
        })
    }

    /// Records a copy of bytes of a block from or to a buffer.
    fn copy(
        &mut self,
        id: BlockId,
        touch: Touch,
        bytes: Range<usize>,
        stage: &Buffer,
    ) -> Result<()> {
        let block = self.blocks.get_mut(id)?;
        let (first, size) = (bytes.start as u64, bytes.len() as u64);
        let (from, to, region) = match touch {
            Touch::Read => {
                let region = vk::BufferCopy::default().src_offset(first).size(size);
                (block.buffer.handle, stage.handle, [region])
            }
            Touch::Write => {
                let region = vk::BufferCopy::default().dst_offset(first).size(size);
                (stage.handle, block.buffer.handle, [region])
            }
        };
        let hazard = self.queue.is_hazard(block.touched, touch);
        self.queue.record(hazard, size, |device, commands| {
            // SAFETY: both ranges lie inside their buffers, which live until the device is done.
            unsafe { device.cmd_copy_buffer(commands, from, to, &region) };
        })?;
        self.queue.note(&mut block.touched, touch);
        Ok(())
    }
}

/// # Safety
/// As many elements as `out` has lie at `base`, and nobody writes them.
unsafe fn fetch(base: NonNull<u8>, stored: usize, dtype: DType, out: &mut [u8]) {
    let bytes = out.len() / dtype.size() * stored;
    // SAFETY: promised by the caller.
    let elements = unsafe { std::slice::from_raw_parts(base.as_ptr(), bytes) };
    match stored == dtype.size() {
        true => out.copy_from_slice(elements),
        false => narrow(dtype, elements, out),
    }
}

/// # Safety
/// There is room for as many elements as `data` has at `base`, and nobody else uses it.
unsafe fn put(base: NonNull<u8>, stored: usize, dtype: DType, data: &[u8]) {
    let bytes = data.len() / dtype.size() * stored;
    // SAFETY: promised by the caller.
    let elements = unsafe { std::slice::from_raw_parts_mut(base.as_ptr(), bytes) };
    match stored == dtype.size() {
        true => elements.copy_from_slice(data),
        false => widen(dtype, data, elements),
    }
}
