//! Sets of element positions, kept as few sorted ranges.
//!
//! Owns [`Ranges`]. A value keeps its evaluated map in one: the elements that are computed, always whole blocks of some
//! driver. Ranges are used, rather than a bit for each block, because drivers differ in block length. Invariant: ranges
//! are sorted, not empty, and neither touch nor overlap.
//!
//! Not here: blocks (`tiling.rs`).

use smallvec::{SmallVec, smallvec};
use std::cmp::Reverse;
use std::ops::Range;

/// A set of positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(SmallVec<[Range<usize>; 1]>);

impl Ranges {
    /// The set of a range.
    pub fn of(range: Range<usize>) -> Ranges {
        let mut ranges = Ranges::default();
        ranges.insert(range);
        ranges
    }

    /// The set of `0..len`.
    pub fn full(len: usize) -> Ranges {
        if len == 0 { Ranges::default() } else { Ranges(smallvec![0..len]) }
    }

    /// True when every position of `range` is in the set.
    pub fn covers(&self, range: Range<usize>) -> bool {
        self.first_gap(range).is_none()
    }

    /// The first position of `range` that is not in the set.
    pub fn first_gap(&self, range: Range<usize>) -> Option<usize> {
        let before = self.0.partition_point(|r| r.start <= range.start);
        let known = self.0[..before].last().map_or(0, |r| r.end);
        let first = range.start.max(known);
        (first < range.end).then_some(first)
    }

    /// The positions of `range` that are not in the set, in order.
    pub fn gaps(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let (mut gaps, mut from) = (Vec::new(), range.start);
        let first = self.0.partition_point(|r| r.end <= range.start);
        for known in self.0[first..].iter().take_while(|r| r.start < range.end) {
            if from < known.start {
                gaps.push(from..known.start);
            }
            from = known.end;
        }
        if from < range.end {
            gaps.push(from..range.end);
        }
        gaps
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

    /// The ranges, in order.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.0.iter().cloned()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those positions of the set that are in `range`.
    pub fn within(&self, range: Range<usize>) -> Ranges {
        let first = self.0.partition_point(|r| r.end <= range.start);
        let meets = self.0[first..].iter().take_while(|r| r.start < range.end);
        Ranges(meets.map(|r| r.start.max(range.start)..r.end.min(range.end)).collect())
    }

    /// Ranges that have all of some positions below `len`, at most `count`. Of many, they have the neighbours in one of
    /// 4,096 cells, too: to sort them would take longer than what is done at the positions.
    pub fn around(positions: impl Iterator<Item = usize>, count: usize, len: usize) -> Ranges {
        const CELLS: usize = 1 << 12;
        let ranges = if count <= CELLS {
            let mut all: Vec<usize> = positions.collect();
            all.sort_unstable();
            let runs = all.chunk_by(|a, b| b - a <= 1);
            runs.map(|run| run[0]..run[run.len() - 1] + 1).collect()
        } else {
            let shift = len.div_ceil(CELLS).next_power_of_two().trailing_zeros();
            let mut touched = vec![false; (len >> shift) + 1];
            positions.for_each(|position| touched[position >> shift] = true);
            let mut first = 0;
            let runs = touched.chunk_by(|a, b| a == b).filter_map(|run| {
                let cells = first..first + run.len();
                first = cells.end;
                run[0].then(|| cells.start << shift..len.min(cells.end << shift))
            });
            runs.collect()
        };
        Ranges(ranges)
    }

    /// At most `most` ranges that have all positions of the set: the narrowest gaps between its ranges are filled.
    pub fn coarse(self, most: usize) -> Ranges {
        let count = self.0.len();
        if count <= most.max(1) {
            return self;
        }
        let mut gaps: Vec<usize> = (1..count).collect();
        let width = |at: &usize| self.0[*at].start - self.0[at - 1].end;
        let kept = most.max(1) - 1;
        gaps.select_nth_unstable_by_key(kept, |at| Reverse(width(at)));
        gaps.truncate(kept);
        gaps.sort_unstable();
        let starts = [0].into_iter().chain(gaps.iter().copied());
        let ends = gaps.iter().copied().chain([count]);
        Ranges(starts.zip(ends).map(|(a, b)| self.0[a].start..self.0[b - 1].end).collect())
    }

    /// Takes positions away.
    pub fn remove(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let from = self.0.partition_point(|r| r.end <= range.start);
        let to = self.0.partition_point(|r| r.start < range.end);
        if from == to {
            return;
        }
        let (before, behind) = (self.0[from].start..range.start, range.end..self.0[to - 1].end);
        self.0.drain(from..to);
        for rest in [behind, before].into_iter().filter(|rest| rest.start < rest.end) {
            self.0.insert(from, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_around_positions_have_all_of_them_and_only_neighbours(
            len in 1usize..100_000, count in 0usize..9000, step in 1usize..50, first in 0usize..90_000
        ) {
            let all: Vec<usize> = (0..count).map(|k| (first + k * step) % len).collect();
            let ranges = Ranges::around(all.iter().copied(), count, len);
            prop_assert!(all.iter().all(|at| ranges.covers(*at..at + 1)));
            prop_assert!(ranges.0.windows(2).all(|w| w[0].end < w[1].start));
            prop_assert!(ranges.0.iter().all(|range| range.start < range.end && range.end <= len));
            let near = if count <= 4096 { 1 } else { len.div_ceil(4096).next_power_of_two() };
            let has = |cell: usize| all.iter().any(|at| at / near == cell);
            let cells = ranges.iter().flat_map(|range| range.start / near..range.end.div_ceil(near));
            prop_assert!(cells.step_by(97).all(has));
        }

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
                    let first = (start..end).find(|at| !bits[*at]);
                    prop_assert_eq!(ranges.first_gap(start..end), first);
                }
            }
            let gaps = ranges.gaps(3..60);
            let mut missing = gaps.iter().cloned().flatten();
            prop_assert!((3..60).filter(|at| !bits[*at]).all(|at| missing.next() == Some(at)));
            prop_assert_eq!(missing.next(), None);
            prop_assert!(ranges.0.windows(2).all(|w| w[0].end < w[1].start));
            prop_assert!(ranges.within(7..31).iter().flatten().eq((7..31).filter(|at| bits[*at])));
            for most in 1..6 {
                let coarse = ranges.clone().coarse(most);
                prop_assert!(coarse.iter().count() <= most);
                prop_assert!(ranges.iter().all(|range| coarse.covers(range)));
                // What was filled are gaps no wider than those that were left.
                let filled = coarse.iter().flat_map(|all| ranges.gaps(all)).map(|g| g.len()).max();
                let left = coarse.0.windows(2).map(|w| w[1].start - w[0].end).min();
                prop_assert!(filled.is_none() || left.is_none() || filled <= left);
            }
        }
    }
}
