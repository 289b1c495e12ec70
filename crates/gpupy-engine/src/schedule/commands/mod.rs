//! Commands of a step, one after another: how a step becomes launches, copies and work in host memory.
//!
//! Owns [`Commands`], which tells them to the recorder of a flush. `assignment_commands.rs`,
//! `reduction_commands.rs` and `library_commands.rs` have the steps of more than one walk. Invariant: blocks are opened
//! and closed in pairs, and pairs may be nested.
//!
//! Not here: which step computes a tile (`steps/`), the commands of a flush (`compiled/`), doing them
//! (`execute/run_commands.rs`).

mod assignment_commands;
mod library_commands;
mod list;
mod open_walk;
mod reduction_commands;

pub(crate) use list::{Commands, kernel_of};

use crate::graph::value::{Value, ValueId};
use crate::schedule::compiled::command::{Recut, TakenBlock};
use crate::schedule::destination::Destination;
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::program::kernel::Kernel;
use crate::schedule::steps::LibraryStep;
use crate::schedule::walk::FusionWalk;
use gpupy_core::driver::Access;
use smallvec::SmallVec;
use std::ops::Range;

/// A block that is opened to be filled, for a tile of values.
pub(crate) enum OpenedBlock {
    /// New ones.
    New(SmallVec<[Value; 1]>),
    /// That of an old value, which the value is with other elements.
    Old { value: Value, old: Value, taken: TakenBlock },
}

/// A kernel that is launched.
pub(crate) struct LaunchCommand<'w> {
    pub kernel: Kernel,
    /// Where its results go.
    pub dests: SmallVec<[Destination; 1]>,
    /// The values that it computes, for a listener.
    pub computes: Vec<ValueId>,
    /// The walk that its parameters come from, if it is of one.
    pub walk: Option<&'w FusionWalk>,
    /// What may help where the device does not do it.
    pub recut: Option<Recut>,
    /// The kernels of the walk that follow it.
    pub rest: Option<&'w WalkKernels>,
    /// The operation in host memory, which may have room there.
    pub on_host: Option<LibraryStep>,
}

impl LaunchCommand<'_> {
    /// The launch of a kernel that is of no walk.
    pub fn of(kernel: Kernel, dests: SmallVec<[Destination; 1]>) -> LaunchCommand<'static> {
        let (walk, recut, rest, on_host) = (None, None, None, None);
        LaunchCommand { kernel, dests, computes: Vec::new(), walk, recut, rest, on_host }
    }
}

/// A step in host memory.
pub(crate) enum HostStep {
    /// An assignment, where these positions are missing.
    Assign(Vec<Range<usize>>),
    Library(LibraryStep),
    /// All of a scatter.
    Scatter,
    /// All positions of a mask.
    WhereTrue,
    /// A gather that reads its positions so.
    Gather(Access),
}
