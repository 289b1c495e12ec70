//! The drivers that there are.
//!
//! The [`Registry`](registry::Registry) has a constructor for each, by name. `plugin/` loads others from libraries;
//! `group/` makes one of several that share its work; `device_nodes.rs` tells without opening one whether there may be a GPU.
//!
//! Imports `memory`. Not here: which one is chosen, and its opening (`context/ladder.rs`).

pub mod device_nodes;
pub mod group;
pub mod plugin;
pub mod registry;
