//! Progress: where an evaluation stands between two commands, so that it goes on there after a pause.
//!
//! Owns [`Stage`]: [`TilesProgress`] and [`BegunStep`], the state of an evaluation that does steps, or [`Replaying`] of
//! one that replays; and [`Aside`], all that a paused evaluation goes on with. A [`TimeSlice`](time_slice::TimeSlice)
//! is the time after which it pauses, [`Attempts`] are tiles that are tried again. Invariants: a pause comes while no
//! block is open, so that nothing is lost; a stage is taken up only if nothing else was evaluated meanwhile and no
//! device came or went, as its steps expect what they promised to each other; decisions are taken up in any case, as
//! they give the same elements.
//!
//! Not here: laying aside and taking up (`pauses.rs`), the loop that does steps (`evaluate.rs`), the actions of a
//! replay (`replay.rs`).

pub(crate) mod attempts;
pub(crate) mod time_slice;

use self::attempts::Attempts;
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::commands::Commands;
use crate::schedule::engine_device::LaidAside;
use crate::schedule::passes::decided::Decided;
use crate::schedule::passes::pending_graph::PendingGraph;
use crate::schedule::passes::placement::ValuePlacement;
use crate::schedule::program::structure_cache::Structure;
use crate::schedule::replay::capture::Capture;
use crate::schedule::replay::recipe::Recipe;
use crate::schedule::steps::GivenElements;
use crate::schedule::steps::ordering::Schedule;
use std::sync::Arc;

/// What an evaluation is doing.
pub(crate) enum Stage {
    /// The actions of an earlier flush.
    Replay(Replaying),
    /// Steps.
    Tiles(Box<TilesProgress>),
}

/// An evaluation that does one step after another.
pub(crate) struct TilesProgress {
    pub homes: ValuePlacement,
    pub schedule: Schedule,
    pub attempts: Attempts,
    /// The step of which some commands are done.
    pub begun: Option<BegunStep>,
}

/// A step of which some commands are done.
pub(crate) struct BegunStep {
    pub value: Value,
    pub tile: Tile,
    /// The rank of the device.
    pub rank: usize,
    pub commands: Commands,
    pub gives: GivenElements,
}

/// A recipe that is being replayed.
pub(crate) struct Replaying {
    pub device: usize,
    structure: Structure,
    pub recipe: Arc<Recipe>,
    pub turn: ReplayTurn,
    /// The place of the next action.
    pub next: usize,
}

impl Replaying {
    /// The beginning of a replay of the recipe of a structure on these values.
    pub fn of(
        structure: Structure,
        recipe: Arc<Recipe>,
        below: PendingGraph,
        device: usize,
    ) -> Replaying {
        let some = |values: Vec<Value>| values.into_iter().map(Some).collect();
        let PendingGraph { values, leaves, .. } = below;
        let turn = ReplayTurn { values: some(values), leaves: some(leaves) };
        Replaying { structure, device, recipe, turn, next: 0 }
    }

    /// Its structure and its device; the values are let go.
    pub fn ended(self) -> (Structure, usize) {
        (self.structure, self.device)
    }
}

/// The values of a flush that is replayed.
pub(crate) struct ReplayTurn {
    pub values: Vec<Option<Value>>,
    pub leaves: Vec<Option<Value>>,
}

/// What a paused evaluation goes on with.
pub(crate) struct Aside {
    pub decided: Option<Decided>,
    pub captured: Option<Capture>,
    pub stage: Option<Stage>,
    /// Of each device, its facts about the evaluation.
    pub devices: Vec<LaidAside>,
    /// The state of the engine at the pause (`Engine::turn`).
    pub turn: u64,
}
