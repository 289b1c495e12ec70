//! Reduction groups: reductions that one launch computes together, as they combine the same points.
//!
//! Owns [`ReductionGroups`], the groups of a flush. Two reductions over the same space go together if they share an
//! operand as large as the space that they combine, and neither needs the other first: their pending operands outside
//! their own kernels are the same. So do the next steps of reductions whose earlier steps went together. Where the
//! others would add many operations to a kernel, reading elements again is cheap beside them, and kernels stay small. A
//! recent reduction that is held goes along although it is not wanted yet, as its elements are at hand. Invariants:
//! groups hold no value; no member of a group waits for another; a group has no more reductions than a launch may
//! compute.
//!
//! Not here: the walk of a group, which finds out whether it is possible (`steps/reduction_step.rs`), the limits of a
//! kernel (`walk_kernels.rs`).

use crate::graph::value::{InputLayout, Node, NodeOp, Value, ValueId, ValueKind};
use crate::thresholds::T;
use gpupy_core::shape::Shape;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::{Arc, Weak};

/// The groups of reductions of a flush.
#[derive(Debug, Default)]
pub(crate) struct ReductionGroups {
    groups: Vec<Group>,
    of: FxHashMap<ValueId, u32>,
}

#[derive(Debug, Default)]
struct Group {
    members: SmallVec<[Weak<Node>; 4]>,
    reads: ReductionReads,
    /// Operations that members behind the first add to the kernel.
    added: u32,
}

/// The space of reductions, and how they read it: the result's shape, the number of combined elements, and the view of
/// the operand.
pub(crate) type Space = (Shape, usize, InputLayout);

/// The operands and operations of a reduction's kernel.
#[derive(Debug, Default, PartialEq)]
struct ReductionReads {
    /// The pending values outside the kernel, in order.
    pending: SmallVec<[GroupSource; 2]>,
    /// The operands that are as large as the combined space.
    large: SmallVec<[GroupSource; 4]>,
    /// The values that the kernel computes, each with its number of operations.
    inside: SmallVec<[(ValueId, u32); 8]>,
}

/// A value, or whichever reduction of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GroupSource {
    Value(ValueId),
    Group(u32),
}

impl ReductionGroups {
    /// The groups of at most `most` among these reductions, each behind its operands.
    pub fn of(reductions: &[Value], most: usize) -> ReductionGroups {
        let mut together = ReductionGroups::default();
        let mut alike: FxHashMap<Space, SmallVec<[u32; 1]>> = FxHashMap::default();
        let spaces: Vec<Option<Space>> = reductions.iter().map(space).collect();
        let mut count: FxHashMap<&Space, usize> = FxHashMap::default();
        spaces.iter().flatten().for_each(|space| *count.entry(space).or_default() += 1);
        for (value, space) in reductions.iter().zip(&spaces) {
            let Some(space) = space.as_ref().filter(|space| count[space] > 1) else { continue };
            let Some(reads) = together.reads(value, space.1) else { continue };
            let open = alike.entry(space.clone()).or_default();
            let is_alike = |group: &&u32| together.groups[**group as usize].takes(&reads, most);
            let group = match open.iter().find(is_alike) {
                Some(group) => *group,
                None => {
                    together.groups.push(Group::default());
                    open.push(together.groups.len() as u32 - 1);
                    together.groups.len() as u32 - 1
                }
            };
            together.groups[group as usize].push(value, reads);
            together.of.insert(value.id(), group);
        }
        together
    }

    /// A reduction, and then those of its group that are pending.
    pub fn with_others(
        &self,
        value: &Value,
        is_pending: impl Fn(&Value) -> bool,
    ) -> SmallVec<[Value; 4]> {
        let group = self.of.get(&value.id()).map(|group| &self.groups[*group as usize]);
        let all = group.into_iter().flat_map(|group| &group.members);
        let others = all.filter_map(Weak::upgrade).map(Value);
        let others = others.filter(|other| other.id() != value.id() && is_pending(other));
        std::iter::once(value.clone()).chain(others).collect()
    }

    /// The group of a reduction, by its number.
    pub fn group(&self, value: ValueId) -> Option<u32> {
        self.of.get(&value).copied()
    }

