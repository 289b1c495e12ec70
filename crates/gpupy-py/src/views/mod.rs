//! Views and joins of arrays under another shape or dtype.
//!
//! `shape.rs` reshapes and joins; `shifts.rs` joins views for `roll` and `pad`; `faces.rs` shows elements under another
//! dtype.
//!
//! Imports `session`, `convert` and `array`. Not here: views by keys (`index`).

pub mod faces;
pub mod shape;
pub mod shifts;
