//! The state of the context's thread: textures, shaders, draws, transfers.
//!
//! Owns [`Gpu`] and [`Draw`]. Invariants: after opening, every call into OpenGL is made here or in
//! `textures.rs` and `kernel_compiler.rs`, with the context current; a failed draw poisons its targets and
//! nothing else.
//!
//! Not here: blocks and kernels as the caller's side knows them (`blocks.rs`, `eval.rs`).

use crate::context::egl::{self, GlContext, Limits};
use crate::context::kernel_compiler::{Kernel, compile};
use crate::context::shared_context::{Fence, Renderer};
use crate::context::textures::{Texture, TextureShape};
use crate::context::turns::Turn;
use crate::errors::NAME;
use crate::errors::lost;
use glow::HasContext;
use gpupy_codegen::fragment::Area;
use gpupy_core::driver::{Config, LendKind};
use gpupy_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The name of a texture, chosen by the caller's side.
pub type TextureId = u32;

/// The name of a compiled kernel, chosen by the caller's side.
pub type KernelId = u32;

/// One draw.
#[derive(Debug)]
pub struct Draw {
    /// The kernel.
    pub kernel: KernelId,
    /// The textures that it reads, in the order of its samplers.
    pub operands: Vec<TextureId>,
    /// The textures that it writes, in the order of its outputs.
    pub targets: Vec<TextureId>,
    /// Whether it reads the old contents of its target.
    pub reads_old: bool,
    /// Whether it overwrites its targets completely.
    pub whole: bool,
    /// The kernel arguments.
    pub words: Vec<i32>,
    /// The texels to draw.
    pub area: Area,
}

/// The context's state.
pub struct Gpu {
    pub(crate) context: GlContext,
    textures: FxHashMap<TextureId, Texture>,
    kernels: FxHashMap<KernelId, Kernel>,
    /// Draws to several textures go through this.
    framebuffer: Option<glow::Framebuffer>,
    /// A copy of a target's old contents, where a texture may not be read while it is written.
    copy: Option<Texture>,
    current: Option<KernelId>,
    unflushed: bool,
    lost: bool,
    /// The renderer whose context shares its objects with this one.
    renderer: Option<Renderer>,
    /// Buffers that are lent, by their names in OpenGL.
    lent: FxHashMap<u32, glow::Buffer>,
}

impl Gpu {
    /// Opens a context in the thread's turn, and sets the state that never changes.
    ///
    /// # Errors
    /// - `Unavailable`: there is no context.
    pub fn open(config: &Config, renderer: Option<Renderer>, _turn: &Turn<'_>) -> Result<Gpu> {
        let context = match renderer {
            Some(renderer) => egl::join(renderer)?,
            None => egl::open(config)?,
        };
        let gl = &context.gl;
        // SAFETY: the context is current; these set its own state.
        let framebuffer = unsafe {
            // The core profile draws nothing without a vertex array, even an empty one.
            let array = gl.create_vertex_array().ok();
            gl.bind_vertex_array(array);
            gl.disable(glow::DITHER);
            gl.enable(glow::SCISSOR_TEST);
            gl.pixel_store_i32(glow::PACK_ALIGNMENT, 1);
            gl.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
            gl.create_framebuffer().ok()
        };
        Ok(Gpu {
            context,
            textures: FxHashMap::default(),
            kernels: FxHashMap::default(),
            framebuffer,
            copy: None,
            current: None,
            unflushed: false,
            lost: false,
            renderer,
            lent: FxHashMap::default(),
        })
    }

    /// The limits of the context.
    pub fn limits(&self) -> &Limits {
        &self.context.limits
    }

    /// Whether there are queued commands that `flush` has not handed to the device.
    pub fn has_unflushed(&self) -> bool {
        self.unflushed
    }

    /// Hands queued commands to the device.
    pub fn flush(&mut self) {
        if std::mem::take(&mut self.unflushed) {
            // SAFETY: the context is current.
            unsafe { self.context.gl.flush() };
        }
    }

