//! The outcome of a case.
//!
//! Owns [`Outcome`]: a case continues with `?` and stops at the first wrong result, or at the first thing that
//! the driver does not claim to support.
//!
//! Not here: the evaluation of outcomes (`suite.rs`).

use gpupy_core::{Error, ErrorKind};
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a case ended early.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The driver does not claim to do this.
    Skip(String),
    /// The driver does not do what it claims.
    Fail(String),
}

/// How a case ended.
pub type Outcome<T = ()> = Result<T, Stop>;

pub fn fail<T>(said: impl Into<String>) -> Outcome<T> {
    Err(Stop::Fail(said.into()))
}

pub fn skip<T>(reason: impl Into<String>) -> Outcome<T> {
    Err(Stop::Skip(reason.into()))
}

/// Fails with a message unless the condition holds.
pub fn ensure(holds: bool, said: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { fail(said()) }
}

/// A driver's answer, which must not be an error; `what` describes the call.
pub fn fine<T>(answer: Result<T, Error>, what: &str) -> Outcome<T> {
    answer.or_else(|error| fail(format!("{what}: {error}")))
}

/// Fails unless a driver answered with an error of this kind; `what` describes the call.
pub fn refused<T: Debug>(answer: Result<T, Error>, kind: ErrorKind, what: &str) -> Outcome {
    match answer {
        Err(error) if error.kind() == kind => Ok(()),
        Err(error) => fail(format!("{what}: not `{kind:?}`, but {error}")),
        Ok(answer) => fail(format!("{what}: not `{kind:?}`, but {answer:?}")),
    }
}

/// A panic as a failure.
pub fn guarded<T>(case: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    catch_unwind(AssertUnwindSafe(case)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        fail(format!("panicked: {said}"))
    })
}
