//! Strided copies in host memory: between C order and positions a stride apart.
//!
//! Owns [`gather`], [`gather_into`], [`scatter`], [`spread`] and their walks. Invariant: elements are moved row by row,
//! each row with one loop over elements of a known size, or as one copy.
//!
//! Not here: which elements are moved, and why (`transfer.rs`, `host_moves.rs`, `host_assign.rs`).

use gpupy_core::driver::Access;
use gpupy_core::memory;
use gpupy_core::shape::size_of;
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::SmallVec;

/// The elements of an access over a space, in C order, out of a value's host memory.
///
/// # Errors
/// - `OutOfMemory`: there is no room for them. `Invalid`: the access leaves the value.
pub(crate) fn gather(bytes: &[u8], size: usize, walk: &Access, space: &[usize]) -> Result<Vec<u8>> {
    let mut out = memory::zeroed(size_of(space).saturating_mul(size))?;
    match gather_into(&mut out, bytes, size, walk, space) {
        Some(()) => Ok(out),
        None => Err(Error::new(ErrorKind::Invalid, "gather").says("an access leaves its value")),
    }
}

/// Like `gather`, into memory that is as long as the elements; `None` where the access leaves the value.
pub(crate) fn gather_into(
    out: &mut [u8],
    bytes: &[u8],
    size: usize,
    walk: &Access,
    space: &[usize],
) -> Option<()> {
    match size {
        1 => gather_all::<1>(out, bytes, walk, space),
        2 => gather_all::<2>(out, bytes, walk, space),
        4 => gather_all::<4>(out, bytes, walk, space),
        8 => gather_all::<8>(out, bytes, walk, space),
        _ => gather_all::<16>(out, bytes, walk, space),
    }
}

/// Gathers elements of `N` bytes. If rows are short, a plane of them is one loop.
fn gather_all<const N: usize>(
    out: &mut [u8],
    bytes: &[u8],
    walk: &Access,
    space: &[usize],
) -> Option<()> {
    let (strides, space) = &coalesced(walk, space);
    let (inner, outer) = (space.len().checked_sub(1), space.len().checked_sub(2));
    let [along, across] = [inner, outer].map(|axis| match axis {
        Some(axis) => (strides[axis], space[axis]),
        None => (1, 1),
    });
    let planes = &space[..outer.unwrap_or(0)];
    if size_of(space) == 0 {
        return Some(());
    }
    let mut rest = out;
    let mut inside = true;
    each_point((walk.offset, strides), planes, |start| {
        let here = std::mem::take(&mut rest).split_at_mut_checked(along.1 * across.1 * N);
        let Some((plane, behind)) = here else { return inside = false };
        rest = behind;
        inside &= gather_plane::<N>(bytes, start, along, across, plane);
    });
    inside.then_some(())
}

/// Copies rows of elements, each at least one; false where they are not all in `bytes`. A step and a number are given
/// along a row, and from a row to the next.
fn gather_plane<const N: usize>(
    bytes: &[u8],
    start: i64,
    (step, n): (i64, usize),
    (across, rows): (i64, usize),
    plane: &mut [u8],
) -> bool {
    let last = start + across * (rows as i64 - 1);
    if !lie_within::<N>(bytes, start, step, n) || !lie_within::<N>(bytes, last, step, n) {
        return false;
    }
    for (row, places) in plane.chunks_exact_mut(n * N).enumerate() {
        let start = start + across * row as i64;
        if step == 1 {
            places.copy_from_slice(&bytes[start as usize * N..][..n * N]);
            continue;
        }
        let first = bytes.as_ptr().wrapping_offset(start as isize * N as isize);
        if step == 0 {
            // SAFETY: the element lies within `bytes`, as those at all four corners do; bytes lie anywhere.
            places.as_chunks_mut::<N>().0.fill(unsafe { *first.cast::<[u8; N]>() });
            continue;
        }
        for (k, place) in places.chunks_exact_mut(N).enumerate() {
            let from = first.wrapping_offset(k as isize * step as isize * N as isize);
            // SAFETY: the elements at all four corners lie within `bytes`, and so all between them; bytes lie anywhere.
            place.copy_from_slice(unsafe { &*from.cast::<[u8; N]>() });
        }
    }
    true
}

/// Writes elements in C order of a space to the positions of an access, as far as these are in `bytes`.
pub(crate) fn scatter(bytes: &mut [u8], size: usize, walk: &Access, space: &[usize], data: &[u8]) {
    let mut rest = data;
    rows(walk, space, |start, step, n| {
        let (row, behind) = rest.split_at(rest.len().min(n * size));
        rest = behind;
        match size {
            1 => scatter_row::<1>(bytes, start, step, row),
            2 => scatter_row::<2>(bytes, start, step, row),
            4 => scatter_row::<4>(bytes, start, step, row),
            8 => scatter_row::<8>(bytes, start, step, row),
            _ => scatter_row::<16>(bytes, start, step, row),
        }
    });
}

