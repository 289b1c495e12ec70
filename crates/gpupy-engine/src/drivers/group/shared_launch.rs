//! Launches of a group: alone on one member, or slab by slab on several at once.
//!
//! Owns [`Task`], what one member evaluates. A launch is shared where that takes less time by what was measured, copies
//! included. It is over when all members are: so they are measured, and what one failed the others do at once.
//! Invariants: operands are there, and parts have room, before anything is evaluated; after an error blocks are as they
//! were, or poisoned.
//!
//! Not here: how large slabs are (`pace.rs`), what a member reads (`slabs.rs`), how that gets there
//! (`member_copies.rs`).

use super::failures::{Outcome, Trouble};
use super::member_copies::Upload;
use super::members::Member;
use super::slabs::{Cut, Slab};
use super::state::{DeviceGroup, Sharing};
use crate::thresholds::T;
use gpupy_core::driver::{BlockId, Dest, Evaluated, Launch};
use gpupy_core::ir::Form;
use gpupy_core::shape::size_of;
use gpupy_core::{Error, ErrorKind, Result};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

/// What a member evaluates of a launch.
struct Task {
    member: usize,
    slab: Slab,
    /// The member's own blocks.
    operands: Vec<BlockId>,
    dests: Vec<Dest>,
    uploads: Vec<Upload>,
}

impl Task {
    /// Does it; waits until it is done where others wait for that.
    fn run(
        &self,
        member: &mut Member,
        launch: &Launch<'_>,
        waits: bool,
    ) -> Result<(Evaluated, Duration)> {
        for upload in &self.uploads {
            upload.write(member)?;
        }
        let began = Instant::now();
        let done = member.driver.eval_ir(&Launch {
            shape: &self.slab.shape,
            operands: &self.operands,
            accesses: &self.slab.accesses,
            dests: &self.dests,
            memory: &[],
            lend: None,
            rest: None,
            ..launch.clone()
        })?;
        if waits {
            for dest in &self.dests {
                member.driver.block_read(dest.block, 0, &mut [])?;
            }
        }
        Ok((done, began.elapsed()))
    }
}

/// How a task went.
type Ran = Result<(Evaluated, Duration)>;

/// Does tasks at once, the first of them in this thread.
fn run_all(members: &mut [Option<Member>], launch: &Launch<'_>, tasks: &[Task]) -> Vec<Ran> {
    let gone = |words: &str| Error::new(ErrorKind::DeviceLost, "eval_ir").says(words);
    let mut places: Vec<Option<&mut Member>> = members.iter_mut().map(Option::as_mut).collect();
    let mut pairs = tasks.iter().map(|task| (task, places[task.member].take()));
    scope(|scope| {
        let first = pairs.next();
        let others: Vec<_> = pairs
            .map(|(task, member)| {
                let member = member?;
                let thread = Builder::new().name("gpupy-device".into());
                thread.spawn_scoped(scope, move || task.run(member, launch, true)).ok()
            })
            .collect();
        let first = first.map(|(task, member)| match member {
            Some(member) => task.run(member, launch, true),
            None => Err(gone("the device is closed")),
        });
        let others = others.into_iter().map(|thread| match thread {
            Some(thread) => {
                thread.join().unwrap_or_else(|_| Err(gone("the driver ended its thread")))
            }
            // Another member does it.
            None => Err(Error::new(ErrorKind::OutOfMemory, "eval_ir").says("there is no thread")),
        });
        first.into_iter().chain(others).collect()
    })
}

/// The work of so many points of a launch.
fn work(launch: &Launch<'_>, shape: &[usize]) -> f64 {
    size_of(shape) as f64 * launch.program.operation_count().max(1) as f64
}

impl DeviceGroup {
    /// Evaluates a launch.
    pub(super) fn eval(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        for id in launch.operands.iter().chain(launch.dests.iter().map(|dest| &dest.block)) {
            self.blocks.get(*id)?;
        }
        self.try_on(|group| {
            if let Some(loss) = group.loss(launch)? {
                return Err(DeviceGroup::gone(&loss));
            }
            let able = group.able(launch);
            match group.shares(launch, &able) {
                Some(slabs) => group.eval_shared(launch, slabs),
                None => group.eval_alone(launch, &able),
            }
        })
    }

    /// The members that can evaluate a launch. The one that leads is not asked: it says so by itself.
    fn able(&mut self, launch: &Launch<'_>) -> Vec<usize> {
        let ids = launch.operands.iter().chain(launch.dests.iter().map(|dest| &dest.block));
        let specs = ids.filter_map(|id| Some(self.blocks.get(*id).ok()?.spec));
        let specs: Vec<_> = specs.collect();
        let lead = self.open_members().first().copied();
        let able = self.members.iter_mut().enumerate().filter_map(|(number, member)| {
            let member = member.as_mut()?;
            let holds = specs.iter().all(|spec| member.holds(spec));
            (holds && (lead == Some(number) || member.takes(launch))).then_some(number)
        });
        // The sums of products have bits of the driver's own, which may depend on how many there are.
        let own_bits = matches!(launch.program.form, Form::MatMul)
            && launch.program.dests.iter().any(|dtype| dtype.is_float() || dtype.is_complex());
        able.take(if own_bits { 1 } else { usize::MAX }).collect()
    }

