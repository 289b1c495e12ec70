//! Arrays: what a program holds.
//!
//! An [`Array`](base::Array) is a view of a *base*; a base is an identity with current elements
//! ([`Current`](contents::Current)). These are a value, or elements of its own
//! ([`OwnedElements`](owned_elements::OwnedElements)), or those of another base under another dtype
//! ([`DtypeView`](base::DtypeView)). `lent_elements.rs` makes arrays over memory of others, `part_exports.rs` has the
//! elements that other code has while the rest is not there, `axis_order.rs` says in which order the axes of operands
//! lie.
//!
//! Imports `memory` and `graph`. Not here: operations on arrays (`record/`, `eager/`, `context/`).

pub(crate) mod axis_order;
pub(crate) mod base;
pub(crate) mod contents;
mod lent_elements;
pub(crate) mod owned_elements;
pub(crate) mod part_exports;
mod views;
