//! Moves of elements within host memory: writes and joins of what lies there, without any driver.
//!
//! Owns [`write()`] and [`joined`]. Invariants: a value that somebody else holds is never written; what
//! is given was computed, all of it, in host memory.
//!
//! Not here: writes that are recorded (`record.rs`) and evaluated (`assign.rs`).

use crate::access;
use crate::array::Array;
use crate::assign::scatter;
use crate::at_once::MOST_POINTS;
use crate::cache::gather;
use crate::driver::Access;
use crate::dtype::DType;
use crate::host::HostBuffer;
use crate::join::Join;
use crate::value::{Input, Operand, Value};
use crate::view::{View, contiguous_strides, size_of};
use smallvec::SmallVec;
use std::sync::Arc;

/// Puts the value of a base after writing an operand into the view `dest` of it in the old one's place,
/// where that lies in host memory and on no device; false where the write has to be recorded.
///
/// A scalar is written where the old value lies, if nobody else holds that. With `small`, so are few
/// elements of an array in host memory; and a small value that somebody else holds is copied first.
pub(crate) fn write(value: &mut Value, dest: &Array, source: &Operand, small: bool) -> bool {
    // The whole base gets another value, without any move.
    if dest.is_whole() && dest.size() > 1 {
        return false;
    }
    let Some(data) = data(dest, source, small) else { return false };
    let Some(host) = renewed(value, small) else { return false };
    // SAFETY: nobody else reads or has the buffer, as the value was just made anew.
    let bytes = unsafe { host.bytes_mut(0..value.len() * dest.dtype().size()) };
    place(bytes, dest.dtype().size(), dest.layout(), &data);
    true
}

/// What a write writes, in C order.
fn data(dest: &Array, source: &Operand, small: bool) -> Option<Elements> {
    match source {
        (Input::Scalar(scalar), _) => {
            let bytes = scalar.bytes();
            let element = bytes.get(..dest.dtype().size())?;
            Some(match dest.size() {
                1 => Elements::from_slice(element),
                many => Elements::from_vec(element.repeat(many)),
            })
        }
        (input, Some(value)) if small && dest.size() <= MOST_POINTS => {
            elements(value, &input.access(dest.shape()), dest.shape())
        }
        _ => None,
    }
}

/// Makes a value anew, with the elements that it has, in memory that may be written: its own, or a copy.
fn renewed(value: &mut Value, small: bool) -> Option<Arc<HostBuffer>> {
    if let Some(host) = value.renew() {
        return Some(host);
    }
    let host = match taken(value) {
        Some(host) => host,
        None if small && value.len() <= MOST_POINTS => {
            let whole = access::access(0, &[1]);
            Arc::new(HostBuffer::from_bytes(&elements(value, &whole, &[value.len()])?))
        }
        None => return None,
    };
    *value = Value::host(value.dtype(), value.shape(), host.clone());
    Some(host)
}

/// The memory of a value that nobody else holds, if it is all there and nowhere else.
fn taken(value: &Value) -> Option<Arc<HostBuffer>> {
    if !value.is_sole() {
        return None;
    }
    let mut state = value.state();
    let complete = state.on_host.covers(0..value.len()) && state.watchers.is_empty();
    if !complete || state.host.as_ref().is_none_or(|host| Arc::strong_count(host) != 1) {
        return None;
    }
    state.host.take()
}

/// Few parts in host memory, one behind the other; `None` where they have to be read where they lie.
pub(crate) fn joined(
    dtype: DType,
    shape: &[usize],
    join: &Join,
    operands: &[Operand],
) -> Option<Value> {
    let len = size_of(shape);
    if len == 0 || len > MOST_POINTS {
        return None;
    }
    let size = dtype.size();
    let mut parts = Vec::with_capacity(operands.len());
    for (part, (input, value)) in operands.iter().enumerate() {
        let shape = join.shape(part, shape);
        parts.push(match (input, value) {
            (Input::Scalar(scalar), _) => {
                Elements::from_vec(scalar.bytes().get(..size)?.repeat(size_of(&shape)))
            }
            (input, Some(value)) => elements(value, &input.access(&shape), &shape)?,
            (_, None) => return None,
        });
    }
    let host = HostBuffer::new(len * size);
    // SAFETY: nobody else has the new buffer.
    let bytes = unsafe { host.bytes_mut(0..len * size) };
    let (axis, whole) = (join.axis as usize, View::contiguous(shape));
    for (part, data) in parts.iter().enumerate() {
        let extent = join.shape(part, shape)[axis];
        place(bytes, size, &whole.slice_axis(axis, join.start(part), extent, 1), data);
    }
    Some(Value::computed(dtype, shape.into(), Arc::new(host)))
}

/// The bytes of elements.
type Elements = SmallVec<[u8; 64]>;

/// The elements of a value that an access names, in C order, if they are in host memory.
fn elements(value: &Value, walk: &Access, shape: &[usize]) -> Option<Elements> {
    let size = value.dtype().size();
    let reach = access::reach(walk, shape);
    let state = value.state();
    if !state.on_host.covers(reach.clone()) {
        return None;
    }
    // SAFETY: a computed element in host memory is never written while somebody holds its value.
    let bytes = unsafe { state.host.as_ref()?.bytes(0..reach.end * size) };
    if contiguous_strides(shape).iter().zip(&walk.strides).all(|(a, b)| *a as i64 == *b) {
        return Some(Elements::from_slice(&bytes[reach.start * size..]));
    }
    gather(bytes, size, walk, shape).ok().map(Elements::from_vec)
}

/// Writes elements in C order where a view shows.
fn place(bytes: &mut [u8], size: usize, view: &View, data: &[u8]) {
    let start = view.offset.max(0) as usize * size;
    match bytes.get_mut(start..start + data.len()) {
        Some(place) if view.is_contiguous() => place.copy_from_slice(data),
        _ => scatter(bytes, size, &access::access(view.offset, &view.strides), &view.shape, data),
    }
}
