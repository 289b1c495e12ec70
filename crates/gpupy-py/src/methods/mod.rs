//! The Python methods of arrays and scalars.
//!
//! Those of `ndarray`: `attributes.rs`, `conversion.rs`, `copying.rs`, `indexing.rs`, `lifetime.rs`,
//! `reduce_methods.rs`, `renderer_lending.rs`, `transport.rs`, `view_methods.rs`; those of scalars:
//! `scalar_methods.rs`. `dispatch.rs` has NumPy's dispatch protocols, `evaluation.rs` and `explain.rs` the
//! functions of these names.
//!
//! Imports all other folders, and no other imports it. Not here: operators (`compute/operators.rs`), methods of a
//! few lines of Python (`python/gpupy/_methods`).

mod attributes;
mod conversion;
mod copying;
pub mod dispatch;
pub mod evaluation;
pub mod explain;
mod indexing;
mod lifetime;
mod reduce_methods;
pub mod renderer_lending;
mod scalar_methods;
mod transport;
pub mod view_methods;
