//! Pieces: a launch that reads elements at computed numbers, as boxes in each of which these are affine.
//!
//! Rotations, mirrors, repeated edges and margins come as index values, comparisons of these, selections and gathers. In a
//! box of the space that no comparison changes in, they are loads with steps, which rows and machine code go through as
//! fast as through any. [`Numbers`](numbers::Numbers) finds the boxes, [`residue`](residue::residue) is the program of
//! one, and a [`Piece`](piece::Piece) is a box with its program, kept for the next launch.
//!
//! Imports nothing of this crate. Not here: how a piece is evaluated (`eval.rs`: as a launch of its own).

pub mod numbers;
pub mod piece;
pub mod residue;
