//! Files and folders of this process that others may neither read nor foresee.
//!
//! Owns [`create`] and [`folder`]. Folders for temporary files are everybody's: a name that can be foreseen may be a
//! link of somebody else by the time a file is made. Invariants: a file that is made here was not there before, has a
//! random name, and is its owner's alone; no link is followed to it, and none that ends a folder's path.
//!
//! Not here: what is in them (the engine's spill file, caches of drivers).

use std::fs::{DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// How often another random name is tried.
const TRIES: u32 = 16;

/// Makes a file for reading and writing, `<prefix>-<process>-<random><suffix>`; `options` has what else it needs.
///
/// # Errors
/// Those of the file system.
pub fn create(
    folder: &Path,
    prefix: &str,
    suffix: &str,
    mut options: OpenOptions,
) -> io::Result<(File, PathBuf)> {
    // A new file is never a link: one in its place is an error.
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut failed = io::ErrorKind::AlreadyExists.into();
    for _ in 0..TRIES {
        // Each state has keys of its own, by which its hashes are random.
        let random = std::hash::RandomState::new().build_hasher().finish();
        let path = folder.join(format!("{prefix}-{}-{random:016x}{suffix}", std::process::id()));
        match options.open(&path) {
            Ok(file) => return Ok((file, path)),
            // A process that was forked may have drawn the same numbers.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => failed = error,
            Err(error) => return Err(error),
        }
    }
    Err(failed)
}

/// Writes a text to a new file in the folder for temporary files, and gives its path.
///
/// # Errors
/// Those of the file system.
pub fn temporary(prefix: &str, suffix: &str, text: &str) -> io::Result<PathBuf> {
    let (mut file, path) = create(&std::env::temp_dir(), prefix, suffix, OpenOptions::new())?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    Ok(path)
}

/// Makes a folder that is its owner's alone, and those that it is in; one that is there becomes so.
///
/// # Errors
/// Those of the file system. There is a link in its place, or a folder of another user.
pub fn folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    let found = std::fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "a link is no folder"));
    }
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0 {
        // Only the owner may.
        let alone = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(path, alone)?;
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> io::Result<u32> {
        Ok(std::fs::symlink_metadata(path)?.permissions().mode() & 0o777)
    }

    #[test]
    fn files_are_new_and_their_owners_alone() -> io::Result<()> {
        let paths = [(); 3].map(|()| temporary("gpupy-private", ".test", "a text"));
        let paths = paths.into_iter().collect::<io::Result<Vec<_>>>()?;
        assert!(paths[0] != paths[1] && paths[1] != paths[2]);
        for path in &paths {
            assert_eq!(mode(path)?, 0o600);
            assert_eq!(std::fs::read_to_string(path)?, "a text");
            std::fs::remove_file(path)?;
        }
        Ok(())
    }

    #[test]
    fn folders_are_their_owners_alone_and_no_links() -> io::Result<()> {
        let (file, path) = create(&std::env::temp_dir(), "gpupy-folder", "", OpenOptions::new())?;
        drop(file);
        std::fs::remove_file(&path)?;
        folder(&path.join("inner"))?;
        assert_eq!((mode(&path)?, mode(&path.join("inner"))?), (0o700, 0o700));
        // One that others could read before.
        std::fs::set_permissions(path.join("inner"), PermissionsExt::from_mode(0o755))?;
        folder(&path.join("inner"))?;
        assert_eq!(mode(&path.join("inner"))?, 0o700);
        symlink(path.join("inner"), path.join("link"))?;
        assert!(folder(&path.join("link")).is_err());
        std::fs::remove_dir_all(path)
    }
}
