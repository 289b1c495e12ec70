//! The queue: dispatches are recorded and submitted in batches.
//!
//! Owns [`Queue`]. Dispatches are recorded into one compute pass, between which wgpu puts barriers, and
//! submitted together as a *batch*. The kernel arguments of a batch are written to one buffer at once; wgpu
//! orders the write before the batch and after earlier batches. Invariants: commands run in the order of
//! recording; commands are submitted before the host reads or writes their blocks.
//!
//! Not here: the choice of the kernel (`eval.rs`), transfers between host and device (`block_transfer.rs`).

use crate::gpu_device::Gpu;
use crate::kernel_compiler::Kernel;
use gpupy_core::{Error, ErrorKind, Result};

/// The most dispatches in a batch.
const MOST_WAITING: usize = 64;
/// A batch that computes this many elements keeps the device busy longer than its submission takes.
const WORTH_SUBMITTING: usize = 1 << 18;
/// Bytes of writes that are submitted by themselves.
const MOST_WRITTEN: u64 = 1 << 20;
/// Bytes for the kernel arguments of a batch.
const NUMBERS: u64 = 1 << 16;

/// The number of a batch; later batches have higher numbers.
pub type Batch = u64;

/// The queue's host side.
pub struct Queue {
    open: Option<OpenPass>,
    /// The kernel arguments of the open batch.
    numbers: Vec<u8>,
    buffer: wgpu::Buffer,
    dispatches: usize,
    elements: usize,
    /// The batch that is being recorded.
    batch: Batch,
    /// All batches before this one are known to be finished.
    done: Batch,
    /// Bytes of writes that wgpu holds until the next submission.
    written: u64,
    /// The staging buffer of reads where blocks are not mapped.
    staging: Option<wgpu::Buffer>,
}

/// The open pass. It ends before its encoder does.
struct OpenPass {
    pass: wgpu::ComputePass<'static>,
    encoder: wgpu::CommandEncoder,
}

/// One dispatch.
pub struct Dispatch<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The buffers of operands and destinations, in the order of the kernel's bindings.
    pub buffers: &'a [&'a wgpu::Buffer],
    /// The kernel arguments.
    pub words: &'a [u32],
    /// Work groups along x, y and z.
    pub groups: [u32; 3],
    /// Points that it computes.
    pub elements: usize,
}

impl Queue {
    /// An empty queue.
    ///
    /// # Errors
    /// - `OutOfMemory`: no memory for kernel arguments.
    pub fn new(gpu: &Gpu) -> Result<Queue> {
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: NUMBERS,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        gpu.faults.check("init")?;
        Ok(Queue {
            open: None,
            numbers: Vec::new(),
            buffer,
            dispatches: 0,
            elements: 0,
            batch: 1,
            done: 0,
            written: 0,
            staging: None,
        })
    }

    /// The batch that is being recorded.
    pub fn batch(&self) -> Batch {
        self.batch
    }

    /// Submits the batch if it has no room for the arguments of a launch.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is gone.
    pub fn make_room(&mut self, gpu: &Gpu, words: usize) -> Result<()> {
        if self.numbers_from(gpu) + size_of_numbers(words) > NUMBERS as usize {
            self.submit(gpu)?;
        }
        Ok(())
    }

    /// The offset of the next launch's arguments.
    fn numbers_from(&self, gpu: &Gpu) -> usize {
        let align = gpu.limits.min_uniform_buffer_offset_alignment.max(16);
        self.numbers.len().next_multiple_of(align as usize)
    }

    /// Records a dispatch, for whose arguments there is room; submits the batch when it is large enough.
    ///
    /// # Errors
    /// - `Refused`: wgpu rejects it.
    /// - `DeviceLost`: the device is gone.
    pub fn dispatch(&mut self, gpu: &Gpu, dispatch: &Dispatch<'_>) -> Result<()> {
        let start = self.numbers_from(gpu);
        let bytes = size_of_numbers(dispatch.words.len());
        self.numbers.resize(start, 0);
        self.numbers.extend(dispatch.words.iter().flat_map(|word| word.to_ne_bytes()));
        self.numbers.resize(start + bytes, 0);
        let group = self.bind(gpu, dispatch, bytes);
        let open = self.open.get_or_insert_with(|| {
            let mut encoder =
                gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            OpenPass { pass: pass.forget_lifetime(), encoder }
        });
        let [x, y, z] = dispatch.groups;
        open.pass.set_pipeline(&dispatch.kernel.pipeline);
        open.pass.set_bind_group(0, &group, &[start as u32]);
        open.pass.dispatch_workgroups(x, y, z);
        self.dispatches += 1;
        self.elements = self.elements.saturating_add(dispatch.elements);
        if self.dispatches >= MOST_WAITING || self.elements >= WORTH_SUBMITTING {
            self.submit(gpu)?;
        }
        gpu.faults.check("eval_ir")
    }

