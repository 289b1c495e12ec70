//! The driver of a group: the 14 functions.
//!
//! The lead member answers all questions to the group: the group has its capabilities. Members that treat subnormal
//! numbers in different ways are refused, as bits would depend on the member that computes. Operations within a bound
//! are the group's own only if all members are one driver on devices of one name. Invariant: no thread of the group is
//! left when a call returns.
//!
//! Not here: launches (`shared_launch.rs`), copies (`member_copies.rs`), members that fail (`failures.rs`).

use super::blocks::{Block, Blocks};
use super::failures::{Outcome, Trouble};
use super::member_copies::Upload;
use super::member_stats::Log;
use super::members::{Choice, Member};
use super::pace::Paces;
use super::state::{DeviceGroup, Sharing, invalid};
use crate::drivers::registry::Constructor;
use crate::thresholds::T;
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::sync::Arc;

/// Host memory that a group reads where it lies is aligned at least for the largest element.
const ALIGNMENT: usize = 16;

impl DeviceGroup {
    /// What makes a group of drivers, each with a name and the words for its device, and the log of what its members
    /// do.
    pub fn of(members: Vec<(String, String, Constructor)>, sharing: Sharing) -> (Constructor, Log) {
        let choices = members.into_iter().map(|(driver, device, constructor)| Choice {
            driver,
            device,
            constructor,
        });
        let choices: Arc<[Choice]> = choices.collect();
        let log = Log::of(choices.iter().map(Choice::name));
        let noted = log.clone();
        let constructor: Constructor = Arc::new(move || {
            Box::new(DeviceGroup {
                choices: choices.clone(),
                log: noted.clone(),
                sharing,
                members: Vec::new(),
                blocks: Blocks::default(),
                longest: 0,
                paces: Paces::default(),
                is_mixed: false,
            })
        });
        (constructor, log)
    }

    /// Opens the members. A member that was open before and does not start again is left out, if another one starts.
    fn open(&mut self, config: &Config) -> Result<()> {
        let known = self.log.members();
        let mut reason = None;
        for (number, choice) in self.choices.iter().enumerate() {
            let opened = choice.open(config, &self.choices[0].driver);
            let was_open = known.get(number).is_some_and(|stats| !stats.device.is_empty());
            let member = match opened {
                Ok(member) => Some(member),
                Err(error) if !was_open => return Err(error),
                Err(error) => {
                    self.log.note(number, |stats| stats.failures += 1);
                    reason = Some(error);
                    None
                }
            };
            if let Some(member) = &member {
                self.log.note(number, |stats| stats.device.clone_from(&member.caps.device));
            }
            self.members.push(member);
        }
        match reason {
            Some(error) if self.open_members().is_empty() => Err(error),
            _ => Ok(()),
        }
    }

    /// What the group can, once its members are open.
    fn capabilities(&mut self) -> Result<Capabilities> {
        let open = self.members.iter().zip(self.choices.iter());
        let open: Vec<(&Member, &Choice)> =
            open.filter_map(|(member, choice)| Some((member.as_ref()?, choice))).collect();
        let Some(((lead, first), others)) = open.split_first() else {
            return Err(Error::new(ErrorKind::Unavailable, "init").says("a group needs a device"));
        };
        let differs = |(member, _): &&(&Member, &Choice)| {
            member.caps.flushes_subnormals != lead.caps.flushes_subnormals
        };
        if let Some((_, other)) = others.iter().find(differs) {
            return Err(Error::new(ErrorKind::Unavailable, "init").says(format!(
                "`{}` and `{}` cannot share work, as only one of them keeps subnormal numbers: results \
                 would depend on which computes them",
                first.name(),
                other.name()
            )));
        }
        let is_other = |(member, choice): &(&Member, &Choice)| {
            choice.driver != first.driver || member.caps.device != lead.caps.device
        };
        self.is_mixed = others.iter().any(is_other);
        let names: Vec<&str> = open.iter().map(|(member, _)| &*member.caps.device).collect();
        // A block of the group has a part of its length on any member.
        let longest = open.iter().map(|(member, _)| member.caps.max_block_len).min();
        let longest = longest.unwrap_or(lead.caps.max_block_len);
        let alignments = open.iter().map(|(member, _)| member.caps.import_alignment);
        let findings =
            open.iter().map(|(member, choice)| (choice.name().into(), member.caps.device.clone()));
        Ok(Capabilities {
            device: names.join(" + "),
            max_block_len: longest,
            // Elements of a block are on several devices.
            host_memory: false,
            in_place: false,
            memory_launches: false,
            max_launches: 0,
            lends: 0,
            pieces: open.iter().all(|(member, _)| member.caps.pieces),
            // Each member reads what it needs, where it lies or by a copy.
            import_alignment: alignments.fold(ALIGNMENT, usize::max),
            findings: findings.chain(lead.caps.findings.iter().cloned()).collect(),
            ..lead.caps.clone()
        })
    }

