//! Recomputation counts: how much of a pending value was computed inside kernels of other values.
//!
//! Owns [`Passed`], which a value keeps, and [`PartialRead`], which tells reads of so few elements that they are no
//! reason to compute the whole value.
//!
//! Not here: when the count is a reason to store the value (`schedule/walk/rematerialisation.rs`).

use crate::memory::access;
use crate::memory::ranges::Ranges;
use crate::thresholds::T;
use gpupy_core::driver::Access;
use gpupy_core::shape::size_of;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::ops::Range;

/// Whether reading so many elements of a value is no reason to compute all of them.
pub(crate) fn is_narrow(read: usize, all: usize) -> bool {
    read <= all / T.narrow_part
}

/// How often a pending value was computed for others.
#[derive(Default)]
pub(crate) struct Passed {
    /// Positions that were computed, and stored nowhere, where those between the first and the last were, too.
    positions: Ranges,
    /// Walks over other positions. Those of two different ones may lie between each other.
    scattered: SmallVec<[u64; 2]>,
    /// Points that were computed though they had been before.
    again: usize,
}

impl Passed {
    /// The points that were computed again, were these, too; `None` where they were not computed before.
    pub fn again_with(&self, read: &PartialRead) -> Option<usize> {
        let again = self.again.saturating_add(read.points).saturating_add(T.launch_points);
        self.knows(read).then_some(again)
    }

    /// All that the counts are, in words.
    pub fn words(&self, mut push: impl FnMut(u64)) {
        push(2 << 40 | self.scattered.len() as u64);
        push(self.again as u64);
        self.scattered.iter().for_each(|walk| push(*walk));
        for range in self.positions.iter() {
            push(range.start as u64);
            push(range.end as u64);
        }
        push(u64::MAX);
    }

    /// Whether this was computed before.
    fn knows(&self, read: &PartialRead) -> bool {
        self.positions.covers(read.reach.clone())
            || read.scattered.is_some_and(|walk| self.scattered.contains(&walk))
    }

    /// Notes that it was computed.
    pub fn note(&mut self, read: PartialRead) {
        if self.knows(&read) {
            self.again = self.again.saturating_add(read.points).saturating_add(T.launch_points);
        }
        match read.scattered {
            None => self.positions.insert(read.reach),
            Some(walk)
                if self.scattered.len() < T.scattered_walks && !self.scattered.contains(&walk) =>
            {
                self.scattered.push(walk);
            }
            Some(_) => {}
        }
    }
}

/// The elements that a kernel reads of a value.
#[derive(Clone)]
pub(crate) struct PartialRead {
    /// The positions from the first to the last.
    pub reach: Range<usize>,
    points: usize,
    /// The key of the walk over them, where it skips some of them.
    scattered: Option<u64>,
}

impl PartialRead {
    /// The elements that an access reaches over a space.
    pub fn of(access: &Access, space: &[usize]) -> PartialRead {
        let reach = access::reach(access, space);
        let points = size_of(space).min(reach.len());
        let scattered = (points < reach.len()).then(|| {
            let mut hash = FxHasher::default();
            (access.offset, &access.strides[..], space).hash(&mut hash);
            hash.finish()
        });
        PartialRead { reach, points, scattered }
    }
}
