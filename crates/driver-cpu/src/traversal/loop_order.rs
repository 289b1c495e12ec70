//! The loop order of a launch.
//!
//! Owns [`LoopOrder`]. Every loop order gives the same bits; they differ in time.
//!
//! Not here: the cost of an axis (`axis_choice.rs`), axis coalescing (`coalesce.rs`).

use crate::compile::inputs::ProgramInputs;
use crate::compile::plan_compiler::RowVariant;
use crate::compile::row_plan::Stride;
use crate::rows;
use crate::thresholds::T;
use crate::traversal::axis_choice::{self, ReduceOrder, RowSteps, stride};
use crate::traversal::coalesce::{Coalesced, coalesced};
use crate::traversal::crossing::Crossing;
use crate::traversal::iteration_space::{Point, StridedAccess};
use gpupy_core::ir::REDUCE_CHUNK;

/// How the rows of a launch go through its points.
pub struct LoopOrder {
    /// `Some` for a reduction.
    pub reduce_order: Option<ReduceOrder>,
    /// The output space, after coalescing.
    pub space: Point,
    /// The axis of that space that rows go along.
    pub axis: usize,
    /// `Some` for a reduction of rows of a few chunks: the axis beside the rows', with which the results' is coalesced.
    pub beside: Option<usize>,
    /// `Some` for a map with short rows.
    pub coalesced: Option<Coalesced>,
    /// `Some` for another map, with accesses that cross its rows.
    pub crossing: Option<Crossing>,
    /// The strides, with `in_place` still false.
    pub variant: RowVariant,
}

impl LoopOrder {
    /// Chooses the loop order of a launch.
    pub fn of(
        shape: &[usize],
        known: &ProgramInputs,
        inputs: &[StridedAccess<'_>],
        dests: &[StridedAccess<'_>],
    ) -> LoopOrder {
        match known.reduce {
            Some(_) => LoopOrder::of_reduction(shape, known, inputs, dests),
            None => LoopOrder::of_map(shape, known, inputs, dests),
        }
    }

    fn of_map(
        shape: &[usize],
        known: &ProgramInputs,
        inputs: &[StridedAccess<'_>],
        dests: &[StridedAccess<'_>],
    ) -> LoopOrder {
        let lines = inputs.iter().chain(dests).copied();
        let steps = RowSteps::of(known, shape.iter().product());
        let (axis, cost) = axis_choice::best(shape, lines, steps);
        let reduce_order = None;
        if let Some(coalesced) = coalesced(shape, inputs, dests, (cost, steps)) {
            let (space, axis) = (coalesced.shape.clone(), coalesced.shape.len() - 1);
            let lines = inputs.iter().chain(dests).zip(&coalesced.accesses);
            let is_expanded = |number| coalesced.expanded.iter().any(|(which, _)| *which == number);
            let mut all = lines.enumerate().map(|(number, (line, access))| {
                match line.base.is_null() && is_expanded(number) {
                    true => Stride::Listed,
                    false => stride(&StridedAccess { access, ..*line }, axis, space[axis]),
                }
            });
            let inputs = all.by_ref().take(inputs.len()).collect();
            let variant = RowVariant { inputs, dests: all.collect(), in_place: false };
            let (coalesced, crossing) = (Some(coalesced), None);
            return LoopOrder {
                reduce_order,
                space,
                axis,
                beside: None,
                coalesced,
                crossing,
                variant,
            };
        }
        let crossing = Crossing::of(shape, axis, inputs, dests);
        let mut all = inputs.iter().chain(dests).enumerate().map(|(number, line)| {
            // Scratch rows are contiguous.
            match &crossing {
                Some(crossing) if crossing.contains(number) => Stride::Unit,
                _ => stride(line, axis, shape[axis]),
            }
        });
        let inputs = all.by_ref().take(inputs.len()).collect();
        let variant = RowVariant { inputs, dests: all.collect(), in_place: false };
        let (space, beside, coalesced) = (shape.into(), None, None);
        LoopOrder { reduce_order, space, axis, beside, coalesced, crossing, variant }
    }

    fn of_reduction(
        shape: &[usize],
        known: &ProgramInputs,
        inputs: &[StridedAccess<'_>],
        dests: &[StridedAccess<'_>],
    ) -> LoopOrder {
        let last = shape.len() - 1;
        let (first, rest) = inputs.split_at(known.before);
        let mut space = Point::from(shape);
        space[last] = shape[last].div_ceil(REDUCE_CHUNK);
        let steps = RowSteps::of(known, shape.iter().product());
        // A search reads a part of each row, and computes nothing.
        let along = |input: usize| stride(&inputs[input], last, shape[last]);
        let is_search = shape[last] >= rows::SEARCHED && known.search(along).is_some();
        let reduce_order = match is_search {
            true => ReduceOrder::Rows,
            false => axis_choice::best_reduce_order(shape, first.iter(), steps),
        };
        let mut beside = None;
        let (axis, before) = match reduce_order {
            ReduceOrder::Columns(axis) => (axis, axis),
            ReduceOrder::Rows if space[last] > 1 => {
                let chunks = space[last];
                let results = || rest.iter().chain(dests);
                let follows = |axis: &usize| {
                    shape[*axis] > 1 && axis_choice::follow(results(), *axis, last, chunks)
                };
                let are_few = !is_search && shape[last] <= 2 * T.computed_row;
                beside = (0..last).rev().find(follows).filter(|_| are_few);
                if let Some(beside) = beside {
                    space[last] *= std::mem::replace(&mut space[beside], 1);
                }
                (last, last)
            }
            ReduceOrder::Rows => {
                let lines = rest.iter().chain(dests).copied();
                (axis_choice::best(&space, lines, RowSteps { compiled: false, ..steps }).0, last)
            }
        };
        let inside = first.iter().map(|line| stride(line, before, shape[before]));
        let after = |line: &StridedAccess<'_>| stride(line, axis, space[axis]);
        let inputs = inside.chain(rest.iter().map(after)).collect();
        let variant =
            RowVariant { inputs, dests: dests.iter().map(after).collect(), in_place: false };
        let (reduce_order, coalesced, crossing) = (Some(reduce_order), None, None);
        LoopOrder { reduce_order, space, axis, beside, coalesced, crossing, variant }
    }
}
