//! A context that shares its objects with a renderer's.
//!
//! Owns [`Renderer`], the EGL context that was current in the thread that opened the driver, and
//! [`SharedContext`], a context that shares its textures and buffers. Invariants: a renderer's context and
//! display are never destroyed here; only fences are made in it, and only where it is current.
//!
//! Not here: contexts that share with none (`egl.rs`), lending (`gpu.rs`).

use crate::errors::NAME;
use gpupy_core::{Error, ErrorKind, Result};
use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

type Handle = *mut c_void;

const OPENGL_API: u32 = 0x30a2;
const CONFIG_ID: i32 = 0x3028;
const NONE: i32 = 0x3038;
const CLIENT_TYPE: i32 = 0x3097;
const MAJOR: i32 = 0x3098;
const MINOR: i32 = 0x30fb;
const PROFILE: i32 = 0x30fd;
const CORE: i32 = 1;

/// Functions of EGL, and of OpenGL's fences, with the signatures of every version.
struct EglFunctions {
    current_context: unsafe extern "system" fn() -> Handle,
    current_display: unsafe extern "system" fn() -> Handle,
    query_context: unsafe extern "system" fn(Handle, Handle, i32, *mut i32) -> u32,
    choose_config: unsafe extern "system" fn(Handle, *const i32, *mut Handle, i32, *mut i32) -> u32,
    bind_api: unsafe extern "system" fn(u32) -> u32,
    create_context: unsafe extern "system" fn(Handle, Handle, Handle, *const i32) -> Handle,
    make_current: unsafe extern "system" fn(Handle, Handle, Handle, Handle) -> u32,
    destroy_context: unsafe extern "system" fn(Handle, Handle) -> u32,
    error: unsafe extern "system" fn() -> i32,
    address: unsafe extern "system" fn(*const c_char) -> *const c_void,
    fence: unsafe extern "system" fn(u32, u32) -> Handle,
    wait: unsafe extern "system" fn(Handle, u32, u64),
    delete: unsafe extern "system" fn(Handle),
    flush: unsafe extern "system" fn(),
    finish: unsafe extern "system" fn(),
}

static FUNCTIONS: OnceLock<std::result::Result<EglFunctions, String>> = OnceLock::new();

/// Turns an address into a function pointer.
///
/// # Safety
/// The address is null, or that of a function of this type.
unsafe fn function<T: Copy>(address: *const c_void, name: &CStr) -> std::result::Result<T, String> {
    if address.is_null() || size_of::<T>() != size_of::<*const c_void>() {
        return Err(format!("there is no {}", name.to_string_lossy()));
    }
    // SAFETY: the address is not null, `T` is as large as a pointer, and the caller guarantees its type.
    Ok(unsafe { std::mem::transmute_copy(&address) })
}

impl EglFunctions {
    fn get() -> std::result::Result<&'static EglFunctions, String> {
        FUNCTIONS.get_or_init(EglFunctions::load).as_ref().map_err(Clone::clone)
    }

    fn load() -> std::result::Result<EglFunctions, String> {
        let names = ["libEGL.so.1", "libEGL.so", "libEGL.dll"];
        // SAFETY: these are libraries of the system, made to be loaded.
        let opened = names.iter().find_map(|name| unsafe { Library::new(name) }.ok());
        let library = opened.ok_or("there is no libEGL")?;
        // The library stays loaded until the process ends: contexts outlive this value.
        let library = Box::leak(Box::new(library));
        let own = |name: &CStr| {
            // SAFETY: the symbol is only read as an address here.
            let symbol = unsafe { library.get::<*const c_void>(name.to_bytes_with_nul()) };
            symbol.map_or(std::ptr::null(), |symbol| *symbol)
        };
        // SAFETY: EGL's specification and OpenGL's give these functions these types.
        unsafe {
            let address: unsafe extern "system" fn(*const c_char) -> *const c_void =
                function(own(c"eglGetProcAddress"), c"eglGetProcAddress")?;
            let of_gl = |name: &CStr| address(name.as_ptr());
            macro_rules! load {
                ($of:ident $name:literal) => {
                    function($of($name), $name)?
                };
            }
            Ok(EglFunctions {
                current_context: load!(own c"eglGetCurrentContext"),
                current_display: load!(own c"eglGetCurrentDisplay"),
                query_context: load!(own c"eglQueryContext"),
                choose_config: load!(own c"eglChooseConfig"),
                bind_api: load!(own c"eglBindAPI"),
                create_context: load!(own c"eglCreateContext"),
                make_current: load!(own c"eglMakeCurrent"),
                destroy_context: load!(own c"eglDestroyContext"),
                error: load!(own c"eglGetError"),
                address,
                fence: load!(of_gl c"glFenceSync"),
                wait: load!(of_gl c"glWaitSync"),
                delete: load!(of_gl c"glDeleteSync"),
                flush: load!(of_gl c"glFlush"),
                finish: load!(of_gl c"glFinish"),
            })
        }
    }
}

/// A point in a context's commands for which another context can wait.
#[derive(Clone, Copy, Debug)]
pub struct Fence(usize);

