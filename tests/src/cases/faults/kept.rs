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
    shelf: Arc<Mutex<Shelf>>,
}

/// The drivers and capabilities that are kept, by configuration.
#[derive(Default)]
struct Shelf {
    found: Vec<(Config, Capabilities)>,
    idle: Vec<(Config, Box<dyn Driver>)>,
}

impl Kept {
    pub fn new(make: Constructor) -> Kept {
        Kept { make, shelf: Arc::default() }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An open driver with this configuration, and its capabilities.
    pub fn open(&self, config: &Config) -> Result<(Box<dyn Driver>, Capabilities)> {
        let mut shelf = self.shelf();
        let idle = shelf.idle.iter().position(|(kept, _)| kept == config);
        let known = shelf.found.iter().find(|(known, _)| known == config);
        if let (Some((_, caps)), Some(at)) = (known.cloned(), idle) {
            return Ok((shelf.idle.swap_remove(at).1, caps));
        }
        let mut driver = ContractMonitor::boxed((self.make)());
        let caps = driver.init(config)?;
        shelf.found.push((config.clone(), caps.clone()));
        Ok((driver, caps))
    }

    /// Keeps an open driver whose blocks are all freed.
    pub fn give_back(&self, config: Config, driver: Box<dyn Driver>) {
        self.shelf().idle.push((config, driver));
    }
}
