//! Short rows that are put one after another, and back.
//!
//! Owns [`expand`] and [`scatter`]. Whole vectors are copied, which the next row overwrites from its beginning on, so
//! that rows of every length cost alike, forwards and backwards; one element for a row is repeated so. Rows whose
//! elements lie apart, but beside those of the next row or of the one before, are transposed.
//!
//! Not here: copies of one row (`rows/moves.rs`), tiles (`tile.rs`).

use super::super::moves::copy;
use super::tile::{SHORT, ShortRows};
use super::transpose::{TileRows, transpose};

/// Bytes of the vectors that are copied.
const VECTOR: usize = 32;

/// The step of elements that vectors hold, in elements.
const REPEATED: isize = 0;
const FORWARDS: isize = 1;
const BACKWARDS: isize = -1;

/// Copies `count` rows of `extent` elements one after another. A `step` of 0 repeats one element.
///
/// # Safety
/// The elements are valid for reads, and `to` for writes of all of them, and they do not overlap. Memory between the
/// first and the last of them is valid for reads too. An element has `size` bytes, a power of two up to 16.
pub unsafe fn expand(size: usize, to: *mut u8, from: ShortRows, (count, extent): (usize, usize)) {
    let ShortRows { first, step, apart } = from;
    let (bytes, next) = (size as isize, (extent * size) as isize);
    // SAFETY: the elements exist, and so do their places.
    unsafe {
        if apart == 0 && count > 1 {
            // One row, as often as there is room.
            expand(size, to, from, (1, extent));
            let (mut done, all) = (extent * size, count * extent * size);
            while done < all {
                let more = done.min(all - done);
                to.add(done).copy_from_nonoverlapping(to, more);
                done += more;
            }
            return;
        }
        if step == bytes {
            return vectors::<u8, FORWARDS>(
                to,
                ShortRows { step: 1, ..from },
                count,
                extent * size,
            );
        }
        if step == 0 || step == -bytes {
            return match (step, size) {
                (0, 1) => vectors::<u8, REPEATED>(to, from, count, extent),
                (0, 2) => vectors::<u16, REPEATED>(to, from, count, extent),
                (0, 4) => vectors::<u32, REPEATED>(to, from, count, extent),
                (0, 8) => vectors::<u64, REPEATED>(to, from, count, extent),
                (0, _) => vectors::<u128, REPEATED>(to, from, count, extent),
                (_, 1) => vectors::<u8, BACKWARDS>(to, from, count, extent),
                (_, 2) => vectors::<u16, BACKWARDS>(to, from, count, extent),
                (_, 4) => vectors::<u32, BACKWARDS>(to, from, count, extent),
                (_, 8) => vectors::<u64, BACKWARDS>(to, from, count, extent),
                _ => vectors::<u128, BACKWARDS>(to, from, count, extent),
            };
        }
        if apart.unsigned_abs() == size {
            let (from, to) = in_order(from, TileRows { first: to, pitch: next }, count);
            return transpose(size, to, from, extent, count);
        }
        if extent < count && extent <= SHORT {
            for k in 0..extent {
                let from = first.wrapping_offset(step * k as isize).cast_const();
                copy(size, (to.add(k * size), next), (from, apart), count);
            }
            return;
        }
        for number in 0..count {
            let from = first.wrapping_offset(apart * number as isize).cast_const();
            copy(size, (to.add(number * extent * size), bytes), (from, step), extent);
        }
    }
}

/// Writes `count` rows of `extent` index values one after another: int32 that begin with the address of `rows`, as do
/// their steps.
///
/// # Safety
/// `to` is valid for writes of all of them.
pub unsafe fn expand_index(to: *mut u8, rows: ShortRows, (count, extent): (usize, usize)) {
    #[inline(always)]
    unsafe fn write<const N: usize>(to: *mut u8, first: i32, step: i32, n: usize) {
        let values: [i32; N] = std::array::from_fn(|k| step.wrapping_mul(k as i32));
        for at in (0..n).step_by(N) {
            let first = first.wrapping_add(step.wrapping_mul(at as i32));
            let all = values.map(|value| value.wrapping_add(first));
            // SAFETY: there is room for whole vectors.
            unsafe { to.cast::<i32>().add(at).cast::<[i32; N]>().write_unaligned(all) };
        }
    }
    let size = size_of::<i32>();
    let taken = extent.next_multiple_of(VECTOR / size);
    let whole = (count * extent).checked_sub(taken).map_or(0, |last| count.min(last / extent + 1));
    for number in 0..count {
        let to = to.wrapping_add(number * extent * size);
        let first =
            (rows.first as i32).wrapping_add((rows.apart as i32).wrapping_mul(number as i32));
        // SAFETY: the vectors of whole rows end before the last row does; the others are written by element.
        unsafe {
            match number < whole {
                true => write::<{ VECTOR / 4 }>(to, first, rows.step as i32, extent),
                false => write::<1>(to, first, rows.step as i32, extent),
            }
        }
    }
}

