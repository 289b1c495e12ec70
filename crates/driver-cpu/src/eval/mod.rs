//! Evaluation of launches: [`Evaluator`] (`evaluator.rs`), programs with numbers in pieces (`in_pieces.rs`), copies of
//! runs of elements (`copied_runs.rs`), and axes along which results repeat (`repeated_axes.rs`).

mod copied_runs;
mod evaluator;
mod in_pieces;
mod repeated_axes;

pub use evaluator::Evaluator;
