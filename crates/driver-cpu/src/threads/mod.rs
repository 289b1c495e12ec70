//! Threads: work that several cores share.
//!
//! A [`Pool`](pool::Pool) has threads that wait for work; a [`Bed`](places::Bed) says on which processor one of them
//! goes on; [`Turns`](turns::Turns) says which items it takes next; [`number`] says how many threads there are; the
//! [`Crew`](crew::Crew) of an evaluator decides whether work is worth sharing, and shares it. Invariant: every item is
//! run once, and none after the caller went on.
//!
//! Imports nothing of this crate. Not here: what an item is (`run`, `whole`).

pub mod crew;
pub mod number;
pub mod places;
pub mod pool;
pub mod turns;
