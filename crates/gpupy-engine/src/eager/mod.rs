//! Eager work: small operations are computed now, on the caller's thread, without an expression.
//!
//! All operations go through the [`EagerDispatch`](eager_dispatch::EagerDispatch), which asks the policy (`policy.rs`)
//! whether one is little work. [`EagerEvaluator`](eager_evaluator::EagerEvaluator) computes it. An
//! [`EagerLaunch`](eager_launch::EagerLaunch) (short: *task*) is one operation as one launch, on operands that are
//! borrowed for it ([`BorrowGuard`](borrow::BorrowGuard)). `host_moves.rs`, `small_boolean_mask.rs`,
//! `small_fancy_index.rs`, `small_argmin.rs`, `small_argsort.rs` and `small_nonzero.rs` need no
//! launch. A [`Segment`](segment::Segment) is a recorded part of a
//! program that can be launched again on other arrays.
//!
//! Imports `memory`, `graph`, `explain`, `array`, `record`, `blocks`, `schedule` and `execute`. Not here: which parts
//! of a larger base count as little (`graph/value/residence.rs`), when a base is promoted to host memory
//! (`context/host_promotion.rs`).

pub(crate) mod borrow;
pub(crate) mod eager_dispatch;
pub(crate) mod eager_evaluator;
pub(crate) mod eager_launch;
pub(crate) mod host_moves;
pub(crate) mod policy;
pub(crate) mod segment;
mod small_argmin;
mod small_argsort;
mod small_boolean_mask;
pub(crate) mod small_fancy_index;
mod small_nonzero;
