//! Where a value's elements are: which are computed, which are in host memory, and which were lost.
//!
//! Not here: values themselves (`mod.rs`), blocks (`blocks/`).

use super::{NEXT_ID, Node, NodeParts, Origin, Value, ValueKind, ValueStorage};
use crate::memory::host_buffer::HostBuffer;
use crate::memory::ranges::Ranges;
use gpupy_core::driver::HostMemory;
use gpupy_core::memory::of_array;
use gpupy_core::shape::size_of;
use gpupy_core::{DType, Result};
use smallvec::SmallVec;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

impl ValueStorage {
    /// The state of a value whose elements are all there.
    pub(super) fn in_memory(len: usize, host: Option<Arc<HostBuffer>>) -> ValueStorage {
        let all = Ranges::full(len);
        ValueStorage { computed: all.clone(), on_host: all, host, ..ValueStorage::default() }
    }
}

impl Value {
    /// Notes that positions are stored now; forgets the operands when nothing is pending.
    pub(crate) fn mark_computed(&self, range: std::ops::Range<usize>) {
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
    pub(crate) fn mark_lost(&self, range: std::ops::Range<usize>) {
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

    /// The positions of a range that a block of a device has and nothing else: neither host memory nor the disk, and
    /// they cannot be read again.
    pub(crate) fn only_on_device(
        &self,
        range: &std::ops::Range<usize>,
    ) -> Vec<std::ops::Range<usize>> {
        if self.is_external() {
            return Vec::new();
        }
        let state = self.state();
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
        let made = match self.is_external() || self.0.paged {
            true => HostBuffer::reserved(bytes),
            false => HostBuffer::new(bytes),
        };
        let host = made.map_err(|error| of_array(error, self.shape(), self.dtype()))?;
        Ok(state.host.insert(Arc::new(host)).clone())
    }

    /// Where positions lie in the value's host memory, allocated at the first need.
    ///
    /// # Errors
    /// As of `host_buffer`.
    pub(crate) fn host_memory(&self, range: &std::ops::Range<usize>) -> Result<Option<HostMemory>> {
        let buffer = self.host_buffer()?;
        let size = self.dtype().size();
        let inside = range.start <= range.end && range.end * size <= buffer.len();
        let address = buffer.as_ptr().wrapping_add(range.start * size).cast_mut();
        Ok(NonNull::new(address).filter(|_| inside).map(HostMemory::new))
    }

    /// The first element in host memory, if that has all elements of a range.
    pub(crate) fn host_start(&self, range: std::ops::Range<usize>) -> Option<NonNull<u8>> {
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

    /// Gives a host value without other handles a new identity, and its memory for writing; `None` where another handle
    /// may read the old elements.
    pub(crate) fn renew(&mut self) -> Option<Arc<HostBuffer>> {
        let node = Arc::get_mut(&mut self.0)?;
        let state = node.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let alone =
            state.watchers.is_empty() && state.host.as_ref().is_some_and(HostBuffer::is_sole);
        if !alone || node.paged || !matches!(node.kind, ValueKind::Host(_)) {
            return None;
        }
        let host = state.host.take();
        // Nothing that was found out about the old elements stays.
        *state = ValueStorage::in_memory(size_of(&node.shape), host.clone());
        // Expressions that were computed from them may live on, and are found by the name.
        node.id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        node.order = (node.id, u32::MAX);
        node.kind = ValueKind::Host(Origin::Given);
        host
    }
}
