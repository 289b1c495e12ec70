//! Eager moves: writes, copies and joins of elements in host memory, without any driver.
//!
//! Owns [`write_own`], [`own_again`], [`promoted`], [`write()`], [`put`], [`renewed`], [`copied`], [`filled`] and
//! [`joined`]. Invariants: a value that has another owner is never written; elements are moved only when all of them
//! are computed and in host memory.
//!
//! Not here: masks (`small_boolean_mask.rs`), index arrays (`small_fancy_index.rs`); writes that are recorded
//! (`recorder.rs`) and evaluated (`host_assign.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::array::contents::{Contents, Current};
use crate::array::owned_elements::{ElementStorage, OwnedElements};
use crate::eager::borrow::{BorrowGuard, BorrowedOperand, HostView};
use crate::graph::join::Join;
use crate::graph::value::{Input, Operand, Origin, Value, ValueKind};
use crate::memory::access;
use crate::memory::element_bytes::{ElementBytes, copy_seen, fill, fill_all, place, put, seen};
use crate::memory::host_buffer::HostBuffer;
use crate::memory::strided::gather;
use crate::memory::view::View;
use crate::thresholds::T;
use gpupy_core::Scalar;
use gpupy_core::driver::Access;
use gpupy_core::memory;
use gpupy_core::shape::{contiguous_strides, size_of};
use std::sync::Arc;

/// Puts the value of a base after writing an operand into the view `dest` of it in the old one's place,
/// where that lies in host memory and on no device; false where the write has to be recorded.
///
/// A scalar is written in place, if the old value has no other handle. Where the write is little work, so are elements
/// of an array in host memory; and a small value with other handles is copied first.
pub(crate) fn write(value: &mut Value, dest: &Array, source: &Operand, little: bool) -> bool {
    // The whole base gets another value, without any move.
    if dest.is_whole() && dest.size() > 1 {
        return false;
    }
    let Some(data) = data(dest, source, little) else { return false };
    let most = if little { T.most_points } else { 0 };
    let Some(host) = renewed(value, most) else { return false };
    // SAFETY: the value was just renewed, so its buffer has no other owner and is not read.
    let bytes = unsafe { host.bytes_mut(0..value.len() * dest.dtype().size()) };
    put(bytes, dest.dtype().size(), dest.layout(), &data);
    true
}

/// The source elements of a write, in C order; one element for a scalar.
fn data(dest: &Array, source: &Operand, little: bool) -> Option<ElementBytes> {
    match source {
        (Input::Scalar(scalar), _) => {
            Some(ElementBytes::from_slice(scalar.bytes().get(..dest.dtype().size())?))
        }
        (input, Some(value)) if little => {
            elements(value, &input.access(dest.shape()), dest.shape())
        }
        _ => None,
    }
}

/// Makes a value anew, with the elements that it has, in memory that may be written: its own, or a copy
/// of at most so many elements. `None` where it would take more, or not all are in host memory.
pub(crate) fn renewed(value: &mut Value, most: usize) -> Option<Arc<HostBuffer>> {
    if let Some(host) = value.renew() {
        return Some(host);
    }
    let host = match taken(value, false) {
        Some(host) => host,
        None if value.len() <= most => {
            let whole = access::access(0, &[1]);
            Arc::new(HostBuffer::from_bytes(&elements(value, &whole, &[value.len()])?).ok()?)
        }
        None => return None,
    };
    *value = Value::host(value.dtype(), value.shape(), host.clone());
    Some(host)
}

/// The memory of a value without other handles, if it is all there and nowhere else; with `anywhere`, also if devices
/// have blocks of it, which nothing asks for when the value is gone.
fn taken(value: &Value, anywhere: bool) -> Option<Arc<HostBuffer>> {
    if !value.is_sole() {
        return None;
    }
    let mut state = value.state();
    let nowhere_else = anywhere || state.watchers.is_empty();
    let complete = state.on_host.covers(0..value.len()) && nowhere_else;
    if !complete || !state.host.as_ref().is_some_and(HostBuffer::is_sole) {
        return None;
    }
    state.host.take()
}

