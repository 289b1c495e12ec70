//! Conversion between NumPy's objects and the core's: dtypes, elements, memory.
//!
//! `dtypes.rs` has the Python objects for dtypes; `numpy_arrays.rs` takes NumPy's arrays, `array_export.rs` gives
//! arrays to NumPy; `buffer_asker.rs` tells which code asks for one; `dlpack.rs` names bfloat16 in capsules;
//! `cast_warnings.rs` warns of numbers that do not fit a dtype.
//!
//! Imports `session`. Not here: the classes that Python sees (`array`).

pub mod array_export;
pub mod buffer_asker;
pub mod cast_warnings;
pub mod dlpack;
pub mod dtypes;
pub mod numpy_arrays;
