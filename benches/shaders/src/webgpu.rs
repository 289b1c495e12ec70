//! Compute shaders by hand in WGSL, through wgpu.
//!
//! Owns the device and its objects. Not here: how gpupy uses wgpu (`driver-wgpu`).

use crate::compute::{GROUP, RUN, Step, lighting, steps};
use crate::work::{Scene, TURNS, Work, plane, points};
use crate::{ByHand, Outcome};

/// One dispatch, ready to be recorded.
struct Pass {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: [u32; 3],
}

/// A device with the dispatches of one program.
struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    passes: Vec<Pass>,
    /// The first buffer that the last dispatch writes, and its bytes.
    result: Option<(wgpu::Buffer, u64)>,
}

/// Opens the device that wgpu likes best.
///
/// # Errors
/// There is none.
pub fn open() -> Outcome<Box<dyn ByHand>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let options = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..wgpu::RequestAdapterOptions::default()
    };
    let adapter = pollster::block_on(instance.request_adapter(&options))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits: adapter.limits(),
        ..wgpu::DeviceDescriptor::default()
    }))?;
    Ok(Box::new(Gpu { device, queue, passes: Vec::new(), result: None }))
}

impl ByHand for Gpu {
    fn prepare(&mut self, work: Work, side: usize, inputs: &[Vec<f32>]) -> Outcome<()> {
        self.passes.clear();
        let mut reads: Vec<wgpu::Buffer> = Vec::new();
        for values in inputs {
            let buffer = self.buffer(values.len());
            self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(values));
            reads.push(buffer);
        }
        for step in steps(work, side) {
            let writes: Vec<wgpu::Buffer> =
                step.writes.iter().map(|len| self.buffer(*len)).collect();
            self.add(&text(work, side, &step, reads.len()), &reads, &writes, step.groups);
            self.result = Some((writes[0].clone(), step.writes[0] as u64 * 4));
            reads = writes;
        }
        Ok(())
    }

    fn run(&mut self) -> Outcome<f32> {
        Ok(self.compute(4)?[0])
    }

    fn result(&mut self) -> Outcome<Vec<f32>> {
        self.compute(u64::MAX)
    }
}

impl Gpu {
    fn buffer(&self, len: usize) -> wgpu::Buffer {
        let (storage, from) = (wgpu::BufferUsages::STORAGE, wgpu::BufferUsages::COPY_SRC);
        // A shader binds fours.
        self.allocate(
            (len as u64 * 4).next_multiple_of(16),
            storage | from | wgpu::BufferUsages::COPY_DST,
        )
    }

    fn allocate(&self, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        let descriptor =
            wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.device.create_buffer(&descriptor)
    }

