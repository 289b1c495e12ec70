//! Copies between strided rows and short rows of consecutive elements.
//!
//! Rows whose elements lie beside each other, as the colours of pixels and the parts of complex numbers do, are copied
//! together: each element of memory is then touched once, in order.
//!
//! Owns [`PackedRows`], [`take_apart`] and [`join`], and which rows lie [`beside`] each other. Steps of few elements
//! are constants to the compiler, which makes vector code of their loops.
//!
//! Not here: which rows are copied (`compiled_kernel.rs`).

use crate::row_arguments::StridedPointer;
use std::array::from_fn;

/// Rows with fewer elements are copied without choosing a loop for their step.
const SHORT: usize = 8;
/// Elements that are stored at once.
const FOUR: usize = 4;
/// The most rows that are copied together.
const MOST_TOGETHER: usize = 4;

/// How many of these strided rows, from the first on, lie beside each other, so that they can be copied together; at
/// least 1. All have elements of `bytes` bytes.
pub fn beside(mut rows: impl Iterator<Item = StridedPointer>, bytes: usize) -> usize {
    let most = if bytes > 8 { 1 } else { MOST_TOGETHER };
    let Some(first) = rows.next() else { return 1 };
    let follows = |(row, count): &(StridedPointer, usize)| {
        row.step == first.step && row.ptr == first.ptr.wrapping_add(count * bytes)
    };
    1 + rows.zip(1..most).take_while(follows).count()
}

/// Rows of consecutive elements.
#[derive(Clone, Copy, Debug)]
pub struct PackedRows {
    /// The first element of the first row.
    pub first: *mut u8,
    /// Bytes from the beginning of a row to that of the next.
    pub apart: usize,
    /// How many rows there are: 1 to 4; 1 for elements of 16 bytes.
    pub count: usize,
    /// Bytes of an element: a power of two up to 16.
    pub bytes: usize,
}

/// Copies the elements of strided rows that lie beside each other. Those of the first are at `from`, those of the
/// next one element further in memory.
///
/// # Safety
/// The `n` elements of each strided row are valid for reads, those of each short row for writes. They do not overlap.
pub unsafe fn take_apart(n: usize, from: StridedPointer, to: PackedRows) {
    // SAFETY: the caller keeps the same conditions for elements of `bytes` bytes.
    unsafe {
        match to.bytes {
            1 => vectors::take_apart::<u8>(n, from, to),
            2 => vectors::take_apart::<u16>(n, from, to),
            4 => vectors::take_apart::<u32>(n, from, to),
            8 => vectors::take_apart::<u64>(n, from, to),
            _ => apart_by::<u128, 1>(n, from.ptr, from.step, to.each()),
        }
    }
}

/// Copies the elements of short rows to strided rows, which lie as those of [`take_apart`] do.
///
/// # Safety
/// The `n` elements of each short row are valid for reads, those of each strided row for writes. They do not overlap.
pub unsafe fn join(n: usize, from: PackedRows, to: StridedPointer) {
    // SAFETY: as in `take_apart`.
    unsafe {
        match from.bytes {
            1 => vectors::join::<u8>(n, from, to),
            2 => vectors::join::<u16>(n, from, to),
            4 => vectors::join::<u32>(n, from, to),
            8 => vectors::join::<u64>(n, from, to),
            _ => joined_by::<u128, 1>(n, from.each(), to.ptr, to.step),
        }
    }
}

impl PackedRows {
    /// The first elements of the rows.
    #[inline(always)]
    fn each<T, const K: usize>(self) -> [*mut T; K] {
        from_fn(|row| self.first.wrapping_add(row * self.apart).cast())
    }
}

/// # Safety
/// The conditions of `take_apart`.
#[inline(always)]
unsafe fn apart<T: Copy, const K: usize>(n: usize, from: StridedPointer, to: PackedRows) {
    let (ptr, to) = (from.ptr, to.each::<T, K>());
    let size = size_of::<T>() as isize;
    // SAFETY: the caller keeps the conditions of `take_apart`, which are those of `apart_by`.
    unsafe {
        match from.step {
            step if K <= 1 && step == -size => apart_by::<T, K>(n, ptr, -size, to),
            step if K <= 1 && step == size => apart_by::<T, K>(n, ptr, size, to),
            step if K <= 2 && step == 2 * size => apart_by::<T, K>(n, ptr, 2 * size, to),
            step if K <= 3 && step == 3 * size => apart_by::<T, K>(n, ptr, 3 * size, to),
            step if K <= 4 && step == 4 * size => apart_by::<T, K>(n, ptr, 4 * size, to),
            // Elements that are stored one by one take longer than those that are loaded so.
            step if size <= 4 => {
                for row in (0..K - K % 2).step_by(2) {
                    let ptr = ptr.wrapping_offset(row as isize * size);
                    apart_by_fours::<T, 2>(n, ptr, step, [to[row], to[row + 1]]);
                }
                if K % 2 == 1 {
                    let ptr = ptr.wrapping_offset((K - 1) as isize * size);
                    apart_by_fours::<T, 1>(n, ptr, step, [to[K - 1]]);
                }
            }
            step => apart_by::<T, K>(n, ptr, step, to),
        }
    }
}

