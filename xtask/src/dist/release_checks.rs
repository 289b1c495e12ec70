//! Checks of a release by the tools of those that take it: GitHub's forms, PyPI's metadata.
//!
//! Owns the list of forms. Not here: the checks of each change (`checks`), and of what is in a wheel
//! (`xtask/wheel/contents.py`).

use std::fs;
use std::path::{Path, PathBuf};

use crate::machine::failure::{Failure, Result};
use crate::machine::{process, workspace};

/// The schema of each form, and the file, or the folder of files, that have it.
const FORMS: [(&str, &str); 4] = [
    ("vendor.github-workflows", ".github/workflows"),
    ("vendor.github-issue-forms", ".github/ISSUE_TEMPLATE"),
    ("vendor.github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
    ("vendor.citation-file-format", "CITATION.cff"),
];

/// Checks that what other programs read has the form that they expect.
pub fn forms(tools: &Path) -> Result<()> {
    process::announce("forms of workflows, issues and the citation");
    for (schema, place) in FORMS {
        let mut check = process::command(tools);
        check.args(["-m", "check_jsonschema", "--builtin-schema", schema]);
        process::run(check.args(files(&workspace::root().join(place))?))?;
    }
    Ok(())
}

/// Checks the metadata of all that is built.
pub fn metadata(tools: &Path, out: &Path) -> Result<()> {
    process::announce("metadata");
    let mut twine = process::command(tools);
    process::run(twine.args(["-m", "twine", "check", "--strict"]).args(files(out)?))
}

/// A file, or the files of a folder but its settings, in order.
fn files(place: &Path) -> Result<Vec<PathBuf>> {
    if place.is_file() {
        return Ok(vec![place.to_path_buf()]);
    }
    let files = fs::read_dir(place).map_err(|error| Failure::file("read", place, &error))?;
    let mut files: Vec<_> = files.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.is_file() && !file.ends_with("config.yml"));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_there_and_settings_are_no_issue_form() {
        for (schema, place) in FORMS {
            let files = files(&workspace::root().join(place)).unwrap_or_default();
            assert!(!files.is_empty(), "{schema}");
            let settings = files.iter().any(|file| file.ends_with("config.yml"));
            assert_eq!(settings, place.ends_with("config.yml"), "{schema}");
        }
    }
}
