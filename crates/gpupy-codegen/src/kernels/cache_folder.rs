//! The folder of all drivers' caches on disk, and the bound of what is in it.
//!
//! Owns [`CacheFolder`]: where the environment has it, and the removal of entries when there is no room for another.
//! Invariants: all drivers together have at most [`MOST_BYTES`]; entries that were used longest ago go first, whichever
//! driver wrote them. Nothing is removed but regular files with names of entries, in folders that are no links. Several
//! processes may remove and write at once: an entry that is gone already is room, too, and each process looks again
//! after an eighth of the bound, by which each may exceed it meanwhile.
//!
//! Not here: what is in an entry, and the folder of one driver (`disk_cache.rs`).

use rustc_hash::FxHashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

/// The most bytes of all entries, because a cache must not fill a disk. `gpupy cache` and docs/cache.md say it, too.
const MOST_BYTES: u64 = 256 << 20;

/// A disk gives a file whole pages.
const PAGE: u64 = 4096;

/// Bytes that this process may still write to a folder before it looks at what is there.
static LEFT: LazyLock<Mutex<FxHashMap<PathBuf, u64>>> = LazyLock::new(Mutex::default);

/// The folder that has a folder for each driver.
#[derive(Clone, Debug)]
pub struct CacheFolder {
    path: PathBuf,
    most: u64,
}

/// An entry: when it was used, its bytes, where it is.
type KeptEntry = (SystemTime, u64, PathBuf);

impl CacheFolder {
    /// The folder `gpupy` in the first folder that the environment names for caches, if it names one.
    pub fn of_environment() -> Option<CacheFolder> {
        let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let absolute = |name: &str| named(name).filter(|path| path.is_absolute());
        let base = absolute("GPUPY_CACHE_DIR")
            .or_else(|| absolute("XDG_CACHE_HOME"))
            .or_else(|| Some(named("HOME")?.join(".cache")))?;
        Some(CacheFolder { path: base.join("gpupy"), most: MOST_BYTES })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is room for so many bytes more, for which others may have been removed.
    pub fn has_room(&self, bytes: u64) -> bool {
        let bytes = bytes.next_multiple_of(PAGE);
        // A large entry would remove most others.
        if bytes > self.most / 4 {
            return false;
        }
        let mut folders = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        let left = folders.entry(self.path.clone()).or_default();
        if *left < bytes {
            *left = self.make_room(bytes);
        }
        let fits = *left >= bytes;
        *left = left.saturating_sub(bytes);
        fits
    }

    /// Removes entries if there are too many for another; returns how much may be written before the next look.
    fn make_room(&self, bytes: u64) -> u64 {
        let mut entries = self.entries();
        let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        if total + bytes > self.most {
            entries.sort_unstable();
            // A quarter is free afterwards, so that it is not for each entry that all are looked at.
            let enough = self.most - self.most / 4;
            for (_, size, path) in entries {
                if total <= enough {
                    break;
                }
                if is_gone(&fs::remove_file(path)) {
                    total -= size;
                }
            }
        }
        // Other processes write, too.
        self.most.saturating_sub(total).min((self.most / 8).max(bytes))
    }

    /// The entries of all drivers.
    fn entries(&self) -> Vec<KeptEntry> {
        let drivers = files(&self.path).filter(|(_, about)| about.is_dir());
        let entries = drivers.flat_map(|(driver, _)| files(&driver));
        entries.filter_map(|(path, about)| used(path, &about)).collect()
    }
}

/// What is in a folder, links as links; nothing where it cannot be read.
fn files(folder: &Path) -> impl Iterator<Item = (PathBuf, fs::Metadata)> + use<> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| Some((file.path(), file.metadata().ok()?)))
}

/// An entry, by its name, or what is about to become one.
fn used(path: PathBuf, about: &fs::Metadata) -> Option<KeptEntry> {
    let name = path.file_name()?.to_str()?;
    let of = |text: &str, sign: &str| {
        text.bytes().all(|byte| byte.is_ascii_hexdigit() || sign.as_bytes().contains(&byte))
    };
    let new = name.strip_prefix("new-").is_some_and(|rest| of(rest, "-"));
    let is_entry = about.is_file() && (new || name.len() == 32 && of(name, ""));
    let bytes = about.len().next_multiple_of(PAGE);
    is_entry.then_some((about.modified().ok()?, bytes, path))
}

