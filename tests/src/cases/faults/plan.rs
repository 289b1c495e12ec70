//! The planned faults, and their times.
//!
//! Owns [`Plan`] and [`Call`], the functions of the contract that can fail, each with its kinds of errors.
//!
//! Not here: the driver that fails (`faulty.rs`).

use gpupy_core::ErrorKind;
use std::fmt;

/// A function of the contract that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Init,
    Alloc,
    Read,
    Write,
    Check,
    Eval,
}

impl Call {
    pub const ALL: [Call; 6] =
        [Call::Init, Call::Alloc, Call::Read, Call::Write, Call::Check, Call::Eval];

    /// The function's name.
    pub fn name(self) -> &'static str {
        match self {
            Call::Init => "init",
            Call::Alloc => "block_alloc",
            Call::Read => "block_read",
            Call::Write => "block_write",
            Call::Check => "check_ir",
            Call::Eval => "eval_ir",
        }
    }

    /// The ways in which it may fail. A poisoned write or evaluation fails later: it succeeds, but its elements
    /// cannot be read.
    pub fn kinds(self) -> &'static [ErrorKind] {
        match self {
            Call::Init => &[ErrorKind::Unavailable],
            Call::Alloc => &[ErrorKind::OutOfMemory, ErrorKind::DeviceLost],
            Call::Read => &[ErrorKind::DeviceLost, ErrorKind::Poisoned],
            Call::Write => &[ErrorKind::DeviceLost, ErrorKind::Poisoned],
            Call::Check => &[ErrorKind::Unsupported],
            Call::Eval => &[
                ErrorKind::OutOfMemory,
                ErrorKind::Refused,
                ErrorKind::DeviceLost,
                ErrorKind::Poisoned,
            ],
        }
    }
}

/// How many calls of the function fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    Once,
    /// This many calls in a row.
    Times(usize),
    ForEver,
}

/// Which calls of which function fail, and how.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub call: Call,
    pub kind: ErrorKind,
    /// The calls of the function before the first one that fails.
    pub after: usize,
    pub lasts: Lasts,
}

impl Plan {
    /// Whether the call fails that comes after so many others.
    pub fn strikes(&self, call: Call, before: usize) -> bool {
        let end = match self.lasts {
            Lasts::Once => self.after + 1,
            Lasts::Times(times) => self.after + times,
            Lasts::ForEver => usize::MAX,
        };
        self.call == call && (self.after..end).contains(&before)
    }

    /// Whether it takes elements away that are only on the device.
    pub fn loses(&self) -> bool {
        matches!(self.kind, ErrorKind::DeviceLost | ErrorKind::Poisoned)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lasts = match self.lasts {
            Lasts::Once => "once".to_string(),
            Lasts::Times(times) => format!("{times} times"),
            Lasts::ForEver => "for ever".to_string(),
        };
        write!(
            f,
            "{} after {} calls of {}, {lasts}",
            self.kind.words(),
            self.after,
            self.call.name()
        )
    }
}
