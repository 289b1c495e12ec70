//! Where a value's elements are: which are computed, which are in host memory, and which were lost.
//!
//! Not here: values themselves (`mod.rs`), blocks (`blocks/`).

use super::node::NodeParts;
use super::{Node, Origin, Value, ValueKind, ValueStorage};
use crate::memory::cow_buffer::CowBuffer;
use crate::memory::host_buffer::HostBuffer;
use crate::memory::owned::Pages;
use crate::memory::ranges::Ranges;
use gpupy_core::driver::HostMemory;
use gpupy_core::memory::of_array;
use gpupy_core::shape::size_of;
use gpupy_core::{DType, Result};
use smallvec::SmallVec;
use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many elements in host memory may be copied, so that they can be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copies {
    /// So many. Memory is copied, too, if devices have blocks of the value, which would have to be sent again.
    UpTo(usize),
    /// All; devices let go of the value.
    Any,
}

/// Elements of a value in host memory, which stay there as they are while this lives.
#[derive(Clone)]
pub(crate) struct HostSlice {
    buffer: Arc<HostBuffer>,
    /// In bytes.
    range: Range<usize>,
}

impl HostSlice {
    /// All bytes of a buffer that has no other owner.
    pub fn whole(buffer: HostBuffer) -> HostSlice {
        let range = 0..buffer.len();
        HostSlice { buffer: Arc::new(buffer), range }
    }
}

impl Deref for HostSlice {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the evaluated map has the range. Memory that has another owner than its value is neither written
        // there nor released.
        unsafe { self.buffer.bytes(self.range.clone()) }
    }
}

impl ValueStorage {
    /// Lets go of elements of so many bytes each in host memory, which no block of a device uses: their pages go back
    /// to the system. False, with nothing done, where the memory has another owner.
    pub(crate) fn release(&mut self, range: Range<usize>, size: usize) -> bool {
        let Some(host) = self.host.as_ref().filter(|host| HostBuffer::is_sole(host)) else {
            return false;
        };
        self.on_host.remove(range.clone());
        // SAFETY: the evaluated map has the range no longer, and the memory gets another owner only from the storage,
        // which is borrowed mutably.
        unsafe { host.release(range.start * size..range.end * size) };
        true
    }

    /// Elements of so many bytes each, if they are in host memory.
    pub(crate) fn host_bytes(&self, range: Range<usize>, size: usize) -> Option<&[u8]> {
        let host = self.host.as_ref().filter(|_| self.on_host.covers(range.clone()))?;
        // SAFETY: the evaluated map has the range, so it is not written; the memory stays while the storage is
        // borrowed.
        Some(unsafe { host.bytes(range.start * size..range.end * size) })
    }

    /// The state of a value whose elements are all there.
    pub(super) fn in_memory(len: usize, host: Option<Arc<HostBuffer>>) -> ValueStorage {
        let all = Ranges::full(len);
        ValueStorage { computed: all.clone(), on_host: all, host, ..ValueStorage::default() }
    }
}

impl Value {
    /// Notes that positions are stored now; forgets the operands when nothing is pending.
    pub(crate) fn mark_computed(&self, range: Range<usize>) {
        let mut state = self.state();
        state.computed.insert(range);
        let operands = if state.computed.covers(0..self.len()) {
            state.passed = None;
            if self.0.pending.swap(false, Ordering::AcqRel) {
                self.0.count(true);
            }
            if state.keeps_operands { SmallVec::new() } else { std::mem::take(&mut state.operands) }
        } else {
            SmallVec::new()
        };
        drop(state);
        // Operands go after the lock: their own drop takes other locks.
        drop(operands);
    }

    /// Says whether the value keeps its operands when it is computed, until the opposite is said.
    pub(crate) fn keep_operands(&self, keep: bool) {
        let mut state = self.state();
        state.keeps_operands = keep;
        let done = !keep && self.is_computed();
        let operands = if done { std::mem::take(&mut state.operands) } else { SmallVec::new() };
        drop(state);
        drop(operands);
    }

    /// Whether it keeps them.
    pub(crate) fn keeps_operands(&self) -> bool {
        self.state().keeps_operands
    }

    /// Notes that positions are stored nowhere any more.
    pub(crate) fn mark_lost(&self, range: Range<usize>) {
        let mut state = self.state();
        if let Some(spilled) = &mut state.spilled {
            spilled.remove(range.clone());
        }
        state.computed.remove(range);
        drop(state);
        if !self.0.pending.swap(true, Ordering::AcqRel) {
            self.0.count(false);
        }
    }

    /// A value all of whose elements are in the block of a device that it gets at once.
    pub(crate) fn on_device(dtype: DType, shape: &[usize]) -> Value {
        let state = ValueStorage {
            on_host: Ranges::default(),
            ..ValueStorage::in_memory(size_of(shape), None)
        };
        let kind = ValueKind::Host(Origin::Given);
        Value(Node::share(dtype, shape.into(), kind, NodeParts::default(), state))
    }

    /// A value that is computed by what knows how, and by nothing else.
    pub(crate) fn to_compute(dtype: DType, shape: &[usize]) -> Value {
        let value = Value::on_device(dtype, shape);
        value.mark_lost(0..value.len());
        value
    }

