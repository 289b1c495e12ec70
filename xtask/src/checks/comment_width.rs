//! A test of comments: a comment in a Rust source ends within 120 columns.
//!
//! Owns the limit, and the search for comments beyond it. rustfmt leaves comments as they are, so nothing else holds
//! it. Columns are counted in characters. Invariant: the test fails for a longer line with a comment in any source of
//! the workspace, its tests, examples and benchmarks included, and there are no exceptions.
//!
//! Not here: lines of code (`rustfmt.toml`), lines of Python (`pyproject.toml`).

use super::unique_names::sources;
use crate::machine::workspace;
use std::fs;

/// Columns of a line that has a comment.
const MAX_COLUMNS: usize = 120;

/// Folders with sources of the workspace, from the root.
const FOLDERS: [&str; 6] = ["benches", "crates", "examples", "fuzz", "tests", "xtask"];

/// Whether a line is a comment, or ends with one: it has two slashes that are not inside quotation marks.
fn has_comment(line: &str) -> bool {
    line.match_indices("//").any(|(at, _)| line[..at].matches('"').count().is_multiple_of(2))
}

/// The numbers of the lines whose comments are too long, with their columns.
fn too_long(text: &str) -> Vec<(usize, usize)> {
    let columns = text.lines().map(|line| (line, line.chars().count()));
    let long = (1..).zip(columns).filter(|(_, (line, n))| *n > MAX_COLUMNS && has_comment(line));
    long.map(|(number, (_, columns))| (number, columns)).collect()
}

#[test]
fn no_comment_goes_beyond_120_columns() {
    let root = workspace::root();
    let files: Vec<_> = FOLDERS.iter().flat_map(|folder| sources(&root.join(folder))).collect();
    assert!(files.len() > 500, "{} sources were found: is the list of folders right?", files.len());
    let mut found = Vec::new();
    for path in files {
        let place = path.strip_prefix(&root).unwrap_or(&path);
        for (number, columns) in too_long(&fs::read_to_string(&path).unwrap()) {
            found.push(format!("{}:{number}: {columns} columns", place.display()));
        }
    }
    assert!(found.is_empty(), "comments end within {MAX_COLUMNS} columns:\n{}", found.join("\n"));
}

#[test]
fn long_comments_are_found_and_long_strings_are_not() {
    let long = |start: &str| format!("{start}{}", "é".repeat(MAX_COLUMNS - start.chars().count()));
    for start in ["//! ", "    /// ", "let x = \"//\"; // "] {
        let (fits, exceeds) = (long(start), long(start) + "é");
        let text = format!("{fits}\n\n{exceeds}\n");
        assert_eq!(too_long(&text), [(3, MAX_COLUMNS + 1)], "{text}");
    }
    let address = long("let x = \"https://") + "\";";
    assert_eq!(too_long(&address), []);
}
