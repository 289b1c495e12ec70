//! The state of a group, and its lead member.
//!
//! Owns [`DeviceGroup`]. The first member that is open *leads*: it answers what a driver is asked.
//!
//! Not here: the 14 functions (`driver.rs`), what members are (`members.rs`).

use super::blocks::Blocks;
use super::member_stats::Log;
use super::members::{Choice, Member};
use super::pace::Paces;
use gpupy_core::driver::BlockSpec;
use gpupy_core::{Error, ErrorKind, Result};
use std::sync::Arc;

/// Which launches a group shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Those that take less time so, by what was measured.
    #[default]
    WhereItPays,
    /// All that can be cut, in equal shares: for tests.
    Always,
}

/// Several devices as one driver.
pub struct DeviceGroup {
    pub(super) choices: Arc<[Choice]>,
    pub(super) log: Log,
    pub(super) sharing: Sharing,
    /// Those that are open, by their place among the choices.
    pub(super) members: Vec<Option<Member>>,
    pub(super) blocks: Blocks,
    /// The longest block, which every member has room for.
    pub(super) longest: usize,
    pub(super) paces: Paces,
    /// Whether an operation that is done within a bound may have other bits on another member.
    pub(super) is_mixed: bool,
}

impl DeviceGroup {
    /// The member that leads.
    pub(super) fn lead(&self) -> Option<&Member> {
        self.members.iter().flatten().next()
    }

    /// The lead, to be asked.
    ///
    /// # Errors
    /// - `DeviceLost`: the last member is gone. `Invalid`: the group is closed.
    pub(super) fn lead_mut(&mut self) -> Result<&mut Member> {
        let was_open = !self.members.is_empty();
        let lead = self.members.iter_mut().flatten().next();
        lead.ok_or_else(|| match was_open {
            true => {
                Error::new(ErrorKind::DeviceLost, "group").says("all devices of the group are gone")
            }
            false => invalid("the group is closed"),
        })
    }

    /// An open member.
    pub(super) fn member(&mut self, member: usize) -> Result<&mut Member> {
        let found = self.members.get_mut(member).and_then(Option::as_mut);
        found.ok_or_else(|| Error::new(ErrorKind::DeviceLost, "group"))
    }

    /// The members that are open.
    pub(super) fn open_members(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|member| self.members[*member].is_some()).collect()
    }

    /// Those of them that can have a block.
    pub(super) fn holders(&self, spec: &BlockSpec) -> Vec<usize> {
        let holds = |member: &Option<Member>| member.as_ref().is_some_and(|m| m.holds(spec));
        (0..self.members.len()).filter(|member| holds(&self.members[*member])).collect()
    }
}

/// The error of a mistake of the caller.
pub(super) fn invalid(said: &str) -> Error {
    Error::new(ErrorKind::Invalid, "group").says(said)
}
