//! Branches that only choose between values become choices without a branch: `min`, `max`, `a if c else b`, and what
//! computes little and cannot fail.
//!
//! Owns [`without_choosing_branches`]. The two ways of such a branch meet in one block. What it depends on is often
//! random, and a wrong guess of the machine costs more than both ways. Invariant: of the slots with one word of the
//! state, what exits behind a choice save is written last (`machine/exit_words.rs`). Not here: which checks hold
//! (`difference_proofs.rs`).

use rustc_hash::{FxHashMap, FxHashSet};

use super::natural_loops::BlockGraph;
use super::needed_slots::{read_later, saved_later};
use crate::code::{BlockEnd, Code, Integer, Operation, Slot};

/// Instructions of both ways, at most, and operations with copies and constants.
const INSTRUCTIONS: usize = 4;
const OPERATIONS: usize = 16;

/// Makes choices of such branches.
pub fn without_choosing_branches(code: &mut Code) {
    let graph = BlockGraph::new(code);
    let mut before: Vec<usize> = graph.before.iter().map(Vec::len).collect();
    let shared = slots_of_shared_words(code);
    let read = read_later(code, &graph, |slot| shared.contains_key(&slot));
    let saved = saved_later(code, &graph);
    // Inner branches first: they are behind those around them.
    for &number in graph.order.iter().rev() {
        let BlockEnd::Branch(test, inside, beside) = code.blocks[number].end else { continue };
        let (Some((first, met)), Some((second, end))) =
            (chosen(code, &before, inside), chosen(code, &before, beside))
        else {
            continue;
        };
        let all = || first.iter().chain(&second);
        let instructions = all().filter(|one| {
            !matches!(one, Operation::Copy(..) | Operation::Int(..) | Operation::Double(..))
        });
        if met != end || instructions.count() > INSTRUCTIONS || all().count() > OPERATIONS {
            continue;
        }
        let mut slots: Vec<Slot> = all().filter_map(Operation::written).collect();
        slots.sort_unstable();
        slots.dedup();
        // A name of two kinds has two slots and one word: to choose between old values, too, would write the old one of
        // the slot that the name has not here.
        slots.retain(|slot| {
            !shared.contains_key(slot) || read[met].contains(slot) || saved[met].contains(slot)
        });
        let mut words = FxHashSet::default();
        let mut of_shared = slots.iter().filter_map(|slot| Some((slot, shared.get(slot)?)));
        if !of_shared.all(|(slot, word)| saved[met].contains(slot) && words.insert(*word)) {
            continue;
        }
        let (first, second) = (results(code, &first), results(code, &second));
        let mut made: Vec<Operation> = first.0.into_iter().chain(second.0).collect();
        let mut chosen = Vec::new();
        for slot in slots {
            let [a, b] = [&first.1, &second.1].map(|one| one.get(&slot).copied().unwrap_or(slot));
            let fresh = fresh(code, slot);
            made.push(Operation::Select(fresh, test, a, b));
            chosen.push(Operation::Copy(slot, fresh));
        }
        let block = &mut code.blocks[number];
        block.operations.append(&mut made);
        block.operations.append(&mut chosen);
        block.end = BlockEnd::Jump(met);
        // Two ways have become one.
        before[met] -= 1;
    }
}

/// Slots whose word of the state is another slot's too, and the word.
fn slots_of_shared_words(code: &Code) -> FxHashMap<Slot, u32> {
    let mut slots: FxHashMap<u32, FxHashSet<Slot>> = FxHashMap::default();
    for &(word, slot) in code.exits.iter().flat_map(|exit| &exit.saved) {
        slots.entry(word).or_default().insert(slot);
    }
    slots.retain(|_, one| one.len() > 1);
    slots
        .into_iter()
        .flat_map(|(word, one)| one.into_iter().map(move |slot| (slot, word)))
        .collect()
}

fn fresh(code: &mut Code, slot: Slot) -> Slot {
    code.slots.push(code.slots[slot as usize]);
    (code.slots.len() - 1) as Slot
}

/// The operations of blocks that have one way in and one out, if none can fail, and the block where that ends.
fn chosen(code: &Code, before: &[usize], mut block: usize) -> Option<(Vec<Operation>, usize)> {
    let mut found = Vec::new();
    while before[block] == 1 {
        let BlockEnd::Jump(next) = code.blocks[block].end else { return None };
        if !code.blocks[block].operations.iter().all(is_plain) {
            return None;
        }
        found.extend(code.blocks[block].operations.iter().cloned());
        block = next;
    }
    Some((found, block))
}

/// What costs about an instruction, and neither fails nor has an effect.
fn is_plain(operation: &Operation) -> bool {
    match operation {
        Operation::Integer(does, ..) => !matches!(does, Integer::FloorDiv | Integer::Mod),
        Operation::Copy(..)
        | Operation::Int(..)
        | Operation::Double(..)
        | Operation::Compare(..)
        | Operation::Bits(..)
        | Operation::Select(..) => true,
        _ => false,
    }
}

/// Operations with results in slots of their own, and by slot what it is in the end: one of them, or the value of
/// another one before.
fn results(code: &mut Code, operations: &[Operation]) -> (Vec<Operation>, FxHashMap<Slot, Slot>) {
    let (mut made, mut found) = (Vec::new(), FxHashMap::<Slot, Slot>::default());
    for operation in operations {
        let now = |slot: Slot| found.get(&slot).copied().unwrap_or(slot);
        let written = operation.written();
        if let Operation::Copy(to, from) = *operation {
            let from = now(from);
            found.insert(to, from);
            continue;
        }
        let Some(slot) = written else { continue };
        let to = fresh(code, slot);
        made.push(match *operation {
            Operation::Int(_, value) => Operation::Int(to, value),
            Operation::Double(_, value) => Operation::Double(to, value),
            Operation::Integer(does, _, a, b) => Operation::Integer(does, to, now(a), now(b)),
            Operation::Compare(test, _, a, b) => Operation::Compare(test, to, now(a), now(b)),
            Operation::Bits(_, from) => Operation::Bits(to, now(from)),
            Operation::Select(_, test, a, b) => Operation::Select(to, now(test), now(a), now(b)),
            // There are no others in such a way.
            _ => continue,
        });
        found.insert(slot, to);
    }
    (made, found)
}
