//! Index arrays of few elements in host memory, by which rows are read and written where they lie, without any driver.
//!
//! Owns [`picked`] and [`write()`]. Invariants: a base that somebody else has elements of is never written; a write that
//! does not fit, or by an index outside, changes nothing.
//!
//! Not here: masks (`masked.rs`), index arrays of many elements, which become expressions (`indexing`).

use crate::array::base::{Arg, Array};
use crate::eager::in_memory::own_again;
use crate::eager::lent::{Lent, Loan};
use crate::graph::value::Origin;
use crate::memory::little::MOST_POINTS;
use gpupy_core::shape::{Shape, contiguous_strides, size_of};
use gpupy_core::{DType, Scalar};
use smallvec::SmallVec;

/// The rows that an index array names along the first axis of few elements in host memory; `None`
/// where one lies outside, or it is more work.
pub(crate) fn picked(array: &Array, index: &Array) -> Option<Array> {
    let (n, row) = (*array.shape().first()?, size_of(&array.shape()[1..]));
    let (dtype, size) = (array.dtype(), array.dtype().size());
    let few = 1..=MOST_POINTS;
    if !few.contains(&array.size()) || !few.contains(&index.size().saturating_mul(row)) {
        return None;
    }
    let loan = Loan::of(&[Arg::Array(array), Arg::Array(index)])?;
    let [table @ Lent::Memory(..), places @ Lent::Memory(..)] = &loan.operands[..] else {
        return None;
    };
    let (table, places) = (table.elements(size)?, places.elements(index.dtype().size())?);
    let mut shape = Shape::from_slice(index.shape());
    if array.ndim() > 1 {
        shape.extend_from_slice(&array.shape()[1..]);
    }
    let (found, room) = Array::blank(dtype, &shape, Origin::AtOnce, 0)?;
    let (bytes, mut to) = (row * size, room.as_ptr());
    for place in places.chunks_exact(index.dtype().size()) {
        let place = place_of(index.dtype(), place, n)?;
        let from = table.get(place * bytes..(place + 1) * bytes)?.as_ptr();
        // SAFETY: there is room for a row for each place, and nobody else has it.
        unsafe {
            // Copies of a length that is known take no call.
            match bytes {
                4 => to.copy_from_nonoverlapping(from, 4),
                8 => to.copy_from_nonoverlapping(from, 8),
                _ => to.copy_from_nonoverlapping(from, bytes),
            }
            to = to.add(bytes);
        }
    }
    Some(found)
}

/// Writes a scalar, or rows one after another, to the rows that an index array names along the first axis of few elements
/// that only their base has; of several writes to one row the last counts. `None`, with nothing done, where one lies
/// outside, it is more work, or it does not fit.
pub(crate) fn write(dest: &Array, index: &Array, source: &Arg<'_>) -> Option<()> {
    let size = dest.dtype().size();
    let (n, rest) = dest.shape().split_first()?;
    let (first, inner) = dest.strides().split_first()?;
    let row = size_of(rest);
    let few = 1..=MOST_POINTS;
    let is_row = row == 1 || contiguous_strides(rest)[..] == *inner;
    if !is_row || !few.contains(&index.size().saturating_mul(row)) || !index.dtype().is_int() {
        return None;
    }
    let fits = match source {
        Arg::Scalar(scalar) => scalar.dtype == dest.dtype(),
        Arg::Array(array) => {
            let rows = index.shape().iter().chain(rest);
            array.dtype() == dest.dtype() && array.shape().iter().eq(rows)
        }
    };
    if !fits {
        return None;
    }
    // None of them is of the destination's base, whose lock is taken below.
    let loan = Loan::of(&[Arg::Array(index), *source])?;
    let [Lent::Memory(..), given] = &loan.operands[..] else { return None };
    let width = index.dtype().size();
    let numbers = loan.operands[0].elements(width)?;
    let place = |number: &[u8]| place_of(index.dtype(), number, *n);
    let places = numbers.chunks_exact(width).map(place);
    let places = places.collect::<Option<SmallVec<[usize; 64]>>>()?;
    let data = given.elements(size)?.apart();
    let step = match data.len() {
        one if one == size => 0,
        all if all == places.len() * row * size => row * size,
        _ => return None,
    };
    let mut current = dest.current_to_write()?;
    let bytes = own_again(&mut current)?;
    // Inside the base, as all rows of the destination are.
    let start = |place: usize| usize::try_from(dest.offset() + place as isize * first).ok();
    for (number, place) in places.into_iter().enumerate() {
        let at = start(place)? * size;
        let to = bytes.get_mut(at..at + row * size)?;
        let from = data.get(number * step..)?;
        match step {
            0 => to.chunks_exact_mut(size).for_each(|to| to.copy_from_slice(&from[..size])),
            _ => to.copy_from_slice(from.get(..row * size)?),
        }
    }
    current.version += 1;
    Some(())
}

/// The row that a number of an index array names of so many; `None` where it lies outside.
#[inline]
fn place_of(dtype: DType, number: &[u8], rows: usize) -> Option<usize> {
    let number = integer(dtype, number)?;
    let place = usize::try_from(if number < 0 { number + rows as i64 } else { number }).ok()?;
    (place < rows).then_some(place)
}

/// The number that an element of an integer dtype is, if an int64 holds it.
#[inline]
fn integer(dtype: DType, element: &[u8]) -> Option<i64> {
    if dtype == DType::I64 {
        return Some(i64::from_ne_bytes(element.try_into().ok()?));
    }
    let scalar = Scalar::read(dtype, element).filter(|_| dtype.is_int())?;
    i64::try_from(scalar.as_int()).ok()
}
