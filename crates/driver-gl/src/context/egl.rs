//! Opens a context without a window or a display server: EGL device, display, context.
//!
//! Owns [`GlContext`] and [`Limits`]. Invariants: libEGL is opened at run time, so that this crate links
//! without it; a context that is returned is current in the calling thread, supports `precise` (GLSL 4.00, or
//! 3.30 with `GL_ARB_gpu_shader5`) and renders to float and integer textures.
//!
//! Not here: the thread that the context lives on (`thread.rs`).

use crate::context::display::DisplayLease;
use crate::context::shared_context::{Renderer, SharedContext};
use crate::errors::NAME;
use glow::HasContext;
use glutin::api::egl::config::Config;
use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::api::egl::device::Device;
use glutin::api::egl::display::Display;
use glutin::config::{ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{
    ContextApi, ContextAttributesBuilder, GlProfile, PossiblyCurrentGlContext, Robustness, Version,
};
use glutin::display::GlDisplay;
use gpupy_codegen::{fragment, mesa_cache};
use gpupy_core::driver::Config as Wanted;
use gpupy_core::{Error, ErrorKind, Result};
use std::ffi::{CStr, c_void};

/// Versions of OpenGL to ask for, best first.
const VERSIONS: [(u8, u8); 8] = [(4, 6), (4, 5), (4, 4), (4, 3), (4, 2), (4, 1), (4, 0), (3, 3)];

/// `glTextureBarrier`.
type Barrier = unsafe extern "system" fn();

/// A current context and its functions.
pub struct GlContext {
    /// The functions.
    pub gl: glow::Context,
    /// The limits that the context reports.
    pub limits: Limits,
    /// Makes drawn texels visible to fetches from the texture that is being drawn to, where a fragment may read
    /// the texel that it overwrites.
    pub texture_barrier: Option<Barrier>,
    /// Keeps the context alive and current; `Some` until it is dropped.
    context: Option<ContextHandle>,
    /// Dropped last.
    _share: DisplayLease,
}

/// A context of this driver.
enum ContextHandle {
    Own(PossiblyCurrentContext),
    Joined(SharedContext),
}

impl ContextHandle {
    fn close(self) {
        match self {
            // A context that is current somewhere outlives its handle. A lost context may refuse the call,
            // and is gone anyway.
            ContextHandle::Own(context) => drop(context.make_not_current()),
            ContextHandle::Joined(joined) => drop(joined),
        }
    }
}

impl Drop for GlContext {
    fn drop(&mut self) {
        self.context.take().into_iter().for_each(ContextHandle::close);
    }
}

/// The limits of a context.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The device's name.
    pub renderer: String,
    /// The driver's name and version, with the vendor's.
    pub version: String,
    /// The names of the devices before this one that have a context, and its own.
    pub devices: Vec<String>,
    /// False for rasterisers that run on the CPU.
    pub hardware: bool,
    /// The dialect of shaders.
    pub glsl: fragment::Version,
    /// Texels each way of the largest texture.
    pub texture_size: u32,
    /// Textures that a fragment shader may read.
    pub texture_units: u32,
    /// Scalars that a fragment shader may be given.
    pub uniform_components: u32,
    /// Textures that a fragment shader may write at once.
    pub draw_buffers: u32,
    /// Bytes of memory on the device, if it reports them.
    pub memory: Option<u64>,
    /// Whether compiled programs can be read back and loaded.
    pub program_binaries: bool,
    /// True when shaders compute with integers and floats of 64 bits.
    pub long: bool,
}

