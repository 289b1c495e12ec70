//! Elements as bytes behind a view: copied out in C order, and written.
//!
//! Owns [`ElementBytes`]. Invariant: no view reads or writes outside the bytes.
//!
//! Not here: loops over strided elements (`strided.rs`).

use super::access;
use super::strided::{gather_into, scatter, spread};
use super::view::View;
use gpupy_core::memory;
use smallvec::SmallVec;

/// The bytes of elements.
pub(crate) type ElementBytes = SmallVec<[u8; 64]>;

/// The elements that a view shows of these bytes, in C order; `None` where it leaves them.
pub(crate) fn seen(bytes: &[u8], size: usize, view: &View) -> Option<ElementBytes> {
    let mut found: ElementBytes = memory::small_filled(0, view.size() * size).ok()?;
    copy_seen(&mut found, bytes, size, view).map(|()| found)
}

/// Like `seen`, into memory that is as long as the elements.
pub(crate) fn copy_seen(out: &mut [u8], bytes: &[u8], size: usize, view: &View) -> Option<()> {
    let start = view.offset.max(0) as usize * size;
    if view.is_contiguous() {
        out.copy_from_slice(bytes.get(start..start + out.len())?);
        return Some(());
    }
    gather_into(out, bytes, size, &access::access(view.offset, &view.strides), &view.shape)
}

/// Writes elements in C order where a view shows, or the only one wherever it does.
pub(crate) fn put(bytes: &mut [u8], size: usize, view: &View, data: &[u8]) {
    if data.len() == size {
        fill(bytes, view, data);
    } else {
        place(bytes, size, view, data);
    }
}

/// Writes one element wherever a view shows.
pub(crate) fn fill(bytes: &mut [u8], view: &View, element: &[u8]) {
    match view.size() {
        1 => place(bytes, element.len(), view, element),
        _ => spread(bytes, &access::access(view.offset, &view.strides), &view.shape, element),
    }
}

/// Writes one element everywhere.
pub(crate) fn fill_all(bytes: &mut [u8], element: &[u8]) {
    // Copies of a length that is known take no call.
    fn each<const N: usize>(bytes: &mut [u8], element: &[u8]) {
        if let Some(element) = element.first_chunk::<N>() {
            bytes.as_chunks_mut::<N>().0.fill(*element);
        }
    }
    match element.len() {
        1 => each::<1>(bytes, element),
        2 => each::<2>(bytes, element),
        4 => each::<4>(bytes, element),
        8 => each::<8>(bytes, element),
        _ => each::<16>(bytes, element),
    }
}

/// Writes elements in C order where a view shows.
pub(crate) fn place(bytes: &mut [u8], size: usize, view: &View, data: &[u8]) {
    let start = view.offset.max(0) as usize * size;
    match bytes.get_mut(start..start + data.len()) {
        Some(place) if view.is_contiguous() => place.copy_from_slice(data),
        _ => scatter(bytes, size, &access::access(view.offset, &view.strides), &view.shape, data),
    }
}
