//! Commands of a compiled flush, without its values and scalars.
//!
//! Owns the [`Command`]s and [`Buffer`]s. Values have numbers in the flush: first those that were
//! there, then the pending ones, operands before their readers, then those that were found or made on the way.
//! Parameters are slots, which a later flush of the same structure fills with its own scalars. Invariants: between two
//! steps nothing is left but the results of the steps before; blocks are opened and closed in pairs, and pairs may be
//! nested.
//!
//! Not here: the flush itself (`compiled_flush.rs`), running it (`execute/run_commands.rs`).

use crate::blocks::cache::BlockPart;
use crate::graph::library_op::LibraryOp;
use crate::graph::passed::PartialRead;
use crate::memory::tiling::Tile;
use crate::schedule::program::kernel::KernelCode;
use crate::schedule::steps::strip_mining::Strips;
use gpupy_core::driver::Access;
use gpupy_core::shape::Shape;
use gpupy_core::{Error, ErrorKind};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// The number of a value in a flush.
pub(crate) type Number = u32;

/// The number of a buffer in a flush.
pub(crate) type BufferId = u32;

/// A part of a value in a block of its own.
pub(crate) struct Buffer {
    pub value: Number,
    pub part: BlockPart,
    /// The tile that it is, if the flush writes it.
    pub tile: Option<Tile>,
}

/// Something that is done.
pub(crate) enum Command {
    /// The step for a tile of a value begins.
    Step(Box<StepBegin>),
    /// A kernel is launched.
    Kernel(Box<KernelCommand>),
    /// Kernels are launched strip by strip, each into new tiles.
    Repeat(Box<(Vec<KernelCommand>, Strips)>),
    /// Blocks are allocated for these, to be filled by later commands.
    Open(SmallVec<[BufferId; 1]>),
    /// The block of an old value's tile becomes a tile of a value that is the old one with other elements, which later
    /// commands write.
    OpenOld { buffer: BufferId, old: BufferId, taken: TakenBlock },
    /// The blocks that were opened last are filled.
    Close,
    /// A tile is let go that nothing else needs, of a value of which more is to come.
    Free(BufferId),
    /// The step's value, or its tile, is computed in host memory.
    OnHost(Box<HostCommand>),
    /// The step is done; walks of it computed these values in passing.
    Done { walks: u32, passes: Vec<(Number, PartialRead)> },
}

impl Command {
    /// Whether something is computed when it is done.
    pub fn is_work(&self) -> bool {
        matches!(
            self,
            Command::Kernel(_) | Command::Repeat(..) | Command::Close | Command::OnHost(_)
        )
    }
}

/// The step that the commands behind it do.
pub(crate) struct StepBegin {
    pub value: Number,
    pub tile: Tile,
    /// The rank of the device.
    pub rank: usize,
    /// Whether it is computed elsewhere than where it was to be, because that failed.
    pub has_moved: bool,
}

/// A kernel that is launched.
pub(crate) struct KernelCommand {
    pub code: Arc<KernelCode>,
    pub operands: SmallVec<[BufferId; 4]>,
    pub params: SmallVec<[Param; 4]>,
    pub goes: LaunchTarget,
    /// The operand whose block it writes into, by its place.
    pub taken: Option<(usize, TakenBlock)>,
    /// The values that it computes, for a listener.
    pub computes: Vec<Number>,
    pub remedy: Remedy,
}

/// What else may be done where the device fails to do a kernel.
#[derive(Clone, Default)]
pub(crate) enum Remedy {
    #[default]
    Nothing,
    /// Its walk is cut otherwise.
    Recut(Recut),
    /// The operation is done in host memory, where there is no room for its operands together.
    OnHost(Box<LibraryCommand>),
}

/// The facts of a kernel that say whether cutting its walk otherwise may help.
#[derive(Clone, Copy)]
pub(crate) struct Recut {
    /// The walk has several results.
    pub several: bool,
    /// It is a map of few points.
    pub is_small_map: bool,
    /// The bytes for which the device was known to have no room when the walk was cut.
    pub room: Option<u64>,
}

impl Recut {
    /// Whether smaller pieces may be the remedy of an error: the device refused one, or had no room for its operands
    /// when tiles are as small as they get; or whether one result alone may do without the missing resource.
    pub fn helps(&self, error: &Error, is_cramped: bool) -> bool {
        let kind = error.kind();
        match self.several {
            true => {
                use ErrorKind::{DeviceLost, Interrupted, Invalid};
                !matches!(kind, DeviceLost | Interrupted | Invalid)
            }
            false => kind == ErrorKind::Refused || is_cramped && self.is_small_map,
        }
    }
}

/// Where the results of a launch go.
pub(crate) enum LaunchTarget {
    /// To new tiles.
    Tiles(SmallVec<[BufferId; 1]>),
    /// Into open blocks, each by its place among them; and whether all of it.
    Open(SmallVec<[(usize, bool); 1]>),
}

/// A parameter of a launch.
#[derive(Clone, Copy)]
pub(crate) enum Param {
    /// The scalar that a value reads in this place.
    Of(Number, u32),
    /// Bits that are part of the structure.
    Bits(u64),
}

/// A value whose block is taken: nothing holds it but what is known of.
pub(crate) struct TakenBlock {
    /// The value and its pending readers, newest first, each with the operand slots that hold it.
    pub held: SmallVec<[(Number, usize); 2]>,
}

/// A step in host memory.
pub(crate) enum HostCommand {
    /// An assignment, where these positions are missing.
    Assign(Vec<Range<usize>>),
    Library(Box<LibraryCommand>),
    /// All of a scatter.
    Scatter,
    /// All positions of a mask.
    WhereTrue,
    /// A gather that reads its positions so.
    Gather(Access),
}

/// A library operation on a box of a value.
#[derive(Clone)]
pub(crate) struct LibraryCommand {
    pub whole: LibraryOp,
    pub origin: Shape,
    pub extents: Shape,
    /// The operands, each with how it is walked over.
    pub reads: SmallVec<[(Number, Access, Shape); 2]>,
}