/// Opens the first device with a good context, among those that the configuration selects.
///
/// # Errors
/// - `Unavailable`: there is no libEGL, no device, no device with a good enough context, or none of those is
///   selected.
pub fn open(wanted: &Wanted) -> Result<GlContext> {
    let mut reasons = Vec::new();
    // Only a context tells the name of its device.
    let mut names = Vec::new();
    mesa_cache::keep_from_full_disk();
    // Taken before any use of EGL, which a forked process may not make.
    let _share = DisplayLease::take()?;
    match Device::query_devices() {
        Err(error) => reasons.push(format!("no libEGL that lists devices: {error}")),
        Ok(devices) => {
            for (number, device) in devices.enumerate() {
                match open_device(&device) {
                    Ok(mut context) => {
                        names.push(context.limits.renderer.clone());
                        let meant = wanted.choose(&names).unwrap_or_default();
                        if !meant.contains(&(names.len() - 1)) {
                            continue;
                        }
                        if context.limits.hardware || !wanted.hardware {
                            context.limits.devices = names;
                            return Ok(context);
                        }
                        reasons.push(format!("device {number}: it is no hardware GPU"));
                    }
                    Err(reason) => reasons.push(format!("device {number}: {reason}")),
                }
            }
        }
    }
    wanted.choose(&names)?;
    if reasons.is_empty() {
        reasons.push("EGL lists no device".to_owned());
    }
    Err(Error::new(ErrorKind::Unavailable, "init")
        .says("no OpenGL context with GLSL 4.00 could be opened")
        .with("driver", NAME)
        .with("reason", reasons.join("; "))
        .with("on Debian install", "libegl1 libgl1-mesa-dri"))
}

/// Opens a context that shares its objects with a renderer's.
///
/// # Errors
/// - `Unavailable`: no such context is good enough.
pub fn join(renderer: Renderer) -> Result<GlContext> {
    let share = DisplayLease::take()?;
    let refused = |reason: String| {
        Error::new(ErrorKind::Unavailable, "init")
            .says("no OpenGL context with GLSL 4.00 shares its objects with the current one")
            .with("driver", NAME)
            .with("reason", reason)
    };
    let joined = SharedContext::open(renderer, &VERSIONS).map_err(refused)?;
    let kept = |name: &CStr| joined.address(name);
    // SAFETY: the context is current in this thread, and the functions are its display's.
    let gl = unsafe { glow::Context::from_loader_function_cstr(kept) };
    let texture_barrier = texture_barrier(kept, &gl);
    finish(gl, texture_barrier, ContextHandle::Joined(joined), share).map_err(refused)
}

fn open_device(device: &Device) -> std::result::Result<GlContext, String> {
    let words = |error: glutin::error::Error| error.to_string();
    let share = DisplayLease::take().map_err(|error| error.to_string())?;
    // SAFETY: no raw display is passed, so there is none that could become invalid.
    let display = unsafe { Display::with_device(device, None) }.map_err(words)?;
    share.opened(&display);
    let template =
        ConfigTemplateBuilder::new().with_surface_type(ConfigSurfaceTypes::empty()).build();
    // SAFETY: the template names no native window.
    let mut configs = unsafe { display.find_configs(template) }.map_err(words)?;
    let config = configs.next().ok_or("no configuration without a surface")?;
    let mut reason = "no version of OpenGL from 4.6 to 3.3".to_owned();
    for (major, minor) in VERSIONS {
        for robust in [true, false] {
            match make_current(&display, &config, Version::new(major, minor), robust) {
                Ok(context) => {
                    let address = |name: &CStr| display.get_proc_address(name);
                    // SAFETY: the context is current in this thread, and the functions are its display's.
                    let gl = unsafe { glow::Context::from_loader_function_cstr(address) };
                    let texture_barrier = texture_barrier(address, &gl);
                    return finish(gl, texture_barrier, ContextHandle::Own(context), share);
                }
                Err(error) => reason = error.to_string(),
            }
        }
    }
    Err(reason)
}

fn make_current(
    display: &Display,
    config: &Config,
    version: Version,
    robust: bool,
) -> glutin::error::Result<PossiblyCurrentContext> {
    // A robust context reports that the device is lost, and keeps fetches inside their textures.
    let robustness = match robust {
        true => Robustness::RobustLoseContextOnReset,
        false => Robustness::NotRobust,
    };
    let attributes = ContextAttributesBuilder::new()
        .with_context_api(ContextApi::OpenGl(Some(version)))
        .with_profile(GlProfile::Core)
        .with_robustness(robustness)
        .build(None);
    // SAFETY: the attributes name no native window, and the configuration is of this display.
    let context = unsafe { display.create_context(config, &attributes) }?;
    context.make_current_surfaceless()
}

