//! Eager boolean indexing: small masks in host memory are read and written without any driver.
//!
//! Owns [`selected`], [`counted`] and [`write()`]. Invariants: a base whose elements have another owner is never
//! written; a write that does not fit changes nothing.
//!
//! Not here: masks of many elements, which become positions (`host_nonzero.rs`) or selects (`predicated_write.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::eager::borrow::{BorrowGuard, BorrowedOperand};
use crate::execute::host_ops::mask_bytes::{count, each_true};
use crate::graph::value::{Copies, Origin};
use crate::memory::access;
use crate::memory::strided::rows;
use crate::memory::view::View;
use crate::thresholds::T;
use gpupy_core::DType;
use gpupy_core::shape::{Shape, size_of};

/// The rows where a mask of the leading axes is true (elements, where it has all axes), of few in host
/// memory; `None` where it is more work.
pub(crate) fn selected(array: &Array, mask: &Array) -> Option<Array> {
    let (dtype, size) = (array.dtype(), array.dtype().size());
    let rest = array.shape().strip_prefix(mask.shape())?;
    let guard = BorrowGuard::of(&[ArrayOrScalar::Array(array), ArrayOrScalar::Array(mask)])?;
    let [elements @ BorrowedOperand::Memory(..), chosen @ BorrowedOperand::Memory(..)] =
        &guard.operands[..]
    else {
        return None;
    };
    let (elements, chosen) = (elements.elements(size)?, chosen.elements(1)?);
    let count = count(&chosen);
    let shape: Shape = [count].iter().chain(rest).copied().collect();
    let row = size_of(rest) * size;
    Array::made(dtype, &shape, Origin::Eager, 0, |room| {
        match row {
            0 => {}
            1 => take::<1>(&elements, &chosen, room),
            2 => take::<2>(&elements, &chosen, room),
            4 => take::<4>(&elements, &chosen, room),
            8 => take::<8>(&elements, &chosen, room),
            16 => take::<16>(&elements, &chosen, room),
            _ => {
                let mut places = room.chunks_exact_mut(row);
                each_true(&chosen, |at, n| {
                    for at in at..at + n {
                        let of = elements.get(at * row..(at + 1) * row);
                        if let (Some(place), Some(row)) = (places.next(), of) {
                            place.copy_from_slice(row);
                        }
                    }
                });
            }
        }
        Some(())
    })
}

/// How many elements of a mask in host memory are true; `None` where they are not there.
pub(crate) fn counted(mask: &Array) -> Option<usize> {
    let guard = BorrowGuard::of(&[ArrayOrScalar::Array(mask)])?;
    let [elements @ BorrowedOperand::Memory(..)] = &guard.operands[..] else { return None };
    (mask.dtype() == DType::Bool).then(|| elements.elements(1).map(|mask| count(&mask)))?
}

/// Puts the elements that a mask chooses one after another.
fn take<const N: usize>(elements: &[u8], chosen: &[u8], room: &mut [u8]) {
    let (elements, _) = elements.as_chunks::<N>();
    let (room, _) = room.as_chunks_mut::<N>();
    let mut next = 0;
    each_true(chosen, |at, n| {
        let (from, to) = (elements.get(at..at + n), room.get_mut(next..next + n));
        match (from, to) {
            (Some([from]), Some([to])) => *to = *from,
            (Some(from), Some(to)) => to.copy_from_slice(from),
            _ => {}
        }
        next += n;
    });
}

/// Writes a scalar, or elements one after another, where a mask of the same shape is true, into few
/// elements that only their base has; `None`, with nothing done, where it is more work or does not fit.
pub(crate) fn write(dest: &Array, mask: &Array, source: &ArrayOrScalar<'_>) -> Option<()> {
    let size = dest.dtype().size();
    let (dtype, axes, values) = match source {
        ArrayOrScalar::Scalar(scalar) => (scalar.dtype, 0, 1),
        ArrayOrScalar::Array(array) => (array.dtype(), array.ndim(), array.size()),
    };
    let fits = dtype == dest.dtype() && axes <= 1 && mask.shape() == dest.shape();
    if !fits {
        return None;
    }
    // None of them is of the destination's base, whose lock is taken below.
    let guard = BorrowGuard::of(&[ArrayOrScalar::Array(mask), *source])?;
    let [BorrowedOperand::Memory(..), given] = &guard.operands[..] else { return None };
    let (chosen, data) = (guard.operands[0].elements(1)?.apart(), given.elements(size)?.apart());
    let count = count(&chosen);
    // A constant's data is one element, however many values it has.
    if values != 1 && values != count {
        return None;
    }
    let step = match data.len() {
        one if one == size => 0,
        all if all == count * size => size,
        _ => return None,
    };
    let mut current = dest.current_to_write()?;
    let bytes = current.make_mut(Copies::UpTo(T.most_masked))?;
    let (mut chosen, mut data) = (&chosen[..], &data[..]);
    let lying;
    let view = if dest.is_contiguous() {
        // One row.
        lying = View { offset: dest.offset(), ..View::contiguous(&[dest.size()]) };
        &lying
    } else {
        dest.layout()
    };
    rows(&access::access(view.offset, &view.strides), &view.shape, |start, stride, n| {
        let (row, behind) = chosen.split_at(n);
        chosen = behind;
        data = match size {
            1 => write_row::<1>(bytes, (start, stride), row, data, step),
            2 => write_row::<2>(bytes, (start, stride), row, data, step),
            4 => write_row::<4>(bytes, (start, stride), row, data, step),
            8 => write_row::<8>(bytes, (start, stride), row, data, step),
            _ => write_row::<16>(bytes, (start, stride), row, data, step),
        };
    });
    current.version += 1;
    Some(())
}

/// Writes to a row where `chosen` is true, each time the next element of the data, or the same with `step` 0; gives the
/// rest of the data.
fn write_row<'a, const N: usize>(
    bytes: &mut [u8],
    (start, stride): (i64, i64),
    chosen: &[u8],
    data: &'a [u8],
    step: usize,
) -> &'a [u8] {
    let (places, _) = bytes.as_chunks_mut::<N>();
    let (elements, _) = data.as_chunks::<N>();
    let (mut next, each) = (0, usize::from(step > 0));
    each_true(chosen, |first, n| {
        let at = |k: usize| (start + stride * k as i64) as usize;
        if n > 1 && stride == 1 && each == 1 {
            let place = places.get_mut(at(first)..at(first) + n);
            if let (Some(place), Some(element)) = (place, elements.get(next..next + n)) {
                place.copy_from_slice(element);
            }
            next += n;
            return;
        }
        for k in first..first + n {
            if let (Some(place), Some(element)) = (places.get_mut(at(k)), elements.get(next)) {
                *place = *element;
            }
            next += each;
        }
    });
    data.get(next * step..).unwrap_or_default()
}
