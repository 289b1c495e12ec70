//! The ratchet of the Python package: its folders import one way, its files in no circle, its functions nothing.
//!
//! Owns the parser of Python's imports. The order of the folders is that of their table in `ARCHITECTURE.md`, which has
//! each of them; a file may import from its own folder and from earlier ones. An import of the package's own inside a
//! function has a comment above it that says why, and counts like any other. `import gpupy`, the namespace as programs
//! see it, counts nowhere, nor does what only type checkers read. Invariant: there are no exceptions.
//!
//! Not here: imports between Rust's files (`imports.rs`), entries of folders (`folders.rs`), modules that are imported
//! by a name in a string.

use super::imports::{Imports, against};
use super::unique_names;
use crate::machine::workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The package, from the root.
const PACKAGE: &str = "crates/gpupy-py/python/gpupy";

/// The page with the order of the folders, and the heading of their table.
const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Folders of the Python package";

/// Lines of a file that a reader has in mind at once.
const MAX_LINES: usize = 500;

/// An import statement.
#[derive(Debug, PartialEq)]
struct PythonImport {
    /// The module, with the dots of a relative one; the names that are taken from it.
    module: String,
    names: Vec<String>,
    /// The number of its line, whether that is inside a function, and whether a comment is above it.
    line: usize,
    is_inside: bool,
    has_reason: bool,
}

/// A name without its other name.
fn unnamed(name: &str) -> String {
    name.split(" as ").next().unwrap_or_default().trim().to_owned()
}

/// The import statements of a source, but those for type checkers alone.
fn statements(text: &str) -> Vec<PythonImport> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut found, mut is_text) = (Vec::new(), false);
    // The blocks around a line, by their indentation: functions, and those for type checkers.
    let mut blocks: Vec<(usize, bool)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let was_text = is_text;
        is_text ^= line.matches("\"\"\"").count() % 2 == 1;
        let code = line.trim();
        if was_text || code.is_empty() || code.starts_with(['#', ')', ']', '}']) {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        blocks.retain(|(outer, _)| *outer < indent);
        if code.starts_with("def ") || code.starts_with("async def ") {
            blocks.push((indent, true));
        } else if code.starts_with("if TYPE_CHECKING") {
            blocks.push((indent, false));
        }
        let is_import = code.starts_with("import ");
        if blocks.iter().any(|(_, is_function)| !is_function)
            || !(is_import || code.starts_with("from ") && code.contains(" import "))
        {
            continue;
        }
        let uncommented =
            |line: &&str| line.split('#').next().unwrap_or_default().trim().to_owned();
        let end = match code.contains('(') {
            true => at + lines[at..].iter().position(|line| line.contains(')')).unwrap_or(0),
            false => at,
        };
        let whole = lines[at..=end].iter().map(uncommented).collect::<Vec<_>>().join(" ");
        let mut add = |module: String, names: Vec<String>| {
            found.push(PythonImport {
                module,
                names,
                line: at + 1,
                is_inside: !blocks.is_empty(),
                has_reason: at > 0 && lines[at - 1].trim().starts_with('#'),
            });
        };
        match whole.strip_prefix("import ") {
            Some(modules) => modules.split(',').for_each(|name| add(unnamed(name), Vec::new())),
            None => {
                let (module, names) = whole["from ".len()..].split_once(" import ").unwrap();
                let names = names.trim_matches(['(', ')', ' ']).split(',').map(unnamed);
                add(module.trim().to_owned(), names.filter(|name| !name.is_empty()).collect());
            }
        }
    }
    found
}

/// The files of the package that an import means, seen from a file; none where it is of other packages.
fn meant(import: &PythonImport, from: &str, files: &BTreeSet<String>) -> BTreeSet<String> {
    let dots = import.module.chars().take_while(|c| *c == '.').count();
    let mut at: Vec<&str> = match dots {
        0 => Vec::new(),
        dots => {
            let folders: Vec<_> = from.split('/').collect();
            folders[..folders.len().saturating_sub(dots)].to_vec()
        }
    };
    let mut parts = import.module[dots..].split('.').filter(|part| !part.is_empty()).peekable();
    if dots == 0 && parts.next() != Some("gpupy") {
        return BTreeSet::new();
    }
    at.extend(parts);
    let file = |parts: &[&str]| {
        let name = parts.join("/");
        [format!("{name}/__init__"), name].into_iter().find(|name| files.contains(name))
    };
    let mut found = BTreeSet::new();
    for name in import.names.iter().map(String::as_str).chain(import.names.is_empty().then_some(""))
    {
        let inner: Vec<_> = at.iter().copied().chain((!name.is_empty()).then_some(name)).collect();
        found.extend(file(&inner).or_else(|| file(&at)));
    }
    found
}

/// The sources of the package by their paths without the ending, but its own page.
fn sources(package: &Path) -> BTreeMap<String, String> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![package.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(package).unwrap().with_extension("");
            let name = name.to_string_lossy().replace('\\', "/");
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "py") && name != "__init__" {
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// The folders in the table below the heading of a page, in their order.
fn order(page: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| *line != HEADING).skip(1);
    let rows = lines.take_while(|line| !line.starts_with("## ")).filter(|l| l.starts_with("| `"));
    rows.filter_map(|row| row.split('`').nth(1)).map(str::to_owned).collect()
}

