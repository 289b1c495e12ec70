//! Joined values in a walk: read in one part, through a chain, in a halo, or part by part.
//!
//! Owns the choice among these. Invariant: a walk that was cut reads one part of each value that it was cut for.
//!
//! Not here: coordinates in chains (`chain.rs`), where a part ends (`graph/join.rs`), halos (`halo.rs`).

use super::chain::{Chain, has_chains};
use super::join_parts::JoinParts;
use super::walker::{JoinHandling, JoinedRead, Walker};
use super::{Child, JoinCut, lost};
use crate::graph::join::{Join, JoinLookup};
use crate::graph::value::{Input, Value, ValueKind};
use crate::memory::access::{self, Coordinates};
use crate::schedule::walk::halo::Rotation;
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::shape::size_of;

/// The points of an invocation or of a texel.
const FOUR: usize = 4;

impl Walker<'_> {
    /// How the elements of a joined value at coordinates are read; of a rotation that is read in a halo, there.
    ///
    /// # Errors
    /// - `Lost`: an operand is not held any more.
    pub(super) fn joined(
        &mut self,
        value: &Value,
        join: &Join,
        found: Coordinates,
        rotation: Option<&Rotation>,
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
            let at = match self.in_fours(value, join, (axis, at)) {
                Some(behind) if behind > at => {
                    match self.chain_before(value, join, &found, (axis, behind)) {
                        Some(child) => return Ok(JoinedRead::Read(child)),
                        None => at,
                    }
                }
                Some(before) => before,
                None => at,
            };
            // The findings so far hold for fewer points, too.
            self.space[axis] = at;
            self.ends.push((axis, at));
            part = join.find(&found[join.axis as usize], &self.space);
        }
        if let Some((halo, at)) = rotation.and_then(|rotation| self.halo(rotation, &found)) {
            let child = self.visit(&halo, at);
            self.need_whole(&halo);
            return Ok(JoinedRead::Read(child));
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
        if self.joins == JoinHandling::Halo || is_cut {
            return None;
        }
        let mut chain =
            Chain::new(self.device, (&self.space, self.points), &self.own, &mut self.chained);
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

    /// A multiple of four near a cut along the last axis: the next one if an edge ends there, otherwise the one before.
    /// Devices compute and store four points together: so the largest box begins and ends with such four. Only if the
    /// points between the two may be read through a chain.
    fn in_fours(&self, value: &Value, join: &Join, (axis, at): JoinCut) -> Option<usize> {
        let edge = size_of(&self.space) / self.space[axis] * T.edge;
        let is_along = axis + 1 == self.space.len() && self.space[axis] > 2 * T.edge;
        (!self.device.caps.host_memory && is_along && at % FOUR != 0).then_some(())?;
        has_chains(self.device, value.dtype(), edge).then_some(())?;
        let parts = JoinParts::of(value, join, 0..value.shape()[join.axis as usize] as i64)?;
        let is_read = match &parts.sources[..] {
            [] => true,
            [source] => self.device.gathers_from(source),
            _ => false,
        };
        let nearest = if at < T.edge { at.next_multiple_of(FOUR) } else { at / FOUR * FOUR };
        is_read.then_some(nearest)
    }

    /// The node of a chain through as many parts as one has, if there are more; the walk is cut behind these.
    fn chain_of_first(&mut self, value: &Value, join: &Join, found: &Coordinates) -> Option<Child> {
        let coordinate = &found[join.axis as usize];
        let found_among = join.find_among(coordinate, &self.space, T.chained_parts);
        let JoinLookup::Cut { axis, at } = found_among else { return None };
        self.chain_before(value, join, found, (axis, at))
    }

    /// The node of a chain over the points before a cut, if there is one; the walk is cut there.
    fn chain_before(
        &mut self,
        value: &Value,
        join: &Join,
        found: &Coordinates,
        (axis, at): JoinCut,
    ) -> Option<Child> {
        let all = std::mem::replace(&mut self.space[axis], at);
        self.ends.push((axis, at));
        let child = self.chain(value, join, found);
        if child.is_none() {
            self.space[axis] = all;
            self.ends.pop();
        }
        child
    }

    /// The rotation that a joined value is, if these nodes read it in a halo: also those that read one part alone, so
    /// that all shifts are one program.
    pub(super) fn rotation(
        &mut self,
        value: &Value,
        join: &Join,
        nodes: &[u32],
    ) -> Option<Rotation> {
        let is_halo = self.joins == JoinHandling::Halo
            && nodes.iter().any(|node| {
                let at = self.nodes[*node as usize].access.clone();
                let found = self.coordinates(value, &at);
                let part = found.map(|found| join.find(&found[join.axis as usize], &self.space));
                matches!(part, Some(JoinLookup::Cut { .. } | JoinLookup::Mixed))
            });
        is_halo.then(|| Rotation::found(value, |value| self.device.is_all_there(value))).flatten()
    }

    /// The halo in which a rotation lies that is needed at these coordinates, and the access to it.
    fn halo(&self, rotation: &Rotation, coordinates: &Coordinates) -> Option<(Value, Access)> {
        let is_one_tile = |shape: &[usize]| self.device.tiling(shape).is_one();
        self.device.flush.halos.find(rotation, coordinates, self.space.len(), is_one_tile)
    }
}
