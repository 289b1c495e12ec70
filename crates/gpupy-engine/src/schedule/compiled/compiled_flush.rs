//! The compiled flush: its commands and buffers, with what is found about them once.
//!
//! Owns [`CompiledFlush`], which has neither values nor scalars of its own: a later flush of the same structure brings
//! its own.
//!
//! Not here: the commands (`command.rs`), how a flush is compiled (`flush_recorder.rs`), its key (`flush_key.rs`),
//! running it (`execute/run_commands.rs`).

use super::command::{Buffer, Command, KernelCommand, Number};
use super::launch_sequence::{FlushParts, LaunchSequence};
use crate::graph::value::{Input, Value, ValueKind};
use crate::schedule::passes::pending_graph::PendingGraph;
use gpupy_core::DType;
use gpupy_core::shape::Shape;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

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
    pub(super) sequences: Mutex<FxHashMap<usize, Option<Arc<LaunchSequence>>>>,
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
    ) -> Option<Arc<LaunchSequence>> {
        let mut known = self.sequences.lock().unwrap_or_else(PoisonError::into_inner);
        let parts =
            FlushParts { commands: &self.commands, buffers: &self.buffers, dead: &self.dead };
        let find = || LaunchSequence::at(&parts, start, values, most).map(Arc::new);
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

impl CompiledFlush {
    /// The words of 8 bytes that it takes, roughly.
    pub fn words(&self) -> usize {
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
