//! Traversal: the loop order in which the rows of a launch go through its points.
//!
//! An [`IterationSpace`](iteration_space::IterationSpace) is cut into items, each a row of at most a tile along
//! one axis. A [`StridedAccess`](iteration_space::StridedAccess) gives the elements of an operand along them.
//! `axis_choice.rs` chooses the axis of the rows, [`Coalesced`](coalesce::Coalesced) is a launch with short
//! rows in which two axes were coalesced, a [`Crossing`](crossing::Crossing) has the operands of long rows that lie
//! across them, and the [`LoopOrder`](loop_order::LoopOrder) of a launch combines these decisions. Invariant: the loop
//! order changes time, never bits.
//!
//! Imports `rows` and `compile`. Not here: the computation of a row (`run`).

pub mod axis_choice;
pub mod coalesce;
pub mod crossing;
pub mod iteration_space;
pub mod loop_order;
