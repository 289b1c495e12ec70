//! IR programs as the text of shading languages.
//!
//! Owns nothing itself. Its folders, each of which imports only those above it, and `errors.rs`:
//!
//! ```text
//! dialect    what a C-like shading language must spell, and the languages
//! analysis   what is known of a program and a launch before text is written
//! spell      statements: operations, casts, functions, loops
//! kernels    what drivers have compiled: in this run (cache), and before (disk)
//! wide       for devices that lack 64-bit elements: planes, pairs, longs
//! device     what a device gets wrong (probe, exact), and what drivers answer alike (contract)
//! fragment   whole GLSL fragment shaders, and how their launches address textures
//! compute    whole compute kernels, in GLSL and WGSL
//! ```
//!
//! Invariants: the text of a kernel depends on its program and plan alone, so that caches on disk
//! find it again; no float is printed in decimal; no operand of arithmetic that compilers fold under
//! `precise` (0, ±1, NaN, infinities) is a literal.
//!
//! Not here: compiling and running the text (drivers), what operations mean (`op_eval` of the
//! core).

mod analysis;
pub mod compute;
mod device;
pub mod dialect;
mod errors;
pub mod fragment;
mod kernels;
mod spell;
mod wide;

pub use analysis::uses::live_for;
pub use device::abilities::Abilities;
pub use device::{contract, exact, probe};
pub use dialect::glsl::Glsl;
pub use dialect::wgsl::Wgsl;
pub use kernels::{cache, disk};
pub use spell::loops::MOST_STEPS;
pub use spell::operations::{instructions, supports};
pub use wide::{longs, pairs, planes};
