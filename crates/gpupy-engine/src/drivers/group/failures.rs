//! Members that fail.
//!
//! Owns [`Trouble`]. A member that is lost is closed, and what only it had is lost with it. Reading such elements says
//! `Poisoned`, and so does a launch that needs them: the core then computes them again, on those that are left. The
//! group is lost when its last member is. Invariant: each trouble that is to be tried again has taken a member or a
//! part away, so trying ends.
//!
//! Not here: slabs that others take over (`shared_launch.rs`).

use super::blocks::Block;
use super::slabs::Slab;
use super::state::DeviceGroup;
use gpupy_core::driver::{BlockId, Launch};
use gpupy_core::{Error, ErrorKind, Result};

/// Why something was not done.
pub(super) enum Trouble {
    /// Less is left than before: it may be tried again.
    Again(Error),
    Error(Error),
}

/// What may have to be tried again.
pub(super) type Outcome<T> = std::result::Result<T, Trouble>;

impl Trouble {
    /// What happened.
    pub fn error(self) -> Error {
        match self {
            Trouble::Again(error) | Trouble::Error(error) => error,
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Error(error)
    }
}

impl DeviceGroup {
    /// Does something until it is done, or fails with nothing lost that it could do without.
    pub(super) fn try_on<T>(
        &mut self,
        mut act: impl FnMut(&mut DeviceGroup) -> Outcome<T>,
    ) -> Result<T> {
        loop {
            self.lead_mut()?;
            match act(self) {
                Ok(done) => return Ok(done),
                Err(Trouble::Again(_)) => {}
                Err(Trouble::Error(error)) => return Err(error),
            }
        }
    }

    /// What becomes of an error of a member.
    pub(super) fn failed(&mut self, member: usize, error: Error) -> Trouble {
        let error = error.with_default("device", self.choices[member].name());
        if error.kind() != ErrorKind::DeviceLost {
            return Trouble::Error(error);
        }
        self.lose(member, &error);
        match self.open_members().is_empty() {
            true => Trouble::Error(error),
            false => Trouble::Again(error),
        }
    }

    /// Closes a member that is gone.
    fn lose(&mut self, member: usize, why: &Error) {
        let Some(mut lost) = self.members.get_mut(member).and_then(Option::take) else { return };
        self.blocks.iter_mut().for_each(|block| block.lose_part(member, why));
        lost.driver.cleanup();
        self.log.note(member, |stats| {
            stats.failures += 1;
            stats.share = 0.0;
        });
        self.tell_shares();
    }

    /// What becomes of an error of reading a part: where its evaluation failed, its elements are gone.
    pub(super) fn unreadable(&mut self, id: BlockId, member: usize, error: Error) -> Trouble {
        if error.kind() != ErrorKind::Poisoned {
            return self.failed(member, error);
        }
        self.log.note(member, |stats| stats.failures += 1);
        let Ok(block) = self.blocks.get_mut(id) else { return Trouble::Error(error) };
        let part = block.part(member).map(|part| part.id);
        block.lose_part(member, &error);
        if let (Some(part), Ok(member)) = (part, self.member(member)) {
            member.driver.block_free(part);
        }
        Trouble::Again(error)
    }

    /// Why some of what a launch reads is gone, if it is.
    pub(super) fn loss(&self, launch: &Launch<'_>) -> Result<Option<Error>> {
        for (number, id) in launch.operands.iter().enumerate() {
            let block = self.blocks.get(*id)?;
            if block.is_whole() {
                continue;
            }
            let reads = Slab::whole(launch).reads(launch.program, number, block.spec.len);
            if let Some(loss) = block.loss(reads) {
                return Ok(Some(loss.clone()));
            }
        }
        Ok(None)
    }

    /// The error of reading elements that are gone.
    pub(super) fn gone(why: &Error) -> Trouble {
        Trouble::Error(match why.kind() {
            ErrorKind::Poisoned => why.clone(),
            _ => Error::new(ErrorKind::Poisoned, "group")
                .says("the device that had these elements failed, and they are nowhere else: compute them again")
                .from_source(why.clone()),
        })
    }

    /// Poisons what a launch should have written.
    pub(super) fn poison(&mut self, launch: &Launch<'_>, why: &Error) -> Result<()> {
        let slab = Slab::whole(launch);
        for (number, dest) in launch.dests.iter().enumerate() {
            let writes = slab.writes(launch.program, number);
            self.blocks.get_mut(dest.block)?.lose(writes, why);
        }
        Ok(())
    }

    /// Frees the parts of a block that is no longer one of the group's.
    pub(super) fn free_parts(&mut self, block: Block) {
        for (member, part) in self.members.iter_mut().zip(block.parts) {
            if let (Some(member), Some(part)) = (member, part) {
                member.driver.block_free(part.id);
            }
        }
    }
}