fn finish(
    gl: glow::Context,
    texture_barrier: Option<Barrier>,
    context: ContextHandle,
    share: DisplayLease,
) -> std::result::Result<GlContext, String> {
    match limits(&gl) {
        Ok(limits) => {
            Ok(GlContext { gl, limits, texture_barrier, context: Some(context), _share: share })
        }
        Err(reason) => {
            context.close();
            Err(reason)
        }
    }
}

/// The only function that glow lacks.
fn texture_barrier(
    address: impl Fn(&CStr) -> *const c_void,
    gl: &glow::Context,
) -> Option<Barrier> {
    let version = gl.version();
    let known = (version.major, version.minor) >= (4, 5)
        || gl.supported_extensions().contains("GL_ARB_texture_barrier");
    let address = address(c"glTextureBarrier");
    if !known || address.is_null() {
        return None;
    }
    // SAFETY: the address is not null, and the version or extension that was found gives
    // the function of this name this signature.
    Some(unsafe { std::mem::transmute::<*const c_void, Barrier>(address) })
}

fn limits(gl: &glow::Context) -> std::result::Result<Limits, String> {
    let version = gl.version();
    let extension = |name: &str| gl.supported_extensions().contains(name);
    let at_least = |major, minor| (version.major, version.minor) >= (major, minor);
    let glsl = match () {
        () if at_least(4, 0) => fragment::Version::V400,
        () if extension("GL_ARB_gpu_shader5") => fragment::Version::V330,
        () => return Err("neither GLSL 4.00 nor GL_ARB_gpu_shader5".to_owned()),
    };
    // SAFETY: these only query the current context, by names of every version since 3.3, or
    // of an extension that was found.
    let limits = unsafe {
        let number = |name| gl.get_parameter_i32(name).max(0) as u32;
        let renderer = gl.get_parameter_string(glow::RENDERER);
        let vendor = gl.get_parameter_string(glow::VENDOR);
        let memory = match () {
            () if extension("GL_NVX_gpu_memory_info") => Some(number(DEDICATED_VIDMEM_NVX)),
            () if extension("GL_ATI_meminfo") => {
                let mut free = [0; 4];
                gl.get_parameter_i32_slice(TEXTURE_FREE_MEMORY_ATI, &mut free);
                Some(free[0].max(0) as u32)
            }
            () => None,
        };
        let binaries = at_least(4, 1) || extension("GL_ARB_get_program_binary");
        Limits {
            hardware: !is_software(&renderer),
            version: format!("{} ({vendor})", gl.get_parameter_string(glow::VERSION)),
            renderer,
            devices: Vec::new(),
            glsl,
            texture_size: number(glow::MAX_TEXTURE_SIZE),
            texture_units: number(glow::MAX_TEXTURE_IMAGE_UNITS),
            uniform_components: number(glow::MAX_FRAGMENT_UNIFORM_COMPONENTS),
            draw_buffers: number(glow::MAX_DRAW_BUFFERS).min(number(glow::MAX_COLOR_ATTACHMENTS)),
            memory: memory.filter(|kib| *kib > 0).map(|kib| u64::from(kib) * 1024),
            long: at_least(4, 0) && extension("GL_ARB_gpu_shader_int64"),
            program_binaries: binaries && number(glow::NUM_PROGRAM_BINARY_FORMATS) > 0,
        }
    };
    Ok(limits)
}

/// `GL_GPU_MEMORY_INFO_DEDICATED_VIDMEM_NVX`, in KiB.
const DEDICATED_VIDMEM_NVX: u32 = 0x9047;
/// `GL_TEXTURE_FREE_MEMORY_ATI`, in KiB.
const TEXTURE_FREE_MEMORY_ATI: u32 = 0x87fc;

/// Whether this is a rasteriser that runs on the CPU, by its name.
fn is_software(renderer: &str) -> bool {
    let name = renderer.to_lowercase();
    ["llvmpipe", "softpipe", "swiftshader", "lavapipe", "software"].iter().any(|s| name.contains(s))
}
