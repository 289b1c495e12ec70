//! Commands of a compiled flush, without its values and scalars.
//!
//! Owns [`CompiledFlush`], its [`Command`]s and [`Buffer`]s. Values have numbers in the flush: first those that were
//! there, then the pending ones, operands before their readers, then those that were found or made on the way.
//! Parameters are slots, which a later flush of the same structure fills with its own scalars. Invariants: between two
//! steps nothing is left but the results of the steps before; blocks are opened and closed in pairs, and pairs may be
//! nested.
//!
//! Not here: how a flush is compiled (`flush_recorder.rs`), its key (`flush_key.rs`), running it
//! (`execute/run_commands.rs`).

use super::sequence::Sequence;
use crate::blocks::cache::BlockPart;
use crate::graph::library_op::LibraryOp;
use crate::graph::passed::PartialRead;
use crate::graph::value::{Input, Value, ValueKind};
use crate::memory::tiling::Tile;
use crate::schedule::passes::pending_graph::PendingGraph;
use crate::schedule::program::kernel::KernelCode;
use crate::schedule::program::structure_cache::Weighed;
use crate::schedule::steps::strip_mining::Strips;
use gpupy_core::driver::Access;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Error, ErrorKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of a value in a flush.
pub(crate) type Number = u32;

/// The number of a buffer in a flush.
pub(crate) type BufferId = u32;

/// All that a flush does, or a window of it.
#[derive(Default)]
pub(crate) struct CompiledFlush {
    pub commands: Vec<Command>,
    pub buffers: Vec<Buffer>,
    /// The values that nothing needs any more when each command begins, so that their handles are dropped; and those
    /// behind the last command.
    pub dead: Vec<SmallVec<[Number; 2]>>,
    /// Tiles that are stored because computing them again has cost enough.
    pub bought: Vec<(Number, Range<usize>)>,
    /// The scalars of its pending values, if a later flush does the same with equal ones alone.
    pub scalars: Option<Vec<u64>>,
    /// The values that have numbers behind the graph's: each run has values of its own in their place.
    pub made: Vec<(DType, Shape)>,
    /// The sequences that were looked for, by their first commands.
    pub(super) sequences: Mutex<FxHashMap<usize, Option<Arc<Sequence>>>>,
}

impl CompiledFlush {
    /// Whether it is what a flush of this graph does, which has its structure.
    pub fn is_for(&self, below: &PendingGraph) -> bool {
        let scalars = || scalars(below.values.iter().chain(&below.others));
        self.scalars.as_ref().is_none_or(|own| scalars().eq(own.iter().copied()))
    }

    /// The values of a flush of this graph, by their numbers.
    pub fn values(&self, below: PendingGraph) -> Vec<Option<Value>> {
        let made = self.made.iter().map(|(dtype, shape)| Some(Value::to_compute(*dtype, shape)));
        numbered(below).chain(made).collect()
    }

    /// The sequence of at most so many launches that begins with a command, on the values that there are then.
    pub fn sequence(
        &self,
        start: usize,
        values: &[Option<Value>],
        most: usize,
    ) -> Option<Arc<Sequence>> {
        let mut known = self.sequences.lock().unwrap_or_else(PoisonError::into_inner);
        let find = || Sequence::at(self, start, values, most).map(Arc::new);
        known.entry(start).or_insert_with(find).clone()
    }

    /// Whether kernels are launched strip by strip.
    pub fn has_strips(&self) -> bool {
        self.commands.iter().any(|command| matches!(command, Command::Repeat(..)))
    }
}

/// The scalars that values read, by their bits.
pub(super) fn scalars<'v>(values: impl Iterator<Item = &'v Value>) -> impl Iterator<Item = u64> {
    let inputs = values.flat_map(|value| match &value.0.kind {
        ValueKind::Expr { inputs, .. } => &inputs[..],
        _ => &[],
    });
    inputs.filter_map(|input| match input {
        Input::Scalar(scalar) => Some(scalar.bits),
        _ => None,
    })
}

/// The values of a graph by their numbers in its flush.
pub(super) fn numbered(below: PendingGraph) -> impl Iterator<Item = Option<Value>> {
    below.leaves.into_iter().chain(below.values).chain(below.others).map(Some)
}

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

impl Weighed for CompiledFlush {
    fn words(&self) -> usize {
        let of_kernel = |kernel: &KernelCommand| {
            2 * kernel.code.program.insts.len()
                + kernel.operands.len()
                + 2 * kernel.params.len()
                + 64
        };
        let of_command = |command: &Command| match command {
            Command::Kernel(kernel) => of_kernel(kernel),
            Command::Repeat(repeat) => repeat.0.iter().map(of_kernel).sum(),
            Command::Done { passes, .. } => 4 + 8 * passes.len(),
            _ => 32,
        };
        let commands: usize = self.commands.iter().map(of_command).sum();
        let scalars = self.scalars.as_ref().map_or(0, Vec::len);
        commands + 16 * self.buffers.len() + 4 * self.dead.len() + scalars + 8 * self.made.len()
    }
}
