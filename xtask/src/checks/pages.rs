//! Tests of the documents: every path, environment variable and command that a page names exists, and so does
//! every file that the documentation of the code names.
//!
//! Owns nothing at run time. Pages are the Markdown files of the root and of `docs/`. Not here: the Python code
//! of pages, which `examples/tests/` runs, and their headings, which `site.rs` checks.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::COMMANDS;
use crate::machine::workspace;

/// Folders of the repository that a path in a page starts with.
const FOLDERS: [&str; 7] =
    ["crates/", "docs/", "examples/", "benches/", "tests/", "xtask/", ".ci/"];

/// Every file below `folder` that has one of these extensions.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| extensions.iter().any(|&x| e == x)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Every page with its text.
fn pages() -> Vec<(PathBuf, String)> {
    let root = workspace::root();
    let top = fs::read_dir(&root).unwrap().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        top.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    paths.extend(files(&root.join("docs"), &["md"]));
    assert!(paths.iter().any(|path| path.ends_with("README.md")), "no README.md in {root:?}");
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

/// The words of a text that look like gpupy's environment variables.
fn variables(text: &str) -> BTreeSet<&str> {
    let part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.split(|c| !part(c))
        .filter(|word| word.len() > "GPUPY_".len() && word.starts_with("GPUPY_"))
        .collect()
}

/// The repository's paths that a page names: in code marks, and as the target of a link.
fn paths(text: &str) -> BTreeSet<&str> {
    let codes = text.split('`').skip(1).step_by(2).filter(|code| {
        FOLDERS.iter().any(|folder| code.starts_with(folder))
            && !code.contains([' ', '*', '<', '\n'])
    });
    let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let links = links.map(|(target, _)| target.split('#').next().unwrap_or_default());
    let links = links.filter(|target| !target.is_empty() && !target.contains(':'));
    codes.chain(links).collect()
}

/// The words that follow `cargo xtask` on one line.
fn commands(text: &str) -> BTreeSet<&str> {
    text.split("cargo xtask ")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric()).next())
        .filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase()))
        .collect()
}

#[test]
fn every_environment_variable_in_a_page_exists_in_the_code() {
    let mut code = String::new();
    for folder in ["crates", "tests"] {
        for file in files(&workspace::root().join(folder), &["rs", "py"]) {
            code += &fs::read_to_string(file).unwrap_or_default();
        }
    }
    let known = variables(&code);
    for (page, text) in pages() {
        for variable in variables(&text) {
            assert!(known.contains(variable), "{page:?} names `{variable}`, which no code reads");
        }
    }
}

#[test]
fn every_path_in_a_page_exists() {
    let root = workspace::root();
    for (page, text) in pages() {
        for path in paths(&text) {
            // Links are relative to their page; paths in code marks start at the root.
            let beside = page.parent().unwrap().join(path);
            assert!(
                root.join(path).exists() || beside.exists(),
                "{page:?} names `{path}`, which is not there"
            );
        }
    }
}

/// The tests that guard invariants, which a page names in code marks: sentences of four words or more.
fn guards(text: &str) -> BTreeSet<&str> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.matches('_').count() >= 3 && !code.starts_with('_'))
        .filter(|code| code.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect()
}

#[test]
fn every_guard_of_an_invariant_is_a_test() {
    let root = workspace::root();
    let page = fs::read_to_string(root.join("docs/invariants.md")).unwrap();
    let sources: String = ["crates", "tests", "xtask"]
        .iter()
        .flat_map(|folder| files(&root.join(folder), &["rs", "py"]))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let guards = guards(&page);
    assert!(guards.len() > 10, "only {guards:?}");
    let is_there = |name: &str| {
        sources.contains(&format!("fn {name}(")) || sources.contains(&format!("def {name}("))
    };
    let missing: Vec<_> = guards.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "docs/invariants.md names tests that do not exist: {missing:?}");
}

