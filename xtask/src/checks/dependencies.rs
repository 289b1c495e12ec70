//! The check of what comes into the build: licences, sources and versions of all dependencies, by `deny.toml`.
//!
//! Owns [`check`]. `cargo deny` reads the same file and checks more (known vulnerabilities, which would fail a run
//! without a change of ours); compiling it takes longer than all that is checked here. Invariants: every package is
//! asked, of each target and feature, tests' too; a package without a licence is refused. Not here: what our own
//! sources have to be like (`lint.rs`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::machine::failure::{Failure, Result};
use crate::machine::process::{capture, cargo};
use crate::machine::workspace;

/// What `deny.toml` allows.
struct Rules {
    allowed: BTreeSet<String>,
    /// A package, and a licence that it alone may have.
    exceptions: Vec<(String, String)>,
}

/// A package of the build, as `cargo tree` shows it: name, version and place; and its licence.
struct Package<'a> {
    name: &'a str,
    place: Option<&'a str>,
    licence: &'a str,
}

/// The registry of public crates.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Asks every dependency; the failure names all that are refused.
pub fn check() -> Result<()> {
    let root = workspace::root();
    let mut tree = cargo();
    tree.args([
        "tree",
        "--locked",
        "--workspace",
        "--edges",
        "all",
        "--target",
        "all",
        "--all-features",
    ]);
    let tree = capture(tree.args(["--prefix", "none", "--format", "{p}|{l}"]))?;
    let packages: Vec<_> = tree.lines().filter_map(package).collect();
    let mut refused = licences(&packages, &Rules::read(&read(&root.join("deny.toml"))?));
    refused.extend(sources(&read(&root.join("Cargo.lock"))?));
    let places = packages.iter().filter_map(|package| package.place);
    let manifests: BTreeSet<PathBuf> =
        places.map(PathBuf::from).chain([root]).map(|folder| folder.join("Cargo.toml")).collect();
    for manifest in &manifests {
        refused.extend(any_versions(manifest, &read(manifest)?));
    }
    let names: BTreeSet<_> = packages.iter().map(|package| package.name).collect();
    println!("   {} packages", names.len());
    if refused.is_empty() { Ok(()) } else { Err(Failure::new(refused.join("; "))) }
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))
}

/// The package of a line of the tree.
fn package(line: &str) -> Option<Package<'_>> {
    let (package, licence) = line.trim_end_matches(" (*)").split_once('|')?;
    let (name, rest) = package.split_once(' ')?;
    let place = rest.find("(/").map(|start| rest[start + 1..].trim_end_matches(')'));
    Some(Package { name, place, licence })
}

impl Rules {
    /// The rules in a text like `deny.toml`.
    fn read(text: &str) -> Self {
        let section = text.split_once("[licenses]").map_or("", |(_, rest)| rest);
        let section = section.split_once("\n[").map_or(section, |(section, _)| section);
        let list =
            |name: &str| section.split_once(&format!("\n{name} = [")).map_or("", |(_, rest)| rest);
        let allowed = list("allow").split_once(']').map_or("", |(list, _)| list);
        let mut exceptions = Vec::new();
        let listed = list("exceptions").split_once("}]").map_or("", |(list, _)| list);
        for exception in listed.split('{').skip(1) {
            if let Some((licences, name)) = exception.split_once("crate =") {
                let name = quoted(name).next().unwrap_or_default();
                exceptions
                    .extend(quoted(licences).map(|licence| (name.to_owned(), licence.to_owned())));
            }
        }
        Self { allowed: quoted(allowed).map(str::to_owned).collect(), exceptions }
    }
}

/// The texts between quotation marks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

