//! A box of a launch, with the program specialised for it.
//!
//! Owns [`LaunchBox`], [`SplitKey`] (by which splits are cached), [`split_launch`], and the accesses of a part.
//! Invariant: the boxes of a launch partition its space.
//!
//! Not here: facts (`affine_facts.rs`), programs (`residual.rs`), the evaluation of a box (`eval/in_pieces.rs`).

use crate::index_split::affine_facts::{AffineNumbers, BoxCut, IndexBox};
use crate::index_split::residual::{ResidualAccess, residual};
use crate::thresholds::T;
use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::{Fingerprint, Program, pieces_lowering};
use smallvec::SmallVec;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A box of a launch.
pub struct LaunchBox {
    pub program: Arc<Program>,
    pub fingerprint: Fingerprint,
    /// Its points.
    pub space: IndexBox,
    walks: Vec<ResidualAccess>,
}

/// All that a split depends on: the program, the shape, the relevant accesses and parameters, and the lengths
/// of gathered operands.
pub type SplitKey = (Fingerprint, SmallVec<[u64; 24]>);

/// The cache key of a launch's split.
pub fn key(numbers: &AffineNumbers, launch: &Launch<'_>, lens: &[usize]) -> SplitKey {
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

/// A box that is not looked at yet; of several, the one of most points is the next.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct OpenBox {
    points: usize,
    /// Where it begins and ends along each axis.
    space: SmallVec<[(i64, i64); 4]>,
}

impl OpenBox {
    fn of(space: &IndexBox) -> OpenBox {
        let ends = space.iter().map(|range| (range.start, range.end));
        OpenBox { points: extents(space).iter().product(), space: ends.collect() }
    }

    fn space(&self) -> IndexBox {
        self.space.iter().map(|(start, end)| *start..*end).collect()
    }
}

/// The boxes of a launch, of a map or of the reduction of which it is the map, or `None` where no box is simpler;
/// `lens` has the length of each operand. The largest are cut first. Those that are left when there are enough, or that
/// are small, are evaluated by `lowered`, the map without numbers in pieces.
pub fn split_launch(
    (program, numbers, lowered): (&Program, &AffineNumbers, &LoweredMap),
    launch: &Launch<'_>,
    lens: &[usize],
) -> Option<Arc<[LaunchBox]>> {
    let whole = launch.shape.iter().map(|extent| 0..*extent as i64).collect();
    let mut open = BinaryHeap::from([OpenBox::of(&whole)]);
    let mut all: Vec<LaunchBox> = Vec::new();
    let mut is_simpler = false;
    while let Some(next) = open.pop() {
        let space = next.space();
        let facts = numbers.facts(program, launch.params, launch.accesses, &space);
        match facts {
            Ok(facts) => all.push(match residual(program, &facts, lens, &space) {
                Some((program, walks)) => {
                    is_simpler = true;
                    LaunchBox {
                        fingerprint: program.fingerprint(),
                        program: Arc::new(program),
                        space,
                        walks,
                    }
                }
                None => lowered.over(space),
            }),
            Err(BoxCut { axis, at })
                if next.points >= T.box_points && all.len() + open.len() < T.most_boxes =>
            {
                let (mut first, mut second) = (space.clone(), space);
                first[axis].end = at;
                second[axis].start = at;
                open.extend([OpenBox::of(&first), OpenBox::of(&second)]);
            }
            Err(_) => all.push(lowered.over(space)),
        }
    }
    is_simpler.then(|| all.into())
}

/// A map that compares and selects in place of numbers in pieces.
pub struct LoweredMap {
    program: Arc<Program>,
    fingerprint: Fingerprint,
}

impl LoweredMap {
    pub fn of(program: &Program) -> LoweredMap {
        let program = pieces_lowering::lowered(program);
        LoweredMap { fingerprint: program.fingerprint(), program: Arc::new(program) }
    }

    /// It, over a box.
    fn over(&self, space: IndexBox) -> LaunchBox {
        let walks = (0..self.program.accesses.len()).map(ResidualAccess::Of).collect();
        let (program, fingerprint) = (self.program.clone(), self.fingerprint);
        LaunchBox { program, fingerprint, space, walks }
    }
}

impl LaunchBox {
    /// The accesses of its program in a launch, over the points of `space`, a part of its own.
    pub fn accesses(&self, launch: &Launch<'_>, space: &IndexBox) -> SmallVec<[Access; 8]> {
        let all = self.walks.iter().map(|walk| match walk {
            ResidualAccess::Of(access) => &launch.accesses[*access],
            ResidualAccess::Found(access) => access,
        });
        all.map(|access| moved(access, space)).collect()
    }
}

/// An access over the launch's space, moved to the first point of a box.
pub fn moved(access: &Access, space: &IndexBox) -> Access {
    let steps = access.strides.iter().zip(space);
    let offset = steps.fold(access.offset, |sum, (stride, range)| sum + stride * range.start);
    Access { offset, strides: access.strides.clone() }
}

/// The extents of a box.
pub fn extents(space: &IndexBox) -> SmallVec<[usize; 4]> {
    space.iter().map(|range| (range.end - range.start) as usize).collect()
}