/// Writes few elements into a view of a base that has its own, if the source is in host memory and needs no
/// broadcasting but of one element; `None`, with nothing done, for others.
pub(crate) fn write_own(dest: &Array, source: &ArrayOrScalar<'_>) -> Option<()> {
    let size = dest.dtype().size();
    // The borrowed source is not the destination's base, whose lock is taken below.
    let borrowed;
    let data = match source {
        ArrayOrScalar::Scalar(scalar) if scalar.dtype != dest.dtype() => return None,
        ArrayOrScalar::Scalar(scalar) => {
            WriteSource::Of(HostView::Copied(ElementBytes::from_slice(scalar.bytes().get(..size)?)))
        }
        ArrayOrScalar::Array(array) if !fits(array, dest) => return None,
        ArrayOrScalar::Array(array) if array.shares_base(dest) => {
            WriteSource::Within(array.layout())
        }
        ArrayOrScalar::Array(_) => {
            borrowed = BorrowGuard::of(&[*source])?;
            WriteSource::Of(borrowed.operands.first()?.elements(size)?.apart())
        }
    };
    let mut current = dest.current_to_write()?;
    let bytes = own_again(&mut current)?;
    match data {
        WriteSource::Of(data) => put(bytes, size, dest.layout(), &data),
        WriteSource::Within(view) => move_within(bytes, size, view, dest.layout())?,
    }
    current.version += 1;
    Some(())
}

/// Puts the elements that one view of these bytes shows where another one does, as they were before; `None`
/// where the former leaves them.
fn move_within(bytes: &mut [u8], size: usize, from: &View, to: &View) -> Option<()> {
    let (mut few, mut many) = ([0; STACK], None);
    let len = from.size() * size;
    let copy = match few.get_mut(..len) {
        Some(few) => few,
        None => many.insert(memory::zeroed(len).ok()?),
    };
    copy_seen(copy, bytes, size, from)?;
    put(bytes, size, to, copy);
    Some(())
}

/// The own elements of a base, for writing. Elements in host memory that were a value become own ones again: the
/// value's, if it has no other handle, or a copy, if they are few. `None` for others.
pub(crate) fn own_again(current: &mut Current) -> Option<&mut [u8]> {
    made_own(current, T.most_points)
}

/// Makes elements in host memory, or a constant, a base's own, however many they are.
pub(crate) fn promoted(current: &mut Current) {
    made_own(current, usize::MAX);
}

/// Makes elements in host memory a base's own, for writing; `None` where others are, or where more than
/// `most` would have to be copied.
fn made_own(current: &mut Current, most: usize) -> Option<&mut [u8]> {
    if let Contents::Value(value) = current.held()
        && (!value.is_empty() || most == usize::MAX)
    {
        let (dtype, shape) = (value.dtype(), value.0.shape.clone());
        let bytes = value.len() * dtype.size();
        let few = value.len() <= most;
        let memory = match value.0.kind {
            _ if value.is_empty() => ElementStorage::of(&[]).ok()?,
            ValueKind::Constant(scalar) if few => {
                ElementStorage::full(scalar.bytes().get(..dtype.size())?, value.len()).ok()?
            }
            ValueKind::Constant(_) => return None,
            ValueKind::External(_) => return None,
            ValueKind::Host(_) | ValueKind::Expr { .. } => {
                match taken(value, most == usize::MAX).map(Arc::try_unwrap) {
                    Some(Ok(buffer)) => ElementStorage::in_buffer(buffer),
                    Some(Err(shared)) => {
                        // SAFETY: elements of a value in host memory are never written while the value or the buffer
                        // has another owner.
                        let copied = ElementStorage::of(unsafe { shared.bytes(0..bytes) }).ok();
                        // Without a copy the value has its memory again.
                        value.state().host = Some(shared);
                        copied?
                    }
                    None => {
                        let state = value.state();
                        if !few || !state.on_host.covers(0..value.len()) {
                            return None;
                        }
                        // SAFETY: elements of a value in host memory are never written while the value has another
                        // owner.
                        ElementStorage::of(unsafe { state.host.as_ref()?.bytes(0..bytes) }).ok()?
                    }
                }
            }
        };
        current.make_own(OwnedElements::new(dtype, shape, Origin::Eager, memory));
    }
    current.own_mut().map(OwnedElements::bytes_mut)
}

/// Bytes of elements that are copied by way of the stack.
const STACK: usize = 1 << 10;