/// What the imports of these sources do against the order of their folders, in words.
fn mistakes(sources: &BTreeMap<String, String>, order: &[String]) -> Vec<String> {
    let files: BTreeSet<String> = sources.keys().cloned().collect();
    let (mut imports, mut words) = (Imports::new(), Vec::new());
    for (from, text) in sources {
        let mut all = BTreeSet::new();
        for import in statements(text) {
            let to = meant(&import, from, &files);
            if import.is_inside && !import.has_reason && !to.is_empty() {
                words.push(format!("{from}:{}: nothing says why it is in a function", import.line));
            }
            all.extend(to);
        }
        all.remove(from);
        imports.insert(from.clone(), all);
    }
    let folders = files.iter().filter_map(|file| file.split_once('/')).map(|(folder, _)| folder);
    let listed: BTreeSet<&str> = order.iter().map(String::as_str).collect();
    for folder in folders.collect::<BTreeSet<_>>().symmetric_difference(&listed) {
        words.push(format!("{folder}: it is there and not in {PAGE}, or the other way round"));
    }
    words.extend(against(&imports, order));
    words
}

#[test]
fn folders_of_the_python_package_import_one_way() {
    let root = workspace::root();
    let order = order(&fs::read_to_string(root.join(PAGE)).unwrap());
    assert!(!order.is_empty(), "{PAGE} has no table below `{HEADING}`");
    let found = mistakes(&sources(&root.join(PACKAGE)), &order);
    assert!(found.is_empty(), "these imports go up, in a circle, or into functions: {found:#?}");
}

#[test]
fn no_file_of_the_python_package_is_long() {
    let sources = sources(&workspace::root().join(PACKAGE));
    let long = sources.iter().filter(|(_, text)| text.lines().count() > MAX_LINES);
    let long: Vec<_> = long.map(|(name, _)| name).collect();
    assert!(long.is_empty(), "these have more than {MAX_LINES} lines: {long:?}");
}

#[test]
fn rust_names_no_module_of_the_package() {
    let sources = unique_names::sources(&workspace::root().join("crates/gpupy-py/src"));
    let names = |text: &str| text.replace("\"gpupy._gpupy", "").contains("\"gpupy._");
    let found: Vec<_> =
        sources.iter().filter(|path| names(&fs::read_to_string(path).unwrap())).collect();
    assert!(found.is_empty(), "`session/python_objects.rs` has what Rust calls: {found:#?}");
}

#[test]
fn imports_are_read_where_they_are_statements() {
    let text = r#""""A page
from .no import a
"""
import os, gpupy as np
from . import a, b as c
from ..x.y import (  # why
    d,
    e,
)

if TYPE_CHECKING:
    from .types import T


def f(
    one,
):
    # Here.
    from .z import g

    import pandas
"#;
    let found = statements(text);
    let short: Vec<_> = found.iter().map(|i| (&*i.module, i.names.join(" "), i.line)).collect();
    let names = |words: &str| words.to_owned();
    let wanted = [
        ("os", names(""), 4),
        ("gpupy", names(""), 4),
        (".", names("a b"), 5),
        ("..x.y", names("d e"), 6),
        (".z", names("g"), 19),
        ("pandas", names(""), 21),
    ];
    assert_eq!(short, wanted);
    let inside: Vec<_> = found.iter().map(|i| (i.is_inside, i.has_reason)).collect();
    assert_eq!(inside[3..], [(false, false), (true, true), (true, false)]);
}

#[test]
fn an_import_means_a_file_or_a_name_in_it() {
    let files: BTreeSet<String> = ["_a/x", "_a/__init__", "_b/y", "top"].map(str::to_owned).into();
    let meant = |text: &str, from: &str| -> Vec<String> {
        meant(&statements(text)[0], from, &files).into_iter().collect()
    };
    assert_eq!(meant("from .._a.x import f", "_b/y"), ["_a/x"]);
    assert_eq!(meant("from .._a import x, f", "_b/y"), ["_a/__init__", "_a/x"]);
    assert_eq!(meant("from . import x", "_a/__init__"), ["_a/x"]);
    assert_eq!(meant("from gpupy._b import y", "top"), ["_b/y"]);
    assert_eq!(meant("import gpupy._b.y", "top"), ["_b/y"]);
    for other in ["import gpupy", "import numpy", "from .._gpupy import call"] {
        assert_eq!(meant(other, "_b/y"), [""; 0], "{other}");
    }
}

#[test]
fn each_mistake_is_found() {
    let check = |files: &[(&str, &str)], order: &[&str]| {
        let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        let order: Vec<_> = order.iter().map(|folder| (*folder).to_owned()).collect();
        mistakes(&files.iter().map(own).collect(), &order)
    };
    let line = [("_a/x", "from .._b import y\n"), ("_b/y", "import gpupy\n")];
    assert_eq!(check(&line, &["_b", "_a"]), [""; 0]);
    assert_eq!(check(&line, &["_a", "_b"]), ["_a/x -> _b/y (up)"]);
    assert_eq!(check(&line, &["_b"]).len(), 1, "a folder that is not listed");
    assert_eq!(check(&line, &["_b", "_c", "_a"]).len(), 1, "one that is not there");
    let circle =
        [("_a/x", "from . import y\n"), ("_a/y", "def f():\n    # Late.\n    from . import x\n")];
    assert_eq!(check(&circle, &["_a"]), ["_a/x -> _a/y", "_a/y -> _a/x"]);
    let late = [("_a/x", "def f():\n    from .y import z\n"), ("_a/y", "")];
    assert_eq!(check(&late, &["_a"]), ["_a/x:2: nothing says why it is in a function"]);
}
