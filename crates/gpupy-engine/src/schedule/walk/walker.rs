//! The walker: makes a walk from the value down to computed ones.
//!
//! Values are visited parents first (by falling creation number), with a heap instead of recursion, so that all
//! accesses to a value are known before it is expanded. A step that several joins' chains share may be read at one more
//! access by later nodes, and is expanded for that by itself. Invariant: no value is expanded at several accesses, or
//! more often than it has elements, when computing it once is cheaper (`cost.rs`).
//!
//! Not here: the walk itself (`mod.rs`), joined values (`joined_values.rs`), which nodes go into which kernel
//! (`partition.rs`).

use super::chain::{self, Chained};
use super::{
    Applied, Child, CutWalk, FusionWalk, JoinCut, Needs, PlacedStart, Role, Start, WalkNode, lost,
};
use crate::graph::value::{Input, InputLayout, NodeOp, TopologicalRank, Value, ValueId, ValueKind};
use crate::memory::access::{self, Coordinates};
use crate::schedule::cost::{self, Growth};
use crate::schedule::engine_device::OpenDevice;
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::op::Op;
use gpupy_core::shape::{Shape, size_of};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

/// How a walk treats a joined value of which it reads several parts.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum JoinHandling {
    /// It is computed first.
    First,
    /// The walk is cut where a part ends.
    Cut,
    /// Like `Cut`, for a walk over part of a tile, which stores nothing besides.
    CutAgain,
}

impl JoinHandling {
    pub(super) fn is_cut(self) -> bool {
        matches!(self, JoinHandling::Cut | JoinHandling::CutAgain)
    }
}

/// The finding for a joined value at an access.
pub(super) enum JoinedRead {
    /// It is read so.
    Read(Child),
    /// It has to be computed first.
    First,
    /// The walk has to be cut.
    Cut,
}

/// The nodes of a value, one for each access.
#[derive(Default)]
struct ValueNodes {
    all: SmallVec<[u32; 1]>,
    /// How many of them were expanded.
    expanded: usize,
}

pub(super) struct Walker<'d> {
    pub(super) device: &'d OpenDevice,
    pub(super) space: Shape,
    /// How many points there are with those of the starts that other walks go over.
    pub(super) points: usize,
    pub(super) nodes: Vec<WalkNode>,
    by_value: FxHashMap<ValueId, ValueNodes>,
    /// The nodes of values that are tables.
    tables: FxHashMap<ValueId, u32>,
    pending: BinaryHeap<(TopologicalRank, ValueId)>,
    /// The nodes of the needs, at the places where they are read.
    needed: Vec<u32>,
    /// Values that have to be computed first, all of them.
    whole: Vec<Value>,
    pub(super) joins: JoinHandling,
    /// The values that the walk computes, even if other walks read them.
    pub(super) own: SmallVec<[ValueId; 1]>,
    besides: SmallVec<[u32; 2]>,
    /// Where the space was cut, one after another; it ends there.
    pub(super) ends: Vec<JoinCut>,
    /// Where it has to be cut before its needs can be known.
    pub(super) cut: Option<JoinCut>,
    pub(super) chained: Chained,
    /// The boxes that it goes over at once.
    boxes: u32,
    /// The boxes in which each node is read, a bit for each box.
    read_in: Vec<u64>,
    /// Those of the node that is being expanded.
    expanding_in: u64,
    /// The last coordinates found: neighbours in a graph mostly share shape and access.
    last: Option<(Shape, Access, Coordinates)>,
    /// The space with an axis split as that of a value is whose coordinates are not affine in it.
    finer: Option<Shape>,
}