    /// Creates a texture, or poisons its name.
    pub fn create(&mut self, id: TextureId, shape: TextureShape) {
        let mut texture = Texture::create(&self.context.gl, shape);
        if texture.handle.is_none() {
            texture.poison = Some(out_of_memory(shape));
        }
        self.textures.insert(id, texture);
    }

    /// Copies `len` elements of one texture to another of the same dtype and other proportions.
    pub fn copy(&mut self, from: TextureId, to: TextureId, len: usize) {
        let (Some(mut source), Some(mut target)) =
            (self.textures.remove(&from), self.textures.remove(&to))
        else {
            return;
        };
        target.poison = source.poison.clone();
        if target.handle.is_some() && !source.copy_to(&self.context.gl, &mut target, len) {
            target.poison = Some(out_of_memory(source.shape));
        }
        self.unflushed = true;
        if let Err(error) = self.check_error("eval_ir") {
            target.poison = Some(error);
        }
        self.textures.insert(from, source);
        self.textures.insert(to, target);
    }

    /// Deletes a texture; the device keeps it until the work that uses it is done.
    pub fn delete(&mut self, id: TextureId) {
        if let Some(texture) = self.textures.remove(&id) {
            texture.delete(&self.context.gl);
        }
    }

    /// Compiles a kernel.
    ///
    /// # Errors
    /// - `Refused`: the compiler does not take the shader.
    pub fn compile(&mut self, id: KernelId, source: &str, samplers: &[String]) -> Result<()> {
        self.check_lost()?;
        let kernel = compile(&self.context, source, samplers)?;
        self.current = None;
        self.kernels.insert(id, kernel);
        Ok(())
    }

    /// Deletes a kernel.
    pub fn forget_kernel(&mut self, id: KernelId) {
        if let Some(kernel) = self.kernels.remove(&id) {
            self.current = None;
            // SAFETY: the program was made in this context and is not used again.
            unsafe { self.context.gl.delete_program(kernel.program) };
        }
    }

    /// Draws; an error becomes the poison of the targets.
    pub fn draw(&mut self, draw: &Draw) {
        let result = self.try_draw(draw);
        for target in &draw.targets {
            let Some(texture) = self.textures.get_mut(target) else { continue };
            match &result {
                Ok(()) if draw.whole => texture.poison = None,
                Ok(()) => {}
                Err(error) => texture.poison = Some(error.clone()),
            }
        }
    }

    fn try_draw(&mut self, draw: &Draw) -> Result<()> {
        self.check_lost()?;
        for id in draw.operands.iter() {
            if let Some(poison) = self.textures.get(id).and_then(|t| t.poison.clone()) {
                return Err(poison);
            }
        }
        if draw.reads_old && self.context.texture_barrier.is_none() {
            self.copy_target(draw)?;
        }
        self.attach(&draw.targets)?;
        let kernel = self.kernels.get(&draw.kernel).ok_or_else(|| broken("no such kernel"))?;
        let gl = &self.context.gl;
        let Area { x, y, width, height } = draw.area;
        let (x, y, width, height) = (x as i32, y as i32, width as i32, height as i32);
        // SAFETY: the context is current, all objects are its own, and the words fill the array
        // `k` of the kernel that they were planned with.
        unsafe {
            if self.current != Some(draw.kernel) {
                gl.use_program(Some(kernel.program));
                self.current = Some(draw.kernel);
            }
            for (unit, id) in draw.operands.iter().enumerate() {
                gl.active_texture(glow::TEXTURE0 + unit as u32);
                let texture = self.textures.get(id).and_then(|t| t.handle);
                gl.bind_texture(glow::TEXTURE_2D, texture);
            }
            if draw.reads_old {
                let old = match self.context.texture_barrier {
                    Some(_) => self.textures.get(&draw.targets[0]).and_then(|t| t.handle),
                    None => self.copy.as_ref().and_then(|t| t.handle),
                };
                gl.active_texture(glow::TEXTURE0 + draw.operands.len() as u32);
                gl.bind_texture(glow::TEXTURE_2D, old);
                if let Some(barrier) = self.context.texture_barrier {
                    barrier();
                }
            }
            if let Some(words) = &kernel.words {
                gl.uniform_4_i32_slice(Some(words), &draw.words);
            }
            gl.viewport(x, y, width, height);
            gl.scissor(x, y, width, height);
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
        }
        self.unflushed = true;
        self.check_error("eval_ir")
    }

