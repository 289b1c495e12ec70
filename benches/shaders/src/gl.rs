//! Fragment shaders by hand, in the style of an OpenGL programmer: four elements a texel, the points of the
//! distance map written into the shader, a sum of 256 texels a fragment.
//!
//! Owns the context and its objects. Not here: how gpupy uses OpenGL (`driver-gl`).

use crate::work::{Scene, TURNS, Work, plane, points};
use crate::{ByHand, Outcome};
use glow::HasContext;
use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::api::egl::device::Device;
use glutin::api::egl::display::Display;
use glutin::config::{ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, Version};
use glutin::display::GlDisplay;

/// A triangle that covers everything.
const VERTEX: &str = "#version 400 core
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }
";

/// The texels along a side that one fragment of a sum adds.
const TILE: usize = 16;

/// One draw: a program, its textures, and its target.
pub struct Pass {
    program: glow::Program,
    reads: Vec<glow::Texture>,
    frame: glow::Framebuffer,
    /// Texels across and down.
    pub size: [usize; 2],
}

/// A context with the draws of one program.
pub struct Gl {
    /// The functions.
    pub gl: glow::Context,
    /// In the order in which they run.
    pub passes: Vec<Pass>,
    /// Keeps the context current.
    _context: PossiblyCurrentContext,
}

/// Opens a context on the first device that has one.
///
/// # Errors
/// There is none.
pub fn open() -> Outcome<Box<dyn ByHand>> {
    Ok(Box::new(opened()?))
}

/// Opens a context like [`open`], and returns its own type.
///
/// # Errors
/// There is none.
pub fn opened() -> Outcome<Gl> {
    let device = Device::query_devices()?.next().ok_or("EGL lists no device")?;
    // SAFETY: no raw display or native window is named, and the functions are those of the display
    // whose context is current in this thread until it is dropped.
    unsafe {
        let display = Display::with_device(&device, None)?;
        let template =
            ConfigTemplateBuilder::new().with_surface_type(ConfigSurfaceTypes::empty()).build();
        let config = display.find_configs(template)?.next().ok_or("no configuration")?;
        let version = ContextApi::OpenGl(Some(Version::new(4, 5)));
        let attributes = ContextAttributesBuilder::new().with_context_api(version).build(None);
        let context = display.create_context(&config, &attributes)?.make_current_surfaceless()?;
        let gl = glow::Context::from_loader_function_cstr(|name| display.get_proc_address(name));
        let vertices = gl.create_vertex_array()?;
        gl.bind_vertex_array(Some(vertices));
        Ok(Gl { gl, passes: Vec::new(), _context: context })
    }
}

