//! What the module is built from is what the tests are built from: each dependency has the same features in both, so
//! that it, and all that depends on it, is built once.
//!
//! Owns the comparison. Not here: the features of this machine (`features`).

use crate::machine::features;
use crate::machine::process::{capture, cargo};
use std::collections::BTreeSet;

/// A line for each crate of a tree: its name, its version and its features.
fn tree(arguments: &[&str], features: &[&str]) -> BTreeSet<String> {
    let mut tree = cargo();
    tree.args(["tree", "--quiet", "--prefix", "none", "--format", "{p} {f}"]);
    let lines =
        capture(tree.args(arguments).args(features)).expect("Cargo knows its own workspace");
    // A crate that was shown before is marked.
    lines.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn the_module_and_the_tests_are_built_from_the_same() {
    let module = ["--package", "gpupy-py", "--edges", "normal,build"];
    let module = tree(&module, features::of_module());
    let tests = tree(&["--workspace", "--edges", "all"], features::of_workspace());
    let other: Vec<_> = module.difference(&tests).collect();
    assert!(
        other.is_empty(),
        "the tests are built with other features of these: name them in crates/gpupy-py/Cargo.toml, too: {other:#?}"
    );
}
