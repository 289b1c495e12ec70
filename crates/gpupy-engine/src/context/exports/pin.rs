//! Pins: exports of a base's memory to other code, which may read and write there at any time.
//!
//! Owns [`Pin`]. A pinned base has its elements in one private host buffer. Every export of the base, of its views and
//! dtype views is a pointer into that buffer; gpupy's own writes go straight there. An operation that reads the base is
//! computed before it returns, or reads a copy; expressions that were recorded before keep the elements of that time. A
//! base stays pinned until its last export is gone, or for its life if an address was given out as a number. Of a base
//! whose elements are not in host memory, a small part is exported by itself (`array/part_exports.rs`), and the rest
//! comes when the base is written. Invariants: no value, expression or device block refers to pinned memory after an
//! operation has returned; while a base is pinned, its elements do not move.
//!
//! Not here: operations on pinned bases (`leases.rs`), the private buffer itself (`memory/cow_buffer.rs`), exports to
//! Python (`gpupy-py/src/convert/array_export.rs`).

use crate::array::base::Array;
use crate::array::contents::{Contents, Current};
use crate::array::owned_elements::OwnedElements;
use crate::array::part_exports::{PartAssignment, PartExports, shown_once};
use crate::context::Context;
use crate::graph::passed::is_narrow;
use crate::graph::value::{Copies, Input, Origin, Value, ValueKind};
use crate::memory::cow_buffer::{CowBuffer, bases_overlap};
use crate::memory::host_buffer::HostBuffer;
use crate::memory::view::View;
use gpupy_core::memory::{of_array, refused};
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{DType, Result};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Exports that are alive.
static PINS: AtomicU64 = AtomicU64::new(0);

/// How many exports are alive.
pub(crate) fn living() -> u64 {
    PINS.load(Ordering::Relaxed)
}

/// An export of an array's elements. Its memory stays where it is while the pin lives.
pub struct Pin {
    _pinned: Arc<HostBuffer>,
    start: NonNull<u8>,
    dtype: DType,
    view: View,
}

// SAFETY: the memory belongs to no thread; it is for the front end to order accesses, as NumPy does by
// Python's lock.
unsafe impl Send for Pin {}
// SAFETY: the memory belongs to no thread; the front end orders accesses, as NumPy does by Python's lock.
unsafe impl Sync for Pin {}

impl Pin {
    /// Shows what an array shows, in the memory of the base whose elements these are.
    fn of(array: &Array, pinned: Arc<HostBuffer>) -> Pin {
        PINS.fetch_add(1, Ordering::Relaxed);
        let away = if array.size() == 0 { 0 } else { array.byte_offset() };
        let start = pinned.start().as_ptr().wrapping_offset(away);
        let start = NonNull::new(start).unwrap_or(pinned.start());
        Pin { _pinned: pinned, start, dtype: array.dtype(), view: array.layout().clone() }
    }

    /// The elements' dtype.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Extents.
    pub fn shape(&self) -> &[usize] {
        &self.view.shape
    }

    /// Elements a step of each axis.
    pub fn strides(&self) -> &[isize] {
        &self.view.strides
    }

    /// The address of the first element.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        PINS.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Array {
    /// An array whose elements are those of another owner, in C order, which it reads and writes where they
    /// lie; it is pinned for its life.
    ///
    /// # Safety
    /// From `memory` on, the elements of the shape are aligned for the dtype, initialised, and may be read and
    /// written as long as `owner` lives.
    pub unsafe fn over(
        dtype: DType,
        shape: &[usize],
        memory: NonNull<u8>,
        owner: Box<dyn Send + Sync>,
    ) -> Array {
        bases_overlap();
        let bytes = size_of(shape) * dtype.size();
        // SAFETY: the caller promises that the memory stays valid while `owner` lives.
        let buffer = unsafe { HostBuffer::lent(memory, bytes, owner) };
        let (shape, memory) = (Shape::from_slice(shape), CowBuffer::own(buffer));
        let mut own = OwnedElements::new(dtype, shape, Origin::Given, memory);
        // Memory that is a buffer already needs no room.
        let _ = own.pin(true);
        Array::of_own(own)
    }

    /// Whether exports show the base's elements, so that these may change at any time.
    pub fn is_pinned(&self) -> bool {
        self.owner_current().is_pinned()
    }

    /// As `is_pinned`, or is to be, as parts of it are exported and were compared often enough.
    pub(crate) fn is_to_be_pinned(&self) -> bool {
        let mut current = self.owner_current();
        current.is_pinned() || current.parts().as_ref().is_some_and(|parts| parts.are_due())
    }

    /// Whether exports show the base's elements or parts of them, or may.
    pub fn is_shown(&self) -> bool {
        self.owner_current().is_shown()
    }

    /// Whether there are exports that show the base's elements.
    pub fn is_exported(&self) -> bool {
        self.owner_current().is_exported()
    }

    /// Whether the base's elements lie in memory of another owner, which it reads and writes there.
    pub fn is_over_foreign_memory(&self) -> bool {
        self.owner_current().is_foreign()
    }

    /// An export of the elements, if they are in host memory already and have room there; waits for no
    /// evaluation.
    ///
    /// - `for_life`: the base stays pinned when the export is gone.
    pub fn pin_now(&self, for_life: bool) -> Option<Pin> {
        self.pin_there(for_life, false)
    }

