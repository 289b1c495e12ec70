//! The engine of gpupy: arrays whose operations are recorded as expressions, and evaluated block by block on the chosen
//! driver.
//!
//! Expressions are evaluated together, when a value is read: so a formula over large arrays is one kernel, and its
//! intermediate results take no memory. A front end begins with [`Context`], which has the [`Array`]s, their operations
//! and the choice of drivers from a [`Registry`]. A reader of the sources begins with `context/recording.rs` for an
//! operation, and with `execute/evaluate.rs` for a read.
//!
//! Its folders, each of which imports only those above it (a test in `xtask` enforces it, but for the exceptions in
//! `xtask/imports.txt`):
//!
//! ```text
//! memory     host memory: buffers, views, tiles, and how elements lie
//! drivers    the drivers that can be chosen, by name; plug-ins; groups of devices
//! graph      immutable values and their expressions
//! explain    traces, texts, pictures and counts, for people
//! array      what a program holds: views of bases, and their contents
//! record     operations on arrays become expressions, the simplest with the same bits
//! blocks     pieces of values on a device: block cache, eviction
//! schedule   from a wanted value to kernels: fusion, lowering, partition, programs
//! execute    tiles are computed, moved and written; pauses
//! eager      small work is computed now instead
//! context    the interface of a front end: reading, writing, indexing, exports, drivers, settings, counts
//! saved      recorded functions in files
//! ```
//!
//! The order is that of imports. A program's data takes the way `context` → `record` → `graph`, and a read the way
//! `context` → `execute` → `schedule` → a driver → `blocks` → `memory`.
//!
//! Not here: the contract with drivers, and the meaning of operations (crate `gpupy-core`).

mod array;
mod blocks;
mod context;
mod drivers;
mod eager;
mod execute;
mod explain;
mod graph;
mod memory;
mod record;
pub mod saved;
mod schedule;
mod thresholds;

pub use array::base::{Array, ArrayOrScalar, WeakArray};
pub use context::dtype_view::{LastDtypeView, steps as dtype_view_steps};
pub use context::exports::lent_block::LentBlock;
pub use context::exports::pin::Pin;
pub use context::read::{HostArray, Unread};
pub use context::settings::{Placement, Settings};
pub use context::{Context, Interrupt, Opener, Waiter};
pub use drivers::group::{DeviceGroup, Log as GroupLog, MemberStats, Sharing};
pub use drivers::registry::{Constructor, Registry};
pub use drivers::{device_nodes, plugin, registry};
pub use eager::segment::Segment;
pub use eager::small_fancy_index::Outside;
pub use explain::explanation::Explanation;
pub use explain::not_kept::{NotKept, NotKeptCounts};
pub use explain::stats::Stats;
pub use explain::trace;
pub use graph::scalar_function::ScalarFunction;
pub use graph::value::Value;
pub use memory::host_buffer::{HostBuffer, set_pool_bytes};
pub use memory::reader::{FileReader, Reader, bytes_read, check_free};
pub use memory::view::View;
