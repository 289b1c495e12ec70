//! Device groups: several devices that share the work of one driver.
//!
//! A [`DeviceGroup`] is a driver over other drivers, its *members*, which it knows by the contract alone. A large
//! launch is cut along its first axis into *slabs*, one for each member (`slabs.rs`); slabs are the same program over
//! fewer points, so bits are the same. All members evaluate at once, each on a thread of its own, and the launch is
//! over when all are (`shared_launch.rs`). A slab is as large as its member was fast (`pace.rs`). A block of the group
//! has a block of the same length on each member that needs it, and knows which elements each of them has
//! (`blocks.rs`); what a member reads and has not is copied first (`member_copies.rs`). A member that fails leaves its
//! slab to the others (`failures.rs`). [`MemberStats`] count what each did; `selection.rs` reads the words that choose
//! members.
//!
//! Imports `memory`. Not here: which driver is chosen (`context/driver_selection.rs`), tiles of values larger than a
//! block (`schedule/`).

mod blocks;
mod driver;
mod failures;
mod member_copies;
mod member_stats;
mod members;
mod pace;
mod selection;
mod shared_launch;
mod slabs;
mod state;

pub use member_stats::{Log, MemberStats};
pub(crate) use selection::{Selected, selected};
pub use state::{DeviceGroup, Sharing};
