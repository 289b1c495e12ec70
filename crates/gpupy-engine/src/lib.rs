//! The core of gpupy: arrays whose operations are recorded as expressions, and evaluated block by
//! block on whatever driver is chosen.
//!
//! The way of the data, and the file of each step:
//!
//! ```text
//! array.rs      a view of a base; a base has a current value, which writing replaces, or elements
//!               that nobody else has (held.rs, own.rs)
//! pin.rs        … or that exports show as well, for other code to read and write
//! leases.rs     … and operations on those
//! face.rs       … or shows the elements of another base under another dtype
//! record.rs     operations become values (value/); equal ones are one (intern.rs); reductions in
//!               steps (record_reduced.rs), whole-program forms (record_whole.rs)
//! at_once.rs    … or what is small is computed now, as one launch (task.rs, programs.rs) on operands
//!               that are lent (lent.rs), or moved in host memory (in_memory.rs, settle.rs); what that
//!               takes of memory, a thread keeps (shelves.rs); what the system refuses is an error
//!               (memory.rs)
//! order.rs      … either way with the axes of operands as they lie in memory
//! rewrite/      … some of them simpler, with the same bits; join.rs for parts behind each other
//! pick.rs       index arrays become positions, which gather.rs reads and scatter.rs writes; bounds/
//!               says which lie inside; positions.rs finds a mask's; dense.rs computes everywhere
//!               what a mask picks and puts back
//! context/      something is read (read.rs): the driver is opened (ladder.rs; device_nodes.rs says
//!               whether there may be a GPU), the engine asked;
//!               what that driver cannot do is the host driver's (placement.rs)
//! evaluate.rs   tile by tile (tiling.rs), with a stack for what is needed first; assign.rs for writes;
//!               slice.rs says when to pause
//! walk.rs       from a tile down to what is computed, views composed on the way (access.rs); cut into
//!               boxes (boxes.rs) where joined parts end
//! partition.rs  the walk is cut into kernels within the driver's limits
//! siblings.rs   values that the same kernel can give almost for free; again.rs, values that one would
//!               compute again
//! lowering.rs   operations that a driver lacks, by programs: its own, or those of functions/
//! kernel.rs     a piece becomes an IR program (ir/) and the numbers of its launch; plans.rs keeps
//!               those of walks that come again
//! whole.rs      scans, sorts and matrix products, which are kernels of their own
//! launch.rs     operands are brought, destinations allocated, the driver called; in_place.rs says
//!               which operand's block a destination may take
//! registry.rs   the drivers that there are, by name; plugin/ loads others from libraries
//! cache/        blocks on the device; rhythm.rs says which goes when it is full, pool.rs keeps free
//!               ones; transfer.rs moves them, import.rs says which a device reads in host memory
//! trace.rs      what all of these did, for people: explain.rs as text, picture.rs (with
//!               layered.rs) as a graph
//! ```
//!
//! Not here: the contract with drivers, and what operations mean (crate `gpupy-core`).

mod access;
mod again;
mod array;
mod assign;
mod at_once;
mod bounds;
mod boxes;
mod cache;
mod context;
mod dense;
pub mod device_nodes;
mod evaluate;
mod explain;
mod extreme;
mod face;
mod fill;
mod gather;
mod halo;
mod held;
mod host;
mod import;
mod in_memory;
mod in_place;
mod intern;
mod join;
mod kernel;
mod ladder;
mod launch;
mod layered;
mod leases;
mod lent;
mod lowering;
mod masked;
mod order;
mod own;
mod partition;
mod pending;
mod pick;
mod picture;
mod pin;
mod placement;
mod plans;
pub mod plugin;
mod pool;
mod positions;
mod programs;
mod ranges;
mod read;
mod record;
mod record_reduced;
mod record_whole;
pub mod registry;
mod rewrite;
mod rhythm;
mod scatter;
mod settings;
mod settle;
mod shelves;
mod siblings;
mod slice;
mod stats;
mod strided;
mod task;
mod tiling;
pub mod trace;
mod transfer;
mod value;
mod view;
mod walk;
mod whole;

pub use array::{Arg, Array};
pub use context::{Context, Interrupt, Waiter};
pub use explain::Explanation;
pub use face::{LastFace, steps as face_steps};
pub use host::HostBuffer;
pub use pick::Outside;
pub use pin::Pin;
pub use read::HostArray;
pub use registry::{Constructor, Registry};
pub use settings::{Placement, Settings};
pub use stats::Stats;
pub use value::Value;
pub use view::View;
