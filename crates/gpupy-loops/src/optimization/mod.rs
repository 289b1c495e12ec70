//! What typed code becomes before it is run: code that does the same with fewer branches and checks.
//!
//! Not here: how it is made (`versions`), what becomes of it (`machine`).

mod branchless;
mod difference_proofs;
mod natural_loops;
mod numbered_values;
#[cfg(test)]
mod tests;

pub use branchless::without_choosing_branches;
pub use difference_proofs::{Assumption, without_proven_checks};
pub use natural_loops::BlockGraph;
