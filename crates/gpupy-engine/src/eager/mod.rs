//! Small work: computed now, on the caller's thread, without an expression.
//!
//! All operations go through the [`Door`](door::Door), which asks the policy (`policy.rs`) whether one is little work.
//! [`EagerEvaluator`](at_once::EagerEvaluator) computes it; a [`EagerLaunch`](task::EagerLaunch) is one operation as
//! one launch, on operands that are borrowed for it ([`BorrowGuard`](lent::BorrowGuard)); `in_memory.rs`, `masked.rs`,
//! `indexed.rs` and `extreme.rs` move and look at elements without a launch. A [`Segment`](segment::Segment) is what a
//! program did, as launches of another turn.
//!
//! Imports `memory`, `graph`, `explain`, `array`, `record`, `blocks`, `schedule` and `execute`. Not here: which parts
//! of a larger base count as little (`memory/little.rs`), when a base comes to host memory for good
//! (`context/settle.rs`).

pub(crate) mod at_once;
pub(crate) mod door;
mod extreme;
pub(crate) mod in_memory;
pub(crate) mod indexed;
pub(crate) mod lent;
mod masked;
pub(crate) mod policy;
pub(crate) mod segment;
pub(crate) mod task;
