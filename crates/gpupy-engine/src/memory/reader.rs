//! Readers: elements that lie outside this process, in a file or in an object that behaves like one.
//!
//! Owns [`Reader`], [`FileReader`], and which threads read. A file is read by `pread`, never mapped: a part that is
//! missing is an error, not a signal. Invariants: a read gives all elements that it was asked for, or an error that
//! names the place; a file that changed since it was opened is not read on; a thread that reads is not kept waiting for
//! the engine that it has.
//!
//! Not here: which elements are kept in memory, and for how long (`blocks/streams.rs`), when they are read
//! (`execute/transfer.rs`).

use gpupy_core::{DType, Error, ErrorKind, Result};
use std::cell::Cell;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The bytes that readers have given in this process.
pub(crate) static BYTES_READ: AtomicU64 = AtomicU64::new(0);

/// The bytes that this process has read from outside so far; takes no lock, also during an evaluation.
pub fn bytes_read() -> u64 {
    BYTES_READ.load(Ordering::Relaxed)
}

thread_local! {
    /// Whether this thread reads elements for an evaluation.
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// Refuses what needs the engine in a thread that reads elements for an evaluation: that has the engine, and waits
/// for the elements.
///
/// # Errors
/// - `Busy`: the thread reads.
pub fn check_free() -> Result<()> {
    if !IS_READING.get() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Busy, "evaluate").says(
        "a function that reads elements for gpupy may not compute with its arrays: compute with NumPy's there",
    ))
}

/// Reads elements, as `Reader::read`, in a thread that has the engine.
pub(crate) fn read(reader: &dyn Reader, first: usize, into: &mut [u8]) -> Result<()> {
    /// A reader may unwind.
    struct Reading(bool);
    impl Drop for Reading {
        fn drop(&mut self) {
            IS_READING.set(self.0);
        }
    }
    let _reading = Reading(IS_READING.replace(true));
    reader.read(first, into)
}

/// A source of a value's elements, in C order.
pub trait Reader: Send + Sync {
    /// Reads the elements from `first` on that fill `into`.
    ///
    /// - **Units:** `first` counts elements; `into` is whole elements, native endian.
    /// - **Bounds:** they are elements of the value.
    /// - **Empty:** nothing is read.
    ///
    /// # Errors
    /// - `File`: they cannot be read, all of them; the error says where.
    /// - `Interrupted`: the program was told to stop.
    fn read(&self, first: usize, into: &mut [u8]) -> Result<()>;

    /// How many elements it likes to read at once, at least 1: a multiple of these begins each read but the last.
    fn unit(&self) -> usize;

    /// The name of the source, for people.
    fn name(&self) -> String;
}

/// The elements of a file, one behind the other.
pub struct FileReader {
    file: File,
    path: PathBuf,
    /// Bytes before the first element.
    offset: u64,
    size: usize,
    /// Whether elements are true wherever a byte is not 0.
    is_bool: bool,
    known: (u64, Option<SystemTime>),
}

/// Bytes that are read of a file at once: some huge pages.
const UNIT: usize = 4 << 20;

impl FileReader {
    /// The elements of a file from these bytes on.
    ///
    /// # Errors
    /// - `File`: it cannot be opened, or has not so many.
    pub fn open(path: &Path, offset: u64, dtype: DType, len: usize) -> Result<FileReader> {
        let told = |error: io::Error| failed(path, "cannot be opened").from_source(error);
        let file = opened(path).map_err(told)?;
        let about = file.metadata().map_err(told)?;
        if !about.is_file() {
            return Err(failed(
                path,
                "only the elements of a file can be read when they are needed: this is a pipe, \
                a device or a folder; read it into memory (`numpy.fromfile`)",
            ));
        }
        let known = facts(&about);
        let bytes = (len as u64).checked_mul(dtype.size() as u64);
        let end = bytes.and_then(|bytes| bytes.checked_add(offset));
        if end.is_none_or(|end| end > known.0) {
            return Err(failed(path, "the file is shorter than the array")
                .with("offset", offset)
                .with("wanted", end.unwrap_or(u64::MAX))
                .with("bytes", known.0));
        }
        let (path, size, is_bool) = (path.into(), dtype.size(), dtype == DType::Bool);
        Ok(FileReader { file, path, offset, size, is_bool, known })
    }
}