impl<'d> Walker<'d> {
    /// The walk over as much of the space as `FusionWalk::up_to_cuts` says; where it was not cut, with the finer space
    /// in which fewer values are needed first, if there is one.
    pub(super) fn cut(
        device: &'d OpenDevice,
        starts: &[PlacedStart<'_>],
        space: Shape,
        joins: JoinHandling,
    ) -> Result<(CutWalk, Option<Shape>)> {
        let (mut walker, mut roots) = Walker::walked(device, starts, space, joins)?;
        let mut ends = std::mem::take(&mut walker.ends);
        let mut count = ends.len();
        // Findings that hold for the whole space alone are looked for once more in the part that is left.
        while count > 0 && walker.cut.is_none() && walker.is_of_more(count) {
            let space = walker.space.clone();
            (walker, roots) = Walker::walked(device, starts, space, JoinHandling::CutAgain)?;
            count = walker.ends.len();
            ends.append(&mut walker.ends);
        }
        Ok(match walker.cut {
            Some(cut) => (Err(*ends.first().unwrap_or(&cut)), None),
            None => {
                let finer = walker.finer.take().filter(|_| ends.is_empty());
                (Ok((walker.ended(roots), ends)), finer)
            }
        })
    }

    /// A walk as far as it comes, and its roots.
    pub(super) fn walked(
        device: &'d OpenDevice,
        starts: &[PlacedStart<'_>],
        space: Shape,
        joins: JoinHandling,
    ) -> Result<(Walker<'d>, SmallVec<[Child; 1]>)> {
        let mut chained = Chained::default();
        loop {
            let walk = (space.clone(), joins);
            let (mut walker, roots) = Walker::walked_once(device, starts, walk, chained)?;
            match walker.chained.again() {
                Some(again) => chained = again,
                None => return Ok((walker, roots)),
            }
        }
    }

    /// A walk, given what is known of its chains.
    fn walked_once(
        device: &'d OpenDevice,
        starts: &[PlacedStart<'_>],
        (space, joins): (Shape, JoinHandling),
        chained: Chained,
    ) -> Result<(Walker<'d>, SmallVec<[Child; 1]>)> {
        let length = |(start, _): &PlacedStart<'_>| match start {
            Start::Itself(value) => value.len(),
            Start::Scalar(_) | Start::Value(_) => 0,
        };
        let points = starts.iter().map(length).max().unwrap_or(0).max(size_of(&space));
        let mut walker = Walker {
            device,
            space,
            points,
            nodes: Vec::new(),
            by_value: FxHashMap::default(),
            tables: FxHashMap::default(),
            pending: BinaryHeap::new(),
            needed: Vec::new(),
            whole: Vec::new(),
            joins,
            own: SmallVec::new(),
            besides: SmallVec::new(),
            ends: Vec::new(),
            cut: None,
            chained,
            boxes: 0,
            read_in: Vec::new(),
            expanding_in: 0,
            last: None,
            finer: None,
        };
        let mut last = None;
        let roots = starts
            .iter()
            .map(|(start, at)| {
                if last.replace(at) != Some(at) {
                    walker.expanding_in = 1 << walker.boxes.min(u64::BITS - 1);
                    walker.boxes += 1;
                }
                match start {
                    Start::Scalar(scalar) => Child::Scalar(*scalar),
                    Start::Value(value) => walker.visit(value, at.clone()),
                    Start::Itself(value) => {
                        walker.own.push(value.id());
                        walker.visit(value, at.clone())
                    }
                }
            })
            .collect();
        while let Some((_, id)) = walker.pending.pop() {
            walker.expand(id)?;
            if walker.cut.is_some() {
                break;
            }
        }
        device.walked.update(|walked| walked + walker.nodes.len() as u64);
        Ok((walker, roots))
    }

    pub(super) fn ended(self, roots: SmallVec<[Child; 1]>) -> FusionWalk {
        let Walker { device, space, nodes, besides, .. } = self;
        // The space may have been cut since: needs of the other points are dropped.
        let reads = self.needed.into_iter().map(|node| {
            let node = &nodes[node as usize];
            (node.value.clone(), access::reach(&node.access, &space))
        });
        let is_missing =
            |(value, reach): &(Value, Range<usize>)| !device.is_there(value, reach.clone());
        let mut needs: Needs = reads.filter(is_missing).collect();
        needs.extend(self.whole.into_iter().map(|value| {
            let all = 0..value.len();
            (value, all)
        }));
        FusionWalk { space, nodes, roots, besides, needs }
    }

    /// Whether it has findings that the space that is left would not give, cut so often.
    fn is_of_more(&self, cuts: usize) -> bool {
        !self.besides.is_empty()
            || self.chained.first.is_some_and(|first| first < cuts)
            || self.computes_what_is_there()
    }

    /// Whether a node is computed although all of its elements that the rest of the space reads are there.
    fn computes_what_is_there(&self) -> bool {
        self.nodes.iter().any(|WalkNode { value, access, role }| {
            matches!(role, Role::Apply(..))
                && self.device.is_there(value, access::reach(access, &self.space))
        })
    }

    /// The node of a value at an access, new or known.
    pub(super) fn visit(&mut self, value: &Value, at: Access) -> Child {
        if let ValueKind::Constant(scalar) = value.0.kind {
            return Child::Scalar(scalar);
        }
        let known = self.by_value.entry(value.id()).or_default();
        if let Some(found) = known.all.iter().find(|n| self.nodes[**n as usize].access == at) {
            self.read_in[*found as usize] |= self.expanding_in;
            return Child::Node(*found);
        }
        if known.all.len() == known.expanded {
            self.pending.push((value.order(), value.id()));
        }
        let node = self.nodes.len() as u32;
        known.all.push(node);
        self.nodes.push(WalkNode { value: value.clone(), access: at, role: Role::Leaf });
        self.read_in.push(self.expanding_in);
        Child::Node(node)
    }

    /// Decides the role of a value, when all its accesses are known.
    fn expand(&mut self, id: ValueId) -> Result<()> {
        let Some(known) = self.by_value.get_mut(&id) else {
            return Ok(());
        };
        let expanded = std::mem::replace(&mut known.expanded, known.all.len());
        let nodes: SmallVec<[u32; 1]> = known.all[expanded..].into();
        let value = self.nodes[nodes[0] as usize].value.clone();
        let ValueKind::Expr { op, inputs } = &value.0.kind else {
            return Ok(());
        };
        let state = value.state();
        let reach = |n: &u32| access::reach(&self.nodes[*n as usize].access, &self.space);
        let is_open =
            |n: &&u32| !self.device.flush.promised.complete(id, &state.computed, reach(n));
        let open: SmallVec<[u32; 1]> = nodes.iter().filter(is_open).copied().collect();
        if open.is_empty() || self.whole.iter().any(|whole| whole.id() == id) {
            return Ok(());
        }
        if self.device.flush.elsewhere.contains(&id) {
            open.iter().for_each(|node| self.need(*node));
            return Ok(());
        }
        if state.operands.len() != inputs.len() {
            return Err(lost(id));
        }
        if self.device.flush.fates.is_stored(id) && !self.own.contains(&id) {
            match open[..] {
                [node] if self.may_be_beside(node) => self.besides.push(node),
                _ => {
                    open.iter().for_each(|node| self.need(*node));
                    return Ok(());
                }
            }
        }
        let operands = match op {
            // Of thousands of parts a walk mostly reads one, and there is a walk for each.
            NodeOp::Join(_) => SmallVec::new(),
            _ => state.operands.clone(),
        };
        drop(state);
        let by_itself = match op {
            NodeOp::Gather => !operands[1].as_ref().is_some_and(|t| self.device.gathers_from(t)),
            _ => op.stands_alone(),
        };
        if !by_itself && let Some(error) = self.device.lack(&value, op, inputs, &operands) {
            return Err(error);
        }
        self.expanding_in = self.read_in[open[0] as usize];
        if let Some((lowered, result)) = self.expanded(&value, op, inputs, &operands) {
            return self.expand_by(&value, &open, (&lowered, result), inputs, &operands);
        }
        if by_itself || self.is_stored(&value, &open) {
            for node in open {
                self.need(node);
            }
            return Ok(());
        }
        for node in open {
            self.expanding_in = self.read_in[node as usize];
            let at = self.nodes[node as usize].access.clone();
            let found = if value.0.linear { None } else { self.coordinates(&value, &at) };
            if found.is_none() && !value.0.linear {
                if self.finer.is_none() {
                    self.finer = access::finer(&at, &self.space, value.shape());
                }
                self.need(node);
                continue;
            }
            let role = match op {
                NodeOp::Apply(_) | NodeOp::Call(_) => {
                    let operands = inputs.iter().zip(operands.iter().map(Option::as_ref));
                    let applied = match op {
                        NodeOp::Apply(op) => Applied::Op(*op),
                        NodeOp::Call(called) => Applied::Call(called.clone()),
                        _ => return Ok(()),
                    };
                    Role::Apply(applied, self.children(&value, operands, &at, found.as_deref())?)
                }
                NodeOp::Index(axis) => match found.as_ref().and_then(|f| f.get(*axis as usize)) {
                    Some(coordinate) => Role::Index(coordinate.clone()),
                    None => return Err(lost(id)),
                },
                NodeOp::InPieces(own) => {
                    let found = found.as_deref().ok_or_else(|| lost(id))?;
                    Role::InPieces(Arc::new(own.through(found, self.space.len())))
                }
                NodeOp::Gather => {
                    let position = (&inputs[0], operands[0].as_ref());
                    let mut both =
                        self.children(&value, [position].into_iter(), &at, found.as_deref())?;
                    both.push(self.table(operands[1].as_ref().ok_or_else(|| lost(id))?));
                    Role::Apply(Applied::Op(Op::Gather), both)
                }
                NodeOp::Join(join) => {
                    let Some(found) = found else { return Err(lost(id)) };
                    match self.joined(&value, join, found)? {
                        JoinedRead::Read(child) => {
                            Role::Apply(Applied::Op(Op::Cast), SmallVec::from_slice(&[child]))
                        }
                        JoinedRead::First => {
                            self.need(node);
                            continue;
                        }
                        JoinedRead::Cut => return Ok(()),
                    }
                }
                NodeOp::Reduce { .. }
                | NodeOp::Assign(_)
                | NodeOp::Scatter(_)
                | NodeOp::WhereTrue
                | NodeOp::Argument
                | NodeOp::Deferred(_)
                | NodeOp::Whole(_) => return Ok(()),
            };
            self.nodes[node as usize].role = role;
        }
        Ok(())
    }

    /// Whether the walk may store a node on its way: it computes a map, and the node at each of its points.
    fn may_be_beside(&self, node: u32) -> bool {
        let WalkNode { value, access, .. } = &self.nodes[node as usize];
        let count = self.own.len() + self.besides.len();
        !self.own.is_empty()
            && self.joins == JoinHandling::Cut
            && count < self.device.caps.max_dests
            && self.device.caps.dtypes.contains(&value.dtype())
            && self.device.own_tile(value, access, &self.space).is_some()
    }

    /// Whether computing a value once and storing it is cheaper than computing it at each point of these nodes.
    fn is_stored(&self, value: &Value, nodes: &[u32]) -> bool {
        let points = size_of(&self.space).saturating_mul(nodes.len());
        let reach = || -> Range<usize> {
            let reach = |node: &u32| access::reach(&self.nodes[*node as usize].access, &self.space);
            let all = nodes.iter().map(reach);
            let both = |a: Range<usize>, b: Range<usize>| a.start.min(b.start)..a.end.max(b.end);
            all.reduce(both).unwrap_or_default()
        };
        let is_there = |below: &Value| {
            let is_stored =
                below.id() != value.id() && self.device.flush.fates.is_stored(below.id());
            is_stored || self.device.is_all_there(below)
        };
        let weight = |most, is_there: &dyn Fn(&Value) -> bool| {
            let joins = !chain::has_chains(self.device, value.dtype());
            cost::weight(value, most, u32::from(joins), is_there)
        };
        // What has fewer elements is decided on by itself.
        let is_apart = |below: &Value| is_there(below) || below.len() < value.len();
        // Boxes that lie apart would each compute their own elements by themselves, too.
        let is_of_boxes = self.boxes > 1 && points <= reach().len();
        let accesses = if is_of_boxes { self.accesses_of_a_box(nodes) } else { nodes.len() };
        let is_only_here = || !self.is_needed_by_fellows(value);
        let own = |most| weight(most, &is_apart);
        if cost::again(value, accesses, points, reach, is_only_here, own) > T.recompute {
            return true;
        }
        if !Growth::may_pay(value, points, &self.device.caps) {
            return false;
        }
        let tiling = self.device.tiling_of(value);
        let numbers = tiling.numbers(reach());
        let (first, last) = (tiling.tile(numbers.start), tiling.tile(numbers.end - 1));
        let stored = last.range.end - first.range.start;
        points > stored
            && Growth { points, stored }.pays(weight(Growth::most(), &is_there), &self.device.caps)
    }

    /// Whether needs of the same step, those of several other kernels, need a value too, as far as few values show.
    fn is_needed_by_fellows(&self, value: &Value) -> bool {
        let mut others =
            self.device.flush.fellows.iter().filter(|other| !self.own.contains(&other.id()));
        // The last one stands for all that are computed after this walk's.
        let Some(fellow) = others.nth(T.fellow_kernels * self.device.caps.max_dests - 1) else {
            return false;
        };
        let mut open = vec![fellow.clone()];
        let mut seen: SmallVec<[ValueId; 32]> = SmallVec::new();
        while let Some(next) = open.pop() {
            if next.id() == value.id() {
                return true;
            }
            if seen.len() == T.fellow_looked_at || next.is_computed() || seen.contains(&next.id()) {
                continue;
            }
            seen.push(next.id());
            open.extend(next.state().operands.iter().flatten().cloned());
        }
        false
    }

    /// The most of these nodes that are read in one box.
    fn accesses_of_a_box(&self, nodes: &[u32]) -> usize {
        let read_in = |number: u32| {
            nodes.iter().filter(|node| self.read_in[**node as usize] >> number & 1 == 1).count()
        };
        (0..self.boxes.min(u64::BITS)).map(read_in).max().unwrap_or(0).max(1)
    }

    /// The nodes of a value's operands, where the value is needed at an access.
    pub(super) fn children<'a>(
        &mut self,
        value: &Value,
        operands: impl Iterator<Item = (&'a Input, Option<&'a Value>)>,
        at: &Access,
        found: Option<&[Access]>,
    ) -> Result<SmallVec<[Child; 3]>> {
        let mut children = SmallVec::new();
        for (input, operand) in operands {
            children.push(self.child(input, operand, value.shape(), at, found)?);
        }
        Ok(children)
    }

    pub(super) fn child(
        &mut self,
        input: &Input,
        operand: Option<&Value>,
        shape: &[usize],
        at: &Access,
        coordinates: Option<&[Access]>,
    ) -> Result<Child> {
        let value = match (input, operand) {
            (Input::Scalar(scalar), _) => return Ok(Child::Scalar(*scalar)),
            (_, Some(value)) => value,
            (Input::Whole(id) | Input::View(id, _), None) => return Err(lost(*id)),
        };
        let composed = match (coordinates, input) {
            (Some(found), _) => {
                let InputLayout { offset, strides } = input.layout(shape);
                access::through(offset, &strides, found, self.space.len())
            }
            // A linear value's positions are its operands' positions.
            (None, Input::View(_, layout)) => {
                let mut same = at.clone();
                same.offset += layout.offset as i64;
                same
            }
            (None, _) => at.clone(),
        };
        Ok(self.visit(value, composed))
    }

    /// The node of a value that a gather reads. Unless it is computed, it is needed first.
    fn table(&mut self, value: &Value) -> Child {
        let next = self.nodes.len() as u32;
        let node = *self.tables.entry(value.id()).or_insert(next);
        if node == next {
            let nowhere =
                access::access(0, &SmallVec::<[isize; 4]>::from_elem(0, self.space.len()));
            let (value, access) = (value.clone(), nowhere);
            self.need_whole(&value);
            self.nodes.push(WalkNode { value, access, role: Role::Table });
            self.read_in.push(self.expanding_in);
        }
        Child::Node(node)
    }

    pub(super) fn coordinates(&mut self, value: &Value, at: &Access) -> Option<Coordinates> {
        if let Some((shape, access, found)) = &self.last
            && shape[..] == *value.shape()
            && access == at
        {
            return Some(found.clone());
        }
        let found = access::coordinates(at, &self.space, value.shape())?;
        self.last = Some((value.shape().into(), at.clone(), found.clone()));
        Some(found)
    }

    /// Whether a value is read at one access.
    pub(super) fn is_read_once(&self, value: ValueId) -> bool {
        self.by_value.get(&value).is_some_and(|known| known.all.len() == 1)
    }

    pub(super) fn need(&mut self, node: u32) {
        self.needed.push(node);
    }

    /// Needs all of a value that nodes read, unless it is there.
    pub(super) fn need_whole(&mut self, value: &Value) {
        if !self.device.is_there(value, 0..value.len()) {
            self.whole.push(value.clone());
        }
    }
}
