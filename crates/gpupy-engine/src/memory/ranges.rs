//! Sets of element positions, kept as few sorted ranges.
//!
//! Owns [`Ranges`], in which values keep their evaluated map: which elements (always whole blocks
//! of some driver) are known. Ranges, not one bit a block, because drivers differ in block length.
//! Invariant: ranges are sorted, not empty, and neither touch nor overlap.
//!
//! Not here: blocks (`tiling.rs`).

use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// A set of positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(SmallVec<[Range<usize>; 1]>);

impl Ranges {
    /// The set of `0..len`.
    pub fn full(len: usize) -> Ranges {
        if len == 0 { Ranges::default() } else { Ranges(smallvec![0..len]) }
    }

    /// True when every position of `range` is in the set.
    pub fn covers(&self, range: Range<usize>) -> bool {
        range.is_empty() || self.0.iter().any(|r| r.start <= range.start && range.end <= r.end)
    }

    /// The positions of `range` that are not in the set, in order.
    pub fn gaps(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut rest = Ranges::default();
        rest.insert(range);
        self.0.iter().for_each(|known| rest.remove(known.clone()));
        rest.0.into_vec()
    }

    /// Adds positions.
    pub fn insert(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let from = self.0.partition_point(|r| r.end < range.start);
        let to = self.0.partition_point(|r| r.start <= range.end);
        let start = self
            .0
            .get(from)
            .filter(|_| from < to)
            .map_or(range.start, |r| r.start.min(range.start));
        let end = if from < to { self.0[to - 1].end.max(range.end) } else { range.end };
        self.0.drain(from..to);
        self.0.insert(from, start..end);
    }

    /// Takes positions away.
    pub fn remove(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.0 = std::mem::take(&mut self.0)
            .into_iter()
            .flat_map(|r| [r.start..r.end.min(range.start), r.start.max(range.end)..r.end])
            .filter(|r| r.start < r.end)
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_set_of_ranges_is_a_set(
            steps in prop::collection::vec((any::<bool>(), 0usize..40, 0usize..12), 0..30)
        ) {
            let mut ranges = Ranges::default();
            let mut bits = [false; 64];
            for (insert, start, len) in steps {
                bits[start..start + len].fill(insert);
                if insert { ranges.insert(start..start + len) } else { ranges.remove(start..start + len) }
            }
            for start in 0..64 {
                for end in start + 1..=64 {
                    prop_assert_eq!(ranges.covers(start..end), bits[start..end].iter().all(|b| *b));
                }
            }
            let gaps = ranges.gaps(3..60);
            let mut missing = gaps.iter().cloned().flatten();
            prop_assert!((3..60).filter(|at| !bits[*at]).all(|at| missing.next() == Some(at)));
            prop_assert_eq!(missing.next(), None);
            prop_assert!(ranges.0.windows(2).all(|w| w[0].end < w[1].start));
        }
    }
}