/// Copies rows of `extent` elements that follow each other to where `count` rows belong.
///
/// # Safety
/// The elements are valid for reads and their places for writes, and they do not overlap. An element has `size` bytes,
/// a power of two up to 16.
pub unsafe fn scatter(
    size: usize,
    to: ShortRows,
    from: *const u8,
    (count, extent): (usize, usize),
) {
    let ShortRows { first, step, apart } = to;
    let (bytes, next) = (size as isize, (extent * size) as isize);
    // SAFETY: the elements exist, and so do their places.
    unsafe {
        if apart.unsigned_abs() == size && step != bytes {
            let from = TileRows { first: from.cast_mut(), pitch: next };
            let (to, from) = in_order(to, from, count);
            return transpose(size, to, from, count, extent);
        }
        for number in 0..count {
            let to = first.wrapping_offset(apart * number as isize);
            copy(size, (to, step), (from.add(number * extent * size), bytes), extent);
        }
    }
}

/// Short rows that are an element apart, as a tile whose rows are their elements, and the tile in which each is a row:
/// with the rows in the order of memory.
fn in_order(rows: ShortRows, tile: TileRows, count: usize) -> (TileRows, TileRows) {
    let ShortRows { first, step, apart } = rows;
    if apart > 0 {
        return (TileRows { first, pitch: step }, tile);
    }
    let last = count as isize - 1;
    let rows = TileRows { first: first.wrapping_offset(apart * last), pitch: step };
    let first = tile.first.wrapping_offset(tile.pitch * last);
    (rows, TileRows { first, pitch: -tile.pitch })
}

/// Copies rows of `extent` words with this step, or with `REPEATED` one word of each so often, by vectors.
///
/// # Safety
/// As for [`expand`].
unsafe fn vectors<W: Copy, const STEP: isize>(
    to: *mut u8,
    from: ShortRows,
    count: usize,
    extent: usize,
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        unsafe fn with_avx2<W: Copy, const STEP: isize>(
            to: *mut u8,
            from: ShortRows,
            count: usize,
            extent: usize,
        ) {
            // SAFETY: the conditions are the same.
            unsafe { whole_vectors::<W, STEP>(to, from, count, extent) }
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, and the caller keeps the other conditions.
            return unsafe { with_avx2::<W, STEP>(to, from, count, extent) };
        }
    }
    // SAFETY: the conditions are the same.
    unsafe { whole_vectors::<W, STEP>(to, from, count, extent) }
}

/// # Safety
/// As for [`vectors`].
#[inline(always)]
unsafe fn whole_vectors<W: Copy, const STEP: isize>(
    to: *mut u8,
    from: ShortRows,
    count: usize,
    extent: usize,
) {
    let bytes = extent * size_of::<W>();
    let taken = bytes.next_multiple_of(VECTOR);
    let row = |number: usize| from.first.wrapping_offset(from.apart * number as isize).cast_const();
    // The first rows whose vectors end before the last row does.
    let end = (count * bytes).checked_sub(taken).map_or(0, |last| count.min(last / bytes + 1));
    let whole =
        if STEP == REPEATED { 0..end } else { readable::<W, STEP>(from, (count, extent), end) };
    let exactly = |number: usize| {
        let to = to.wrapping_add(number * bytes);
        // SAFETY: the row exists, and so do its places.
        unsafe {
            copy(size_of::<W>(), (to, size_of::<W>() as isize), (row(number), from.step), extent)
        }
    };
    (0..whole.start).for_each(exactly);
    // SAFETY: the rows exist, and vectors of these are inside both memories.
    unsafe {
        for number in whole.clone() {
            let (from, to) = (row(number), to.add(number * bytes));
            let repeated = Repeated { words: [from.cast::<W>().read_unaligned(); VECTOR] };
            for at in (0..taken).step_by(VECTOR) {
                let vector = match STEP {
                    REPEATED => repeated.bytes,
                    FORWARDS => from.add(at).cast::<[u8; VECTOR]>().read_unaligned(),
                    _ => backwards::<W>(from.wrapping_sub(at)),
                };
                to.add(at).cast::<[u8; VECTOR]>().write_unaligned(vector);
            }
        }
    }
    (whole.end..count).for_each(exactly);
}

/// The rows among the first `end` whose vectors are inside the memory from the first to the last of all `count` rows.
#[inline(always)]
fn readable<W, const STEP: isize>(
    from: ShortRows,
    (count, extent): (usize, usize),
    end: usize,
) -> std::ops::Range<usize> {
    let (bytes, last) = ((extent * size_of::<W>()) as isize, (count - 1) as isize * from.apart);
    let taken = bytes.unsigned_abs().next_multiple_of(VECTOR) as isize;
    // Of a row's vectors, the part that is behind it, or before it.
    let beyond = taken - bytes;
    let is_inside = |number: &usize| {
        let at = *number as isize * from.apart;
        match STEP {
            FORWARDS => at + beyond <= last.max(0),
            _ => at - beyond >= last.min(0),
        }
    };
    let first = (0..end).find(is_inside).unwrap_or(end);
    first..(first..end).rev().find(is_inside).map_or(first, |last| last + 1)
}

