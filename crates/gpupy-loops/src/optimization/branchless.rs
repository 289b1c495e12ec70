//! Branches that only choose between values become choices without a branch: `min`, `max`, `a if c else b`, and what
//! computes little and cannot fail.
//!
//! Owns [`without_choosing_branches`]. The two ways of such a branch meet in one block. What it depends on is often
//! random, and a wrong guess of the machine costs more than both ways. Not here: which checks hold
//! (`difference_proofs.rs`).

use rustc_hash::FxHashMap;

use super::natural_loops::BlockGraph;
use crate::code::{BlockEnd, Code, Integer, Operation, Slot};

/// Instructions of both ways, at most, and operations with copies and constants.
const INSTRUCTIONS: usize = 4;
const OPERATIONS: usize = 16;

/// Makes choices of such branches.
pub fn without_choosing_branches(code: &mut Code) {
    let graph = BlockGraph::new(code);
    let mut before: Vec<usize> = graph.before.iter().map(Vec::len).collect();
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
        let (first, second) = (results(code, &first), results(code, &second));
        let mut slots: Vec<Slot> = first.1.keys().chain(second.1.keys()).copied().collect();
        slots.sort_unstable();
        slots.dedup();
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
