//! The compute shaders of `webgpu.rs`, through Vulkan itself: compiled by naga without its bounds
//! checks, buffers in the device's own memory, commands recorded once and submitted again and again.
//!
//! Owns the device and its objects. Not here: how gpupy uses Vulkan (`driver-vulkan`).

use crate::compute::steps;
use crate::webgpu::text;
use crate::work::Work;
use crate::{ByHand, Outcome};
use ash::vk;
use std::slice::from_ref;

/// A buffer with memory of its own.
#[derive(Clone, Copy)]
pub struct Buffer {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    bytes: u64,
}

/// A device with the recorded dispatches of one program.
pub struct Vulkan {
    device: ash::Device,
    memories: vk::PhysicalDeviceMemoryProperties,
    queue: vk::Queue,
    pool: vk::CommandPool,
    fence: vk::Fence,
    /// Runs everything, and copies the first four of the result to `first`.
    run: vk::CommandBuffer,
    result: Option<Buffer>,
    first: Option<Buffer>,
    /// The device's functions are its instance's and the library's.
    _instance: ash::Instance,
    _entry: ash::Entry,
}

/// Opens the first device that is not the CPU, or the first.
///
/// # Errors
/// There is none.
pub fn open() -> Outcome<Box<dyn ByHand>> {
    Ok(Box::new(opened()?))
}

/// Opens a device like [`open`], and returns its own type.
///
/// # Errors
/// There is none.
pub fn opened() -> Outcome<Vulkan> {
    // SAFETY: libraries of Vulkan keep to its specification; so do the calls below.
    unsafe {
        let entry = ash::Entry::load()?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&create, None)?;
        let mut devices = instance.enumerate_physical_devices()?;
        devices.sort_by_key(|device| {
            let kind = instance.get_physical_device_properties(*device).device_type;
            (kind == vk::PhysicalDeviceType::CPU, kind != vk::PhysicalDeviceType::DISCRETE_GPU)
        });
        let physical = *devices.first().ok_or("there is no device")?;
        let families = instance.get_physical_device_queue_family_properties(physical);
        let computes = |family: &vk::QueueFamilyProperties| {
            family.queue_flags.contains(vk::QueueFlags::COMPUTE)
        };
        let family = families.iter().position(computes).ok_or("no queue computes")? as u32;
        let queues = vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0]);
        let create = vk::DeviceCreateInfo::default().queue_create_infos(from_ref(&queues));
        let device = instance.create_device(physical, &create, None)?;
        let create = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        let pool = device.create_command_pool(&create, None)?;
        let allocate =
            vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        Ok(Vulkan {
            memories: instance.get_physical_device_memory_properties(physical),
            queue: device.get_device_queue(family, 0),
            fence: device.create_fence(&vk::FenceCreateInfo::default(), None)?,
            run: device.allocate_command_buffers(&allocate)?[0],
            pool,
            device,
            result: None,
            first: None,
            _instance: instance,
            _entry: entry,
        })
    }
}

impl ByHand for Vulkan {
    fn prepare(&mut self, work: Work, side: usize, inputs: &[Vec<f32>]) -> Outcome<()> {
        let mut reads = Vec::new();
        for values in inputs {
            reads.push(self.upload(bytemuck::cast_slice(values))?);
        }
        self.record(|run| {
            for step in steps(work, side) {
                let mut writes = Vec::new();
                for len in &step.writes {
                    writes.push(run.device_buffer(*len as u64 * 4)?);
                }
                let all: Vec<Buffer> = reads.iter().chain(&writes).copied().collect();
                run.dispatch(&text(work, side, &step, reads.len()), &all, step.groups)?;
                reads = writes;
            }
            Ok(reads[0])
        })
    }

    fn run(&mut self) -> Outcome<f32> {
        let first = self.first.ok_or("nothing was prepared")?;
        self.submit(self.run)?;
        Ok(bytemuck::pod_read_unaligned(&self.download(first, 4)?))
    }

    fn result(&mut self) -> Outcome<Vec<f32>> {
        let result = self.result.ok_or("nothing was prepared")?;
        self.submit(self.run)?;
        self.values(result)
    }
}

