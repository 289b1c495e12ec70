//! A box of a launch, with the program specialised for it.
//!
//! Owns [`LaunchBox`], [`SplitKey`] (by which splits are cached) and [`split_launch`]. Invariant: the boxes of
//! a launch partition its space.
//!
//! Not here: facts (`affine_facts.rs`), programs (`residual.rs`), the evaluation of a box (`eval.rs`).

use crate::index_split::affine_facts::{AffineIndices, BoxCut, Fact, IndexBox};
use crate::index_split::residual::{ResidualAccess, residual};
use crate::thresholds::T;
use gpupy_core::driver::{Access, Dest, Launch};
use gpupy_core::ir::{Fingerprint, Program};
use smallvec::SmallVec;
use std::sync::Arc;

/// A box of a launch.
pub struct LaunchBox {
    pub program: Program,
    pub fingerprint: Fingerprint,
    /// Its first point.
    start: SmallVec<[i64; 4]>,
    pub shape: SmallVec<[usize; 4]>,
    walks: Vec<ResidualAccess>,
}

/// All that a split depends on: the program, the shape, the relevant accesses and parameters, and the lengths
/// of gathered operands.
pub type SplitKey = (Fingerprint, SmallVec<[u64; 24]>);

/// The cache key of a launch's split.
pub fn key(numbers: &AffineIndices, launch: &Launch<'_>, lens: &[usize]) -> SplitKey {
    let mut key = SmallVec::new();
    key.extend(launch.shape.iter().map(|extent| *extent as u64));
    key.extend(numbers.params.iter().map(|param| launch.params[*param]));
    for access in numbers.accesses.iter().map(|access| &launch.accesses[*access]) {
        key.push(access.offset as u64);
        key.extend(access.strides.iter().map(|stride| *stride as u64));
    }
    key.extend(numbers.tables.iter().map(|table| lens[*table] as u64));
    (launch.fingerprint, key)
}

/// The boxes of a launch, or `None` where splitting does not pay; `lens` has the length of each operand.
pub fn split_launch(
    numbers: &AffineIndices,
    launch: &Launch<'_>,
    lens: &[usize],
) -> Option<Arc<[LaunchBox]>> {
    let program = launch.program;
    let points: usize = launch.shape.iter().product();
    let most = T.most_boxes.min(points / T.box_points);
    let mut open: Vec<IndexBox> =
        vec![launch.shape.iter().map(|extent| 0..*extent as i64).collect()];
    let mut found: Vec<(IndexBox, Vec<Fact>)> = Vec::new();
    while let Some(space) = open.pop() {
        match numbers.facts(program, launch.params, launch.accesses, &space) {
            Ok(facts) => found.push((space, facts)),
            Err(BoxCut { axis, at }) => {
                let (mut first, mut second) = (space.clone(), space);
                first[axis].end = at;
                second[axis].start = at;
                open.extend([second, first]);
            }
        }
        if found.len() + open.len() > most {
            return None;
        }
    }
    let mut all = Vec::with_capacity(found.len());
    for (space, facts) in found {
        let (program, walks) = residual(program, &facts, lens, &space)?;
        all.push(LaunchBox {
            fingerprint: program.fingerprint(),
            program,
            start: space.iter().map(|range| range.start).collect(),
            shape: space.iter().map(|range| (range.end - range.start) as usize).collect(),
            walks,
        });
    }
    Some(all.into())
}

impl LaunchBox {
    /// The accesses of its program in a launch.
    pub fn accesses(&self, launch: &Launch<'_>) -> SmallVec<[Access; 8]> {
        let all = self.walks.iter().map(|walk| match walk {
            ResidualAccess::Of(access) => &launch.accesses[*access],
            ResidualAccess::Found(access) => access,
        });
        all.map(|access| self.moved(access)).collect()
    }

    /// Its destinations in a launch.
    pub fn dests(&self, launch: &Launch<'_>) -> SmallVec<[Dest; 2]> {
        let moved = |dest: &Dest| Dest { access: self.moved(&dest.access), whole: false, ..*dest };
        launch.dests.iter().map(moved).collect()
    }

    /// An access over the launch's space, moved to the box.
    fn moved(&self, access: &Access) -> Access {
        let steps = access.strides.iter().zip(&self.start);
        let offset = steps.fold(access.offset, |sum, (stride, start)| sum + stride * start);
        Access { offset, strides: access.strides.clone() }
    }
}
