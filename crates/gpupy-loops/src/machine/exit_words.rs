//! Which values wait in registers for an exit, and which are in the state's words already.
//!
//! Owns [`ExitWords`]. An exit writes names and loops into words of the state. Were all of them kept in registers until
//! then, loops would have none left. So what is bound outside of innermost loops goes to its word at once, and
//! is no concern of exits; in an innermost loop, what it binds and its exits write stays in a register, and goes to its
//! word where the loop is left. Invariants: of the slots with one word, the one that was written last holds its value;
//! a word is behind only in the loop that keeps its slot. Not here: instructions (`emission.rs`).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::code::{Code, Slot};
use crate::optimization::{BlockGraph, read_later, saved_later};

/// A word of the state, and the slot that it gets.
type SavedWord = (u32, Slot);

/// Where the values of exits are.
pub struct ExitWords {
    word_of: FxHashMap<Slot, u32>,
    // By block: the innermost loop around it.
    loop_of: Vec<Option<usize>>,
    // By loop: slots that it keeps in registers.
    kept: Vec<FxHashSet<Slot>>,
    // By block: slots that operations read later, and those that exits save later.
    read: Vec<FxHashSet<Slot>>,
    saved: Vec<FxHashSet<Slot>>,
}

impl ExitWords {
    /// Of some code.
    pub fn new(code: &Code, graph: &BlockGraph) -> Self {
        let word_of: FxHashMap<Slot, u32> = code
            .exits
            .iter()
            .flat_map(|exit| &exit.saved)
            .map(|&(word, slot)| (slot, word))
            .collect();
        let loop_of = graph.innermost();
        let read = read_later(code, graph, |slot| word_of.contains_key(&slot));
        let saved = saved_later(code, graph);
        let mut found = Self { word_of, loop_of, kept: Vec::new(), read, saved };
        found.kept =
            (0..graph.loops.len()).map(|number| found.keeps(code, graph, number)).collect();
        found
    }

    /// The slots of words that a loop writes, and that its own exits save, or that are in registers anyway.
    fn keeps(&self, code: &Code, graph: &BlockGraph, number: usize) -> FxHashSet<Slot> {
        let inside = || (0..code.blocks.len()).filter(|&block| self.loop_of[block] == Some(number));
        let is_used: FxHashSet<Slot> = inside()
            .flat_map(|block| &code.exits[code.blocks[block].exit].saved)
            .map(|&(_, slot)| slot)
            .chain(self.read[graph.loops[number].head].iter().copied())
            .collect();
        let written = inside().flat_map(|block| &code.blocks[block].operations);
        written
            .filter_map(|one| one.written())
            .filter(|slot| self.word_of.contains_key(slot) && is_used.contains(slot))
            .collect()
    }

    fn keeps_in(&self, block: usize, slot: Slot) -> bool {
        self.loop_of[block].is_some_and(|number| self.kept[number].contains(&slot))
    }

    /// The word into which a block writes a slot at once.
    pub fn stored(&self, block: usize, slot: Slot) -> Option<u32> {
        self.word_of.get(&slot).copied().filter(|_| !self.keeps_in(block, slot))
    }

    /// The loop of a block; exits of two blocks with one loop save the same.
    pub fn loop_of(&self, block: usize) -> Option<usize> {
        self.loop_of[block]
    }

    /// What an exit of a block has to save.
    pub fn saved(&self, code: &Code, loop_of: Option<usize>, exit: usize) -> Vec<SavedWord> {
        let Some(number) = loop_of else { return Vec::new() };
        let all = code.exits[exit].saved.iter().copied();
        all.filter(|(_, slot)| self.kept[number].contains(slot)).collect()
    }

    /// What is stored on the way from a block to another one, and what is loaded.
    pub fn between(&self, from: usize, to: usize) -> (Vec<SavedWord>, Vec<SavedWord>) {
        if self.loop_of[from] == self.loop_of[to] {
            return (Vec::new(), Vec::new());
        }
        let of = |number: Option<usize>, is_wanted: &dyn Fn(Slot) -> bool| {
            let mut found: Vec<SavedWord> = number
                .iter()
                .flat_map(|&number| &self.kept[number])
                .filter(|slot| is_wanted(**slot))
                .map(|slot| (self.word_of[slot], *slot))
                .collect();
            found.sort_unstable();
            found
        };
        let stores = of(self.loop_of[from], &|slot| self.saved[to].contains(&slot));
        // What is read is in its register.
        let loads = of(self.loop_of[to], &|slot| !self.read[to].contains(&slot));
        (stores, loads)
    }
}
