//! A driver that fails on command, and otherwise is the driver under test.
//!
//! Owns [`Faulty`] and [`Log`], the record of all its instances. A lost device fails every call until it is
//! opened again; a poisoned block poisons everything that is computed from it. Invariant: handles are made in
//! this file and never reused, so that a dead one is noticed.
//!
//! Not here: when it fails (`plan.rs`), the consequences (`every.rs`).

use super::kept::Kept;
use super::plan::{Call, Plan};
use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Dest, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The driver's name in registries.
pub const NAME: &str = "faulty";

/// The record of all instances, and their instructions.
#[derive(Default)]
struct Seen {
    plan: Option<Plan>,
    healed: bool,
    calls: [usize; Call::ALL.len()],
    struck: usize,
    launched: usize,
    broken: Vec<String>,
    live: usize,
    last: u64,
    /// The delay of a call, and the number of calls that are still delayed.
    nap: (Duration, usize),
    /// The most points of a launch for which there is room.
    room: Option<usize>,
}

/// A shared handle of the record of all instances, which also tells them when to fail.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Seen>>);

impl Log {
    pub fn new(plan: Option<Plan>) -> Log {
        let log = Log::default();
        log.seen().plan = plan;
        log
    }

    /// Makes this many calls take longer.
    pub fn slow(self, nap: Duration, calls: usize) -> Log {
        self.seen().nap = (nap, calls);
        self
    }

    /// Launches of more points find no room.
    pub fn with_room_for(self, points: usize) -> Log {
        self.seen().room = Some(points);
        self
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing fails from now on, and calls are not counted.
    pub fn heal(&self) {
        self.seen().healed = true;
    }

    /// Calls of a function so far.
    pub fn calls(&self, call: Call) -> usize {
        self.seen().calls[call as usize]
    }

    /// Calls that failed as planned.
    pub fn struck(&self) -> usize {
        self.seen().struck
    }

    /// Launches that succeeded, or seemed to.
    pub fn launched(&self) -> usize {
        self.seen().launched
    }

    /// Blocks that are allocated on open devices.
    pub fn live(&self) -> usize {
        self.seen().live
    }

    /// The first promise that the core did not keep.
    pub fn broken(&self) -> Option<String> {
        self.seen().broken.first().cloned()
    }
}

/// A block as the core knows it.
struct Block {
    inner: BlockId,
    spec: BlockSpec,
    poisoned: bool,
}

/// One instance.
pub struct Faulty {
    kept: Kept,
    log: Log,
    open: Option<(Config, Box<dyn Driver>)>,
    lost: bool,
    blocks: HashMap<BlockId, Block>,
}

impl Faulty {
    pub fn boxed(kept: Kept, log: Log) -> Box<dyn Driver> {
        Box::new(Faulty { kept, log, open: None, lost: false, blocks: HashMap::new() })
    }

    /// Counts a call; the error of the plan, or of a device that is gone.
    fn begin(&mut self, call: Call) -> Result<()> {
        let mut seen = self.log.seen();
        let before = seen.calls[call as usize];
        seen.calls[call as usize] += usize::from(!seen.healed);
        if seen.nap.1 > 0 {
            seen.nap.1 -= 1;
            std::thread::sleep(seen.nap.0);
        }
        if self.lost {
            seen.broken.push(format!("{} of a device that is known to be lost", call.name()));
            return Err(planned(ErrorKind::DeviceLost, call));
        }
        let plan = seen.plan.filter(|plan| !seen.healed && plan.strikes(call, before));
        let Some(plan) = plan else { return Ok(()) };
        seen.struck += 1;
        self.lost = plan.kind == ErrorKind::DeviceLost;
        if self.lost {
            seen.live -= self.blocks.len();
        }
        Err(planned(plan.kind, call))
    }

    fn driver(&mut self) -> Result<&mut Box<dyn Driver>> {
        match &mut self.open {
            Some((_, driver)) => Ok(driver),
            None => Err(self.log.broken_by("a call of a driver that is not open".into())),
        }
    }

    /// The inner driver's handle.
    fn inner(&self, block: BlockId) -> Result<BlockId> {
        match self.blocks.get(&block) {
            Some(block) => Ok(block.inner),
            None => Err(self.log.broken_by(format!("block {} is not live", block.0))),
        }
    }

    fn set_poisoned(&mut self, block: BlockId, poisoned: bool) {
        if let Some(block) = self.blocks.get_mut(&block) {
            block.poisoned = poisoned;
        }
    }

    /// Evaluates on the inner driver, which knows other handles.
    fn eval(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let operands =
            launch.operands.iter().map(|block| self.inner(*block)).collect::<Result<Vec<_>>>()?;
        let mut dests = launch.dests.to_vec();
        for dest in &mut dests {
            dest.block = self.inner(dest.block)?;
        }
        self.driver()?.eval_ir(&Launch { operands: &operands, dests: &dests, ..*launch })
    }

