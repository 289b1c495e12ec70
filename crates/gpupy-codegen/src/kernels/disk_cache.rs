//! The disk cache of a driver: compiled kernels, and findings about a device.
//!
//! Owns [`remember`] and [`DiskCache`], a folder `$XDG_CACHE_HOME/gpupy/<driver>` (or `~/.cache/gpupy/<driver>`) of
//! files that are named by a hash of their key. Invariants: a content is used only if the key stored beside it is
//! equal, not just its hash. A reader finds a complete file or none. Only regular files of moderate size are read.
//! Folders and files are their owner's alone, and no link is written through.
//! No error of the disk reaches a caller.
//!
//! Not here: kernels of this process (`kernel_cache.rs`), the meaning of a content (drivers).

use gpupy_core::memory::private_file;
use gpupy_core::{Result, memory};
use rustc_hash::FxHashMap;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The most files, because a cache must not fill a disk. Beyond, the oldest quarter is removed.
const MOST_FILES: usize = 4096;

/// The most bytes of a file. A larger one is neither written nor read.
const MOST_BYTES: u64 = 64 << 20;

/// Bytes of a file besides key and content.
const HEAD: u64 = 12;

/// Contents that this process has found out or read from the disk, by driver and key.
static FOUND: LazyLock<Mutex<FxHashMap<String, Vec<u8>>>> = LazyLock::new(Mutex::default);

/// A driver's content for a key: known in this process, read from the disk, or found out by `find` and kept in both.
/// A content that `decode` rejects is found out anew.
///
/// # Errors
/// The errors of `find`.
pub fn remember<T>(
    driver: &str,
    key: &str,
    decode: impl Fn(&[u8]) -> Option<T>,
    encode: impl Fn(&T) -> Vec<u8>,
    find: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let name = format!("{driver}\n{key}");
    let found = || FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let remembered = found().get(&name).and_then(|content| decode(content));
    if let Some(remembered) = remembered {
        return Ok(remembered);
    }
    let disk_cache = DiskCache::of(driver);
    let kept = disk_cache.as_ref().and_then(|disk_cache| disk_cache.take(key));
    if let Some(kept) = kept.as_deref().and_then(&decode) {
        found().insert(name, encode(&kept));
        return Ok(kept);
    }
    let new = find()?;
    let content = encode(&new);
    if let Some(disk_cache) = disk_cache {
        disk_cache.put(key, &content);
    }
    found().insert(name, content);
    Ok(new)
}

/// A folder of cached contents.
#[derive(Clone, Debug)]
pub struct DiskCache {
    folder: PathBuf,
    /// The folder of all drivers' caches, where that is it.
    all: Option<PathBuf>,
    most: usize,
}

impl DiskCache {
    /// The cache of driver `driver`, if the environment names a folder for caches.
    pub fn of(driver: &str) -> Option<DiskCache> {
        let base = std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
            .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
        let all = base.join("gpupy");
        Some(DiskCache { all: Some(all.clone()), ..DiskCache::at(all.join(driver)) })
    }

    /// A cache in this folder.
    pub fn at(folder: impl Into<PathBuf>) -> DiskCache {
        DiskCache { folder: folder.into(), all: None, most: MOST_FILES }
    }

    /// The content of this key, if there is one.
    pub fn take(&self, key: &str) -> Option<Vec<u8>> {
        let bytes = read(&self.path(key))?;
        let (length, rest) = bytes.split_first_chunk()?;
        let (found, content) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let (check, content) = content.split_first_chunk()?;
        let whole = found == key.as_bytes() && u64::from_le_bytes(*check) == hash(&content);
        whole.then(|| content.to_vec())
    }

    /// Writes a content, if the disk allows it.
    pub fn put(&self, key: &str, content: &[u8]) {
        // A failure only costs the next process time.
        let _ = self.write(key, content);
    }

    fn write(&self, key: &str, content: &[u8]) -> std::io::Result<()> {
        if (key.len() + content.len()) as u64 + HEAD > MOST_BYTES {
            return Ok(());
        }
        let path = self.path(key);
        if let Some(all) = &self.all {
            private_file::folder(all)?;
        }
        private_file::folder(&self.folder)?;
        if !path.exists() && fs::read_dir(&self.folder)?.count() >= self.most {
            self.make_room()?;
        }
        // The file is written under another name and renamed, so that no reader finds half of it.
        // A new file is certainly a regular one.
        let (mut file, aside) =
            private_file::create(&self.folder, "new", "", fs::OpenOptions::new())?;
        let written = file
            .write_all(&(key.len() as u32).to_le_bytes())
            .and_then(|()| file.write_all(key.as_bytes()))
            .and_then(|()| file.write_all(&hash(&content).to_le_bytes()))
            .and_then(|()| file.write_all(content));
        drop(file);
        let renamed = written.and_then(|()| fs::rename(&aside, &path));
        if renamed.is_err() {
            let _ = fs::remove_file(aside);
        }
        renamed
    }