/// What is wrong with licences: those that are not allowed, and those that are allowed for nothing.
fn licences(packages: &[Package<'_>], rules: &Rules) -> Vec<String> {
    let (mut refused, mut met) = (BTreeSet::new(), BTreeSet::new());
    for package in packages {
        let is_allowed = |licence: &str| {
            let exception = (package.name.to_owned(), licence.to_owned());
            rules.allowed.contains(licence) || rules.exceptions.contains(&exception)
        };
        let words = words(package.licence);
        met.extend(words.iter().map(|word| (package.name, word.clone())));
        let choice = LicenceChoice { words: &words, is_allowed: &is_allowed };
        if !choice.satisfied() {
            refused.insert(format!("`{}` has the licence `{}`", package.name, package.licence));
        }
    }
    for licence in &rules.allowed {
        if !met.iter().any(|(_, word)| word == licence) {
            refused.insert(format!("`{licence}` is allowed, and nothing has it"));
        }
    }
    for (name, licence) in &rules.exceptions {
        if !met.contains(&(name.as_str(), licence.clone())) {
            refused.insert(format!("`{name}` may have `{licence}`, and has not"));
        }
    }
    refused.into_iter().collect()
}

/// The words of an expression: licences, with their exceptions, and what joins them.
fn words(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words: Vec<String> = Vec::new();
    let mut parts = spaced.split_whitespace();
    while let Some(part) = parts.next() {
        match (part, words.last_mut(), parts.clone().next()) {
            ("WITH", Some(licence), Some(exception)) => {
                licence.push_str(&format!(" WITH {exception}"));
                parts.next();
            }
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// An expression of licences, and which of them are allowed.
struct LicenceChoice<'a> {
    words: &'a [String],
    is_allowed: &'a dyn Fn(&str) -> bool,
}

impl LicenceChoice<'_> {
    /// Whether licences that are allowed satisfy it. What is no expression satisfies nothing.
    fn satisfied(mut self) -> bool {
        let found = self.any();
        found == Some(true) && self.words.is_empty()
    }

    fn any(&mut self) -> Option<bool> {
        let mut found = self.all()?;
        while self.takes("OR") {
            found |= self.all()?;
        }
        Some(found)
    }

    fn all(&mut self) -> Option<bool> {
        let mut found = self.one()?;
        while self.takes("AND") {
            found &= self.one()?;
        }
        Some(found)
    }

    fn one(&mut self) -> Option<bool> {
        if self.takes("(") {
            let found = self.any()?;
            return self.takes(")").then_some(found);
        }
        let (word, rest) = self.words.split_first()?;
        self.words = rest;
        Some((self.is_allowed)(word))
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.first().is_some_and(|first| first == word);
        self.words = if found { &self.words[1..] } else { self.words };
        found
    }
}

/// The packages that come from elsewhere than the registry of public crates.
fn sources(lock: &str) -> Vec<String> {
    let sources = lock.lines().filter_map(|line| line.strip_prefix("source = "));
    let foreign: BTreeSet<_> = sources
        .map(|source| source.trim_matches('"'))
        .filter(|source| *source != REGISTRY)
        .collect();
    foreign.into_iter().map(|source| format!("a package comes from `{source}`")).collect()
}

/// The dependencies in a manifest that may be of any version.
fn any_versions(path: &Path, manifest: &str) -> Vec<String> {
    let any = manifest.lines().filter(|line| line.replace(' ', "").contains("=\"*\""));
    any.map(|line| format!("`{}` in {} names no version", line.trim(), path.display())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "[licenses]\nallow = [\n    \"MIT\",\n    \"X WITH Y\",\n]\n\
        exceptions = [{ allow = [\"MPL-2.0\"], crate = \"odd\" }]\n[bans]\nallow = [\"Evil\"]\n";

    fn refused(tree: &str) -> Vec<String> {
        let packages: Vec<_> = tree.lines().filter_map(package).collect();
        licences(&packages, &Rules::read(RULES))
    }

    /// With packages that have all that is allowed.
    fn refused_beside(line: &str) -> Vec<String> {
        refused(&format!("a v1|MIT\nb v1|X WITH Y\nodd v1|MPL-2.0 (*)\n{line}"))
    }

    #[test]
    fn what_deny_toml_allows_is_read() {
        let rules = Rules::read(RULES);
        assert_eq!(rules.allowed.iter().collect::<Vec<_>>(), ["MIT", "X WITH Y"]);
        assert_eq!(rules.exceptions, [("odd".to_owned(), "MPL-2.0".to_owned())]);
    }

    #[test]
    fn expressions_are_satisfied_by_what_is_allowed() {
        for allowed in
            ["MIT OR Evil", "Evil/MIT", "(Evil OR MIT) AND X WITH Y", "MIT AND (MIT)", "X WITH Y"]
        {
            assert_eq!(refused_beside(&format!("c v1|{allowed}")), [""; 0], "{allowed}");
        }
        for wrong in
            ["", "Evil", "MIT AND Evil", "X", "MIT OR", "(MIT", "MIT Evil", "MIT WITH Y", "MPL-2.0"]
        {
            let wanted = format!("`c` has the licence `{wrong}`");
            assert_eq!(refused_beside(&format!("c v1|{wrong}")), [wanted], "{wrong}");
        }
    }

    #[test]
    fn what_is_allowed_for_nothing_is_refused() {
        let wanted =
            ["`X WITH Y` is allowed, and nothing has it", "`odd` may have `MPL-2.0`, and has not"];
        assert_eq!(refused("a v1|MIT\nodd v1|MIT"), wanted);
    }

    #[test]
    fn packages_from_elsewhere_and_of_any_version_are_refused() {
        let lock =
            format!("[[package]]\nsource = \"{REGISTRY}\"\nsource = \"git+https://x.y/z\"\n");
        assert_eq!(sources(&lock), ["a package comes from `git+https://x.y/z`"]);
        let manifest = "[dependencies]\na = \"1\"\nb = \"*\"\nc = { version = \"*\" }\n";
        assert_eq!(any_versions(Path::new("M"), manifest).len(), 2);
    }

    #[test]
    fn a_package_of_the_workspace_has_its_folder() {
        let found = package("gpupy-core v0.1.0 (/work/crates/gpupy-core)|MIT OR Apache-2.0 (*)");
        assert_eq!(
            found.map(|p| (p.name, p.place)),
            Some(("gpupy-core", Some("/work/crates/gpupy-core")))
        );
        let found = package("serde_derive v1.0.2 (proc-macro)|MIT");
        assert_eq!(
            found.map(|p| (p.name, p.place, p.licence)),
            Some(("serde_derive", None, "MIT"))
        );
    }
}
