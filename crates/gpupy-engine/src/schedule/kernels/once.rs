//! Shared terms in sums of resource needs: a node that two sums share is counted once.
//!
//! Not here: the needs of a piece (`need.rs`).

use smallvec::{SmallVec, smallvec};

/// Shared nodes of a sum of needs, which it counts once: loads, and nodes with several readers. When two sums are
/// added, a node in both is subtracted once, so that the bound of an expression that reads a node many times is near
/// its true need. Only some are listed: looking for more would cost more than it saves. Nodes below a shared node are
/// not listed; so each is a term of its own.
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

    /// The sum becomes the need of a whole program, in which loads are terms, but shared nodes are not.
    pub fn of_program(&mut self, loads: impl Fn(u32) -> bool) {
        self.0.retain(|part| loads(*part));
    }
}
