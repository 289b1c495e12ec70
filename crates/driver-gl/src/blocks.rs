//! The live blocks, and the texture of each.
//!
//! Owns [`Blocks`], [`Block`] and their [`DTYPES`]. A block gets its texture at its first write or evaluation,
//! when more is known about the accesses to its elements. Invariants: the memory of live blocks never exceeds
//! the limit; a texture belongs to one block or to the pool.
//!
//! Not here: the textures themselves (`textures.rs`, on the context's thread).

use crate::context::gpu::TextureId;
use crate::context::textures::TextureShape;
use crate::context::thread::GlThread;
use crate::errors::NAME;
use gpupy_codegen::fragment::TextureLayout;
use gpupy_core::DType;
use gpupy_core::driver::{Access, BlockId, BlockSpec};
use gpupy_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The dtypes of blocks. A context may lack float64; blocks of 64 bits are two textures.
pub const DTYPES: [DType; 12] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::F16,
    DType::F32,
    DType::I64,
    DType::U64,
    DType::F64,
];

/// Memory of free textures that is kept for blocks that change their layout, in addition to the engine's pool:
/// fresh memory costs more than most arithmetic, because its pages are mapped one by one.
const POOL_BYTES: u64 = 64 << 20;

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its dtype and length.
    pub spec: BlockSpec,
    /// Its texture, once it has one.
    pub texture: Option<(TextureId, TextureLayout)>,
    /// The number of times that its layout has changed.
    moves: u8,
    /// The number of times that its texture is lent at present. A lent texture cannot move.
    lent: u32,
}

/// The most changes of a block's layout, so that two views do not move it back and forth.
const MOST_MOVES: u8 = 2;

/// Smaller blocks are not worth moving.
const LEAST_TO_MOVE: usize = 1 << 14;

/// The number of blocks that this process has had: a handle is unique across all drivers of this kind.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// All blocks.
#[derive(Debug, Default)]
pub struct Blocks {
    blocks: FxHashMap<u64, Block>,
    next_texture: TextureId,
    used: u64,
    limit: u64,
    texture_size: u32,
    /// Elements of the largest block.
    longest: usize,
    /// Free textures, oldest first.
    pool: Vec<(TextureShape, TextureId)>,
    pooled: u64,
}

impl Blocks {
    /// No blocks yet; a texture has at most `texture_size` texels each way.
    pub fn new(texture_size: u32) -> Blocks {
        Blocks { limit: u64::MAX, longest: usize::MAX, texture_size, ..Blocks::default() }
    }

    /// Sets the most bytes of all blocks together and the most elements of one, before there are any.
    ///
    /// # Errors
    /// - `DeviceLost`: the context is gone.
    pub fn limit(&mut self, thread: &GlThread, bytes: u64, longest: usize) -> Result<()> {
        (self.limit, self.longest) = (bytes, longest);
        self.trim(thread)
    }

    /// Allocates a block.
    ///
    /// # Errors
    /// - `OutOfMemory`: the limit would be exceeded.
    /// - `Invalid`: no block has such a length or dtype.
    pub fn alloc(&mut self, thread: &GlThread, spec: BlockSpec) -> Result<BlockId> {
        if !(1..=self.longest).contains(&spec.len) || !DTYPES.contains(&spec.dtype) {
            return Err(Error::new(ErrorKind::Invalid, "block_alloc")
                .says("there is no such block")
                .with("driver", NAME)
                .with("dtype", spec.dtype)
                .with("elements", spec.len)
                .with("most", self.longest));
        }
        let bytes = bytes(spec);
        if bytes > self.limit - self.used {
            return Err(Error::new(ErrorKind::OutOfMemory, "block_alloc")
                .with("driver", NAME)
                .with("bytes", bytes)
                .with("used", self.used)
                .with("limit", self.limit));
        }
        self.used += bytes;
        self.trim(thread)?;
        let id = 1 + COUNT.fetch_add(1, Ordering::Relaxed);
        self.blocks.insert(id, Block { spec, texture: None, moves: 0, lent: 0 });
        Ok(BlockId(id))
    }

