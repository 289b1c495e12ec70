//! Reading: elements in host memory, evaluated as far as they are needed; and the elements that a device lacks.
//!
//! Owns [`HostArray`] and [`Unread`]. Invariant: elements that a read returned are never written while the reader holds
//! them.
//!
//! Not here: how elements get there (`transfer.rs`), when parts of a value are read by themselves (`parts.rs`).

mod parts;

use crate::array::axis_order;
use crate::array::base::{Array, ArrayOrScalar};
use crate::array::contents::Contents;
use crate::context::Context;
use crate::eager::borrow::{BorrowGuard, BorrowedOperand};
use crate::execute::evaluate::Engine;
use crate::graph::value::{HostSlice, ValueId, ValueKind};
use crate::memory::access;
use crate::memory::element_bytes;
use crate::memory::host_buffer::HostBuffer;
use crate::memory::ranges::Ranges;
use crate::memory::strided::gather;
use crate::memory::view::View;
use crate::schedule::passes::demand::Demand;
use crate::thresholds::T;
use gpupy_core::memory::{self, of_array, refused};
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::SmallVec;
use std::ops::Range;
use std::ptr::NonNull;

/// Elements that are not in host memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unread {
    /// All elements are this scalar.
    Constant(Scalar),
    /// They are elements of the value with this unique name, as the array's view shows them.
    Value(ValueId),
}

/// Elements in host memory, as a read gives them: immutable, shared with the value where possible.
#[derive(Clone)]
pub struct HostArray {
    elements: HostSlice,
    dtype: DType,
    /// Counted from the first of the elements.
    view: View,
}

impl HostArray {
    pub(crate) fn of(elements: HostSlice, dtype: DType, view: View) -> HostArray {
        HostArray { elements, dtype, view }
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

    /// The address of the first element. It stays valid while this or a clone lives.
    pub fn as_ptr(&self) -> *const u8 {
        let offset = self.view.offset.max(0) as usize * self.dtype.size();
        // Views stay inside their value, so this is one of the elements (or behind them, when empty).
        self.elements.as_ptr().wrapping_add(offset.min(self.elements.len()))
    }

    /// The elements, where they follow each other in C order.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        let (first, size) = (usize::try_from(self.view.offset).ok()?, self.dtype.size());
        let range = first * size..(first + self.view.size()) * size;
        self.elements.get(range).filter(|_| self.view.is_contiguous())
    }

    /// A copy of the elements in C order.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for them.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        if self.view.size() == 0 {
            return Ok(Vec::new());
        }
        let told = |error| of_array(error, self.shape(), self.dtype);
        if let Some(bytes) = self.bytes() {
            return memory::copied(bytes).map_err(told);
        }
        let walk = access::access(self.view.offset, &self.view.strides);
        gather(&self.elements, self.dtype.size(), &walk, &self.view.shape).map_err(told)
    }
}

impl Array {
    /// The elements, if all that are shown are in host memory already; waits for no lock, not even for a running
    /// evaluation. Few elements that only the base has are copied, so that it may still write them.
    pub fn in_memory(&self) -> Option<HostArray> {
        let dtype = self.dtype();
        if self.size() <= T.read_copied
            && let Contents::Own(own) = self.current().held()
        {
            return copied(own.bytes(), dtype, self.layout());
        }
        let value = self.value().ok()?;
        if value.is_external() {
            // What is given out stays, and this goes.
            return None;
        }
        let (low, high) = self.layout().extent()?;
        let elements = value.host_slice(low as usize..high as usize + 1)?;
        Some(HostArray { elements, dtype, view: self.layout().relative_to(low) })
    }

    /// The identity of elements that are not in host memory; `None` if they are there. Waits for no evaluation.
    pub fn unread(&self) -> Option<Unread> {
        let current = self.current();
        let Contents::Value(value) = current.held() else { return None };
        if let ValueKind::Constant(scalar) = value.0.kind {
            return Some(Unread::Constant(scalar));
        }
        let (low, high) = self.layout().extent()?;
        let is_there = value.state().on_host.covers(low as usize..high as usize + 1);
        (!is_there).then(|| Unread::Value(value.id()))
    }

    /// The bytes of few elements in C order, if they are in host memory already; waits for no lock.
    pub fn known_elements(&self) -> Option<SmallVec<[u8; 64]>> {
        self.of_known_elements(|bytes| memory::small_copied(bytes).ok())?
    }

