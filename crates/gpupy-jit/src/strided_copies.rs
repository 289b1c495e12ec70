//! Copies between strided rows and short rows of consecutive elements.
//!
//! Owns [`copy_elements`], and for the parts of complex numbers [`take_apart`] and [`join_parts`]. The latter two make
//! one pass over their memory, in the machine's widest vectors.
//!
//! Not here: which rows are copied (`compiled_kernel.rs`).

use crate::isa::Isa;
use crate::row_arguments::StridedPointer;

/// Copies elements from one walk to another.
///
/// # Safety
/// The elements of `from` are valid for reads, those of `to` for writes, and they do not overlap.
pub unsafe fn copy_elements(bytes: usize, n: usize, from: StridedPointer, to: StridedPointer) {
    // SAFETY: the caller keeps the same conditions for elements of `bytes` bytes.
    unsafe {
        match bytes {
            1 => copy_each::<u8>(n, from, to),
            2 => copy_each::<u16>(n, from, to),
            4 => copy_each::<u32>(n, from, to),
            8 => copy_each::<u64>(n, from, to),
            _ => copy_each::<u128>(n, from, to),
        }
    }
}

/// Copies elements of one type.
///
/// # Safety
/// The conditions of `copy_elements`, for elements of type `T`.
unsafe fn copy_each<T: Copy>(n: usize, from: StridedPointer, to: StridedPointer) {
    for k in 0..n as isize {
        // SAFETY: element `k < n` of `from` may be read and element `k` of `to` written; neither need be aligned.
        unsafe {
            let element = from.ptr.offset(k * from.step).cast::<T>().read_unaligned();
            to.ptr.offset(k * to.step).cast::<T>().write_unaligned(element);
        }
    }
}

/// Splits complex numbers into a row of real and a row of imaginary parts, `bytes` bytes each.
///
/// # Safety
/// The numbers of `from` are valid for reads, the rows for writes, and they do not overlap.
pub unsafe fn take_apart(bytes: usize, n: usize, from: StridedPointer, parts: [*mut u8; 2]) {
    // SAFETY: the caller keeps the conditions of all these loops, and the machine has the detected instruction set.
    unsafe {
        match (bytes, Isa::detect()) {
            (4, Some(Isa::Avx512)) => wide::apart_by_512::<u32>(n, from, parts),
            (4, Some(Isa::Avx2)) => wide::apart_by_256::<u32>(n, from, parts),
            (4, None) => apart::<u32>(n, from, parts),
            (_, Some(Isa::Avx512)) => wide::apart_by_512::<u64>(n, from, parts),
            (_, Some(Isa::Avx2)) => wide::apart_by_256::<u64>(n, from, parts),
            (_, None) => apart::<u64>(n, from, parts),
        }
    }
}

/// Joins rows of real and imaginary parts to complex numbers.
///
/// # Safety
/// The rows are valid for reads, the numbers of `to` for writes, and they do not overlap.
pub unsafe fn join_parts(bytes: usize, n: usize, parts: [*mut u8; 2], to: StridedPointer) {
    // SAFETY: the caller keeps the conditions of all these loops, and the machine has the detected instruction set.
    unsafe {
        match (bytes, Isa::detect()) {
            (4, Some(Isa::Avx512)) => wide::joined_by_512::<u32>(n, parts, to),
            (4, Some(Isa::Avx2)) => wide::joined_by_256::<u32>(n, parts, to),
            (4, None) => joined::<u32>(n, parts, to),
            (_, Some(Isa::Avx512)) => wide::joined_by_512::<u64>(n, parts, to),
            (_, Some(Isa::Avx2)) => wide::joined_by_256::<u64>(n, parts, to),
            (_, None) => joined::<u64>(n, parts, to),
        }
    }
}

