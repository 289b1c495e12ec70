//! Eager fancy indexing: few rows in host memory are read and written by an index array, without any driver.
//!
//! Owns [`Outside`], [`picked`], [`picked_along`], [`picked_extents`], [`write()`] and [`write_along`]. Invariants: a
//! base whose elements have another owner is never written; a write that does not fit, or by an index outside its axis,
//! changes nothing.
//!
//! Not here: masks (`small_boolean_mask.rs`), index arrays of many elements, which become expressions (`indexing`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::eager::borrow::{BorrowGuard, BorrowedOperand};
use crate::graph::interval::Bounds;
use crate::graph::value::{Copies, Origin};
use crate::memory::element_bytes::fill_all;
use crate::memory::strided::{each_point, gather_into, scatter, spread};
use crate::thresholds::T;
use gpupy_core::driver::Access;
use gpupy_core::shape::{MAX_RANK, Shape, contiguous_strides, size_of};
use gpupy_core::{DType, for_integer_type};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Elements that are moved beside others in the time in which one is moved to its place, or from it.
pub(crate) fn moved_beside() -> usize {
    T.dense_picked / T.dense_beside
}

/// The rule for an index that is outside its axis.
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
    let guard = BorrowGuard::of(&[ArrayOrScalar::Array(array), ArrayOrScalar::Array(index)])?;
    let [table @ BorrowedOperand::Memory(..), places @ BorrowedOperand::Memory(..)] =
        &guard.operands[..]
    else {
        return None;
    };
    let (table, places) = (table.elements(size)?, places.elements(index.dtype().size())?);
    let mut shape = Shape::from_slice(index.shape());
    if array.ndim() > 1 {
        shape.extend_from_slice(&array.shape()[1..]);
    }
    if shape.len() > MAX_RANK {
        return None;
    }
    let bytes = row * size;
    let numbers = integers(index.dtype(), &places)?;
    let places = places_of(&numbers, n)?;
    Array::made(dtype, &shape, Origin::Eager, 0, |out| match bytes {
        // Copies of a length that is known take no call.
        1 => fetch::<1>(out, &table, places),
        2 => fetch::<2>(out, &table, places),
        4 => fetch::<4>(out, &table, places),
        8 => fetch::<8>(out, &table, places),
        16 => fetch::<16>(out, &table, places),
        _ => out.chunks_exact_mut(bytes.max(1)).zip(places).try_for_each(|(to, place)| {
            to.copy_from_slice(table.get(place * bytes..(place + 1) * bytes)?);
            Some(())
        }),
    })
}