    fn add(
        &mut self,
        text: &str,
        reads: &[wgpu::Buffer],
        writes: &[wgpu::Buffer],
        groups: [u32; 3],
    ) {
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let buffers = reads.iter().chain(writes).enumerate();
        let entries: Vec<wgpu::BindGroupEntry<'_>> = buffers
            .map(|(n, buffer)| wgpu::BindGroupEntry {
                binding: n as u32,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let bindings = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        self.passes.push(Pass { pipeline, bindings, groups });
    }

    /// Runs all dispatches, and reads at most so many bytes of the result.
    fn compute(&self, most: u64) -> Outcome<Vec<f32>> {
        let Some((result, size)) = &self.result else { return Err("nothing was prepared".into()) };
        let bytes = most.min(*size);
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.allocate(bytes, usage);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut recording = encoder.begin_compute_pass(&Default::default());
        for pass in &self.passes {
            let [x, y, z] = pass.groups;
            recording.set_pipeline(&pass.pipeline);
            recording.set_bind_group(0, &pass.bindings, &[]);
            recording.dispatch_workgroups(x, y, z);
        }
        drop(recording);
        encoder.copy_buffer_to_buffer(result, 0, &staging, 0, bytes);
        self.queue.submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |_| {});
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let view = staging.get_mapped_range(..)?;
        Ok(view.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect())
    }
}

/// The shader of a step that reads so many buffers.
pub fn text(work: Work, side: usize, step: &Step, reads: usize) -> String {
    let mut text = String::new();
    let inputs = (0..reads).map(|n| (n, "read", format!("t{n}")));
    let outputs = (0..step.writes.len()).map(|n| (n + reads, "read_write", format!("o{n}")));
    for (binding, access, name) in inputs.chain(outputs) {
        let element = if work == Work::Sum && access != "read" { "f32" } else { "vec4<f32>" };
        text += &format!(
            "@group(0) @binding({binding}) var<storage, {access}> {name}: array<{element}>;\n"
        );
    }
    let eye = Scene::of(side).eye;
    let body = match work {
        Work::Scaled => "    o0[at] = 2.5 * t0[at] + t1[at];\n".to_owned(),
        Work::Sum => return text + &sum(step),
        Work::DistanceMap => {
            let point = |[row, column]: &[f32; 2]| {
                format!(
                    "    x = i - {row:?}; y = j - {column:?};\n    \
                     nearest = min(nearest, sqrt(x * x + y * y));\n"
                )
            };
            let points: String = points(side).iter().map(point).collect();
            format!(
                "    let i = f32(at / {row}u);
    let j = f32(at % {row}u) * 4.0 + vec4(0.0, 1.0, 2.0, 3.0);
    var nearest = vec4(1e30);
    var x: f32;
    var y: vec4<f32>;
{points}    o0[at] = nearest;
",
                row = side / 4
            )
        }
        Work::EscapeTimes => {
            let [left, top, apart] = plane(side);
            format!(
                "    let y = f32(at / {row}u) * {apart:?} + {top:?};
    var turns: array<f32, 4>;
    for (var k = 0u; k < 4u; k++) {{
        let c = vec2((f32(at % {row}u) * 4.0 + f32(k)) * {apart:?} + {left:?}, y);
        var z = vec2(0.0);
        var n = 0.0;
        for (var turn = 0; turn < {TURNS}; turn++) {{
            if (z.x * z.x + z.y * z.y > 4.0) {{ break; }}
            z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
            n += 1.0;
        }}
        turns[k] = n;
    }}
    o0[at] = vec4(turns[0], turns[1], turns[2], turns[3]);
",
                row = side / 4
            )
        }
        Work::Sphere => {
            let channel = |n: usize| {
                let [background, ambient, diffuse] = Scene::CHANNELS[n];
                format!(
                    "    o{n}[at] = 255.0 * select(vec4({background:?}), select(vec4({ambient:?}), \
                     {ambient:?} + lit * {diffuse:?}, lit > vec4(0.0)), \
                     discriminant > vec4(0.0));\n"
                )
            };
            let channels: String = (0..3).map(channel).collect();
            let scene = lighting(side, "let");
            format!(
                "    let dx = f32(at / {row}u) - {eye:?};
    let dy = f32(at % {row}u) * 4.0 + vec4(0.0, 1.0, 2.0, 3.0) - {eye:?};
{scene}{channels}",
                row = side / 4
            )
        }
    };
    format!(
        "{text}@compute @workgroup_size({GROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{
    let at = id.y * groups.x * {GROUP}u + id.x;
    if (at >= {fours}u) {{ return; }}
{body}}}
",
        fours = step.fours
    )
}

/// A sum: each group adds a run of fours and writes one number.
fn sum(step: &Step) -> String {
    format!(
        "var<workgroup> parts: array<vec4<f32>, {GROUP}>;
@compute @workgroup_size({GROUP})
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) id: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {{
    let group = id.y * groups.x + id.x;
    let first = group * {run}u;
    let end = min(first + {run}u, {fours}u);
    var total = vec4(0.0);
    for (var at = first + lane; at < end; at += {GROUP}u) {{ total += t0[at]; }}
    parts[lane] = total;
    for (var half = {half}u; half > 0u; half /= 2u) {{
        workgroupBarrier();
        if (lane < half) {{ parts[lane] += parts[lane + half]; }}
    }}
    if (lane == 0u && first < {fours}u) {{ o0[group] = dot(parts[0], vec4(1.0)); }}
}}
",
        run = GROUP * RUN,
        half = GROUP / 2,
        fours = step.fours
    )
}
