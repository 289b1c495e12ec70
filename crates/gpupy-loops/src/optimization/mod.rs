//! What typed code becomes before it is run: code that does the same with fewer branches and checks.
//!
//! Not here: how it is made (`versions`), what becomes of it (`machine`).

mod branchless;
mod constant_loops;
mod difference_proofs;
mod natural_loops;
mod needed_slots;
mod numbered_values;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_rounds;
mod unrolled;

pub use branchless::without_choosing_branches;
pub use constant_loops::without_constant_loops;
pub use difference_proofs::{Assumption, without_proven_checks};
pub use natural_loops::BlockGraph;
pub use needed_slots::{read_later, saved_later};
pub use unrolled::with_unrolled_loops;