    /// Binds textures as the targets of the next draw.
    fn attach(&mut self, targets: &[TextureId]) -> Result<()> {
        if let [target] = targets {
            let texture = self.textures.get_mut(target).ok_or_else(|| broken("no such texture"))?;
            return match texture.bind_as_target(&self.context.gl) {
                true => Ok(()),
                false => Err(texture.poison.clone().unwrap_or_else(|| broken("no framebuffer"))),
            };
        }
        let gl = &self.context.gl;
        let mut buffers = Vec::new();
        // SAFETY: the context is current, and framebuffer and textures are its own.
        unsafe {
            gl.bind_framebuffer(glow::FRAMEBUFFER, self.framebuffer);
            for number in 0..self.context.limits.draw_buffers {
                let attachment = glow::COLOR_ATTACHMENT0 + number;
                let target = targets.get(number as usize);
                let texture = target.and_then(|id| self.textures.get(id)).and_then(|t| t.handle);
                gl.framebuffer_texture_2d(
                    glow::FRAMEBUFFER,
                    attachment,
                    glow::TEXTURE_2D,
                    texture,
                    0,
                );
                if target.is_some() {
                    buffers.push(attachment);
                }
            }
            gl.draw_buffers(&buffers);
            if gl.check_framebuffer_status(glow::FRAMEBUFFER) != glow::FRAMEBUFFER_COMPLETE {
                return Err(broken("the targets cannot be drawn to together"));
            }
        }
        Ok(())
    }

    /// Copies the area of a draw's target, for devices that cannot read and write one texture.
    fn copy_target(&mut self, draw: &Draw) -> Result<()> {
        let missing = || broken("no such texture");
        let target = self.textures.get_mut(&draw.targets[0]).ok_or_else(missing)?;
        let gl = &self.context.gl;
        if self.copy.as_ref().is_none_or(|copy| copy.shape != target.shape) {
            if let Some(old) = self.copy.take() {
                old.delete(gl);
            }
            self.copy = Some(Texture::create(gl, target.shape));
        }
        target.bind_as_target(gl);
        let Area { x, y, width, height } = draw.area;
        let (x, y, width, height) = (x as i32, y as i32, width as i32, height as i32);
        // SAFETY: the context is current; the area lies inside both textures, which are alike.
        unsafe {
            gl.active_texture(glow::TEXTURE0);
            gl.bind_texture(glow::TEXTURE_2D, self.copy.as_ref().and_then(|t| t.handle));
            gl.copy_tex_sub_image_2d(glow::TEXTURE_2D, 0, x, y, x, y, width, height);
        }
        self.check_error("eval_ir")
    }

    /// Reads elements of a texture.
    ///
    /// # Errors
    /// - `Poisoned`: the evaluation that should have written it failed.
    /// - `DeviceLost`: the context is gone.
    pub fn read(&mut self, id: TextureId, elements: Range<usize>, out: &mut [u8]) -> Result<()> {
        self.check_lost()?;
        let texture = self.textures.get_mut(&id).ok_or_else(|| broken("no such texture"))?;
        if let Some(cause) = &texture.poison {
            return Err(poisoned("block_read", cause));
        }
        self.unflushed = false;
        if elements.is_empty() {
            // SAFETY: the context is current.
            unsafe { self.context.gl.finish() };
        }
        texture.read(&self.context.gl, elements, out);
        self.check_error("block_read")
    }

