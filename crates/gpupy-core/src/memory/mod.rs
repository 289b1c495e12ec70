//! Fallible allocation of host memory, for sizes that a user's program decides.
//!
//! Owns fallible constructors of vectors ([`filled`], [`zeroed`], [`copied`], [`collected`], [`with_room`]), their
//! error [`refused`], [`before_refusals`], by which a pool offers its free memory, and [`fail_at`], by which a test
//! makes one allocation fail. Invariants: an allocation fails only after a second attempt, before which the pool's free
//! memory was returned to the system. A failure leaves nothing allocated.
//!
//! Memory that a program has given up (`trim`) is counted in [`trims`], for what is kept in drivers.
//!
//! Not here: the elements of values and the pool (the engine), blocks (the drivers); files that only this process may
//! open (`private_file.rs`).

#[cfg(feature = "guard")]
pub mod guard_pages;
pub mod private_file;

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use smallvec::{Array, SmallVec};
use std::alloc::{Layout, alloc_zeroed};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The operation that a refusal names.
const OPERATION: &str = "host_alloc";

/// The number of allocations up to and including the one that fails; 0 if none is to fail.
static LEFT: AtomicU64 = AtomicU64::new(0);

/// Returns free host memory to the system, if this process has a pool of memory.
static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// Sets the function that returns free host memory to the system before an allocation fails. The first call wins: a
/// process has one pool of memory.
pub fn before_refusals(give_back: fn()) {
    GIVE_BACK.get_or_init(|| give_back);
}

/// How often the program asked for memory that is kept for reuse to be given back.
static TRIMS: AtomicU64 = AtomicU64::new(0);

/// How often the program asked for memory that is kept for reuse to be given back: a driver that keeps compiled kernels
/// lets go of them at its next call when the number has changed.
pub fn trims() -> u64 {
    TRIMS.load(Ordering::Relaxed)
}

/// Notes that the program asks for it once more.
pub fn trim() {
    TRIMS.fetch_add(1, Ordering::Relaxed);
}

/// Makes the `n`-th allocation from now on fail, once, as if there were no memory; with 0, none. Returns how many
/// allocations of the last request were still to come: 0 once one has failed. For tests: the process has one count.
#[doc(hidden)]
pub fn fail_at(n: u64) -> u64 {
    LEFT.swap(n, Ordering::Relaxed)
}

/// The error of a failed allocation of this many bytes.
#[cold]
pub fn refused(bytes: usize) -> Error {
    Error::new(ErrorKind::OutOfMemory, OPERATION)
        .says(format!("Unable to allocate {}", size_words(bytes)))
        .with("bytes", bytes)
}

/// Whether the error is a failed allocation of host memory, not of a device's.
pub fn is_refusal(error: &Error) -> bool {
    error.kind() == ErrorKind::OutOfMemory && error.operation() == OPERATION
}

/// A failed allocation of an array in NumPy's words; other errors unchanged.
#[cold]
pub fn of_array(error: Error, shape: &[usize], dtype: DType) -> Error {
    if !is_refusal(&error) || error.fact("shape").is_some() {
        return error;
    }
    let bytes = shape.iter().fold(dtype.size(), |bytes, extent| bytes.saturating_mul(*extent));
    let mut axes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    if shape.len() == 1 {
        axes.push(',');
    }
    let (size, shape) = (size_words(bytes), format!("({axes})"));
    error
        .says(format!(
            "Unable to allocate {size} for an array with shape {shape} and data type {dtype}"
        ))
        .with("shape", shape)
}

/// A size as NumPy prints it: three digits, in the unit with the fewest digits before the point.
fn size_words(bytes: usize) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut unit = bytes.max(2).ilog2() as usize / 10;
    let mut count = bytes as f64 / (1u64 << (10 * unit)) as f64;
    if count.round() == 1024.0 && unit + 1 < UNITS.len() {
        (unit, count) = (unit + 1, count / 1024.0);
    }
    let words = match count {
        _ if unit == 0 => format!("{count:.0}"),
        ..9.995 => format!("{count:.2}"),
        ..99.95 => format!("{count:.1}"),
        _ => format!("{count:.0}."),
    };
    format!("{words} {}", UNITS[unit])
}

