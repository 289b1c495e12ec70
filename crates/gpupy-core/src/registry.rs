//! The drivers that a program may choose from, by name.
//!
//! Owns [`Registry`]. The core names no driver: what assembles them (the Python module, the
//! conformance command) registers a constructor for each, best first. A name that is the path of a
//! library is a plug-in, which anyone may add while the program runs; it comes after those.
//!
//! Not here: opening and choosing (`ladder.rs`), loading libraries (`plugin/`).

use crate::driver::Driver;
use crate::error::{Error, ErrorKind, Result};
use crate::plugin;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes a driver that is not yet open.
pub type Constructor = Arc<dyn Fn() -> Box<dyn Driver> + Send + Sync>;

/// Named constructors, in order of preference.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<(&'static str, Constructor)>,
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
        self.entries.push((name, Arc::new(constructor)));
        self
    }

    /// Adds the host driver, which works on host memory and does what the others lack; the last one
    /// that is added so.
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
            self.entries.push((lasting(name), plugin::driver(name.as_ref())));
        }
    }

    /// Takes back the last driver.
    pub(crate) fn unregister_last(&mut self) {
        self.entries.pop();
    }

    /// The names, best first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.entries.iter().map(|(name, _)| *name)
    }

    /// The position of a driver.
    ///
    /// # Errors
    /// - `Unknown`: nothing has that name; the message lists those that exist.
    pub fn find(&self, name: &str) -> Result<usize> {
        self.entries.iter().position(|(n, _)| *n == name).ok_or_else(|| {
            let known: Vec<_> = self.names().chain(["auto"]).map(|n| format!("`{n}`")).collect();
            Error::new(ErrorKind::Unknown, "use").says(format!(
                "there is no driver `{name}`; choose one of {}, or the path of a plug-in",
                known.join(", ")
            ))
        })
    }

    /// The name and constructor at a position.
    pub fn get(&self, position: usize) -> Option<(&'static str, Constructor)> {
        self.entries.get(position).cloned()
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
