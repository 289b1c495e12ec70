//! Random numbers in bulk: NumPy's streams, drawn on the host straight into an array's memory.
//!
//! `bit_generators.rs` has the words of generators, `word_buffer.rs` words and their parts in order, `numbers.rs` what
//! is made of them. NumPy calls a function for each word, and one for each number; here both are part of one loop.
//!
//! Not here: which calls of NumPy's these are, and whether NumPy's release draws the same numbers
//! (`crates/gpupy-py/python/gpupy/_random`).

mod bit_generators;
mod numbers;
mod word_buffer;

pub use bit_generators::{BitGenerator, Counter, Steps};
pub use numbers::{Distribution, Interval, Layers, draw};
pub use word_buffer::SpareHalf;
