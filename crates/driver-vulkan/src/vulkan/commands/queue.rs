//! The queue: commands are recorded, submitted in batches, and waited for once.
//!
//! Owns [`Queue`] and [`HazardState`]. Commands are recorded into one open command buffer until there are
//! enough to submit, or until the host waits. Commands that come again are recorded into a command buffer of their
//! own, which is submitted as it is, between those before and behind it. Submissions are numbered, and a timeline
//! semaphore counts them as they finish. A *stage* is the commands between two barriers: commands of one stage may run
//! in any order and at once. Invariants: a command that touches a block that an earlier command of its stage wrote, or
//! writes one that it read, begins a new stage; retired objects are freed after the device has finished all commands
//! that were recorded before.
//!
//! Not here: the commands (`eval.rs`, `block_transfer.rs`).

use super::buffer_allocator::{BufferAllocator, DeviceBuffer};
use crate::NAME;
use crate::vulkan::gpu::errors::failed;
use crate::vulkan::gpu::gpu_device::Gpu;
use ash::vk;
use gpupy_core::driver::{BlockId, Launch};
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;

/// Commands after which a submission is worth its price.
pub const MOST_COMMANDS: u32 = 64;

/// Operations, or bytes, after which the device should start: about a millisecond of a rasteriser on two cores.
const MOST_WORK: u64 = 1 << 22;

/// The same of hardware: a few microseconds of an NVIDIA H200, half a millisecond of a GPU within a processor.
const MOST_WORK_OF_HARDWARE: u64 = 1 << 27;

/// The last uses of a block, to detect hazards.
#[derive(Clone, Copy, Debug, Default)]
pub struct HazardState {
    /// The stage that wrote it.
    written: u64,
    /// The stage that read it.
    read: u64,
    /// The submission of the last command that writes it.
    pub changed: u64,
    /// The submission of the last command that touches it.
    pub used: u64,
}

/// How a command touches a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It reads.
    Read,
    /// It writes, and may read.
    Write,
}

/// An object that is freed when the device has finished with it.
#[derive(Debug)]
pub enum Retired {
    /// A buffer.
    Buffer(DeviceBuffer),
    /// A pipeline.
    Pipeline(vk::Pipeline),
    /// Commands that were kept.
    Commands(vk::CommandBuffer),
}

/// The device's queue.
pub struct Queue {
    gpu: Arc<Gpu>,
    pool: vk::CommandPool,
    timeline: vk::Semaphore,
    /// Command buffers that can be recorded into.
    free: Vec<vk::CommandBuffer>,
    /// Submitted command buffers, with the numbers of their submissions.
    flying: VecDeque<(u64, vk::CommandBuffer)>,
    open: Option<OpenCommands>,
    /// What is submitted next before the open commands, in order; and whether it is kept.
    ready: Vec<(vk::CommandBuffer, bool)>,
    /// The commands that are to be submitted, and their work.
    count: u32,
    work: u64,
    /// How many pipelines were retired: commands that were kept before may use them.
    pub pipelines_retired: u64,
    /// The last submission, and the last that is known to have finished.
    submitted: u64,
    done: u64,
    stage: u64,
    /// The work after which the device should start.
    most_work: u64,
    /// Retired objects, each with the submission that must finish first.
    retired: VecDeque<(u64, Retired)>,
}

/// The command buffer that is being recorded.
#[derive(Clone, Copy)]
struct OpenCommands {
    commands: vk::CommandBuffer,
    is_kept: bool,
}

