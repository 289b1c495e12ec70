//! Pauses: what an evaluation goes on with is laid aside, and taken up again.
//!
//! Not here: what that is (`progress/`), when an evaluation pauses (`progress/time_slice.rs`), the question whether it
//! goes on (`context/driver_selection.rs`).

use crate::execute::evaluate::Engine;
use crate::execute::progress::{Aside, BegunStep, Stage};

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