impl ByHand for Gl {
    fn prepare(&mut self, work: Work, side: usize, inputs: &[Vec<f32>]) -> Outcome<()> {
        let size = [side / 4, side];
        let inputs =
            inputs.iter().map(|values| self.texture(size, Some(values))).collect::<Outcome<_>>()?;
        self.passes.clear();
        match work {
            Work::DistanceMap => self.pass(&distance_map(side), inputs, size, 1)?,
            Work::Sphere => self.pass(&sphere(side), inputs, size, 3)?,
            Work::Scaled => self.pass(SCALED, inputs, size, 1)?,
            Work::EscapeTimes => self.pass(&escape_times(side), inputs, size, 1)?,
            Work::Sum => {
                let (mut reads, mut size) = (inputs, size);
                while size != [1, 1] {
                    size = size.map(|extent| extent.div_ceil(TILE));
                    let last = size == [1, 1];
                    reads = self.pass_into(&sum(last), reads, size, 1)?;
                }
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Outcome<f32> {
        self.use_passes();
        let mut texel = [0.0f32; 4];
        // SAFETY: the frame of the last draw is bound, and the buffer has room for one texel.
        unsafe { self.read([1, 1], bytemuck::cast_slice_mut(&mut texel)) };
        Ok(texel[0])
    }

    fn result(&mut self) -> Outcome<Vec<f32>> {
        let Some(last) = self.passes.last() else { return Err("nothing was prepared".into()) };
        let size = last.size;
        let mut values = vec![0.0f32; size[0] * size[1] * 4];
        self.use_passes();
        // SAFETY: the frame of the last draw is bound, and the buffer has room for all texels.
        unsafe { self.read(size, bytemuck::cast_slice_mut(&mut values)) };
        // A sum is one element.
        values.truncate(if size == [1, 1] { 1 } else { values.len() });
        Ok(values)
    }
}

impl Gl {
    /// Draws everything.
    pub fn use_passes(&self) {
        let gl = &self.gl;
        for pass in &self.passes {
            // SAFETY: the objects are of this context, which is current.
            unsafe {
                gl.use_program(Some(pass.program));
                for (unit, texture) in (glow::TEXTURE0..).zip(&pass.reads) {
                    gl.active_texture(unit);
                    gl.bind_texture(glow::TEXTURE_2D, Some(*texture));
                }
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(pass.frame));
                gl.viewport(0, 0, pass.size[0] as i32, pass.size[1] as i32);
                gl.draw_arrays(glow::TRIANGLES, 0, 3);
            }
        }
    }

    /// # Safety
    /// A frame is bound, and there is room for so many texels.
    pub unsafe fn read(&self, [width, height]: [usize; 2], into: &mut [u8]) {
        let to = glow::PixelPackData::Slice(Some(into));
        let (width, height) = (width as i32, height as i32);
        // SAFETY: a frame is bound, and the caller has room for this many texels.
        unsafe { self.gl.read_pixels(0, 0, width, height, glow::RGBA, glow::FLOAT, to) };
    }

    /// A texture of four numbers a texel.
    pub fn texture(&self, size: [usize; 2], values: Option<&Vec<f32>>) -> Outcome<glow::Texture> {
        let gl = &self.gl;
        let [width, height] = size.map(|extent| extent as i32);
        // SAFETY: the context is current, and the values are as many as the texels hold.
        unsafe {
            let texture = gl.create_texture()?;
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA32F, width, height);
            if let Some(values) = values {
                let data = glow::PixelUnpackData::Slice(Some(bytemuck::cast_slice(values)));
                let (rgba, float) = (glow::RGBA, glow::FLOAT);
                gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, width, height, rgba, float, data);
            }
            let nearest = glow::NEAREST as i32;
            gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MIN_FILTER, nearest);
            gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MAG_FILTER, nearest);
            Ok(texture)
        }
    }

    fn pass(
        &mut self,
        fragment: &str,
        reads: Vec<glow::Texture>,
        size: [usize; 2],
        outputs: u32,
    ) -> Outcome<()> {
        self.pass_into(fragment, reads, size, outputs).map(|_| ())
    }

    /// Adds a draw; returns the textures that its outputs go to.
    pub fn pass_into(
        &mut self,
        fragment: &str,
        reads: Vec<glow::Texture>,
        size: [usize; 2],
        outputs: u32,
    ) -> Outcome<Vec<glow::Texture>> {
        let targets: Vec<glow::Texture> =
            (0..outputs).map(|_| self.texture(size, None)).collect::<Outcome<_>>()?;
        let program = self.program(fragment, reads.len())?;
        let gl = &self.gl;
        // SAFETY: the context is current, and the objects are its own.
        let frame = unsafe {
            let frame = gl.create_framebuffer()?;
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
            let mut places = Vec::new();
            for (place, target) in (glow::COLOR_ATTACHMENT0..).zip(&targets) {
                let (to, kind) = (glow::FRAMEBUFFER, glow::TEXTURE_2D);
                gl.framebuffer_texture_2d(to, place, kind, Some(*target), 0);
                places.push(place);
            }
            gl.draw_buffers(&places);
            frame
        };
        self.passes.push(Pass { program, reads, frame, size });
        Ok(targets)
    }

    fn program(&self, fragment: &str, reads: usize) -> Outcome<glow::Program> {
        let gl = &self.gl;
        // SAFETY: the context is current, and the objects are its own.
        unsafe {
            let program = gl.create_program()?;
            for (kind, text) in [(glow::VERTEX_SHADER, VERTEX), (glow::FRAGMENT_SHADER, fragment)] {
                let shader = gl.create_shader(kind)?;
                gl.shader_source(shader, text);
                gl.compile_shader(shader);
                if !gl.get_shader_compile_status(shader) {
                    return Err(gl.get_shader_info_log(shader).into());
                }
                gl.attach_shader(program, shader);
            }
            gl.link_program(program);
            if !gl.get_program_link_status(program) {
                return Err(gl.get_program_info_log(program).into());
            }
            gl.use_program(Some(program));
            for unit in 0..reads as i32 {
                let place = gl.get_uniform_location(program, &format!("t{unit}"));
                gl.uniform_1_i32(place.as_ref(), unit);
            }
            Ok(program)
        }
    }
}