impl Queue {
    /// The queue of an open device.
    ///
    /// # Errors
    /// - `OutOfMemory`, `DeviceLost`: the device's own.
    pub fn new(gpu: Arc<Gpu>) -> Result<Queue> {
        let create = vk::CommandPoolCreateInfo::default()
            .flags(
                vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER
                    | vk::CommandPoolCreateFlags::TRANSIENT,
            )
            .queue_family_index(gpu.family);
        // SAFETY: the family is that of the device's queue.
        let pool = unsafe { gpu.raw.create_command_pool(&create, None) }
            .map_err(|result| failed("init", "vkCreateCommandPool", result))?;
        let mut timeline =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let create = vk::SemaphoreCreateInfo::default().push_next(&mut timeline);
        // SAFETY: the device was opened with timeline semaphores; the pool was just created and is used nowhere else.
        let timeline = unsafe {
            gpu.raw
                .create_semaphore(&create, None)
                .inspect_err(|_| gpu.raw.destroy_command_pool(pool, None))
        };
        let timeline = timeline.map_err(|result| failed("init", "vkCreateSemaphore", result))?;
        let most_work = if gpu.traits.hardware { MOST_WORK_OF_HARDWARE } else { MOST_WORK };
        Ok(Queue {
            gpu,
            pool,
            timeline,
            free: Vec::new(),
            flying: VecDeque::new(),
            open: None,
            ready: Vec::new(),
            count: 0,
            work: 0,
            pipelines_retired: 0,
            submitted: 0,
            done: 0,
            stage: 1,
            most_work,
            retired: VecDeque::new(),
        })
    }

    /// Whether a command that touches a block in this way needs a barrier first.
    pub fn is_hazard(&self, touched: HazardState, touch: Touch) -> bool {
        touched.written == self.stage || touch == Touch::Write && touched.read == self.stage
    }

    /// Records commands, after a barrier if they begin a stage; `work` counts operations or bytes.
    ///
    /// # Errors
    /// - `OutOfMemory`, `DeviceLost`: the device's own. Nothing was recorded.
    pub fn record(
        &mut self,
        begins_stage: bool,
        work: u64,
        commands: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> Result<()> {
        let open = self.opened(false)?;
        if begins_stage {
            self.barrier(open.commands);
            self.stage += 1;
        }
        commands(&self.gpu.raw, open.commands);
        self.count += 1;
        self.work = self.work.saturating_add(work);
        Ok(())
    }

    /// Begins commands that are kept: those that are recorded until `kept` is called.
    ///
    /// # Errors
    /// - `OutOfMemory`, `DeviceLost`: the device's own.
    pub fn begin_kept(&mut self) -> Result<()> {
        self.end_open(false)?;
        let open = self.opened(true)?;
        self.barrier(open.commands);
        self.stage += 1;
        Ok(())
    }

    /// Ends the commands that are kept, which are submitted next, and may be again (`again`).
    ///
    /// # Errors
    /// - `DeviceLost`: the recorded commands can no longer run.
    pub fn kept(&mut self) -> Result<Option<vk::CommandBuffer>> {
        let kept = self.open.map(|open| open.commands);
        self.end_open(true)?;
        Ok(kept)
    }

    /// Submits commands that were kept once more, next; `count` and `work` as for `record`.
    ///
    /// # Errors
    /// - `DeviceLost`: the recorded commands can no longer run.
    pub fn again(&mut self, kept: vk::CommandBuffer, count: u32, work: u64) -> Result<()> {
        self.end_open(false)?;
        self.ready.push((kept, true));
        // They begin with a barrier.
        self.stage += 1;
        self.count += count;
        self.work = self.work.saturating_add(work);
        Ok(())
    }

    /// Notes that the commands that were recorded last touch a block.
    pub fn note(&self, touched: &mut HazardState, touch: Touch) {
        touched.used = self.submitted + 1;
        match touch {
            Touch::Read => touched.read = self.stage,
            Touch::Write => (touched.written, touched.changed) = (self.stage, touched.used),
        }
    }

    /// Submits the recorded commands if they are worth a submission.
    ///
    /// # Errors
    /// As for `submit`.
    pub fn submit_if_worth_it(&mut self) -> Result<()> {
        match self.count >= MOST_COMMANDS || self.work >= self.most_work {
            true => self.submit(),
            false => Ok(()),
        }
    }

    /// The work that is to be submitted.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Whether something is to be submitted.
    fn is_waiting(&self) -> bool {
        self.open.is_some() || !self.ready.is_empty()
    }

    /// Ends the command buffer that is being recorded, if there is one. With the last one that is submitted at once, or
    /// may be, the host sees what the device wrote.
    fn end_open(&mut self, is_last: bool) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let gpu = &self.gpu;
        let to_host = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        // SAFETY: the command buffer is being recorded.
        let ended = unsafe {
            if is_last {
                gpu.raw.cmd_pipeline_barrier(
                    open.commands,
                    vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER,
                    vk::PipelineStageFlags::HOST,
                    vk::DependencyFlags::empty(),
                    &to_host,
                    &[],
                    &[],
                );
            }
            gpu.raw.end_command_buffer(open.commands)
        };
        // The recorded evaluations were already reported as done, so without them all contents are in doubt.
        ended.map_err(|result| gone("vkEndCommandBuffer", result))?;
        self.ready.push((open.commands, open.is_kept));
        Ok(())
    }

