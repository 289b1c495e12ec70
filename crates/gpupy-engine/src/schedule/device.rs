//! An open device, as schedules see it: its blocks, and what is known of its driver.
//!
//! Owns [`Device`]. What is learnt once (how the driver does operations, programs, plans) is kept as long as
//! it is open; the rest belongs to the present evaluation.
//!
//! Not here: the blocks (`blocks/`), opening (`context/ladder.rs`).

use super::halo::Halos;
use super::program::plans::Plans;
use super::program::programs::Programs;
use super::ways::{Steps, Ways};
use crate::blocks::cache::Blocks;
use crate::graph::value::ValueId;
use rustc_hash::FxHashSet;
use std::ops::{Deref, DerefMut};

/// An open driver with its blocks, and what was found out about it.
pub(crate) struct Device {
    pub blocks: Blocks,
    /// How the driver does operations.
    pub ways: Ways,
    /// The programs of what was computed at once.
    pub programs: Programs,
    /// The plans of walks.
    pub plans: Plans,
    /// Values that the present evaluation computes on another device.
    pub elsewhere: FxHashSet<ValueId>,
    /// Copies that the present evaluation reads in place of rotated values.
    pub halos: Halos,
    /// What the present evaluation goes on with where it expands operations.
    pub steps: Steps,
}

impl Device {
    /// A device of which nothing is known yet.
    pub fn new(blocks: Blocks) -> Device {
        Device {
            blocks,
            ways: Ways::default(),
            programs: Programs::default(),
            plans: Plans::default(),
            elsewhere: FxHashSet::default(),
            halos: Halos::default(),
            steps: Steps::default(),
        }
    }

    /// Forgets what only the evaluation before knew.
    pub fn begin(&mut self) {
        self.blocks.begin();
        self.elsewhere.clear();
    }

    /// What the present evaluation goes on with after a pause.
    pub fn lay_aside(&mut self) -> (Halos, Steps) {
        (std::mem::take(&mut self.halos), std::mem::take(&mut self.steps))
    }
}

impl Deref for Device {
    type Target = Blocks;

    fn deref(&self) -> &Blocks {
        &self.blocks
    }
}

impl DerefMut for Device {
    fn deref_mut(&mut self) -> &mut Blocks {
        &mut self.blocks
    }
}
