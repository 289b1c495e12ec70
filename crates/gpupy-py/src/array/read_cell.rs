//! A value of an object that is read by every operation and seldom replaced.
//!
//! Owns [`ReadCell`]. Readers are counted, because one of them may let other threads run while it reads. Python's
//! lock puts them in order, so that counting takes no atomic step; a module without that lock takes them.
//! Invariant: what is read stays as it is until the last reader is gone.
//!
//! Not here: what arrays have in it (`ndarray.rs`).

use pyo3::Python;
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether whoever has a `Python` is the only one: modules for the stable interface never run without
/// Python's lock.
const ALONE: bool = cfg!(feature = "abi3");
/// In place of the number of readers while a value is replaced.
const REPLACING: u32 = u32::MAX;

/// A value that can be replaced while nobody reads it.
pub struct ReadCell<T> {
    value: UnsafeCell<T>,
    readers: AtomicU32,
}

// SAFETY: the value is shared by readers, and replaced by who found that there are none.
unsafe impl<T: Send + Sync> Sync for ReadCell<T> {}

/// Keeps a value where it is.
pub struct ReadGuard<'a, T> {
    slot: &'a ReadCell<T>,
    /// It ends before Python's lock is let go of for good.
    python: PhantomData<Python<'a>>,
}

impl<T> ReadCell<T> {
    /// With this value.
    pub fn new(value: T) -> ReadCell<T> {
        ReadCell { value: UnsafeCell::new(value), readers: AtomicU32::new(0) }
    }

    /// The value, for reading.
    #[inline(always)]
    pub fn read<'a>(&'a self, _python: Python<'a>) -> ReadGuard<'a, T> {
        loop {
            let readers = self.readers.load(Ordering::Relaxed);
            if readers != REPLACING && self.count(readers, readers + 1) {
                return ReadGuard { slot: self, python: PhantomData };
            }
            spin_loop();
        }
    }

    /// Puts another value in the place of this one, which it gives back. While somebody reads, it gives the
    /// new one back as an error.
    ///
    /// # Errors
    /// Somebody reads the value.
    pub fn replace(&self, _python: Python<'_>, value: T) -> Result<T, T> {
        if self.readers.load(Ordering::Relaxed) != 0 || !self.count(0, REPLACING) {
            return Err(value);
        }
        // SAFETY: nobody reads it, and nobody begins to before the count is 0 again.
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
        // SAFETY: it is not replaced while there are readers.
        unsafe { &*self.slot.value.get() }
    }
}

impl<T> Drop for ReadGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let readers = &self.slot.readers;
        if ALONE {
            readers.store(readers.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        } else {
            readers.fetch_sub(1, Ordering::Release);
        }
    }
}