    /// Writes elements of a texture; `whole` means all of its elements.
    ///
    /// # Errors
    /// - `DeviceLost`: the context is gone.
    pub fn write(
        &mut self,
        id: TextureId,
        elements: Range<usize>,
        data: &[u8],
        whole: bool,
    ) -> Result<()> {
        self.check_lost()?;
        let texture = self.textures.get_mut(&id).ok_or_else(|| broken("no such texture"))?;
        if texture.handle.is_none() {
            return Err(texture.poison.clone().unwrap_or_else(lost));
        }
        if whole {
            texture.poison = None;
        }
        texture.write(&self.context.gl, elements, data, whole);
        self.check_error("block_write")
    }

    /// Returns the name under which a renderer finds a texture, or a buffer with a copy of its elements, and a
    /// fence after the commands that write it.
    ///
    /// # Errors
    /// - `Poisoned`, `DeviceLost`: as for `read`. `OutOfMemory`: there is no memory for the buffer.
    pub fn lend(&mut self, id: TextureId, kind: LendKind) -> Result<(u32, Fence)> {
        self.check_lost()?;
        let renderer = self.renderer.ok_or_else(|| broken("nothing is shared"))?;
        let texture = self.textures.get_mut(&id).ok_or_else(|| broken("no such texture"))?;
        if let Some(cause) = &texture.poison {
            return Err(poisoned("eval_ir", cause));
        }
        let name = match kind {
            LendKind::Texture => texture.handle.map(|texture| texture.0.get()),
            LendKind::Buffer => texture.copied_to_buffer(&self.context.gl).map(|buffer| {
                self.lent.insert(buffer.0.get(), buffer);
                buffer.0.get()
            }),
        };
        let shape = texture.shape;
        self.check_error("eval_ir")?;
        let name = name.ok_or_else(|| out_of_memory(shape))?;
        self.unflushed = false;
        Ok((name, renderer.fence()))
    }

    /// Takes back a texture or buffer that was lent under a name, after a fence of the renderer's; the elements
    /// of a buffer that was `written` are copied.
    ///
    /// # Errors
    /// As for `write`.
    pub fn take_back(
        &mut self,
        id: TextureId,
        (kind, name): (LendKind, u32),
        written: bool,
        fence: Option<Fence>,
    ) -> Result<()> {
        self.check_lost()?;
        if let (Some(renderer), Some(fence)) = (self.renderer, fence) {
            renderer.wait(fence);
        }
        if kind == LendKind::Buffer
            && let Some(buffer) = self.lent.remove(&name)
        {
            if written && let Some(texture) = self.textures.get_mut(&id) {
                texture.take_buffer(&self.context.gl, buffer);
            }
            // SAFETY: the context is current; the device keeps the buffer until the work that uses it is done.
            unsafe { self.context.gl.delete_buffer(buffer) };
        }
        self.unflushed = true;
        self.check_error("eval_ir")
    }

    /// Declares a texture's contents undefined.
    pub fn poison(&mut self, id: TextureId, error: Error) {
        if let Some(texture) = self.textures.get_mut(&id) {
            texture.poison = Some(error);
        }
    }

    fn check_lost(&self) -> Result<()> {
        if self.lost { Err(lost()) } else { Ok(()) }
    }

    /// Turns the context's error, if there is one, into an error of the contract.
    fn check_error(&mut self, operation: &'static str) -> Result<()> {
        // SAFETY: the context is current.
        let code = unsafe { self.context.gl.get_error() };
        match code {
            glow::NO_ERROR => Ok(()),
            glow::CONTEXT_LOST => {
                self.lost = true;
                Err(lost())
            }
            glow::OUT_OF_MEMORY => {
                Err(Error::new(ErrorKind::OutOfMemory, operation).with("driver", NAME))
            }
            code => Err(broken("OpenGL reports an error").with("code", format!("{code:#x}"))),
        }
    }
}