    /// The reads of a reduction of `combined` elements; `None` where they are too many to look at, or were lost.
    fn reads(&self, value: &Value, combined: usize) -> Option<ReductionReads> {
        let mut reads = ReductionReads::default();
        let mut seen: SmallVec<[ValueId; 8]> = SmallVec::new();
        let mut open: SmallVec<[(Value, bool); 8]> = SmallVec::new();
        open.push((value.state().operands.first()?.clone()?, true));
        while let Some((value, is_inside)) = open.pop() {
            if seen.contains(&value.id()) {
                continue;
            }
            seen.push(value.id());
            if seen.len() > T.together_below {
                return None;
            }
            let source = match self.group(value.id()) {
                Some(group) => GroupSource::Group(group),
                None => GroupSource::Value(value.id()),
            };
            match &value.0.kind {
                ValueKind::Expr { op, inputs } if !value.is_computed() => {
                    if !is_inside || op.stands_alone() {
                        reads.pending.push(source);
                    } else {
                        let operands = value.state().operands.clone();
                        if operands.len() != inputs.len() {
                            return None;
                        }
                        reads.inside.push((value.id(), op.cost()));
                        let is_table = |place| matches!(op, NodeOp::Gather) && place == 1;
                        let below = operands.into_iter().enumerate();
                        let below = below.map(|(place, below)| Some((below?, !is_table(place))));
                        open.extend(below.flatten());
                        continue;
                    }
                }
                ValueKind::Constant(_) => continue,
                ValueKind::Expr { .. } | ValueKind::Host(_) | ValueKind::External(_) => {}
            }
            if value.len() >= combined {
                reads.large.push(source);
            }
        }
        reads.pending.sort_unstable();
        reads.pending.dedup();
        Some(reads)
    }
}

impl Group {
    /// Whether a launch had better do a reduction that reads this as well.
    fn takes(&self, reads: &ReductionReads, most: usize) -> bool {
        let shares = || self.reads.large.iter().any(|own| reads.large.contains(own));
        self.members.len() < most
            && self.reads.pending == reads.pending
            && shares()
            && self.added.saturating_add(self.more(reads)) <= T.costly
    }

    /// Operations that the kernel has more with a reduction that reads this.
    fn more(&self, reads: &ReductionReads) -> u32 {
        let is_new = |own: &&(ValueId, u32)| !self.reads.inside.contains(own);
        reads.inside.iter().filter(is_new).fold(0, |all, (_, cost)| all.saturating_add(*cost))
    }

    fn push(&mut self, value: &Value, reads: ReductionReads) {
        match self.members.is_empty() {
            true => self.reads = reads,
            false => {
                self.added = self.added.saturating_add(self.more(&reads));
                self.reads.large.extend(reads.large);
                self.reads.inside.extend(reads.inside);
            }
        }
        self.members.push(Arc::downgrade(&value.0));
    }
}

