//! A test of folders: a folder of sources has at most 14 entries.
//!
//! Owns the count, and the comparison with `xtask/folders.txt`, a strict list with a reason for each exception. Every
//! entry counts, the folder's page included; files that a build or a run leaves do not. Invariant: the test fails for a
//! larger folder that is not listed, and for a listed one that has become small.
//!
//! Not here: the order of folders (`imports.rs`).

use super::strict_list::compare;
use crate::machine::workspace;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The list, from the root.
const LIST: &str = "xtask/folders.txt";

/// Entries that a reader surveys at a glance.
const MAX_ENTRIES: usize = 14;

/// Whether an entry is a source, or a folder of sources.
fn is_source(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_library =
        ["so", "pyd", "pyc"].iter().any(|ending| name.ends_with(&format!(".{ending}")));
    !is_library && !name.starts_with('.') && name != "__pycache__"
}

/// The folders at and below these that have more entries than they may have, by their path from the root, and how many.
fn crowded(root: &Path, mut folders: Vec<PathBuf>) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let entries: Vec<_> = entries.filter(|path| is_source(path)).collect();
        if entries.len() > MAX_ENTRIES {
            let path = folder.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            found.insert(path, entries.len());
        }
        folders.extend(entries.into_iter().filter(|path| path.is_dir()));
    }
    found
}

#[test]
fn no_folder_of_sources_has_more_than_14_entries_but_those_that_are_listed() {
    let root = workspace::root();
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let others = ["tests", "fuzz", "xtask"].map(|name| root.join(name));
    let mut folders: Vec<PathBuf> =
        crates.chain(others).map(|path| path.join("src")).filter(|src| src.is_dir()).collect();
    folders.push(root.join("crates/gpupy-py/python"));
    compare(&crowded(&root, folders), LIST);
}

#[test]
fn entries_are_counted_in_each_folder() {
    let root = std::env::temp_dir().join(format!("gpupy-xtask-folders-{}", std::process::id()));
    let inner = root.join("src/inner");
    fs::create_dir_all(inner.join("__pycache__")).unwrap();
    for file in 0..MAX_ENTRIES {
        fs::write(inner.join(format!("{file}.rs")), "").unwrap();
    }
    fs::write(inner.join("module.so"), "").unwrap();
    let few = crowded(&root, vec![root.join("src")]);
    fs::write(inner.join("mod.rs"), "").unwrap();
    let many = crowded(&root, vec![root.join("src")]);
    fs::remove_dir_all(&root).unwrap();
    assert_eq!(few, BTreeMap::new());
    assert_eq!(many, BTreeMap::from([("src/inner".to_owned(), MAX_ENTRIES + 1)]));
}
