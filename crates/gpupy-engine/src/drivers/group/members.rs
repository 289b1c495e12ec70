//! The members of a group: open drivers, and what each of them takes.
//!
//! Owns [`Choice`], which member is wanted, and [`Member`], which is open and takes part in what it can.
//!
//! Not here: which of them leads (`state.rs`), opening all of a group (`driver.rs`), a member's blocks (`blocks.rs`).

use crate::drivers::lowering_driver;
use crate::drivers::registry::Constructor;
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::{BlockSpec, Capabilities, Config, Driver, Launch, Resources};
use gpupy_core::ir::{Fingerprint, Program};
use rustc_hash::FxHashMap;

/// A member that is wanted.
#[derive(Clone)]
pub(crate) struct Choice {
    /// The driver's name, or the path of a plug-in.
    pub driver: String,
    /// Which of its devices; empty where the configuration says it.
    pub device: String,
    pub constructor: Constructor,
}

impl Choice {
    /// The words that chose it.
    pub fn name(&self) -> String {
        match self.device.is_empty() {
            true => self.driver.clone(),
            false => format!("{}:{}", self.driver, self.device),
        }
    }

    /// Opens it; slots of resources are those of a driver of this name.
    ///
    /// # Errors
    /// Those of the driver's `init`, with its name.
    pub fn open(&self, config: &Config, of_resources: &str) -> Result<Member> {
        let mut config = Config { share: false, ..config.clone() };
        if !self.device.is_empty() {
            config.device.clone_from(&self.device);
        }
        if self.driver != of_resources {
            config.resources = Resources::default();
        }
        let mut driver = (self.constructor)();
        let caps = driver.init(&config).map_err(|error| error.with("driver", self.name()))?;
        if let Err(error) = caps.check_chosen(&self.device) {
            driver.cleanup();
            return Err(error.with("driver", self.name()));
        }
        let (driver, caps) = lowering_driver::provided(driver, caps);
        Ok(Member { driver, caps, takes: FxHashMap::default() })
    }
}

/// A member that is open.
pub(super) struct Member {
    pub driver: Box<dyn Driver>,
    pub caps: Capabilities,
    /// Which programs it evaluates, as far as it was asked.
    takes: FxHashMap<Fingerprint, bool>,
}

impl Member {
    /// Whether it has room for such a block at all.
    pub fn holds(&self, spec: &BlockSpec) -> bool {
        spec.len <= self.caps.max_block_len && self.caps.dtypes.contains(&spec.dtype)
    }

    /// Whether it evaluates a launch's program in one piece.
    pub fn takes(&mut self, launch: &Launch<'_>) -> bool {
        if let Some(known) = self.takes.get(&launch.fingerprint) {
            return *known;
        }
        let takes = self.would_take(launch.program);
        self.remember(launch.fingerprint, takes);
        takes
    }

    fn would_take(&mut self, program: &Program) -> bool {
        self.caps.has(program.form.kind())
            && program.dests.len() <= self.caps.max_dests
            && self.caps.takes_reductions(program)
            && self.driver.check_ir(program).is_ok_and(|check| check.fits)
    }

    /// It refused a program: it is not asked again.
    pub fn refused(&mut self, program: Fingerprint) {
        self.remember(program, false);
    }

    fn remember(&mut self, program: Fingerprint, takes: bool) {
        if self.takes.len() >= T.group_programs {
            self.takes.clear();
        }
        self.takes.insert(program, takes);
    }
}
