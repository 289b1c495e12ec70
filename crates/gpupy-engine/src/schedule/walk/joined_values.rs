//! Joined values in a walk: read in one part, through a chain, or part by part.
//!
//! Owns the choice among these. Invariant: a walk that was cut reads one part of each value that it was cut for.
//!
//! Not here: coordinates in chains (`chain.rs`), where a part ends (`graph/join.rs`).

use super::chain::Chain;
use super::walker::{JoinedRead, Walker};
use super::{Child, lost};
use crate::graph::join::{Join, JoinLookup};
use crate::graph::value::{Input, Value, ValueKind};
use crate::memory::access::{self, Coordinates};
use crate::thresholds::T;
use gpupy_core::Result;

impl Walker<'_> {
    /// How the elements of a joined value at coordinates are read.
    ///
    /// # Errors
    /// - `Lost`: an operand is not held any more.
    pub(super) fn joined(
        &mut self,
        value: &Value,
        join: &Join,
        found: Coordinates,
    ) -> Result<JoinedRead> {
        let mut part = join.find(&found[join.axis as usize], &self.space);
        if matches!(part, JoinLookup::Cut { .. } | JoinLookup::Mixed)
            && let Some(child) = self.chain(value, join, &found)
        {
            return Ok(JoinedRead::Read(child));
        }
        if self.joins.is_cut()
            && let Some(child) = self.chain_of_first(value, join, &found)
        {
            return Ok(JoinedRead::Read(child));
        }
        if let JoinLookup::Cut { axis, at } = part
            && self.joins.is_cut()
        {
            // The findings so far hold for fewer points, too.
            self.space[axis] = at;
            self.ends.push((axis, at));
            part = join.find(&found[join.axis as usize], &self.space);
        }
        match part {
            JoinLookup::Part(part, start) => {
                Ok(JoinedRead::Read(self.part(value, join, (part, start), found)?))
            }
            JoinLookup::Cut { axis, at } if self.joins.is_cut() => {
                self.cut = Some((axis, at));
                Ok(JoinedRead::Cut)
            }
            JoinLookup::Cut { .. } | JoinLookup::Mixed => Ok(JoinedRead::First),
        }
    }

    /// The node of a part of a joined value, whose coordinates are known.
    fn part(
        &mut self,
        value: &Value,
        join: &Join,
        (part, start): (usize, usize),
        mut coordinates: Coordinates,
    ) -> Result<Child> {
        let ValueKind::Expr { inputs, .. } = &value.0.kind else { return Err(lost(value.id())) };
        coordinates[join.axis as usize].offset -= start as i64;
        let shape = join.shape(part, value.shape());
        let nowhere = access::access(0, &[]);
        let operand = value.state().operands.get(part).cloned().flatten();
        self.child(&inputs[part], operand.as_ref(), &shape, &nowhere, Some(&coordinates))
    }

    /// The node that gives the elements of a joined value at coordinates, if there is a chain for it.
    fn chain(&mut self, value: &Value, join: &Join, found: &Coordinates) -> Option<Child> {
        // Where launches cost little, as many pieces are as good as a chain for some of them.
        let is_cut = self.device.caps.host_memory
            && (join.ends.len() > T.chained_parts || self.are_boxes(value, join, found));
        if is_cut {
            return None;
        }
        let own = (&self.own[..], self.joins.is_cut());
        let mut chain = Chain::new(self.device, (&self.space, self.points), own, &mut self.chained);
        let (input, operand) = chain.of(value, join, found)?;
        self.chained.first.get_or_insert(self.ends.len());
        match (input, operand) {
            (Input::Scalar(scalar), _) => Some(Child::Scalar(scalar)),
            (input, Some(operand)) => Some(self.visit(&operand, input.access(&self.space))),
            (_, None) => None,
        }
    }

    /// Whether the parts of a joined value are boxes of the same extents, of several values, that one kernel gives.
    fn are_boxes(&self, value: &Value, join: &Join, found: &Coordinates) -> bool {
        let coordinate = &found[join.axis as usize];
        let reach = access::reach(coordinate, &self.space);
        let state = value.state();
        let mut sources = state.operands.iter().flatten().map(Value::id);
        let first = sources.next();
        self.joins.is_cut()
            && join.are_alike()
            && join.ends.len() <= self.device.caps.max_dests
            && (0..join.ends.len()).any(|part| join.start(part) == reach.start)
            && join.ends.contains(&reach.end)
            && self.is_read_once(value.id())
            && sources.any(|source| Some(source) != first)
    }

    /// The node of a chain through as many parts as one has, if there are more; the walk is cut behind these.
    fn chain_of_first(&mut self, value: &Value, join: &Join, found: &Coordinates) -> Option<Child> {
        let coordinate = &found[join.axis as usize];
        let found_among = join.find_among(coordinate, &self.space, T.chained_parts);
        let JoinLookup::Cut { axis, at } = found_among else { return None };
        let all = std::mem::replace(&mut self.space[axis], at);
        self.ends.push((axis, at));
        let child = self.chain(value, join, found);
        if child.is_none() {
            self.space[axis] = all;
            self.ends.pop();
        }
        child
    }
}
