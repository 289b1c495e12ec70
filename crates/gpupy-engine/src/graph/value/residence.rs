//! Residence: when elements come to host memory because a program goes through them in little pieces.
//!
//! Owns the one counter of a value's little accesses ([`LittleAccesses`]) and the one rule about it. In host memory a
//! little write is a move, and operations on little are eager. A pending value is computed part by part otherwise, each
//! read of a part with a kernel, and each write with a copy of the rest if something was read in between: of a million
//! elements, a thousand times their number. The rule: all elements come once the accesses have cost as much as that
//! takes, so that a program never pays more than twice the price of the better way. Reads and writes cost about the
//! same, and count together; a value that a little write makes goes on with the count of the old one. Of a value that
//! is computed on a device, single elements are brought, and then their block. Invariant: residence changes no element.
//!
//! Not here: how elements come to host memory (`context/host_promotion.rs`, `execute/transfer.rs`).

use super::{Value, ValueKind};
use crate::thresholds::T;
use std::sync::atomic::{AtomicU32, Ordering};

/// How often little of a value was read or written while it was not in host memory, reads and writes together.
pub(crate) struct LittleAccesses {
    /// With those of the values before it, of which little writes made it.
    all: AtomicU32,
    /// Those of the values before it.
    before: u32,
}

impl LittleAccesses {
    /// So many of the values before.
    pub fn after(before: u32) -> LittleAccesses {
        LittleAccesses { all: AtomicU32::new(before), before }
    }

    fn all(&self) -> u32 {
        self.all.load(Ordering::Relaxed)
    }

    /// One more; gives those until then.
    fn add(&self) -> u32 {
        self.all.fetch_add(1, Ordering::Relaxed)
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
            true => self.0.accesses.all().saturating_add(1),
            false => 0,
        }
    }

    /// Whether so many writes to the value were little that a further one of so many elements is stored in its place,
    /// and not joined to what is around it.
    pub(crate) fn is_often_accessed(&self, elements: usize) -> bool {
        self.0.accesses.all() >= T.joined_writes && is_little(elements, self.len())
    }

    /// Whether all elements had better be in host memory for a little write, which is counted in the new value.
    pub(crate) fn comes_for_write(&self) -> bool {
        self.has_paid(self.0.accesses.all().saturating_add(1))
    }

    /// As `comes_for_write`, of elements that a device computes: only where many little writes came one after another.
    pub(crate) fn comes_from_device(&self) -> bool {
        let writes = self.0.accesses.all().saturating_add(1);
        !self.is_open()
            && writes >= T.promoted_writes
            && self.len() <= T.promoted_from_device.saturating_mul(writes as usize)
    }

    /// Whether all elements are in host memory, and the caller has the only handle.
    pub(crate) fn is_there_alone(&self) -> bool {
        !self.is_shared() && self.is_there()
    }

    /// Whether all elements are in host memory.
    pub(crate) fn is_there(&self) -> bool {
        matches!(self.0.kind, ValueKind::Host(_) | ValueKind::Expr { .. })
            && self.state().on_host.covers(0..self.len())
    }

    /// Whether they had better be there for an operation that reads little of the value; counts the read.
    pub(crate) fn comes_for_read(&self) -> bool {
        // The first read may be the only one, and part of another kernel.
        self.has_paid(self.0.accesses.add())
    }

    /// Whether the block of an element that is read by itself had better be there; counts the read. Reads of the values
    /// before do not count for that: their blocks were others.
    pub(crate) fn comes_for_element(&self) -> bool {
        let accesses = &self.0.accesses;
        accesses.add().wrapping_sub(accesses.before) >= T.single_reads
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