#[test]
fn every_decision_is_in_the_index_and_has_its_headings() {
    let folder = workspace::root().join("docs/decisions");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let pages: Vec<PathBuf> =
        files(&folder, &["md"]).into_iter().filter(|page| !page.ends_with("README.md")).collect();
    assert!(pages.len() > 20, "only {pages:?}");
    for page in pages {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        assert!(index.contains(&format!("]({name})")), "the index of decisions lacks {name}");
        let text = fs::read_to_string(&page).unwrap();
        let headings: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let wanted = ["Context", "Decision", "Figures", "Alternatives", "Status"];
        assert_eq!(headings, wanted, "headings of {name}");
    }
}

/// The files of the repository's kinds that a line of documentation names.
fn named_files(line: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    let words = line.split(move |c| !part(c)).map(|word| word.trim_end_matches(['.', '/']));
    words.filter(|word| {
        let (path, extension) = word.rsplit_once('.').unwrap_or_default();
        matches!(extension, "rs" | "py" | "h") && !path.is_empty() && !path.starts_with('/')
    })
}

/// The crate, or the folder of the root, that a file belongs to.
fn unit(file: &Path) -> PathBuf {
    let depth = if file.starts_with("crates") || file.starts_with("benches") { 2 } else { 1 };
    file.iter().take(depth).collect()
}

#[test]
fn every_file_that_documentation_names_exists() {
    let root = workspace::root();
    let folders = ["crates", "benches", "docs", "tests", "xtask", "fuzz", "include", "examples"];
    let all: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| files(&root.join(folder), &["rs", "py", "h"]))
        .filter_map(|path| path.strip_prefix(&root).ok().map(Path::to_path_buf))
        .collect();
    let mut seen = 0;
    let mut missing = Vec::new();
    for file in all.iter().filter(|file| file.extension().is_some_and(|e| e == "rs")) {
        let unit = unit(file);
        let text = fs::read_to_string(root.join(file)).unwrap();
        let docs = text.lines().map(str::trim_start).filter(|line| line.starts_with("//"));
        let docs = docs.filter(|line| line.starts_with("//!") || line.starts_with("///"));
        for name in docs.flat_map(named_files) {
            seen += 1;
            // A file of the same crate is named by the end of its path; others by their paths, from the root
            // or `crates/` on.
            let is_there = all.iter().any(|path| {
                path.starts_with(&unit) && path.ends_with(name)
                    || path == Path::new(name)
                    || path.strip_prefix("crates").is_ok_and(|path| path == Path::new(name))
            });
            if !is_there {
                missing.push(format!("{} names `{name}`", file.display()));
            }
        }
    }
    assert!(seen > 500, "only {seen} names of files");
    assert!(missing.is_empty(), "files that are not there: {missing:#?}");
}

#[test]
fn every_xtask_command_in_a_page_exists() {
    let mut seen = 0;
    for (page, text) in pages() {
        for command in commands(&text) {
            seen += 1;
            let known = COMMANDS.iter().any(|task| task.name == command);
            assert!(known, "{page:?} names `cargo xtask {command}`, which is no command");
        }
    }
    assert!(seen > 0, "no page names a command");
}

#[test]
fn what_a_page_names_is_found() {
    let text = "Set `GPUPY_DRIVER=soft`, see [x](docs/a.md#b) or `crates/gpupy-core/src`; `cargo xtask demo`.";
    assert_eq!(variables(text), BTreeSet::from(["GPUPY_DRIVER"]));
    assert_eq!(paths(text), BTreeSet::from(["docs/a.md", "crates/gpupy-core/src"]));
    assert_eq!(commands(text), BTreeSet::from(["demo"]));
    let line = "//! In `owned_elements.rs` and `gpupy-py/src/convert/array_export.rs`; see README.md, not `.rs` nor x.rsx.";
    assert!(named_files(line).eq(["owned_elements.rs", "gpupy-py/src/convert/array_export.rs"]));
}
