//! The elements that arrays from before show while a function is recorded.
//!
//! Owns [`RecordedRepr`]. Not here: the placeholders (`JitRecording::touch`).

use super::with;
use crate::array::read_cell::{ReadCell, ReadGuard};
use crate::array::repr::Repr;
use pyo3::Python;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The elements that an array shows while a recording is in progress.
#[derive(Default)]
pub struct RecordedRepr {
    /// The recording.
    number: AtomicU32,
    repr: OnceLock<ReadCell<Repr>>,
}

impl RecordedRepr {
    /// The elements that an array from before shows in this thread's recording of this number; `repr` are its own.
    pub fn read<'a>(
        &'a self,
        py: Python<'a>,
        number: u32,
        address: usize,
        repr: &'a ReadCell<Repr>,
    ) -> ReadGuard<'a, Repr> {
        let known = self.number.load(Ordering::Relaxed) == number;
        if let Some(cell) = self.repr.get().filter(|_| known) {
            return cell.read(py);
        }
        let found = match &*repr.read(py) {
            Repr::Lazy(array) => with(|recording| recording.touch(address, array)).flatten(),
            Repr::Numpy(_) => {
                with(|recording| recording.refuse("it reads an array whose dtype is NumPy's own"));
                None
            }
        };
        let Some(found) = found else { return repr.read(py) };
        let found = Repr::Lazy(found);
        if let Some(cell) = self.repr.get() {
            // It has no readers: only this recording, or an earlier one, has shown it.
            if cell.replace(py, found).is_err() {
                return repr.read(py);
            }
            self.number.store(number, Ordering::Relaxed);
            return cell.read(py);
        }
        self.number.store(number, Ordering::Relaxed);
        self.repr.get_or_init(|| ReadCell::new(found)).read(py)
    }

    /// Shows other elements from now on.
    pub fn show(&self, py: Python<'_>, repr: Repr) {
        if let Some(cell) = self.repr.get() {
            // It has no readers: this thread is in no operation on it.
            drop(cell.replace(py, repr));
        }
    }
}
