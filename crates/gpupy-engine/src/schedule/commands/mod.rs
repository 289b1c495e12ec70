//! Commands: the actions of an executor, one after another, and how a step becomes commands.
//!
//! Owns [`Command`], the one language for steps (`list.rs`) and for recipes of earlier flushes (`replay/recipe.rs`), so
//! that one executor does both. An executor needs to know no expression: a command names blocks by values and tiles,
//! and programs by their code. `assignment_commands.rs`, `reduction_commands.rs` and `library_commands.rs` have the
//! steps of more than one walk. Invariants: between two commands nothing is left but the results of the commands
//! before; blocks are opened and closed in pairs, and pairs may be nested.
//!
//! Not here: which step computes a tile (`steps/`), doing commands (`execute/perform.rs`).

mod assignment_commands;
mod library_commands;
mod list;
mod open_walk;
mod reduction_commands;

pub(crate) use list::{Commands, Remedy};

use crate::graph::value::{Value, ValueId};
use crate::memory::tiling::Tile;
use crate::schedule::destination::Destination;
use crate::schedule::kernels::in_place::TakenOperand;
use crate::schedule::program::kernel::Kernel;
use crate::schedule::steps::LibraryStep;
use crate::schedule::walk::rematerialisation::Passes;
use gpupy_core::driver::Access;
use smallvec::SmallVec;
use std::ops::Range;

/// Something that is done on a device.
pub(crate) enum Command {
    /// A kernel is launched.
    Launch(Box<LaunchCommand>),
    /// Blocks for a tile of each of these values are allocated, to be filled by later commands.
    Open(SmallVec<[Value; 1]>, Tile),
    /// The block of a tile of an old value becomes that of a value that is the old one with other elements, which later
    /// commands write.
    OpenOld { value: Value, old: Value, tile: Tile },
    /// The blocks that were opened last are filled.
    Close,
    /// A tile is let go that nothing else needs.
    Lose(Value, Tile),
    /// All kernels of a walk, which was planned before or not, were launched; they computed these values in passing.
    Walked { is_replay: bool, passes: Passes },
    /// A tile of a value is computed in host memory, or all of the value.
    OnHost { step: HostStep, value: Value, tile: Tile },
}

/// A kernel that is launched.
pub(crate) struct LaunchCommand {
    pub kernel: Kernel,
    /// Where its results go.
    pub dests: SmallVec<[Destination; 1]>,
    /// The operand whose block it writes into.
    pub taken: Option<TakenOperand>,
    /// The values that it computes, for a listener.
    pub computes: Vec<ValueId>,
}

/// A step in host memory.
pub(crate) enum HostStep {
    /// An assignment, where these positions are missing.
    Assign(Vec<Range<usize>>),
    Whole(LibraryStep),
    /// All of a scatter.
    Scatter,
    /// All positions of a mask.
    WhereTrue,
    /// A gather that reads its positions so.
    Gather(Access),
}

impl LaunchCommand {
    /// The place of the operand whose block the launch writes, if it is in place.
    pub fn taken_place(&self) -> Option<usize> {
        self.taken.as_ref().map(|taken| taken.operand)
    }
}
