//! A test of the number of thresholds: it does not grow.
//!
//! Owns the number, and the count of constants that choose or limit outside the structs of thresholds. A threshold is
//! where two sizes of one program begin to take two ways, so each is a place for a cliff, and the law in
//! `CONTRIBUTING.md` says when there may be another: a special case needs two programs that it was not tuned for and
//! that gain too, and hardware that someone owns; `tune` times both sides, or it is a price in the one cost. Invariant:
//! the number is exact, so that one that goes makes the number less, and a new one takes its place or is a change of
//! this line, in a commit with those programs.
//!
//! Not here: the words of each threshold (`tune.rs`), sizes of tables and formats.

use super::tune;
use crate::machine::workspace;
use std::fs;
use std::path::{Path, PathBuf};

/// The thresholds of all crates: the fields of their structs, and constants elsewhere.
const THRESHOLDS: usize = 306;

/// The first words of the documentation of a constant that is a threshold.
const FIRST_WORDS: [&str; 6] =
    ["The most ", "The fewest ", "The least ", "The longest ", "The largest ", "The shortest "];

/// The names of such constants begin with these.
const FIRST_LETTERS: [&str; 5] = ["FEW", "LEAST_", "MAX_", "MIN_", "MOST"];

/// The types of numbers that choose.
const TYPES: [&str; 9] = ["usize", "isize", "u8", "u16", "u32", "u64", "i64", "f64", "Duration"];

/// The name of the constant of a number on a line.
fn constant(line: &str) -> Option<&str> {
    let (before, rest) = line.trim().split_once("const ")?;
    let (name, rest) = rest.split_once(": ")?;
    let kind = rest.split_once(" = ")?.0;
    let is_item = before.is_empty() || before.starts_with("pub");
    (is_item && TYPES.contains(&kind)).then_some(name)
}

/// The constants of a source that are thresholds by their words or names.
fn constants(text: &str) -> Vec<&str> {
    let (mut found, mut words) = (Vec::new(), None);
    for line in text.lines().map(str::trim) {
        if let Some(told) = line.strip_prefix("///") {
            words = words.or(Some(told.trim()));
            continue;
        }
        if let Some(name) = constant(line) {
            let chooses = |words: &str| FIRST_WORDS.iter().any(|first| words.starts_with(first));
            let is_called = FIRST_LETTERS.iter().any(|first| name.starts_with(first));
            if words.is_some_and(chooses) || is_called {
                found.push(name);
            }
        }
        words = words.filter(|_| line.starts_with("#["));
    }
    found
}

/// The sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let of = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false => vec![path],
    };
    entries.flat_map(of).filter(|path| path.extension().is_some_and(|e| e == "rs")).collect()
}

#[test]
fn the_number_of_thresholds_does_not_grow() {
    let crates = fs::read_dir(workspace::root().join("crates")).unwrap();
    let files = crates.flat_map(|entry| sources(&entry.unwrap().path().join("src")));
    let texts: Vec<_> = files.map(|path| fs::read_to_string(path).unwrap()).collect();
    let elsewhere: usize = texts.iter().map(|text| constants(text).len()).sum();
    let fields = tune::thresholds().len();
    assert_eq!(
        fields + elsewhere,
        THRESHOLDS,
        "{fields} thresholds are fields and {elsewhere} are constants elsewhere: a new one takes the place of an old \
         one, or names two programs that it was not tuned for; with fewer, `THRESHOLDS` is less"
    );
}

#[test]
fn constants_that_choose_are_told_by_their_words_or_names() {
    let text = "/// The most rows.\n/// Of all.\n#[cfg(unix)]\npub(crate) const ROWS: usize = 8;\n\
                const MOST_ROWS: u32 = 8;\n/// The most words.\nconst NAME: &str = \"a\";\n\
                /// Bytes of a page.\nconst PAGE: usize = 4096;\nfn most() {}\n";
    assert_eq!(constants(text), ["ROWS", "MOST_ROWS"]);
}
