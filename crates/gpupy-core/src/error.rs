//! The error type of all crates.
//!
//! Owns [`Error`] and [`ErrorKind`]. Invariant: an error displays as one line,
//! `operation: what happened (key: value, …)`.
//!
//! Not here: the mapping to Python's exceptions (the Python module has it, in one place).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The kind of an error, which a caller can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The device has no room. Freeing memory may help.
    OutOfMemory,
    /// The driver cannot do this operation, dtype or form at all.
    Unsupported,
    /// The device refused a program that `check_ir` accepted. A smaller one may succeed.
    Refused,
    /// The device is lost, with the contents of its blocks.
    DeviceLost,
    /// A value was on a lost device, and cannot be computed again.
    Lost,
    /// The driver cannot start on this machine.
    Unavailable,
    /// Shapes do not broadcast, or a shape does not fit.
    Shape,
    /// An index is outside its axis.
    Index,
    /// A dtype does not fit the operation.
    DType,
    /// A name is unknown.
    Unknown,
    /// A program, handle or argument is malformed: an error of the caller.
    Invalid,
    /// The evaluation of the value failed before; the source says how.
    Poisoned,
    /// The user interrupted the program. Computed values are kept.
    Interrupted,
    /// The elements of the array were disposed of.
    Disposed,
    /// The value depends on arguments of a function that is being recorded, and has no elements.
    Open,
    /// A file, or an object in place of one, cannot be read or written.
    File,
    /// The thread that asks reads elements for an evaluation, which cannot be waited for.
    Busy,
}

impl ErrorKind {
    /// The kind in words.
    pub const fn words(self) -> &'static str {
        match self {
            ErrorKind::OutOfMemory => "out of memory",
            ErrorKind::Unsupported => "not supported",
            ErrorKind::Refused => "refused by the device",
            ErrorKind::DeviceLost => "device lost",
            ErrorKind::Lost => "lost with its device",
            ErrorKind::Unavailable => "not available",
            ErrorKind::Shape => "shapes do not fit",
            ErrorKind::Index => "index out of range",
            ErrorKind::DType => "wrong dtype",
            ErrorKind::Unknown => "unknown name",
            ErrorKind::Invalid => "invalid argument",
            ErrorKind::Poisoned => "evaluation failed earlier",
            ErrorKind::Interrupted => "interrupted; what is computed stays",
            ErrorKind::Disposed => "disposed of",
            ErrorKind::Open => "not known while recording",
            ErrorKind::File => "file cannot be used",
            ErrorKind::Busy => "busy with an evaluation that waits for this",
        }
    }
}

/// An error: its kind, the failed operation, a message, facts, and the cause.
#[derive(Clone)]
pub struct Error(Box<ErrorDetails>);

#[derive(Clone)]
struct ErrorDetails {
    kind: ErrorKind,
    operation: Cow<'static, str>,
    message: Option<String>,
    facts: Vec<(Cow<'static, str>, String)>,
    done: u32,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// A result with gpupy's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `kind` in `operation`.
    pub fn new(kind: ErrorKind, operation: impl Into<Cow<'static, str>>) -> Error {
        Error(Box::new(ErrorDetails {
            kind,
            operation: operation.into(),
            message: None,
            facts: Vec::new(),
            done: 0,
            source: None,
        }))
    }

    /// Sets a message in place of the kind's words; lower case, no full stop.
    pub fn says(mut self, message: impl Into<String>) -> Error {
        self.0.message = Some(message.into());
        self
    }

    /// Adds a fact, unless it is there already.
    pub fn with(mut self, key: impl Into<Cow<'static, str>>, value: impl ToString) -> Error {
        let (key, value) = (key.into(), value.to_string());
        if self.fact(&key) != Some(&value) {
            self.0.facts.push((key, value));
        }
        self
    }

    /// Adds a fact, unless there is one of this name.
    pub fn with_default(self, key: &'static str, value: impl ToString) -> Error {
        if self.fact(key).is_some() { self } else { self.with(key, value) }
    }

    /// Adds the cause.
    pub fn from_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Says that so many launches of a sequence are done.
    pub fn after(mut self, launches: usize) -> Error {
        self.0.done = launches.try_into().unwrap_or(u32::MAX);
        self
    }

    /// How many launches of a sequence are done (`driver::Sequence`).
    pub fn done(&self) -> usize {
        self.0.done as usize
    }

    /// The kind, to act on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed.
    pub fn operation(&self) -> &str {
        &self.0.operation
    }

    /// The message without operation and facts.
    pub fn message(&self) -> &str {
        self.0.message.as_deref().unwrap_or(self.0.kind.words())
    }

    /// The facts, in the order in which they were added.
    pub fn facts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.facts.iter().map(|(k, v)| (&**k, v.as_str()))
    }

    /// The value of one fact.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts().find(|(k, _)| *k == key).map(|(_, v)| v)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operation(), self.message())?;
        for (i, (key, value)) in self.facts().enumerate() {
            write!(f, "{}{key}: {value}", if i == 0 { " (" } else { ", " })?;
        }
        if !self.0.facts.is_empty() {
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        match &self.0.source {
            Some(source) => write!(f, ": {source:?}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|s| &**s as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_with_its_facts() {
        let error = Error::new(ErrorKind::OutOfMemory, "block_alloc")
            .with("driver", "gl")
            .with("bytes", 1 << 30)
            .with("driver", "gl");
        assert_eq!(error.to_string(), "block_alloc: out of memory (driver: gl, bytes: 1073741824)");
    }
}
