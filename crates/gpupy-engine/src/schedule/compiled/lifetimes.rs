//! Lifetimes (liveness): which values of a flush something needs still, as its commands are made.
//!
//! Owns [`Lifetimes`]: the operand slots by which pending values hold each other, counted over the graph instead of
//! asked of handles. A value holds its operands until it is computed, or until nothing holds it. So it is known before
//! anything runs when a value dies, and whether its block may be written in place. Invariant: a value that was held
//! outside the flush when the flush began never dies in it.
//!
//! Not here: what commands there are (`flush_recorder.rs`); handles that came since, which are counted when a command
//! runs (`execute/run_commands.rs`).

use super::command::{Number, TakenBlock};
use crate::memory::ranges::Ranges;
use crate::thresholds::T;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;

/// The lifetimes of the values of a flush, by their numbers.
#[derive(Default)]
pub(crate) struct Lifetimes {
    lives: Vec<Lifetime>,
    /// How often holders were looked for.
    looks: Cell<u32>,
}

#[derive(Default)]
struct Lifetime {
    reads: SmallVec<[Number; 3]>,
    /// Each once.
    readers: SmallVec<[Number; 2]>,
    /// How many elements it has, and those that are computed.
    len: usize,
    there: Ranges,
    /// Operand slots that hold it.
    slots: usize,
    /// Whether it holds its operands.
    holds: bool,
    /// Something outside the flush holds it, or it is wanted.
    is_held: bool,
    /// Its handles cannot be counted.
    is_fixed: bool,
    is_dead: bool,
    /// The look for holders that found it last.
    seen: Cell<u32>,
}

impl Lifetimes {
    /// Adds the next value: one of so many elements, of which these are computed, and that reads these, all of them
    /// known.
    pub fn add(
        &mut self,
        len: usize,
        there: Ranges,
        reads: SmallVec<[Number; 3]>,
        is_held: bool,
    ) -> Number {
        let number = self.lives.len() as Number;
        let holds = !there.covers(0..len);
        for read in reads.iter().filter(|_| holds) {
            let operand = &mut self.lives[*read as usize];
            operand.slots += 1;
            if !operand.readers.contains(&number) {
                operand.readers.push(number);
            }
        }
        self.lives.push(Lifetime { reads, len, there, holds, is_held, ..Lifetime::default() });
        number
    }

    /// Says that the handles of a value cannot be counted, so that it is never taken.
    pub fn fix(&mut self, number: Number) {
        self.lives[number as usize].is_fixed = true;
    }

    /// Whether nothing needs a value any more.
    pub fn is_dead(&self, number: Number) -> bool {
        self.lives[number as usize].is_dead
    }

    /// Whether elements of a value are computed.
    pub fn has(&self, number: Number, range: Range<usize>) -> bool {
        self.lives[number as usize].there.covers(range)
    }

    /// Whether all elements of a value are computed.
    pub fn is_complete(&self, number: Number) -> bool {
        let life = &self.lives[number as usize];
        life.there.covers(0..life.len)
    }

    /// Elements of a value are computed; gives the values that die of it.
    pub fn computed(&mut self, number: Number, range: Range<usize>) -> SmallVec<[Number; 2]> {
        self.lives[number as usize].there.insert(range);
        if self.is_complete(number) { self.release(number) } else { SmallVec::new() }
    }

    /// Elements of a value are let go.
    pub fn lost(&mut self, number: Number, range: Range<usize>) {
        self.lives[number as usize].there.remove(range);
    }

    /// A value is not needed any more; gives the values that die of it, itself among them.
    pub fn end(&mut self, number: Number) -> SmallVec<[Number; 2]> {
        let life = &mut self.lives[number as usize];
        if std::mem::replace(&mut life.is_dead, true) {
            return SmallVec::new();
        }
        let mut dead = self.release(number);
        dead.push(number);
        dead
    }

    /// A value lets go of its operands.
    fn release(&mut self, number: Number) -> SmallVec<[Number; 2]> {
        let (mut dead, mut open) = (SmallVec::new(), SmallVec::<[Number; 8]>::new());
        open.push(number);
        while let Some(next) = open.pop() {
            if !std::mem::replace(&mut self.lives[next as usize].holds, false) {
                continue;
            }
            for place in 0..self.lives[next as usize].reads.len() {
                let read = self.lives[next as usize].reads[place];
                let operand = &mut self.lives[read as usize];
                operand.slots -= 1;
                if operand.slots == 0 && !operand.is_held && !operand.is_dead {
                    operand.is_dead = true;
                    dead.push(read);
                    open.push(read);
                }
            }
        }
        dead
    }

