//! Loops of the user's program, compiled where they stand: a nest of loops over elements becomes typed code for the
//! kinds of values that its names have, and machine code.
//!
//! The way of a nest: [`Nest`] as Python's lowering gives it (`nest.rs`) → [`Flow`], basic blocks without types
//! (`flow`) → [`Code`], blocks for the kinds that reach them (`versions`) → the same without checks that always hold
//! (`optimization`) → machine code (`machine`), or an interpreter (`interpreter.rs`). A [`NestVersion`] is that for
//! what the names are at one entry.
//!
//! Invariants: code is left before a statement's first effect, with the state of all names and loops, wherever
//! Python or NumPy would raise, warn, or make a value that is none of the kinds; what is run has the bits and the
//! types that Python and NumPy give. Not here: objects of Python's, which texts are nests (gpupy-py).

mod called_functions;
mod code;
mod flow;
mod interpreter;
mod kinds;
mod machine;
mod nest;
mod optimization;
mod pause;
mod row_functions;
#[cfg(test)]
mod tests;
mod version;
mod versions;

pub use code::{Code, Exit, Reason};
pub use flow::{Flow, flow};
pub use kinds::{ElementType, KINDS, Kind, SlotClass};
pub use nest::Nest;
pub use pause::Pause;
pub use row_functions::{DotFunctions, RowFunction};
pub use version::NestVersion;
pub use versions::{BITS_OF_COUNTERS, Given, GivenArray, layout};