/// Counts an allocation for [`fail_at`]. Every allocation of a size that a program decides calls it first.
///
/// # Errors
/// - `OutOfMemory`: a test wants this one to fail.
#[inline]
pub fn ask(bytes: usize) -> Result<()> {
    match LEFT.load(Ordering::Relaxed) {
        0 => Ok(()),
        _ => counted(bytes),
    }
}

#[cold]
fn counted(bytes: usize) -> Result<()> {
    let less = |left: u64| left.checked_sub(1);
    match LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
        Ok(1) => Err(refused(bytes)),
        _ => Ok(()),
    }
}

/// Calls `allocate`. If it fails, returns free host memory to the system and calls it once more.
///
/// # Errors
/// - `OutOfMemory`: it failed again.
#[inline]
pub fn granted<T>(bytes: usize, mut allocate: impl FnMut() -> Option<T>) -> Result<T> {
    ask(bytes)?;
    if let Some(given) = allocate() {
        return Ok(given);
    }
    if let Some(give_back) = GIVE_BACK.get() {
        give_back();
    }
    allocate().ok_or_else(|| refused(bytes))
}

/// An empty vector with capacity for `len` elements.
///
/// # Errors
/// - `OutOfMemory`: the allocation failed.
pub fn with_room<T>(len: usize) -> Result<Vec<T>> {
    granted(len.saturating_mul(size_of::<T>()), || {
        let mut room = Vec::new();
        room.try_reserve_exact(len).ok().map(|()| room)
    })
}

/// Reserves capacity for `more` further elements.
///
/// # Errors
/// - `OutOfMemory`: the allocation failed; the vector is unchanged.
pub fn reserve<T>(elements: &mut Vec<T>, more: usize) -> Result<()> {
    if elements.capacity() - elements.len() >= more {
        return Ok(());
    }
    let bytes = more.saturating_mul(size_of::<T>());
    granted(bytes, || elements.try_reserve_exact(more).ok())
}

/// The elements of an iterator, at most `len`.
///
/// # Errors
/// - `OutOfMemory`: the allocation failed.
pub fn collected<T>(len: usize, elements: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut room = with_room(len)?;
    room.extend(elements.take(len));
    Ok(room)
}

/// `len` copies of an element.
///
/// # Errors
/// - `OutOfMemory`: the allocation failed.
pub fn filled<T: Clone>(element: T, len: usize) -> Result<Vec<T>> {
    let mut room = with_room(len)?;
    room.resize(len, element);
    Ok(room)
}

/// `len` zeros. They take no time if the system has zeroed pages.
///
/// # Errors
/// - `OutOfMemory`: the allocation failed.
pub fn zeroed<T: bytemuck::Zeroable>(len: usize) -> Result<Vec<T>> {
    let bytes = len.saturating_mul(size_of::<T>());
    let Some(layout) = Layout::array::<T>(len).ok().filter(|layout| layout.size() > 0) else {
        return if bytes == 0 { filled_with_nothing(len) } else { Err(refused(bytes)) };
    };
    granted(bytes, || {
        // SAFETY: the layout has at least one byte.
        let memory = unsafe { alloc_zeroed(layout) }.cast::<T>();
        // SAFETY: the allocation has the layout of a vector of `len` elements, and zeroed bytes are valid elements.
        (!memory.is_null()).then(|| unsafe { Vec::from_raw_parts(memory, len, len) })
    })
}

/// Elements of a type without size.
fn filled_with_nothing<T: bytemuck::Zeroable>(len: usize) -> Result<Vec<T>> {
    let mut none = Vec::new();
    none.resize_with(len, T::zeroed);
    Ok(none)
}

/// A copy of a slice.
///
/// # Errors
/// - `OutOfMemory`: the allocation failed.
pub fn copied<T: Copy>(elements: &[T]) -> Result<Vec<T>> {
    let mut room = with_room(elements.len())?;
    room.extend_from_slice(elements);
    Ok(room)
}

