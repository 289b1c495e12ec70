//! Structs that begin with their size and may grow at the end.
//!
//! Owns [`Growing`]. Invariant: of such a struct, only bytes are read and written that both sides
//! know.
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
    /// Its size in version 1.0. A struct that grows keeps the old number here.
    const LEAST: usize;

    /// All zeros but for the size.
    fn cleared() -> Self {
        let mut bytes = MaybeUninit::<Self>::zeroed();
        // SAFETY: zeros are valid, and the first field is a `usize`.
        unsafe {
            bytes.as_mut_ptr().cast::<usize>().write(size_of::<Self>());
            bytes.assume_init()
        }
    }

    /// What the other side says, with our size; what it does not know is 0.
    ///
    /// # Errors
    /// - `Invalid`: the pointer is null or not aligned, or the struct shorter than ever allowed.
    ///
    /// # Safety
    /// The pointer is null, or points to as many bytes as the `size` there says.
    unsafe fn take(from: *const Self) -> Result<Self> {
        // SAFETY: as the caller promises.
        let size = unsafe { shared_size(from)? };
        let mut taken = Self::cleared();
        // SAFETY: both have `size` bytes, and the copy is apart.
        unsafe { copy_fields(from, &raw mut taken, size) };
        Ok(taken)
    }

    /// Gives this to the other side, as far as it knows the fields; its `size` stays.
    ///
    /// # Errors
    /// - `Invalid`: as of `take`.
    ///
    /// # Safety
    /// The pointer is null, or points to as many writable bytes as the `size` there says.
    unsafe fn give(self, to: *mut Self) -> Result<()> {
        // SAFETY: as the caller promises.
        let size = unsafe { shared_size(to)? };
        // SAFETY: both have `size` bytes, and this is apart.
        unsafe { copy_fields(&raw const self, to, size) };
        Ok(())
    }
}

/// Copies what lies between the size itself and the end of the first `size` bytes.
///
/// # Safety
/// Both have `size` bytes, at least those of the size itself, and do not overlap.
unsafe fn copy_fields<T: Growing>(from: *const T, to: *mut T, size: usize) {
    let head = size_of::<usize>();
    let (from, to) = (from.cast::<u8>(), to.cast::<u8>());
    // SAFETY: as the caller promises.
    unsafe { ptr::copy_nonoverlapping(from.add(head), to.add(head), size - head) };
}

/// How many bytes of a struct both sides know.
///
/// # Safety
/// The pointer is null, or points to a `Growing` struct of the size that stands there.
unsafe fn shared_size<T: Growing>(of: *const T) -> Result<usize> {
    let invalid = |said: String| Error::new(ErrorKind::Invalid, "plugin").says(said);
    if of.is_null() {
        return Err(invalid("a pointer to a struct is null".into()));
    }
    if !of.is_aligned() {
        return Err(invalid("a pointer to a struct is not aligned".into()));
    }
    // SAFETY: it is neither null nor askew, and begins with its size.
    let size = unsafe { of.cast::<usize>().read() };
    if size < T::LEAST {
        let least = T::LEAST;
        return Err(invalid(format!("a struct has {size} bytes, of at least {least}")));
    }
    Ok(size.min(size_of::<T>()))
}

macro_rules! growing {
    ($($name:ident $([..$newer:ident])?)*) => {$(
        // SAFETY: integers, pointers, arrays of them and optional functions, behind the size.
        unsafe impl Growing for $name {
            const LEAST: usize = growing!(@least $name $($newer)?);
        }
    )*};
    (@least $name:ident) => { size_of::<$name>() };
    (@least $name:ident $newer:ident) => { offset_of!($name, $newer) };
}

// A struct that has grown had the fields before the one that is named.
growing! {
    RawBlockSpec RawCapabilities[..max_reductions] RawCheck RawConfig[..share] RawError
    RawEvaluated[..lent_name]
    RawLaunch[..memory_count] RawPart RawProgram Table
}
