//! The failure of a task, as one line for a person.
//!
//! Owns [`Failure`]. Invariant: its text is one lower-case line without a full stop, with a remedy if there is
//! one. Not here: running commands, where most failures start (`process`), the parts of a task (`steps`).

use std::fmt;

/// The reason why a task ended early.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure(String);

/// The result of a task or of a part of one.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A failure of the file system at `path`, during the action that `doing` describes.
    pub fn file(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self(format!("cannot {doing} `{}`: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
