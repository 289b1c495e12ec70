//! Attempts: tiles that came otherwise than their schedule expected, and are tried again.
//!
//! Owns [`Attempts`]. A tile that is filled by several launches finds what each of them needs one after another, and
//! begins anew each time. Invariants: what it has found to need is held until it is computed, so that every attempt
//! comes further; attempts that come no further end.
//!
//! Not here: the loop that tries again (`evaluate.rs`), the steps (`schedule/steps/ordering.rs`).

use crate::graph::value::{Value, ValueId};
use crate::memory::tiling::Tile;
use crate::schedule::walk::Needs;
use crate::thresholds::T;
use gpupy_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashMap;

/// The tiles that are tried again, by their values and numbers.
#[derive(Default)]
pub(crate) struct Attempts(FxHashMap<(ValueId, usize), Attempt>);

#[derive(Default)]
struct Attempt {
    needed: Needs,
    /// How many attempts in sequence needed nothing new.
    in_vain: usize,
}

impl Attempts {
    /// Notes that a tile was not computed, because it needs these first.
    ///
    /// # Errors
    /// `OutOfMemory`: they were all computed for it before, again and again; there is no room for them together.
    pub fn failed(&mut self, value: &Value, tile: &Tile, needs: &Needs) -> Result<()> {
        if needs.is_empty() {
            // It was cut smaller, for one, which has an end of its own.
            return Ok(());
        }
        let key = (value.id(), tile.number);
        let attempt = self.0.entry(key).or_default();
        let is_known = |(needed, range): &(Value, _)| {
            attempt.needed.iter().any(|(known, part)| known.id() == needed.id() && part == range)
        };
        let new: Needs = needs.iter().filter(|need| !is_known(need)).cloned().collect();
        attempt.in_vain = if new.is_empty() { attempt.in_vain + 1 } else { 0 };
        attempt.needed.extend(new);
        if attempt.in_vain <= T.attempts_in_vain {
            return Ok(());
        }
        let needs = attempt.needed.len();
        // A smaller tile needs others.
        self.0.remove(&key);
        Err(Error::new(ErrorKind::OutOfMemory, "evaluate")
            .says("what a tile is computed from has no room on the device together")
            .with("value", value.id())
            .with("needs", needs))
    }

    /// Notes that a tile is computed, or given up.
    pub fn ended(&mut self, value: &Value, tile: &Tile) {
        self.0.remove(&(value.id(), tile.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::tiling::Tiling;
    use gpupy_core::Scalar;

    #[test]
    fn attempts_end_that_come_no_further() {
        let value = || Value::constant(&[4], Scalar::f32(0.0));
        let (of, tile) = (value(), Tiling::new(&[4], 4).tile(0));
        let mut attempts = Attempts::default();
        // Each needs one more.
        let mut needs = Needs::new();
        for _ in 0..10 * T.attempts_in_vain {
            needs.push((value(), 0..4));
            attempts.failed(&of, &tile, &needs).expect("something is new");
        }
        for _ in 0..T.attempts_in_vain {
            attempts.failed(&of, &tile, &needs).expect("blocks may be lost a few times");
        }
        let error = attempts.failed(&of, &tile, &needs).expect_err("it goes on for ever");
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    }
}
