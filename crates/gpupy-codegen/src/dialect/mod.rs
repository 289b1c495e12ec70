//! The constructs that differ between C-like shading languages.
//!
//! A [`Dialect`] writes the constructs of one language for values of a [`Width`]. A [`Helper`] is a function that the
//! language lacks. [`Glsl`](glsl::Glsl) and [`Wgsl`](wgsl::Wgsl) are the two dialects.
//!
//! Imports nothing of this crate. Not here: operations (`emit`), complete kernels (`fragment`, `compute`).

pub(crate) mod glsl;
mod pieces;
pub(crate) mod wgsl;

pub(crate) use pieces::literal;
pub use pieces::{COMPONENTS, Dialect, Helper, Logic, Width, held, hold};