    /// Frees a block; its texture goes to the pool.
    pub fn free(&mut self, thread: &GlThread, id: BlockId) {
        let Some(block) = self.blocks.remove(&id.0) else { return };
        self.used -= bytes(block.spec);
        if let Some((texture, layout)) = block.texture {
            self.release(shape_of(block.spec.dtype, layout), texture);
            // A thread that has ended has freed its textures.
            let _ = self.trim(thread);
        }
    }

    /// A live block.
    ///
    /// # Errors
    /// - `Invalid`: there is no such block.
    pub fn get(&self, id: BlockId) -> Result<Block> {
        self.blocks.get(&id.0).copied().ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "block")
                .says("there is no such block")
                .with("driver", NAME)
                .with("block", id.0)
        })
    }

    /// The block's texture. If it has none, one is created with the `wanted` layout, or with the usual one.
    ///
    /// # Errors
    /// - `Invalid`: there is no such block.
    /// - `DeviceLost`: the context is gone.
    pub fn texture(
        &mut self,
        thread: &GlThread,
        id: BlockId,
        wanted: Option<TextureLayout>,
    ) -> Result<(TextureId, TextureLayout)> {
        let block = self.get(id)?;
        if let Some(texture) = block.texture {
            return Ok(texture);
        }
        let layout = wanted.map_or_else(|| self.usual(block.spec.len), Ok)?;
        let texture = (self.take(thread, shape_of(block.spec.dtype, layout))?, layout);
        if let Some(block) = self.blocks.get_mut(&id.0) {
            block.texture = Some(texture);
        }
        Ok(texture)
    }

    /// Counts that a block's texture is lent (`goes`) or comes back.
    pub fn lend(&mut self, id: BlockId, goes: bool) {
        if let Some(block) = self.blocks.get_mut(&id.0) {
            block.lent = if goes { block.lent + 1 } else { block.lent.saturating_sub(1) };
        }
    }

    /// Changes the layout of a block whose contents are not needed.
    ///
    /// # Errors
    /// As for `texture`.
    pub fn relay(
        &mut self,
        thread: &GlThread,
        id: BlockId,
        wanted: TextureLayout,
    ) -> Result<(TextureId, TextureLayout)> {
        let block = self.get(id)?;
        if let Some((texture, layout)) = block.texture
            && layout != wanted
        {
            self.release(shape_of(block.spec.dtype, layout), texture);
            if let Some(block) = self.blocks.get_mut(&id.0) {
                block.texture = None;
            }
        }
        self.texture(thread, id, Some(wanted))
    }

    /// Moves a block's elements into rows that suit an access, where its own rows do not and the access shows
    /// how long rows should be. Afterwards each step of the access goes along a row or from row to row, so that
    /// positions need no division.
    ///
    /// # Errors
    /// As for `texture`.
    pub fn suit(
        &mut self,
        thread: &GlThread,
        id: BlockId,
        walk: &Access,
        shape: &[usize],
    ) -> Result<()> {
        let block = self.get(id)?;
        let len = block.spec.len;
        let Some((texture, layout)) = block.texture else { return Ok(()) };
        let may_move = block.moves < MOST_MOVES && block.lent == 0;
        if len < LEAST_TO_MOVE || !may_move || layout.suits(walk, shape) {
            return Ok(());
        }
        let strides = walk.strides.iter().zip(shape).filter(|(_, n)| **n > 1);
        let steps = strides.filter_map(|(stride, _)| usize::try_from(stride.abs()).ok());
        let wanted = steps.filter_map(|step| self.rows(len, step)).min_by_key(|rows| rows.width);
        let Some(wanted) = wanted.filter(|wanted| wanted.suits(walk, shape)) else { return Ok(()) };
        self.move_to(thread, id, (texture, layout), wanted)?;
        Ok(())
    }

    /// Moves a block's elements into rows without padding, for launches that write across the ends of rows.
    ///
    /// # Errors
    /// As for `texture`.
    pub fn unpad(&mut self, thread: &GlThread, id: BlockId) -> Result<(TextureId, TextureLayout)> {
        let wanted = self.square(self.get(id)?.spec.len)?;
        match self.get(id)?.texture {
            Some(from) => self.move_to(thread, id, from, wanted),
            None => self.texture(thread, id, Some(wanted)),
        }
    }

    fn move_to(
        &mut self,
        thread: &GlThread,
        id: BlockId,
        (texture, layout): (TextureId, TextureLayout),
        wanted: TextureLayout,
    ) -> Result<(TextureId, TextureLayout)> {
        let spec = self.get(id)?.spec;
        let to = self.take(thread, shape_of(spec.dtype, wanted))?;
        thread.post(move |gpu| gpu.copy(texture, to, spec.len))?;
        self.release(shape_of(spec.dtype, layout), texture);
        if let Some(block) = self.blocks.get_mut(&id.0) {
            block.texture = Some((to, wanted));
            block.moves += 1;
        }
        Ok((to, wanted))
    }

    /// The layout of a block about which only its length is known.
    ///
    /// # Errors
    /// As for `square`.
    pub fn usual(&self, len: usize) -> Result<TextureLayout> {
        // Many arrays are square.
        let row = len.isqrt();
        let square = (row * row == len).then(|| self.rows(len, row)).flatten();
        square.filter(|rows| !rows.is_padded()).map_or_else(|| self.square(len), Ok)
    }

    /// The layout that assumes nothing about a block.
    ///
    /// # Errors
    /// - `Invalid`: no texture is large enough, although the capabilities promise one.
    fn square(&self, len: usize) -> Result<TextureLayout> {
        TextureLayout::square(len, self.texture_size).ok_or_else(|| {
            Error::new(ErrorKind::Invalid, "block_alloc")
                .says("a block is larger than the largest texture")
                .with("driver", NAME)
                .with("elements", len)
        })
    }

    /// A layout with rows of `row` elements, where that makes a texture of sensible proportions.
    pub fn rows(&self, len: usize, row: usize) -> Option<TextureLayout> {
        // Rasterisers work on squares of texels; narrow and flat textures leave them half empty.
        let sensible = |layout: &TextureLayout| layout.width >= 16 && layout.height >= 4;
        self.any_rows(len, row).filter(sensible)
    }

    /// A layout with rows of `row` elements, where that is possible at all.
    pub fn any_rows(&self, len: usize, row: usize) -> Option<TextureLayout> {
        TextureLayout::rows(len, row, self.texture_size)
    }

    fn take(&mut self, thread: &GlThread, shape: TextureShape) -> Result<TextureId> {
        // The newest is the most likely to be in the cache, where the device is a CPU.
        if let Some(at) = self.pool.iter().rposition(|(s, _)| *s == shape) {
            self.pooled -= shape.bytes();
            return Ok(self.pool.remove(at).1);
        }
        self.next_texture += 1;
        let id = self.next_texture;
        thread.post(move |gpu| gpu.create(id, shape))?;
        Ok(id)
    }

    fn release(&mut self, shape: TextureShape, texture: TextureId) {
        self.pool.push((shape, texture));
        self.pooled += shape.bytes();
    }

    /// Deletes free textures, oldest first, until they and the blocks fit.
    fn trim(&mut self, thread: &GlThread) -> Result<()> {
        let room = POOL_BYTES.min(self.limit - self.used);
        let mut deleted = Vec::new();
        let mut count = 0;
        while self.pooled > room && count < self.pool.len() {
            let (shape, texture) = self.pool[count];
            self.pooled -= shape.bytes();
            deleted.push(texture);
            count += 1;
        }
        if deleted.is_empty() {
            return Ok(());
        }
        self.pool.drain(..count);
        thread.post(move |gpu| deleted.into_iter().for_each(|texture| gpu.delete(texture)))
    }
}

/// The shape of the texture for elements of `dtype` in this layout.
pub fn shape_of(dtype: DType, layout: TextureLayout) -> TextureShape {
    TextureShape { dtype, width: layout.width, height: layout.height, row: layout.row }
}

fn bytes(spec: BlockSpec) -> u64 {
    spec.len as u64 * spec.dtype.size() as u64
}