fn scatter_row<const N: usize>(bytes: &mut [u8], start: i64, step: i64, row: &[u8]) {
    if lie_within::<N>(bytes, start, step, row.len() / N) {
        if step == 1 {
            return bytes[start as usize * N..][..row.len()].copy_from_slice(row);
        }
        let first = bytes.as_mut_ptr().wrapping_offset(start as isize * N as isize);
        for (k, element) in row.chunks_exact(N).enumerate() {
            let to = first.wrapping_offset(k as isize * step as isize * N as isize);
            // SAFETY: the elements at all four corners lie within `bytes`, and so do all between them; `bytes` is
            // borrowed mutably.
            unsafe { (*to.cast::<[u8; N]>()).copy_from_slice(element) };
        }
        return;
    }
    for (n, element) in row.chunks_exact(N).enumerate() {
        let to = usize::try_from(start + step * n as i64).ok();
        if let Some(place) = to.and_then(|to| bytes.get_mut(to * N..to * N + N)) {
            place.copy_from_slice(element);
        }
    }
}

/// Writes one element to all positions of an access over a space, as far as these are in `bytes`.
pub(crate) fn spread(bytes: &mut [u8], walk: &Access, space: &[usize], element: &[u8]) {
    rows(walk, space, |start, step, n| match element.len() {
        1 => spread_row::<1>(bytes, start, step, n, element),
        2 => spread_row::<2>(bytes, start, step, n, element),
        4 => spread_row::<4>(bytes, start, step, n, element),
        8 => spread_row::<8>(bytes, start, step, n, element),
        _ => spread_row::<16>(bytes, start, step, n, element),
    });
}

fn spread_row<const N: usize>(bytes: &mut [u8], start: i64, step: i64, n: usize, element: &[u8]) {
    let Ok(element) = <[u8; N]>::try_from(element) else { return };
    let (places, _) = bytes.as_chunks_mut::<N>();
    let first = usize::try_from(start).ok();
    if step == 1
        && let Some(row) = first.and_then(|start| places.get_mut(start..start.checked_add(n)?))
    {
        return row.fill(element);
    }
    for k in 0..n as i64 {
        let to = usize::try_from(start + step * k).ok();
        if let Some(place) = to.and_then(|to| places.get_mut(to)) {
            *place = element;
        }
    }
}

/// Whether `n` elements, at least one, that lie a step apart are all in `bytes`.
fn lie_within<const N: usize>(bytes: &[u8], start: i64, step: i64, n: usize) -> bool {
    let (all, last) = ((bytes.len() / N) as i64, start + step * (n as i64 - 1));
    (0..all).contains(&start) && (0..all).contains(&last)
}

/// The strides and extents of a walk without axes of one point, and with axes over which it goes on alike as one: its
/// rows are as long as they can be.
fn coalesced(walk: &Access, space: &[usize]) -> (SmallVec<[i64; 4]>, SmallVec<[usize; 4]>) {
    let (mut strides, mut extents) = (SmallVec::<[i64; 4]>::new(), SmallVec::<[usize; 4]>::new());
    for (stride, extent) in walk.strides.iter().zip(space).filter(|(_, extent)| **extent != 1) {
        match (strides.last_mut(), extents.last_mut()) {
            (Some(outer), Some(points)) if *outer == stride * *extent as i64 => {
                (*outer, *points) = (*stride, *points * extent);
            }
            _ => {
                strides.push(*stride);
                extents.push(*extent);
            }
        }
    }
    (strides, extents)
}

/// Calls with each row of a space: its first position, its stride, and how many elements it has.
pub(crate) fn rows(walk: &Access, space: &[usize], mut each: impl FnMut(i64, i64, usize)) {
    if space.contains(&0) {
        return;
    }
    if let ([step], [n]) = (&walk.strides[..], space) {
        return each(walk.offset, *step, *n);
    }
    let (strides, space) = &coalesced(walk, space);
    let outer = space.len().saturating_sub(1);
    let (step, n) = match outer < space.len() {
        true => (strides[outer], space[outer]),
        false => (1, 1),
    };
    each_point((walk.offset, strides), &space[..outer], |start| each(start, step, n));
}

/// Calls with each position of a walk, which begins at an offset, in C order of a space that has points, which may be
/// the first axes of it.
pub(crate) fn each_point(
    (offset, strides): (i64, &[i64]),
    space: &[usize],
    mut each: impl FnMut(i64),
) {
    let mut point: SmallVec<[usize; 4]> = SmallVec::from_elem(0, space.len());
    let mut start = offset;
    loop {
        each(start);
        let mut axis = space.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            point[axis] += 1;
            start += strides[axis];
            if point[axis] < space[axis] {
                break;
            }
            start -= strides[axis] * space[axis] as i64;
            point[axis] = 0;
        }
    }
}
