//! Elements that only their base has: what an array is made of until somebody else wants its value.
//!
//! Owns [`Own`]. Most small arrays are computed, read and dropped; a value would cost them an identity,
//! maps of what is where, and three allocations. Few elements lie in the base itself. Invariants: all
//! elements are there, in C order; nobody else has the memory, so that whoever has the base's lock may
//! read and write it.
//!
//! Not here: when own elements become a value (`array.rs`).

use crate::dtype::DType;
use crate::host::HostBuffer;
use crate::value::{Origin, Value};
use crate::view::{Shape, size_of};
use std::ptr::NonNull;
use std::sync::Arc;

/// Elements in C order.
pub(crate) struct Own {
    pub dtype: DType,
    pub shape: Shape,
    /// How many operations led here, one after the other, all computed at once.
    pub depth: u32,
    origin: Origin,
    memory: Memory,
}

/// Bytes, aligned for every dtype.
pub(crate) enum Memory {
    Here(Here),
    Buffer(HostBuffer),
}

/// The most bytes that lie in the base.
const HERE: usize = 64;

/// Few bytes.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(crate) struct Here([u8; HERE]);

impl Memory {
    /// Memory of so many bytes, whatever they are.
    #[inline]
    pub fn new(len: usize) -> Memory {
        if len <= HERE {
            Memory::Here(Here([0; HERE]))
        } else {
            Memory::Buffer(HostBuffer::new(len))
        }
    }

    /// A copy of these bytes.
    pub fn of(bytes: &[u8]) -> Memory {
        let mut memory = Memory::new(bytes.len());
        // SAFETY: the memory is as long as the bytes, and nobody else has it.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.start().as_ptr(), bytes.len())
        };
        memory
    }

    /// The first byte; it stays there as long as the memory is not moved.
    pub fn start(&mut self) -> NonNull<u8> {
        match self {
            Memory::Here(here) => NonNull::from(&mut here.0).cast(),
            Memory::Buffer(buffer) => buffer.start(),
        }
    }
}

impl Own {
    /// Elements that lie in this memory, which has room for all of them.
    #[inline(always)]
    pub fn new(dtype: DType, shape: Shape, origin: Origin, memory: Memory) -> Own {
        Own { dtype, shape, depth: 0, origin, memory }
    }

    /// Other elements in place of these, in memory that has room for all of them.
    pub fn renew(&mut self, memory: Memory, depth: u32) {
        (self.memory, self.depth, self.origin) = (memory, depth, Origin::AtOnce);
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        size_of(&self.shape)
    }

    /// The elements.
    pub fn bytes(&self) -> &[u8] {
        let len = self.len() * self.dtype.size();
        match &self.memory {
            Memory::Here(here) => &here.0[..len],
            // SAFETY: nobody else has the buffer, so nobody writes to it.
            Memory::Buffer(buffer) => unsafe { buffer.bytes(0..len) },
        }
    }

    /// The elements, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.len() * self.dtype.size();
        match &mut self.memory {
            Memory::Here(here) => &mut here.0[..len],
            // SAFETY: nobody else has the buffer.
            Memory::Buffer(buffer) => unsafe { buffer.bytes_mut(0..len) },
        }
    }

    /// A value with these elements.
    pub fn into_value(self) -> Value {
        let buffer = match self.memory {
            Memory::Here(_) => HostBuffer::from_bytes(self.bytes()),
            Memory::Buffer(buffer) => buffer,
        };
        Value::in_memory(self.dtype, self.shape, self.origin, self.depth, Arc::new(buffer))
    }
}
