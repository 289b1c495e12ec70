//! Copies with strides, gathers, and index values: moving elements without computing.
//!
//! Owns [`copy`], [`gather`] and [`index`]. An element's size is 1, 2, 4, 8 or 16 bytes.
//!
//! Not here: selects (`row_loops.rs`).

use super::row_fn::RowFn;
use gpupy_jit::{GatherTable, PackedRows, StridedPointer};

/// Calls a function that is generic over words, for words of a size.
macro_rules! sized {
    ($size:expr, $f:ident($($arg:expr),*)) => {
        match $size {
            1 => $f::<u8>($($arg),*),
            2 => $f::<u16>($($arg),*),
            4 => $f::<u32>($($arg),*),
            8 => $f::<u64>($($arg),*),
            _ => $f::<u128>($($arg),*),
        }
    };
}

/// Copies `n` elements from every `from_step` bytes to every `to_step` bytes. A `from_step` of 0 repeats one
/// element.
///
/// # Safety
/// Every element that the steps name exists; no element that is written is also read, unless source and
/// destination are equal.
pub unsafe fn copy(
    size: usize,
    (to, to_step): (*mut u8, isize),
    (from, from_step): (*const u8, isize),
    n: usize,
) {
    let step = size as isize;
    // Steps of few elements, and enough elements for vectors.
    let is_near = n >= 8 && (1..=4 * size).contains(&from_step.unsigned_abs());
    // SAFETY: the steps name elements that exist, as this function requires.
    unsafe {
        if to_step == step && from_step == step {
            beside(to, from, n * size);
        } else if to_step == step && is_near {
            let row = PackedRows { first: to, apart: 0, count: 1, bytes: size };
            gpupy_jit::take_apart(n, StridedPointer { ptr: from.cast_mut(), step: from_step }, row);
        } else {
            sized!(size, copy_words((to, to_step), (from, from_step), n));
        }
    }
}

/// Copies contiguous bytes; short pieces of rows are copied without a call, by words that overlap where their number is
/// no power of two.
///
/// # Safety
/// As for [`copy`].
#[inline]
unsafe fn beside(to: *mut u8, from: *const u8, bytes: usize) {
    /// The first and the last words; all are read before any is written.
    ///
    /// # Safety
    /// As for [`copy`]; there is at least a word.
    #[inline(always)]
    unsafe fn ends<W: Copy>(to: *mut u8, from: *const u8, bytes: usize) {
        let last = bytes - size_of::<W>();
        // SAFETY: both ends have these bytes.
        unsafe {
            let (first, end) =
                (from.cast::<W>().read_unaligned(), from.add(last).cast::<W>().read_unaligned());
            to.cast::<W>().write_unaligned(first);
            to.add(last).cast::<W>().write_unaligned(end);
        }
    }
    // SAFETY: both ends have `bytes` bytes, at least a word.
    unsafe {
        match bytes {
            4..8 => ends::<u32>(to, from, bytes),
            8..16 => ends::<u64>(to, from, bytes),
            16..32 => ends::<u128>(to, from, bytes),
            32..64 => ends::<[u128; 2]>(to, from, bytes),
            64..=128 => ends::<[u128; 4]>(to, from, bytes),
            _ => std::ptr::copy(from, to, bytes),
        }
    }
}

/// # Safety
/// As for [`copy`].
unsafe fn copy_words<W: Copy>(
    (to, to_step): (*mut u8, isize),
    (from, from_step): (*const u8, isize),
    n: usize,
) {
    let read = |i: usize| from.wrapping_offset(from_step * i as isize).cast::<W>();
    // SAFETY: the steps name elements that exist, as `copy` requires.
    unsafe {
        // The common cases have loops of their own, which become vector code or simple addressing.
        if to_step != size_of::<W>() as isize {
            for i in 0..n {
                let word = read(i).read_unaligned();
                to.wrapping_offset(to_step * i as isize).cast::<W>().write_unaligned(word);
            }
        } else if from_step == 0 {
            let word = read(0).read_unaligned();
            for i in 0..n {
                to.cast::<W>().add(i).write_unaligned(word);
            }
        } else {
            for i in 0..n {
                to.cast::<W>().add(i).write_unaligned(read(i).read_unaligned());
            }
        }
    }
}

/// Writes `first + step · i`, wrapped to an int32, for `n` numbers `i`.
///
/// # Safety
/// There is room for them.
pub unsafe fn index(to: *mut u8, first: i64, step: i64, n: usize) {
    let (first, step, to) = (first as i32, step as i32, to.cast::<i32>());
    for i in 0..n {
        // SAFETY: `to` has room for `n` numbers.
        unsafe { to.add(i).write_unaligned(first.wrapping_add(step.wrapping_mul(i as i32))) };
    }
}

/// Gathers: copies the elements of a table at int32 indices that are clamped into it.
///
/// # Safety
/// The table's elements exist and have this size, and the rows have `n`, at least 1.
pub unsafe fn gather(size: usize, to: *mut u8, table: GatherTable, numbers: *const u8, n: usize) {
    // SAFETY: the table's elements exist and the rows have `n`.
    unsafe { sized!(size, gather_words(to, (table.first, table.last), numbers, n)) }
}

/// # Safety
/// As for [`gather`]; `last` is the number of the last element.
unsafe fn gather_words<W: Copy>(
    to: *mut u8,
    (table, last): (*const u8, i32),
    numbers: *const u8,
    n: usize,
) {
    // SAFETY: `numbers` has `n` elements, and `i` is below `n`.
    let number = |i: usize| unsafe { numbers.cast::<i32>().add(i).read_unaligned() };
    let (first, end) = (number(0), number(n - 1));
    let is_line = || {
        let off = (0..n).fold(0, |off, i| off | (number(i) ^ first.wrapping_add(i as i32)));
        off == 0
    };
    // Whole rows of a table are contiguous elements.
    if i64::from(end) - i64::from(first) == n as i64 - 1 && first >= 0 && end <= last && is_line() {
        // SAFETY: all indices are inside the table, and `to` has room for `n` elements.
        unsafe {
            let from = table.add(first as usize * size_of::<W>());
            return std::ptr::copy_nonoverlapping(from, to, n * size_of::<W>());
        }
    }
    for i in 0..n {
        // SAFETY: the index is clamped into the table, and the rows have `n` elements.
        unsafe {
            let number = number(i).clamp(0, last) as usize;
            let word = table.cast::<W>().add(number).read_unaligned();
            to.cast::<W>().add(i).write_unaligned(word);
        }
    }
}

/// The function that copies a row of elements of this size.
pub(super) fn same_bits(size: usize) -> RowFn {
    /// # Safety
    /// As for [`RowFn`].
    unsafe fn row<W>(dst: *mut u8, [a, ..]: [*const u8; 3], n: usize) {
        // SAFETY: both rows have `n` elements; they may be one row.
        unsafe { std::ptr::copy(a, dst, n * size_of::<W>()) }
    }
    match size {
        1 => row::<u8>,
        2 => row::<u16>,
        4 => row::<u32>,
        8 => row::<u64>,
        _ => row::<u128>,
    }
}