    fn make_room(&self) -> std::io::Result<()> {
        let files = fs::read_dir(&self.folder)?.flatten();
        let dated = files.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file)));
        let mut dated: Vec<_> = dated.map(|(written, file)| (written, file.path())).collect();
        dated.sort();
        dated.truncate(self.most.div_ceil(4));
        dated.iter().try_for_each(|(_, path)| fs::remove_file(path))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{:016x}{:016x}", hash(&("gpupy", key)), hash(&key)))
    }
}

/// The bytes of a regular file of moderate size; `None` for anything else. A device may have no end, and a pipe may
/// block its reader.
fn read(path: &Path) -> Option<Vec<u8>> {
    let moderate = |about: fs::Metadata| {
        let fits = about.is_file() && about.len() <= MOST_BYTES;
        fits.then_some(about.len())
    };
    // Checked before opening, and again when open: the name may refer to another file by then.
    moderate(fs::metadata(path).ok()?)?;
    let file = fs::File::open(path).ok()?;
    let len = moderate(file.metadata().ok()?)?;
    let mut bytes = memory::with_room(len as usize).ok()?;
    // If the file grows meanwhile, its beginning is enough: it is not a complete one.
    file.take(len).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn contents_come_back_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("gpupy-disk-test-{}", std::process::id()));
        let disk_cache = DiskCache::at(&folder);
        assert_eq!(disk_cache.take("a key"), None);
        let content: Vec<u8> = (0..100).collect();
        disk_cache.put("a key", &content);
        assert_eq!(disk_cache.take("a key").as_ref(), Some(&content));
        disk_cache.put("a key", b"another content");
        assert_eq!(disk_cache.take("a key").as_deref(), Some(&b"another content"[..]));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "something is left aside");
        // Half a file is not a content, nor is the file of another key.
        let bytes = fs::read(disk_cache.path("a key")).unwrap();
        fs::write(disk_cache.path("another key"), &bytes).unwrap();
        assert_eq!(disk_cache.take("another key"), None);
        for len in 0..bytes.len() {
            fs::write(disk_cache.path("a key"), &bytes[..len]).unwrap();
            assert_eq!(disk_cache.take("a key"), None, "{len} bytes");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_was_written_longest_ago_makes_room() {
        let folder = std::env::temp_dir().join(format!("gpupy-room-test-{}", std::process::id()));
        let disk_cache = DiskCache { most: 8, ..DiskCache::at(&folder) };
        for k in 0..9u8 {
            disk_cache.put(&format!("key {k}"), &[k]);
            // File times are coarse.
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let kept: Vec<bool> =
            (0..9).map(|k| disk_cache.take(&format!("key {k}")).is_some()).collect();
        assert_eq!(kept, [false, false, true, true, true, true, true, true, true]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_or_a_large_one_is_not_read() {
        let folder = std::env::temp_dir().join(format!("gpupy-odd-test-{}", std::process::id()));
        let disk_cache = DiskCache::at(&folder);
        fs::create_dir_all(&folder).unwrap();
        let path = disk_cache.path("a key");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert_eq!(disk_cache.take("a key"), None);
        // Writing replaces the link.
        disk_cache.put("a key", b"a content");
        assert_eq!(disk_cache.take("a key").as_deref(), Some(&b"a content"[..]));
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if made.is_ok_and(|made| made.success()) {
            assert_eq!(disk_cache.take("a key"), None);
            fs::remove_file(&path).unwrap();
        }
        fs::create_dir(&path).unwrap();
        assert_eq!(disk_cache.take("a key"), None);
        fs::remove_dir(&path).unwrap();
        fs::File::create(&path).unwrap().set_len(MOST_BYTES + 1).unwrap();
        assert_eq!(disk_cache.take("a key"), None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn contents_are_their_owners_alone_and_no_link_is_written_through() {
        use std::os::unix::fs::PermissionsExt;
        let root = std::env::temp_dir().join(format!("gpupy-modes-test-{}", std::process::id()));
        let folder = root.join("gpupy");
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).unwrap();
        let disk_cache = DiskCache { all: Some(folder.clone()), ..DiskCache::at(folder.join("x")) };
        disk_cache.put("a key", b"a content");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("x"))), (0o700, 0o700));
        assert_eq!(mode(&disk_cache.path("a key")), 0o600);
        std::os::unix::fs::symlink(folder.join("x"), folder.join("link")).unwrap();
        let linked = DiskCache::at(folder.join("link"));
        linked.put("another key", b"a content");
        assert_eq!(disk_cache.take("another key"), None);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_would_not_be_read_is_not_written() {
        let folder = std::env::temp_dir().join(format!("gpupy-large-test-{}", std::process::id()));
        let disk_cache = DiskCache::at(&folder);
        disk_cache.put("a key", &vec![0; MOST_BYTES as usize]);
        assert!(!disk_cache.path("a key").exists());
        let _ = fs::remove_dir_all(folder);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_error() {
        let disk_cache = DiskCache::at("/dev/null/gpupy");
        disk_cache.put("a key", &[1]);
        assert_eq!(disk_cache.take("a key"), None);
    }
}
