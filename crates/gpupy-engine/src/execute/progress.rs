//! Progress: where an evaluation stands between two commands, so that it goes on there after a pause.
//!
//! Owns [`Stage`], [`TilesProgress`] and [`BegunStep`], the state of an evaluation that does steps, and [`Aside`], all
//! that a paused evaluation goes on with. Invariants: a pause comes while no block is open, so that nothing is lost;
//! a stage is taken up only if nothing else was evaluated meanwhile and no device came or went, as its steps expect
//! what they promised to each other; decisions are taken up in any case, as they give the same elements.
//!
//! Not here: when an evaluation pauses (`time_slice.rs`), the loop that does steps (`evaluate.rs`), where a replay
//! stands (`replay.rs`).

use crate::execute::attempts::Attempts;
use crate::execute::evaluate::Engine;
use crate::execute::replay::Replaying;
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::commands::Commands;
use crate::schedule::engine_device::LaidAside;
use crate::schedule::passes::decided::Decided;
use crate::schedule::passes::placement::ValuePlacement;
use crate::schedule::replay::capture::Capture;
use crate::schedule::steps::GivenElements;
use crate::schedule::steps::ordering::Schedule;

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

/// What a paused evaluation goes on with.
pub(crate) struct Aside {
    decided: Option<Decided>,
    captured: Option<Capture>,
    stage: Option<Stage>,
    /// Of each device, its facts about the evaluation.
    devices: Vec<LaidAside>,
    /// The state of the engine at the pause (`Engine::turn`).
    turn: u64,
}

impl Engine {
    /// Lays aside what the present evaluation decided and where it stands, so that others may evaluate.
    pub fn lay_aside(&mut self) -> Aside {
        let devices = self.devices.iter_mut().map(Option::as_mut);
        let devices = devices.map(|device| device.map(|d| d.lay_aside()).unwrap_or_default());
        Aside {
            devices: devices.collect(),
            decided: self.decided.take(),
            captured: self.captured.take(),
            stage: self.stage.take(),
            turn: self.turn,
        }
    }

    /// Takes up again what was laid aside, where the device is still open; where the evaluation stood only if nothing
    /// was done meanwhile that it does not know of. Otherwise the present slice has to plan anew.
    pub fn take_up(&mut self, aside: Aside) {
        self.decided = aside.decided;
        for (device, facts) in self.devices.iter_mut().zip(aside.devices) {
            if let Some(device) = device {
                device.take_up(facts);
            }
        }
        if aside.turn == self.turn {
            (self.captured, self.stage) = (aside.captured, aside.stage);
            return;
        }
        self.slice.plan_anew();
        if let Some(Stage::Tiles(progress)) = aside.stage
            && let Some(BegunStep { mut commands, rank, .. }) = progress.begun
            && let Ok(device) = self.device(progress.homes.order.devices[rank])
        {
            commands.give_up(device);
        }
    }
}
