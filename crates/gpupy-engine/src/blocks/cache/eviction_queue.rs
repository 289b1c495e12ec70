//! The eviction queue: finds the block that is expected back last without a look at all of them.
//!
//! Owns [`EvictionQueue`]: blocks in the order in which they are evicted. As time passes, a block that is expected at a
//! known time is expected sooner, and one without such a time later; each kind keeps its order among itself. So both
//! kinds are kept in order, a block changes over once its time has passed, and only the first of each kind is compared.
//! Invariants: the victim is the one that a scan of all blocks would find; no two blocks were used at the same time.
//!
//! Not here: when a block is expected back (`reuse_interval.rs`), how it is evicted (`eviction.rs`).

use crate::blocks::reuse_interval::ReuseInterval;
use crate::thresholds::T;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Blocks (by their names) in the order in which they are evicted.
pub(super) struct EvictionQueue<K> {
    /// Expected after as long again as they were not used: by their last use.
    unused: BTreeMap<u64, K>,
    /// Expected at a known time: by that, and by their last use.
    expected: BTreeMap<(u64, Reverse<u64>), K>,
    /// Uses since a victim was asked for.
    uses: usize,
}

impl<K> EvictionQueue<K> {
    /// The order of these blocks.
    pub fn new(blocks: impl Iterator<Item = (K, ReuseInterval)>) -> EvictionQueue<K> {
        let mut victims =
            EvictionQueue { unused: BTreeMap::new(), expected: BTreeMap::new(), uses: 0 };
        blocks.for_each(|(key, reuse)| victims.insert(key, reuse));
        victims
    }

    /// Puts a new block in its place.
    pub fn insert(&mut self, key: K, reuse: ReuseInterval) {
        match reuse.expected() {
            Some(time) => self.expected.insert((time, Reverse(reuse.last())), key),
            None => self.unused.insert(reuse.last(), key),
        };
    }

    /// Takes out the block of this reuse interval, and gives its name.
    pub fn remove(&mut self, reuse: ReuseInterval) -> Option<K> {
        let place = reuse.expected().map(|time| (time, Reverse(reuse.last())));
        let expected = place.and_then(|place| self.expected.remove(&place));
        expected.or_else(|| self.unused.remove(&reuse.last()))
    }

    /// Moves the block whose interval was `before`; false when no victim was asked for in so long that the order is not
    /// worth keeping.
    pub fn used(&mut self, before: ReuseInterval, after: ReuseInterval) -> bool {
        if let Some(key) = self.remove(before) {
            self.insert(key, after);
        }
        self.uses += 1;
        self.uses <= T.victims_idle * (self.unused.len() + self.expected.len())
    }

    /// The block that is expected back last among those that may be evicted.
    pub fn first(&mut self, now: u64, is_free: impl Fn(&K) -> bool) -> Option<&K> {
        self.uses = 0;
        while let Some(entry) = self.expected.first_entry()
            && entry.key().0 <= now
        {
            let ((_, Reverse(last)), key) = entry.remove_entry();
            self.unused.insert(last, key);
        }
        let unused = self.unused.iter().find(|(_, key)| is_free(key));
        let unused = unused.map(|(last, key)| ((now - last, Reverse(*last)), key));
        let expected = self.expected.iter().rev().find(|(_, key)| is_free(key));
        let expected = expected.map(|((time, last), key)| ((time - now, *last), key));
        unused.into_iter().chain(expected).max_by_key(|(wait, _)| *wait).map(|(_, key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An action on blocks; the numbers choose among the present ones.
    #[derive(Clone, Debug)]
    enum QueueAction {
        Comes,
        IsUsed(usize),
        Follows(usize, usize),
        IsHeld(usize, bool),
        Goes(usize),
        Evicts,
    }

    fn steps() -> impl Strategy<Value = Vec<QueueAction>> {
        let step = prop_oneof![
            2 => Just(QueueAction::Comes),
            6 => any::<usize>().prop_map(QueueAction::IsUsed),
            // Some blocks are used more often than others.
            6 => (0usize..3).prop_map(QueueAction::IsUsed),
            1 => any::<(usize, usize)>().prop_map(|(a, b)| QueueAction::Follows(a, b)),
            1 => any::<(usize, bool)>().prop_map(|(block, held)| QueueAction::IsHeld(block, held)),
            1 => any::<usize>().prop_map(QueueAction::Goes),
            3 => Just(QueueAction::Evicts),
        ];
        prop::collection::vec(step, 1..400)
    }

    proptest! {
        #[test]
        fn the_victim_is_that_of_a_look_at_every_block(steps in steps(), near in 0u64..12) {
            let mut blocks: Vec<(usize, ReuseInterval, bool)> = Vec::new();
            let mut victims = EvictionQueue::new(std::iter::empty());
            let (mut now, mut name) = (0, 0);
            for step in steps {
                let count = blocks.len().max(1);
                match step {
                    QueueAction::Comes => {
                        (now, name) = (now + 1, name + 1);
                        blocks.push((name, ReuseInterval::new(now), false));
                        victims.insert(name, ReuseInterval::new(now));
                    }
                    QueueAction::IsUsed(block) => {
                        let Some(block) = blocks.get_mut(block % count) else { continue };
                        now += 1;
                        let before = block.1;
                        block.1.used(now, near);
                        if !victims.used(before, block.1) {
                            let known = blocks.iter().map(|(name, reuse, _)| (*name, *reuse));
                            victims = EvictionQueue::new(known);
                        }
                    }
                    QueueAction::Follows(block, operand) => {
                        let Some((_, operand, _)) = blocks.get(operand % count).copied() else {
                            continue;
                        };
                        let block = &mut blocks[block % count];
                        let before = block.1;
                        block.1.follow(operand);
                        victims.used(before, block.1);
                    }
                    QueueAction::IsHeld(block, held) => {
                        let Some(block) = blocks.get_mut(block % count) else { continue };
                        block.2 = held;
                    }
                    QueueAction::Goes(block) => {
                        if block % count < blocks.len() {
                            let (name, reuse, _) = blocks.swap_remove(block % count);
                            prop_assert_eq!(victims.remove(reuse), Some(name));
                        }
                    }
                    QueueAction::Evicts => {
                        let free = blocks.iter().filter(|(_, _, held)| !held);
                        let wanted = free
                            .max_by_key(|(_, reuse, _)| (reuse.wait(now), Reverse(reuse.last())))
                            .map(|(name, ..)| *name);
                        let is_free = |name: &usize| {
                            blocks.iter().any(|(own, _, held)| own == name && !held)
                        };
                        prop_assert_eq!(victims.first(now, is_free).copied(), wanted);
                        if let Some(wanted) = wanted {
                            let at = blocks.iter().position(|block| block.0 == wanted);
                            let (_, reuse, _) = blocks.swap_remove(at.unwrap_or_default());
                            prop_assert_eq!(victims.remove(reuse), Some(wanted));
                        }
                    }
                }
            }
        }
    }
}