    /// What a function makes of these bytes where they lie. It must not look at this array again.
    pub fn of_known_elements<R>(&self, function: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let guard = BorrowGuard::of(&[ArrayOrScalar::Array(self)])?;
        match guard.operands.first()? {
            lent @ BorrowedOperand::Memory(..) => {
                lent.elements(self.dtype().size()).map(|elements| function(&elements))
            }
            BorrowedOperand::Scalar(_) => None,
        }
    }

    /// The element of an array of one element, if it is known already; waits for no lock. Complex dtypes have no
    /// scalars.
    pub fn known_element(&self) -> Option<Scalar> {
        if self.size() == 1 { self.known_at(self.offset()) } else { None }
    }

    /// The element at a position of the base, as `known_element` gives it.
    pub fn known_at(&self, position: isize) -> Option<Scalar> {
        let dtype = self.dtype();
        self.of_known_at(position, |bytes| Scalar::read(dtype, bytes))?
    }

    /// What a function makes of the bytes of the element at a position of the base, if it is in host memory already;
    /// waits for no lock. The function must not look at this array again.
    #[inline(always)]
    pub fn of_known_at<R>(&self, position: isize, function: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let (at, size) = (usize::try_from(position).ok()?, self.dtype().size());
        let (current, bytes) = (self.current(), at * size..(at + 1) * size);
        match current.held() {
            Contents::Own(own) => own.bytes().get(bytes).map(function),
            Contents::Value(value) => {
                if let ValueKind::Constant(scalar) = value.0.kind {
                    return scalar.bytes().get(..size).map(function);
                }
                value.state().host_bytes(at..at + 1, size).map(function)
            }
            Contents::Nothing => None,
        }
    }
}

/// A copy of the elements that a view shows of these bytes, as they lie; without what is between them
/// where that is more than they are. `None` where the view leaves the bytes, or there is
/// no room.
fn copied(bytes: &[u8], dtype: DType, view: &View) -> Option<HostArray> {
    let size = dtype.size();
    if let Some((low, high)) = view.extent()
        && high - low < view.size() as isize
    {
        let range = bytes.get(low as usize * size..(high as usize + 1) * size)?;
        let elements = HostSlice::whole(HostBuffer::from_bytes(range).ok()?);
        return Some(HostArray { elements, dtype, view: view.relative_to(low) });
    }
    let (moved, back) = axis_order::descending(view);
    let elements = element_bytes::seen(bytes, size, &moved)?;
    let view = View::contiguous(&moved.shape).transpose(&back);
    let elements = HostSlice::whole(HostBuffer::from_bytes(&elements).ok()?);
    Some(HostArray { elements, dtype, view })
}

impl Context {
    /// The elements of an array in host memory, evaluated as far as they are needed.
    ///
    /// # Errors
    /// Any error of the driver; no value is lost.
    pub fn read(&self, array: &Array) -> Result<HostArray> {
        self.read_there(array).map_err(|error| {
            // Of all elements the caller knows the shape that they are seen in.
            match memory::is_refusal(&error) && array.size() == array.base_len() {
                true => of_array(refused(0), array.shape(), array.dtype()),
                false => error,
            }
        })
    }

    fn read_there(&self, array: &Array) -> Result<HostArray> {
        if let Some(there) = array.in_memory() {
            return Ok(there);
        }
        let value = array.value()?;
        let view = array.layout().clone();
        let dtype = array.dtype();
        let Some((low, high)) = view.extent() else {
            let elements = HostSlice::whole(HostBuffer::new(0)?);
            return Ok(HostArray { elements, dtype, view });
        };
        let range = low as usize..high as usize + 1;
        if value.is_external() {
            return self.read_there(&self.inner.dispatch.recorder().taken_in(array)?);
        }
        if let Some(part) = self.read_part(array, &value)? {
            return Ok(part);
        }
        if value.byte_len() >= T.read_large {
            self.make_room_for(&value)?;
        }
        let bring = |engine: &mut Engine| engine.brought(&value, range.clone());
        let elements = self.compute_and(&value, range.clone(), bring)?;
        Ok(HostArray { elements, dtype, view: view.relative_to(low) })
    }