    /// As `pin_now`; `wholly` also where it is a part of a constant, which takes no memory until then.
    fn pin_there(&self, for_life: bool, wholly: bool) -> Option<Pin> {
        let mut current = self.owner_current();
        if !for_life && !matches!(current.held(), Contents::Own(_)) {
            match self.shown_by_itself(&mut current) {
                Some(memory) => return Some(Pin::of(self, memory)),
                None if !wholly && self.is_better_apart(&current) => return None,
                None => {}
            }
        }
        current.make_mut(Copies::Any)?;
        let pinned = current.own_mut()?.pin(for_life).ok()?;
        drop(current);
        Some(Pin::of(self, pinned))
    }

    /// The memory of exported parts, if these elements are among them.
    #[cold]
    fn shown_by_itself(&self, current: &mut Current) -> Option<Arc<HostBuffer>> {
        let parts = current.parts().as_mut().filter(|_| self.dtype_view().is_none())?;
        parts.export(&shown_once(self.layout())?, None)
    }

    /// Whether an export of all of the base would take memory that an export of these elements alone does not.
    #[cold]
    fn is_better_apart(&self, current: &Current) -> bool {
        let is_constant = matches!(
            current.held(),
            Contents::Value(value) if matches!(value.0.kind, ValueKind::Constant(_))
        );
        self.size() == 0 || is_constant && is_narrow(self.size(), self.base_len())
    }

    /// The base's value, if it has one and its elements are its own.
    fn held_value(&self) -> Option<Value> {
        // Bools may become a dtype view of their bytes.
        if self.dtype_view().is_some() || self.dtype() == DType::Bool {
            return None;
        }
        match self.owner_current().held() {
            Contents::Value(value) => Some(value.clone()),
            Contents::Own(_) | Contents::Nothing => None,
        }
    }

    /// An export of elements of this value, those that the view `once` shows in C order, if the base still has it and
    /// no others of them are exported.
    fn pin_part(
        &self,
        value: &Value,
        once: &View,
        elements: &[u8],
        assigned: PartAssignment,
    ) -> Result<Option<Pin>> {
        let mut current = self.owner_current();
        if !matches!(current.held(), Contents::Value(held) if held.id() == value.id()) {
            return Ok(None);
        }
        let (dtype, len) = (self.dtype(), self.base_len());
        let parts = match current.parts() {
            Some(parts) => parts,
            none => none.insert(Box::new(PartExports::new(dtype, len, assigned)?)),
        };
        Ok(parts.export(once, Some(elements)).map(|memory| Pin::of(self, memory)))
    }

    /// An export of no elements.
    fn pin_of_nothing(&self) -> Result<Pin> {
        Ok(Pin::of(self, Arc::new(HostBuffer::new(0)?)))
    }
}

impl Context {
    /// An export of an array's elements, evaluated and brought to host memory at need. Expressions that were
    /// recorded before keep the elements as they are now.
    ///
    /// # Errors
    /// - `Disposed`: there are no elements any more. Any error of the driver; no value is lost.
    pub fn pin(&self, array: &Array, for_life: bool) -> Result<Pin> {
        if let Some(pin) = array.pin_now(for_life) {
            return Ok(pin);
        }
        if array.size() == 0 && !for_life {
            return array.pin_of_nothing();
        }
        if !for_life
            && let Some(value) = array.held_value()
            && let Some(once) = shown_once(array.layout())
            && let Some(part) = self.read_for_export(&array.seen_as(once.clone()), &value)?
            && let Some(pin) =
                array.pin_part(&value, &once, &part.to_vec()?, self.assigned_parts())?
        {
            return Ok(pin);
        }
        self.pin_wholly(array, for_life)
    }

    /// Records what other code has written to a part.
    fn assigned_parts(&self) -> PartAssignment {
        let inner = self.inner.clone();
        Box::new(move |old, view, source| {
            let source = (Input::Whole(source.id()), Some(source));
            let dest = Array::with_view(old.clone(), view.clone());
            inner.dispatch.recorder().assigned(old, &dest, source)
        })
    }

    /// Brings what is left of a base whose parts exports show, so that it is pinned.
    ///
    /// # Errors
    /// As of `pin`.
    pub(crate) fn complete_exports(&self, array: &Array) -> Result<()> {
        if array.owner_current().parts().is_none() {
            return Ok(());
        }
        let all = array.owner_elements();
        self.while_others_run(|| self.pin_wholly(&all, false).map(drop))
    }

    fn pin_wholly(&self, array: &Array, for_life: bool) -> Result<Pin> {
        let mut brought = None;
        loop {
            if let Some(pin) = array.pin_there(for_life, true) {
                return Ok(pin);
            }
            let value = array.owner_current().value()?;
            if value.is_external() {
                self.take_in(array, &value)?;
                continue;
            }
            // Other threads may give the base other values again and again; if this is the one that is there
            // already, there is no room for it.
            if brought.replace(value.id()) == Some(value.id()) {
                let bytes = array.base_len().saturating_mul(array.dtype().size());
                return Err(of_array(refused(bytes), array.shape(), array.dtype()));
            }
            self.bring(&value)?;
        }
    }

    /// Gives an array's base a copy of external elements, as an export's holder may write to its memory.
    fn take_in(&self, array: &Array, outside: &Value) -> Result<()> {
        let whole = View::contiguous(outside.shape());
        let copied = self
            .inner
            .dispatch
            .recorder()
            .taken_in(&Array::with_view(outside.clone(), whole))?
            .value()?;
        let mut current = array.owner_current();
        match current.value_mut()? {
            // They are the same elements, so it is no other version.
            Some(value) if value.id() == outside.id() => *value = copied,
            _ => {}
        }
        Ok(())
    }
}
