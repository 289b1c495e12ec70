//! Transfers of elements between host memory and blocks.
//!
//! Owns the reads and writes of [`OpenDriver`]. A block that the host can reach is copied directly, once the
//! device has finished the commands that affect it. All other blocks go through a mapped staging buffer and a
//! copy in the queue. So does a small write into a block that the device still uses, because it then waits for
//! nothing. Invariant: commands that were queued before a write see the old contents.
//!
//! Not here: waiting (`queue.rs`), widths of elements (`gpupy_codegen::compute`).

use super::commands::blocks::Block;
use super::commands::buffer_allocator::{DeviceBuffer, Purpose};
use super::commands::queue::{Retired, Touch};
use super::open::OpenDriver;
use ash::vk;
use gpupy_codegen::compute::{narrow, widen};
use gpupy_core::driver::BlockId;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::ops::Range;
use std::ptr::NonNull;

/// The largest write, in bytes, that is queued while its block is in use.
const QUEUED_WRITE: usize = 1 << 20;

/// Bytes of the largest staging buffer.
const LARGEST_STAGE: usize = 16 << 20;

impl OpenDriver {
    /// Copies elements of a block to the host.
    ///
    /// # Errors
    /// - `OutOfMemory`: no memory for a staging buffer.
    /// - `DeviceLost`: the device is gone.
    pub fn read(&mut self, id: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let Block { spec, stored, touched, ref buffer, .. } = *self.blocks.get(id)?;
        if let Some(base) = buffer.mapped() {
            self.queue.wait(touched.changed)?;
            // SAFETY: the range lies inside the block, which is mapped, and the device has finished with it.
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
                // SAFETY: the buffer is mapped and as large as the chunk, and the device has finished.
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
    /// As for `read`.
    pub fn write(&mut self, id: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let Block { spec, stored, touched, ref buffer, .. } = *self.blocks.get(id)?;
        if let Some(base) = buffer.mapped() {
            let idle = self.queue.is_done(touched.used)?;
            if idle || data.len() > QUEUED_WRITE {
                self.queue.wait(touched.used)?;
                // SAFETY: the range lies inside the block, which is mapped, and the device has finished
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
                // SAFETY: the buffer is mapped, as large as the chunk, and was just created.
                unsafe { put(base, stored, spec.dtype, data) };
            }
            let copied = self.copy(id, Touch::Write, range, &stage);
            self.queue.retire(Retired::Buffer(stage));
            copied?;
        }
        self.queue.submit_if_worth_it()?;
        self.queue.collect(&mut self.memory)
    }

    /// A mapped staging buffer.
    fn stage(&mut self, bytes: usize, purpose: Purpose) -> Result<DeviceBuffer> {
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
        stage: &DeviceBuffer,
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
            // SAFETY: both ranges lie inside their buffers, which live until the device has finished.
            unsafe { device.cmd_copy_buffer(commands, from, to, &region) };
        })?;
        self.queue.note(&mut block.touched, touch);
        Ok(())
    }
}

/// # Safety
/// As many elements as `out` has lie at `base`, and nothing writes them meanwhile.
unsafe fn fetch(base: NonNull<u8>, stored: usize, dtype: DType, out: &mut [u8]) {
    let bytes = out.len() / dtype.size() * stored;
    // SAFETY: `base` has as many elements as `out`.
    let elements = unsafe { std::slice::from_raw_parts(base.as_ptr(), bytes) };
    match stored == dtype.size() {
        true => out.copy_from_slice(elements),
        false => narrow(dtype, elements, out),
    }
}

/// # Safety
/// There is room for as many elements as `data` has at `base`, and nothing else accesses it meanwhile.
unsafe fn put(base: NonNull<u8>, stored: usize, dtype: DType, data: &[u8]) {
    let bytes = data.len() / dtype.size() * stored;
    // SAFETY: `base` has room for as many elements as `data` has.
    let elements = unsafe { std::slice::from_raw_parts_mut(base.as_ptr(), bytes) };
    match stored == dtype.size() {
        true => elements.copy_from_slice(data),
        false => widen(dtype, data, elements),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::vulkan::gpu::gpu_device::Gpu;
    use crate::vulkan::gpu::instance::VulkanInstance;
    use gpupy_core::driver::{Access, BlockSpec, Config, Dest, Launch};
    use gpupy_core::ir::{AccessKind, Builder, Form};

    /// A device that is used as if it did not share memory and had no narrow elements; `None` (with the reason
    /// printed) where there is no device.
    fn open_apart() -> Option<OpenDriver> {
        let opened = VulkanInstance::shared(false).and_then(|instance| {
            let devices = instance.devices()?;
            let mut gpu = Gpu::open(instance, &devices, &Config::default())?;
            gpu.traits.shared_memory = false;
            gpu.traits.kernels.bytes = false;
            gpu.traits.kernels.halves = false;
            OpenDriver::new(gpu, u64::MAX, 1 << 28)
        });
        opened.inspect_err(|error| gpupy_conformance::skipped(error)).ok()
    }

    #[test]
    fn elements_come_back_from_memory_that_the_host_cannot_reach() {
        let Some(mut open) = open_apart() else { return };
        // More than one staging buffer holds.
        let len = LARGEST_STAGE / 4 + 1000;
        let data: Vec<u8> = (0..len as u32).flat_map(u32::to_ne_bytes).collect();
        let block = open.alloc(BlockSpec::new(DType::U32, len)).unwrap();
        assert!(open.blocks.get(block).unwrap().buffer.mapped().is_none());
        open.write(block, 0, &data).unwrap();
        open.write(block, 7, &[255; 8]).unwrap();
        let mut out = vec![0; data.len()];
        open.read(block, 0, &mut out).unwrap();
        assert_eq!(out[28..36], [255; 8]);
        assert!(out[..28] == data[..28] && out[36..] == data[36..]);
        open.read(block, len - 2, &mut out[..8]).unwrap();
        assert_eq!(out[..8], data[data.len() - 8..]);
    }

    #[test]
    fn narrow_elements_are_computed_with_where_the_device_has_none() {
        let Some(mut open) = open_apart() else { return };
        let dtypes = open.gpu.traits.kernels.dtypes();
        for dtype in dtypes {
            let mut b = Builder::new(Form::Map, 1);
            let (all, x) = (b.access(AccessKind::Contiguous), b.operand(dtype));
            let x = b.load(x, all);
            b.store(x);
            let program = b.finish();
            let data: Vec<u8> = match dtype {
                DType::Bool => (0..100).map(|k| k % 2).collect(),
                _ => (0..100 * dtype.size()).map(|k| (k * 37 % 61 + 128 * (k % 2)) as u8).collect(),
            };
            let spec = BlockSpec::new(dtype, 100);
            let (operand, block) = (open.alloc(spec).unwrap(), open.alloc(spec).unwrap());
            open.write(operand, 0, &data).unwrap();
            let walk = Access { offset: 0, strides: [1].as_slice().into() };
            open.eval(&Launch {
                program: &program,
                fingerprint: program.fingerprint(),
                shape: &[100],
                operands: &[operand],
                params: &[],
                accesses: std::slice::from_ref(&walk),
                dests: &[Dest { block, access: walk.clone(), whole: true }],
                memory: &[],
                lend: None,
                rest: None,
            })
            .unwrap();
            let mut out = vec![0; data.len()];
            open.read(block, 0, &mut out).unwrap();
            assert_eq!(out, data, "{dtype}");
        }
    }
}