/// `len` copies of an element, inline if they are few.
///
/// # Errors
/// - `OutOfMemory`: the allocation failed.
#[inline]
pub fn small_filled<A: Array>(element: A::Item, len: usize) -> Result<SmallVec<A>>
where
    A::Item: Clone,
{
    let mut room = SmallVec::new();
    if len > room.inline_size() {
        granted(len.saturating_mul(size_of::<A::Item>()), || room.try_reserve_exact(len).ok())?;
    }
    room.resize(len, element);
    Ok(room)
}

/// A copy of a slice, inline if it is short.
///
/// # Errors
/// - `OutOfMemory`: the allocation failed.
#[inline]
pub fn small_copied<A: Array>(elements: &[A::Item]) -> Result<SmallVec<A>>
where
    A::Item: Copy,
{
    let mut room = SmallVec::new();
    if elements.len() > room.inline_size() {
        let bytes = size_of_val(elements);
        granted(bytes, || room.try_reserve_exact(elements.len()).ok())?;
    }
    room.extend_from_slice(elements);
    Ok(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More bytes than any machine has.
    const MUCH: usize = 1 << 46;

    #[test]
    fn what_no_machine_has_is_refused_in_every_way_to_ask() {
        let refusals = [
            with_room::<u64>(MUCH).err(),
            with_room::<u64>(usize::MAX).err(),
            filled(7u8, MUCH).err(),
            zeroed::<u64>(MUCH).err(),
            zeroed::<u64>(usize::MAX).err(),
            small_filled::<[u8; 64]>(7, MUCH).err(),
        ];
        for (way, error) in refusals.into_iter().enumerate() {
            assert!(error.is_some_and(|error| is_refusal(&error)), "way {way}");
        }
    }

    #[test]
    fn sizes_are_said_as_numpy_says_them() {
        for (bytes, words) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.00 KiB"),
            (10 << 10, "10.0 KiB"),
            (80_000_000_000, "74.5 GiB"),
            (800_000_000_000, "745. GiB"),
            (1_048_575, "1.00 MiB"),
            (1_040_000, "1016. KiB"),
            (80_000_000_000_000, "72.8 TiB"),
            (usize::MAX, "16.0 EiB"),
        ] {
            assert_eq!(size_words(bytes), words);
        }
        let error = of_array(refused(8), &[100_000, 100_000], DType::F64);
        let words = "Unable to allocate 74.5 GiB for an array with shape (100000, 100000) and data type float64";
        assert_eq!(error.message(), words);
        assert!(of_array(refused(8), &[3], DType::Bool).message().contains("shape (3,) and"));
    }

    #[test]
    fn free_memory_is_given_back_once_before_a_refusal() {
        static GIVEN: AtomicU64 = AtomicU64::new(0);
        before_refusals(|| {
            GIVEN.fetch_add(1, Ordering::Relaxed);
        });
        let mut asked = 0;
        let refused = granted::<()>(8, || {
            asked += 1;
            None
        });
        assert!(refused.is_err_and(|error| is_refusal(&error)));
        // Allocations of other tests in this process may fail meanwhile.
        assert!(asked == 2 && GIVEN.load(Ordering::Relaxed) >= 1);
    }

    #[test]
    fn what_is_granted_is_what_was_asked_for() -> Result<()> {
        assert_eq!(filled(7u8, 3)?, [7; 3]);
        assert_eq!(zeroed::<u64>(3)?, [0; 3]);
        assert_eq!(zeroed::<u64>(0)?, []);
        assert_eq!(zeroed::<()>(3)?.len(), 3);
        assert_eq!(copied(&[1i16, 2])?, [1, 2]);
        assert_eq!(small_filled::<[u8; 4]>(7, 9)?[..], [7; 9]);
        assert_eq!(small_copied::<[u8; 4]>(&[1, 2, 3, 4, 5])?[..], [1, 2, 3, 4, 5]);
        Ok(())
    }
}
