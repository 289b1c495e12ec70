//! What few arrays keep besides their elements.
//!
//! Owns [`Kept`] and [`Positions`]. Not here: what is done with it (`index/masks.rs`, `views/faces.rs`, `fields.rs`).

use crate::array::mirror::Mirrors;
use crate::array::recording::shadow::Shadow;
use gpupy_engine::{Array, LastDtypeView, View};
use std::sync::Mutex;

/// What few arrays keep besides their elements.
#[derive(Default)]
pub struct Kept {
    /// Where the true elements of a mask are, once somebody asked.
    pub positions: Mutex<Option<Positions>>,
    /// The parts of complex elements, as they were read last.
    pub parts: LastDtypeView,
    /// What it shows while a function is recorded.
    pub shadow: Shadow,
    /// Of records, what drivers read of their fields.
    pub mirrors: Mirrors,
}

/// The positions of a mask's true elements, as they were found.
pub struct Positions {
    /// The value that the mask had.
    pub value: u64,
    /// How the mask saw it.
    pub view: View,
    /// The positions.
    pub array: Array,
}
