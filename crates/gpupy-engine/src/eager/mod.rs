//! Small work: computed now, on the caller's thread, without an expression.
//!
//! [`AtOnce`](at_once::AtOnce) decides; a [`Task`](task::Task) is one operation as one launch, on operands that are
//! borrowed for it ([`Loan`](lent::Loan)); `in_memory.rs`, `masked.rs` and `indexed.rs` move elements without a launch.
//!
//! Imports `memory`, `graph`, `explain`, `array`, `blocks`, `schedule` and `execute`. Not here: which parts of a larger
//! base count as little (`memory/little.rs`), when a base comes to host memory for good (`context/settle.rs`).

pub(crate) mod at_once;
pub(crate) mod in_memory;
pub(crate) mod indexed;
pub(crate) mod lent;
pub(crate) mod masked;
pub(crate) mod task;