    /// Gives a new block its parts: one, or one on each member if it is large.
    fn alloc_parts(&mut self, id: BlockId) -> Outcome<()> {
        let spec = self.blocks.get(id)?.spec;
        let holders = self.holders(&spec);
        if holders.is_empty() {
            return Err(Trouble::Error(invalid("no device of the group has blocks like this")));
        }
        let count = if spec.bytes() < T.group_block as u64 { 1 } else { holders.len() };
        for member in holders.into_iter().take(count) {
            self.part(id, member)?;
        }
        Ok(())
    }

    /// Writes elements, each to one member: of a large block to that which will compute with them.
    fn write(&mut self, id: BlockId, offset: usize, data: &[u8]) -> Outcome<()> {
        let block = self.blocks.get(id)?;
        let (spec, size) = (block.spec, block.bytes(1));
        let range = offset..offset + data.len() / size;
        let holders = self.holders(&spec);
        let is_large = spec.bytes() >= T.group_block as u64;
        let cut = match holders.first() {
            None => return Err(Trouble::Error(closed())),
            Some(lead) if !is_large => vec![(*lead, 0..spec.len)],
            Some(_) => self.paces.cut(&holders, spec.len),
        };
        for (member, part) in cut {
            let part = part.start.max(range.start)..part.end.min(range.end);
            if part.is_empty() {
                continue;
            }
            let bytes = &data[(part.start - offset) * size..(part.end - offset) * size];
            self.write_part(id, member, part.start, bytes)?;
            self.blocks.get_mut(id)?.written(member, part);
        }
        Ok(())
    }

    /// Reads elements from the members that have them, or from the host memory where they lie.
    fn read(&mut self, id: BlockId, offset: usize, out: &mut [u8]) -> Outcome<()> {
        let size = self.blocks.get(id)?.bytes(1);
        let end = offset + out.len() / size;
        let mut at = offset;
        while at < end {
            let block = self.blocks.get(id)?;
            if let Some(loss) = block.loss(at..end) {
                return Err(DeviceGroup::gone(loss));
            }
            let (holder, run) = block.holder(at..end);
            let bytes = &mut out[(run.start - offset) * size..(run.end - offset) * size];
            match (holder, block.spec.memory) {
                (Some(member), _) => self.read_part(id, member, run.start, bytes)?,
                (None, Some(memory)) => Upload::read(memory, run.start * size, bytes),
                // These elements were never written, so any will do.
                (None, None) => bytes.fill(0),
            }
            at = run.end;
        }
        Ok(())
    }

    /// Waits for the work that writes a block.
    fn wait(&mut self, id: BlockId) -> Outcome<()> {
        let block = self.blocks.get(id)?;
        if let Some(loss) = block.loss(0..block.spec.len) {
            return Err(DeviceGroup::gone(loss));
        }
        let has_part = |member: &usize| block.parts[*member].is_some();
        let members: Vec<usize> = (0..block.parts.len()).filter(has_part).collect();
        members.into_iter().try_for_each(|member| self.read_part(id, member, 0, &mut []))
    }

