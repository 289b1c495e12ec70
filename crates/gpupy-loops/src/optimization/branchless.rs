//! Branches that only choose between values become choices without a branch: `min`, `max`, `a if c else b`.
//!
//! Owns [`without_choosing_branches`]. Such a branch has ways that copy values or make constants, and that meet in one
//! block. What it depends on is often random, and a wrong guess of the machine costs more than both ways. Not
//! here: which checks hold (`difference_proofs.rs`).

use rustc_hash::FxHashMap;

use crate::code::{BlockEnd, Code, Operation, Slot};

/// Operations of both ways, at most.
const OPERATIONS: usize = 6;

/// Makes choices of such branches.
pub fn without_choosing_branches(code: &mut Code) {
    let mut before = vec![0; code.blocks.len()];
    code.blocks.iter().flat_map(|block| block.end.targets()).for_each(|next| before[next] += 1);
    // Inner branches first: their blocks have greater numbers, mostly.
    for number in (0..code.blocks.len()).rev() {
        let BlockEnd::Branch(test, inside, beside) = code.blocks[number].end else { continue };
        let (Some((first, met)), Some((second, end))) =
            (copies(code, &before, inside), copies(code, &before, beside))
        else {
            continue;
        };
        if met != end || first.len() + second.len() > OPERATIONS {
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
            code.slots.push(code.slots[slot as usize]);
            let fresh = (code.slots.len() - 1) as Slot;
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

/// The copies and constants of blocks that have one way in and one out, and the block where that ends.
fn copies(code: &Code, before: &[usize], mut block: usize) -> Option<(Vec<Operation>, usize)> {
    let mut found = Vec::new();
    while before[block] == 1 {
        let BlockEnd::Jump(next) = code.blocks[block].end else { return None };
        for operation in &code.blocks[block].operations {
            if !matches!(
                operation,
                Operation::Copy(..) | Operation::Int(..) | Operation::Double(..)
            ) {
                return None;
            }
            found.push(operation.clone());
        }
        block = next;
    }
    Some((found, block))
}

/// Constants in slots of their own, and by slot what it is in the end: the value of another one before, or of such.
fn results(code: &mut Code, operations: &[Operation]) -> (Vec<Operation>, FxHashMap<Slot, Slot>) {
    let (mut constants, mut found) = (Vec::new(), FxHashMap::default());
    for operation in operations {
        let mut fresh = |slot: Slot| {
            code.slots.push(code.slots[slot as usize]);
            (code.slots.len() - 1) as Slot
        };
        match *operation {
            Operation::Copy(to, from) => {
                let from = found.get(&from).copied().unwrap_or(from);
                found.insert(to, from);
            }
            Operation::Int(to, value) => {
                let slot = fresh(to);
                constants.push(Operation::Int(slot, value));
                found.insert(to, slot);
            }
            Operation::Double(to, value) => {
                let slot = fresh(to);
                constants.push(Operation::Double(slot, value));
                found.insert(to, slot);
            }
            _ => {}
        }
    }
    (constants, found)
}
