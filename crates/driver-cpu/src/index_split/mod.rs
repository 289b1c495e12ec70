//! Index-set splitting: a launch with numbers in pieces is cut into boxes, each of which lies in one piece of each.
//!
//! Rotations, mirrors, repeated edges, margins and parts that stand side by side are numbers in pieces. In a box they
//! are affine, its gathers are strided loads, and its choices are made, so that rows and machine code read it as fast
//! as any other. [`AffineNumbers`](affine_facts::AffineNumbers) finds the boxes, [`residual`](residual::residual)
//! specialises the program for one, and a [`LaunchBox`](launch_box::LaunchBox) is a box with its program, kept for the
//! next launch. A reduction is cut as its map is ([`SplitReduction`](split_reduction::SplitReduction)). Boxes that are
//! small, or behind many others, compare and select (`gpupy_core::ir::pieces_lowering`).
//!
//! Imports nothing of this crate. Not here: the evaluation of a box (`eval/in_pieces.rs`: as a launch of its own).

pub mod affine_facts;
pub mod launch_box;
pub mod residual;
pub mod split_reduction;