    /// The positions of a range that a block of a device has and nothing else: neither host memory nor the disk, and
    /// they cannot be read again.
    pub(crate) fn only_on_device(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        if self.is_external() {
            return Vec::new();
        }
        let state = self.state();
        if state.is_set_aside {
            return Vec::new();
        }
        let gaps = state.on_host.gaps(range.clone());
        match &state.spilled {
            Some(spilled) => gaps.into_iter().flat_map(|gap| spilled.gaps(gap)).collect(),
            None => gaps,
        }
    }

    /// The value's host memory, allocated at the first need.
    ///
    /// # Errors
    /// - `OutOfMemory`: the system has none for it.
    pub(crate) fn host_buffer(&self) -> Result<Arc<HostBuffer>> {
        let mut state = self.state();
        if let Some(host) = &state.host {
            return Ok(host.clone());
        }
        let bytes = self.len().saturating_mul(self.dtype().size());
        let made = match self.0.paged {
            _ if self.is_external() => HostBuffer::closed(bytes),
            true => HostBuffer::reserved(bytes, Pages::Huge),
            false => HostBuffer::new(bytes),
        };
        let host = made.map_err(|error| of_array(error, self.shape(), self.dtype()))?;
        Ok(state.host.insert(Arc::new(host)).clone())
    }

    /// The elements of a range, if they are in host memory.
    pub(crate) fn host_slice(&self, range: Range<usize>) -> Option<HostSlice> {
        let (size, state) = (self.dtype().size(), self.state());
        let buffer = state.host.clone().filter(|_| state.on_host.covers(range.clone()))?;
        Some(HostSlice { buffer, range: range.start * size..range.end * size })
    }

    /// Where positions lie in the value's host memory, allocated at the first need.
    ///
    /// # Errors
    /// As of `host_buffer`.
    pub(crate) fn host_memory(&self, range: &Range<usize>) -> Result<Option<HostMemory>> {
        let buffer = self.host_buffer()?;
        let size = self.dtype().size();
        let inside = range.start <= range.end && range.end * size <= buffer.len();
        let address = buffer.as_ptr().wrapping_add(range.start * size).cast_mut();
        Ok(NonNull::new(address).filter(|_| inside).map(HostMemory::new))
    }

    /// The first element in host memory, if that has all elements of a range.
    pub(crate) fn host_start(&self, range: Range<usize>) -> Option<NonNull<u8>> {
        if let Some(memory) = self.0.memory {
            return NonNull::new(memory.as_ptr());
        }
        if self.is_external() || self.0.paged {
            // It may go while the address is used.
            return None;
        }
        let state = self.state();
        let host = state.host.as_ref().filter(|_| state.on_host.covers(range))?;
        NonNull::new(host.as_ptr().cast_mut())
    }

    /// Has positions written to host memory that are not there; the evaluated map has them then.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no host memory for the value. `Invalid`: the evaluated map has some of the positions.
    ///   Those of `write`; the map is as it was then.
    pub(crate) fn write_host(
        &self,
        range: Range<usize>,
        write: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let (host, size) = (self.host_buffer()?, self.dtype().size());
        let is_unread = || self.state().on_host.gaps(range.clone()).as_slice() == [range.clone()];
        host.write_unread(range.start * size..range.end * size, is_unread, write)?;
        self.state().on_host.insert(range);
        Ok(())
    }

    /// The elements as memory that is written next: the value's own memory, if the value has no other handle, nor its
    /// memory another owner, or a copy of it. `None` where not all elements are in host memory, or `copies` does not
    /// allow it.
    #[cold]
    pub(crate) fn memory_to_write(&self, copies: Copies) -> Option<CowBuffer> {
        let (size, len) = (self.dtype().size(), self.len());
        let may_copy = match copies {
            Copies::UpTo(most) => len <= most,
            Copies::Any => true,
        };
        match self.0.kind {
            _ if len == 0 => Some(CowBuffer::blank()),
            ValueKind::Constant(scalar) if may_copy => {
                CowBuffer::full(scalar.bytes().get(..size)?, len).ok()
            }
            ValueKind::Constant(_) | ValueKind::External(_) => None,
            ValueKind::Host(_) | ValueKind::Expr { .. } => {
                let host = self.take_memory(copies == Copies::Any).or_else(|| {
                    let state = self.state();
                    state.host.clone().filter(|_| may_copy && state.on_host.covers(0..len))
                });
                let mut memory = CowBuffer::shared(host?);
                // What was taken has no other owner, so that it is not copied.
                memory.make_mut(len * size).map(|_| ())?;
                Some(memory)
            }
        }
    }

    /// The memory of a value without other handles, if all elements are there and it has no other owner; with
    /// `anywhere`, also if devices have blocks of it, which nothing asks for when the value is gone.
    pub(crate) fn take_memory(&self, anywhere: bool) -> Option<Arc<HostBuffer>> {
        if !self.is_sole() {
            return None;
        }
        let mut state = self.state();
        let is_taken = state.on_host.covers(0..self.len())
            && (anywhere || state.watchers.is_empty())
            && state.host.as_ref().is_some_and(HostBuffer::is_sole);
        if is_taken { state.host.take() } else { None }
    }
}
