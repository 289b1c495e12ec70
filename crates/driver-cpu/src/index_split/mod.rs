//! Index-set splitting: a launch that gathers is cut into boxes in each of which the indices are affine.
//!
//! Rotations, mirrors, repeated edges and margins are recorded as index values, comparisons of these, selects
//! and gathers. In a box of the space in which no comparison changes, they are strided loads, which rows and
//! machine code read as fast as any others. [`AffineIndices`](affine_facts::AffineIndices) finds the boxes,
//! [`residual`](residual::residual) specialises the program for one, and a [`LaunchBox`](launch_box::LaunchBox)
//! is a box with its program, kept for the next launch.
//!
//! Imports nothing of this crate. Not here: the evaluation of a box (`eval.rs`: as a launch of its own).

pub mod affine_facts;
pub mod launch_box;
pub mod residual;
