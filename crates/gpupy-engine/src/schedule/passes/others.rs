//! Other pending values: those that a flush was not asked for, and that a launch of it may compute on the way.
//!
//! Owns [`Others`]. They are looked for once in an evaluation, when a step first asks; most never do. Invariant: it
//! holds no value, so that it does not change the counts of handles.
//!
//! Not here: which of them are worth computing (`horizontal_fusion.rs`), reductions that go together
//! (`reduction_groups.rs`).

use crate::graph::value::{Expressions, Node, Value};
use std::sync::{Arc, OnceLock, Weak};

/// The pending values of a table of equal expressions.
#[derive(Default)]
pub(crate) struct Others {
    table: Option<Arc<Expressions>>,
    found: OnceLock<Vec<Weak<Node>>>,
}

impl Others {
    /// Those that are in the table of a value.
    pub fn of(value: &Value) -> Others {
        Others { table: value.0.interner.clone(), found: OnceLock::new() }
    }

    /// Those that are pending still.
    pub fn pending(&self) -> impl Iterator<Item = Value> + '_ {
        let found = self.found.get_or_init(|| {
            let pending = self.table.as_ref().map_or_else(Vec::new, |table| table.pending());
            pending.iter().map(|value| Arc::downgrade(&value.0)).collect()
        });
        let living = found.iter().filter_map(Weak::upgrade).map(Value);
        living.filter(|value| !value.is_computed())
    }
}
