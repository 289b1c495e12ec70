//! Versioned structs of the C table: they begin with their size and may grow at the end.
//!
//! Owns [`Growing`]. Invariant: only bytes that both sides know are read and written.
//!
//! Not here: the structs (`driver_table.rs`).

use super::driver_table::{
    RawBlockSpec, RawCapabilities, RawCheck, RawConfig, RawError, RawEvaluated, RawLaunch, RawPart,
    RawProgram, Table,
};
use crate::error::{Error, ErrorKind, Result};
use std::mem::{MaybeUninit, offset_of};
use std::ptr;

/// A struct whose first field is its size in bytes.
///
/// # Safety
/// The struct is `repr(C)`, begins with `size: usize`, and is valid for zeros and for all bytes that
/// a C compiler may leave in such a struct.
pub unsafe trait Growing: Sized {
    /// The struct's size in version 1.0. It does not change when the struct grows.
    const LEAST: usize;

    /// A struct with its size, and zeros otherwise.
    fn cleared() -> Self {
        let mut bytes = MaybeUninit::<Self>::zeroed();
        // SAFETY: zeros are valid, and the first field is a `usize`.
        unsafe {
            bytes.as_mut_ptr().cast::<usize>().write(size_of::<Self>());
            bytes.assume_init()
        }
    }

    /// Reads a struct of the other side. Fields that the other side does not know are 0.
    ///
    /// # Errors
    /// - `Invalid`: the pointer is null or not aligned, or the struct is shorter than in version 1.0.
    ///
    /// # Safety
    /// The pointer is null, or points to a struct with as many bytes as its `size`.
    unsafe fn take(from: *const Self) -> Result<Self> {
        // SAFETY: the condition of `shared_size` is that of this function.
        let size = unsafe { shared_size(from)? };
        let mut taken = Self::cleared();
        // SAFETY: both structs have `size` bytes, and `taken` is a new one.
        unsafe { copy_fields(from, &raw mut taken, size) };
        Ok(taken)
    }

    /// Writes a struct to the other side: the fields that it knows, except `size`.
    ///
    /// # Errors
    /// - `Invalid`: the pointer is null or not aligned, or the struct is shorter than in version 1.0.
    ///
    /// # Safety
    /// The pointer is null, or points to a writable struct with as many bytes as its `size`.
    unsafe fn give(self, to: *mut Self) -> Result<()> {
        // SAFETY: the condition of `shared_size` is that of this function.
        let size = unsafe { shared_size(to)? };
        // SAFETY: both structs have `size` bytes, and `self` is a separate one.
        unsafe { copy_fields(&raw const self, to, size) };
        Ok(())
    }
}

/// Copies the first `size` bytes of a struct, except the `size` field.
///
/// # Safety
/// Both structs have `size` bytes, at least those of the `size` field, and do not overlap.
unsafe fn copy_fields<T: Growing>(from: *const T, to: *mut T, size: usize) {
    let head = size_of::<usize>();
    let (from, to) = (from.cast::<u8>(), to.cast::<u8>());
    // SAFETY: both structs have `size` bytes, `head <= size`, and they do not overlap.
    unsafe { ptr::copy_nonoverlapping(from.add(head), to.add(head), size - head) };
}

/// The number of bytes of a struct that both sides know.
///
/// # Safety
/// The pointer is null, or points to a struct with as many bytes as its `size`.
unsafe fn shared_size<T: Growing>(of: *const T) -> Result<usize> {
    let invalid = |said: String| Error::new(ErrorKind::Invalid, "plugin").says(said);
    if of.is_null() {
        return Err(invalid("a pointer to a struct is null".into()));
    }
    if !of.is_aligned() {
        return Err(invalid("a pointer to a struct is not aligned".into()));
    }
    // SAFETY: the pointer is neither null nor misaligned, and the struct begins with its size.
    let size = unsafe { of.cast::<usize>().read() };
    if size < T::LEAST {
        let least = T::LEAST;
        return Err(invalid(format!("a struct has {size} bytes, of at least {least}")));
    }
    Ok(size.min(size_of::<T>()))
}

macro_rules! growing {
    ($($name:ident $([..$newer:ident])?)*) => {$(
        // SAFETY: after the size, the struct has integers, pointers, arrays of them, and optional functions.
        unsafe impl Growing for $name {
            const LEAST: usize = growing!(@least $name $($newer)?);
        }
    )*};
    (@least $name:ident) => { size_of::<$name>() };
    (@least $name:ident $newer:ident) => { offset_of!($name, $newer) };
}

// A struct that has grown had, in version 1.0, the fields before the named one.
growing! {
    RawBlockSpec RawCapabilities[..max_reductions] RawCheck RawConfig[..share] RawError
    RawEvaluated[..lent_name]
    RawLaunch[..memory_count] RawPart RawProgram Table
}
