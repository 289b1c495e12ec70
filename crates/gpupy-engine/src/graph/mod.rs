//! The graph: immutable values, and the expressions that give their elements.
//!
//! A [`Value`](value::Value) is host data, a constant, or an expression: a [`NodeOp`](value::NodeOp) over
//! [`Input`](value::Input)s, which are views of other values. Equal expressions are one value
//! ([`Interner`](intern::Interner)). A [`Join`](join::Join) is a value made of parts. A
//! [`LibraryOp`](library_op::LibraryOp) is a scan, sort or matrix product. A reduction of few points is scalar
//! operations over its lanes (`tree_lanes.rs`); whether that pays for more of them is told by what a
//! [`PendingMap`](pending_map::PendingMap) reads. A [`ScalarFunction`](scalar_function::ScalarFunction) is one node,
//! whatever it computes. [`Bounds`](interval::Bounds) are the interval in which elements lie;
//! [`Passed`](passed::Passed) counts how often a pending value was computed inside kernels of other values.
//!
//! Imports `memory`. Not here: arrays, which show values (`array/`), how expressions are recorded (`record/`).

pub(crate) mod bounds;
pub(crate) mod deferred;
pub(crate) mod intern;
pub(crate) mod interval;
pub(crate) mod join;
pub(crate) mod library_op;
pub(crate) mod passed;
pub(crate) mod pending_map;
pub(crate) mod piecewise_number;
pub(crate) mod scalar_function;
pub(crate) mod tree_lanes;
pub(crate) mod value;
