//! Index arrays of few elements in host memory, by which rows are read and written where they lie, without any driver.
//!
//! Owns [`Outside`], [`picked`], [`picked_along`] and [`write()`]. Invariants: a base that somebody else has elements of is never written; a write that
//! does not fit, or by an index outside, changes nothing.
//!
//! Not here: masks (`masked.rs`), index arrays of many elements, which become expressions (`indexing`).

use crate::array::base::{Arg, Array};
use crate::eager::in_memory::own_again;
use crate::eager::lent::{Lent, Loan};
use crate::graph::value::Origin;
use crate::memory::strided::{each_point, gather_into};
use gpupy_core::driver::Access;
use gpupy_core::shape::{Shape, contiguous_strides, size_of};
use gpupy_core::{DType, Scalar};
use smallvec::SmallVec;

/// What becomes of an index that is outside its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// An error; negative ones down to minus the extent count from the end.
    Refuse,
    /// The remainder by the extent.
    Wrap,
    /// The nearest inside.
    Clip,
}

/// The rows that an index array names along the first axis of few elements in host memory; `None`
/// where one lies outside, or it is more work.
pub(crate) fn picked(array: &Array, index: &Array) -> Option<Array> {
    let (n, row) = (*array.shape().first()?, size_of(&array.shape()[1..]));
    let (dtype, size) = (array.dtype(), array.dtype().size());
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

/// The elements that index arrays name, as an array of this shape (`Context::pick`); `None` where they are not few
/// elements in host memory, or an index is refused.
pub(crate) fn picked_along(
    array: &Array,
    indices: &[Option<&Array>],
    (at, shape): (usize, &[usize]),
    outside: Outside,
) -> Option<Array> {
    let (dtype, size) = (array.dtype(), array.dtype().size());
    let kept = indices.iter().filter(|index| index.is_none()).count();
    let picked = shape.get(at..at + shape.len().checked_sub(kept)?)?;
    let broadcast = |index: &&Array| index.broadcast_to(picked).ok();
    let wide = indices.iter().flatten().map(broadcast).collect::<Option<SmallVec<[Array; 2]>>>()?;
    let args = [array].into_iter().chain(&wide).map(Arg::Array);
    let loan = Loan::of(&args.collect::<SmallVec<[Arg<'_>; 3]>>())?;
    let (table, lent) = loan.operands.split_first()?;
    let (bytes, first) = table.reach(size)?;

    // How far from an element of the kept axes each picked one lies.
    let mut away: SmallVec<[i64; 32]> = SmallVec::from_elem(0, size_of(picked));
    let mut lent = lent.iter().zip(&wide);
    let (mut before, mut behind) = (Axes::default(), Axes::default());
    for (axis, index) in indices.iter().enumerate() {
        let (n, stride) = (*array.shape().get(axis)?, array.strides()[axis] as i64);
        if index.is_none() {
            let side = if before.extents.len() < at { &mut before } else { &mut behind };
            side.extents.push(n);
            side.walk.strides.push(stride);
            continue;
        }
        let (lent, index) = lent.next()?;
        let (dtype, numbers) = (index.dtype(), lent.elements(index.dtype().size())?);
        // A constant is one number.
        let each = numbers.chunks_exact(dtype.size()).cycle();
        for (away, number) in away.iter_mut().zip(each) {
            *away += place_within(dtype, number, n, outside)? as i64 * stride;
        }
    }

    let (found, room) = Array::blank(dtype, shape, Origin::AtOnce, 0)?;
    let row = size_of(&behind.extents) * size;
    // SAFETY: there is room for all elements, which nobody else has; they are initialised first.
    let out = unsafe {
        room.write_bytes(0, size_of(shape) * size);
        std::slice::from_raw_parts_mut(room.as_ptr(), size_of(shape) * size)
    };
    let is_line = contiguous_strides(&behind.extents)
        .iter()
        .zip(&behind.walk.strides)
        .all(|(a, b)| *a as i64 == *b);
    let mut rooms = out.chunks_exact_mut(row);
    let mut copied = true;
    before.walk.offset = first as i64;
    each_point(&before.walk, &before.extents, |start| {
        for (away, to) in away.iter().zip(&mut rooms) {
            behind.walk.offset = start + away;
            copied &= match is_line {
                true => line(bytes, behind.walk.offset, size, to),
                false => gather_into(to, bytes, size, &behind.walk, &behind.extents),
            }
            .is_some();
        }
    });
    copied.then_some(found)
}

/// Copies elements that follow each other; `None` where they are not all there.
#[inline]
fn line(bytes: &[u8], at: i64, size: usize, to: &mut [u8]) -> Option<()> {
    let at = usize::try_from(at).ok()? * size;
    let from = bytes.get(at..at + to.len())?;
    // Copies of a length that is known take no call.
    match to.len() {
        4 => to.copy_from_slice(from.first_chunk::<4>()?),
        8 => to.copy_from_slice(from.first_chunk::<8>()?),
        _ => to.copy_from_slice(from),
    }
    Some(())
}

/// Axes of an array that are kept.
#[derive(Default)]
struct Axes {
    walk: Access,
    extents: Shape,
}

/// Writes a scalar, or rows one after another, to the rows that an index array names along the first axis of few elements
/// that only their base has; of several writes to one row the last counts. `None`, with nothing done, where one lies
/// outside, it is more work, or it does not fit.
pub(crate) fn write(dest: &Array, index: &Array, source: &Arg<'_>) -> Option<()> {
    let size = dest.dtype().size();
    let (n, rest) = dest.shape().split_first()?;
    let (first, inner) = dest.strides().split_first()?;
    let row = size_of(rest);
    let is_row = row == 1 || contiguous_strides(rest)[..] == *inner;
    if !is_row || !index.dtype().is_int() {
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

/// The place that a number of an index array names of so many, whatever lies outside; `None` where that is refused.
#[inline]
fn place_within(dtype: DType, number: &[u8], n: usize, outside: Outside) -> Option<usize> {
    match outside {
        Outside::Refuse => place_of(dtype, number, n),
        _ if n == 0 => None,
        Outside::Wrap => Some(integer(dtype, number)?.rem_euclid(n as i64) as usize),
        Outside::Clip => Some(integer(dtype, number)?.clamp(0, n as i64 - 1) as usize),
    }
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
