//! Uniquely owned elements, with a small buffer inline: the contents of an array until an expression needs its value.
//!
//! Owns [`OwnedElements`]. Most small arrays are computed, read and dropped. A value would cost them an identity, maps
//! of evaluated elements, and three allocations. Few elements are stored inline, in the base itself (small-buffer
//! optimisation). Invariants: all elements are there, in C order; no value shares the memory, so that the holder of the
//! base's lock may read and write it. Exports of a pinned base may, too (`pin.rs`).
//!
//! Not here: when own elements become a value (`base.rs`).

use crate::array::pinned::Pinned;
use crate::graph::value::{Origin, Value};
use crate::memory::element_bytes::fill_all;
use crate::memory::host_buffer::HostBuffer;
use gpupy_core::memory::{of_array, refused};
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{DType, Result};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;

/// Elements in C order.
pub(crate) struct OwnedElements {
    pub dtype: DType,
    pub shape: Shape,
    /// How many operations led here, one after the other, all computed eagerly.
    pub depth: u32,
    origin: Origin,
    memory: ElementStorage,
}

/// Bytes, aligned for every dtype.
pub(crate) struct ElementStorage {
    /// Where they are, if they are many or pinned.
    buffer: Option<ElementBuffer>,
    /// The inline buffer otherwise; bytes beyond the length that was asked for are never read.
    here: InlineBytes,
}

/// A buffer for the base alone, or for exports too.
enum ElementBuffer {
    Alone(HostBuffer),
    Pinned(Arc<Pinned>),
}

impl ElementBuffer {
    #[inline]
    fn start(&self) -> NonNull<u8> {
        match self {
            ElementBuffer::Alone(buffer) => buffer.start(),
            ElementBuffer::Pinned(pinned) => pinned.start(),
        }
    }
}

/// The most bytes that lie in the base.
const HERE: usize = 64;

/// A buffer of so many bytes, if they do not lie in the base.
#[inline]
fn many(bytes: usize) -> Result<Option<ElementBuffer>> {
    match bytes {
        ..=HERE => Ok(None),
        _ => HostBuffer::new(bytes).map(ElementBuffer::Alone).map(Some),
    }
}

/// The inline buffer. It is not initialised, as moving uninitialised bytes costs nothing.
#[repr(align(16))]
struct InlineBytes(MaybeUninit<[u8; HERE]>);

impl ElementStorage {
    /// Memory of `len` bytes, which the caller writes before they are read.
    fn new(len: usize) -> Result<ElementStorage> {
        Ok(ElementStorage { buffer: many(len)?, here: InlineBytes(MaybeUninit::uninit()) })
    }

    /// The bytes of a buffer.
    pub fn in_buffer(buffer: HostBuffer) -> ElementStorage {
        buffer.count_again();
        ElementStorage {
            buffer: Some(ElementBuffer::Alone(buffer)),
            here: InlineBytes(MaybeUninit::uninit()),
        }
    }

    /// A copy of these bytes.
    pub fn of(bytes: &[u8]) -> Result<ElementStorage> {
        let mut memory = ElementStorage::new(bytes.len())?;
        // SAFETY: the memory was just allocated with the length of `bytes`, and is not shared yet.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.start().as_ptr(), bytes.len())
        };
        Ok(memory)
    }

    /// So many elements that are all the same one.
    pub fn full(element: &[u8], len: usize) -> Result<ElementStorage> {
        let bytes = len.checked_mul(element.len()).ok_or_else(|| refused(usize::MAX))?;
        let mut memory = ElementStorage::new(bytes)?;
        // SAFETY: the memory has `bytes` bytes and is not shared yet; `write_bytes` initialises them.
        let room = unsafe {
            let start = memory.start().as_ptr();
            start.write_bytes(0, bytes);
            std::slice::from_raw_parts_mut(start, bytes)
        };
        if element.iter().any(|byte| *byte != 0) {
            fill_all(room, element);
        }
        Ok(memory)
    }

    /// The first byte, for writing; it stays there as long as the memory is not moved.
    #[inline]
    pub fn start(&mut self) -> NonNull<u8> {
        match &self.buffer {
            None => NonNull::from(&mut self.here.0).cast(),
            Some(buffer) => buffer.start(),
        }
    }

    /// The first byte.
    #[inline]
    fn first(&self) -> NonNull<u8> {
        match &self.buffer {
            None => NonNull::from(&self.here.0).cast(),
            Some(buffer) => buffer.start(),
        }
    }
}

impl OwnedElements {
    /// Elements that lie in this memory, which has room for all of them.
    #[inline(always)]
    pub fn new(
        dtype: DType,
        shape: Shape,
        origin: Origin,
        memory: ElementStorage,
    ) -> OwnedElements {
        OwnedElements { dtype, shape, depth: 0, origin, memory }
    }

