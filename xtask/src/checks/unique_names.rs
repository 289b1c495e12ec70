//! A test of names: a type name means one thing in the workspace, and a file name one duty.
//!
//! Owns the search for names with several definitions, and the comparison with `xtask/names.txt`, a strict list with a
//! reason for each name. Types of nested modules count too; associated types, and the names of pages and of files of
//! tests, do not. Invariant: the test fails for a doubled name that is not listed, and for a
//! listed one that is no longer doubled.
//!
//! Not here: imports between files (`imports.rs`), files that comments name (`pages.rs`).

use super::strict_list::compare;
use crate::machine::workspace;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The list, from the root.
const LIST: &str = "xtask/names.txt";

/// Files whose name tells their place, not their duty.
const PAGES: [&str; 4] = ["mod", "lib", "main", "tests"];

/// The name of the type that a line of source defines.
fn defined(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let is_nested = code.len() < line.len();
    let code = match code.strip_prefix("pub") {
        Some(rest) => match rest.strip_prefix('(') {
            Some(scope) => scope.split_once(") ")?.1,
            None => rest.strip_prefix(' ')?,
        },
        None => code,
    };
    let code = code.strip_prefix("unsafe ").unwrap_or(code);
    let (kind, rest) = code.split_once(' ')?;
    let is_alias = kind == "type";
    let is_type = is_alias || ["struct", "enum", "trait", "union"].contains(&kind);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let is_name = rest.starts_with(|c: char| c.is_ascii_uppercase());
    (is_type && is_name && !(is_alias && is_nested)).then_some(&rest[..end])
}

/// Every Rust source below a folder, in order.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The names with more than one definition, as `type Name` or `file name`, and where each is defined.
fn doubled(files: impl Iterator<Item = (PathBuf, String)>) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in files {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !PAGES.contains(&stem.as_str()) {
            all.entry(format!("file {stem}")).or_default().push(path.display().to_string());
        }
        for (line, number) in text.lines().zip(1..) {
            if let Some(name) = defined(line) {
                let place = format!("{}:{number}", path.display());
                all.entry(format!("type {name}")).or_default().push(place);
            }
        }
    }
    all.retain(|_, places| places.len() > 1);
    all
}

#[test]
fn no_name_means_two_things_but_those_that_are_listed() {
    let root = workspace::root();
    let crates = fs::read_dir(root.join("crates")).unwrap();
    let mut folders: Vec<PathBuf> =
        crates.map(|entry| entry.unwrap().path().join("src")).filter(|src| src.is_dir()).collect();
    folders.push(root.join("xtask/src"));
    let files = folders.iter().flat_map(|folder| sources(folder)).map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(&root).unwrap().to_owned(), text)
    });
    compare(&doubled(files), LIST);
}

#[test]
fn definitions_are_read_from_lines() {
    let names = [
        ("pub struct Plan {", Some("Plan")),
        ("    pub(super) enum Step<'a> {", Some("Step")),
        ("pub unsafe trait Lanes: Copy {", Some("Lanes")),
        ("type Point = Vec<usize>;", Some("Point")),
        ("    type Out = RowFn;", None),
        ("pub fn plan() {}", None),
        ("// struct Plan", None),
        ("public struct Plan", None),
    ];
    for (line, name) in names {
        assert_eq!(defined(line), name, "{line}");
    }
}

#[test]
fn doubled_types_and_files_are_found() {
    let files =
        [("a/plan.rs", "struct A;\n"), ("b/plan.rs", "enum A {}\n"), ("b/mod.rs", "struct B;")];
    let files = files.map(|(path, text)| (PathBuf::from(path), text.to_owned()));
    let found = doubled(files.into_iter());
    assert_eq!(found.keys().collect::<Vec<_>>(), ["file plan", "type A"]);
    assert_eq!(found["type A"], ["a/plan.rs:1", "b/plan.rs:1"]);
}
