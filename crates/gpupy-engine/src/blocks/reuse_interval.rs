//! The eviction policy: how soon a block is expected to be used again (reuse interval).
//!
//! Owns [`ReuseInterval`]: when a block was used, and how long it took until it was used again. The block that is
//! expected back last is evicted. A block that was never reused is expected after as long again as it has been idle (so
//! the least recently used goes first, as in the thesis). One with a known interval is expected when the interval is
//! over. A program that cycles over more than the device holds, where the least recently used block is always the next
//! one needed, thus keeps most of its blocks, as Bélády's optimal replacement (1966) does, which knows the future.
//!
//! Not here: the blocks, and their order (`cache/`).

use crate::thresholds::T;

/// The uses of one block so far. Time counts the uses of all blocks of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReuseInterval {
    last: u64,
    /// From one use to the next, leaving out returns that came soon.
    interval: Option<u64>,
    /// Returns in a row that came soon.
    soon: u8,
}

impl ReuseInterval {
    /// A block that is used for the first time.
    pub fn new(now: u64) -> ReuseInterval {
        ReuseInterval { last: now, interval: None, soon: 0 }
    }

    /// Expects a block back no sooner than its operands, until it has an interval of its own: they are likely to be
    /// used in turns.
    pub fn follow(&mut self, operand: ReuseInterval) {
        self.interval = self.interval.max(operand.interval);
    }

    /// Notes a use. Any policy keeps a block over `near` uses of others or fewer, so that these say
    /// nothing about when to evict it.
    pub fn used(&mut self, now: u64, near: u64) {
        let since = now - self.last;
        self.last = now;
        if since > near {
            self.interval = Some(since);
            self.soon = 0;
        } else {
            self.soon = (self.soon + 1).min(T.reuse_forgets);
            if self.soon == T.reuse_forgets {
                self.interval = None;
            }
        }
    }

    /// Uses of other blocks until this one is expected back: the key of eviction. `cache/eviction_queue.rs` keeps
    /// blocks in this order without a look at each.
    #[cfg(test)]
    pub fn wait(&self, now: u64) -> u64 {
        let age = now - self.last;
        match self.interval {
            Some(interval) if age < interval => interval - age,
            _ => age,
        }
    }

    /// When the block is expected back, if it has an interval.
    pub fn expected(&self) -> Option<u64> {
        self.interval.map(|interval| self.last.saturating_add(interval))
    }

    /// When the block was used last.
    pub fn last(&self) -> u64 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::ReuseInterval;
    use std::collections::HashMap;

    /// The number of misses when `room` blocks fit and `victim` chooses the block to evict.
    fn misses(
        uses: &[u32],
        room: usize,
        mut victim: impl FnMut(&HashMap<u32, ReuseInterval>, &[u32], usize) -> u32,
    ) -> usize {
        let mut seen: HashMap<u32, ReuseInterval> = HashMap::new();
        let mut here: Vec<u32> = Vec::new();
        let mut missed = 0;
        for (at, block) in uses.iter().enumerate() {
            if !here.contains(block) {
                missed += 1;
                if here.len() == room {
                    let gone = victim(&seen, &here, at);
                    here.retain(|other| *other != gone);
                }
                here.push(*block);
            }
            let (now, near) = (at as u64, here.len() as u64);
            seen.entry(*block)
                .and_modify(|reuse| reuse.used(now, near))
                .or_insert_with(|| ReuseInterval::new(now));
        }
        missed
    }

    fn ours(seen: &HashMap<u32, ReuseInterval>, here: &[u32], at: usize) -> u32 {
        let key = |block: &&u32| (seen[*block].wait(at as u64), std::cmp::Reverse(**block));
        here.iter().max_by_key(key).copied().unwrap_or_default()
    }

    fn least_recent(seen: &HashMap<u32, ReuseInterval>, here: &[u32], _: usize) -> u32 {
        here.iter().min_by_key(|block| seen[*block].last).copied().unwrap_or_default()
    }

    /// Misses of our choice, of the least recently used, and of Bélády's.
    fn compare(uses: &[u32], room: usize) -> (usize, usize, usize) {
        let next = |block: u32, at: usize| {
            uses[at..].iter().position(|other| *other == block).unwrap_or(usize::MAX)
        };
        let optimal = |_: &HashMap<u32, ReuseInterval>, here: &[u32], at: usize| {
            here.iter().max_by_key(|block| next(**block, at)).copied().unwrap_or_default()
        };
        let (a, b) = (misses(uses, room, ours), misses(uses, room, least_recent));
        (a, b, misses(uses, room, optimal))
    }

    fn show(name: &str, uses: &[u32], room: usize) -> (usize, usize, usize) {
        let found = compare(uses, room);
        println!("{name}: ours {}, least recently used {}, optimal {}", found.0, found.1, found.2);
        found
    }

    #[test]
    fn going_round_keeps_most_of_what_is_there() {
        for (blocks, room) in [(64, 16), (20, 16), (17, 16)] {
            let uses: Vec<u32> = (0..20).flat_map(|_| 0..blocks).collect();
            let (ours, lru, optimal) = show(&format!("{blocks} round"), &uses, room);
            assert_eq!(lru, uses.len());
            assert!(ours * 4 <= optimal * 5, "{ours} against {optimal}");
        }
        // Each block twice in a row, and to and fro.
        let twice: Vec<u32> = (0..20).flat_map(|_| (0..64).flat_map(|b| [b, b])).collect();
        let (ours, lru, optimal) = show("twice", &twice, 16);
        assert!(ours < lru && ours * 4 <= optimal * 5);
        let fro: Vec<u32> = (0..10).flat_map(|_| (0..64).chain((0..64).rev())).collect();
        let (ours, _, optimal) = show("to and fro", &fro, 16);
        assert!(ours * 3 <= optimal * 4);
    }

    #[test]
    fn where_the_least_recently_used_is_right_ours_is_too() {
        // A few blocks that move on slowly.
        let window: Vec<u32> = (0..200).flat_map(|at| (0..40).map(move |k| at + k % 12)).collect();
        let (ours, lru, optimal) = show("a moving window", &window, 16);
        assert!(ours <= lru * 11 / 10 && ours <= optimal * 2);
        // Blocks that are used at random, some more often than others.
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32
        };
        let skewed: Vec<u32> = (0..4000).map(|_| random() % (1 + random() % 64)).collect();
        let (ours, lru, optimal) = show("skewed at random", &skewed, 16);
        assert!(ours <= lru * 11 / 10 && ours <= optimal * 2);
        let even: Vec<u32> = (0..4000).map(|_| random() % 64).collect();
        let (ours, lru, optimal) = show("evenly at random", &even, 16);
        assert!(ours <= lru * 11 / 10 && ours <= optimal * 2);
        // A hot set, and a stream that is never used again.
        let stream: Vec<u32> = (0..1000).flat_map(|at| [at % 8, 100 + at, (at * 3) % 8]).collect();
        let (ours, lru, optimal) = show("a stream beside a hot set", &stream, 16);
        assert!(ours <= lru * 11 / 10 && ours <= optimal * 2);
        // Rows against columns of a product by blocks.
        let product: Vec<u32> =
            (0..16).flat_map(|i| (0..48).flat_map(move |j| [i, 16 + j])).collect();
        let (ours, lru, optimal) = show("each with each", &product, 16);
        assert!(ours <= lru && ours <= optimal * 2);
    }
}