    /// Whether nothing but one operand slot of a pending value holds another one.
    pub fn is_only_read_by(&self, number: Number, reader: Number) -> bool {
        let life = &self.lives[number as usize];
        let mut living = life.readers.iter().filter(|reader| self.lives[**reader as usize].holds);
        !life.is_held && !life.is_fixed && life.slots == 1 && living.all(|living| *living == reader)
    }

    /// What holds a value whose block an heir takes, if that is nothing but the heir and pending values on the way to
    /// it.
    pub fn taken_by(&self, number: Number, heir: Number) -> Option<TakenBlock> {
        let look = self.looks.get() + 1;
        self.looks.set(look);
        let mut between: SmallVec<[Number; 4]> = SmallVec::from_slice(&[number]);
        let mut at = 0;
        while let Some(next) = between.get(at).copied() {
            at += 1;
            let life = &self.lives[next as usize];
            if life.is_held || life.is_fixed || between.len() > T.in_place_nodes {
                return None;
            }
            for reader in &life.readers {
                let above = &self.lives[*reader as usize];
                if above.holds && *reader != heir && above.seen.replace(look) != look {
                    between.push(*reader);
                }
            }
        }
        // A holder is newer than the values that it holds: the one that is taken comes last.
        between.sort_unstable();
        let held = between.into_iter().rev().map(|held| (held, self.lives[held as usize].slots));
        Some(TakenBlock { held: held.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    /// A leaf, its square, the square's root, and their sum, which is wanted.
    fn lifetimes(is_held: bool) -> Lifetimes {
        let mut lives = Lifetimes::default();
        let mut add = |there: bool, reads, is_held| {
            let there = if there { Ranges::full(8) } else { Ranges::default() };
            lives.add(8, there, reads, is_held)
        };
        add(true, smallvec![], is_held);
        add(false, smallvec![0, 0], false);
        add(false, smallvec![1], false);
        add(false, smallvec![1, 2], true);
        lives
    }

    #[test]
    fn what_only_the_result_needs_is_taken_by_it() {
        let taken = lifetimes(false).taken_by(0, 3).map(|taken| taken.held);
        assert_eq!(taken.as_deref(), Some(&[(2, 1), (1, 2), (0, 2)][..]));
        assert!(lifetimes(true).taken_by(0, 3).is_none());
        assert!(lifetimes(false).taken_by(0, 2).is_none(), "the sum needs it, too");
    }

    #[test]
    fn a_value_dies_when_nothing_that_is_pending_reads_it() {
        let mut lives = lifetimes(false);
        assert!(lives.computed(1, 0..4).is_empty());
        assert!(lives.computed(1, 2..4).is_empty(), "once more");
        assert_eq!(lives.computed(1, 4..8)[..], [0]);
        assert!(lives.is_complete(1));
        // What passes dies with what it was for.
        let mut dead = lives.computed(3, 0..8);
        dead.sort_unstable();
        assert_eq!(dead[..], [1, 2]);
    }

    #[test]
    fn what_reads_a_value_twice_does_not_only_change_it() {
        let mut lives = lifetimes(false);
        assert!(lives.is_only_read_by(2, 3));
        assert!(!lives.is_only_read_by(0, 1), "it is both operands");
        assert!(!lives.is_only_read_by(1, 3), "the root reads it, too");
        lives.computed(2, 0..8);
        assert!(lives.is_only_read_by(1, 3), "the root is computed");
        assert!(!lifetimes(true).is_only_read_by(0, 1));
    }

    #[test]
    fn what_is_held_outside_lives_on() {
        let mut lives = lifetimes(true);
        assert_eq!(lives.computed(3, 0..8).len(), 2);
        assert!(lives.end(0).contains(&0));
    }

    #[test]
    fn what_is_let_go_is_missing_again() {
        let mut lives = lifetimes(false);
        lives.computed(1, 0..4);
        lives.lost(1, 0..4);
        assert!(lives.computed(1, 4..8).is_empty());
        lives.fix(1);
        assert!(lives.taken_by(1, 3).is_none());
    }
}
