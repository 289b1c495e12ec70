//! Arrays from nothing.
//!
//! `arrays.rs` makes constants and index values; `builtin.rs` has the functions that are called most in
//! C; `external_arrays.rs` those of files.
//!
//! Imports `session`, `convert` and `array`. Not here: NumPy's signatures (`python/gpupy/_creation.py`).

pub mod arrays;
pub mod builtin;
pub mod external_arrays;