    /// Bytes that a member lacks for a slab.
    fn lacks(&self, launch: &Launch<'_>, member: usize, slab: &Slab) -> usize {
        let operands = launch.operands.iter().enumerate();
        let lacks = operands.map(|(number, id)| {
            let len = self.blocks.get(*id).map_or(0, |block| block.spec.len);
            self.missing(*id, member, slab.reads(launch.program, number, len))
        });
        lacks.sum()
    }

    /// Nanoseconds until a member has evaluated a slab; nothing where it was never measured.
    fn estimate(&self, launch: &Launch<'_>, member: usize, slab: &Slab) -> Option<f64> {
        let evaluates =
            self.paces.estimate(launch.fingerprint, member, work(launch, &slab.shape))?;
        Some(evaluates + self.paces.transfer(member, self.lacks(launch, member, slab)))
    }

    /// The slabs of a launch, if it is shared.
    fn shares(&self, launch: &Launch<'_>, able: &[usize]) -> Option<Vec<(usize, Slab)>> {
        let least = match self.sharing {
            Sharing::Always => 0,
            Sharing::WhereItPays => T.group_work,
        };
        if able.len() < 2 || work(launch, launch.shape) < least as f64 {
            return None;
        }
        let cut = Cut::of(launch)?;
        let slabs: Vec<(usize, Slab)> = self
            .paces
            .cut(able, cut.units)
            .into_iter()
            .map(|(member, units)| (member, cut.slab(units)))
            .collect();
        if slabs.len() < 2 || self.sharing == Sharing::Always {
            return (slabs.len() > 1).then_some(slabs);
        }
        let mut slowest = 0.0f64;
        for (member, slab) in &slabs {
            // What was never measured is tried.
            let Some(time) = self.estimate(launch, *member, slab) else { return Some(slabs) };
            slowest = slowest.max(time);
        }
        let together = T.group_launch + slowest;
        let whole = Slab::whole(launch);
        let alone = able.iter().filter_map(|member| self.estimate(launch, *member, &whole));
        let pays = alone.fold(f64::INFINITY, f64::min) > together;
        pays.then_some(slabs)
    }

    /// What a member needs for a slab: its blocks, with room and with what is read.
    fn task(&mut self, launch: &Launch<'_>, member: usize, slab: Slab, all: bool) -> Outcome<Task> {
        let (mut operands, mut dests, mut uploads) = (Vec::new(), Vec::new(), Vec::new());
        for (number, id) in launch.operands.iter().enumerate() {
            let block = self.blocks.get(*id)?;
            let reads = slab.reads(launch.program, number, block.spec.len);
            // A member was lost since this was asked of all that is read.
            if let Some(loss) = block.loss(reads.clone()) {
                return Err(Trouble::Again(loss.clone()));
            }
            self.bring(*id, member, reads, &mut uploads)?;
            operands.push(self.part(*id, member)?);
        }
        for (number, dest) in launch.dests.iter().enumerate() {
            // What lies between the elements that are written stays.
            if !dest.whole && !slab.fills(launch.program, number) {
                let writes = slab.writes(launch.program, number);
                self.bring(dest.block, member, writes, &mut uploads)?;
            }
            let block = self.part(dest.block, member)?;
            let access = slab.dests[number].clone();
            dests.push(Dest { block, access, whole: dest.whole && all });
        }
        Ok(Task { member, slab, operands, dests, uploads })
    }

    /// Notes what a task has written.
    fn wrote(&mut self, launch: &Launch<'_>, task: &Task) -> Result<()> {
        for (number, dest) in launch.dests.iter().enumerate() {
            let writes = task.slab.writes(launch.program, number);
            self.blocks.get_mut(dest.block)?.written(task.member, writes);
        }
        let bytes: usize = task.uploads.iter().map(Upload::len).sum();
        self.log.note(task.member, |stats| stats.bytes_in += bytes as u64);
        Ok(())
    }

    /// Notes that a member failed at a program; what was lost with it.
    fn failed_at(&mut self, launch: &Launch<'_>, member: usize, error: Error) -> Trouble {
        if let (ErrorKind::Refused | ErrorKind::Unsupported, Ok(member)) =
            (error.kind(), self.member(member))
        {
            member.refused(launch.fingerprint);
        }
        self.failed(member, error)
    }

