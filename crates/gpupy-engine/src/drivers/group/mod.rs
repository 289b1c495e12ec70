//! Device groups: several devices that share the work of one driver.
//!
//! A [`Group`](state::Group) is a driver over other drivers, its *members*, which it knows by the contract alone. A large
//! launch is cut along its first axis into *slabs*, one for each member (`slabs.rs`); slabs are the same program over
//! fewer points, so bits are the same. All members evaluate at once, each on a thread of its own, and the launch is over
//! when all are (`launch.rs`). A slab is as large as its member was fast (`pace.rs`). A block of the group has a block
//! of the same length on each member that needs it, and knows which elements each of them has (`blocks.rs`); what a
//! member reads and has not is copied first (`moves.rs`). A member that fails leaves its slab to the others
//! (`failures.rs`). [`MemberStats`](stats::MemberStats) count what each did; `selection.rs` reads the words that choose
//! members.
//!
//! Imports `memory`. Not here: which driver is chosen (`context/ladder.rs`), tiles of values larger than a block
//! (`schedule/`).

mod blocks;
mod driver;
mod failures;
mod launch;
mod members;
mod moves;
mod pace;
mod selection;
mod slabs;
mod state;
mod stats;

pub(crate) use selection::{Selected, selected};
pub use state::{Group, Sharing};
pub use stats::{Log, MemberStats};
