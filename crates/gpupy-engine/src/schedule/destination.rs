//! Destinations of results: those of a walk ([`RootDestinations`]), and those of a launch ([`Destination`]s).

use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use smallvec::{SmallVec, smallvec};

/// The destinations of the roots of a walk.
#[derive(Clone, Debug)]
pub(crate) struct RootDestinations {
    pub form: Form,
    /// Of reductions, the operations of the roots behind the first.
    pub further: SmallVec<[Op; 4]>,
    /// Where each goes in a block; nowhere, if it gets a tile of its own.
    pub places: SmallVec<[Option<Access>; 1]>,
}

impl RootDestinations {
    /// One root, which gets a tile of its own.
    pub fn tile(form: Form) -> RootDestinations {
        RootDestinations { form, further: SmallVec::new(), places: smallvec![None] }
    }

    /// One root, which goes to a place in a block.
    pub fn place(form: Form, place: Access) -> RootDestinations {
        RootDestinations { form, further: SmallVec::new(), places: smallvec![Some(place)] }
    }
}

/// Where a result of a launch goes.
#[derive(Clone)]
pub(crate) enum Destination {
    /// A new block, which becomes this tile of the value.
    Tile { value: Value, tile: Tile },
    /// Part of one of the blocks that were opened last, or all of it.
    Open { number: usize, whole: bool },
}