    /// Submits all recorded commands.
    ///
    /// # Errors
    /// - `DeviceLost`: the device's own error, or the recorded commands can no longer run.
    pub fn submit(&mut self) -> Result<()> {
        if !self.is_waiting() {
            return Ok(());
        }
        self.end_open(true)?;
        let ready = std::mem::take(&mut self.ready);
        (self.count, self.work) = (0, 0);
        let number = self.submitted + 1;
        let buffers: SmallVec<[vk::CommandBuffer; 4]> =
            ready.iter().map(|(commands, _)| *commands).collect();
        let (semaphores, numbers) = ([self.timeline], [number]);
        let mut signal =
            vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&numbers);
        let submit = vk::SubmitInfo::default()
            .command_buffers(&buffers)
            .signal_semaphores(&semaphores)
            .push_next(&mut signal);
        let gpu = &self.gpu;
        // SAFETY: the command buffers were recorded; all objects that their commands use live until the
        // submission has finished, because they are retired rather than freed.
        let submitted = unsafe { gpu.raw.queue_submit(gpu.queue, &[submit], vk::Fence::null()) };
        submitted.map_err(|result| gone("vkQueueSubmit", result))?;
        let once = ready.into_iter().filter(|(_, is_kept)| !is_kept);
        self.flying.extend(once.map(|(commands, _)| (number, commands)));
        self.submitted = number;
        Ok(())
    }

    /// Whether the device has finished submission number `used`.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is gone.
    pub fn is_done(&mut self, used: u64) -> Result<bool> {
        if used > self.done && used <= self.submitted {
            // SAFETY: the semaphore is the queue's own.
            self.done = unsafe { self.gpu.raw.get_semaphore_counter_value(self.timeline) }
                .map_err(|result| failed("block_write", "vkGetSemaphoreCounterValue", result))?;
        }
        Ok(used <= self.done)
    }

    /// Waits until the device has finished submission number `used`, and submits it first if necessary.
    ///
    /// # Errors
    /// - `OutOfMemory`, `DeviceLost`: the device's own.
    pub fn wait(&mut self, used: u64) -> Result<()> {
        if used > self.submitted {
            self.submit()?;
        }
        if used <= self.done {
            return Ok(());
        }
        let (semaphores, numbers) = ([self.timeline], [used]);
        let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&numbers);
        // SAFETY: the semaphore is the queue's own, and a submission counts it up to the number.
        unsafe { self.gpu.raw.wait_semaphores(&wait, u64::MAX) }
            .map_err(|result| failed("block_read", "vkWaitSemaphores", result))?;
        self.done = used;
        Ok(())
    }

    /// Waits for all recorded commands.
    ///
    /// # Errors
    /// As for `wait`.
    pub fn wait_for_all(&mut self) -> Result<()> {
        self.submit()?;
        self.wait(self.submitted)
    }

    /// Takes an object to be freed when the device has finished all recorded commands.
    pub fn retire(&mut self, retired: Retired) {
        // A pipeline may be that of commands which are not recorded yet.
        let is_pipeline = matches!(retired, Retired::Pipeline(_));
        let last = self.submitted + u64::from(is_pipeline || self.is_waiting());
        self.pipelines_retired += u64::from(is_pipeline);
        self.retired.push_back((last, retired));
    }

    /// Frees the retired objects that the device has finished with.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is gone.
    pub fn collect(&mut self, memory: &mut BufferAllocator) -> Result<()> {
        while let Some((last, _)) = self.retired.front()
            && self.is_done(*last)?
        {
            self.retired.pop_front().into_iter().for_each(|(_, old)| self.give_back(old, memory));
        }
        Ok(())
    }

    /// Ends all work, even on errors, and frees all retired objects.
    pub fn close(&mut self, memory: &mut BufferAllocator) {
        // Recorded commands are dropped; a lost device has no work left to wait for.
        // SAFETY: the device is open, and only this queue submits to it.
        let _ = unsafe { self.gpu.raw.device_wait_idle() };
        for (_, old) in std::mem::take(&mut self.retired) {
            self.give_back(old, memory);
        }
    }

    fn give_back(&mut self, old: Retired, memory: &mut BufferAllocator) {
        match old {
            Retired::Buffer(buffer) => memory.free(buffer),
            Retired::Commands(commands) => self.free.push(commands),
            // SAFETY: the device has finished with the pipeline, and it was forgotten when it was retired.
            Retired::Pipeline(pipeline) => unsafe { self.gpu.raw.destroy_pipeline(pipeline, None) },
        }
    }

    /// The open command buffer; begins one if there is none.
    fn opened(&mut self, is_kept: bool) -> Result<OpenCommands> {
        if let Some(open) = self.open {
            return Ok(open);
        }
        while let Some((number, commands)) = self.flying.front().copied()
            && self.is_done(number)?
        {
            self.flying.pop_front();
            self.free.push(commands);
        }
        let gpu = &self.gpu;
        let commands = match self.free.pop() {
            Some(commands) => commands,
            None => {
                let create = vk::CommandBufferAllocateInfo::default()
                    .command_pool(self.pool)
                    .level(vk::CommandBufferLevel::PRIMARY)
                    .command_buffer_count(1);
                // SAFETY: the pool is the queue's own.
                let made = unsafe { gpu.raw.allocate_command_buffers(&create) };
                made.map_err(|result| failed("eval_ir", "vkAllocateCommandBuffers", result))?[0]
            }
        };
        let begin = vk::CommandBufferBeginInfo::default().flags(match is_kept {
            true => vk::CommandBufferUsageFlags::SIMULTANEOUS_USE,
            false => vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT,
        });
        // SAFETY: the device has finished with the command buffer; beginning it resets it.
        if let Err(result) = unsafe { gpu.raw.begin_command_buffer(commands, &begin) } {
            self.free.push(commands);
            return Err(failed("eval_ir", "vkBeginCommandBuffer", result));
        }
        let open = OpenCommands { commands, is_kept };
        self.open = Some(open);
        Ok(open)
    }

    fn barrier(&self, commands: vk::CommandBuffer) {
        let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
        let writes = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
        let reads = vk::AccessFlags::SHADER_READ | vk::AccessFlags::TRANSFER_READ;
        let barrier =
            [vk::MemoryBarrier::default().src_access_mask(writes).dst_access_mask(reads | writes)];
        // SAFETY: the command buffer is being recorded.
        unsafe {
            self.gpu.raw.cmd_pipeline_barrier(
                commands,
                stages,
                stages,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
        }
    }
}

/// The blocks that a launch touches, and whether it reads or writes them.
pub fn touches<'a>(launch: &'a Launch<'_>) -> impl Iterator<Item = (BlockId, Touch)> + use<'a> {
    let operands = launch.operands.iter().map(|block| (*block, Touch::Read));
    operands.chain(launch.dests.iter().map(|dest| (dest.block, Touch::Write)))
}

/// The error of commands that can no longer run.
fn gone(call: &'static str, result: vk::Result) -> Error {
    Error::new(ErrorKind::DeviceLost, "eval_ir").with("driver", NAME).with(call, result)
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: `close` has waited for the device; command buffers are freed with their pool.
        unsafe {
            self.gpu.raw.destroy_semaphore(self.timeline, None);
            self.gpu.raw.destroy_command_pool(self.pool, None);
        }
    }
}
