//! Open nodes: those that pieces to come may compute or read, whose needs together bound those of each such piece.
//!
//! Owns [`OpenNodes`]. A node that several nodes read is one term here, while the sum of needs from the leaves counts
//! it for each of them: a loop whose turns read the last one several times has a bound that grows with each node, not
//! with each way to it. Invariant: nodes are added operands first.
//!
//! Not here: whether a piece fits (`need.rs`).

use crate::schedule::program::kernel::Emitted;
use crate::schedule::walk::{Child, Role, WalkNode, nodes_of};
use crate::thresholds::T;
use gpupy_core::driver::Resources;
use smallvec::SmallVec;

/// The nodes that pieces to come may have, and their needs.
#[derive(Default)]
pub(super) struct OpenNodes {
    /// How many of each node's readers are to come.
    readers: Vec<u32>,
    /// Nodes that were added, with those among them that a node to come reads.
    read_later: Vec<u32>,
    /// The needs of all that were counted, and of those added since.
    pub need: Resources,
    /// How many were counted, and how many were added since.
    counted: usize,
    added: usize,
    /// Whether pieces were cut out since they were counted.
    is_old: bool,
}

impl OpenNodes {
    /// None of a walk whose nodes have so many readers.
    pub fn of(readers: &[u32]) -> OpenNodes {
        OpenNodes { readers: readers.to_vec(), ..OpenNodes::default() }
    }

    /// Notes a node behind its operands; its need is added by the caller.
    pub fn add(&mut self, number: u32, node: &WalkNode) {
        if let Role::Apply(_, children) = &node.role {
            for child in nodes_of(children) {
                let readers = &mut self.readers[child as usize];
                *readers = readers.saturating_sub(1);
            }
        }
        self.read_later.push(number);
        self.added += 1;
    }

    /// A piece was cut out.
    pub fn cut(&mut self) {
        self.is_old = true;
    }

    /// The nodes from which all open ones are reached, if counting them again may tell less than what is known: often
    /// enough to matter, and seldom enough that each node is counted a few times.
    pub fn roots(&mut self) -> Option<SmallVec<[Child; 4]>> {
        if !self.is_old || self.added * T.open_part < self.counted {
            return None;
        }
        let readers = &self.readers;
        self.read_later.retain(|node| readers[*node as usize] > 0);
        Some(self.read_later.iter().copied().map(Child::Node).collect())
    }

    /// These are all.
    pub fn count(&mut self, all: &[Emitted], need: Resources) {
        (self.need, self.counted, self.added, self.is_old) = (need, all.len(), 0, false);
    }
}
