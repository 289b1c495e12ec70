//! The ratchet of imports: imports between the files of a crate that go upwards or in a circle are listed, and
//! the list can only shrink.
//!
//! Owns the parser of imports and the comparison with `xtask/imports.txt`. The page of a crate may list folders
//! in order, one a line in its first block of text; then no file may import from a later folder. In any crate,
//! an import is in a circle when it leads back to its file. Tests may import anything. A folder's page counts
//! as a file; its declarations are not imports.
//!
//! Not here: imports between crates, which Cargo checks, and those of Python (`python_imports.rs`).

use crate::machine::workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The list, from the root.
const LIST: &str = "xtask/imports.txt";

/// For each file of a crate, by its path in `src` without the ending, the files that it imports.
pub(super) type Imports = BTreeMap<String, BTreeSet<String>>;

/// A source without comments and without its tests.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..end].lines();
    lines.map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The paths of a tree of imports such as `crate::a::{b, c::{self, d}}`.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default().trim();
        paths.push(format!("{prefix}{path}"));
        return;
    };
    let inner = rest.strip_suffix('}').unwrap_or(rest);
    let prefix = format!("{prefix}{}", head.trim());
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[start..at].trim().is_empty() {
                    expand(&prefix, &inner[start..at], paths);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// The paths within its crate that a source names, in `use` and elsewhere.
fn paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for (at, root) in ["crate::", "super::", "self::"]
        .iter()
        .flat_map(|root| code.match_indices(root))
        .filter(|(at, _)| !code[..*at].ends_with(part))
    {
        let rest = &code[at..];
        let is_use = code[..at].trim_end().ends_with("use");
        let end = match is_use {
            true => rest.find(';'),
            false => rest[root.len()..].find(|c| !part(c)).map(|end| end + root.len()),
        };
        expand("", &rest[..end.unwrap_or(rest.len())], &mut paths);
    }
    paths
}

/// The file that a path refers to, seen from a file.
fn meant(path: &str, from: &str, files: &BTreeSet<String>) -> Option<String> {
    let module = |file: &str| -> Vec<String> {
        let parts: Vec<_> = file.split('/').map(str::to_owned).collect();
        match parts.last().map(String::as_str) {
            Some("mod" | "lib" | "main") => parts[..parts.len() - 1].to_vec(),
            _ => parts,
        }
    };
    let mut at = module(from);
    for part in path.split("::") {
        match part {
            "crate" => at.clear(),
            "super" => drop(at.pop()),
            "self" => {}
            part => at.push(part.to_owned()),
        }
    }
    (1..=at.len()).rev().find_map(|len| {
        let name = at[..len].join("/");
        [name.clone(), format!("{name}/mod")].into_iter().find(|name| files.contains(name))
    })
}

