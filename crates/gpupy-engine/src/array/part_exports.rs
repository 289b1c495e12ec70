//! Exports of parts: memory that shows a small part of a base whose other elements are not there.
//!
//! Owns [`PartExports`]. A base may have a value that is pending, or lies on a device, while other code has the memory
//! of some of its elements. What that code writes becomes part of the value as soon as anyone looks at the base, by a
//! comparison with what was there; a write to the base has all of its elements brought first, around those that are
//! exported, and then it is pinned like any other. Invariants: the elements lie in memory that is reserved for all of
//! the base, each in its place; no two parts have an element in common.
//!
//! Not here: when a part is exported by itself (`context/read/parts.rs`), exports themselves
//! (`context/exports/pin.rs`).

use crate::array::owned_elements::OwnedElements;
use crate::graph::value::{Copies, Origin, Value};
use crate::memory::cow_buffer::CowBuffer;
use crate::memory::element_bytes::{ElementBytes, place, seen};
use crate::memory::host_buffer::HostBuffer;
use crate::memory::owned::Pages;
use crate::memory::view::View;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Result, memory};
use std::ops::Range;
use std::sync::Arc;

/// Records a value in which elements that a view shows are another one's.
pub(crate) type PartAssignment = Box<dyn Fn(Value, &View, Value) -> Value + Send + Sync>;

/// The parts of a base that exports show.
pub(crate) struct PartExports {
    /// Room for all elements of the base, of which the parts are there.
    memory: Arc<HostBuffer>,
    dtype: DType,
    len: usize,
    parts: Vec<ExportedPart>,
    /// The bytes that were compared.
    compared: usize,
    assigned: PartAssignment,
}

/// Elements that exports show.
struct ExportedPart {
    view: View,
    /// As the base's value has them, in C order.
    known: ElementBytes,
}

impl PartExports {
    /// Room for the parts of a base of so many elements.
    ///
    /// # Errors
    /// - `OutOfMemory`: the system has no addresses for so much.
    pub fn new(dtype: DType, len: usize, assigned: PartAssignment) -> Result<PartExports> {
        let memory = Arc::new(HostBuffer::reserved(len * dtype.size(), Pages::Small)?);
        Ok(PartExports { memory, dtype, len, parts: Vec::new(), compared: 0, assigned })
    }

    /// The memory, if the elements that a view shows are exported, or are from now on, as `elements` in C order; the
    /// view shows none twice.
    pub fn export(&mut self, view: &View, elements: Option<&[u8]>) -> Option<Arc<HostBuffer>> {
        if self.parts.iter().any(|part| part.has_all(view)) {
            return Some(self.memory.clone());
        }
        let (elements, (low, high)) = (elements?, view.extent()?);
        let meets = |part: &ExportedPart| {
            part.view.extent().is_some_and(|(first, last)| first <= high && low <= last)
        };
        if self.parts.iter().any(meets) {
            return None;
        }
        let (size, known) = (self.dtype.size(), memory::small_copied(elements).ok()?);
        place(self.bytes_mut(), size, view, elements);
        self.parts.push(ExportedPart { view: view.clone(), known });
        Some(self.memory.clone())
    }

    /// Whether there are exports.
    pub fn is_exported(&self) -> bool {
        Arc::strong_count(&self.memory) > 1
    }

    /// Whether as many bytes were compared as the base has: about as much work as to bring all elements, after which
    /// nothing is compared.
    pub fn are_due(&self) -> bool {
        self.compared > self.len * self.dtype.size()
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the memory has as many bytes, which are zeros until they are written. Exports may write them at any
        // time; the front end orders accesses, as for pinned elements.
        unsafe { self.memory.bytes(0..self.len * self.dtype.size()) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let (start, len) = (self.memory.start(), self.len * self.dtype.size());
        // SAFETY: as of `bytes`; no other handle but those of exports has the memory, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), len) }
    }

    /// The base's value with what exports have written, `None` where that is nothing; and whether that is all of it,
    /// for which there may be no room.
    pub fn written(&mut self, value: &Value) -> (Option<Value>, bool) {
        let (mut written, mut is_all) = (None::<Value>, true);
        for number in 0..self.parts.len() {
            let (view, size) = (self.parts[number].view.clone(), self.dtype.size());
            let now = seen(self.bytes(), size, &view);
            self.compared += view.size() * size;
            if now.as_ref() == Some(&self.parts[number].known) {
                continue;
            }
            let copy = now.as_ref().and_then(|now| HostBuffer::from_bytes(now).ok());
            let (Some(now), Some(copy)) = (now, copy) else {
                is_all = false;
                continue;
            };
            self.parts[number].known = now;
            let source = Value::host(self.dtype, &view.shape, Arc::new(copy));
            let old = written.take().unwrap_or_else(|| value.clone());
            written = Some((self.assigned)(old, &view, source));
        }
        (written, is_all)
    }

    /// All elements of the base, where exports show them: those of its value around the parts. `None` where they are
    /// not in host memory.
    pub fn completed(&mut self, value: &Value) -> Option<OwnedElements> {
        // Other code may have the parts at any time, so that they are not written.
        let mut exported: Vec<Range<usize>> = Vec::new();
        for part in &self.parts {
            exported.extend(part.view.positions(usize::MAX / 8).iter());
        }
        exported.sort_unstable_by_key(|range| range.start);
        let (len, size) = (self.len, self.dtype.size());
        let all = value.memory_to_write(Copies::Any)?;
        let (from, to) = (all.bytes(len * size), self.bytes_mut());
        let mut end = 0;
        for range in exported.into_iter().chain(std::iter::once(len..len)) {
            let bytes = end * size..range.start * size;
            to[bytes.clone()].copy_from_slice(&from[bytes]);
            end = range.end;
        }
        let (shape, memory) = (Shape::from(value.shape()), CowBuffer::pinned(self.memory.clone()));
        Some(OwnedElements::new(self.dtype, shape, Origin::Eager, memory))
    }
}

impl ExportedPart {
    /// Whether each element that a view shows is one of these.
    fn has_all(&self, view: &View) -> bool {
        let is_between = || match (self.view.extent(), view.extent()) {
            (Some((first, last)), Some((low, high))) => first <= low && high <= last,
            _ => false,
        };
        self.view == *view || self.view.is_contiguous() && is_between()
    }
}

/// A view of all elements that a view shows, and of few others, that shows none twice; `None` where that would be many
/// others.
pub(crate) fn shown_once(view: &View) -> Option<View> {
    let mut once = view.clone();
    for (extent, stride) in once.shape.iter_mut().zip(&once.strides) {
        // Broadcast axes show the same again.
        *extent = if *stride == 0 { 1 } else { *extent };
    }
    let (low, high) = once.extent()?;
    match once.is_injective() {
        true => Some(once),
        // Windows that overlap.
        false => {
            let all = View::contiguous(&[(high - low + 1) as usize]);
            (all.size() <= once.size()).then_some(View { offset: low, ..all })
        }
    }
}

/// The bytes of the pages that a view touches, at most: of elements of so many bytes.
pub(crate) fn touched(view: &View, size: usize) -> usize {
    let Some((low, high)) = view.extent() else { return 0 };
    let runs = match view.strides.last() {
        Some(1) => view.size() / view.shape.last().copied().unwrap_or(1).max(1),
        _ => view.size(),
    };
    let all = (high - low + 1) as usize * size;
    all.min(runs.saturating_mul(PAGE).saturating_add(view.size() * size))
}

/// The bytes of a page, at least, on the systems that are known.
const PAGE: usize = 4096;
