//! Creation of arrays.
//!
//! `arrays.rs` makes constants and index values, `number_ranges.rs` ranges of few numbers, and `conversions.rs` arrays
//! of what there is; `builtin.rs` has the functions that are called most, as C functions; `external_arrays.rs` makes
//! arrays of files and of reading functions; `draws.rs`
//! arrays of random numbers.
//!
//! Imports `session`, `convert` and `array`. Not here: NumPy's signatures (`python/gpupy/_creation`).

pub mod arrays;
pub mod builtin;
pub mod conversions;
pub mod draws;
pub mod external_arrays;
pub mod number_ranges;
