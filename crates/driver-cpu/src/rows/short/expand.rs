//! Short rows that are put one after another, and back.
//!
//! Owns [`expand`] and [`scatter`]. Whole vectors are copied, which the next row overwrites from its beginning on, so
//! that rows of every length cost alike; one element for a row is repeated so. Rows whose elements lie apart, but
//! beside those of the next row, are transposed.
//!
//! Not here: copies of one row (`rows/moves.rs`), tiles (`tile.rs`).

use super::super::moves::copy;
use super::tile::{SHORT, ShortRows};
use super::transpose::{TileRows, transpose};

/// Bytes of the vectors that are copied.
const VECTOR: usize = 32;

/// Copies `count` rows of `extent` elements one after another. A `step` of 0 repeats one element.
///
/// # Safety
/// The elements are valid for reads, and `to` for writes of all of them, and they do not overlap. An element has `size`
/// bytes, a power of two up to 16.
pub unsafe fn expand(size: usize, to: *mut u8, from: ShortRows, (count, extent): (usize, usize)) {
    let ShortRows { first, step, apart } = from;
    let (bytes, next) = (size as isize, (extent * size) as isize);
    // SAFETY: the elements exist, and so do their places.
    unsafe {
        if step == 0 || step == bytes && apart >= 0 {
            return match (step, size) {
                (0, 1) => vectors::<u8, true>(to, from, count, extent),
                (0, 2) => vectors::<u16, true>(to, from, count, extent),
                (0, 4) => vectors::<u32, true>(to, from, count, extent),
                (0, 8) => vectors::<u64, true>(to, from, count, extent),
                (0, _) => vectors::<u128, true>(to, from, count, extent),
                _ => vectors::<u8, false>(to, from, count, extent * size),
            };
        }
        if apart == bytes {
            let to = TileRows { first: to, pitch: next };
            return transpose(size, to, TileRows { first, pitch: step }, extent, count);
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
        if apart == bytes && step != bytes {
            let from = TileRows { first: from.cast_mut(), pitch: next };
            return transpose(size, TileRows { first, pitch: step }, from, count, extent);
        }
        for number in 0..count {
            let to = first.wrapping_offset(apart * number as isize);
            copy(size, (to, step), (from.add(number * extent * size), bytes), extent);
        }
    }
}

/// Copies rows of `extent` words, or with `REPEATED` one word of each so often, by vectors.
///
/// # Safety
/// As for [`expand`].
unsafe fn vectors<W: Copy, const REPEATED: bool>(
    to: *mut u8,
    from: ShortRows,
    count: usize,
    extent: usize,
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        unsafe fn with_avx2<W: Copy, const REPEATED: bool>(
            to: *mut u8,
            from: ShortRows,
            count: usize,
            extent: usize,
        ) {
            // SAFETY: the conditions are the same.
            unsafe { whole_vectors::<W, REPEATED>(to, from, count, extent) }
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, and the caller keeps the other conditions.
            return unsafe { with_avx2::<W, REPEATED>(to, from, count, extent) };
        }
    }
    // SAFETY: the conditions are the same.
    unsafe { whole_vectors::<W, REPEATED>(to, from, count, extent) }
}

/// # Safety
/// As for [`vectors`].
#[inline(always)]
unsafe fn whole_vectors<W: Copy, const REPEATED: bool>(
    to: *mut u8,
    from: ShortRows,
    count: usize,
    extent: usize,
) {
    let bytes = extent * size_of::<W>();
    let taken = bytes.next_multiple_of(VECTOR);
    let row = |number: usize| from.first.wrapping_offset(from.apart * number as isize).cast_const();
    // Rows whose vectors end before the last row does.
    let mut whole =
        (count * bytes).checked_sub(taken).map_or(0, |last| count.min(last / bytes + 1));
    if !REPEATED && bytes != taken {
        let end = from.apart as usize * (count - 1) + bytes;
        let readable = match from.apart as usize {
            0 => 0,
            apart => end.checked_sub(taken).map_or(0, |last| last / apart + 1),
        };
        whole = whole.min(readable);
    }
    // SAFETY: the rows exist, vectors of the first `whole` rows end before the last row does in both memories, and the
    // rows after them are copied by words.
    unsafe {
        for number in 0..whole {
            let (from, to) = (row(number), to.add(number * bytes));
            if REPEATED {
                let word = from.cast::<W>().read_unaligned();
                let vector = Repeated { words: [word; VECTOR] };
                for at in (0..taken).step_by(VECTOR) {
                    to.add(at).cast::<[u8; VECTOR]>().write_unaligned(vector.bytes);
                }
            } else {
                for at in (0..taken).step_by(VECTOR) {
                    let vector = from.add(at).cast::<[u8; VECTOR]>().read_unaligned();
                    to.add(at).cast::<[u8; VECTOR]>().write_unaligned(vector);
                }
            }
        }
        for number in whole..count {
            let (from, to) = (row(number), to.add(number * bytes));
            if REPEATED {
                copy(size_of::<W>(), (to, size_of::<W>() as isize), (from, 0), extent);
            } else {
                copy(1, (to, 1), (from, 1), bytes);
            }
        }
    }
}

/// A word as often as it fits in a vector.
#[derive(Clone, Copy)]
#[repr(C)]
union Repeated<W: Copy> {
    words: [W; VECTOR],
    bytes: [u8; VECTOR],
}
