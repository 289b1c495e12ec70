//! Programs of eager launches: one operation over operands of some layout.
//!
//! Owns [`EagerProgramKey`] and [`EagerPrograms`]. The program of a task depends on its operation and on the walks over
//! its operands, not on numbers, so few programs serve all tasks. Invariant: a program has the instructions of a kernel
//! of the same operation.
//!
//! Not here: how they are made (`single_operation.rs`), the numbers of a task, and its launch (`eager_launch.rs`).

use crate::graph::library_op::LibraryOp;
use gpupy_core::DType;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Fingerprint, Program};
use gpupy_core::op::Op;
use lru::LruCache;
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};
use std::num::NonZeroUsize;

/// The most programs that are kept: many more than a program has of operations, dtypes and ways to lie.
const MOST: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4095);

/// The functions that have tasks: as many as their keys tell apart.
pub(crate) const MOST_CALLED: u32 = 1 << 22;

/// The operation of a task at each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaunchBody {
    Apply(Op),
    /// The result of the function with this number, which is less than [`MOST_CALLED`].
    Call(u32),
    Index,
    Reduce(Op),
    /// The reduction of this number of points, each a load of its own ([`FEW`](crate::graph::tree_lanes::FEW)).
    ReduceFew(Op, u8),
    /// The sum of this number of products, each factor a load of its own.
    Products(u8),
    Whole(LibraryOp),
}

/// The kind of an operand in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramLeaf {
    Scalar(DType),
    Memory(DType, AccessKind),
    Coordinate(AccessKind),
}

/// The key of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EagerProgramKey {
    pub work: LaunchBody,
    pub dtype: DType,
    pub rank: u32,
    pub leaves: [Option<ProgramLeaf>; 3],
}

/// A program that is ready to be launched.
pub(crate) struct ReadyProgram {
    pub program: Program,
    pub fingerprint: Fingerprint,
    /// The instructions that are operations.
    pub operations: u64,
    /// The accesses of a launch over elements that lie side by side.
    pub units: SmallVec<[Access; 3]>,
}

/// The programs of a device's tasks, by the codes of their keys; `None` for keys without a program on this device.
pub(crate) struct EagerPrograms(LruCache<u64, Option<ReadyProgram>, FxBuildHasher>);

impl Default for EagerPrograms {
    fn default() -> EagerPrograms {
        EagerPrograms(LruCache::with_hasher(MOST, FxBuildHasher))
    }
}

impl EagerPrograms {
    /// Whether it is known how the device does the tasks of a code.
    pub fn knows(&self, code: u64) -> bool {
        self.0.contains(&code)
    }

    /// The program of the tasks of a code.
    pub fn get(&mut self, code: u64) -> Option<&ReadyProgram> {
        self.0.get(&code).and_then(Option::as_ref)
    }

    /// Keeps the program of the tasks of a code; the one that was used least recently goes where there are too many.
    pub fn keep(&mut self, code: u64, ready: Option<ReadyProgram>) {
        self.0.put(code, ready);
    }
}

/// The access to elements side by side.
pub(crate) fn unit() -> Access {
    Access { offset: 0, strides: smallvec![1] }
}

/// The walk along elements side by side of a leaf of this kind, or that stays at its only one.
pub(crate) fn walk_of(kind: AccessKind) -> Access {
    match kind {
        AccessKind::Uniform => Access { offset: 0, strides: smallvec![0] },
        _ => unit(),
    }
}

impl EagerProgramKey {
    /// All of it in one number, another one for every other key.
    pub fn code(&self) -> u64 {
        const { assert!(DType::ALL.len() <= 16, "a dtype has four bits here") };
        let leaf = |leaf: &Option<ProgramLeaf>| match leaf {
            None => 0,
            Some(ProgramLeaf::Scalar(dtype)) => 1 | (*dtype as u64) << 2,
            Some(ProgramLeaf::Memory(dtype, kind)) => {
                2 | (*dtype as u64) << 2 | (*kind as u64) << 6
            }
            Some(ProgramLeaf::Coordinate(kind)) => 3 | (*kind as u64) << 6,
        };
        let leaves = |head: u64| {
            self.leaves.iter().zip([32, 40, 48]).fold(head, |code, (l, at)| code | leaf(l) << at)
        };
        if let LaunchBody::Call(number) = self.work {
            // No other body has 0xff points; the function determines the results.
            return leaves(0xff << 56 | u64::from(number) | u64::from(self.rank) << 22);
        }
        let (form, op) = match self.work {
            LaunchBody::Apply(op) => (0, op as u64),
            LaunchBody::Call(number) => (0, u64::from(number)),
            LaunchBody::Index => (1, 0),
            LaunchBody::Reduce(op) | LaunchBody::ReduceFew(op, _) => (2, op as u64),
            // A scan's operation is no part of its form.
            LaunchBody::Whole(LibraryOp::Scan(op)) => (3, op as u64),
            // A routine's attributes are parameters; no operation has a code that large.
            LaunchBody::Whole(LibraryOp::Routine(call)) => {
                (3, 0x100 + u64::from(call.routine().number()))
            }
            LaunchBody::Whole(whole) => (3, whole.op() as u64),
            LaunchBody::Products(_) => (3, Op::MatMul as u64),
        };
        let points = match self.work {
            LaunchBody::ReduceFew(_, points) | LaunchBody::Products(points) => {
                u64::from(points) << 56
            }
            _ => 0,
        };
        leaves(points | form | op << 2 | (self.dtype as u64) << 18 | u64::from(self.rank) << 22)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn tasks_that_do_other_things_have_other_codes() {
        let few = (1..=4).flat_map(|n| {
            [
                LaunchBody::ReduceFew(Op::Add, n),
                LaunchBody::ReduceFew(Op::Max, n),
                LaunchBody::Products(n),
            ]
        });
        let others = [
            LaunchBody::Apply(Op::Add),
            LaunchBody::Index,
            LaunchBody::Reduce(Op::Add),
            LaunchBody::Reduce(Op::Max),
        ];
        let called = [0, 1, MOST_CALLED - 1].map(LaunchBody::Call);
        let whole = [LibraryOp::MatMul(3), LibraryOp::Sort, LibraryOp::Scan(Op::Add)]
            .map(LaunchBody::Whole);
        let all: Vec<LaunchBody> = few.chain(others).chain(whole).chain(called).collect();
        let leaf = Some(ProgramLeaf::Memory(DType::F64, AccessKind::Affine));
        let key = |work: &LaunchBody| EagerProgramKey {
            work: *work,
            dtype: DType::F64,
            rank: 63,
            leaves: [leaf; 3],
        };
        let codes: HashSet<u64> = all.iter().map(|work| key(work).code()).collect();
        assert_eq!(codes.len(), all.len());
    }
}