    /// The permitted effect of a failed launch: destinations that are written whole, and are no operands, are
    /// undefined.
    fn spoil(&mut self, launch: &Launch<'_>) -> Result<()> {
        let undefined = |dest: &&Dest| dest.whole && !launch.operands.contains(&dest.block);
        for dest in launch.dests.iter().filter(undefined) {
            let block = self.inner(dest.block)?;
            let spec = self.blocks[&dest.block].spec;
            let bytes = vec![1; spec.len * spec.dtype.size()];
            self.driver()?.block_write(block, 0, &bytes)?;
        }
        Ok(())
    }

    fn close(&mut self) {
        let Some((config, mut driver)) = self.open.take() else { return };
        if !self.lost {
            self.log.seen().live -= self.blocks.len();
        }
        self.blocks.drain().for_each(|(_, block)| driver.block_free(block.inner));
        self.kept.give_back(config, driver);
    }
}

impl Log {
    fn broken_by(&self, said: String) -> Error {
        self.seen().broken.push(said.clone());
        Error::new(ErrorKind::Invalid, "promise").says(said)
    }
}

fn planned(kind: ErrorKind, call: Call) -> Error {
    Error::new(kind, call.name()).says("a fault was put in")
}

impl Driver for Faulty {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        self.begin(Call::Init)?;
        let (driver, caps) = self.kept.open(config)?;
        self.open = Some((config.clone(), driver));
        Ok(caps)
    }

    fn cleanup(&mut self) {
        self.close();
        self.lost = false;
    }

    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.open.as_ref().map_or(Method::Absent, |(_, driver)| driver.get_method(op, dtype))
    }

    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        self.begin(Call::Alloc)?;
        let inner = self.driver()?.block_alloc(spec)?;
        let mut seen = self.log.seen();
        seen.last += 1;
        seen.live += 1;
        let block = BlockId(seen.last);
        self.blocks.insert(block, Block { inner, spec, poisoned: false });
        Ok(block)
    }

    fn block_free(&mut self, block: BlockId) {
        let Some(freed) = self.blocks.remove(&block) else {
            self.log.broken_by(format!("block {} is freed, and is not live", block.0));
            return;
        };
        if !self.lost {
            self.log.seen().live -= 1;
        }
        if let Ok(driver) = self.driver() {
            driver.block_free(freed.inner);
        }
    }

    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        let inner = self.inner(block)?;
        if let Err(error) = self.begin(Call::Read) {
            self.set_poisoned(block, error.kind() == ErrorKind::Poisoned);
            return Err(error);
        }
        if self.blocks[&block].poisoned {
            return Err(planned(ErrorKind::Poisoned, Call::Read));
        }
        self.driver()?.block_read(inner, offset, out)
    }

    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        let inner = self.inner(block)?;
        let poisoned = match self.begin(Call::Write) {
            Err(error) if error.kind() == ErrorKind::Poisoned => true,
            other => other.map(|()| false)?,
        };
        let spec = self.blocks[&block].spec;
        if poisoned || data.len() == spec.len * spec.dtype.size() {
            self.set_poisoned(block, poisoned);
        }
        self.driver()?.block_write(inner, offset, data)
    }

    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        self.begin(Call::Check)?;
        self.driver()?.check_ir(program)
    }

    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        let begun = self.begin(Call::Eval);
        let room = self.log.seen().room;
        let full = room.is_some_and(|room| launch.shape.iter().product::<usize>() > room);
        let begun = begun.and_then(|()| match full {
            true => Err(planned(ErrorKind::OutOfMemory, Call::Eval)),
            false => Ok(()),
        });
        if !launch.memory.is_empty() {
            // It has written no block, and will write none later.
            begun?;
            let evaluated = self.driver()?.eval_ir(launch)?;
            self.log.seen().launched += 1;
            return Ok(evaluated);
        }
        let poisoned = match begun {
            Err(error) if error.kind() == ErrorKind::Poisoned => true,
            Err(error) => {
                self.spoil(launch)?;
                return Err(error);
            }
            Ok(()) => launch.operands.iter().any(|block| self.blocks[block].poisoned),
        };
        let evaluated = self.eval(launch)?;
        for dest in launch.dests {
            if poisoned || dest.whole {
                self.set_poisoned(dest.block, poisoned);
            }
        }
        self.log.seen().launched += 1;
        Ok(evaluated)
    }

    fn resource_get(&self, part: Part) -> Resources {
        self.open.as_ref().map_or(Resources::default(), |(_, driver)| driver.resource_get(part))
    }

    fn resource_check(&self, resources: &Resources) -> bool {
        self.open.as_ref().is_some_and(|(_, driver)| driver.resource_check(resources))
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.close();
    }
}
