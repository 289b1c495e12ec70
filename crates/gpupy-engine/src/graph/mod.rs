//! The graph: immutable values, and the expressions that give their elements.
//!
//! A [`Value`](value::Value) is host data, a constant, or an expression: a [`NodeOp`](value::NodeOp) over
//! [`Input`](value::Input)s, which are views of other values. Equal expressions are one value
//! ([`Interner`](intern::Interner)). A [`Join`](join::Join) is a value made of parts, a
//! [`LibraryOp`](library_op::LibraryOp) a scan, sort or matrix product; few points of a reduction are lanes that scalar
//! operations combine (`reduction_lanes.rs`). A [`ScalarFunction`](scalar_function::ScalarFunction) of scalars is one
//! node, whatever it does. [`Bounds`](interval::Bounds) say between which numbers elements lie;
//! [`Passed`](passed::Passed) what a value was computed for in passing.
//!
//! Imports `memory`. Not here: arrays, which show values (`array/`), how expressions are recorded (`record/`).

pub(crate) mod bounds;
pub(crate) mod deferred;
pub(crate) mod intern;
pub(crate) mod interval;
pub(crate) mod join;
pub(crate) mod library_op;
pub(crate) mod passed;
pub(crate) mod reduction_lanes;
pub(crate) mod scalar_function;
pub(crate) mod value;