/// The context of a renderer.
#[derive(Clone, Copy)]
pub struct Renderer {
    functions: &'static EglFunctions,
    display: usize,
    context: usize,
    config: i32,
}

fn refused(reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable, "init").says(reason).with("driver", NAME)
}

impl Renderer {
    /// The context that is current in this thread.
    ///
    /// # Errors
    /// - `Unavailable`: no OpenGL context of EGL is current.
    pub fn current() -> Result<Renderer> {
        let functions = EglFunctions::get().map_err(refused)?;
        let mut renderer = Renderer { functions, display: 0, context: 0, config: 0 };
        // SAFETY: these are queries; handles come from EGL, and results go to local variables.
        let kind = unsafe {
            renderer.context = (functions.current_context)() as usize;
            renderer.display = (functions.current_display)() as usize;
            if renderer.context == 0 {
                return Err(refused(
                    "no OpenGL context of EGL is current in this thread, with which objects could be \
                     shared: make the renderer's current first (those of GLX, WGL and CGL cannot be \
                     joined)",
                ));
            }
            let (context, display) = (renderer.context as Handle, renderer.display as Handle);
            let mut kind = 0;
            (functions.query_context)(display, context, CLIENT_TYPE, &mut kind);
            (functions.query_context)(display, context, CONFIG_ID, &mut renderer.config);
            kind
        };
        match kind as u32 {
            OPENGL_API => Ok(renderer),
            _ => Err(refused(
                "the context that is current in this thread is none of OpenGL, and shares nothing with one",
            )),
        }
    }

    /// Whether the context is current in this thread.
    pub fn is_current(&self) -> bool {
        // SAFETY: this is a query.
        unsafe { (self.functions.current_context)() as usize == self.context }
    }

    /// Makes a fence after all commands of the context that is current in this thread, which is this one or
    /// shares with it, and flushes them.
    pub fn fence(&self) -> Fence {
        const SYNC_GPU_COMMANDS_COMPLETE: u32 = 0x9117;
        // SAFETY: a context of OpenGL 3.3 or newer is current, as callers guarantee, and has fences.
        unsafe {
            let fence = (self.functions.fence)(SYNC_GPU_COMMANDS_COMPLETE, 0);
            match fence.is_null() {
                // Without memory for a fence, all work is finished now.
                true => (self.functions.finish)(),
                false => (self.functions.flush)(),
            }
            Fence(fence as usize)
        }
    }

    /// Makes later commands of the context that is current in this thread wait for a fence, which is consumed.
    pub fn wait(&self, fence: Fence) {
        if fence.0 == 0 {
            return;
        }
        // SAFETY: a context is current, as for `fence`; the fence belongs to a context that shares its objects,
        // and is deleted once.
        unsafe {
            (self.functions.wait)(fence.0 as Handle, 0, u64::MAX);
            (self.functions.delete)(fence.0 as Handle);
        }
    }
}

/// A context of this driver that shares its objects with a renderer's; current in the thread that opened it
/// until it is dropped there.
pub struct SharedContext {
    renderer: Renderer,
    context: Handle,
}

impl SharedContext {
    /// Opens a context of the first of these versions that is available.
    ///
    /// # Errors
    /// The error that EGL reports for the last version.
    pub fn open(
        renderer: Renderer,
        versions: &[(u8, u8)],
    ) -> std::result::Result<SharedContext, String> {
        let functions = renderer.functions;
        let display = renderer.display as Handle;
        // SAFETY: the display is the renderer's, and initialised; attribute lists end with NONE.
        unsafe {
            if (functions.bind_api)(OPENGL_API) == 0 {
                return Err("EGL has no OpenGL".to_owned());
            }
            let (mut config, mut found) = (null_mut(), 0);
            if renderer.config != 0 {
                let wanted = [CONFIG_ID, renderer.config, NONE];
                (functions.choose_config)(display, wanted.as_ptr(), &mut config, 1, &mut found);
            }
            for (major, minor) in versions {
                let attributes =
                    [MAJOR, i32::from(*major), MINOR, i32::from(*minor), PROFILE, CORE, NONE];
                let share = renderer.context as Handle;
                let made = (functions.create_context)(display, config, share, attributes.as_ptr());
                if made.is_null() {
                    continue;
                }
                let joined = SharedContext { renderer, context: made };
                // Without surfaces it never appears in a window.
                match (functions.make_current)(display, null_mut(), null_mut(), made) {
                    0 => break,
                    _ => return Ok(joined),
                }
            }
            Err(format!("EGL shares no context (error {:#06x})", (functions.error)()))
        }
    }

    /// The address of a function of OpenGL.
    pub fn address(&self, name: &CStr) -> *const c_void {
        // SAFETY: the name is a C string, and the result is only used as an address here.
        unsafe { (self.renderer.functions.address)(name.as_ptr()) }
    }
}

impl Drop for SharedContext {
    fn drop(&mut self) {
        let functions = self.renderer.functions;
        let display = self.renderer.display as Handle;
        // SAFETY: the context is this driver's. Where the renderer has terminated its display, both calls are
        // refused, and the context
        // is gone with it.
        unsafe {
            (functions.make_current)(display, null_mut(), null_mut(), null_mut());
            (functions.destroy_context)(display, self.context);
        }
    }
}