/// The elements that index arrays name, as an array of this shape (`Context::fancy_index`); `None` where they are not
/// few elements in host memory, or an index is refused.
pub(crate) fn picked_along(
    array: &Array,
    indices: &[Option<&Array>],
    (at, shape): (usize, &[usize]),
    outside: Outside,
) -> Option<Array> {
    let (dtype, size) = (array.dtype(), array.dtype().size());
    let picked = picked_extents(indices, at, shape)?;
    let args = [array].into_iter().chain(indices.iter().copied().flatten());
    let args = args.map(ArrayOrScalar::Array);
    let guard = BorrowGuard::of(&args.collect::<SmallVec<[ArrayOrScalar<'_>; 3]>>())?;
    let (table, borrowed) = guard.operands.split_first()?;
    let (bytes, first) = table.reach(size)?;
    let PickedPlaces { away, before, mut behind } =
        PickedPlaces::of(array, (indices, borrowed), (at, picked), outside)?;
    let (row, is_line) = (size_of(&behind.extents) * size, behind.is_line());
    Array::made(dtype, shape, Origin::Eager, 0, |out| {
        let mut rooms = out.chunks_exact_mut(row * away.len());
        let mut copied = Some(());
        each_point((first as i64, &before.walk.strides), &before.extents, |start| {
            let Some(out) = rooms.next() else { return };
            // What is below the first is no place, either.
            let places = away.iter().map(|away| (start + away) as usize);
            let done = match (is_line, row) {
                (true, 1) if size == 1 => fetch::<1>(out, bytes, places),
                (true, 2) if size == 2 => fetch::<2>(out, bytes, places),
                (true, 4) if size == 4 => fetch::<4>(out, bytes, places),
                (true, 8) if size == 8 => fetch::<8>(out, bytes, places),
                (true, 16) if size == 16 => fetch::<16>(out, bytes, places),
                (true, _) => out.chunks_exact_mut(row).zip(places).try_for_each(|(to, place)| {
                    let at = place.checked_mul(size)?;
                    to.copy_from_slice(bytes.get(at..at.checked_add(row)?)?);
                    Some(())
                }),
                (false, _) => out.chunks_exact_mut(row).zip(&away).try_for_each(|(to, away)| {
                    behind.walk.offset = start + away;
                    gather_into(to, bytes, size, &behind.walk, &behind.extents)
                }),
            };
            copied = copied.and(done);
        });
        copied
    })
}

/// Writes one element, or those of an array of this shape, to the elements that index arrays name
/// (`Context::put`), if only their base has these; of several writes to one element the last counts. `None`, with
/// nothing done, where they are not few elements in host memory, an index is refused, or the source does not fit.
pub(crate) fn write_along(
    dest: &Array,
    indices: &[Option<&Array>],
    (at, shape): (usize, &[usize]),
    outside: Outside,
    source: &ArrayOrScalar<'_>,
) -> Option<()> {
    let size = dest.dtype().size();
    let fits = match source {
        ArrayOrScalar::Scalar(scalar) => scalar.dtype == dest.dtype(),
        ArrayOrScalar::Array(array) => {
            let is_one = array.size() == 1 && array.ndim() <= shape.len();
            array.dtype() == dest.dtype() && (is_one || array.shape() == shape)
        }
    };
    if !fits {
        return None;
    }
    let picked = picked_extents(indices, at, shape)?;
    // None of them is of the destination's base, whose lock is taken below.
    let args = indices.iter().copied().flatten().map(ArrayOrScalar::Array).chain([*source]);
    let guard = BorrowGuard::of(&args.collect::<SmallVec<[ArrayOrScalar<'_>; 3]>>())?;
    let (given, borrowed) = guard.operands.split_last()?;
    let PickedPlaces { away, before, mut behind } =
        PickedPlaces::of(dest, (indices, borrowed), (at, picked), outside)?;
    let row = size_of(&behind.extents) * size;
    let data = given.elements(size)?.apart();
    let (step, plane) = match data.len() {
        one if one == size => (0, 0),
        _ => (row, row * away.len()),
    };
    let mut current = dest.current_to_write()?;
    let bytes = current.make_mut(copies(away.len() * row / size))?;
    let mut done = 0;
    let mut written = Some(());
    each_point((dest.offset() as i64, &before.walk.strides), &before.extents, |start| {
        let data = data.get(done..).unwrap_or_default();
        done += plane;
        let places = away.iter().map(|away| usize::try_from(start + away).ok());
        let stored = match (behind.extents.is_empty(), size) {
            // Copies of a length that is known take no call.
            (true, 1) => store::<1>(bytes, places, data, step),
            (true, 2) => store::<2>(bytes, places, data, step),
            (true, 4) => store::<4>(bytes, places, data, step),
            (true, 8) => store::<8>(bytes, places, data, step),
            (true, 16) => store::<16>(bytes, places, data, step),
            _ => away.iter().enumerate().try_for_each(|(number, away)| {
                behind.walk.offset = start + away;
                let (walk, extents) = (&behind.walk, &behind.extents);
                match step {
                    0 => spread(bytes, walk, extents, data.get(..size)?),
                    _ => scatter(bytes, size, walk, extents, data.get(number * row..)?.get(..row)?),
                }
                Some(())
            }),
        };
        written = written.and(stored);
    });
    current.version += 1;
    written
}

/// The elements that a write of so many scattered ones may copy first: a copy of some for each takes less time than to
/// find their places later.
fn copies(written: usize) -> Copies {
    Copies::UpTo(T.most_points.max(written.saturating_mul(moved_beside())))
}

/// The extents of the axes of a result, from axis `at` on, that index arrays name the elements of.
pub(crate) fn picked_extents<'a>(
    indices: &[Option<&Array>],
    at: usize,
    shape: &'a [usize],
) -> Option<&'a [usize]> {
    let kept = indices.iter().filter(|index| index.is_none()).count();
    shape.get(at..at + shape.len().checked_sub(kept)?)
}

/// Where the elements that index arrays name lie in a base.
struct PickedPlaces {
    /// How far from an element of the kept axes each of them lies.
    away: SmallVec<[i64; 32]>,
    /// The kept axes in front of the picked ones, and behind them.
    before: KeptAxes,
    behind: KeptAxes,
}

impl PickedPlaces {
    /// Those of index arrays, which are borrowed, and broadcast to the axes of these extents; `None` where one is not
    /// there, or names what is outside and that is refused.
    fn of(
        array: &Array,
        (indices, borrowed): (&[Option<&Array>], &[BorrowedOperand<'_>]),
        (at, picked): (usize, &[usize]),
        outside: Outside,
    ) -> Option<PickedPlaces> {
        let mut away: SmallVec<[i64; 32]> = SmallVec::from_elem(0, size_of(picked));
        let mut borrowed = borrowed.iter();
        let (mut before, mut behind) = (KeptAxes::default(), KeptAxes::default());
        for (axis, index) in indices.iter().enumerate() {
            let (n, stride) = (*array.shape().get(axis)?, array.strides()[axis] as i64);
            let Some(index) = index else {
                let side = if before.extents.len() < at { &mut before } else { &mut behind };
                side.extents.push(n);
                side.walk.strides.push(stride);
                continue;
            };
            let elements = borrowed.next()?.elements(index.dtype().size())?;
            let numbers = integers(index.dtype(), &elements)?;
            let named = (&numbers[..], index.shape());
            let n = n as i64;
            match outside {
                Outside::Refuse if !are_within(&numbers, n) => return None,
                Outside::Refuse => add(&mut away, picked, named, |x| from_start(x, n) * stride)?,
                _ if n == 0 => return None,
                Outside::Wrap => add(&mut away, picked, named, |x| x.rem_euclid(n) * stride)?,
                Outside::Clip => add(&mut away, picked, named, |x| x.clamp(0, n - 1) * stride)?,
            }
        }
        Some(PickedPlaces { away, before, behind })
    }
}

/// Adds, to each number of a space, how far the number of an index array is that is broadcast to it; `None` where its
/// shape isn't.
fn add(
    away: &mut [i64],
    space: &[usize],
    (numbers, shape): (&[i64], &[usize]),
    far: impl Fn(i64) -> i64,
) -> Option<()> {
    let in_front = space.len().checked_sub(shape.len())?;
    if space[in_front..].iter().zip(shape).any(|(all, n)| *n != 1 && n != all) {
        return None;
    }
    // A constant has one number for all its elements.
    let of_one = |n: &usize| *n == 1 || numbers.len() == 1;
    let steps: SmallVec<[i64; 4]> = std::iter::repeat_n(0, in_front)
        .chain(contiguous_strides(shape).iter().zip(shape).map(|(step, n)| match of_one(n) {
            true => 0,
            false => *step as i64,
        }))
        .collect();
    // The last axes, as many as name numbers one after another, or all the same one.
    let last = (0..space.len()).rfind(|axis| space[*axis] != 1);
    let is_one = last.is_none_or(|axis| steps[axis] == 0);
    let is_in_row = |axis: &usize| space[*axis] == 1 || (steps[*axis] == 0) == is_one;
    let outer = space.len() - (0..space.len()).rev().take_while(is_in_row).count();
    let mut rows = away.chunks_exact_mut(size_of(&space[outer..]));
    each_point((0, &steps[..outer]), &space[..outer], |start| {
        let (Some(row), Some(here)) = (rows.next(), numbers.get(start as usize..)) else { return };
        if is_one {
            let far = here.first().map_or(0, |number| far(*number));
            row.iter_mut().for_each(|away| *away += far);
        } else {
            row.iter_mut().zip(here).for_each(|(away, number)| *away += far(*number));
        }
    });
    Some(())
}

/// Copies elements of so many bytes from their places among others; `None` where one is not there.
// Inlined, its registers were on the stack, and it took twice as long.
#[inline(never)]
fn fetch<const N: usize>(
    out: &mut [u8],
    bytes: &[u8],
    places: impl Iterator<Item = usize>,
) -> Option<()> {
    let (rooms, elements) = (out.as_chunks_mut::<N>().0, bytes.as_chunks::<N>().0);
    for (to, place) in rooms.iter_mut().zip(places) {
        *to = *elements.get(place)?;
    }
    Some(())
}

/// Axes of an array that are kept.
#[derive(Default)]
struct KeptAxes {
    walk: Access,
    extents: Shape,
}

impl KeptAxes {
    /// Whether their elements lie one after another.
    fn is_line(&self) -> bool {
        let line = contiguous_strides(&self.extents);
        line.iter().zip(&self.walk.strides).all(|(a, b)| *a as i64 == *b)
    }
}

/// Writes one element, or rows one after another, to the rows that an index array names along the first axis of few
/// elements that only their base has; of several writes to one row the last counts. `None`, with nothing done, where
/// one lies outside, it is more work, or it does not fit.
pub(crate) fn write(dest: &Array, index: &Array, source: &ArrayOrScalar<'_>) -> Option<()> {
    let size = dest.dtype().size();
    let (n, rest) = dest.shape().split_first()?;
    let (first, inner) = dest.strides().split_first()?;
    let row = size_of(rest);
    let is_row = row == 1 || contiguous_strides(rest)[..] == *inner;
    if !is_row || !index.dtype().is_int() {
        return None;
    }
    let fits = match source {
        ArrayOrScalar::Scalar(scalar) => scalar.dtype == dest.dtype(),
        ArrayOrScalar::Array(array) => {
            let rows = index.shape().iter().chain(rest);
            let is_one = array.size() == 1 && array.ndim() <= index.ndim() + rest.len();
            array.dtype() == dest.dtype() && (is_one || array.shape().iter().eq(rows))
        }
    };
    if !fits {
        return None;
    }
    // None of them is of the destination's base, whose lock is taken below.
    let guard = BorrowGuard::of(&[ArrayOrScalar::Array(index), *source])?;
    let [BorrowedOperand::Memory(..), given] = &guard.operands[..] else { return None };
    let elements = guard.operands[0].elements(index.dtype().size())?;
    let numbers = integers(index.dtype(), &elements)?;
    let places = places_of(&numbers, *n)?;
    let data = given.elements(size)?.apart();
    let step = match data.len() {
        one if one == size => 0,
        all if all == numbers.len() * row * size => row * size,
        _ => return None,
    };
    let mut current = dest.current_to_write()?;
    let bytes = current.make_mut(copies(numbers.len() * row))?;
    // Inside the base, as all rows of the destination are.
    let start = |place: usize| usize::try_from(dest.offset() + place as isize * first).ok();
    match (row, size) {
        // Copies of a length that is known take no call.
        (1, 1) => store::<1>(bytes, places.map(start), &data, step)?,
        (1, 2) => store::<2>(bytes, places.map(start), &data, step)?,
        (1, 4) => store::<4>(bytes, places.map(start), &data, step)?,
        (1, 8) => store::<8>(bytes, places.map(start), &data, step)?,
        (1, 16) => store::<16>(bytes, places.map(start), &data, step)?,
        _ => {
            for (number, place) in places.enumerate() {
                let at = start(place)? * size;
                let to = bytes.get_mut(at..at + row * size)?;
                let from = data.get(number * step..)?;
                match step {
                    0 => fill_all(to, from.get(..size)?),
                    _ => to.copy_from_slice(from.get(..row * size)?),
                }
            }
        }
    }
    current.version += 1;
    Some(())
}

/// Copies elements of so many bytes, or the one that there is, to their places among others; `None` where there is no
/// such place.
#[inline]
fn store<const N: usize>(
    bytes: &mut [u8],
    places: impl Iterator<Item = Option<usize>>,
    data: &[u8],
    step: usize,
) -> Option<()> {
    let (rooms, elements) = (bytes.as_chunks_mut::<N>().0, data.as_chunks::<N>().0);
    if step == 0 {
        let element = *elements.first()?;
        for place in places {
            *rooms.get_mut(place?)? = element;
        }
        return Some(());
    }
    for (place, element) in places.zip(elements) {
        *rooms.get_mut(place?)? = *element;
    }
    Some(())
}

/// The places that numbers of an index array name of so many; `None` where one lies outside.
#[inline]
fn places_of(numbers: &[i64], n: usize) -> Option<impl Iterator<Item = usize> + '_> {
    let n = n as i64;
    are_within(numbers, n)
        .then(|| numbers.iter().map(move |number| from_start(*number, n) as usize))
}

/// Whether numbers of an index array name some of so many.
#[inline]
fn are_within(numbers: &[i64], n: i64) -> bool {
    match Bounds::of_elements(DType::I64, bytemuck::cast_slice(numbers)) {
        Some(Bounds::Whole { low, high }) => -i128::from(n) <= low && high < i128::from(n),
        _ => numbers.is_empty(),
    }
}

/// A number that is within, counted from the start.
#[inline]
fn from_start(number: i64, n: i64) -> i64 {
    if number < 0 { number + n } else { number }
}

/// The elements of an index array; `None` where an int64 does not hold one, or it is none.
fn integers(dtype: DType, elements: &[u8]) -> Option<Cow<'_, [i64]>> {
    macro_rules! wide {
        ($t:ident) => {
            elements.as_chunks().0.iter().map(|x| $t::from_ne_bytes(*x) as i64).collect()
        };
    }
    Some(match dtype {
        DType::I64 => match bytemuck::try_cast_slice(elements) {
            Ok(numbers) => Cow::Borrowed(numbers),
            Err(_) => wide!(i64),
        },
        DType::U64 => {
            let signed = |element: &[u8; 8]| i64::try_from(u64::from_ne_bytes(*element)).ok();
            elements.as_chunks().0.iter().map(signed).collect::<Option<_>>()?
        }
        _ => for_integer_type!(dtype, T => wide!(T), _ => return None),
    })
}
