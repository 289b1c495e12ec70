//! The drivers that a program may choose from, by name.
//!
//! Owns [`Registry`]. The core names no driver: the program that links them (the Python module, the conformance
//! command) registers a constructor for each, best first. A name that is the path of a library is a plug-in. A program
//! may add plug-ins while it runs; they come after the registered drivers.
//!
//! Not here: opening and choosing (`driver_selection.rs`), loading libraries (`plugin/`).

use crate::drivers::plugin;
use gpupy_core::driver::Driver;
use gpupy_core::{Error, ErrorKind, Result};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes a driver that is not yet open.
pub type Constructor = Arc<dyn Fn() -> Box<dyn Driver> + Send + Sync>;

/// Tells whether a driver can have hardware on this machine, without loading any library.
type Sight = Arc<dyn Fn() -> bool + Send + Sync>;

#[derive(Clone)]
struct RegisteredDriver {
    name: &'static str,
    constructor: Constructor,
    /// `None` where only opening the driver tells.
    sight: Option<Sight>,
}

/// Named constructors, in order of preference.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<RegisteredDriver>,
    host: Option<usize>,
}

impl Registry {
    /// A registry of nothing.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds a driver, less preferred than those before it.
    pub fn register(
        mut self,
        name: &'static str,
        constructor: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static,
    ) -> Registry {
        let constructor: Constructor = Arc::new(constructor);
        self.entries.push(RegisteredDriver { name, constructor, sight: None });
        self
    }

    /// Adds a driver of GPUs, which loads the libraries of a graphics API when it opens: `auto` opens it only
    /// where `sight` says that there may be hardware (`device_nodes`). By its name it opens always.
    pub fn register_gpu(
        mut self,
        name: &'static str,
        constructor: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static,
        sight: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Registry {
        self = self.register(name, constructor);
        if let Some(entry) = self.entries.last_mut() {
            entry.sight = Some(Arc::new(sight));
        }
        self
    }

    /// Adds the host driver, which works on host memory and does operations that the others lack; the last one added is
    /// used.
    pub fn register_host(
        mut self,
        name: &'static str,
        constructor: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static,
    ) -> Registry {
        self.host = Some(self.entries.len());
        self.register(name, constructor)
    }

    /// The position of the host driver, if there is one.
    pub fn host(&self) -> Option<usize> {
        self.host
    }

    /// The host driver's name, if there is one.
    pub(crate) fn host_name(&self) -> Option<&'static str> {
        self.get(self.host?).map(|(name, _)| name)
    }

    /// Adds the plug-in of a path, unless it is there; loads nothing yet. Other names add nothing.
    pub fn register_path(&mut self, name: &str) {
        if plugin::is_path(name) && !self.names().any(|known| known == name) {
            let (name, constructor) = (lasting(name), plugin::driver(name.as_ref()));
            self.entries.push(RegisteredDriver { name, constructor, sight: None });
        }
    }

    /// Takes back the last driver.
    pub(crate) fn unregister_last(&mut self) {
        self.entries.pop();
    }

    /// The names, best first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.entries.iter().map(|entry| entry.name)
    }

    /// The position of a driver.
    ///
    /// # Errors
    /// - `Unknown`: nothing has that name; the message lists those that exist.
    pub fn find(&self, name: &str) -> Result<usize> {
        self.entries.iter().position(|entry| entry.name == name).ok_or_else(|| {
            let known: Vec<_> = self.names().chain(["auto"]).map(|n| format!("`{n}`")).collect();
            Error::new(ErrorKind::Unknown, "use").says(format!(
                "there is no driver `{name}`; choose one of {}, or the path of a plug-in",
                known.join(", ")
            ))
        })
    }

    /// The name and constructor at a position.
    pub fn get(&self, position: usize) -> Option<(&'static str, Constructor)> {
        let entry = self.entries.get(position)?;
        Some((entry.name, entry.constructor.clone()))
    }

    /// Whether the driver at a position may have hardware, as far as can be told without opening it.
    pub(crate) fn may_have_hardware(&self, position: usize) -> bool {
        let sight = self.entries.get(position).and_then(|entry| entry.sight.as_ref());
        sight.is_none_or(|sight| sight())
    }

    /// How many drivers there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True when there is no driver at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// A name for as long as the process lives; the same name is kept once.
fn lasting(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.into());
    names.insert(name);
    name
}
