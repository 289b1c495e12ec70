//! Textures that hold blocks, and transfers of their elements.
//!
//! Owns [`Texture`] and [`TextureShape`]. Invariants: a texel is four elements, bit for bit; a transfer touches
//! only the texels of its elements.
//!
//! Not here: the texture of each block (`blocks.rs`).

use glow::{HasContext, PixelPackData, PixelUnpackData};
use gpupy_core::DType;
use gpupy_core::Error;
use gpupy_core::memory;
use std::ops::Range;

/// The format and size of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureShape {
    /// The dtype of the elements.
    pub dtype: DType,
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Elements in a row: as many as a row has room for, or up to three fewer.
    pub row: u32,
}

impl TextureShape {
    /// Whether rows end with unused places.
    pub fn is_padded(&self) -> bool {
        self.row < self.width * 4
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height) * self.texel_bytes() as u64
    }

    /// Bytes of the unused places of a row.
    fn padding(&self) -> u64 {
        u64::from(self.width * 4 - self.row) * self.dtype.size() as u64
    }

    /// OpenGL's number of the texture's format.
    pub fn internal_format(&self) -> u32 {
        self.format().0
    }

    fn texel_bytes(&self) -> usize {
        4 * self.dtype.size()
    }

    /// OpenGL's numbers of the texture's format, and of the format and type of its transfers.
    fn format(&self) -> (u32, u32, u32) {
        match self.dtype {
            DType::F32 => (glow::RGBA32F, glow::RGBA, glow::FLOAT),
            DType::I32 => (glow::RGBA32I, glow::RGBA_INTEGER, glow::INT),
            DType::U32 => (glow::RGBA32UI, glow::RGBA_INTEGER, glow::UNSIGNED_INT),
            // A value that does not fit would saturate, but shaders write only values that fit.
            DType::I8 => (glow::RGBA8I, glow::RGBA_INTEGER, glow::BYTE),
            DType::I16 => (glow::RGBA16I, glow::RGBA_INTEGER, glow::SHORT),
            // float16 travels as bits, which no conversion changes.
            DType::U16 | DType::F16 => (glow::RGBA16UI, glow::RGBA_INTEGER, glow::UNSIGNED_SHORT),
            _ => (glow::RGBA8UI, glow::RGBA_INTEGER, glow::UNSIGNED_BYTE),
        }
    }
}

/// A texture.
pub struct Texture {
    /// Its format and size.
    pub shape: TextureShape,
    /// OpenGL's name; `None` if there was no memory.
    pub handle: Option<glow::Texture>,
    /// The error of the evaluation that left its contents undefined.
    pub poison: Option<Error>,
    framebuffer: Option<glow::Framebuffer>,
}

