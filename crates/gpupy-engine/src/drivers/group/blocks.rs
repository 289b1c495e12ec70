//! Blocks of a group: which member has which elements.
//!
//! Owns [`Block`] and the table of them. A block of the group has at most one *part* on each member: a block of that
//! member's of the same length, of which some elements are valid. Invariants: an element is valid on any member that
//! has it, or it lies in host memory, or it was lost, or nothing was ever written there; no two blocks of this process
//! ever have the same handle.
//!
//! Not here: how elements get from one member to another (`member_copies.rs`).

use crate::memory::ranges::Ranges;
use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many blocks groups of this process have had.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A member's block, and which of its elements are those of the group's block.
#[derive(Debug)]
pub(super) struct MemberBlock {
    pub id: BlockId,
    pub valid: Ranges,
}

/// A block of the group.
#[derive(Debug)]
pub(super) struct Block {
    pub spec: BlockSpec,
    /// By member.
    pub parts: SmallVec<[Option<MemberBlock>; 4]>,
    /// Elements that are gone, and why.
    lost: Option<(Ranges, Error)>,
}

impl Block {
    pub fn new(spec: BlockSpec, members: usize) -> Block {
        Block { spec, parts: (0..members).map(|_| None).collect(), lost: None }
    }

    /// A member's part.
    pub fn part(&mut self, member: usize) -> Option<&mut MemberBlock> {
        self.parts.get_mut(member)?.as_mut()
    }

    /// The member that has an element, and the elements from there on that it has; where no member has it, those that
    /// none has.
    pub fn holder(&self, range: Range<usize>) -> (Option<usize>, Range<usize>) {
        let (mut end, start) = (range.end, range.start);
        for (member, part) in self.parts.iter().enumerate() {
            let Some(part) = part else { continue };
            match part.valid.within(range.clone()).iter().next() {
                Some(run) if run.start == start => return (Some(member), run),
                Some(run) => end = end.min(run.start),
                None => {}
            }
        }
        (None, start..end)
    }

    /// Elements were written on a member: no other has them as they are now.
    pub fn written(&mut self, member: usize, range: Range<usize>) {
        for (other, part) in self.parts.iter_mut().enumerate() {
            let Some(part) = part else { continue };
            match other == member {
                true => part.valid.insert(range.clone()),
                false => part.valid.remove(range.clone()),
            }
        }
        self.found(range);
    }

    /// Elements that were lost are there again.
    fn found(&mut self, range: Range<usize>) {
        if let Some((lost, _)) = &mut self.lost {
            lost.remove(range);
            if lost.is_empty() {
                self.lost = None;
            }
        }
    }

    /// Elements are gone.
    pub fn lose(&mut self, range: Range<usize>, why: &Error) {
        self.parts.iter_mut().flatten().for_each(|part| part.valid.remove(range.clone()));
        let lost = &mut self.lost.get_or_insert_with(|| (Ranges::default(), why.clone())).0;
        lost.insert(range);
    }

    /// Whether none of its elements are gone.
    pub fn is_whole(&self) -> bool {
        self.lost.is_none()
    }

    /// Why some of these elements are gone, if they are.
    pub fn loss(&self, range: Range<usize>) -> Option<&Error> {
        let (lost, why) = self.lost.as_ref()?;
        (!lost.within(range).is_empty()).then_some(why)
    }

    /// A member is gone: what only it had is lost, unless it lies in host memory.
    pub fn lose_part(&mut self, member: usize, why: &Error) {
        let Some(part) = self.parts.get_mut(member).and_then(Option::take) else { return };
        if self.spec.memory.is_some() {
            return;
        }
        for range in part.valid.iter() {
            let mut gone = Ranges::default();
            gone.insert(range);
            for other in self.parts.iter().flatten() {
                other.valid.iter().for_each(|known| gone.remove(known));
            }
            gone.iter().for_each(|range| self.lose(range, why));
        }
    }

    /// Bytes of so many elements.
    pub fn bytes(&self, elements: usize) -> usize {
        elements * self.spec.dtype.size()
    }
}

/// The live blocks of a group.
#[derive(Default)]
pub(super) struct Blocks(FxHashMap<BlockId, Block>);

impl Blocks {
    pub fn insert(&mut self, block: Block) -> BlockId {
        let id = BlockId(1 + COUNT.fetch_add(1, Ordering::Relaxed));
        self.0.insert(id, block);
        id
    }

    pub fn remove(&mut self, id: BlockId) -> Option<Block> {
        self.0.remove(&id)
    }

    /// A live block.
    ///
    /// # Errors
    /// - `Invalid`: the handle is dead, or another's.
    pub fn get(&self, id: BlockId) -> Result<&Block> {
        self.0.get(&id).ok_or_else(dead)
    }

    /// A live block, to change it.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_mut(&mut self, id: BlockId) -> Result<&mut Block> {
        self.0.get_mut(&id).ok_or_else(dead)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        self.0.values_mut()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

fn dead() -> Error {
    Error::new(ErrorKind::Invalid, "group").says("there is no such block")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use gpupy_core::DType;

    /// A block on two members, of which each has these elements.
    fn block(valid: &[(usize, Range<usize>)]) -> Block {
        let mut block = Block::new(BlockSpec::new(DType::F32, 100), 2);
        let part = || Some(MemberBlock { id: BlockId(0), valid: Ranges::default() });
        block.parts.iter_mut().for_each(|slot| *slot = part());
        for (member, range) in valid {
            block.part(*member).unwrap().valid.insert(range.clone());
        }
        block
    }

    #[test]
    fn an_element_is_found_where_it_is_valid() {
        let block = block(&[(0, 0..50), (0, 80..90), (1, 40..60)]);
        assert_eq!(block.holder(0..100), (Some(0), 0..50));
        assert_eq!(block.holder(50..100), (Some(1), 50..60));
        assert_eq!(block.holder(60..100), (None, 60..80));
        assert_eq!(block.holder(85..88), (Some(0), 85..88));
        assert_eq!(block.holder(95..100), (None, 95..100));
    }

    #[test]
    fn what_only_a_lost_member_had_is_lost_until_it_is_written_again() {
        let mut block = block(&[(0, 0..50), (1, 40..100)]);
        let why = Error::new(ErrorKind::DeviceLost, "eval_ir");
        block.lose_part(1, &why);
        assert!(block.loss(0..50).is_none());
        assert_eq!(block.loss(0..51).unwrap().kind(), ErrorKind::DeviceLost);
        block.written(0, 50..90);
        assert!(block.loss(0..90).is_none());
        assert!(block.loss(0..100).is_some());
        block.written(0, 90..100);
        assert!(block.lost.is_none());
    }
}
