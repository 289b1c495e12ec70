//! The route of a launch: which way its rows go.
//!
//! Owns [`Route`]. Any route gives the same bits; they differ in time.
//!
//! Not here: what an axis costs (`axis.rs`), two axes taken as one (`fold.rs`).

use crate::compile::compiler::Variant;
use crate::compile::leaves::Leaves;
use crate::traversal::axis::{self, Way, stride};
use crate::traversal::fold::{Fold, folded};
use crate::traversal::space::{Line, Point};
use gpupy_core::ir::REDUCE_CHUNK;

/// How the rows of a launch go.
pub struct Route {
    /// Of a reduction.
    pub way: Option<Way>,
    /// The space of the results; of a folded launch, after folding.
    pub space: Point,
    /// The axis of that space along which rows go.
    pub axis: usize,
    /// Of a map with short rows.
    pub fold: Option<Fold>,
    /// As if the launch were not in place.
    pub variant: Variant,
}

impl Route {
    /// Chooses the route of a launch.
    pub fn of(shape: &[usize], known: &Leaves, leaves: &[Line<'_>], dests: &[Line<'_>]) -> Route {
        match known.reduce {
            Some(_) => Route::of_reduction(shape, known, leaves, dests),
            None => Route::of_map(shape, known, leaves, dests),
        }
    }

    fn of_map(shape: &[usize], known: &Leaves, leaves: &[Line<'_>], dests: &[Line<'_>]) -> Route {
        let lines = leaves.iter().chain(dests).copied();
        let (axis, cost) = axis::best(shape, lines, known.operations);
        let way = None;
        if let Some(fold) = folded(shape, leaves, dests, cost) {
            let (space, axis) = (fold.shape.clone(), fold.shape.len() - 1);
            let lines = leaves.iter().chain(dests).zip(&fold.accesses);
            let mut all =
                lines.map(|(line, access)| stride(&Line { access, ..*line }, axis, space[axis]));
            let leaves = all.by_ref().take(leaves.len()).collect();
            let variant = Variant { leaves, dests: all.collect(), in_place: false };
            return Route { way, space, axis, fold: Some(fold), variant };
        }
        let along = |line: &Line<'_>| stride(line, axis, shape[axis]);
        let leaves = leaves.iter().map(along).collect();
        let variant = Variant { leaves, dests: dests.iter().map(along).collect(), in_place: false };
        Route { way, space: shape.into(), axis, fold: None, variant }
    }

    fn of_reduction(
        shape: &[usize],
        known: &Leaves,
        leaves: &[Line<'_>],
        dests: &[Line<'_>],
    ) -> Route {
        let last = shape.len() - 1;
        let (first, rest) = leaves.split_at(known.before);
        let mut space = Point::from(shape);
        space[last] = shape[last].div_ceil(REDUCE_CHUNK);
        let way = axis::best_way(shape, first.iter(), known.operations);
        let (axis, before) = match way {
            Way::Across(axis) => (axis, axis),
            Way::Along if space[last] > 1 => (last, last),
            Way::Along => {
                let lines = rest.iter().chain(dests).copied();
                (axis::best(&space, lines, known.operations).0, last)
            }
        };
        let inside = first.iter().map(|line| stride(line, before, shape[before]));
        let after = |line: &Line<'_>| stride(line, axis, space[axis]);
        let leaves = inside.chain(rest.iter().map(after)).collect();
        let variant = Variant { leaves, dests: dests.iter().map(after).collect(), in_place: false };
        Route { way: Some(way), space, axis, fold: None, variant }
    }
}