/// The imports between the files of a crate, without its page and its tests.
fn imports(src: &Path) -> Imports {
    let mut found = BTreeMap::new();
    let mut stack: Vec<PathBuf> = vec![src.to_owned()];
    while let Some(folder) = stack.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(src).unwrap().with_extension("");
            let name = name.to_string_lossy().replace('\\', "/");
            let is_test = name.split('/').any(|part| part == "tests");
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") && name != "lib" && !is_test {
                found.insert(name, code(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let files: BTreeSet<String> = found.keys().cloned().collect();
    let of = |(from, code): (&String, &String)| {
        let to = paths(code).iter().filter_map(|path| meant(path, from, &files)).collect();
        (from.clone(), to)
    };
    let mut imports: Imports = found.iter().map(of).collect();
    for (from, to) in &mut imports {
        to.remove(from);
    }
    imports
}

/// The files that a file imports, directly or through others.
fn reached(imports: &Imports, from: &str) -> BTreeSet<String> {
    let (mut seen, mut stack) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(file) = stack.pop() {
        for to in imports.get(&file).into_iter().flatten() {
            if seen.insert(to.clone()) {
                stack.push(to.clone());
            }
        }
    }
    seen
}

/// The folders that a crate's page lists in its first block of text, in their order.
fn order(page: &str, src: &Path) -> Vec<String> {
    let page = page.lines().map_while(|line| line.strip_prefix("//!"));
    let block = page.skip_while(|line| line.trim() != "```text").skip(1);
    let lines = block.take_while(|line| line.trim() != "```");
    let words = lines.filter_map(|line| line.split_whitespace().next());
    words.filter(|word| src.join(word).is_dir()).map(str::to_owned).collect()
}

/// The imports of a crate that go upwards or in a circle, as lines of the list.
pub(super) fn against(imports: &Imports, order: &[String]) -> Vec<String> {
    let place = |file: &str| {
        let lies_in = |folder: &String| {
            file.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        order.iter().position(lies_in)
    };
    let mut lines = Vec::new();
    for (from, all) in imports {
        for to in all {
            let up = place(from).zip(place(to)).is_some_and(|(from, to)| to > from);
            if up || reached(imports, to).contains(from) {
                lines.push(format!("{from} -> {to}{}", if up { " (up)" } else { "" }));
            }
        }
    }
    lines
}

#[test]
fn no_import_goes_up_or_in_a_circle_but_those_that_are_listed() {
    let root = workspace::root();
    let mut found = BTreeSet::new();
    let mut crates: Vec<PathBuf> =
        fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    crates.extend(["tests", "fuzz", "xtask"].map(|name| root.join(name)));
    for folder in crates {
        let src = folder.join("src");
        let page = ["lib.rs", "main.rs"].map(|name| fs::read_to_string(src.join(name)));
        let page = page.into_iter().find_map(Result::ok).unwrap_or_default();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let lines = against(&imports(&src), &order(&page, &src));
        found.extend(lines.into_iter().map(|line| format!("{name}: {line}")));
    }
    let list = fs::read_to_string(root.join(LIST)).unwrap();
    let listed: BTreeSet<String> =
        list.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(new.is_empty(), "these imports go up or in a circle: {new:#?}");
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(gone.is_empty(), "these are no more, so that {LIST} can lose them: {gone:#?}");
}

#[test]
fn imports_are_read_from_trees_and_from_paths() {
    let text = "use crate::a::{b, c::{self, D}};\nfn f() { super::g::h(1); } // crate::no\n";
    let found = paths(&code(text));
    assert_eq!(found, ["crate::a::b", "crate::a::c::self", "crate::a::c::D", "super::g::h"]);
    let files = ["a/b", "a/c", "x/g", "x/y", "x/mod"].map(str::to_owned).into();
    assert_eq!(meant("crate::a::c::D", "x/y", &files).as_deref(), Some("a/c"));
    assert_eq!(meant("super::g::h", "x/y", &files).as_deref(), Some("x/g"));
    assert_eq!(meant("super::Z", "x/y", &files).as_deref(), Some("x/mod"));
    assert_eq!(meant("self::g", "x/mod", &files).as_deref(), Some("x/g"));
}

#[test]
fn what_goes_up_and_what_goes_in_a_circle_is_found() {
    let edge = |from: &str, to: &str| (from.to_owned(), BTreeSet::from([to.to_owned()]));
    let imports = BTreeMap::from([edge("a/x", "b/y"), edge("b/y", "b/z"), edge("b/z", "b/y")]);
    let order = ["a", "b"].map(str::to_owned);
    assert_eq!(against(&imports, &order), ["a/x -> b/y (up)", "b/y -> b/z", "b/z -> b/y"]);
    assert_eq!(against(&imports, &[]), ["b/y -> b/z", "b/z -> b/y"]);
    let inner = BTreeMap::from([edge("c/a/x", "c/b/y"), edge("c/b/y", "c/ab/z")]);
    let order = ["c/a", "c/b"].map(str::to_owned);
    assert_eq!(against(&inner, &order), ["c/a/x -> c/b/y (up)"]);
}
