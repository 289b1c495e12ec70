//! The drivers that a program may choose from, by name.
//!
//! Owns [`Registry`]. The core names no driver: the program that links them (the Python module, the conformance
//! command) registers a constructor for each, best first. A name that is the path of a library is a plug-in. A program
//! may add plug-ins while it runs; they come after the registered drivers. So do selections of a driver's devices
//! (`vulkan:1`) and groups of several (`vulkan:0,vulkan:1`). These are opened by their words alone, never by `auto` nor
//! as another driver's replacement.
//!
//! Not here: opening and choosing (`driver_selection.rs`), loading libraries (`plugin/`), the words
//! (`group/selection.rs`).

use crate::drivers::group::{DeviceGroup, Log, Selected, Sharing, selected};
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
    /// Which of the driver's devices, where words chose one; nothing for a driver as it was registered.
    chosen: Option<Chosen>,
}

/// What words chose.
#[derive(Clone)]
enum Chosen {
    Device(String),
    Group(Log),
}

impl RegisteredDriver {
    fn new(name: &'static str, constructor: Constructor) -> RegisteredDriver {
        RegisteredDriver { name, constructor, sight: None, chosen: None }
    }
}

/// Named constructors, in order of preference.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<RegisteredDriver>,
    host: Option<usize>,
    sharing: Sharing,
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
        self.entries.push(RegisteredDriver::new(name, constructor));
        self
    }

    /// Says which launches groups share, of those that are chosen from now on.
    pub fn sharing(mut self, sharing: Sharing) -> Registry {
        self.sharing = sharing;
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

    /// Adds what words mean that name no driver here: the plug-in of a path, one of a driver's devices, or a group of
    /// several. Other words add nothing. Nothing is loaded yet.
    pub fn register_words(&mut self, words: &str) {
        if self.names().any(|known| known == words) {
            return;
        }
        let entry = match selected(words) {
            Some(parts) => self.chosen(words, &parts),
            None if plugin::is_path(words) => {
                Some(RegisteredDriver::new(lasting(words), plugin::driver(words.as_ref())))
            }
            None => None,
        };
        self.entries.extend(entry);
    }

    /// The entry of what words choose, where there are such drivers.
    fn chosen(&self, words: &str, parts: &[Selected<'_>]) -> Option<RegisteredDriver> {
        let constructors: Option<Vec<Constructor>> =
            parts.iter().map(|part| self.constructor(part.driver)).collect();
        let constructors = constructors?;
        if let ([part], [constructor]) = (parts, &constructors[..]) {
            let chosen = Some(Chosen::Device(part.device.to_string()));
            return Some(RegisteredDriver {
                chosen,
                ..RegisteredDriver::new(lasting(words), constructor.clone())
            });
        }
        let members = parts.iter().zip(constructors);
        let members = members.map(|(part, constructor)| {
            (part.driver.to_string(), part.device.to_string(), constructor)
        });
        let (constructor, log) = DeviceGroup::of(members.collect(), self.sharing);
        let chosen = Some(Chosen::Group(log));
        Some(RegisteredDriver { chosen, ..RegisteredDriver::new(lasting(words), constructor) })
    }

    /// What makes the driver of a name, or of a plug-in's path.
    fn constructor(&self, name: &str) -> Option<Constructor> {
        if plugin::is_path(name) {
            return Some(plugin::driver(name.as_ref()));
        }
        let entry = self.entries.iter().find(|entry| entry.name == name && entry.chosen.is_none());
        entry.map(|entry| entry.constructor.clone())
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
            // Of several, the one that is not there.
            let parts = selected(name).unwrap_or_default();
            let unknown = parts.iter().find(|part| self.constructor(part.driver).is_none());
            let name = unknown.map_or(name, |part| part.driver);
            let own = self.entries.iter().filter(|entry| entry.chosen.is_none());
            let own: Vec<_> = own.map(|entry| format!("`{}`", entry.name)).collect();
            let own = own.join(", ");
            Error::new(ErrorKind::Unknown, "use").says(match name {
                "auto" => format!("`auto` is no driver of a group; choose of {own}, and paths of plug-ins"),
                _ => format!("there is no driver `{name}`; choose one of {own}, `auto`, or the path of a plug-in"),
            })
        })
    }

    /// Whether a driver is opened only by the words that chose it.
    pub(crate) fn is_chosen(&self, position: usize) -> bool {
        self.entries.get(position).is_some_and(|entry| entry.chosen.is_some())
    }

    /// Which device words chose, of the driver at a position.
    pub(crate) fn device(&self, position: usize) -> Option<&str> {
        match self.entries.get(position)?.chosen.as_ref()? {
            Chosen::Device(device) => Some(device),
            Chosen::Group(_) => None,
        }
    }

    /// What the members of groups do, by the groups' names.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&'static str, &Log)> {
        self.entries.iter().filter_map(|entry| match entry.chosen.as_ref()? {
            Chosen::Group(log) => Some((entry.name, log)),
            Chosen::Device(_) => None,
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

    /// Whether the driver at a position is one for GPUs, which has to look for them.
    pub(crate) fn looks_for_hardware(&self, position: usize) -> bool {
        self.entries.get(position).is_some_and(|entry| entry.sight.is_some())
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