/// The source of a write.
enum WriteSource<'a> {
    Of(HostView<'a>),
    /// Elements of the destination's base.
    Within(&'a View),
}

/// Whether an array is written element by element, or is one element.
fn fits(array: &Array, dest: &Array) -> bool {
    array.dtype() == dest.dtype()
        && (array.shape() == dest.shape() || array.size() == 1 && array.ndim() <= dest.ndim())
}

/// Writes one element at a position of a base that has its own; false, with nothing done, for others.
pub(crate) fn write_element(array: &Array, position: isize, element: Scalar) -> bool {
    let (size, bytes) = (array.dtype().size(), element.bytes());
    let Some(mut current) = array.current_to_write().filter(|_| element.dtype == array.dtype())
    else {
        return false;
    };
    let place =
        usize::try_from(position).ok().zip(own_again(&mut current)).and_then(|(at, own)| {
            let place = own.get_mut(at * size..(at + 1) * size)?;
            place.copy_from_slice(bytes.get(..size)?);
            Some(())
        });
    current.version += u64::from(place.is_some());
    place.is_some()
}

/// A copy of elements in host memory; `None` for others, and for a whole value, which takes no copy.
pub(crate) fn copied(array: &Array) -> Option<Array> {
    let current = array.current_now()?;
    let (dtype, view) = (array.dtype(), array.layout());
    let own = |elements: &[u8]| Array::own(dtype, array.shape(), Origin::Eager, elements);
    match current.held() {
        Contents::Own(held) if array.is_contiguous() => {
            let start = array.offset() as usize * dtype.size();
            own(held.bytes().get(start..start + array.size() * dtype.size())?)
        }
        Contents::Own(held) => own(&seen(held.bytes(), dtype.size(), view)?),
        Contents::Value(value) if !array.is_whole() => {
            let walk = access::access(view.offset, &view.strides);
            own(&elements(value, &walk, &view.shape)?)
        }
        Contents::Value(_) | Contents::Nothing => None,
    }
}

/// Few elements that are all the same scalar.
pub(crate) fn filled(shape: &[usize], scalar: Scalar) -> Option<Array> {
    let (size, bytes) = (scalar.dtype.size(), scalar.bytes());
    let len = size_of(shape) * size;
    let (array, room) = Array::blank(scalar.dtype, shape, Origin::Given, 0)?;
    // SAFETY: `room` has space for all elements and is not shared yet; `write_bytes` initialises it.
    let room = unsafe {
        room.write_bytes(0, len);
        std::slice::from_raw_parts_mut(room.as_ptr(), len)
    };
    if scalar.bits != 0 {
        let element = bytes.get(..size)?;
        fill_all(room, element);
    }
    Some(array)
}

/// Elements of arrays in host memory, one behind the other; `None` where they are not there, or there are none.
pub(crate) fn joined(shape: &[usize], join: &Join, arrays: &[Array]) -> Option<Array> {
    let dtype = arrays.first()?.dtype();
    let (len, size) = (size_of(shape), dtype.size());
    if len == 0 {
        return None;
    }
    let (joined, room) = Array::blank(dtype, shape, Origin::Eager, 0)?;
    // SAFETY: `room` has space for all elements and is not shared yet; `write_bytes` initialises it.
    let bytes = unsafe {
        room.write_bytes(0, len * size);
        std::slice::from_raw_parts_mut(room.as_ptr(), len * size)
    };
    let (axis, whole) = (join.axis as usize, View::contiguous(shape));
    for (part, array) in arrays.iter().filter(|array| array.size() > 0).enumerate() {
        let view = whole.slice_axis(axis, join.start(part), array.shape()[axis], 1);
        let guard = BorrowGuard::of(&[ArrayOrScalar::Array(array)])?;
        let borrowed = guard.operands.first()?;
        let data = borrowed.elements(size)?;
        match borrowed {
            BorrowedOperand::Scalar(_) => fill(bytes, &view, &data),
            BorrowedOperand::Memory(..) => place(bytes, size, &view, &data),
        }
    }
    Some(joined)
}

/// The elements of a value that an access names, in C order, if they are in host memory.
fn elements(value: &Value, walk: &Access, shape: &[usize]) -> Option<ElementBytes> {
    let size = value.dtype().size();
    if size_of(shape) == 0 {
        // The access of nothing may lead anywhere.
        return Some(ElementBytes::new());
    }
    let reach = access::reach(walk, shape);
    let state = value.state();
    if !state.on_host.covers(reach.clone()) {
        return None;
    }
    // SAFETY: a computed element in host memory is never written while its value is held, as it is here.
    let bytes = unsafe { state.host.as_ref()?.bytes(0..reach.end * size) };
    if contiguous_strides(shape).iter().zip(&walk.strides).all(|(a, b)| *a as i64 == *b) {
        return memory::small_copied(&bytes[reach.start * size..]).ok();
    }
    gather(bytes, size, walk, shape).ok().map(ElementBytes::from_vec)
}
