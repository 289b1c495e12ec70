//! The reasons why what a flush did is not kept for later flushes of the same structure.
//!
//! Owns [`NotKept`] and its counts, [`NotKeptCounts`]. A loop whose flushes are planned in each turn finds the reason
//! here. Not here: what is kept (`schedule/compiled/`), when the least recently used is forgotten
//! (`schedule/compiled/flush_cache.rs`).

use std::ops::AddAssign;

/// Why a flush is planned again when its structure comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotKept {
    /// It has more values, or more commands, than one that is kept.
    TooLong,
    /// Some elements of one of its values had been computed before.
    PartlyComputed,
    /// Elements decide what is done in host memory.
    OnHost,
    /// Another device than the chosen one took part.
    OtherDevice,
    /// It was compiled anew, as a command failed, or something held what was to be written.
    CompiledAnew,
    /// A command names a value that is none of the flush.
    OtherValue,
    /// There was no room for what it would have stored because it is computed again and again.
    NoRoom,
    /// It was asked for its scalars alone, or keeping is switched off.
    NotWanted,
}

impl NotKept {
    /// All, by the place of their counts.
    pub const ALL: [NotKept; 8] = [
        NotKept::TooLong,
        NotKept::PartlyComputed,
        NotKept::OnHost,
        NotKept::OtherDevice,
        NotKept::CompiledAnew,
        NotKept::OtherValue,
        NotKept::NoRoom,
        NotKept::NotWanted,
    ];

    /// A person's words for it.
    pub fn words(self) -> &'static str {
        match self {
            NotKept::TooLong => "more values or commands than are kept",
            NotKept::PartlyComputed => "a value was partly computed before",
            NotKept::OnHost => "elements decide what is done in host memory",
            NotKept::OtherDevice => "another device took part",
            NotKept::CompiledAnew => "a command failed, or something held what was to be written",
            NotKept::OtherValue => {
                "a command names a value that was computed before and is none of the flush"
            }
            NotKept::NoRoom => "no room for what is computed again and again",
            NotKept::NotWanted => "keeping is switched off",
        }
    }
}

/// How many flushes were not kept, for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotKeptCounts([u64; NotKept::ALL.len()]);

impl NotKeptCounts {
    /// One more was not kept.
    pub fn note(&mut self, reason: NotKept) {
        self.0[reason as usize] += 1;
    }

    /// The reasons that there were, each with its count.
    pub fn reasons(&self) -> impl Iterator<Item = (NotKept, u64)> + '_ {
        NotKept::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

impl AddAssign for NotKeptCounts {
    fn add_assign(&mut self, other: NotKeptCounts) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }
}
