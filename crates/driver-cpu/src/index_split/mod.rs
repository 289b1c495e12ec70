//! Pieces: a launch that reads elements at computed numbers, as boxes in each of which these are affine.
//!
//! Rotations, mirrors, repeated edges and margins come as index values, comparisons of these, selections and gathers. In a
//! box of the space that no comparison changes in, they are loads with steps, which rows and machine code go through as
//! fast as through any. [`AffineIndices`](affine_facts::AffineIndices) finds the boxes, [`residual`](residual::residual) is the program of
//! one, and a [`LaunchBox`](launch_box::LaunchBox) is a box with its program, kept for the next launch.
//!
//! Imports nothing of this crate. Not here: how a piece is evaluated (`eval.rs`: as a launch of its own).

pub mod affine_facts;
pub mod launch_box;
pub mod residual;
