//! Between NumPy's objects and the core's: dtypes, elements, memory.
//!
//! `dtypes.rs` has the Python objects that stand for dtypes; `host.rs` is the way from NumPy to us, `lend.rs` the way
//! back; `unfit.rs` warns of numbers that do not fit.
//!
//! Imports `session`. Not here: the classes that Python sees (`array`).

pub mod dtypes;
pub mod host;
pub mod lend;
pub mod unfit;
