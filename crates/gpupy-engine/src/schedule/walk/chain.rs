//! Chains: a join of views, read at coordinates that are computed where they are needed.
//!
//! Owns [`Chain`]. Rotations, repeated edges, mirrors and margins of constants are joins whose parts are views of one
//! value, or constants. A walk over several of its parts need not be cut: in each part the coordinates in that value
//! are affine. So the position is a number in pieces, the element is a `gather`, and a constant one more choice. A
//! cheap pending value below is computed at the same coordinates; a costly one is stored first.
//! Invariants: a chain is made of steps over the walk's space, each equal to the value that it stands for at every
//! point; a position outside is named only where a select leaves its element out, and a gather stays inside by itself.
//!
//! Not here: coordinates (`graph/piecewise_number.rs`), joins that are cut (`steps/boxes.rs`).

use super::join_parts::{Giver, JoinParts, PartOf, PartRead};
use crate::graph::join::Join;
use crate::graph::piecewise_number::{AffineLine, InPieces, PiecewiseCoordinate};
use crate::graph::value::{Input, InputLayout, NodeOp, Operand, Value, ValueId, ValueKind};
use crate::memory::access;
use crate::schedule::cost::{self, Growth};
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::lowering::operation_lowering::{OperationLowering, method_dtype};
use crate::thresholds::T;
use gpupy_core::DType;
use gpupy_core::driver::{Access, Part};
use gpupy_core::op::Op;
use gpupy_core::shape::{Shape, size_of};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The operations from which on it makes no difference to a chain how many they are.
const MOST_WEIGHT: u32 = T.costly + 1;

/// The record of a walk's chains.
#[derive(Default)]
pub(super) struct Chained {
    /// The steps that compute a value, each at other coordinates.
    uses: FxHashMap<ValueId, SmallVec<[ValueId; 4]>>,
    /// Values that chains read from memory.
    stored: FxHashSet<ValueId>,
    /// The operations of the values that chains came to: each is looked at from many places.
    weights: FxHashMap<ValueId, u32>,
    /// Whether there are more of these than when the walk began.
    is_outdated: bool,
    /// How often the walk had been cut when its first chain was made.
    pub first: Option<usize>,
}

impl Chained {
    /// The record with which the walk begins once more, if a value has turned out to be stored rather than recomputed.
    pub fn again(&mut self) -> Option<Chained> {
        let (stored, weights) =
            (std::mem::take(&mut self.stored), std::mem::take(&mut self.weights));
        self.is_outdated.then(|| Chained { stored, weights, ..Chained::default() })
    }
}

/// A chain that is being made.
pub(super) struct Chain<'w> {
    pub device: &'w OpenDevice,
    /// The walk's points.
    pub space: &'w [usize],
    /// How many points there are with those that other walks go over.
    pub points: usize,
    pub chained: &'w mut Chained,
    /// The values that the walk computes, even if other walks read them.
    pub own: &'w [ValueId],
    /// Whether the walk may be cut where parts end. Of one that is not, joins without a chain are computed first.
    pub is_cut: bool,
    /// The join that is gone through, by its name.
    name: ValueId,
    depth: usize,
    /// The steps found for pending values at coordinates.
    known: Vec<(ValueId, Vec<PiecewiseCoordinate>, Operand)>,
}

