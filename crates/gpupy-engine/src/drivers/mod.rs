//! The drivers that there are.
//!
//! The [`Registry`](registry::Registry) has a constructor for each, by name. `plugin/` loads others from libraries;
//! `device_nodes.rs` tells without opening one whether there may be a GPU.
//!
//! Imports nothing of this crate. Not here: which one is chosen, and its opening (`context/driver_selection.rs`).

pub mod device_nodes;
pub mod plugin;
pub mod registry;
