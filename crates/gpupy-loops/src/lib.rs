//! Loops of the user's program, compiled where they stand: a nest of loops over elements becomes typed code for the
//! kinds of values that its names have, and machine code.
//!
//! The way of a nest: [`Nest`] as Python's lowering gives it (`nest.rs`) → [`Flow`], basic blocks without types
//! (`flow`) → [`Code`], blocks for the kinds that reach them (`versions`) → machine code (`machine.rs`), or an
//! interpreter (`interpreter.rs`). Between the last two, branches that choose go (`branchless.rs`), and so do checks that
//! always hold (`ranges.rs`). A [`NestVersion`] is that for what the names are at one entry.
//!
//! Invariants: code is left before a statement's first effect, with the state of all names and loops, wherever
//! Python or NumPy would raise, warn, or make a value that is none of the kinds; what is run has the bits and the
//! types that Python and NumPy give. Not here: objects of Python's, which texts are nests (gpupy-py).

mod branchless;
mod called_functions;
mod code;
mod emission;
mod entry_state;
mod exit_words;
mod flow;
mod interpreter;
mod kinds;
mod machine;
mod natural_loops;
mod nest;
mod numbered_values;
mod pause;
#[cfg(test)]
mod proof_tests;
mod ranges;
mod row_functions;
#[cfg(test)]
mod tests;
mod version;
mod versions;

pub use code::{Code, Exit, Reason};
pub use entry_state::{BITS_OF_COUNTERS, Given, GivenArray, layout};
pub use flow::{Flow, flow};
pub use kinds::{ElementType, KINDS, Kind, SlotClass};
pub use nest::Nest;
pub use pause::Pause;
pub use row_functions::{DotFunctions, RowFunction};
pub use version::NestVersion;
