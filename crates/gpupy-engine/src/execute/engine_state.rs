//! The state that all threads of a context share under one lock.
//!
//! Owns [`EngineState`]. Not here: taking the lock (`context/`, `eager/eager_evaluator.rs`).

use crate::array::base::WeakArray;
use crate::drivers::registry::Registry;
use crate::execute::evaluate::Engine;

/// The engine, and the drivers that it may open.
pub(crate) struct EngineState {
    /// The drivers; plug-ins are added when they are asked for.
    pub registry: Registry,
    /// A device or none for each driver of the registry.
    pub engine: Engine,
    /// The driver that the user asked for: a name of the registry, or `auto`.
    pub wanted: String,
    /// The position of the driver in use, once it is open.
    pub chosen: Option<usize>,
    /// The arrays that are lent to be written.
    pub lent: Vec<WeakArray>,
    /// Whether the driver in use shared its objects with a renderer until it was closed.
    pub shared_before: bool,
}
