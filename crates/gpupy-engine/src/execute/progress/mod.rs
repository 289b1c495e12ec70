//! Progress: where an evaluation stands between two commands, so that it goes on there after a pause.
//!
//! Owns [`Progress`], [`Running`] and [`RunEnd`]. A [`TimeSlice`](time_slice::TimeSlice) is the time after which an
//! evaluation pauses, [`Attempts`] are tiles that are tried again. Invariants: a pause comes while no block is open, so
//! that nothing is lost; a flush is planned once, whatever others evaluate meanwhile.
//!
//! Not here: the loop that compiles and runs (`evaluate.rs`), the commands (`run_commands.rs`).

pub(crate) mod attempts;
pub(crate) mod time_slice;

use self::attempts::Attempts;
use crate::explain::not_kept::NotKept;
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::compiled::compilation::Compilation;
use crate::schedule::compiled::compiled_flush::CompiledFlush;
use crate::schedule::compiled::flush_cache::Structure;
use crate::schedule::engine_device::FlushFacts;
use crate::schedule::passes::flush_windows::FlushWindows;
use crate::schedule::passes::placement::ValuePlacement;
use crate::schedule::walk::Needs;
use gpupy_core::Error;
use std::sync::Arc;

/// Where an evaluation stands.
pub(crate) struct Progress {
    pub homes: ValuePlacement,
    pub attempts: Attempts,
    /// The window that is being run.
    pub running: Option<Running>,
    /// The flush of which more is to be compiled.
    pub compilation: Option<Box<Compilation>>,
    /// What the next compilation needs first, on a device of this rank.
    pub first: (Needs, usize),
    /// Its structure, as long as all goes as it did for another flush of it, or may go for later ones; or why not.
    pub structure: Result<Structure, NotKept>,
    /// All of it, if it is one window.
    pub whole: Option<Arc<CompiledFlush>>,
    /// Whether steps may be done strip by strip.
    pub in_strips: bool,
    /// Whether it is compiled for its scalars alone.
    pub is_exact: bool,
    /// How often it was compiled.
    pub compiled: usize,
    /// How often something else held an operand that was to be written.
    pub untaken: usize,
    /// How often, one time after another, what was compiled was not begun.
    pub idle: usize,
    /// Whether the last commands are all that is left.
    pub is_all: bool,
    /// How often all was done, and something that is wanted was not there.
    pub in_vain: usize,
}

impl Progress {
    /// What is left is compiled anew, on the values that there are.
    pub fn begin_anew(&mut self) {
        (self.compilation, self.whole) = (None, None);
        self.is_not_kept(NotKept::CompiledAnew);
    }

    /// It is not kept, for the first such reason.
    pub fn is_not_kept(&mut self, reason: NotKept) {
        if self.structure.is_ok() {
            self.structure = Err(reason);
        }
    }
}

/// Commands that are being run.
pub(crate) struct Running {
    pub flush: Arc<CompiledFlush>,
    /// The values by their numbers, as long as a command names them.
    pub values: Vec<Option<Value>>,
    /// The next command.
    pub next: usize,
    /// Where the present step began.
    pub step: usize,
    /// Whether one of them has computed anything.
    pub has_worked: bool,
    /// Whether it was compiled for another flush.
    pub is_replay: bool,
    /// Whether launches are no longer done in sequences, as one failed.
    pub one_by_one: bool,
}

impl Running {
    /// The beginning of a run on these values.
    pub fn of(flush: Arc<CompiledFlush>, values: Vec<Option<Value>>, is_replay: bool) -> Running {
        Running { flush, values, next: 0, step: 0, has_worked: false, is_replay, one_by_one: false }
    }
}

/// How a run ended.
pub(crate) enum RunEnd {
    Done,
    /// Something else holds what a command was to write, or a value is gone: what is left is compiled anew.
    Otherwise,
    /// At a command of the step for this tile of a value.
    Failed {
        error: Error,
        value: Value,
        tile: Tile,
        rank: usize,
    },
}

/// What a paused evaluation goes on with.
pub(crate) struct Aside {
    pub progress: Option<Box<Progress>>,
    pub windows: Option<FlushWindows>,
    /// Of each device, its facts about the flush.
    pub facts: Vec<FlushFacts>,
}