fn poisoned(operation: &'static str, cause: &Error) -> Error {
    Error::new(ErrorKind::Poisoned, operation)
        .with("driver", NAME)
        .with("cause", cause)
        .from_source(cause.clone())
}

fn out_of_memory(shape: TextureShape) -> Error {
    Error::new(ErrorKind::OutOfMemory, "block_alloc")
        .with("driver", NAME)
        .with("bytes", shape.bytes())
}

/// An error of this driver itself.
fn broken(what: &str) -> Error {
    Error::new(ErrorKind::Invalid, "gl").says(what).with("driver", NAME)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::context::display::DisplayLease;
    use gpupy_core::DType;

    const SHAPE: TextureShape = TextureShape { dtype: DType::F32, width: 1, height: 1, row: 4 };
    const ALL: Area = Area { x: 0, y: 0, width: 1, height: 1 };

    fn draw(operands: Vec<TextureId>, target: TextureId, whole: bool) -> Draw {
        let targets = vec![target];
        Draw { kernel: 1, operands, targets, reads_old: false, whole, words: vec![], area: ALL }
    }

    #[test]
    fn poison_spreads_along_evaluations_and_ends_with_new_contents() {
        let lease = DisplayLease::take().unwrap();
        let turn = Turn::wait(&lease);
        let Ok(mut gpu) = Gpu::open(&Config::default(), None, &turn) else {
            return gpupy_conformance::skipped("no context");
        };
        let copy = "#version 400 core\nuniform sampler2D t0;\nout vec4 o0;\n\
                    void main() { o0 = texelFetch(t0, ivec2(0), 0); }\n";
        gpu.compile(1, copy, &["t0".to_owned()]).unwrap();
        (1..=3).for_each(|id| gpu.create(id, SHAPE));
        let bytes = 2.5f32.to_ne_bytes().repeat(4);
        let mut out = [0; 16];
        (1..=3).for_each(|id| gpu.write(id, 0..4, &bytes, true).unwrap());

        gpu.poison(1, broken("a test"));
        gpu.draw(&draw(vec![1], 2, true));
        let error = gpu.read(2, 0..4, &mut out).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Poisoned);
        assert!(error.fact("cause").unwrap().contains("a test"), "{error}");
        gpu.read(3, 0..4, &mut out).unwrap();
        // A write of a part does not make the rest right; a whole one does.
        gpu.write(2, 0..1, &bytes[..4], false).unwrap();
        assert!(gpu.read(2, 0..4, &mut out).is_err());
        gpu.draw(&draw(vec![3], 2, true));
        gpu.read(2, 0..4, &mut out).unwrap();
        assert_eq!(out[..], bytes[..]);
    }

    #[test]
    fn a_target_can_be_read_where_it_is_written() {
        let lease = DisplayLease::take().unwrap();
        let turn = Turn::wait(&lease);
        let Ok(mut gpu) = Gpu::open(&Config::default(), None, &turn) else {
            return gpupy_conformance::skipped("no context");
        };
        let add = "#version 400 core\nuniform sampler2D old;\nout vec4 o0;\n\
                   void main() { o0 = texelFetch(old, ivec2(gl_FragCoord.xy), 0) + 1.0; }\n";
        gpu.compile(1, add, &["old".to_owned()]).unwrap();
        // With the barrier where there is one, and by a copy.
        for _ in 0..2 {
            gpu.create(1, SHAPE);
            gpu.write(1, 0..4, &[0; 16], true).unwrap();
            for _ in 0..3 {
                gpu.draw(&Draw { reads_old: true, ..draw(vec![], 1, false) });
            }
            let mut out = [0; 16];
            gpu.read(1, 0..4, &mut out).unwrap();
            assert_eq!(out[..], 3f32.to_ne_bytes().repeat(4)[..]);
            gpu.delete(1);
            gpu.context.texture_barrier = None;
        }
    }
}
