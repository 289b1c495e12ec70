//! A cell with read guards: a value that every operation reads and few operations replace.
//!
//! Owns [`ReadCell`] and [`ReadGuard`]. Readers are counted because one of them may let other threads run while it
//! reads. Python's lock orders the counting, so that it takes no atomic step; a module without that lock takes
//! atomic steps. Invariant: a value does not change until its last reader is gone.
//!
//! Not here: the elements in the cell (`ndarray.rs`).

use pyo3::Python;
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether holding a `Python` token excludes all other threads: modules for the stable interface never run
/// without Python's lock.
const ALONE: bool = cfg!(feature = "abi3");
/// In place of the number of readers while a value is replaced.
const REPLACING: u32 = u32::MAX;

/// A value that can be replaced while it has no readers.
pub struct ReadCell<T> {
    value: UnsafeCell<T>,
    readers: AtomicU32,
}

// SAFETY: readers only share the value; `replace` changes it only after it has found the count of readers 0.
unsafe impl<T: Send + Sync> Sync for ReadCell<T> {}

/// A read guard: the value is not replaced while it lives.
pub struct ReadGuard<'a, T> {
    cell: &'a ReadCell<T>,
    /// It ends before Python's lock is let go of for good.
    python: PhantomData<Python<'a>>,
}

impl<T> ReadCell<T> {
    /// A cell with this value.
    pub fn new(value: T) -> ReadCell<T> {
        ReadCell { value: UnsafeCell::new(value), readers: AtomicU32::new(0) }
    }

    /// The value, for reading.
    #[inline(always)]
    pub fn read<'a>(&'a self, _python: Python<'a>) -> ReadGuard<'a, T> {
        loop {
            let readers = self.readers.load(Ordering::Relaxed);
            if readers != REPLACING && self.count(readers, readers + 1) {
                return ReadGuard { cell: self, python: PhantomData };
            }
            spin_loop();
        }
    }

    /// Replaces the value and returns the old one. While there are readers, it returns the new one as an error.
    ///
    /// # Errors
    /// The value has readers.
    pub fn replace(&self, _python: Python<'_>, value: T) -> Result<T, T> {
        if self.readers.load(Ordering::Relaxed) != 0 || !self.count(0, REPLACING) {
            return Err(value);
        }
        // SAFETY: the count is `REPLACING`, so there are no readers, and `read` waits until it is 0 again.
        let before = unsafe { self.value.get().replace(value) };
        self.readers.store(0, Ordering::Release);
        Ok(before)
    }

    /// Changes the number of readers; false where it is another one by now.
    #[inline(always)]
    fn count(&self, from: u32, to: u32) -> bool {
        if ALONE {
            self.readers.store(to, Ordering::Relaxed);
            return true;
        }
        let changed = self.readers.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed);
        changed.is_ok()
    }
}

impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: this guard is counted as a reader, and `replace` changes no value that has readers.
        unsafe { &*self.cell.value.get() }
    }
}

impl<T> Drop for ReadGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let readers = &self.cell.readers;
        if ALONE {
            readers.store(readers.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        } else {
            readers.fetch_sub(1, Ordering::Release);
        }
    }
}