/// # Safety
/// The conditions of `take_apart`.
#[inline(always)]
unsafe fn apart<T: Copy>(n: usize, from: StridedPointer, parts: [*mut u8; 2]) {
    let size = size_of::<[T; 2]>() as isize;
    // For consecutive numbers, the step is a constant to the compiler.
    // SAFETY: the caller keeps the conditions of `take_apart`, which are those of `apart_by`.
    unsafe {
        match from.step == size {
            true => apart_by::<T>(n, from.ptr, size, parts),
            false => apart_by::<T>(n, from.ptr, from.step, parts),
        }
    }
}

/// # Safety
/// The conditions of `take_apart`.
#[inline(always)]
unsafe fn apart_by<T: Copy>(n: usize, from: *const u8, step: isize, [re, im]: [*mut u8; 2]) {
    for k in 0..n {
        // SAFETY: number `k < n` may be read and part `k` of both rows written; none need be aligned.
        unsafe {
            let number = from.offset(k as isize * step).cast::<[T; 2]>();
            let [first, second] = number.read_unaligned();
            re.cast::<T>().add(k).write_unaligned(first);
            im.cast::<T>().add(k).write_unaligned(second);
        }
    }
}

/// # Safety
/// The conditions of `join_parts`.
#[inline(always)]
unsafe fn joined<T: Copy>(n: usize, parts: [*mut u8; 2], to: StridedPointer) {
    let size = size_of::<[T; 2]>() as isize;
    // For consecutive numbers, the step is a constant to the compiler.
    // SAFETY: the caller keeps the conditions of `join_parts`, which are those of `joined_by`.
    unsafe {
        match to.step == size {
            true => joined_by::<T>(n, parts, to.ptr, size),
            false => joined_by::<T>(n, parts, to.ptr, to.step),
        }
    }
}

/// # Safety
/// The conditions of `join_parts`.
#[inline(always)]
unsafe fn joined_by<T: Copy>(n: usize, [re, im]: [*mut u8; 2], to: *mut u8, step: isize) {
    for k in 0..n {
        // SAFETY: part `k < n` of both rows may be read and number `k` written; none need be aligned.
        unsafe {
            let first = re.cast::<T>().add(k).read_unaligned();
            let second = im.cast::<T>().add(k).read_unaligned();
            let number = to.offset(k as isize * step).cast::<[T; 2]>();
            number.write_unaligned([first, second]);
        }
    }
}

/// The loops compiled for an instruction set.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{StridedPointer, apart, joined};

    /// # Safety
    /// The conditions of `take_apart`. The machine has AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub unsafe fn apart_by_512<T: Copy>(n: usize, from: StridedPointer, parts: [*mut u8; 2]) {
        // SAFETY: the caller keeps the conditions of `take_apart`.
        unsafe { apart::<T>(n, from, parts) }
    }

    /// # Safety
    /// The conditions of `take_apart`. The machine has AVX2.
    #[target_feature(enable = "avx2")]
    pub unsafe fn apart_by_256<T: Copy>(n: usize, from: StridedPointer, parts: [*mut u8; 2]) {
        // SAFETY: the caller keeps the conditions of `take_apart`.
        unsafe { apart::<T>(n, from, parts) }
    }

    /// # Safety
    /// The conditions of `join_parts`. The machine has AVX-512.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub unsafe fn joined_by_512<T: Copy>(n: usize, parts: [*mut u8; 2], to: StridedPointer) {
        // SAFETY: the caller keeps the conditions of `join_parts`.
        unsafe { joined::<T>(n, parts, to) }
    }

    /// # Safety
    /// The conditions of `join_parts`. The machine has AVX2.
    #[target_feature(enable = "avx2")]
    pub unsafe fn joined_by_256<T: Copy>(n: usize, parts: [*mut u8; 2], to: StridedPointer) {
        // SAFETY: the caller keeps the conditions of `join_parts`.
        unsafe { joined::<T>(n, parts, to) }
    }
}

/// Other machines have no such instruction sets.
#[cfg(not(target_arch = "x86_64"))]
mod wide {
    pub(super) use super::apart as apart_by_512;
    pub(super) use super::apart as apart_by_256;
    pub(super) use super::joined as joined_by_512;
    pub(super) use super::joined as joined_by_256;
}
