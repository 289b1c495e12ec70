//! Shared terms in sums of resource needs: a node that two sums share is counted once.
//!
//! Not here: the needs of a piece (`need.rs`).

use smallvec::{SmallVec, smallvec};

/// Nodes whose need is counted once in the sum that another's is: loads, and what several nodes read. Beside a sum that
/// counts one as well it is taken off, so that the bound of what reads the same again and again is near what it needs.
/// Not all of them are known: looking for more would cost more than it saves. Of a shared node, what is below it is not
/// named; so each is a term of its own.
#[derive(Clone, Default)]
pub(crate) struct Once(SmallVec<[u32; 4]>);

impl Once {
    /// The most that are known of a sum.
    const MOST: usize = 4;

    /// A node by itself.
    pub fn of(node: u32) -> Once {
        Once(smallvec![node])
    }

    /// Adds those of a sum beside it; tells which are in both.
    pub fn join(&mut self, other: &Once, mut is_twice: impl FnMut(u32)) {
        for part in &other.0 {
            if self.0.contains(part) {
                is_twice(*part);
            } else if self.0.len() < Once::MOST {
                self.0.push(*part);
            }
        }
    }

    /// The sum is what a program takes, in which shared nodes are no terms any more; loads are.
    pub fn of_program(&mut self, loads: impl Fn(u32) -> bool) {
        self.0.retain(|part| loads(*part));
    }
}