impl Vulkan {
    /// Records the commands of a run. A function records the dispatches, and returns the result's buffer.
    pub fn record(&mut self, dispatches: impl FnOnce(&Vulkan) -> Outcome<Buffer>) -> Outcome<()> {
        let first = self.host_buffer(16)?;
        // SAFETY: the objects are this device's, and nothing runs.
        unsafe {
            self.device.begin_command_buffer(self.run, &vk::CommandBufferBeginInfo::default())?
        };
        let result = dispatches(self)?;
        self.copy(self.run, result, first, first.bytes.min(result.bytes));
        // SAFETY: the command buffer is being recorded.
        unsafe { self.device.end_command_buffer(self.run)? };
        (self.result, self.first) = (Some(result), Some(first));
        Ok(())
    }

    /// The numbers of a buffer that nothing writes any more.
    pub fn values(&self, buffer: Buffer) -> Outcome<Vec<f32>> {
        let staging = self.host_buffer(buffer.bytes)?;
        self.at_once(|copy| self.copy(copy, buffer, staging, buffer.bytes))?;
        let bytes = self.download(staging, buffer.bytes)?;
        Ok(bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect())
    }

    /// A buffer of the device.
    pub fn device_buffer(&self, bytes: u64) -> Outcome<Buffer> {
        self.buffer(bytes, vk::MemoryPropertyFlags::DEVICE_LOCAL)
    }

    fn host_buffer(&self, bytes: u64) -> Outcome<Buffer> {
        let visible = vk::MemoryPropertyFlags::HOST_VISIBLE;
        let wanted = visible | vk::MemoryPropertyFlags::HOST_COHERENT;
        let cached = wanted | vk::MemoryPropertyFlags::HOST_CACHED;
        self.buffer(bytes, cached).or_else(|_| self.buffer(bytes, wanted))
    }

