//! What a C-like shading language must spell, and the languages.
//!
//! A [`Dialect`] spells the pieces that operations are made of, for values of a [`Width`]; a [`Helper`] is a
//! function that its kernels may call. [`Glsl`](glsl::Glsl) and [`Wgsl`](wgsl::Wgsl) are the two there are.
//!
//! Imports nothing of this crate. Not here: operations made of the pieces (`emit`), whole kernels (`fragment`,
//! `compute`).

pub(crate) mod glsl;
mod pieces;
pub(crate) mod wgsl;

pub(crate) use pieces::literal;
pub use pieces::{COMPONENTS, Dialect, Helper, Logic, Width, held, hold};
