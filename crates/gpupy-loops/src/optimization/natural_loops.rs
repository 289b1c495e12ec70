//! The order of blocks and the loops in them.
//!
//! Owns [`BlockGraph`]. Blocks are by number; the first is the entry. A loop here is a natural one: its head comes
//! before all that is in it on each way. Not here: what is done with that.

use crate::code::Code;

/// A loop of blocks.
pub struct NaturalLoop {
    /// The block that each round begins with.
    pub head: usize,
    /// By block: whether it belongs to the loop.
    pub has: Vec<bool>,
}

/// The ways between blocks.
pub struct BlockGraph {
    /// By block: the blocks that go on there.
    pub before: Vec<Vec<usize>>,
    /// Blocks that are reached, each behind one that leads there, loops apart.
    pub order: Vec<usize>,
    /// The loops.
    pub loops: Vec<NaturalLoop>,
}

impl BlockGraph {
    /// Of some code.
    pub fn new(code: &Code) -> Self {
        let count = code.blocks.len();
        let mut before = vec![Vec::new(); count];
        let mut order = Vec::new();
        // Blocks on the way from the first one, and those that are done.
        let (mut is_open, mut is_seen) = (vec![false; count], vec![false; count]);
        let mut back = Vec::new();
        let mut stack = vec![(0, code.blocks[0].end.targets())];
        (is_open[0], is_seen[0]) = (true, true);
        while let Some((block, targets)) = stack.last_mut() {
            let block = *block;
            match targets.next() {
                Some(next) => {
                    before[next].push(block);
                    if is_open[next] {
                        back.push((block, next));
                    } else if !is_seen[next] {
                        (is_open[next], is_seen[next]) = (true, true);
                        stack.push((next, code.blocks[next].end.targets()));
                    }
                }
                None => {
                    is_open[block] = false;
                    order.push(block);
                    stack.pop();
                }
            }
        }
        order.reverse();
        let mut loops: Vec<NaturalLoop> = Vec::new();
        for (last, head) in back {
            let mut has = vec![false; count];
            has[head] = true;
            let mut open = vec![last];
            while let Some(block) = open.pop() {
                if !std::mem::replace(&mut has[block], true) {
                    open.extend(&before[block]);
                }
            }
            // Otherwise there is a way into its midst.
            if head == 0 || !has[0] {
                match loops.iter_mut().find(|one| one.head == head) {
                    Some(one) => one.has.iter_mut().zip(has).for_each(|(one, has)| *one |= has),
                    None => loops.push(NaturalLoop { head, has }),
                }
            }
        }
        Self { before, order, loops }
    }

    /// By block: the number of the loop it is in, of those that have no loop in them.
    pub fn innermost(&self) -> Vec<Option<usize>> {
        let mut found = vec![None; self.before.len()];
        for (number, one) in self.loops.iter().enumerate() {
            let is_innermost =
                self.loops.iter().all(|other| other.head == one.head || !one.has[other.head]);
            if is_innermost {
                one.has.iter().zip(&mut found).filter(|(has, _)| **has).for_each(|(_, found)| {
                    *found = Some(number);
                });
            }
        }
        found
    }
}
