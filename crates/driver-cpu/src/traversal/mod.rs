//! The way that the rows of a launch go through its points.
//!
//! A space ([`Rows`](space::Rows)) is cut into items, each a row of at most a tile along one axis; a
//! [`Line`](space::Line) says where an operand lies along them. `axis.rs` chooses the axis, a
//! [`Fold`](fold::Fold) takes two axes as one where rows are short, and the [`Route`](route::Route) of a launch is
//! what both have decided. Invariant: a route changes time, never bits.
//!
//! Imports `rows` and `compile`. Not here: what happens on a row (`run`).

pub mod axis;
pub mod fold;
pub mod route;
pub mod space;
