//! The engine of gpupy: arrays whose operations are recorded as expressions, and evaluated block by
//! block on whatever driver is chosen.
//!
//! Its folders, each of which imports only those above it (a test in `xtask` holds them to that, but for what
//! `xtask/imports.txt` lists):
//!
//! ```text
//! memory     host memory: buffers, views, tiles, and how elements lie
//! drivers    the drivers that there are, by name; plug-ins
//! graph      immutable values and their expressions
//! explain    what was done, for people: traces, texts, pictures, counts
//! array      what a program holds: a view of a base, and what a base has
//! rewrite    expressions that are simpler, with the same bits
//! record     operations on arrays become expressions
//! blocks     pieces of values on a device, and which goes when it is full
//! schedule   from a wanted value to kernels: walks, ways, partitions, programs
//! execute    tiles are computed, moved and written; pauses
//! eager      small work is computed now instead
//! context    what a front end talks to: reading, writing, choosing drivers, settings, counts
//! indexing   index arrays and masks
//! saved      recorded functions in files
//! ```
//!
//! The order is that of imports. A program's data takes the way `context` → `record` → `graph`, and when something
//! is read `context` → `execute` → `schedule` → a driver → `blocks` → `memory`.
//!
//! Not here: the contract with drivers, and what operations mean (crate `gpupy-core`).

mod array;
mod blocks;
mod context;
mod drivers;
mod eager;
mod execute;
mod explain;
mod graph;
mod indexing;
mod memory;
mod record;
mod rewrite;
pub mod saved;
mod schedule;
mod thresholds;

pub use array::base::{Arg, Array, WeakArray};
pub use context::faces::{LastFace, steps as face_steps};
pub use context::lend::LentBlock;
pub use context::pin::Pin;
pub use context::read::{HostArray, Unread};
pub use context::settings::{Placement, Settings};
pub use context::{Context, Interrupt, Opener, Waiter};
pub use drivers::registry::{Constructor, Registry};
pub use drivers::{device_nodes, plugin, registry};
pub use eager::indexed::Outside;
pub use eager::segment::Segment;
pub use explain::explanation::Explanation;
pub use explain::stats::Stats;
pub use explain::trace;
pub use graph::function::Function;
pub use graph::value::Value;
pub use memory::host::{HostBuffer, set_pool_bytes};
pub use memory::reader::{FileReader, Reader, bytes_read, check_free};
pub use memory::view::View;