const SCALED: &str = "#version 400 core
uniform sampler2D t0, t1;
out vec4 result;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    result = 2.5 * texelFetch(t0, at, 0) + texelFetch(t1, at, 0);
}
";

fn distance_map(side: usize) -> String {
    let lines: String = points(side)
        .iter()
        .map(|[row, column]| format!("    nearer(vec2({row:?}, {column:?}));\n"))
        .collect();
    format!(
        "#version 400 core
out vec4 result;
float i;
vec4 j;
void nearer(vec2 p) {{
    vec4 y = j - p.y;
    float x = i - p.x;
    result = min(result, sqrt(x * x + y * y));
}}
void main() {{
    i = floor(gl_FragCoord.y);
    j = floor(gl_FragCoord.x) * 4.0 + vec4(0.0, 1.0, 2.0, 3.0);
    result = vec4(1e30);
{lines}}}
"
    )
}

fn escape_times(side: usize) -> String {
    let [left, top, apart] = plane(side);
    format!(
        "#version 400 core
out vec4 result;
float turns(vec2 c) {{
    vec2 z = vec2(0.0);
    float n = 0.0;
    for (int turn = 0; turn < {TURNS}; ++turn) {{
        if (z.x * z.x + z.y * z.y > 4.0) break;
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        n += 1.0;
    }}
    return n;
}}
void main() {{
    float y = floor(gl_FragCoord.y) * {apart:?} + {top:?};
    vec4 x = (floor(gl_FragCoord.x) * 4.0 + vec4(0.0, 1.0, 2.0, 3.0)) * {apart:?} + {left:?};
    result = vec4(turns(vec2(x.x, y)), turns(vec2(x.y, y)), turns(vec2(x.z, y)), turns(vec2(x.w, y)));
}}
"
    )
}

fn sphere(side: usize) -> String {
    let [radius, eye, z, toward, constant] = Scene::of(side).numbers();
    let channel = |n: usize| {
        let [background, ambient, diffuse] = Scene::CHANNELS[n];
        format!(
            "    c{n} = 255.0 * mix(vec4({background:?}), mix(vec4({ambient:?}), \
             {ambient:?} + lit * {diffuse:?}, greaterThan(lit, vec4(0.0))), \
             greaterThan(discriminant, vec4(0.0)));\n"
        )
    };
    let channels: String = (0..3).map(channel).collect();
    format!(
        "#version 400 core
layout(location = 0) out vec4 c0;
layout(location = 1) out vec4 c1;
layout(location = 2) out vec4 c2;
void main() {{
    float dx = floor(gl_FragCoord.y) - {eye:?};
    vec4 dy = floor(gl_FragCoord.x) * 4.0 + vec4(0.0, 1.0, 2.0, 3.0) - {eye:?};
    vec4 a = dx * dx + dy * dy + {z:?} * {z:?};
    vec4 discriminant = {toward:?} * {toward:?} - 4.0 * {constant:?} * a;
    vec4 t = (-({toward:?}) - sqrt(discriminant)) / (2.0 * a);
    vec4 lit = t * dy / {radius:?} - t * dx / {radius:?} + ({z:?} - t * {z:?}) / {radius:?};
{channels}}}
"
    )
}

/// The sum of a tile of texels; the last draw adds the components too.
fn sum(last: bool) -> String {
    let end = if last { "vec4(dot(total, vec4(1.0)))" } else { "total" };
    format!(
        "#version 400 core
uniform sampler2D t0;
out vec4 result;
void main() {{
    ivec2 first = ivec2(gl_FragCoord.xy) * {TILE};
    ivec2 end = min(first + {TILE}, textureSize(t0, 0));
    vec4 total = vec4(0.0);
    for (int y = first.y; y < end.y; ++y)
        for (int x = first.x; x < end.x; ++x)
            total += texelFetch(t0, ivec2(x, y), 0);
    result = {end};
}}
"
    )
}
