//! The disk cache of a driver: compiled kernels, and findings about a device.
//!
//! Owns [`remember`] and [`DiskCache`], a driver's folder of files that are named by a hash of their key. Invariants: a
//! content is used only if the key stored beside it is equal, not just its hash. A reader finds a complete file or
//! none, and the file tells within an hour when it was last read. Only regular files of moderate size are read. Folders
//! and files are their owner's alone, and no link is written through. No error of the disk reaches a caller.
//!
//! Not here: where the folder is, and how many bytes all may have (`cache_folder.rs`); kernels of this process
//! (`kernel_cache.rs`), the meaning of a content (drivers).

use crate::kernels::cache_folder::CacheFolder;
use gpupy_core::memory::private_file;
use gpupy_core::{Result, memory};
use rustc_hash::FxHashMap;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The most bytes of a file. A larger one is neither written nor read.
const MOST_BYTES: u64 = 64 << 20;

/// For how long a reading of a file is not noted again, because a note is a write.
const NOTED: Duration = Duration::from_secs(3600);

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
    /// The folder of all drivers' caches, if it is in that.
    all: Option<CacheFolder>,
}

impl DiskCache {
    /// The cache of driver `driver`, if the environment names a folder for caches.
    pub fn of(driver: &str) -> Option<DiskCache> {
        Some(DiskCache::within(CacheFolder::of_environment()?, driver))
    }

    fn within(all: CacheFolder, driver: &str) -> DiskCache {
        DiskCache { folder: all.path().join(driver), all: Some(all) }
    }

    /// A cache in this folder, without a bound of all of it.
    pub fn at(folder: impl Into<PathBuf>) -> DiskCache {
        DiskCache { folder: folder.into(), all: None }
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
        let bytes = (key.len() + content.len()) as u64 + HEAD;
        if bytes > MOST_BYTES {
            return Ok(());
        }
        let path = self.path(key);
        if let Some(all) = &self.all {
            private_file::folder(all.path())?;
            if !all.has_room(bytes) {
                return Ok(());
            }
        }
        private_file::folder(&self.folder)?;
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
    let about = file.metadata().ok()?;
    let noted = about.modified().ok().and_then(|noted| noted.elapsed().ok());
    if noted.is_some_and(|ago| ago > NOTED) {
        // Where it cannot be noted, the file only goes sooner.
        let _ = file.set_modified(SystemTime::now());
    }
    let len = moderate(about)?;
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
    use crate::kernels::cache_folder::tests::of_test;

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
    fn what_was_read_lately_stays_where_others_make_room() {
        let all = of_test("room", 16 << 12);
        let of = |driver: &str| DiskCache::within(all.clone(), driver);
        for k in 0..16 {
            of("x").put(&format!("key {k}"), &[k]);
            let file = fs::File::open(of("x").path(&format!("key {k}"))).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(7200)).unwrap();
        }
        assert!(of("x").take("key 3").is_some());
        of("y").put("another key", &[1]);
        let count = |driver| fs::read_dir(all.path().join(driver)).unwrap().count();
        assert_eq!((count("x"), count("y")), (12, 1));
        assert!(of("x").take("key 3").is_some() && of("y").take("another key").is_some());
        fs::remove_dir_all(all.path().parent().unwrap()).unwrap();
    }

    /// What one of several processes does: it writes entries, and reads each as it was written or not at all.
    #[test]
    #[ignore = "the next test starts it, in processes of its own"]
    fn a_process_writes_to_the_folder_of_the_environment() {
        let disk_cache = DiskCache::of("x").unwrap();
        let content = |k: u32| vec![k as u8; 1 << 16];
        for k in 0..64 {
            disk_cache.put(&format!("key {k}"), &content(k));
            let found = disk_cache.take(&format!("key {}", k / 2));
            assert!(found.is_none_or(|found| found == content(k / 2)));
        }
    }

    #[test]
    fn several_processes_keep_the_bound_of_the_folder_that_the_environment_names() {
        let folder = of_test("processes", 0).path().parent().unwrap().to_path_buf();
        // Files with holes, which the disk need not have room for: more than all may have.
        let old = |k: u64| folder.join("gpupy/y").join(format!("{k:032x}"));
        fs::create_dir_all(folder.join("gpupy/y")).unwrap();
        for k in 0..18 {
            let file = fs::File::create(old(k)).unwrap();
            file.set_len(16 << 20).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(3600 * (100 - k))).unwrap();
        }
        let name = "kernels::disk_cache::tests::a_process_writes_to_the_folder_of_the_environment";
        let start = || {
            let mut process = std::process::Command::new(std::env::current_exe().unwrap());
            process.args(["--ignored", "--exact", name]).env("GPUPY_CACHE_DIR", &folder);
            process.stdout(std::process::Stdio::piped()).spawn().unwrap()
        };
        let processes: Vec<_> = (0..3).map(|_| start()).collect();
        for process in processes {
            let output = process.wait_with_output().unwrap();
            assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
        }
        let files = |driver| fs::read_dir(folder.join("gpupy").join(driver)).unwrap().flatten();
        let bytes = |driver| files(driver).map(|file| file.metadata().unwrap().len()).sum::<u64>();
        assert!(bytes("x") + bytes("y") <= 256 << 20);
        assert_eq!(files("x").count(), 64, "something is left aside, or missing");
        let kept: Vec<u64> = (0..18).filter(|&k| old(k).exists()).collect();
        assert!(kept.len() < 18 && kept.iter().copied().eq(18 - kept.len() as u64..18), "{kept:?}");
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
        let all = of_test("modes", 1 << 20);
        let folder = all.path().to_path_buf();
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).unwrap();
        let disk_cache = DiskCache::within(all, "x");
        disk_cache.put("a key", b"a content");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("x"))), (0o700, 0o700));
        assert_eq!(mode(&disk_cache.path("a key")), 0o600);
        std::os::unix::fs::symlink(folder.join("x"), folder.join("link")).unwrap();
        let linked = DiskCache::at(folder.join("link"));
        linked.put("another key", b"a content");
        assert_eq!(disk_cache.take("another key"), None);
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
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
