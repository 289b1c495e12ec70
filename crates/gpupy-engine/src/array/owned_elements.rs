//! Uniquely owned elements: the contents of an array until an expression needs its value.
//!
//! Owns [`OwnedElements`]. Most small arrays are computed, read and dropped. A value would cost them an identity, maps
//! of evaluated elements, and three allocations. Invariants: all elements are there, in C order; the holder of the
//! base's lock may read and write them. Exports of a pinned base may, too (`pin.rs`).
//!
//! Not here: their memory (`memory/cow_buffer.rs`), when own elements become a value (`contents.rs`).

use crate::graph::value::set_aside::SetAside;
use crate::graph::value::{Origin, Value};
use crate::memory::cow_buffer::CowBuffer;
use crate::memory::host_buffer::HostBuffer;
use crate::memory::ranges::Ranges;
use gpupy_core::memory::of_array;
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{DType, Result};
use std::ptr::NonNull;
use std::sync::Arc;

/// Elements in C order.
pub(crate) struct OwnedElements {
    pub dtype: DType,
    pub shape: Shape,
    /// How many operations led here, one after the other, all computed eagerly.
    pub depth: u32,
    origin: Origin,
    memory: CowBuffer,
    /// The blocks that a device has of them, where they came to host memory to be written.
    set_aside: Option<Box<SetAside>>,
}

impl OwnedElements {
    /// Elements that lie in this memory, which has room for all of them.
    #[inline(always)]
    pub fn new(dtype: DType, shape: Shape, origin: Origin, memory: CowBuffer) -> OwnedElements {
        OwnedElements { dtype, shape, depth: 0, origin, memory, set_aside: None }
    }

    /// Elements without memory yet, for a result at the end of a chain of `depth` operations.
    #[inline(always)]
    pub fn blank(dtype: DType, origin: Origin, depth: u32) -> OwnedElements {
        let (shape, memory) = (Shape::new(), CowBuffer::blank());
        OwnedElements { dtype, shape, depth, origin, memory, set_aside: None }
    }

    /// Makes room for elements in C order, replacing the old ones; the caller writes them before they are read.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room; nothing changed.
    #[inline(always)]
    pub fn make_room(&mut self, shape: &[usize]) -> Result<&mut [u8]> {
        self.set_aside = None;
        let room = self.memory.make_room(size_of(shape) * self.dtype.size())?;
        self.shape = Shape::from_slice(shape);
        Ok(room)
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        size_of(&self.shape)
    }

    fn byte_len(&self) -> usize {
        self.len() * self.dtype.size()
    }

    /// The first element.
    #[inline]
    pub fn start(&self) -> NonNull<u8> {
        self.memory.start()
    }

    /// The elements.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.memory.bytes(self.byte_len())
    }

    /// The elements, for writing; `None` where there is no room for a copy that others do not read.
    #[inline]
    pub fn make_mut(&mut self) -> Option<&mut [u8]> {
        // Which ones are written is not known.
        self.set_aside = None;
        self.memory.make_mut(self.byte_len())
    }

    /// As of [`CowBuffer::is_alone`].
    #[inline]
    pub fn is_alone(&self) -> bool {
        self.memory.is_alone()
    }

    /// As `make_mut`, where these positions are written alone.
    #[inline]
    pub fn make_mut_at(&mut self, written: impl FnOnce() -> Ranges) -> Option<&mut [u8]> {
        if let Some(set_aside) = &mut self.set_aside {
            set_aside.note(&written());
        }
        self.memory.make_mut(self.byte_len())
    }

    /// Keeps the blocks that a device has of the elements.
    pub fn set_aside(&mut self, blocks: Value) {
        self.set_aside = Some(Box::new(SetAside::new(blocks)));
    }

    /// Puts other elements, as many and of the same dtype, in the place of these.
    pub fn replace(&mut self, other: OwnedElements) -> Option<()> {
        match self.is_pinned() {
            true => self.make_mut()?.copy_from_slice(other.bytes()),
            false => *self = other,
        }
        Some(())
    }

    /// As of [`CowBuffer::share`].
    pub fn share(&mut self) -> Option<Arc<HostBuffer>> {
        self.memory.share()
    }

    /// As of [`CowBuffer::pin`].
    pub fn pin(&mut self, for_life: bool) -> Result<Arc<HostBuffer>> {
        self.set_aside = None;
        self.memory.pin(self.byte_len(), for_life)
    }

    /// Whether exports may have changed the elements since this was asked last.
    pub fn was_pinned(&mut self) -> bool {
        self.memory.was_pinned()
    }

    /// Whether exports show the elements, or may.
    #[inline]
    pub fn is_pinned(&self) -> bool {
        self.memory.is_pinned()
    }

    /// Whether the elements lie in memory of another owner.
    pub fn is_foreign(&self) -> bool {
        self.memory.is_foreign()
    }

    /// Whether there are exports that show the elements.
    pub fn is_exported(&self) -> bool {
        self.memory.is_exported()
    }

    /// A value with a copy of the elements.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for it.
    pub fn copied(&self) -> Result<Value> {
        self.value_in(HostBuffer::from_bytes(self.bytes()).map(Arc::new))
    }

    /// Moves these elements, which are not pinned, into a value.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for a value's memory; the elements are here as they were.
    pub fn take_value(&mut self) -> Result<Value> {
        let taken = self.memory.take_shared(self.byte_len());
        let value = self.value_in(taken)?;
        if let Some(set_aside) = self.set_aside.take() {
            set_aside.leave_to(&value);
        }
        Ok(value)
    }

    /// A value whose elements are in this memory.
    fn value_in(&self, memory: Result<Arc<HostBuffer>>) -> Result<Value> {
        let memory = memory.map_err(|error| of_array(error, &self.shape, self.dtype))?;
        let shape = Shape::from_slice(&self.shape);
        Ok(Value::in_memory(self.dtype, shape, self.origin, self.depth, memory))
    }
}
