//! The drivers that can be chosen.
//!
//! The [`Registry`](registry::Registry) has a constructor for each, by name. `plugin/` loads others from libraries;
//! `group/` makes one driver of several that share its work; `bfloat16.rs` gives a driver a dtype that it lacks; `device_nodes.rs` finds out, without opening a driver,
//! whether there may be a GPU.
//!
//! Imports `memory`. Not here: choosing and opening a driver (`context/driver_selection.rs`).

pub(crate) mod bfloat16;
pub mod device_nodes;
pub mod group;
pub mod plugin;
pub mod registry;
