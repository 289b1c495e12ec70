//! Strict lists of exceptions: a line has a name, a colon and a reason.
//!
//! Owns their reading and [`compare`]. Invariant: a check fails for a name that is not listed, and for a listed one
//! that is no exception any more.
//!
//! Not here: what is an exception (`unique_names.rs`, `folders.rs`).

use crate::machine::workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::fs;

/// The names of a list.
fn names(file: &str, list: &str) -> BTreeSet<String> {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let name = |line: &str| {
        let (name, reason) = line.split_once(": ").unwrap_or((line, ""));
        assert!(!reason.trim().is_empty(), "{file}: `{line}` has no reason");
        name.to_owned()
    };
    lines.map(name).collect()
}

/// Compares what was found, each name with its facts, with the list in a file, whose path is from the root.
pub fn compare<T: Debug>(found: &BTreeMap<String, T>, file: &str) {
    let listed = names(file, &fs::read_to_string(workspace::root().join(file)).unwrap());
    let new: BTreeMap<_, _> = found.iter().filter(|(name, _)| !listed.contains(*name)).collect();
    assert!(new.is_empty(), "change these, or list them in {file} with a reason: {new:#?}");
    let gone: Vec<_> = listed.iter().filter(|name| !found.contains_key(*name)).collect();
    assert!(
        gone.is_empty(),
        "these are no exceptions any more, so {file} can lose them: {gone:#?}"
    );
}

#[test]
fn a_list_has_names_with_reasons() {
    let list = "# a list\n\ntype A: one duty\na/b: a reason\n";
    assert_eq!(names("list.txt", list), ["a/b", "type A"].map(str::to_owned).into());
}

#[test]
#[should_panic(expected = "has no reason")]
fn a_listed_name_without_a_reason_is_an_error() {
    names("list.txt", "type A\n");
}