/// Four elements of each row are one vector, for rows that few vectors hold at once.
///
/// # Safety
/// The conditions of `take_apart`.
#[inline(always)]
unsafe fn apart_by_fours<T: Copy, const K: usize>(
    n: usize,
    from: *const u8,
    step: isize,
    to: [*mut T; K],
) {
    let whole = n - n % FOUR;
    for k in (0..whole).step_by(FOUR) {
        // SAFETY: elements before `whole <= n` of each row may be read and written; none need be aligned.
        unsafe {
            let at = |four: usize| from.offset((k + four) as isize * step).cast::<[T; K]>();
            let elements: [[T; K]; FOUR] = from_fn(|four| at(four).read_unaligned());
            for (row, to) in to.iter().enumerate() {
                let four: [T; FOUR] = from_fn(|four| elements[four][row]);
                to.add(k).cast::<[T; FOUR]>().write_unaligned(four);
            }
        }
    }
    let rest = from.wrapping_offset(whole as isize * step);
    // SAFETY: the rest of each row may be read and written.
    unsafe { apart_by(n - whole, rest, step, to.map(|row| row.wrapping_add(whole))) }
}

/// # Safety
/// The conditions of `take_apart`.
#[inline(always)]
unsafe fn apart_by<T: Copy, const K: usize>(
    n: usize,
    from: *const u8,
    step: isize,
    to: [*mut T; K],
) {
    for k in 0..n {
        // SAFETY: element `k < n` of each row may be read and written; none need be aligned.
        unsafe {
            let elements = from.offset(k as isize * step).cast::<[T; K]>().read_unaligned();
            for (row, element) in to.iter().zip(elements) {
                row.add(k).write_unaligned(element);
            }
        }
    }
}

/// # Safety
/// The conditions of `join`.
#[inline(always)]
unsafe fn joined<T: Copy, const K: usize>(n: usize, from: PackedRows, to: StridedPointer) {
    let from = from.each::<T, K>();
    let size = size_of::<[T; K]>() as isize;
    // SAFETY: the caller keeps the conditions of `join`, which are those of `joined_by`.
    unsafe {
        match to.step == size {
            true => joined_by::<T, K>(n, from, to.ptr, size),
            false => joined_by::<T, K>(n, from, to.ptr, to.step),
        }
    }
}

/// # Safety
/// The conditions of `join`.
#[inline(always)]
unsafe fn joined_by<T: Copy, const K: usize>(
    n: usize,
    from: [*mut T; K],
    to: *mut u8,
    step: isize,
) {
    for k in 0..n {
        // SAFETY: element `k < n` of each row may be read and written; none need be aligned.
        unsafe {
            let elements = from.map(|row| row.add(k).read_unaligned());
            to.offset(k as isize * step).cast::<[T; K]>().write_unaligned(elements);
        }
    }
}

/// The loops for as many rows as there are, compiled for any processor and for AVX2.
mod vectors {
    use super::{PackedRows, SHORT, StridedPointer, apart, apart_by, joined, joined_by};

