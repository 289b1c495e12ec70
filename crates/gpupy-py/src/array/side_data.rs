//! What few arrays keep besides their elements.
//!
//! Owns [`SideData`] and [`Positions`]. Not here: what is done with it (`index/mask_positions.rs`, `views/dtype_views.rs`, `record_fields.rs`).

use crate::array::recording::recorded_repr::RecordedRepr;
use crate::array::shadow_copy::ShadowCopies;
use gpupy_engine::{Array, LastFace, View};
use std::sync::Mutex;

/// What few arrays keep besides their elements.
#[derive(Default)]
pub struct SideData {
    /// Where the true elements of a mask are, once somebody asked.
    pub positions: Mutex<Option<Positions>>,
    /// The parts of complex elements, as they were read last.
    pub parts: LastFace,
    /// What it shows while a function is recorded.
    pub shadow: RecordedRepr,
    /// Of records, what drivers read of their fields.
    pub shadow_copies: ShadowCopies,
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
