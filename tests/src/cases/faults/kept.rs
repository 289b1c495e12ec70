//! Drivers that stay open from one run to the next, because opening a device takes longer than a run.
//!
//! Owns [`Kept`]. Invariant: a driver that is given back has no live blocks, like one that was just opened.
//!
//! Not here: the driver that closes and opens as often as the core wants (`faulty.rs`).

use crate::drivers::contract_monitor::ContractMonitor;
use gpupy_core::Result;
use gpupy_core::driver::{Capabilities, Config, Driver};
use gpupy_engine::Constructor;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Drivers under test that are open and not in use.
#[derive(Clone)]
pub struct Kept {
    make: Constructor,
    open_drivers: Arc<Mutex<OpenDrivers>>,
}

/// The drivers and capabilities that are kept, by configuration.
#[derive(Default)]
struct OpenDrivers {
    found: Vec<(Config, Capabilities)>,
    idle: Vec<(Config, Box<dyn Driver>)>,
}

impl Kept {
    pub fn new(make: Constructor) -> Kept {
        Kept { make, open_drivers: Arc::default() }
    }

    fn open_drivers(&self) -> MutexGuard<'_, OpenDrivers> {
        self.open_drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An open driver with this configuration, and its capabilities.
    pub fn open(&self, config: &Config) -> Result<(Box<dyn Driver>, Capabilities)> {
        let mut open_drivers = self.open_drivers();
        let idle = open_drivers.idle.iter().position(|(kept, _)| kept == config);
        let known = open_drivers.found.iter().find(|(known, _)| known == config);
        if let (Some((_, caps)), Some(at)) = (known.cloned(), idle) {
            return Ok((open_drivers.idle.swap_remove(at).1, caps));
        }
        let mut driver = ContractMonitor::boxed((self.make)());
        let caps = driver.init(config)?;
        open_drivers.found.push((config.clone(), caps.clone()));
        Ok((driver, caps))
    }

    /// Keeps an open driver whose blocks are all freed.
    pub fn give_back(&self, config: Config, driver: Box<dyn Driver>) {
        self.open_drivers().idle.push((config, driver));
    }
}