    /// Elements without memory yet, for a result at the end of a chain of `depth` operations.
    #[inline(always)]
    pub fn blank(dtype: DType, origin: Origin, depth: u32) -> OwnedElements {
        let memory = ElementStorage { buffer: None, here: InlineBytes(MaybeUninit::uninit()) };
        OwnedElements { dtype, shape: Shape::new(), depth, origin, memory }
    }

    /// Makes room for elements in C order, replacing the old ones; the caller writes them before they are read.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room; nothing changed.
    #[inline(always)]
    pub fn make_room(&mut self, shape: &[usize]) -> Result<NonNull<u8>> {
        let bytes = size_of(shape) * self.dtype.size();
        self.memory.buffer = many(bytes)?;
        self.shape = Shape::from_slice(shape);
        Ok(self.memory.start())
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        size_of(&self.shape)
    }

    /// The first element.
    #[inline]
    pub fn start(&self) -> NonNull<u8> {
        self.memory.first()
    }

    /// The elements.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        let len = self.len() * self.dtype.size();
        // SAFETY: `len` bytes were written, and a write needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.memory.first().as_ptr(), len) }
    }

    /// The elements, for writing.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.len() * self.dtype.size();
        // SAFETY: `len` bytes were written, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.memory.start().as_ptr(), len) }
    }

    /// Puts other elements, as many and of the same dtype, in the place of these.
    pub fn replace(&mut self, other: OwnedElements) {
        match self.is_pinned() {
            true => self.bytes_mut().copy_from_slice(other.bytes()),
            false => *self = other,
        }
    }

    /// The memory for an export; the elements stay there until the export is gone, or with `for_life` as long
    /// as the base has them.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for few elements, which lay in the base.
    pub fn pin(&mut self, for_life: bool) -> Result<Arc<Pinned>> {
        let pinned = match self.memory.buffer.take() {
            None => Pinned::new(HostBuffer::from_bytes(self.bytes())?),
            Some(ElementBuffer::Alone(buffer)) => Pinned::new(buffer),
            Some(ElementBuffer::Pinned(pinned)) => pinned,
        };
        if for_life {
            pinned.stay();
        }
        self.memory.buffer = Some(ElementBuffer::Pinned(pinned.clone()));
        Ok(pinned)
    }

    /// Whether exports may have changed the elements since this was asked last.
    pub fn was_pinned(&mut self) -> bool {
        match self.memory.buffer.take() {
            Some(ElementBuffer::Pinned(pinned)) => {
                // Without exports it is asked for the last time.
                self.memory.buffer = Some(match Pinned::is_shared(&pinned) {
                    true => ElementBuffer::Pinned(pinned),
                    false => match Arc::try_unwrap(pinned) {
                        Ok(alone) => ElementBuffer::Alone(alone.into_buffer()),
                        Err(shared) => ElementBuffer::Pinned(shared),
                    },
                });
                true
            }
            other => {
                self.memory.buffer = other;
                false
            }
        }
    }

    /// Whether exports show the elements.
    #[inline]
    pub fn is_pinned(&self) -> bool {
        matches!(&self.memory.buffer, Some(ElementBuffer::Pinned(pinned)) if Pinned::is_shared(pinned))
    }

    /// A value with a copy of the elements.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for it.
    pub fn copied(&self) -> Result<Value> {
        let buffer = HostBuffer::from_bytes(self.bytes());
        let buffer = buffer.map_err(|error| of_array(error, &self.shape, self.dtype))?;
        let (shape, buffer) = (self.shape.clone(), Arc::new(buffer));
        Ok(Value::in_memory(self.dtype, shape, self.origin, self.depth, buffer))
    }

    /// Moves these elements, which are not pinned, into a value.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for a value's memory; the elements are here as they were.
    pub fn take_value(&mut self) -> Result<Value> {
        let buffer = match self.memory.buffer.take() {
            None => {
                let copied = HostBuffer::from_bytes(self.bytes());
                copied.map_err(|error| of_array(error, &self.shape, self.dtype))?
            }
            Some(ElementBuffer::Alone(buffer)) => buffer,
            Some(ElementBuffer::Pinned(pinned)) => match Arc::try_unwrap(pinned) {
                Ok(pinned) => pinned.into_buffer(),
                Err(shared) => {
                    self.memory.buffer = Some(ElementBuffer::Pinned(shared));
                    return self.copied();
                }
            },
        };
        let shape = std::mem::take(&mut self.shape);
        Ok(Value::in_memory(self.dtype, shape, self.origin, self.depth, Arc::new(buffer)))
    }
}