impl<'w> Chain<'w> {
    pub fn new(
        device: &'w OpenDevice,
        (space, points): (&'w [usize], usize),
        (own, is_cut): (&'w [ValueId], bool),
        chained: &'w mut Chained,
    ) -> Chain<'w> {
        Chain { device, space, points, own, is_cut, chained, name: 0, depth: 0, known: Vec::new() }
    }

    /// The operand that gives the elements of a join at coordinates over the space; `None` where there is no chain for
    /// it.
    pub fn of(&mut self, value: &Value, join: &Join, found: &[Access]) -> Option<Operand> {
        // What a walk reads many times over and does not cut is computed once, first: a window of each element, say.
        let is_much = !self.is_cut && size_of(self.space) > T.read_over * value.len();
        (!is_much && has_chains(self.device, value.dtype())).then_some(())?;
        let found: Vec<PiecewiseCoordinate> =
            found.iter().cloned().map(PiecewiseCoordinate::affine).collect();
        self.joined(value, join, &found)
    }

    fn joined(
        &mut self,
        value: &Value,
        join: &Join,
        at: &[PiecewiseCoordinate],
    ) -> Option<Operand> {
        let axis = join.axis as usize;
        let (low, high) = at[axis].bounds(self.space)?;
        let parts = JoinParts::of(value, join, low..high + 1)?;
        (self.depth < T.longest_chain && self.may_mix(&parts)).then_some(())?;
        let name = std::mem::replace(&mut self.name, value.id());
        self.depth += 1;
        let chosen = self.chosen(value, (axis, &parts), at);
        self.name = name;
        self.depth -= 1;
        chosen
    }

    /// Whether the elements of several values may be selected from at each point: all of them are read there, which
    /// takes less than launches of their own; in host memory no more is read than in these.
    fn may_mix(&self, parts: &JoinParts) -> bool {
        let sources = || 0..parts.sources.len();
        let caps = &self.device.caps;
        let Some(main) = sources().max_by_key(|source| parts.extent_of(*source)) else {
            return true;
        };
        if caps.host_memory || parts.sources.len() == 1 {
            return true;
        }
        let is_there = |value: &Value| self.device.is_all_there(value) || self.is_apart(value);
        let others = sources().filter(|source| *source != main);
        let weights = others.map(|other| {
            u64::from(cost::weight(&parts.sources[other], Growth::most(), 0, is_there))
        });
        cost::is_selected(size_of(self.space), weights, parts.runs().len(), caps)
    }

    /// The element of whichever part of a join along an axis a coordinate lies in.
    fn chosen(
        &mut self,
        value: &Value,
        (axis, parts): (usize, &JoinParts),
        at: &[PiecewiseCoordinate],
    ) -> Option<Operand> {
        let mut elements: SmallVec<[Operand; 2]> = SmallVec::new();
        for source in 0..parts.sources.len() {
            elements.push(self.read(source, value.shape(), (axis, parts), at)?);
        }
        let given = |giver: Giver| match giver {
            Giver::Constant(scalar) => (Input::Scalar(scalar), None),
            Giver::Source(source) => elements[source].clone(),
        };
        let runs = parts.runs();
        let [ends @ .., (_, last)] = &runs[..] else { return None };
        if ends.is_empty() {
            return Some(given(*last));
        }
        let (of, ends) = (at[axis].clone(), ends.iter().map(|(end, _)| *end).collect());
        let piece = self.leaf(InPieces::Piece { of, ends });
        let mut operands: SmallVec<[Operand; 3]> = smallvec![piece];
        operands.extend(runs.iter().map(|(_, giver)| given(*giver)));
        let steps = &self.device.flush.steps;
        let op = NodeOp::Apply(Op::Choose);
        let made = steps.made(self.name, value.dtype(), self.space, op, operands);
        Some((Input::Whole(made.id()), Some(made)))
    }

    /// The element of a value that some parts of a join along an axis are views of.
    fn read(
        &mut self,
        source: usize,
        shape: &[usize],
        (axis, parts): (usize, &JoinParts),
        at: &[PiecewiseCoordinate],
    ) -> Option<Operand> {
        let value = &parts.sources[source];
        let views = || {
            parts.all.iter().map(move |part| match &part.read {
                PartRead::View(own, layout) if *own == source => {
                    Some((part, access::access(layout.offset, &layout.strides)))
                }
                _ => None,
            })
        };
        if self.is_inside(value) {
            let coordinates = |(part, walk): (&PartOf, Access)| {
                let mut extents: Shape = shape.into();
                extents[axis] = part.extent();
                access::coordinates(&walk, &extents, value.shape())
            };
            let all: Vec<Option<_>> = views().map(|view| view.map(coordinates)).collect();
            if all.iter().flatten().all(Option::is_some) {
                let numbers: Option<Vec<PiecewiseCoordinate>> = (0..value.shape().len())
                    .map(|own| {
                        let of = |found: &Option<Option<access::Coordinates>>| {
                            Some(found.as_ref()?.as_ref()?[own].clone())
                        };
                        self.in_parts(shape, (axis, parts), all.iter().map(of).collect(), at)
                    })
                    .collect();
                return self.inside(value, numbers?);
            }
        }
        let positions = views().map(|view| view.map(|(_, walk)| walk)).collect();
        let position = self.in_parts(shape, (axis, parts), positions, at)?;
        self.element(value, &position)
    }

    /// A number that in each part is affine in the part's own coordinates, where the parts differ along their axis
    /// alone; in a part that does not have it, it may be anything.
    fn in_parts(
        &self,
        shape: &[usize],
        (axis, parts): (usize, &JoinParts),
        numbers: Vec<Option<Access>>,
        at: &[PiecewiseCoordinate],
    ) -> Option<PiecewiseCoordinate> {
        let parts = &parts.all;
        let main = (0..parts.len())
            .filter(|part| numbers[*part].is_some())
            .max_by_key(|part| parts[*part].extent())?;
        let mut whole = numbers[main].clone()?;
        if parts[main].extent() == 1 {
            // A single element has any step: it stays where it is in the other parts.
            whole.strides[axis] = 0;
        }
        let mut lines: SmallVec<[Option<AffineLine>; 4]> = SmallVec::new();
        for (part, number) in parts.iter().zip(&numbers) {
            let Some(number) = number else {
                // It goes on as the part before does.
                lines.push(lines.last().copied().flatten());
                continue;
            };
            let mut others = (0..shape.len()).filter(|other| *other != axis && shape[*other] > 1);
            if others.any(|other| number.strides[other] != whole.strides[other]) {
                return None;
            }
            // So does that of the largest part.
            let step = if part.extent() == 1 { whole.strides[axis] } else { number.strides[axis] };
            let start = number.offset.checked_sub(step.checked_mul(part.range.start)?)?;
            lines.push(Some(AffineLine { start, step }));
        }
        if parts.iter().all(|part| part.extent() == 1) {
            level(&mut lines, parts);
        }
        let first = lines.iter().flatten().next().copied()?;
        let lines: SmallVec<[AffineLine; 4]> =
            lines.into_iter().map(|line| line.unwrap_or(first)).collect();
        let ends: SmallVec<[i64; 4]> =
            parts[..parts.len() - 1].iter().map(|part| part.range.end).collect();
        let mut number = PiecewiseCoordinate::pieces(&at[axis], &ends, &lines, self.space)?;
        for (other, coordinate) in at.iter().enumerate().filter(|(other, _)| *other != axis) {
            let step = if shape[other] > 1 { whole.strides[other] } else { 0 };
            number.add(step, coordinate)?;
        }
        Some(number)
    }

    /// Whether a value that may be pending is stored before the walk reads it.
    fn is_apart(&self, value: &Value) -> bool {
        self.is_apart_for_all(value) || self.chained.stored.contains(&value.id())
    }

    /// Whether that is so for every walk.
    fn is_apart_for_all(&self, value: &Value) -> bool {
        self.device.flush.elsewhere.contains(&value.id())
            || self.device.flush.fates.is_stored(value.id()) && !self.own.contains(&value.id())
    }

    /// The operations of an element of a value, up to the most that matter.
    fn weight(&mut self, value: &Value) -> u32 {
        if let Some(known) = self.chained.weights.get(&value.id()) {
            return *known;
        }
        let is_there = |value: &Value| self.device.is_all_there(value);
        let weight = cost::weight(value, MOST_WEIGHT, 0, is_there);
        self.chained.weights.insert(value.id(), weight);
        weight
    }

    /// Whether a value is computed at the coordinates where it is needed, rather than read.
    fn is_inside(&mut self, value: &Value) -> bool {
        let ValueKind::Expr { op, inputs } = &value.0.kind else { return false };
        let device = self.device;
        let operands = || value.state().operands.clone();
        let points = size_of(self.space);
        let growth = Growth { points, stored: value.len() };
        let is_read = device.is_all_there(value) || self.is_apart(value) || op.stands_alone();
        if is_read || self.weight(value) > T.costly {
            return false;
        }
        if Growth::may_pay(value, points, &device.caps)
            && growth.pays(self.weight(value), &device.caps)
        {
            return false;
        }
        let is_taken = |op: &NodeOp| match op {
            NodeOp::Apply(Op::Cast | Op::Bitcast) => true,
            NodeOp::Apply(op) => {
                let first = match (inputs.first(), operands().first()) {
                    (Some(Input::Scalar(scalar)), _) => Some(scalar.dtype),
                    (_, Some(Some(operand))) => Some(operand.dtype()),
                    _ => None,
                };
                let way = device.way(*op, method_dtype(*op, value.dtype(), first));
                matches!(way, OperationLowering::Native | OperationLowering::Inlined(_))
            }
            NodeOp::Call(called) => {
                matches!(device.way_of(&called.function), OperationLowering::Inlined(_))
            }
            NodeOp::Gather => operands()
                .get(1)
                .is_some_and(|table| table.as_ref().is_some_and(|t| device.gathers_from(t))),
            _ => true,
        };
        is_taken(op) && device.lack(value, op, inputs, &operands()).is_none()
    }

    /// A pending value's element, computed from its operands' at these coordinates.
    fn inside(&mut self, value: &Value, at: Vec<PiecewiseCoordinate>) -> Option<Operand> {
        let is_known = |(of, own, _): &&(ValueId, Vec<PiecewiseCoordinate>, Operand)| {
            *of == value.id() && *own == at
        };
        if let Some((.., found)) = self.known.iter().find(is_known) {
            return Some(found.clone());
        }
        let ValueKind::Expr { op, inputs } = &value.0.kind else { return None };
        let found = match op {
            NodeOp::Join(join) => self.joined(value, join, &at)?,
            NodeOp::Index(axis) => self.number(&at[*axis as usize])?,
            NodeOp::Apply(_) | NodeOp::Call(_) | NodeOp::Gather => {
                let operands = value.state().operands.clone();
                let read = match op {
                    NodeOp::Gather => 1,
                    _ => inputs.len(),
                };
                let mut own: SmallVec<[Operand; 3]> = SmallVec::new();
                for (place, (input, operand)) in inputs.iter().zip(operands).enumerate() {
                    own.push(match operand {
                        Some(operand) if place < read => {
                            self.operand(input, &operand, value.shape(), &at)?
                        }
                        operand => (input.clone(), operand),
                    });
                }
                let steps = &self.device.flush.steps;
                let made = steps.made(value.id(), value.dtype(), self.space, op.clone(), own);
                self.note(value, &made);
                (Input::Whole(made.id()), Some(made))
            }
            _ => return None,
        };
        self.known.push((value.id(), at, found.clone()));
        Some(found)
    }

    /// Notes a step that computes a value: where these are too many, it is stored.
    fn note(&mut self, value: &Value, step: &Value) {
        let uses = self.chained.uses.entry(value.id()).or_default();
        if uses.contains(&step.id()) {
            return;
        }
        uses.push(step.id());
        let others = uses.len() as u32 - 1;
        // The cost when it was recorded is an upper bound of the present cost.
        let is_much = value.0.weight.saturating_mul(others) > T.recompute
            && self.weight(value).saturating_mul(others) > T.recompute;
        if is_much && self.chained.stored.insert(value.id()) {
            self.chained.is_outdated = true;
        }
    }

    /// The element of an operand that is seen so over extents, at coordinates within these.
    fn operand(
        &mut self,
        input: &Input,
        operand: &Value,
        shape: &[usize],
        at: &[PiecewiseCoordinate],
    ) -> Option<Operand> {
        if let ValueKind::Constant(scalar) = operand.0.kind {
            return Some((Input::Scalar(scalar), None));
        }
        let walk = input.access(shape);
        if self.is_inside(operand)
            && let Some(found) = access::coordinates(&walk, shape, operand.shape())
        {
            let numbers: Option<Vec<PiecewiseCoordinate>> =
                found.iter().map(|number| self.through(number, at)).collect();
            return self.inside(operand, numbers?);
        }
        let position = self.through(&walk, at)?;
        self.element(operand, &position)
    }

    /// An affine number of coordinates.
    fn through(&self, number: &Access, at: &[PiecewiseCoordinate]) -> Option<PiecewiseCoordinate> {
        let mut sum = PiecewiseCoordinate::constant(number.offset, self.space.len());
        for (step, coordinate) in number.strides.iter().zip(at) {
            sum.add(*step, coordinate)?;
        }
        Some(sum)
    }

    /// The element of a value at a position in it.
    fn element(&mut self, value: &Value, position: &PiecewiseCoordinate) -> Option<Operand> {
        let (low, high) = position.bounds(self.space)?;
        if position.terms.is_empty() && low >= 0 && high < value.len() as i64 {
            let Access { offset, strides } = &position.affine;
            let strides = strides.iter().map(|step| *step as isize).collect();
            let layout = InputLayout { offset: *offset as isize, strides };
            return Some((Input::View(value.id(), Box::new(layout)), Some(value.clone())));
        }
        let device = self.device;
        // A gather's table is computed and brought whole: this pays if at least half of it is read, or if it lies where
        // it is read. If it is stored anyway, the other boxes of what this one is a part of read it, too.
        let is_there = device.is_all_there(value);
        let is_near = device.caps.host_memory && is_there;
        let is_shared = is_there || self.is_apart_for_all(value);
        let points = if is_shared { self.points } else { size_of(self.space) };
        let is_little = self.is_cut && !is_near && value.len() / 2 > points;
        if !device.gathers_from(value) || is_little {
            return None;
        }
        let position = self.number(position)?;
        let operands = smallvec![position, (Input::Whole(value.id()), Some(value.clone()))];
        let steps = &device.flush.steps;
        let made = steps.made(self.name, value.dtype(), self.space, NodeOp::Gather, operands);
        Some((Input::Whole(made.id()), Some(made)))
    }

    /// A number as an int32.
    fn number(&self, number: &PiecewiseCoordinate) -> Option<Operand> {
        let (low, high) = number.bounds(self.space)?;
        let is_int = i32::try_from(low).is_ok() && i32::try_from(high).is_ok();
        is_int.then(|| self.leaf(InPieces::Number(number.clone())))
    }

    /// A leaf over the space.
    fn leaf(&self, leaf: InPieces) -> Operand {
        let (steps, op) = (&self.device.flush.steps, NodeOp::InPieces(Arc::new(leaf)));
        let made = steps.made(self.name, DType::I32, self.space, op, smallvec![]);
        (Input::Whole(made.id()), Some(made))
    }
}

/// Gives parts of single elements one line where all are on it: rows that are stacked as they were.
fn level(lines: &mut [Option<AffineLine>], parts: &[PartOf]) {
    let [Some(first), Some(second), ..] = *lines else { return };
    let (low, next) = (parts[0].range.start, parts[1].range.start);
    let (Some(at), Some(behind)) = (first.at(low), second.at(next)) else { return };
    // Parts of one element follow each other.
    let step = behind - at;
    let Some(start) = step.checked_mul(low).and_then(|far| at.checked_sub(far)) else { return };
    let line = AffineLine { start, step };
    let is_on = |(own, part): (&Option<AffineLine>, &PartOf)| {
        own.is_some_and(|own| own.at(part.range.start) == line.at(part.range.start))
    };
    if lines.iter().zip(parts).all(is_on) {
        lines.fill(Some(line));
    }
}

/// Whether joins of a dtype may be read at coordinates that are computed: the device has room for a selected element in
/// one kernel; else its steps would all be stored.
pub(super) fn has_chains(device: &OpenDevice, dtype: DType) -> bool {
    if !device.caps.pieces {
        return false;
    }
    let driver = &device.driver;
    let mut need = driver.resource_get(Part::Dest(dtype));
    let number = [Part::Op(Op::Piece, DType::I32), Part::Op(Op::Choose, DType::I32)];
    let element = [Part::Op(Op::Gather, dtype), Part::Operand(dtype), Part::Op(Op::Choose, dtype)];
    let leaves = [Part::Index, Part::Index, Part::Param(DType::I32), Part::Param(DType::I32)];
    for part in number.iter().chain(&element).chain(&leaves) {
        driver.resource_add(&mut need, &driver.resource_get(*part));
    }
    let is_native = |op, dtype| matches!(device.way(op, dtype), OperationLowering::Native);
    // Numbers are made of these instructions, whatever else a device may have in their place.
    [Op::Add, Op::Choose].into_iter().all(|op| is_native(op, DType::I32))
        && is_native(Op::Choose, dtype)
        && driver.resource_check(&need)
}
