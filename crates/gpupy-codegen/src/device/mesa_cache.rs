//! Mesa's cache of compiled shaders, which ends the process where its disk is full.
//!
//! Owns [`keep_from_full_disk`]. Mesa maps an index of its cache into memory, and writes to it as to memory: the system
//! answers a write to a page for which the disk has no room by SIGBUS. So the cache is switched off where there is no
//! room for it, before the first of Mesa's libraries is loaded; and the disk gives room to the whole of an index that
//! is there already. Invariant: no error of the disk reaches a caller.
//!
//! Not here: our own cache (`kernels/disk_cache.rs`), whose writes are calls that may fail.

#[cfg(target_os = "linux")]
use gpupy_core::memory::private_file;
#[cfg(target_os = "linux")]
use std::{
    fs::{File, OpenOptions},
    io,
    os::fd::AsRawFd,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Once,
};

/// The variable by which Mesa's cache is switched off.
#[cfg(target_os = "linux")]
const OFF: &str = "MESA_SHADER_CACHE_DISABLE";

/// The room that the cache needs at once: an index of 65,536 keys of 20 bytes, and some shaders.
#[cfg(target_os = "linux")]
const ROOM: u64 = 4 << 20;

/// Switches Mesa's cache off for this process if the disk has no room for it. Drivers call it before they load a
/// graphics library; it looks once.
pub fn keep_from_full_disk() {
    #[cfg(target_os = "linux")]
    {
        static LOOKED: Once = Once::new();
        LOOKED.call_once(|| {
            let is_off = std::env::var_os(OFF).is_some_and(|off| off == "true" || off == "1");
            if !is_off && folder().is_some_and(|folder| has_room(&folder).is_err()) {
                // SAFETY: an access of other threads to the environment at this very moment is not ordered with
                // this one. The libraries that read the variable are loaded by this thread afterwards, and without
                // it the process ends when the first shader is compiled.
                unsafe { std::env::set_var(OFF, "true") };
            }
        });
    }
}

/// The folder in which Mesa keeps its cache.
#[cfg(target_os = "linux")]
fn folder() -> Option<PathBuf> {
    let named =
        |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    named("MESA_SHADER_CACHE_DIR")
        .or_else(|| named("MESA_GLSL_CACHE_DIR"))
        .or_else(|| named("XDG_CACHE_HOME"))
        .or_else(|| Some(named("HOME")?.join(".cache")))
}

/// Asks the disk for the room that the cache needs in a folder, which may not be there yet.
///
/// # Errors
/// There is none, or nothing can be written there.
#[cfg(target_os = "linux")]
fn has_room(folder: &Path) -> io::Result<()> {
    let index = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(folder.join("mesa_shader_cache").join("index"));
    if let Ok(index) = index {
        let about = index.metadata()?;
        allocate(&index, if about.is_file() { about.len() } else { 0 })?;
    }
    let there = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(folder);
    let (file, path) = private_file::create(there, ".gpupy-room", "", OpenOptions::new())?;
    let allocated = allocate(&file, ROOM);
    drop(file);
    std::fs::remove_file(path)?;
    allocated
}

/// Has the disk keep room for so many bytes of a file. Where it cannot promise any, there is nothing to ask.
#[cfg(target_os = "linux")]
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: a plain call on an open file.
    if unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes as libc::off_t) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_disk_with_room_is_told_from_a_full_one() -> io::Result<()> {
        let folder = std::env::temp_dir().join(format!("gpupy-mesa-test-{}", std::process::id()));
        let cache = folder.join("mesa_shader_cache");
        std::fs::create_dir_all(&cache)?;
        has_room(&folder)?;
        has_room(&folder.join("not").join("there"))?;
        // An index with holes has room afterwards.
        let index = File::create(cache.join("index"))?;
        index.set_len(1 << 20)?;
        has_room(&folder)?;
        let blocks = std::os::unix::fs::MetadataExt::blocks(&index.metadata()?);
        assert!(blocks * 512 >= 1 << 20, "{blocks}");
        assert_eq!(std::fs::read_dir(&folder)?.count(), 1, "a file was left");
        // A device without room.
        let full = OpenOptions::new().write(true).open("/dev/full")?;
        assert!(allocate(&full, ROOM).is_err());
        std::fs::remove_dir_all(folder)
    }
}