/// Texels in one rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rectangle {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl Texture {
    /// Creates a texture with undefined contents. Without memory it has no handle.
    pub fn create(gl: &glow::Context, shape: TextureShape) -> Texture {
        let (internal, format, kind) = shape.format();
        // SAFETY: the context is current; no memory of ours is read.
        let handle = unsafe {
            // Clears older errors, which other calls have reported.
            gl.get_error();
            let handle = gl.create_texture().ok();
            gl.active_texture(glow::TEXTURE0);
            gl.bind_texture(glow::TEXTURE_2D, handle);
            for (name, value) in [
                // Integer textures are incomplete with filters.
                (glow::TEXTURE_MIN_FILTER, glow::NEAREST),
                (glow::TEXTURE_MAG_FILTER, glow::NEAREST),
                (glow::TEXTURE_MAX_LEVEL, 0),
            ] {
                gl.tex_parameter_i32(glow::TEXTURE_2D, name, value as i32);
            }
            gl.tex_image_2d(
                glow::TEXTURE_2D,
                0,
                internal as i32,
                shape.width as i32,
                shape.height as i32,
                0,
                format,
                kind,
                PixelUnpackData::Slice(None),
            );
            match (gl.get_error(), handle) {
                (glow::NO_ERROR, handle) => handle,
                (_, Some(handle)) => {
                    gl.delete_texture(handle);
                    None
                }
                _ => None,
            }
        };
        Texture { shape, handle, poison: None, framebuffer: None }
    }

    /// Deletes it.
    pub fn delete(self, gl: &glow::Context) {
        // SAFETY: the context is current and made these objects, and `self` was the only reference to them.
        unsafe {
            if let Some(framebuffer) = self.framebuffer {
                gl.delete_framebuffer(framebuffer);
            }
            if let Some(handle) = self.handle {
                gl.delete_texture(handle);
            }
        }
    }

    /// Binds it as the only target of draws and the source of reads; false when that is impossible.
    pub fn bind_as_target(&mut self, gl: &glow::Context) -> bool {
        let Some(handle) = self.handle else { return false };
        // SAFETY: the context is current and made these objects.
        unsafe {
            if let Some(framebuffer) = self.framebuffer {
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
                return true;
            }
            let Ok(framebuffer) = gl.create_framebuffer() else { return false };
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            gl.framebuffer_texture_2d(
                glow::FRAMEBUFFER,
                glow::COLOR_ATTACHMENT0,
                glow::TEXTURE_2D,
                Some(handle),
                0,
            );
            self.framebuffer = Some(framebuffer);
            gl.check_framebuffer_status(glow::FRAMEBUFFER) == glow::FRAMEBUFFER_COMPLETE
        }
    }

    /// Copies elements to `out`, which has their exact size.
    pub fn read(&mut self, gl: &glow::Context, elements: Range<usize>, out: &mut [u8]) {
        if elements.is_empty() || !self.bind_as_target(gl) {
            return;
        }
        if self.shape.is_padded() {
            return self.read_padded(gl, elements, out);
        }
        let (size, texel) = (self.shape.dtype.size(), self.shape.texel_bytes());
        let inner = elements.start.div_ceil(4)..elements.end / 4;
        let mut part = |texels: Range<usize>| {
            let mut bytes = vec![0; texels.len() * texel];
            self.read_texels(gl, texels.start, &mut bytes);
            // The requested elements among these texels.
            let first = elements.start.max(texels.start * 4);
            let end = elements.end.min(texels.end * 4);
            let from = (first - texels.start * 4) * size;
            let to = (first - elements.start) * size;
            let len = (end - first) * size;
            out[to..to + len].copy_from_slice(&bytes[from..from + len]);
        };
        if inner.is_empty() {
            part(elements.start / 4..elements.end.div_ceil(4));
            return;
        }
        if inner.start * 4 > elements.start {
            part(inner.start - 1..inner.start);
        }
        if inner.end * 4 < elements.end {
            part(inner.end..inner.end + 1);
        }
        let from = (inner.start * 4 - elements.start) * size;
        self.read_texels(gl, inner.start, &mut out[from..from + inner.len() * texel]);
    }

    /// Copies elements from `data`; `whole` means all elements of the block.
    pub fn write(&mut self, gl: &glow::Context, elements: Range<usize>, data: &[u8], whole: bool) {
        if elements.is_empty() {
            return;
        }
        if self.shape.is_padded() {
            return self.write_padded(gl, elements, data);
        }
        let (size, texel) = (self.shape.dtype.size(), self.shape.texel_bytes());
        let inner = elements.start.div_ceil(4)..elements.end / 4;
        let part = |this: &mut Texture, texels: Range<usize>| {
            let mut bytes = vec![0; texels.len() * texel];
            // Neighbouring elements are kept; after the end of a whole block there are none.
            if !whole && this.bind_as_target(gl) {
                this.read_texels(gl, texels.start, &mut bytes);
            }
            let first = elements.start.max(texels.start * 4);
            let end = elements.end.min(texels.end * 4);
            let to = (first - texels.start * 4) * size;
            let from = (first - elements.start) * size;
            let len = (end - first) * size;
            bytes[to..to + len].copy_from_slice(&data[from..from + len]);
            this.write_texels(gl, texels.start, &bytes);
        };
        if inner.is_empty() {
            part(self, elements.start / 4..elements.end.div_ceil(4));
            return;
        }
        let from = (inner.start * 4 - elements.start) * size;
        self.write_texels(gl, inner.start, &data[from..from + inner.len() * texel]);
        if inner.start * 4 > elements.start {
            part(self, inner.start - 1..inner.start);
        }
        if inner.end * 4 < elements.end {
            part(self, inner.end..inner.end + 1);
        }
    }

    /// A buffer with a contiguous copy of the elements, made on the device; `None` without memory for it.
    pub fn copied_to_buffer(&mut self, gl: &glow::Context) -> Option<glow::Buffer> {
        if !self.bind_as_target(gl) {
            return None;
        }
        let (_, format, kind) = self.shape.format();
        let width = self.shape.width as i32;
        let bytes = i32::try_from(self.row_start(self.shape.height) + self.shape.padding()).ok()?;
        // SAFETY: the context is current; the buffer has room for each row after the rows before it.
        unsafe {
            let buffer = gl.create_buffer().ok()?;
            gl.bind_buffer(glow::PIXEL_PACK_BUFFER, Some(buffer));
            gl.buffer_data_size(glow::PIXEL_PACK_BUFFER, bytes, glow::STREAM_COPY);
            let has_room = gl.get_error() == glow::NO_ERROR;
            if has_room {
                for (y, height) in self.strips() {
                    let start = PixelPackData::BufferOffset(self.row_start(y) as u32);
                    gl.read_pixels(0, y as i32, width, height as i32, format, kind, start);
                }
            }
            gl.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
            if has_room {
                return Some(buffer);
            }
            gl.delete_buffer(buffer);
            None
        }
    }

    /// Copies the elements from a buffer that `copied_to_buffer` made.
    pub fn take_buffer(&mut self, gl: &glow::Context, buffer: glow::Buffer) {
        let (_, format, kind) = self.shape.format();
        let width = self.shape.width as i32;
        // SAFETY: the context is current, and the buffer has all rows of this texture.
        unsafe {
            gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, Some(buffer));
            gl.active_texture(glow::TEXTURE0);
            gl.bind_texture(glow::TEXTURE_2D, self.handle);
            for (y, height) in self.strips() {
                let start = PixelUnpackData::BufferOffset(self.row_start(y) as u32);
                let (y, height) = (y as i32, height as i32);
                gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, y, width, height, format, kind, start);
            }
            gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
        }
    }

    /// Groups of rows with contiguous elements, as first row and number of rows: all rows, or each by itself if
    /// rows are padded.
    fn strips(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let height = self.shape.height;
        let step = if self.shape.is_padded() { 1 } else { height.max(1) };
        (0..height).step_by(step as usize).map(move |y| (y, step))
    }

    /// The start of a row among elements without padding, in bytes.
    fn row_start(&self, row: u32) -> u64 {
        u64::from(row) * u64::from(self.shape.row) * self.shape.dtype.size() as u64
    }

    /// Copies `len` elements to a texture of the same dtype; false when there is no memory for that.
    pub fn copy_to(&mut self, gl: &glow::Context, target: &mut Texture, len: usize) -> bool {
        if !self.shape.is_padded() && !target.shape.is_padded() {
            return self.copy_texels(gl, target);
        }
        let Ok(mut bytes) = memory::zeroed(len * self.shape.dtype.size()) else { return false };
        self.read(gl, 0..len, &mut bytes);
        target.write(gl, 0..len, &bytes, true);
        true
    }

    /// Copies texels in order, through a buffer on the device.
    fn copy_texels(&mut self, gl: &glow::Context, target: &Texture) -> bool {
        if !self.bind_as_target(gl) {
            return false;
        }
        let (_, format, kind) = self.shape.format();
        let (width, height) = (self.shape.width as i32, self.shape.height as i32);
        let (to_width, to_height) = (target.shape.width as i32, target.shape.height as i32);
        let bytes = self.shape.bytes().max(target.shape.bytes());
        let Ok(bytes) = i32::try_from(bytes) else { return false };
        // SAFETY: the context is current; the buffer has room for either texture, and both formats
        // and types are the same.
        unsafe {
            let Ok(buffer) = gl.create_buffer() else { return false };
            gl.bind_buffer(glow::PIXEL_PACK_BUFFER, Some(buffer));
            gl.buffer_data_size(glow::PIXEL_PACK_BUFFER, bytes, glow::STREAM_COPY);
            let room = gl.get_error() == glow::NO_ERROR;
            if room {
                let start = PixelPackData::BufferOffset(0);
                gl.read_pixels(0, 0, width, height, format, kind, start);
            }
            gl.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
            if room {
                gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, Some(buffer));
                gl.active_texture(glow::TEXTURE0);
                gl.bind_texture(glow::TEXTURE_2D, target.handle);
                gl.tex_sub_image_2d(
                    glow::TEXTURE_2D,
                    0,
                    0,
                    0,
                    to_width,
                    to_height,
                    format,
                    kind,
                    PixelUnpackData::BufferOffset(0),
                );
                gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
            }
            gl.delete_buffer(buffer);
            room
        }
    }

    fn read_padded(&self, gl: &glow::Context, elements: Range<usize>, out: &mut [u8]) {
        let mut left = out;
        for part in self.padded_parts(elements) {
            let mut bytes =
                vec![0; part.texels.width * part.texels.height * self.shape.texel_bytes()];
            self.read_rectangle(gl, part.texels, Some(&mut bytes));
            for row in bytes.chunks_exact(part.texels.width * self.shape.texel_bytes()) {
                let (head, tail) = std::mem::take(&mut left).split_at_mut(part.bytes.len());
                head.copy_from_slice(&row[part.bytes.clone()]);
                left = tail;
            }
        }
    }

    fn write_padded(&mut self, gl: &glow::Context, elements: Range<usize>, data: &[u8]) {
        let row_bytes = self.shape.row as usize * self.shape.dtype.size();
        let mut left = data;
        for part in self.padded_parts(elements) {
            let width = part.texels.width * self.shape.texel_bytes();
            let mut bytes = vec![0; width * part.texels.height];
            // Neighbouring elements are kept; padding has no meaning.
            let beside = part.bytes.start > 0 || part.bytes.end < width.min(row_bytes);
            if beside && self.bind_as_target(gl) {
                self.read_rectangle(gl, part.texels, Some(&mut bytes));
            }
            for row in bytes.chunks_exact_mut(width) {
                let (head, tail) = left.split_at(part.bytes.len());
                row[part.bytes.clone()].copy_from_slice(head);
                left = tail;
            }
            self.write_rectangle(gl, part.texels, Some(&bytes));
        }
    }

    /// Consecutive elements of a texture with padded rows, in parts of moderate size.
    fn padded_parts(&self, elements: Range<usize>) -> Vec<PaddedPart> {
        let size = self.shape.dtype.size();
        let rows_at_once = (PART_BYTES / (self.shape.width as usize * 4 * size)).max(1);
        let mut parts = Vec::new();
        for r in rectangles(elements.start, elements.len(), self.shape.row as usize) {
            let x = r.x / 4;
            let texels = Rectangle { x, y: r.y, width: (r.x + r.width).div_ceil(4) - x, height: 1 };
            let start = (r.x - x * 4) * size;
            for y in (0..r.height).step_by(rows_at_once) {
                let height = rows_at_once.min(r.height - y);
                let texels = Rectangle { y: r.y + y, height, ..texels };
                parts.push(PaddedPart { texels, bytes: start..start + r.width * size });
            }
        }
        parts
    }

    fn read_texels(&self, gl: &glow::Context, first: usize, out: &mut [u8]) {
        let texel = self.shape.texel_bytes();
        let mut done = 0;
        for r in rectangles(first, out.len() / texel, self.shape.width as usize) {
            let len = r.width * r.height * texel;
            self.read_rectangle(gl, r, out.get_mut(done..done + len));
            done += len;
        }
    }

    fn write_texels(&self, gl: &glow::Context, first: usize, data: &[u8]) {
        let texel = self.shape.texel_bytes();
        let mut done = 0;
        for r in rectangles(first, data.len() / texel, self.shape.width as usize) {
            let len = r.width * r.height * texel;
            self.write_rectangle(gl, r, data.get(done..done + len));
            done += len;
        }
    }

    /// Reads a rectangle of the texture, which is bound as target, into a slice of its exact size.
    fn read_rectangle(&self, gl: &glow::Context, r: Rectangle, out: Option<&mut [u8]>) {
        let (_, format, kind) = self.shape.format();
        let (x, y, width, height) = (r.x as i32, r.y as i32, r.width as i32, r.height as i32);
        let room = out.as_ref().map_or(0, |out| out.len());
        if room != r.width * r.height * self.shape.texel_bytes() {
            return;
        }
        // SAFETY: the context is current, and the slice has room for just this rectangle, since
        // rows are packed without gaps.
        unsafe { gl.read_pixels(x, y, width, height, format, kind, PixelPackData::Slice(out)) };
    }

    /// Writes a rectangle of the texture from a slice of its exact size.
    fn write_rectangle(&self, gl: &glow::Context, r: Rectangle, data: Option<&[u8]>) {
        let (_, format, kind) = self.shape.format();
        let (x, y, width, height) = (r.x as i32, r.y as i32, r.width as i32, r.height as i32);
        if data.map_or(0, <[u8]>::len) != r.width * r.height * self.shape.texel_bytes() {
            return;
        }
        // SAFETY: the context is current, and the slice holds just this rectangle, since rows are
        // packed without gaps.
        unsafe {
            gl.active_texture(glow::TEXTURE0);
            gl.bind_texture(glow::TEXTURE_2D, self.handle);
            let data = PixelUnpackData::Slice(data);
            gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, x, y, width, height, format, kind, data);
        }
    }
}