    fn bind(&self, gpu: &Gpu, dispatch: &Dispatch<'_>, bytes: usize) -> wgpu::BindGroup {
        let size = std::num::NonZeroU64::new(bytes as u64);
        let numbers = wgpu::BufferBinding { buffer: &self.buffer, offset: 0, size };
        let resources = std::iter::once(wgpu::BindingResource::Buffer(numbers))
            .chain(dispatch.buffers.iter().map(|buffer| buffer.as_entire_binding()));
        let entries: smallvec::SmallVec<[wgpu::BindGroupEntry<'_>; 8]> = resources
            .enumerate()
            .map(|(at, resource)| wgpu::BindGroupEntry { binding: at as u32, resource })
            .collect();
        gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &dispatch.kernel.layout,
            entries: &entries,
        })
    }

    /// Submits everything that is recorded.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is gone.
    pub fn submit(&mut self, gpu: &Gpu) -> Result<()> {
        if self.open.is_none() && self.written == 0 {
            return Ok(());
        }
        let commands = self.open.take().map(|OpenPass { pass, encoder }| {
            drop(pass);
            gpu.queue.write_buffer(&self.buffer, 0, &self.numbers);
            encoder.finish()
        });
        gpu.queue.submit(commands);
        self.numbers.clear();
        (self.dispatches, self.elements, self.written) = (0, 0, 0);
        self.batch += 1;
        // The batch's evaluations were already reported as done; after an error their results are unknown, so
        // the device counts as lost.
        gpu.faults.check("eval_ir").inspect_err(|error| gpu.faults.lose(error.to_string()))
    }

    /// Counts bytes of writes that wgpu holds; submits them when they are many.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is gone.
    pub fn note_write(&mut self, gpu: &Gpu, bytes: u64) -> Result<()> {
        self.written += bytes;
        if self.written > MOST_WRITTEN { self.submit(gpu) } else { Ok(()) }
    }

    /// Copies bytes between buffers after all recorded commands, and submits.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is gone.
    pub fn copy(
        &mut self,
        gpu: &Gpu,
        (from, from_byte): (&wgpu::Buffer, u64),
        (to, to_byte): (&wgpu::Buffer, u64),
        bytes: u64,
    ) -> Result<()> {
        self.submit(gpu)?;
        let mut encoder =
            gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(from, from_byte, to, to_byte, bytes);
        gpu.queue.submit([encoder.finish()]);
        gpu.faults.check("block_read")
    }

    /// A buffer of at least `bytes` bytes that the device writes and the host reads.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no memory for it.
    pub fn staging(&mut self, gpu: &Gpu, bytes: u64) -> Result<&wgpu::Buffer> {
        if self.staging.as_ref().is_none_or(|staging| staging.size() < bytes) {
            self.staging = None;
            let staging = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: bytes,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            });
            gpu.faults.check("block_read")?;
            return Ok(self.staging.insert(staging));
        }
        self.staging.as_ref().ok_or_else(|| Error::new(ErrorKind::OutOfMemory, "block_read"))
    }

    /// Submits everything and waits until it is finished.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is gone.
    pub fn finish(&mut self, gpu: &Gpu) -> Result<()> {
        self.submit(gpu)?;
        wait(gpu)?;
        self.done = self.batch;
        Ok(())
    }

    /// Whether the device has finished this batch, and so with its buffers.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is gone.
    pub fn is_done(&mut self, gpu: &Gpu, batch: Batch) -> Result<bool> {
        if batch >= self.done && batch < self.batch {
            let polled = gpu.device.poll(wgpu::PollType::Poll);
            gpu.faults.check("block_write")?;
            if polled.is_ok_and(|status| status.is_queue_empty()) {
                self.done = self.batch;
            }
        }
        Ok(batch < self.done)
    }
}

/// Bytes of a launch's arguments: whole vectors of four.
fn size_of_numbers(words: usize) -> usize {
    (words * 4).next_multiple_of(16)
}

/// Waits until the device has finished all submitted work.
///
/// # Errors
/// - `DeviceLost`: the device is gone.
pub fn wait(gpu: &Gpu) -> Result<()> {
    if let Err(error) = gpu.device.poll(wgpu::PollType::wait_indefinitely()) {
        gpu.faults.lose(error.to_string());
    }
    gpu.faults.check("block_read")
}
