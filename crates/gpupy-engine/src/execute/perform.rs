//! Performing commands, one after another: those of a step, and those of a replayed flush.
//!
//! Invariants: a step that fails leaves nothing but the tiles that it completed before; while a flush is captured, each
//! command's effect is noted.
//!
//! Not here: the commands (`schedule/commands/`), which step computes a tile (`schedule/steps/`), one launch
//! (`launch.rs`), blocks that are filled (`filling.rs`).

use crate::execute::evaluate::Engine;
use crate::execute::filling::Opened;
use crate::schedule::commands::{Command, Commands, HostStep, Remedy};
use crate::schedule::kernels::partition::Possible;
use crate::schedule::walk::Needs;
use gpupy_core::{Error, ErrorKind, Result};

impl Engine {
    /// Does the commands of a step that are left, or tells what has to be computed before it; it is to be found anew
    /// then.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over; the commands that are left go on where they stand. Any other error of the
    ///   driver: what was computed before stays.
    pub fn perform(&mut self, commands: &mut Commands, device: usize) -> Result<Possible<()>> {
        let (mut opened, kept) = (Opened::default(), self.slice.kept());
        let done = self.perform_all(commands, &mut opened, device);
        let is_paused = |error: &Error| error.kind() == ErrorKind::Interrupted;
        if matches!(done, Ok(Ok(()))) || done.as_ref().is_err_and(is_paused) {
            return done;
        }
        if matches!(done, Ok(Err(_))) && !opened.is_empty() {
            // What was computed for a block on the way goes with it.
            self.slice.take_back(kept);
        }
        self.not_filled(opened, done.as_ref().err(), device);
        if let Ok(device) = self.device(device) {
            commands.give_up(device);
        }
        done
    }

    fn perform_all(
        &mut self,
        commands: &mut Commands,
        opened: &mut Opened,
        device: usize,
    ) -> Result<Possible<()>> {
        loop {
            // Not while a block is open.
            if commands.has_work() {
                self.slice.check()?;
            }
            let command = match commands.next(self.device(device)?)? {
                Ok(Some(command)) => command,
                Ok(None) => return Ok(Ok(())),
                Err(needs) => return Ok(Err(needs)),
            };
            let Err(error) = self.act(command, Some(&*commands), opened, device) else { continue };
            match commands.failed(self.device(device)?, &error) {
                Remedy::Nothing => return Err(error),
                Remedy::Anew => return Ok(Err(Needs::new())),
                Remedy::GoOn => {}
            }
        }
    }

    /// Does a command, of a step or of none.
    ///
    /// # Errors
    /// Any error of the driver.
    pub(super) fn act(
        &mut self,
        command: Command,
        of: Option<&Commands>,
        opened: &mut Opened,
        device: usize,
    ) -> Result<()> {
        match command {
            Command::Launch(mut launch) => {
                let taken = launch.taken_place();
                self.launch(device, &mut launch, opened.blocks())?;
                self.capture(|capture| of?.note(capture, &launch, taken));
            }
            Command::Open(values, tile) => self.open(opened, &values, &tile, device)?,
            Command::OpenOld { value, old, tile } => {
                self.open_old(opened, &value, old, &tile, device)?;
            }
            Command::Close => self.close(opened, device)?,
            Command::Lose(value, tile) => {
                if self.device(device)?.lose(&value, &tile) {
                    self.capture(|capture| capture.lost(&value, &tile));
                }
            }
            Command::Walked { is_replay, passes } => {
                self.counts[device].plans_replayed += u64::from(is_replay);
                self.capture(|capture| capture.walked(passes.names()));
                passes.note();
            }
            Command::OnHost { step, value, tile } => {
                self.capture_no_more();
                match step {
                    HostStep::Assign(missing) => self.assign_on_host(&value, &missing, &tile)?,
                    HostStep::Whole(step) => self.whole_on_host(&value, &step)?,
                    HostStep::Scatter => self.scatter(&value, device)?,
                    HostStep::WhereTrue => self.where_true(&value)?,
                    HostStep::Gather(at) => self.gather_on_host(&value, &at, &tile)?,
                }
            }
        }
        Ok(())
    }
}