/// Whether a file is no more, by this process or by another.
fn is_gone(removed: &io::Result<()>) -> bool {
    removed.as_ref().err().is_none_or(|error| error.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
pub mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeSet;
    use std::time::Duration;

    /// A folder of its own for a test, with a small bound.
    pub fn of_test(name: &str, most: u64) -> CacheFolder {
        let root = std::env::temp_dir().join(format!("gpupy-{name}-{}", std::process::id()));
        CacheFolder { path: root.join("gpupy"), most }
    }

    /// Writes a file of so many bytes that was used so many hours ago.
    fn put(folder: &CacheFolder, name: &str, bytes: u64, hours: u64) {
        let path = folder.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::create(path).unwrap();
        file.set_len(bytes).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3600 * hours)).unwrap();
    }

    fn entry(driver: &str, number: u64) -> String {
        format!("{driver}/{number:032x}")
    }

    fn names(folder: &CacheFolder) -> BTreeSet<String> {
        let drivers = files(&folder.path).map(|(path, _)| path);
        let names = drivers.flat_map(|driver| files(&driver)).map(|(path, _)| path);
        names.map(|path| path.strip_prefix(&folder.path).unwrap().display().to_string()).collect()
    }

    #[test]
    fn entries_that_were_used_longest_ago_make_room_whichever_driver_wrote_them() {
        let folder = of_test("oldest", 64 * PAGE);
        for number in 0..8 {
            let driver = if number % 2 == 0 { "x" } else { "y" };
            put(&folder, &entry(driver, number), 8 * PAGE, 100 - number);
        }
        let before = names(&folder);
        assert!(folder.has_room(PAGE));
        let removed: Vec<String> = before.difference(&names(&folder)).cloned().collect();
        assert_eq!(removed, [entry("x", 0), entry("y", 1)]);
        // An eighth of the bound goes by without another look; then others are seen that were written meanwhile.
        put(&folder, &entry("x", 9), 16 * PAGE, 200);
        assert!((1..8).all(|_| folder.has_room(PAGE)));
        assert!(names(&folder).contains(&entry("x", 9)));
        assert!(folder.has_room(PAGE));
        assert!(!names(&folder).contains(&entry("x", 9)));
        fs::remove_dir_all(folder.path.parent().unwrap()).unwrap();
    }

    #[test]
    fn many_small_entries_count_as_the_pages_that_a_disk_gives_them() {
        let folder = of_test("small", 16 * PAGE);
        (0..16).for_each(|number| put(&folder, &entry("x", number), 1, 100 - number));
        assert!(folder.has_room(1));
        assert_eq!(names(&folder).len(), 12);
        fs::remove_dir_all(folder.path.parent().unwrap()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_removed_but_entries_and_no_link_is_followed() {
        use std::os::unix::fs::symlink;
        let folder = of_test("theirs", 8 * PAGE);
        let elsewhere = of_test("elsewhere", 8 * PAGE);
        let theirs = ["x/notes.txt".to_owned(), entry("x/deeper", 1), "x/new-words".to_owned()];
        theirs.iter().for_each(|name| put(&folder, name, 8 * PAGE, 99));
        put(&elsewhere, &entry("x", 2), 8 * PAGE, 99);
        symlink(elsewhere.path.join("x"), folder.path.join("y")).unwrap();
        symlink(elsewhere.path.join(entry("x", 2)), folder.path.join(entry("x", 3))).unwrap();
        put(&folder, "x/new-17-0123456789abcdef", 8 * PAGE, 99);
        assert!(folder.has_room(PAGE));
        assert!(elsewhere.path.join(entry("x", 2)).exists());
        assert!(theirs.iter().all(|name| folder.path.join(name).exists()));
        assert!(!folder.path.join("x/new-17-0123456789abcdef").exists());
        fs::remove_dir_all(folder.path.parent().unwrap()).unwrap();
        fs::remove_dir_all(elsewhere.path.parent().unwrap()).unwrap();
    }

    #[test]
    fn an_entry_of_more_than_a_quarter_has_no_room() {
        let folder = of_test("quarter", 8 * PAGE);
        assert!(folder.has_room(2 * PAGE));
        assert!(!folder.has_room(2 * PAGE + 1));
    }
}
