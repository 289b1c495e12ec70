//! Views and joins of arrays under another shape or dtype.
//!
//! `reshape.rs` reshapes, `joins.rs` joins; `shifts.rs` joins views for `roll` and `pad`; `repeats.rs` copies views
//! that show elements several times; `dtype_views.rs` reinterprets elements under another dtype; `bases.rs` compares
//! the bases and values of arrays.
//!
//! Imports `session`, `convert` and `array`. Not here: views by keys (`index`).

pub mod bases;
pub mod dtype_views;
pub mod joins;
pub mod repeats;
pub mod reshape;
pub mod shifts;
