//! Arrays over the memory of another owner.
//!
//! Not here: elements of our own (`base.rs`), elements that other code has of ours (`part_exports.rs`).

use crate::array::base::Array;
use crate::graph::value::Value;
use crate::memory::host_buffer::HostBuffer;
use gpupy_core::DType;
use gpupy_core::shape::size_of;
use std::ptr::NonNull;
use std::sync::Arc;

impl Array {
    /// An array of elements that lie in the memory of another owner, in C order. They are only read there: a write
    /// gives the array memory of its own first.
    ///
    /// # Safety
    /// From `memory` on, the elements of the shape are aligned for the dtype, initialised, and the same ones as
    /// long as `owner` lives.
    pub unsafe fn of_constant(
        dtype: DType,
        shape: &[usize],
        memory: NonNull<u8>,
        owner: Box<dyn Send + Sync>,
    ) -> Array {
        // SAFETY: the caller promises that these bytes stay as they are while `owner` lives.
        let buffer = unsafe { HostBuffer::constant(memory, size_of(shape) * dtype.size(), owner) };
        Array::from_value(Value::host(dtype, shape, Arc::new(buffer)))
    }

    /// An array of elements in memory that its owner gave up, in C order: they are read and written there.
    ///
    /// # Safety
    /// From `memory` on, the elements of the shape are aligned for the dtype and initialised, and nothing else reads or
    /// writes them as long as `owner` lives.
    pub unsafe fn of_sole(
        dtype: DType,
        shape: &[usize],
        memory: NonNull<u8>,
        owner: Box<dyn Send + Sync>,
    ) -> Array {
        // SAFETY: the caller promises that nothing else reads or writes these bytes while `owner` lives.
        let buffer = unsafe { HostBuffer::sole(memory, size_of(shape) * dtype.size(), owner) };
        Array::from_value(Value::host(dtype, shape, Arc::new(buffer)))
    }
}
