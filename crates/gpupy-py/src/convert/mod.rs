//! Between NumPy's objects and the core's: dtypes, elements, memory.
//!
//! `dtypes.rs` has the Python objects that stand for dtypes; `numpy_arrays.rs` is the way from NumPy to us, `array_export.rs` the way
//! back; `cast_warnings.rs` warns of numbers that do not fit.
//!
//! Imports `session`. Not here: the classes that Python sees (`array`).

pub mod array_export;
pub mod cast_warnings;
pub mod dtypes;
pub mod numpy_arrays;
