//! Bases to which a program writes element after element: they come to host memory, where a write is a
//! move.
//!
//! Owns the rule when they do. Recorded writes of single elements are evaluated one by one, and each
//! copies the rest where an element was read in between: of a million elements, a thousand times their
//! number. Invariants: only what a device holds in host memory anyway is brought there; settling changes
//! no element.
//!
//! Not here: the writes themselves (`in_memory.rs`, `record.rs`).

use crate::array::Array;
use crate::at_once::MOST_POINTS;
use crate::context::Context;
use crate::error::Result;
use crate::in_memory;
use crate::value::{Kind, Operand, Value};
use crate::view::View;

/// Single elements written one after another to a pending base, after which it settles. Settling moves
/// all elements once: of a million as much as these writes cost as launches.
const MANY: u32 = 256;

impl Context {
    /// Brings the base of one element to host memory, and what is written there, if many elements were
    /// written so before.
    ///
    /// # Errors
    /// Any error of the driver; no value is lost.
    pub(crate) fn settle(&self, dest: &Array, source: &Operand) -> Result<()> {
        let value = {
            let mut current = dest.current();
            let value = current.value()?;
            if value.0.touched < MANY {
                return Ok(());
            }
            value.clone()
        };
        let is_settled = matches!(value.0.kind, Kind::Host(_));
        let is_little = |source: &&Value| !source.is_computed() && source.len() <= MOST_POINTS;
        let source = source.1.as_ref().filter(is_little);
        if is_settled && source.is_none() {
            return Ok(());
        }
        let mut settles = false;
        self.while_others_run(|| {
            settles = self.evaluates_in_host_memory()?;
            if settles {
                self.bring(&value)?;
                source.map_or(Ok(()), |source| self.bring(source))?;
            }
            Ok(())
        })?;
        let mut current = dest.current();
        let held = current.value()?;
        if settles && !is_settled && held.id() == value.id() {
            drop(value);
            if in_memory::renewed(held, usize::MAX).is_some() {
                // Pending elements that are written later are computed first.
                held.mark_touched(MANY);
            }
        }
        Ok(())
    }

    /// Computes all elements and brings them to host memory.
    fn bring(&self, value: &Value) -> Result<()> {
        let whole = View::contiguous(value.shape());
        self.read(&Array::with_view(value.clone(), whole)).map(drop)
    }
}