    /// A copy of external elements, read now: a later change of their file does not reach it.
    ///
    /// # Errors
    /// Any error of the reader or the driver.
    pub fn read_copy(&self, array: &Array) -> Result<Array> {
        let host = self.read(array)?;
        let Some(first) = host.bytes().and_then(|bytes| NonNull::new(bytes.as_ptr().cast_mut()))
        else {
            return Array::from_bytes(host.dtype(), host.shape(), &host.to_vec()?);
        };
        let (dtype, shape): (_, Shape) = (host.dtype(), host.shape().into());
        // SAFETY: from `first` on lie the elements of the shape in C order, aligned as a buffer is. A read gives
        // elements that are never written again, and keeps them while it lives.
        Ok(unsafe { Array::of_constant(dtype, &shape, first, Box::new(host)) })
    }

    /// One element; evaluates no more than its block and moves no more than it.
    ///
    /// # Errors
    /// - `Index`: outside the array. Any error of the driver.
    pub fn item(&self, array: &Array, index: &[usize]) -> Result<Scalar> {
        self.element(array, index, false)
    }

    /// The element of an array without axes. What it is computed from passes: the program drops it before it goes on.
    ///
    /// # Errors
    /// - `Index`: the array has axes. Any error of the driver.
    pub fn item_of_passing(&self, array: &Array) -> Result<Scalar> {
        self.element(array, &[], true)
    }

    fn element(&self, array: &Array, index: &[usize], passing: bool) -> Result<Scalar> {
        let inside = index.len() == array.ndim()
            && index.iter().zip(array.shape()).all(|(i, extent)| i < extent);
        if !inside {
            return Err(Error::new(ErrorKind::Index, "item")
                .says("the index is outside the array")
                .with("index", format!("{index:?}"))
                .with("shape", format!("{:?}", array.shape())));
        }
        let steps = index.iter().zip(array.strides()).map(|(i, s)| *i as isize * s);
        let position = (array.offset() + steps.sum::<isize>()) as usize;
        let (value, range) = (array.value()?, position..position + 1);
        let (is_there, is_computed) = {
            let state = value.state();
            (state.on_host.covers(range.clone()), state.computed.covers(range.clone()))
        };
        if !is_there && !is_computed {
            let element =
                array.seen_as(View { offset: position as isize, ..View::contiguous(&[1]) });
            if let Some(read) = self.read_part(&element, &value)?
                && let Some(element) = read.bytes().and_then(|it| Scalar::read(array.dtype(), it))
            {
                return Ok(element);
            }
        }
        let with_block = !is_there && value.comes_for_element();
        let demand = Demand { passing, ..Demand::of(&value, range) };
        self.compute_demand(&demand, |engine| engine.element(&value, position, with_block))
    }

    /// Whether the driver in use has its blocks in host memory.
    pub(crate) fn evaluates_in_host_memory(&self) -> Result<bool> {
        let mut state = self.state()?;
        let position = self.current(&mut state)?;
        Ok(state.engine.device(position)?.caps.host_memory)
    }

    /// The ranges of an array's extents, in bytes from their beginning, that the driver in use has not as they are now:
    /// a launch that reads all of the array sends it no others. Of a pinned base, which others may write, this is
    /// everything. Nothing is evaluated, and no driver opened.
    ///
    /// # Errors
    /// - `Disposed`: there are no elements any more.
    pub fn pending_extents(&self, array: &Array) -> Result<Vec<Range<usize>>> {
        let (shown, size) = (array.extents(), array.owner_size());
        if shown.is_empty() {
            return Ok(Vec::new());
        }
        let current = array.owner_current();
        let (value, is_pinned) = match current.held() {
            Contents::Own(own) => (Err(own.len()), own.is_pinned()),
            Contents::Value(value) => (Ok(value.clone()), false),
            Contents::Nothing => return Err(current.why()),
        };
        drop(current);
        let mut state = self.state()?;
        let chosen = state.chosen.filter(|at| state.engine.device(*at).is_ok());
        let pending = match (value, chosen) {
            (Ok(value), chosen) => state.engine.pending(chosen, &value),
            (Err(_), Some(at)) if !is_pinned && state.engine.device(at)?.caps.host_memory => {
                Ranges::default()
            }
            (Err(len), _) => Ranges::full(len),
        };
        let pending = pending.within(shown.start / size..shown.end.div_ceil(size));
        let bytes = pending.iter().map(|range| {
            let (start, end) = (range.start * size, range.end * size);
            start.max(shown.start) - shown.start..end.min(shown.end) - shown.start
        });
        Ok(bytes.collect())
    }
}
