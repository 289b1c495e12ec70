//! The drivers that can be chosen.
//!
//! The [`Registry`](registry::Registry) has a constructor for each, by name. `plugin/` loads others from libraries;
//! `group/` makes one driver of several that share its work; `lowering_driver.rs` gives bfloat16 to drivers without it;
//! `device_nodes.rs` finds out, without opening a driver, whether there may be a GPU.
//!
//! Imports `memory`. Not here: choosing and opening a driver (`context/driver_selection.rs`).

pub mod device_nodes;
pub mod group;
pub(crate) mod lowering_driver;
pub mod plugin;
pub mod registry;
