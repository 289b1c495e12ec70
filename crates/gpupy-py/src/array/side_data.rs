//! Data that few arrays keep besides their elements.
//!
//! Owns [`SideData`] and [`Positions`]. Not here: its uses (`index/mask_positions.rs`, `views/dtype_views.rs`,
//! `record_fields.rs`).

use crate::array::recording::recorded_repr::RecordedRepr;
use crate::array::shadow_copy::ShadowCopies;
use gpupy_engine::{Array, LastDtypeView, View};
use std::sync::Mutex;

/// Data that few arrays keep besides their elements, allocated at first need.
#[derive(Default)]
pub struct SideData {
    /// The positions of a mask's true elements, once they were needed.
    pub positions: Mutex<Option<Positions>>,
    /// The parts of complex elements, as they were read last.
    pub parts: LastDtypeView,
    /// The elements that it shows while a function is recorded.
    pub shadow: RecordedRepr,
    /// For records: the copies of their memory that drivers read.
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
