//! Views and joins of arrays under another shape or dtype.
//!
//! `shape.rs` reshapes and joins; `shifts.rs` joins views for `roll` and `pad`; `repeats.rs` copies views that show
//! elements several times; `faces.rs` shows elements under another dtype; `bases.rs`
//! says which arrays show one base.
//!
//! Imports `session`, `convert` and `array`. Not here: views by keys (`index`).

pub mod bases;
pub mod faces;
pub mod repeats;
pub mod shape;
pub mod shifts;