    fn buffer(&self, bytes: u64, flags: vk::MemoryPropertyFlags) -> Outcome<Buffer> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let create = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        // SAFETY: the objects are this device's.
        unsafe {
            let buffer = self.device.create_buffer(&create, None)?;
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let kinds = self.memories.memory_types_as_slice().iter().enumerate();
            let kind = kinds
                .filter(|(n, _)| needs.memory_type_bits & 1 << n != 0)
                .find(|(_, kind)| kind.property_flags.contains(flags))
                .ok_or("no such memory")?;
            let allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(kind.0 as u32);
            let memory = self.device.allocate_memory(&allocate, None)?;
            self.device.bind_buffer_memory(buffer, memory, 0)?;
            Ok(Buffer { buffer, memory, bytes })
        }
    }

    /// A buffer of the device with these bytes.
    pub fn upload(&self, bytes: &[u8]) -> Outcome<Buffer> {
        let size = bytes.len() as u64;
        let (staging, buffer) = (self.host_buffer(size)?, self.device_buffer(size)?);
        // SAFETY: the memory is visible to the host, coherent, as large as the bytes, and not in use.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let at = self.device.map_memory(staging.memory, 0, size, flags)?.cast::<u8>();
            at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.device.unmap_memory(staging.memory);
        }
        self.at_once(|copy| self.copy(copy, staging, buffer, size))?;
        Ok(buffer)
    }

    fn download(&self, from: Buffer, bytes: u64) -> Outcome<Vec<u8>> {
        let mut values = vec![0; bytes as usize];
        // SAFETY: the memory is visible to the host, coherent, large enough, and not in use.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let at = self.device.map_memory(from.memory, 0, bytes, flags)?.cast::<u8>();
            at.copy_to_nonoverlapping(values.as_mut_ptr(), values.len());
            self.device.unmap_memory(from.memory);
        }
        Ok(values)
    }

    /// Records commands, runs them and waits.
    fn at_once(&self, record: impl FnOnce(vk::CommandBuffer)) -> Outcome<()> {
        let allocate = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .command_buffer_count(1);
        // SAFETY: the objects are this device's.
        unsafe {
            let commands = self.device.allocate_command_buffers(&allocate)?[0];
            self.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            record(commands);
            self.device.end_command_buffer(commands)?;
            self.submit(commands)?;
            self.device.free_command_buffers(self.pool, &[commands]);
        }
        Ok(())
    }

    fn submit(&self, commands: vk::CommandBuffer) -> Outcome<()> {
        let submit = vk::SubmitInfo::default().command_buffers(from_ref(&commands));
        // SAFETY: the commands are recorded, and not in use.
        unsafe {
            self.device.queue_submit(self.queue, from_ref(&submit), self.fence)?;
            self.device.wait_for_fences(&[self.fence], true, u64::MAX)?;
            self.device.reset_fences(&[self.fence])?;
        }
        Ok(())
    }

    /// Waits for shaders, copies, and makes the copy visible to the host.
    fn copy(&self, commands: vk::CommandBuffer, from: Buffer, to: Buffer, bytes: u64) {
        let region = vk::BufferCopy::default().size(bytes);
        let (shader, transfer) =
            (vk::PipelineStageFlags::COMPUTE_SHADER, vk::PipelineStageFlags::TRANSFER);
        self.barrier(commands, shader, transfer);
        // SAFETY: the commands are being recorded, and the ranges lie in the buffers.
        unsafe { self.device.cmd_copy_buffer(commands, from.buffer, to.buffer, &[region]) };
        self.barrier(commands, transfer, vk::PipelineStageFlags::HOST);
    }

    fn barrier(
        &self,
        commands: vk::CommandBuffer,
        before: vk::PipelineStageFlags,
        after: vk::PipelineStageFlags,
    ) {
        let memory = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
        let none = vk::DependencyFlags::empty();
        // SAFETY: the commands are being recorded.
        unsafe {
            self.device.cmd_pipeline_barrier(commands, before, after, none, &[memory], &[], &[]);
        }
    }

    /// Records a dispatch of a shader over buffers, in the order of its bindings.
    pub fn dispatch(&self, wgsl: &str, buffers: &[Buffer], [x, y, z]: [u32; 3]) -> Outcome<()> {
        let device = &self.device;
        let code = compile(wgsl)?;
        let compute = vk::ShaderStageFlags::COMPUTE;
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let bindings: Vec<_> = (0..buffers.len() as u32)
            .map(|n| {
                let binding = vk::DescriptorSetLayoutBinding::default().binding(n);
                binding.descriptor_type(kind).descriptor_count(1).stage_flags(compute)
            })
            .collect();
        // SAFETY: the objects are this device's, live on, and the commands are being recorded.
        unsafe {
            let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layout = device.create_descriptor_set_layout(&create, None)?;
            let create = vk::PipelineLayoutCreateInfo::default().set_layouts(from_ref(&layout));
            let pipeline_layout = device.create_pipeline_layout(&create, None)?;
            let create = vk::ShaderModuleCreateInfo::default().code(&code);
            let module = device.create_shader_module(&create, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(compute)
                .module(module)
                .name(c"main");
            let create =
                vk::ComputePipelineCreateInfo::default().stage(stage).layout(pipeline_layout);
            let pipelines =
                device.create_compute_pipelines(vk::PipelineCache::null(), &[create], None);
            let pipeline = pipelines.map_err(|(_, error)| error)?[0];
            let size =
                vk::DescriptorPoolSize::default().ty(kind).descriptor_count(buffers.len() as u32);
            let create =
                vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(from_ref(&size));
            let pool = device.create_descriptor_pool(&create, None)?;
            let allocate = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(from_ref(&layout));
            let set = device.allocate_descriptor_sets(&allocate)?[0];
            for (n, buffer) in buffers.iter().enumerate() {
                let range =
                    vk::DescriptorBufferInfo::default().buffer(buffer.buffer).range(vk::WHOLE_SIZE);
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(n as u32)
                    .descriptor_type(kind)
                    .buffer_info(from_ref(&range));
                device.update_descriptor_sets(&[write], &[]);
            }
            let point = vk::PipelineBindPoint::COMPUTE;
            let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
            self.barrier(self.run, stage, stage);
            device.cmd_bind_pipeline(self.run, point, pipeline);
            device.cmd_bind_descriptor_sets(self.run, point, pipeline_layout, 0, &[set], &[]);
            device.cmd_dispatch(self.run, x, y, z);
        }
        Ok(())
    }
}

/// The words of SPIR-V of a shader, without checks of bounds.
fn compile(wgsl: &str) -> Outcome<Vec<u32>> {
    use naga::back::spv;
    use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let module = naga::front::wgsl::parse_str(wgsl)?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module)?;
    let unchecked = BoundsCheckPolicy::Unchecked;
    let options = spv::Options {
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        ..spv::Options::default()
    };
    let stage = naga::ShaderStage::Compute;
    let pipeline = spv::PipelineOptions { shader_stage: stage, entry_point: "main".to_owned() };
    Ok(spv::write_vec(&module, &info, &options, Some(&pipeline))?)
}