    /// Checks a range of a block.
    fn check(&self, id: BlockId, offset: usize, bytes: usize) -> Result<()> {
        let block = self.blocks.get(id)?;
        let (size, len) = (block.bytes(1), block.spec.len);
        let end = offset.checked_add(bytes / size);
        if bytes.is_multiple_of(size) && end.is_some_and(|end| end <= len) {
            return Ok(());
        }
        Err(invalid("the range is not of the block").with("offset", offset).with("len", len))
    }
}

impl Driver for DeviceGroup {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        if !self.members.is_empty() {
            return Err(invalid("the driver is open already"));
        }
        if config.share {
            // Elements of a block are on several devices. The log is that of a group that may be in use.
            return Err(Error::new(ErrorKind::Unsupported, "init")
                .says("a group of devices shares its objects with no renderer"));
        }
        self.paces = Paces::new(self.choices.len());
        let opened = self.open(config).and_then(|()| self.capabilities());
        match &opened {
            Ok(caps) => {
                self.longest = caps.max_block_len;
                self.tell_shares();
            }
            Err(_) => self.cleanup(),
        }
        opened
    }

    fn cleanup(&mut self) {
        self.blocks.clear();
        for (number, member) in self.members.drain(..).enumerate() {
            if let Some(mut member) = member {
                member.driver.cleanup();
            }
            self.log.note(number, |stats| stats.share = 0.0);
        }
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        let method = self.lead().map(|lead| lead.driver.get_method(op, dtype));
        match method {
            Some(Method::Native) if self.is_mixed && op.info().ulp > 0.0 => Method::Absent,
            method => method.unwrap_or(Method::Absent),
        }
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let longest = self.longest;
        let lead = self.lead_mut()?;
        if spec.len == 0 || spec.len > longest || !lead.holds(&spec) {
            return Err(invalid("no block is like this")
                .with("len", spec.len)
                .with("dtype", spec.dtype));
        }
        let id = self.blocks.insert(Block::new(spec, self.members.len()));
        let made = self.try_on(|group| group.alloc_parts(id));
        if made.is_err() {
            self.block_free(id);
        }
        made.map(|()| id)
    }

    fn block_free(&mut self, block: BlockId) {
        if let Some(block) = self.blocks.remove(block) {
            self.free_parts(block);
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.check(block, offset, out.len())?;
        match out.is_empty() {
            true => self.try_on(|group| group.wait(block)),
            false => self.try_on(|group| group.read(block, offset, out)),
        }
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.check(block, offset, data.len())?;
        self.try_on(|group| group.write(block, offset, data))
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        self.lead_mut()?.driver.check_ir(program)
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        self.eval(launch)
    }

    fn resource_get(&self, part: Part) -> Resources {
        self.lead().map_or_else(Resources::default, |lead| lead.driver.resource_get(part))
    }

    fn resource_zero(&self) -> Resources {
        self.lead().map_or_else(Resources::default, |lead| lead.driver.resource_zero())
    }

    fn resource_add(&self, total: &mut Resources, other: &Resources) {
        if let Some(lead) = self.lead() {
            lead.driver.resource_add(total, other);
        }
    }

    fn resource_sub(&self, total: &mut Resources, other: &Resources) {
        if let Some(lead) = self.lead() {
            lead.driver.resource_sub(total, other);
        }
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        self.lead().is_some_and(|lead| lead.driver.resource_check(resources))
    }
}

impl Drop for DeviceGroup {
    fn drop(&mut self) {
        self.cleanup();
    }
}

/// The error where no member is left that could have a block.
fn closed() -> Error {
    Error::new(ErrorKind::DeviceLost, "group").says("no device that is left has blocks like this")
}