impl Reader for FileReader {
    fn read(&self, first: usize, into: &mut [u8]) -> Result<()> {
        let start = self.offset + (first * self.size) as u64;
        let told = |words: &str, at: u64| failed(&self.path, words).with("offset", at);
        let facts = self.file.metadata().map(|found| facts(&found));
        let (bytes, changed) =
            facts.map_err(|error| told("cannot be read", start).from_source(error))?;
        if bytes < start + into.len() as u64 {
            return Err(told("the file became shorter", start)
                .with("wanted", into.len())
                .with("bytes", bytes));
        }
        if (bytes, changed) != self.known {
            return Err(told("the file changed since it was opened: open it again", start));
        }
        let mut done = 0;
        while done < into.len() {
            let at = start + done as u64;
            match read_at(&self.file, &mut into[done..], at) {
                Ok(0) => {
                    return Err(
                        told("the file ends too soon", at).with("wanted", into.len() - done)
                    );
                }
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(told("cannot be read", at).from_source(error)),
            }
        }
        if self.is_bool {
            into.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(())
    }

    fn unit(&self) -> usize {
        UNIT / self.size
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// Opens what a path names, and waits for nothing: a pipe would be waited for until another process opens it, where no
/// handler of a signal runs.
fn opened(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.read(true).open(path)
}

/// The facts by which a changed file is recognised.
fn facts(found: &Metadata) -> (u64, Option<SystemTime>) {
    (found.len(), found.modified().ok())
}

fn failed(path: &Path, words: &str) -> Error {
    Error::new(ErrorKind::File, "read").says(words).with("file", format!("`{}`", path.display()))
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn written(name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = std::env::temp_dir().join(format!("gpupy-reader-{}-{name}", std::process::id()));
        File::create(&path)?.write_all(bytes)?;
        Ok(path)
    }

    #[test]
    fn a_file_is_read_from_its_offset_on() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let path = written("whole", &[9, 9, 9, 1, 2, 3, 4])?;
        let reader = FileReader::open(&path, 3, DType::U8, 4)?;
        let mut found = [0; 2];
        reader.read(1, &mut found)?;
        assert_eq!(found, [2, 3]);
        let longer = FileReader::open(&path, 4, DType::U8, 4).err().map(|error| error.kind());
        assert_eq!(longer, Some(ErrorKind::File));
        std::fs::remove_file(path)?;
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_at_once() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let path = std::env::temp_dir().join(format!("gpupy-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&path).status()?;
        for odd in ["/dev/zero".into(), std::env::temp_dir(), path.clone()] {
            if odd != path || made.success() {
                let error = FileReader::open(&odd, 0, DType::U8, 0).err().ok_or("it was opened")?;
                assert!(error.to_string().contains("this is a pipe"), "{error}");
            }
        }
        std::fs::remove_file(path)?;
        Ok(())
    }

    #[test]
    fn a_file_that_shrinks_or_changes_is_an_error_of_its_place()
    -> std::result::Result<(), Box<dyn std::error::Error>> {
        let path = written("shrinks", &[7; 100])?;
        let reader = FileReader::open(&path, 0, DType::U8, 100)?;
        File::options().write(true).open(&path)?.set_len(50)?;
        let error = reader.read(40, &mut [0; 20]).err().ok_or("it was read")?;
        assert_eq!((error.kind(), error.fact("offset")), (ErrorKind::File, Some("40")));
        assert!(error.to_string().contains("became shorter"), "{error}");
        File::options().write(true).open(&path)?.set_len(200)?;
        let error = reader.read(40, &mut [0; 20]).err().ok_or("it was read")?;
        assert!(error.to_string().contains("changed"), "{error}");
        std::fs::remove_file(path)?;
        Ok(())
    }
}
