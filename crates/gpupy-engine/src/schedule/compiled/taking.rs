//! Taking: whether a command may write into the block of a value that nothing else needs, as the flush knows it.
//!
//! Not here: what holds a value (`lifetimes.rs`); the handles, which are asked when the command runs
//! (`execute/run_commands.rs`).

use super::command::TakenBlock;
use super::flush_recorder::FlushRecorder;
use crate::blocks::cache::BlockPart;
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::commands::LaunchCommand;
use crate::schedule::destination::Destination;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::in_place;

impl FlushRecorder {
    /// Whether nothing but a pending value holds another one, which it changes.
    pub fn is_only_read_by(&self, old: &Value, value: &Value) -> bool {
        match (self.numbers.get(&old.id()), self.numbers.get(&value.id())) {
            (Some(old), Some(value)) => {
                self.may_take && self.lifetimes.is_only_read_by(*old, *value)
            }
            _ => false,
        }
    }

    /// What holds a value whose block an heir may take, if nothing but the heir needs it.
    pub fn taken_by(&self, old: &Value, heir: &Value) -> Option<TakenBlock> {
        let (old, heir) = (self.numbers.get(&old.id())?, self.numbers.get(&heir.id())?);
        self.may_take.then(|| self.lifetimes.taken_by(*old, *heir)).flatten()
    }

    /// Whether a command before writes a tile of a value.
    fn will_be_written(&self, value: &Value, tile: &Tile) -> bool {
        let Some(number) = self.numbers.get(&value.id()) else { return false };
        let buffer = self.buffers.get(&(*number, BlockPart::Tile(tile.number)));
        buffer.is_some_and(|buffer| self.flush.buffers[*buffer as usize].tile.is_some())
    }

    /// Whether a tile of a value may become that of another value when it comes to it.
    pub fn may_take(&self, device: &OpenDevice, from: &Value, tile: &Tile) -> bool {
        if self.will_be_written(from, tile) {
            // It will be in a new block.
            let is_whole = !device.caps.host_memory || tile.range.len() == from.len();
            return is_whole && device.is_tile_of(from, tile.number, &tile.range);
        }
        device.may_take(from, tile)
    }

    /// The operand whose block the only destination of a kernel may take, if there is one.
    pub(super) fn operand_to_take(
        &self,
        device: &OpenDevice,
        LaunchCommand { kernel, dests, rest, .. }: &LaunchCommand<'_>,
    ) -> Option<(usize, TakenBlock)> {
        let [Destination::Tile { value, tile }] = &dests[..] else { return None };
        let mut operands = in_place::fitting(&device.caps, kernel, value, tile);
        operands.find_map(|operand| {
            let (candidate, _) = &kernel.operands[operand];
            let is_last = rest.is_none_or(|rest| !rest.reads(candidate.id()));
            let may_take = is_last && self.may_take(device, candidate, tile);
            Some((operand, self.taken_by(candidate, value).filter(|_| may_take)?))
        })
    }
}