/// A vector of the words from this one on, each before the one before.
///
/// # Safety
/// Memory from the last of them on is valid for reads.
#[inline(always)]
unsafe fn backwards<W: Copy>(from: *const u8) -> [u8; VECTOR] {
    let first = from.wrapping_add(size_of::<W>()).wrapping_sub(VECTOR);
    // SAFETY: the words are valid for reads, and as many fill a vector; nothing else of the union is read.
    unsafe {
        let given = first.cast::<[u8; VECTOR]>().read_unaligned();
        let count = VECTOR / size_of::<W>();
        let mut all = given;
        for k in 0..count {
            let word = given.as_ptr().cast::<W>().add(count - 1 - k).read_unaligned();
            all.as_mut_ptr().cast::<W>().add(k).write_unaligned(word);
        }
        all
    }
}

/// A word as often as it fits in a vector.
#[derive(Clone, Copy)]
#[repr(C)]
union Repeated<W: Copy> {
    words: [W; VECTOR],
    bytes: [u8; VECTOR],
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps from element to element and from row to row, in elements, of rows of `extent` elements.
    fn ways(extent: isize, count: isize) -> [(isize, isize); 14] {
        [
            (1, extent),
            (1, -extent),
            (1, extent + 3),
            (1, 1),
            (1, 0),
            (-1, extent),
            (-1, -extent - 2),
            (-1, 0),
            (0, 1),
            (0, -2),
            (count, 1),
            (-count - 1, -1),
            (3, 3 * extent),
            (-2, 2 * extent + 1),
        ]
    }

    #[test]
    fn rows_of_every_length_and_step_are_expanded_and_scattered() {
        for size in [1, 2, 4, 8, 16] {
            for (extent, count) in
                (1..71).flat_map(|extent| [1, 2, 7, 40].map(|count| (extent, count)))
            {
                for (step, apart) in ways(extent as isize, count as isize) {
                    let at = |row: usize, k: usize| apart * row as isize + step * k as isize;
                    let ends = [at(0, 0), at(0, extent - 1), at(count - 1, 0)];
                    let ends = ends.into_iter().chain([at(count - 1, extent - 1)]);
                    let (low, high) = (ends.clone().min().unwrap_or(0), ends.max().unwrap_or(0));
                    // Nothing outside of these may be read or written.
                    let all = (high - low + 1) as usize * size;
                    let mut memory: Vec<u8> = (0..all).map(|k| (k * 7 + k / 251) as u8).collect();
                    let given = memory.clone();
                    let place = |row: usize, k: usize| (at(row, k) - low) as usize * size;
                    let bytes = size as isize;
                    let rows = ShortRows {
                        first: memory.as_mut_ptr().wrapping_add(place(0, 0)),
                        step: step * bytes,
                        apart: apart * bytes,
                    };
                    let room = count * extent * size;
                    let mut got = vec![0u8; room + 2 * VECTOR];
                    // SAFETY: the memory has the rows, and `got` has room for them.
                    unsafe { expand(size, got.as_mut_ptr(), rows, (count, extent)) };
                    assert!(got[room..].iter().all(|byte| *byte == 0));
                    for (row, k) in (0..count).flat_map(|row| (0..extent).map(move |k| (row, k))) {
                        let (here, there) = ((row * extent + k) * size, place(row, k));
                        let (got, want) = (&got[here..here + size], &given[there..there + size]);
                        assert_eq!(got, want, "{size} {extent} {count} {step} {apart}: {row} {k}");
                    }
                    // Elements that are one place would be written more than once.
                    if (apart.unsigned_abs() >= extent * step.unsigned_abs() || apart.abs() == 1)
                        && step.unsigned_abs() >= count.min(2)
                        || step.abs() == 1 && apart.unsigned_abs() >= extent
                    {
                        memory.fill(0);
                        // SAFETY: as above.
                        unsafe { scatter(size, rows, got.as_ptr(), (count, extent)) };
                        for (row, k) in
                            (0..count).flat_map(|row| (0..extent).map(move |k| (row, k)))
                        {
                            let there = place(row, k);
                            let (got, want) = (there..there + size, there..there + size);
                            assert_eq!(memory[got], given[want], "{size} {extent} {count} {step}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn index_values_of_every_step_are_written() {
        for (extent, count) in (1..71).flat_map(|extent| [1, 2, 7, 40].map(|n| (extent, n))) {
            for (step, apart) in [(1, 0), (0, 1), (-3, 1 << 20), (7, -1)] {
                let first = std::ptr::null_mut::<u8>().wrapping_offset(-5);
                let mut got = vec![0i32; count * extent];
                let rows = ShortRows { first, step, apart };
                // SAFETY: there is room for the values.
                unsafe { expand_index(got.as_mut_ptr().cast(), rows, (count, extent)) };
                for (at, value) in got.into_iter().enumerate() {
                    let want = apart * (at / extent) as isize + step * (at % extent) as isize - 5;
                    assert_eq!(value as isize, want, "{extent} {count} {step} {apart}: {at}");
                }
            }
        }
    }
}
