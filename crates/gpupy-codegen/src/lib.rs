//! IR programs as the text of shading languages.
//!
//! Owns nothing itself; the parts: [`dialect`] is what a C-like shading language must spell,
//! `glsl` and `wgsl` spell it, `operations` and `casts` spell every scalar operation from those pieces,
//! `functions` has what takes more than an expression, `body` walks a program and writes its
//! statements, [`fragment`] makes whole GLSL fragment shaders of them and plans how their launches
//! address textures, [`compute`] whole compute kernels, in GLSL and WGSL; [`cache`] knows the kernels
//! that drivers have compiled, [`disk`] what they keep between runs; [`probe`] finds out what a device
//! gets wrong, [`exact`] has programs for operations that some devices round wrongly, and `abilities`
//! says what is left; `loops` bounds them; [`planes`], [`pairs`] and [`longs`] are for devices that lack 64-bit elements; [`contract`]
//! has what drivers answer alike.
//!
//! Invariants: the text of a kernel depends on its program and plan alone, so that caches on disk
//! find it again; no float is printed in decimal; no operand of arithmetic that compilers fold under
//! `precise` (0, ±1, NaN, infinities) is a literal.
//!
//! Not here: compiling and running the text (drivers), what operations mean (`op_eval` of the
//! core).

mod abilities;
mod body;
pub mod cache;
mod casts;
pub mod compute;
pub mod contract;
pub mod dialect;
pub mod disk;
pub mod exact;
pub mod fragment;
mod functions;
mod glsl;
mod kinds;
mod liveness;
pub mod longs;
mod loops;
mod numbers;
mod operations;
pub mod pairs;
pub mod planes;
pub mod probe;
mod space;
mod uses;
mod wgsl;

pub use abilities::Abilities;
pub use glsl::Glsl;
pub use liveness::{live_instructions, most_live_values};
pub use loops::MOST_STEPS;
pub use operations::supports;
pub use wgsl::Wgsl;
