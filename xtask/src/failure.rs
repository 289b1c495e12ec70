//! What can go wrong in a task, as one line for a person.
//!
//! Owns [`Failure`]. Invariant: its text is one lower-case line without a full stop, with what to do where
//! something can be done. Not here: the running of commands, which is where most failures start (`process`).

use std::fmt;

/// Why a task ended early.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure(String);

/// The result of a task or of a part of one.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure that is told in these words.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A failure of the file system at `path`, while it did what `doing` says.
    pub fn file(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self(format!("cannot {doing} `{}`: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Prints how each named part ended; fails if one of them did, naming the parts.
pub fn all_of<const N: usize>(parts: [(&str, Result<()>); N]) -> Result<()> {
    summary(&parts.map(|(name, result)| (name.to_owned(), result)))
}

/// As [`all_of`], for a number of parts that is known only at run time.
pub fn summary(parts: &[(String, Result<()>)]) -> Result<()> {
    println!("\n== summary");
    let mut failed = Vec::new();
    for (name, result) in parts {
        match result {
            Ok(()) => println!("   passed  {name}"),
            Err(failure) => {
                println!("   FAILED  {name}: {failure}");
                failed.push(name.as_str());
            }
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("failed: {}", failed.join(", "))))
    }
}

/// Refuses arguments for a command that has none.
pub fn no_arguments(command: &str, arguments: &[String]) -> Result<()> {
    match arguments.first() {
        None => Ok(()),
        Some(first) => Err(Failure::new(format!("`{command}` takes no argument, got `{first}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_fails_when_one_part_does_and_names_it() {
        let result = all_of([("a", Ok(())), ("b", Err(Failure::new("no"))), ("c", Ok(()))]);
        assert_eq!(result, Err(Failure::new("failed: b")));
        assert_eq!(all_of([("a", Ok(()))]), Ok(()));
    }
}
