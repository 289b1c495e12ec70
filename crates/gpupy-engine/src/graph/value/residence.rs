//! Residence: when elements come to host memory because a program goes through them in little pieces.
//!
//! Owns the one counter of a value's little accesses ([`LittleAccesses`]) and the one rule about it. In host memory a
//! little write is a move, and operations on little are eager. A pending value is computed part by part otherwise, each
//! read of a part with a kernel, and each write with a copy of the rest if something was read in between: of a million
//! elements, a thousand times their number. The rule: all elements come once the accesses have cost as much as that
//! takes, so that a program never pays more than twice the price of the better way. Reads and writes cost about the
//! same, and count together; a value that a little write makes goes on with the count of the old one. Invariant:
//! residence changes no element.
//!
//! Not here: how elements come to host memory (`context/host_promotion.rs`, `execute/transfer.rs`).

use super::{Value, ValueKind};
use crate::thresholds::T;
use std::sync::atomic::{AtomicU32, Ordering};

/// How often little of a value was read or written while it was not in host memory, reads and writes together.
pub(crate) struct LittleAccesses(AtomicU32);

impl LittleAccesses {
    /// So many.
    pub fn new(accesses: u32) -> LittleAccesses {
        LittleAccesses(AtomicU32::new(accesses))
    }

    fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// One more; gives those before.
    fn add(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Whether so many elements of so many are little for a write.
pub(crate) fn is_little(elements: usize, base: usize) -> bool {
    elements == 1 || is_part(elements, base)
}

/// Whether so many elements are few, and a small part of so many.
pub(crate) fn is_part(elements: usize, base: usize) -> bool {
    elements <= T.most_points && elements.saturating_mul(T.little_part) <= base
}

impl Value {
    /// The little accesses of the value that a write of so many elements to this one makes.
    pub(crate) fn accesses_after_write(&self, elements: usize) -> u32 {
        match is_little(elements, self.len()) {
            true => self.0.accesses.get().saturating_add(1),
            false => 0,
        }
    }

    /// Whether so many writes to the value were little that a further one of so many elements is stored in its place,
    /// and not joined to what is around it.
    pub(crate) fn is_often_accessed(&self, elements: usize) -> bool {
        self.0.accesses.get() >= T.joined_writes && is_little(elements, self.len())
    }

    /// Whether all elements had better be in host memory for a little write, which is counted in the new value.
    pub(crate) fn comes_for_write(&self) -> bool {
        self.has_paid(self.0.accesses.get().saturating_add(1))
    }

    /// Whether they had better be there for an operation that reads little of the value; counts the read.
    pub(crate) fn comes_for_read(&self) -> bool {
        // The first read may be the only one, and part of another kernel.
        self.has_paid(self.0.accesses.add())
    }

    /// Whether a block had better be there that has one element, which is read by itself; counts the read.
    pub(crate) fn comes_for_element(&self) -> bool {
        self.0.accesses.add() >= T.single_reads
    }

    /// Whether so many accesses have cost as much as to compute and to move all elements.
    fn has_paid(&self, accesses: u32) -> bool {
        let share = match self.0.kind {
            ValueKind::Constant(_) => T.promoted_constant,
            _ => T.promoted_share,
        };
        !self.is_open() && self.len() <= share.saturating_mul(accesses as usize)
    }
}
