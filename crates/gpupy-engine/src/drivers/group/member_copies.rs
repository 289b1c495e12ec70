//! Elements come to the members that read them.
//!
//! Owns parts that are made at need, and copies: from host memory that the core lets the group read where it lies, or
//! from another member by way of host memory. Invariant: a part is valid only where it was written.
//!
//! Not here: which elements a slab reads (`slabs.rs`), members that fail meanwhile (`failures.rs`).

use super::blocks::MemberBlock;
use super::failures::Outcome;
use super::members::Member;
use super::state::DeviceGroup;
use crate::memory::ranges::Ranges;
use crate::thresholds::T;
use gpupy_core::driver::{BlockId, BlockSpec, HostMemory};
use gpupy_core::{ErrorKind, Result, memory};
use std::ops::Range;
use std::time::Instant;

/// Elements in host memory that a member's block is given before it is read.
pub(super) struct Upload {
    part: BlockId,
    /// The first element of the part.
    offset: usize,
    /// The block's memory, of which these bytes are copied.
    memory: HostMemory,
    bytes: Range<usize>,
}

impl Upload {
    /// How many bytes these are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Copies them.
    ///
    /// # Errors
    /// Those of `block_write`.
    pub fn write(&self, member: &mut Member) -> Result<()> {
        // SAFETY: the core leaves memory that it had imported alone until the block is freed, and it has all of the
        // block's elements.
        let bytes = unsafe {
            let first = self.memory.as_ptr().add(self.bytes.start);
            std::slice::from_raw_parts(first, self.bytes.len())
        };
        member.driver.block_write(self.part, self.offset, bytes)
    }

    /// Copies bytes of a block's memory out, from the `first` on.
    pub fn read(memory: HostMemory, first: usize, out: &mut [u8]) {
        // SAFETY: as above; `out` is the caller's own.
        unsafe {
            memory.as_ptr().add(first).copy_to_nonoverlapping(out.as_mut_ptr(), out.len());
        }
    }
}

/// A new part of a member: over the block's own host memory, where the member reads that.
fn new_part(member: &mut Member, spec: BlockSpec) -> Result<MemberBlock> {
    if let Some(memory) = spec.memory {
        let (caps, address) = (&member.caps, memory.as_ptr() as usize);
        let imports = caps.import_alignment > 0 && address.is_multiple_of(caps.import_alignment);
        if caps.host_memory || imports {
            match member.driver.block_alloc(spec) {
                Err(error) if error.kind() == ErrorKind::Unsupported => {}
                id => return Ok(MemberBlock { id: id?, valid: Ranges::full(spec.len) }),
            }
        }
    }
    let id = member.driver.block_alloc(BlockSpec { memory: None, ..spec })?;
    Ok(MemberBlock { id, valid: Ranges::default() })
}

impl DeviceGroup {
    /// A member's part of a block, made if there is none.
    ///
    /// # Errors
    /// - `OutOfMemory`: the member has no room now.
    pub(super) fn part(&mut self, id: BlockId, member: usize) -> Outcome<BlockId> {
        let block = self.blocks.get_mut(id)?;
        if let Some(part) = block.part(member) {
            return Ok(part.id);
        }
        let spec = block.spec;
        let made = new_part(self.member(member)?, spec);
        let part = made.map_err(|error| self.failed(member, error))?;
        let made = part.id;
        if let Some(slot) = self.blocks.get_mut(id)?.parts.get_mut(member) {
            *slot = Some(part);
        }
        Ok(made)
    }

    /// The bytes that a member lacks of positions of a block.
    pub(super) fn missing(&self, id: BlockId, member: usize, range: Range<usize>) -> usize {
        let Ok(block) = self.blocks.get(id) else { return 0 };
        let gaps = match &block.parts[member] {
            Some(part) => part.valid.gaps(range),
            None => vec![range],
        };
        block.bytes(gaps.into_iter().map(|gap| gap.len()).sum())
    }

    /// Brings positions of a block to a member. What lies in host memory is left to `uploads`.
    pub(super) fn bring(
        &mut self,
        id: BlockId,
        member: usize,
        range: Range<usize>,
        uploads: &mut Vec<Upload>,
    ) -> Outcome<()> {
        let part = self.part(id, member)?;
        let block = self.blocks.get_mut(id)?;
        let gaps = block.part(member).map_or_else(Vec::new, |part| part.valid.gaps(range));
        if let Some(memory) = block.spec.memory {
            uploads.extend(gaps.into_iter().map(|gap| {
                let bytes = block.bytes(gap.start)..block.bytes(gap.end);
                Upload { part, offset: gap.start, memory, bytes }
            }));
            return Ok(());
        }
        for gap in gaps {
            self.copy(id, member, gap)?;
        }
        Ok(())
    }

    /// Copies elements from the members that have them to one that has not.
    fn copy(&mut self, id: BlockId, member: usize, mut range: Range<usize>) -> Outcome<()> {
        let most = (T.group_moved / self.blocks.get(id)?.bytes(1)).max(1);
        while !range.is_empty() {
            let block = self.blocks.get(id)?;
            let (holder, run) = block.holder(range.start..range.end.min(range.start + most));
            if let Some(holder) = holder {
                let began = Instant::now();
                let mut bytes = memory::zeroed(block.bytes(run.len()))?;
                self.read_part(id, holder, run.start, &mut bytes)?;
                self.write_part(id, member, run.start, &bytes)?;
                self.paces.moved(member, bytes.len(), began.elapsed());
                let block = self.blocks.get_mut(id)?;
                if let Some(part) = block.part(member) {
                    part.valid.insert(run.clone());
                }
            }
            range.start = run.end;
        }
        Ok(())
    }

    /// Reads elements of a part that are valid there.
    pub(super) fn read_part(
        &mut self,
        id: BlockId,
        member: usize,
        offset: usize,
        out: &mut [u8],
    ) -> Outcome<()> {
        let part = self.part(id, member)?;
        let read = self.member(member)?.driver.block_read(part, offset, out);
        if let Err(error) = read {
            return Err(self.unreadable(id, member, error));
        }
        self.log.note(member, |stats| stats.bytes_out += out.len() as u64);
        Ok(())
    }

    /// Writes elements of a part, which are not valid by that.
    pub(super) fn write_part(
        &mut self,
        id: BlockId,
        member: usize,
        offset: usize,
        bytes: &[u8],
    ) -> Outcome<()> {
        let part = self.part(id, member)?;
        let written = self.member(member)?.driver.block_write(part, offset, bytes);
        written.map_err(|error| self.failed(member, error))?;
        self.log.note(member, |stats| stats.bytes_in += bytes.len() as u64);
        Ok(())
    }
}
