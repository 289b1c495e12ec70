//! The file that elements are spilled to: one for the process, in the folder for temporary files.
//!
//! Owns [`SpillSlot`], a part of the file. A fork gives the child the parent's file, with the same places: from then on
//! both only read it, and each makes a file of its own when it spills again. Invariants: the file is its owner's alone,
//! and has a random name; it is unlinked once it is open, or deleted when it is closed, so that none is left behind,
//! however the process ends; a slot belongs to one value, and its place is free again when the slot is dropped; a file
//! that another process may have is only read.
//!
//! Not here: which elements are spilled (`execute/spilling.rs`), the slots of a value (`graph/value/paged.rs`).

use gpupy_core::memory::private_file;
use gpupy_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;
#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

struct Spill {
    file: File,
    path: PathBuf,
    /// The forks before it was opened.
    forks: u64,
    places: Mutex<FreeSpace>,
}

impl Spill {
    /// Whether no other process has it.
    fn is_ours(&self) -> bool {
        self.forks == FORKS.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
struct FreeSpace {
    end: u64,
    /// Free places by their length.
    free: FxHashMap<u64, Vec<u64>>,
}

/// The file of new slots, while it is ours.
static SPILL: Mutex<Option<Arc<Spill>>> = Mutex::new(None);

/// The forks of this process and its parents since the first file was opened.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// A part of a file. One that is not in use any more is closed with its last slot.
pub(crate) struct SpillSlot {
    spill: Arc<Spill>,
    start: u64,
    len: u64,
}

impl SpillSlot {
    /// Room for so many bytes.
    ///
    /// # Errors
    /// - `File`: there is no such file, and none can be made.
    pub fn new(bytes: usize) -> Result<SpillSlot> {
        let mut current = SPILL.lock().unwrap_or_else(PoisonError::into_inner);
        let spill = match current.take().filter(|spill| spill.is_ours()) {
            Some(spill) => spill,
            None => Arc::new(opened()?),
        };
        *current = Some(spill.clone());
        drop(current);
        let len = (bytes as u64).next_multiple_of(1 << 20);
        let mut places = spill.places.lock().unwrap_or_else(PoisonError::into_inner);
        let start = match places.free.get_mut(&len).and_then(Vec::pop) {
            Some(start) => start,
            None => {
                places.end += len;
                places.end - len
            }
        };
        drop(places);
        Ok(SpillSlot { spill, start, len })
    }

    /// Whether it may be written: no other process has its file.
    pub fn is_ours(&self) -> bool {
        self.spill.is_ours()
    }

    /// Writes bytes at a place of the slot, which is ours.
    ///
    /// # Errors
    /// - `File`: the disk is full, or fails.
    pub fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        self.each(at, bytes.len(), |file, done, at| write_at(file, &bytes[done..], at))
    }

    /// Reads bytes from a place of the slot, which were written before.
    ///
    /// # Errors
    /// - `File`: the disk fails.
    pub fn read(&self, at: usize, into: &mut [u8]) -> Result<()> {
        self.each(at, into.len(), |file, done, at| read_at(file, &mut into[done..], at))
    }

    fn each(
        &self,
        at: usize,
        len: usize,
        mut go: impl FnMut(&File, usize, u64) -> io::Result<usize>,
    ) -> Result<()> {
        let spill = &*self.spill;
        let mut done = 0;
        while done < len {
            let place = self.start + (at + done) as u64;
            match go(&spill.file, done, place) {
                Ok(0) => return Err(failed(spill, place)),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(spill, place).from_source(error)),
            }
        }
        Ok(())
    }
}

impl Drop for SpillSlot {
    fn drop(&mut self) {
        if self.is_ours() {
            let mut places = self.spill.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.free.entry(self.len).or_default().push(self.start);
        }
    }
}

fn failed(spill: &Spill, place: u64) -> Error {
    Error::new(ErrorKind::File, "spill")
        .says("elements beyond GPUPY_HOST_BYTES go to a file, which failed: give more memory or another TMPDIR")
        .with("file", format!("`{}`", spill.path.display()))
        .with("offset", place)
}

fn opened() -> Result<Spill> {
    let folder = std::env::temp_dir();
    let told = |error: io::Error| {
        Error::new(ErrorKind::File, "spill")
            .says("no file for elements beyond GPUPY_HOST_BYTES can be made: set TMPDIR to a folder for it")
            .with("folder", format!("`{}`", folder.display()))
            .from_source(error)
    };
    #[cfg(unix)]
    count_forks().map_err(told)?;
    let forks = FORKS.load(Ordering::Relaxed);
    let options = OpenOptions::new();
    #[cfg(windows)]
    let options = {
        const DELETE_ON_CLOSE: u32 = 0x0400_0000;
        let mut options = options;
        std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, DELETE_ON_CLOSE);
        options
    };
    let (file, path) = private_file::create(&folder, "gpupy", ".spill", options).map_err(told)?;
    #[cfg(unix)]
    std::fs::remove_file(&path).map_err(told)?;
    Ok(Spill { file, path, forks, places: Mutex::default() })
}

/// Has every fork counted from now on, also where no hook of the program's runs.
#[cfg(unix)]
fn count_forks() -> io::Result<()> {
    extern "C" fn before_fork() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    static ANSWER: OnceLock<i32> = OnceLock::new();
    // SAFETY: the function is a static one, does not unwind, and only adds to a number. This crate is never unloaded,
    // as Rust's threads have run in it.
    let answer =
        ANSWER.get_or_init(|| unsafe { libc::pthread_atfork(Some(before_fork), None, None) });
    if *answer == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(*answer)) }
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, bytes, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_keep_what_is_written_and_are_used_again() -> Result<()> {
        let (one, other) = (SpillSlot::new(3 << 20)?, SpillSlot::new(100)?);
        one.write((3 << 20) - 2, &[1, 2])?;
        other.write(5, &[3])?;
        let mut found = [0; 2];
        one.read((3 << 20) - 2, &mut found)?;
        assert_eq!(found, [1, 2]);
        let (start, path) = (one.start, one.spill.path.clone());
        drop(one);
        assert_eq!(SpillSlot::new((3 << 20) - 7)?.start, start);
        assert!(cfg!(windows) || !path.exists());
        // Nobody could have made a file or a link of that name before.
        assert_ne!(opened()?.path, opened()?.path);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = opened()?.file.metadata().map(|about| about.permissions().mode() & 0o777);
            assert_eq!(mode.ok(), Some(0o600));
        }
        Ok(())
    }
}
