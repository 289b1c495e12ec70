//! The way that the rows of a launch go through its points.
//!
//! A space ([`IterationSpace`](iteration_space::IterationSpace)) is cut into items, each a row of at most a tile along one axis; a
//! [`StridedAccess`](iteration_space::StridedAccess) says where an operand lies along them. `axis_choice.rs` chooses the axis, a
//! [`Coalesced`](coalesce::Coalesced) takes two axes as one where rows are short, and the [`LoopOrder`](loop_order::LoopOrder) of a launch is
//! what both have decided. Invariant: a route changes time, never bits.
//!
//! Imports `rows` and `compile`. Not here: what happens on a row (`run`).

pub mod axis_choice;
pub mod coalesce;
pub mod iteration_space;
pub mod loop_order;