/// The space of a reduction of an array.
pub(crate) fn space(value: &Value) -> Option<Space> {
    let ValueKind::Expr { op: NodeOp::Reduce { n, .. }, inputs } = &value.0.kind else {
        return None;
    };
    inputs[0].id()?;
    let shape = Shape::from(value.shape());
    let mut combined = shape.clone();
    *combined.last_mut()? = *n;
    Some((shape, *n, inputs[0].layout(&combined)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::array::base::{Array, ArrayOrScalar};
    use crate::record::recorder::Recorder;
    use gpupy_core::DType;
    use gpupy_core::op::Op;

    fn given(shape: &[usize]) -> Array {
        Array::from_bytes(DType::F32, shape, &vec![0; 4 * shape.iter().product::<usize>()]).unwrap()
    }

    fn with(recorder: &Recorder, op: Op, array: &Array, other: &Array) -> Array {
        recorder.apply(op, &[ArrayOrScalar::Array(array), ArrayOrScalar::Array(other)]).unwrap()
    }

    /// All reductions at and below arrays, by age.
    fn reductions(arrays: &[&Array]) -> Vec<Value> {
        let mut open: Vec<Value> = arrays.iter().map(|array| array.value().unwrap()).collect();
        let mut found: Vec<Value> = Vec::new();
        while let Some(value) = open.pop() {
            open.extend(value.state().operands.iter().flatten().cloned());
            if value.reduces().is_some() && !found.iter().any(|known| known.id() == value.id()) {
                found.push(value);
            }
        }
        found.sort_unstable_by_key(Value::order);
        found
    }

    /// The sizes of the groups of reductions at and below arrays, the largest first.
    fn sizes(arrays: &[&Array], most: usize) -> Vec<usize> {
        let together = ReductionGroups::of(&reductions(arrays), most);
        let mut sizes: Vec<usize> = together.groups.iter().map(|g| g.members.len()).collect();
        sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
        sizes
    }

    #[test]
    fn each_step_of_reductions_of_the_same_elements_is_one_group() {
        let recorder = Recorder::default();
        let x = given(&[100_000]);
        let square = with(&recorder, Op::Mul, &x, &x);
        let sum = recorder.reduce(Op::Add, &x, &[0], false).unwrap();
        let most = recorder.reduce(Op::Max, &x, &[0], false).unwrap();
        let squares = recorder.reduce(Op::Add, &square, &[0], false).unwrap();
        assert_eq!(sizes(&[&sum, &most, &squares], 8), [3, 3, 3]);
        assert_eq!(sizes(&[&sum, &most, &squares], 2), [2, 2, 2, 1, 1, 1]);
    }

    #[test]
    fn a_reduction_that_needs_another_first_is_not_in_its_group() {
        let recorder = Recorder::default();
        let x = given(&[300]);
        let most = recorder.reduce(Op::Max, &x, &[0], true).unwrap();
        let less = with(&recorder, Op::Sub, &x, &most);
        let sum = recorder.reduce(Op::Add, &less, &[0], true).unwrap();
        let both = with(&recorder, Op::Add, &sum, &most);
        let together = ReductionGroups::of(&reductions(&[&both]), 8);
        for group in &together.groups {
            assert!(!group.members.is_empty());
            let ids: Vec<_> = group.members.iter().map(|m| m.upgrade().unwrap().id).collect();
            assert!(!(ids.contains(&most.value().unwrap().id()) && ids.len() > 1), "{ids:?}");
        }
        // Two that need the same first do go together.
        let least = recorder.reduce(Op::Min, &less, &[0], true).unwrap();
        assert_eq!(sizes(&[&sum, &least], 8)[0], 2);
    }

    #[test]
    fn what_adds_much_to_a_kernel_goes_alone_and_what_shares_it_goes_along() {
        let recorder = Recorder::default();
        let x = given(&[100]);
        let sum = |of: &Array| recorder.reduce(Op::Add, of, &[0], false).unwrap();
        let of = |op, array: &Array| recorder.apply(op, &[ArrayOrScalar::Array(array)]).unwrap();
        let (sine, cosine) = (of(Op::Sin, &x), of(Op::Cos, &of(Op::Cos, &of(Op::Cos, &x))));
        assert_eq!(sizes(&[&sum(&sine), &sum(&cosine)], 8), [1, 1]);
        let most = recorder.reduce(Op::Max, &sine, &[0], false).unwrap();
        assert_eq!(sizes(&[&sum(&sine), &most, &sum(&cosine)], 8), [2, 1]);
    }

    #[test]
    fn reductions_of_other_elements_or_in_another_order_go_alone() {
        let recorder = Recorder::default();
        let (x, y) = (given(&[500, 300]), given(&[500, 300]));
        let sum = |array: &Array, axis| recorder.reduce(Op::Add, array, &[axis], false).unwrap();
        let alone =
            |one: Array, other: Array| sizes(&[&one, &other], 8).iter().all(|size| *size == 1);
        assert!(alone(sum(&x, 0), sum(&y, 0)));
        assert!(alone(sum(&x, 0), sum(&x, 1)));
        assert!(alone(sum(&x, 0), sum(&x.slice_axis(0, 250, 250, 1), 0)));
        assert!(alone(sum(&x, 0), sum(&x.slice_axis(0, 499, 500, -1), 0)));
        // A row that is read for all others does not make them the same elements.
        let row = given(&[300]);
        let (one, other) = (with(&recorder, Op::Mul, &x, &row), with(&recorder, Op::Mul, &y, &row));
        assert!(alone(sum(&one, 0), sum(&other, 0)));
    }
}
