//! Evaluation of launches: [`Evaluator`] (`evaluator.rs`), and programs with numbers in pieces (`in_pieces.rs`).

mod evaluator;
mod in_pieces;

pub use evaluator::Evaluator;