    /// # Safety
    /// The conditions of `take_apart`.
    pub unsafe fn take_apart<T: Copy>(n: usize, from: StridedPointer, to: PackedRows) {
        if n < SHORT && to.count == 1 {
            // SAFETY: the caller keeps the conditions of `take_apart`.
            return unsafe { apart_by::<T, 1>(n, from.ptr, from.step, to.each()) };
        }
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2")]
            unsafe fn with_avx2<T: Copy>(n: usize, from: StridedPointer, to: PackedRows) {
                // SAFETY: the caller keeps the conditions of `take_apart`.
                unsafe { take_apart_all::<T>(n, from, to) }
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2, and the caller keeps the other conditions.
                return unsafe { with_avx2::<T>(n, from, to) };
            }
        }
        // SAFETY: the caller keeps the conditions of `take_apart`.
        unsafe { take_apart_all::<T>(n, from, to) }
    }

    /// # Safety
    /// The conditions of `take_apart`.
    #[inline(always)]
    unsafe fn take_apart_all<T: Copy>(n: usize, from: StridedPointer, to: PackedRows) {
        // SAFETY: the caller keeps the conditions of `take_apart`.
        unsafe {
            match to.count {
                1 => apart::<T, 1>(n, from, to),
                2 => apart::<T, 2>(n, from, to),
                3 => apart::<T, 3>(n, from, to),
                _ => apart::<T, 4>(n, from, to),
            }
        }
    }

    /// # Safety
    /// The conditions of `join`.
    pub unsafe fn join<T: Copy>(n: usize, from: PackedRows, to: StridedPointer) {
        if n < SHORT && from.count == 1 {
            // SAFETY: the caller keeps the conditions of `join`.
            return unsafe { joined_by::<T, 1>(n, from.each(), to.ptr, to.step) };
        }
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2")]
            unsafe fn with_avx2<T: Copy>(n: usize, from: PackedRows, to: StridedPointer) {
                // SAFETY: the caller keeps the conditions of `join`.
                unsafe { join_all::<T>(n, from, to) }
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2, and the caller keeps the other conditions.
                return unsafe { with_avx2::<T>(n, from, to) };
            }
        }
        // SAFETY: the caller keeps the conditions of `join`.
        unsafe { join_all::<T>(n, from, to) }
    }

    /// # Safety
    /// The conditions of `join`.
    #[inline(always)]
    unsafe fn join_all<T: Copy>(n: usize, from: PackedRows, to: StridedPointer) {
        // SAFETY: the caller keeps the conditions of `join`.
        unsafe {
            match from.count {
                1 => joined::<T, 1>(n, from, to),
                2 => joined::<T, 2>(n, from, to),
                3 => joined::<T, 3>(n, from, to),
                _ => joined::<T, 4>(n, from, to),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of `count` rows of `n` elements, one after another.
    fn elements(count: usize, n: usize, bytes: usize) -> Vec<u8> {
        (0..count * n * bytes).map(|k| (k * 7 + k / 251) as u8).collect()
    }

    /// Where element `k` of strided row `row` begins, in memory that has room for all.
    fn place(row: usize, k: usize, (n, step): (usize, isize)) -> usize {
        let first = if step < 0 { (n as isize - 1) * -step } else { 0 };
        (first + k as isize * step) as usize + row
    }

    #[test]
    fn elements_that_are_taken_apart_and_joined_are_the_same_at_every_step() {
        for bytes in [1, 2, 4, 8, 16] {
            for count in 1..=if bytes == 16 { 1 } else { MOST_TOGETHER } {
                let steps = (-9isize..10).filter(|step| step.unsigned_abs() >= count);
                for (step, n) in steps.flat_map(|step| (1..70).map(move |n| (step, n))) {
                    let rows = elements(count, n, bytes);
                    let apart = n * bytes;
                    let len = (n * step.unsigned_abs() + count) * bytes;
                    let (mut memory, mut again) = (vec![0u8; len], vec![0u8; rows.len()]);
                    let of = |row: usize, k: usize| (row * n + k) * bytes;
                    let at = |row: usize, k: usize| place(row, k, (n, step)) * bytes;
                    let strided = |memory: &mut [u8]| StridedPointer {
                        ptr: memory[at(0, 0)..].as_mut_ptr(),
                        step: step * bytes as isize,
                    };
                    let mut given = rows.clone();
                    let short = |first: &mut [u8]| PackedRows {
                        first: first.as_mut_ptr(),
                        apart,
                        count,
                        bytes,
                    };
                    // SAFETY: `memory` has room for the elements at their places, and the rows for `n` elements each.
                    unsafe { join(n, short(&mut given), strided(&mut memory)) };
                    for (row, k) in (0..count).flat_map(|row| (0..n).map(move |k| (row, k))) {
                        let (there, here) = (at(row, k), of(row, k));
                        assert_eq!(memory[there..there + bytes], rows[here..here + bytes]);
                    }
                    // SAFETY: as above.
                    unsafe { take_apart(n, strided(&mut memory), short(&mut again)) };
                    assert_eq!(again, rows, "{count} rows of {n} at {step} times {bytes}");
                }
            }
        }
    }

    #[test]
    fn rows_lie_beside_each_other_while_they_follow_by_an_element() {
        let rows = |places: &[(usize, isize)]| {
            let nowhere = std::ptr::null_mut::<u8>();
            let row = |(at, step): &(usize, isize)| StridedPointer {
                ptr: nowhere.wrapping_add(*at),
                step: *step,
            };
            beside(places.iter().map(row), 4)
        };
        assert_eq!(rows(&[(0, 12)]), 1);
        assert_eq!(rows(&[(0, 12), (4, 12), (8, 12)]), 3);
        assert_eq!(rows(&[(0, 12), (4, 16), (8, 12)]), 1);
        assert_eq!(rows(&[(0, 12), (4, 12), (12, 12)]), 2);
        assert_eq!(rows(&[(8, 12), (4, 12)]), 1);
        let all: Vec<_> = (0..9).map(|k| (4 * k, 36)).collect();
        assert_eq!(rows(&all), MOST_TOGETHER);
    }
}
