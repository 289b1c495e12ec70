//! Transfers of elements between host memory and blocks.
//!
//! Owns [`write()`] and [`read()`]. Where host and device share memory, blocks are mapped; elsewhere bytes go
//! through staging buffers, of wgpu (uploads) or of this driver (downloads). Elements that kernels hold in 32
//! bits and hosts in fewer are converted on the way. Invariant: commands that were queued before a transfer see
//! the old contents, later ones the new.
//!
//! Not here: the check of ranges (`driver.rs`).

use crate::blocks::Block;
use crate::gpu_device::Gpu;
use crate::queue::{Queue, wait};
use gpupy_codegen::compute;
use gpupy_core::{Error, ErrorKind, Result};
use std::ops::Range;

/// Mapped ranges start at multiples of so many bytes.
const MAP_ALIGNMENT: u64 = wgpu::MAP_ALIGNMENT;
/// Bytes of the staging buffer of reads.
const STAGING: u64 = 16 << 20;
/// Elements that are converted at once.
const CHUNK: usize = 1024;

/// Copies elements into a block from element `offset` on.
///
/// # Errors
/// - `OutOfMemory`: no memory for staging; the block is unchanged.
/// - `DeviceLost`: the device is gone.
pub fn write(
    gpu: &Gpu,
    queue: &mut Queue,
    block: &mut Block,
    offset: usize,
    data: &[u8],
) -> Result<()> {
    let bytes = range(block, offset, data.len());
    let mappable = block.buffer.usage().contains(wgpu::BufferUsages::MAP_WRITE);
    if mappable && (block.batch == 0 || queue.is_done(gpu, block.batch)?) {
        return map_and_write(gpu, block, bytes, data);
    }
    if block.batch == queue.batch() {
        queue.submit(gpu)?;
    }
    let size = wgpu::BufferSize::new(bytes.end - bytes.start);
    let Some(size) = size else { return Ok(()) };
    let staging = gpu.queue.write_buffer_with(&block.buffer, bytes.start, size);
    gpu.faults.check("block_write")?;
    let mut staging = staging.ok_or_else(|| broken("wgpu gives no room for a write"))?;
    widen(block, data, &mut |at, part| staging.slice(at..at + part.len()).copy_from_slice(part));
    drop(staging);
    // wgpu performs the copy with the next submission.
    block.batch = queue.batch();
    queue.note_write(gpu, size.get())
}

fn map_and_write(gpu: &Gpu, block: &Block, bytes: Range<u64>, data: &[u8]) -> Result<()> {
    let start = bytes.start / MAP_ALIGNMENT * MAP_ALIGNMENT;
    let skipped = (bytes.start - start) as usize;
    map(gpu, &block.buffer, wgpu::MapMode::Write, start..bytes.end)?;
    let view = block.buffer.get_mapped_range_mut(start..bytes.end);
    let written = view.map(|mut view| {
        widen(block, data, &mut |at, part| {
            view.slice(skipped + at..skipped + at + part.len()).copy_from_slice(part);
        });
    });
    block.buffer.unmap();
    written.map_err(|error| broken(&error.to_string()))?;
    gpu.faults.check("block_write")
}

/// Copies elements of a block to host memory, from element `offset` on.
///
/// # Errors
/// - `OutOfMemory`: no memory for staging.
/// - `DeviceLost`: the device is gone.
pub fn read(
    gpu: &Gpu,
    queue: &mut Queue,
    block: &Block,
    offset: usize,
    out: &mut [u8],
) -> Result<()> {
    if out.is_empty() {
        return queue.finish(gpu);
    }
    let bytes = range(block, offset, out.len());
    if block.buffer.usage().contains(wgpu::BufferUsages::MAP_READ) {
        queue.submit(gpu)?;
        return map_and_read(gpu, block, &block.buffer, bytes, out);
    }
    let staging = queue.staging(gpu, STAGING.min(block.buffer.size()))?.clone();
    let (mut start, mut rest) = (bytes.start, out);
    let per_element = (block.stored / block.spec.dtype.size()) as u64;
    while start < bytes.end {
        let size = (bytes.end - start).min(staging.size() / MAP_ALIGNMENT * MAP_ALIGNMENT);
        queue.copy(gpu, (&block.buffer, start), (&staging, 0), size)?;
        let (part, after) = rest.split_at_mut((size / per_element) as usize);
        map_and_read(gpu, block, &staging, 0..size, part)?;
        (start, rest) = (start + size, after);
    }
    Ok(())
}

fn map_and_read(
    gpu: &Gpu,
    block: &Block,
    buffer: &wgpu::Buffer,
    bytes: Range<u64>,
    out: &mut [u8],
) -> Result<()> {
    let start = bytes.start / MAP_ALIGNMENT * MAP_ALIGNMENT;
    map(gpu, buffer, wgpu::MapMode::Read, start..bytes.end)?;
    let view = buffer.get_mapped_range(start..bytes.end);
    let taken = view.map(|view| narrow(block, &view[(bytes.start - start) as usize..], out));
    buffer.unmap();
    taken.map_err(|error| broken(&error.to_string()))?;
    gpu.faults.check("block_read")
}

/// Maps part of a buffer, after the device has finished its work with it.
fn map(gpu: &Gpu, buffer: &wgpu::Buffer, mode: wgpu::MapMode, bytes: Range<u64>) -> Result<()> {
    // A failure to map is reported by the faults, and by the request for the mapped range.
    buffer.map_async(mode, bytes, |_| {});
    wait(gpu)
}

/// The range of bytes of elements in a block, given their bytes on the host.
fn range(block: &Block, offset: usize, host_bytes: usize) -> Range<u64> {
    let start = (offset * block.stored) as u64;
    let elements = host_bytes / block.spec.dtype.size();
    start..start + (elements * block.stored) as u64
}

/// Passes the bytes of elements as the block stores them to `put`, part by part with its offset.
fn widen(block: &Block, data: &[u8], put: &mut dyn FnMut(usize, &[u8])) {
    let size = block.spec.dtype.size();
    if size == block.stored {
        return put(0, data);
    }
    let mut words = [0; 4 * CHUNK];
    for (number, part) in data.chunks(CHUNK * size).enumerate() {
        let words = &mut words[..part.len() / size * 4];
        compute::widen(block.spec.dtype, part, words);
        put(number * CHUNK * 4, words);
    }
}

/// Copies elements from the bytes that a block stores.
fn narrow(block: &Block, bytes: &[u8], out: &mut [u8]) {
    match block.spec.dtype.size() == block.stored {
        true => out.copy_from_slice(&bytes[..out.len()]),
        false => compute::narrow(block.spec.dtype, bytes, out),
    }
}

/// An error of this driver itself.
fn broken(what: &str) -> Error {
    Error::new(ErrorKind::Invalid, "wgpu").says(what).with("driver", crate::NAME)
}
