//! Other pending values: those that a flush was not asked for, and that a launch of it may compute on the way.
//!
//! Owns the pass that finds them, and [`Others`]. Where something holds a value that the flush computes in passing,
//! what is made of that may be computed beside it; and reductions go together. So the pending values that read what the
//! flush has are found, with what they read besides, and stand in its graph. Invariants: nothing else is computed
//! beside what was asked for, so that the graph says what a flush does; [`Others`] holds no value, so that it does not
//! change the counts of handles.
//!
//! Not here: which of them are worth computing (`horizontal_fusion.rs`), reductions that go together
//! (`reduction_groups.rs`).

use super::demand::Demand;
use super::pending_graph::{InputSource, PendingGraph};
use crate::graph::value::{Node, NodeOp, Value, ValueKind};
use crate::memory::ranges::Ranges;
use crate::thresholds::T;
use rustc_hash::FxHashSet;
use std::sync::{Arc, Weak};

/// The pending values of a flush, and those beside them.
#[derive(Default)]
pub(crate) struct Others(Vec<Weak<Node>>);

impl Others {
    /// Those of a graph.
    pub fn of(below: &PendingGraph) -> Others {
        let all = below.values.iter().chain(&below.others);
        Others(all.map(|value| Arc::downgrade(&value.0)).collect())
    }

    /// Those that are pending still.
    pub fn pending(&self) -> impl Iterator<Item = Value> + '_ {
        let living = self.0.iter().filter_map(Weak::upgrade).map(Value);
        living.filter(|value| !value.is_computed())
    }
}

impl PendingGraph {
    /// Finds the values beside those of a flush on a device that does so many reductions in a launch.
    pub fn see_others(&mut self, demand: &Demand<'_>, most_reductions: usize) {
        let table = demand.value.0.interner.as_ref().filter(|_| !demand.is_window);
        let Some(table) = table else { return };
        let is_wanted = |value: &Value| demand.wanted().any(|wanted| wanted.id() == value.id());
        let values = self.values.iter().zip(&self.outlives);
        let held = values.filter(|(value, outlives)| **outlives && !is_wanted(value));
        if let Some(first) = held.map(|(value, _)| value.id()).min() {
            // To look takes no longer than what was asked for: in a loop all that is pending may be behind each other.
            let most = self.values.len().clamp(T.fewest_others, T.most_others);
            for value in table.pending_behind(first) {
                if self.is_read_by(&value) {
                    self.add_others(&value, most);
                }
                if self.others.len() >= most {
                    break;
                }
            }
        } else if most_reductions > 1 && self.values.iter().any(|value| value.reduces().is_some()) {
            let mut found = table.pending_reductions();
            found.sort_unstable_by_key(Value::id);
            found.iter().for_each(|value| self.add_others(value, T.most_others));
        }
    }

    fn is_read_by(&self, value: &Value) -> bool {
        let state = value.state();
        state.operands.iter().flatten().any(|operand| self.numbers.contains_key(&operand.id()))
    }

    /// A new value that reads one of the graph, behind those that it reads besides; nothing where none is read, or
    /// where they are more than is looked at, or not regular.
    fn cone(&self, value: &Value, most: usize) -> Option<Vec<Value>> {
        let (mut found, mut next, mut reads) = (vec![value.clone()], 0, false);
        let mut seen = FxHashSet::from_iter([value.id()]);
        if self.numbers.contains_key(&value.id()) {
            return None;
        }
        while next < found.len() {
            if !is_regular(&found[next]) || self.others.len() + found.len() > most {
                return None;
            }
            let operands = found[next].state().operands.clone();
            for operand in operands.into_iter().flatten() {
                match self.numbers.contains_key(&operand.id()) {
                    true => reads = true,
                    false if !operand.is_computed() && seen.insert(operand.id()) => {
                        found.push(operand);
                    }
                    false => {}
                }
            }
            next += 1;
        }
        found.sort_unstable_by_key(Value::order);
        reads.then_some(found)
    }

    /// A value and those that it reads besides, where one of the graph is read and there are at most so many then.
    fn add_others(&mut self, value: &Value, most: usize) {
        self.cone(value, most).into_iter().flatten().for_each(|value| self.add_other(value));
    }

    fn add_other(&mut self, value: Value) {
        let operands = value.state().operands.clone();
        let reads = operands.iter().map(|operand| match operand {
            None => InputSource::Scalar,
            Some(operand) => *self.numbers.entry(operand.id()).or_insert_with(|| {
                self.leaves.push(operand.clone());
                self.leaf_outlives.push(true);
                InputSource::Leaf(self.leaves.len() as u32 - 1)
            }),
        });
        let reads = reads.collect();
        self.numbers.insert(value.id(), InputSource::Other(self.others.len() as u32));
        self.others.push(value);
        self.other_reads.push(reads);
    }
}

/// Whether a value may be computed beside others, or on the way to such a one.
fn is_regular(value: &Value) -> bool {
    let ValueKind::Expr { op, inputs } = &value.0.kind else { return false };
    let state = value.state();
    let is_new = state.operands.len() == inputs.len() && state.computed == Ranges::default();
    use NodeOp::{Apply, Assign, Call, Gather, Index, Join, Reduce, Whole};
    let is_on_device = matches!(
        op,
        Apply(_) | Assign(_) | Call(_) | Gather | Index(_) | Join(_) | Reduce { .. } | Whole(_)
    );
    is_new && is_on_device
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::array::base::{Array, ArrayOrScalar};
    use crate::record::recorder::Recorder;
    use gpupy_core::DType;
    use gpupy_core::op::Op;

    /// What a flush of the first of so many results of a loop, all of them held, sees beside it.
    fn beside_first_of(turns: usize) -> usize {
        let recorder = Recorder::default();
        let mut given = Array::from_bytes(DType::F32, &[8], &[0; 32]).unwrap();
        let mut results = Vec::new();
        for _ in 0..turns {
            let operands = [ArrayOrScalar::Array(&given), ArrayOrScalar::Array(&given)];
            given = recorder.apply(Op::Mul, &operands).unwrap();
            let operands = [ArrayOrScalar::Array(&given), ArrayOrScalar::Array(&given)];
            results.push(recorder.apply(Op::Add, &operands).unwrap().value().unwrap());
        }
        let demand = Demand::of(&results[0], 0..8);
        let mut below = PendingGraph::of(&demand);
        below.see_others(&demand, 1);
        below.others.len()
    }

    #[test]
    fn what_is_seen_beside_a_flush_grows_with_the_flush_and_not_with_all_that_is_pending() {
        assert_eq!(beside_first_of(4), 6);
        assert_eq!(beside_first_of(100), beside_first_of(1000));
    }
}
