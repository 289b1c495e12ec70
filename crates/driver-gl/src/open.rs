//! The state of an open driver.
//!
//! Owns [`OpenDriver`], and the transfers of its blocks. Not here: evaluation (`eval.rs`), the context's side of
//! transfers (`textures.rs`).

use crate::blocks::{Blocks, shape_of};
use crate::context::egl::Limits;
use crate::context::gpu::KernelId;
use crate::context::shared_context::Renderer;
use crate::context::thread::GlThread;
use crate::errors::NAME;
use crate::eval::Compiled;
use gpupy_codegen::fragment::DrawPlan;
use gpupy_codegen::kernel_cache::KernelCache;
use gpupy_core::driver::{BlockId, BlockSpec, Lend, LendKind, Lent};
use gpupy_core::{Error, ErrorKind, Result};
use std::ops::Range;

/// Writes of up to this many bytes are copied and queued; longer writes wait until the device has taken them.
const QUEUED_WRITE: usize = 1 << 16;

/// The state of an open driver.
pub struct OpenDriver {
    /// The renderer whose context shares its objects with ours, so that blocks can be lent to it.
    pub renderer: Option<Renderer>,
    /// The context's thread.
    pub thread: GlThread,
    /// The limits of the context.
    pub context: Limits,
    /// The blocks.
    pub blocks: Blocks,
    /// The compiled kernels.
    pub kernels: KernelCache<DrawPlan, Compiled>,
    /// The name of the kernel that was compiled last.
    pub newest: KernelId,
}

impl OpenDriver {
    /// Allocates a block of one texture.
    ///
    /// # Errors
    /// Those of [`Blocks::alloc`].
    pub fn alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.blocks.alloc(&self.thread, spec)
    }

    /// Frees a block of one texture, and kernels if memory was trimmed.
    pub fn free(&mut self, block: BlockId) {
        for kernel in self.kernels.trimmed() {
            // A thread that has ended has no kernels.
            let _ = self.thread.post(move |gpu| gpu.forget_kernel(kernel.id));
        }
        self.blocks.free(&self.thread, block);
    }

    /// Reads elements of a block of one texture.
    ///
    /// # Errors
    /// - `Invalid`: a dead handle.
    /// - `Poisoned`, `OutOfMemory`, `DeviceLost`: the context's own.
    pub fn read(&mut self, block: BlockId, range: Range<usize>, out: &mut [u8]) -> Result<()> {
        let (texture, _) = self.blocks.texture(&self.thread, block, None)?;
        self.thread.ask(|gpu| gpu.read(texture, range, out))?
    }

    /// Lends a block of one texture to the renderer whose context is current in this thread, or takes it back.
    ///
    /// # Errors
    /// - `Unsupported`: no objects are shared.
    /// - `Invalid`: a dead handle; or another context is current (a block to be taken back is back
    ///   nevertheless).
    /// - `Poisoned`, `OutOfMemory`, `DeviceLost`: the context's own.
    pub fn lend(&mut self, block: BlockId, lend: Lend) -> Result<Option<Lent>> {
        let spec = self.blocks.get(block)?.spec;
        let Some(renderer) = self.renderer else {
            return Err(Error::new(ErrorKind::Unsupported, "eval_ir")
                .says("the driver shares its objects with no renderer")
                .with("driver", NAME));
        };
        let is_here = renderer.is_current();
        let not_here = || {
            Error::new(ErrorKind::Invalid, "eval_ir")
                .says(
                    "the OpenGL context that the driver has joined is not the current one of this thread",
                )
                .with("driver", NAME)
        };
        let (texture, layout) = self.blocks.texture(&self.thread, block, None)?;
        let kind = lend.kind;
        if let Some(name) = lend.back {
            let fence = is_here.then(|| renderer.fence());
            self.blocks.lend(block, false);
            let back = (kind, name as u32);
            self.thread.ask(|gpu| gpu.take_back(texture, back, lend.writes, fence))??;
            return if is_here { Ok(None) } else { Err(not_here()) };
        }
        if !is_here {
            return Err(not_here());
        }
        let (name, fence) = self.thread.ask(|gpu| gpu.lend(texture, kind))??;
        renderer.wait(fence);
        self.blocks.lend(block, true);
        let shape = shape_of(spec.dtype, layout);
        let lent = Lent { name: name.into(), ..Lent::default() };
        Ok(Some(match kind {
            LendKind::Texture => Lent {
                target: glow::TEXTURE_2D,
                format: shape.internal_format(),
                width: shape.width,
                height: shape.height,
                row: shape.row.into(),
                ..lent
            },
            LendKind::Buffer => Lent { target: glow::ARRAY_BUFFER, row: spec.len as u64, ..lent },
        }))
    }

    /// Writes elements of a block of one texture.
    ///
    /// # Errors
    /// - `Invalid`: a dead handle.
    /// - `Poisoned`, `OutOfMemory`, `DeviceLost`: the context's own.
    pub fn write(&mut self, block: BlockId, range: Range<usize>, data: &[u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        let whole = range.len() == self.blocks.get(block)?.spec.len;
        let (texture, _) = self.blocks.texture(&self.thread, block, None)?;
        if data.len() > QUEUED_WRITE {
            return self.thread.ask(|gpu| gpu.write(texture, range, data, whole))?;
        }
        let data = data.to_vec();
        self.thread.post(move |gpu| {
            if let Err(error) = gpu.write(texture, range, &data, whole) {
                gpu.poison(texture, error);
            }
        })
    }
}
