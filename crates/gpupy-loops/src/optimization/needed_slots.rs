//! Which slots are needed later.
//!
//! Owns [`read_later`] and [`saved_later`], by block: slots whose values at its beginning are needed before they are
//! written. Not here: what is done with that.

use rustc_hash::FxHashSet;

use super::natural_loops::BlockGraph;
use crate::code::{Block, BlockEnd, Code, Slot};

/// By block: those of the slots in question that operations and branches read later.
pub fn read_later(
    code: &Code,
    graph: &BlockGraph,
    is_asked: impl Fn(Slot) -> bool,
) -> Vec<FxHashSet<Slot>> {
    needed(code, graph, |block, live| {
        if let BlockEnd::Branch(test, ..) = block.end
            && is_asked(test)
        {
            live.insert(test);
        }
        for operation in block.operations.iter().rev() {
            if let Some(slot) = operation.written() {
                live.remove(&slot);
            }
            operation.read(|slot| {
                if is_asked(slot) {
                    live.insert(slot);
                }
            });
        }
    })
}

/// By block: the slots that exits save later.
pub fn saved_later(code: &Code, graph: &BlockGraph) -> Vec<FxHashSet<Slot>> {
    needed(code, graph, |block, live| {
        for slot in block.operations.iter().filter_map(|one| one.written()) {
            live.remove(&slot);
        }
        live.extend(code.exits[block.exit].saved.iter().map(|&(_, slot)| slot));
    })
}

/// By block: what is needed at its beginning, by what is at its end.
fn needed(
    code: &Code,
    graph: &BlockGraph,
    through: impl Fn(&Block, &mut FxHashSet<Slot>),
) -> Vec<FxHashSet<Slot>> {
    let mut found = vec![FxHashSet::default(); code.blocks.len()];
    loop {
        let mut is_new = false;
        for &number in graph.order.iter().rev() {
            let block = &code.blocks[number];
            let mut live = FxHashSet::default();
            for next in block.end.targets() {
                live.extend(found[next].iter().copied());
            }
            through(block, &mut live);
            is_new |= live.len() != found[number].len();
            found[number] = live;
        }
        if !is_new {
            return found;
        }
    }
}