    fn eval_alone(&mut self, launch: &Launch<'_>, able: &[usize]) -> Outcome<Evaluated> {
        let whole = Slab::whole(launch);
        let cost = |member: &usize| {
            let lacks = self.lacks(launch, *member, &whole);
            let known = self.estimate(launch, *member, &whole);
            known.unwrap_or(self.paces.transfer(*member, lacks))
        };
        let mut order: Vec<(f64, usize)> =
            able.iter().map(|member| (cost(member), *member)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut first = None;
        for (_, member) in order {
            let task = self.task(launch, member, whole.clone(), true)?;
            let ran = task.run(self.member(member)?, launch, false);
            match ran {
                Ok((done, _)) => {
                    self.wrote(launch, &task)?;
                    self.log.note(member, |stats| stats.launches += 1);
                    return Ok(done);
                }
                Err(error) => match self.failed_at(launch, member, error) {
                    Trouble::Error(error)
                        if matches!(error.kind(), ErrorKind::Refused | ErrorKind::Unsupported) =>
                    {
                        self.log.note(member, |stats| stats.failures += 1);
                        first = first.or(Some(error));
                    }
                    trouble => return Err(trouble),
                },
            }
        }
        Err(Trouble::Error(first.unwrap_or_else(|| {
            Error::new(ErrorKind::Unsupported, "eval_ir")
                .says("no device of the group that is left has blocks like these")
        })))
    }

    fn eval_shared(
        &mut self,
        launch: &Launch<'_>,
        slabs: Vec<(usize, Slab)>,
    ) -> Outcome<Evaluated> {
        let mut tasks = Vec::with_capacity(slabs.len());
        for (member, slab) in slabs {
            tasks.push(self.task(launch, member, slab, false)?);
        }
        let ran = run_all(&mut self.members, launch, &tasks);
        let mut all = Evaluated::default();
        let (mut times, mut failed) = (Vec::new(), Vec::new());
        for (task, ran) in tasks.into_iter().zip(ran) {
            match ran {
                Ok((done, time)) => {
                    self.wrote(launch, &task)?;
                    self.log.note(task.member, |stats| stats.slabs += 1);
                    times.push((task.member, work(launch, &task.slab.shape), time));
                    add(&mut all, done);
                }
                Err(error) => failed.push((task, error)),
            }
        }
        if times.is_empty() {
            let mut troubles = Vec::new();
            for (task, error) in failed {
                troubles.push(self.failed_at(launch, task.member, error));
            }
            let again = troubles.iter().position(|t| matches!(t, Trouble::Again(_))).unwrap_or(0);
            return Err(troubles.swap_remove(again));
        }
        // Compiling is no measure of what follows.
        let is_measured = failed.is_empty() && all.compiled + all.specialised == 0;
        if is_measured && self.sharing == Sharing::WhereItPays {
            self.paces.shared(launch.fingerprint, &times);
            self.tell_shares();
        }
        let able: Vec<usize> = times.iter().map(|(member, ..)| *member).collect();
        for (task, error) in failed {
            let is_lost = error.kind() == ErrorKind::DeviceLost;
            let error = self.failed_at(launch, task.member, error).error();
            if !is_lost {
                self.log.note(task.member, |stats| stats.failures += 1);
            }
            match self.take_over(launch, &task.slab, &able) {
                Some(done) => add(&mut all, done),
                // What it reads is gone.
                None if is_lost => {
                    self.poison(launch, &error)?;
                    return Err(DeviceGroup::gone(&error));
                }
                None if is_about_it(&error) && launch.dests.iter().all(|dest| dest.whole) => {
                    return Err(Trouble::Error(error));
                }
                // Something that was there is written over.
                None => {
                    self.poison(launch, &error)?;
                    break;
                }
            }
        }
        Ok(all)
    }

    /// A slab that one member failed is evaluated by another; nothing where none can.
    fn take_over(&mut self, launch: &Launch<'_>, slab: &Slab, able: &[usize]) -> Option<Evaluated> {
        able.iter().find_map(|member| {
            let task = self.task(launch, *member, slab.clone(), false).ok()?;
            let ran = task.run(self.member(*member).ok()?, launch, true);
            match ran {
                Ok((done, _)) => {
                    self.wrote(launch, &task).ok()?;
                    self.log.note(*member, |stats| stats.taken_over += 1);
                    Some(done)
                }
                Err(error) => {
                    self.failed_at(launch, *member, error);
                    None
                }
            }
        })
    }

    /// Notes the shares that the members have now.
    pub(super) fn tell_shares(&self) {
        let open = self.open_members();
        let all: f64 = open.iter().map(|member| self.paces.shares()[*member]).sum();
        for member in open {
            let share = self.paces.shares()[member] / all;
            self.log.note(member, |stats| stats.share = share);
        }
    }
}

/// Whether an error is about the launch, which the core then cuts smaller or makes room for.
fn is_about_it(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused | ErrorKind::Unsupported | ErrorKind::OutOfMemory)
}

/// Adds what one evaluation cost to what others did.
fn add(all: &mut Evaluated, done: Evaluated) {
    all.compiled += done.compiled;
    all.specialised += done.specialised;
    all.launches += done.launches;
    all.code = all.code.take().or(done.code);
}
