//! An open device, as schedules see it: its blocks, and what is known of its driver.
//!
//! Owns [`Device`]. What is learnt once (how the driver does operations, programs, plans) is kept as long as
//! it is open; the rest belongs to the present evaluation.
//!
//! Not here: the blocks (`blocks/`), opening (`context/ladder.rs`).

use super::fuse::Fates;
use super::halo::Halos;
use super::program::plans::Plans;
use super::program::programs::Programs;
use super::together::Together;
use super::ways::{Steps, Ways};
use crate::blocks::cache::Blocks;
use crate::graph::value::{Value, ValueId};
use rustc_hash::FxHashSet;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

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
    /// What becomes of the values of the present evaluation.
    pub fates: Arc<Fates>,
    /// Which reductions go together in the present evaluation.
    pub together: Arc<Together>,
    /// Values that will be asked for after what the present evaluation is for.
    pub next: Vec<Value>,
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
            fates: Arc::default(),
            together: Arc::default(),
            next: Vec::new(),
            halos: Halos::default(),
            steps: Steps::default(),
        }
    }

    /// Forgets what only the evaluation before knew, for one whose values have these fates, that does these reductions
    /// together, and after which those are asked for.
    pub fn begin(&mut self, fates: &Arc<Fates>, together: &Arc<Together>, next: &[Value]) {
        self.blocks.begin();
        self.elsewhere.clear();
        self.fates = fates.clone();
        self.together = together.clone();
        self.next = next.to_vec();
    }

    /// What the present evaluation goes on with after a pause.
    pub fn lay_aside(&mut self) -> (Halos, Steps) {
        self.next.clear();
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