/// Elements of one row, or of several whole rows, where rows are padded.
#[derive(Clone, Debug)]
struct PaddedPart {
    texels: Rectangle,
    /// The bytes of the elements in each row of these texels.
    bytes: Range<usize>,
}

/// Bytes of padded rows that are moved at once, so that they stay in the CPU's cache.
const PART_BYTES: usize = 1 << 18;

/// Consecutive texels as rectangles: the rest of a row, whole rows, the beginning of a row.
fn rectangles(first: usize, count: usize, width: usize) -> impl Iterator<Item = Rectangle> {
    let mut at = first;
    let end = first + count;
    std::iter::from_fn(move || {
        let (x, y, left) = (at % width, at / width, end - at);
        let rectangle = match () {
            () if left == 0 => return None,
            () if x > 0 || left < width => {
                Rectangle { x, y, width: left.min(width - x), height: 1 }
            }
            () => Rectangle { x, y, width, height: left / width },
        };
        at += rectangle.width * rectangle.height;
        Some(rectangle)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_cover_their_texels_in_order() {
        for (first, count) in [(0, 0), (0, 12), (3, 1), (3, 2), (3, 11), (6, 13), (4, 8)] {
            let texels: Vec<usize> = rectangles(first, count, 4)
                .flat_map(|r| {
                    (0..r.height)
                        .flat_map(move |j| (0..r.width).map(move |i| (r.y + j) * 4 + r.x + i))
                })
                .collect();
            assert_eq!(texels, (first..first + count).collect::<Vec<_>>());
        }
    }
}
