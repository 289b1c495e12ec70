//! Plans: what an evaluation does with rows of elements, step by step.
//!
//! Owns [`RowPlan`] and its [`RowStep`]s. A plan belongs to a program and to how its leaves and destinations
//! step along a row ([`Stride`]); numbers of a launch are not part of it. Rows lie in *slots*: a
//! row of scratch memory, elements of an operand or a destination where they are, or one element
//! that serves for a whole row (a scalar).
//!
//! Not here: how a program becomes a plan (`plan_compiler.rs`), how a plan runs (`run/row_frame.rs`).

use crate::rows::RowFn;
use gpupy_core::{DType, Op};
use gpupy_jit::Kernel;
use smallvec::SmallVec;

/// How a leaf or destination goes on from an element of a row to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// To the next element in memory.
    Unit,
    /// It stays where it is.
    Zero,
    /// By some other step.
    Any,
}

/// The number of a slot.
pub type SlotIndex = u32;

/// Where a slot lies. Offsets count bytes of scratch memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlotPlace {
    /// A row, or one element, of scratch memory.
    Scratch(usize),
    /// A scalar parameter.
    Param(usize),
    /// A literal of the plan.
    Literal(usize),
    /// The element of a leaf at the start of the row; of an `Any` leaf, nowhere.
    Leaf(usize),
    /// The element of a destination at the start of the row.
    Dest(usize),
    /// The results of the reduction of this number.
    Reduced(usize),
}

/// One step of a plan. `wide` steps are done for each element of the row, others once.
pub enum RowStep {
    /// An operation.
    Row { f: RowFn, dst: SlotIndex, args: [SlotIndex; 3], wide: bool },
    /// Copies a leaf with any step into a row.
    Load { dst: SlotIndex, leaf: usize, size: usize },
    /// Computes the numbers of an `index` leaf.
    Index { dst: SlotIndex, leaf: usize, wide: bool },
    /// Copies the elements of an operand that numbers name.
    Gather { dst: SlotIndex, operand: usize, numbers: SlotIndex, size: usize, wide: bool },
    /// Copies a row, or spreads a scalar over one.
    Copy { dst: SlotIndex, src: SlotIndex, scalar: bool, size: usize },
    /// Copies a row or scalar into a destination.
    Store { dest: usize, src: SlotIndex, scalar: bool, size: usize },
    /// A loop.
    Loop(Box<MaskedLoop>),
    /// A loop by machine code.
    CompiledLoop(Box<CompiledLoop>),
    /// A choice.
    If(Box<PredicatedBranch>),
}

/// A loop over rows: it goes on until no element is active.
pub struct MaskedLoop {
    /// The number of the iteration, an int32.
    pub iter: SlotIndex,
    /// Computes `active` from `iter`.
    pub test: Vec<RowStep>,
    /// Which elements are in this iteration: a bool each, or one for all.
    pub active: (SlotIndex, bool),
    /// The iteration; its last steps give the carried values.
    pub body: Vec<RowStep>,
    /// Elements that do not take the first branch of its choice have done with it.
    pub is_left: bool,
}

/// The elements that go through a loop together, in the second nearest cache: the last of them run in short rows, which cost
/// as much as longer ones, so these are to be few. With 1024, and elements that leave, Collatz lengths and escape times take
/// two thirds of what they take with 256 that stay until the last has left (two virtual cores of an AMD EPYC).
pub const TOGETHER: usize = 1024;

/// A value that is carried around a loop: the bytes of an element, the row of its values before and behind the loop, and
/// two rows in which it changes.
pub struct Carried {
    pub size: usize,
    pub own: SlotIndex,
    pub changing: [SlotIndex; 2],
}

/// A value that is known before a loop: the bytes of an element, a row or one element for all, and a row for the elements
/// of those that are still in the loop; `None` for one element.
pub struct LoopInvariant {
    pub size: usize,
    pub slot: SlotIndex,
    pub left: Option<SlotIndex>,
}

/// Machine code for the iterations of a loop.
pub struct CompiledLoop {
    /// The count, an int32 for all elements.
    pub count: SlotIndex,
    pub carried: Vec<Carried>,
    pub known: Vec<LoopInvariant>,
    /// A row of bools, for where elements are still in the loop.
    pub open: SlotIndex,
    /// So many iterations, and one.
    pub several: (Kernel, i32),
    pub one: Kernel,
}

/// A choice: a branch is only done where an element takes it.
pub struct PredicatedBranch {
    /// Which elements take the first branch: a bool each, or one for all.
    pub taken: (SlotIndex, bool),
    /// The first branch; its last steps give the results.
    pub then: Vec<RowStep>,
    /// Which elements take the second branch.
    pub refused: (SlotIndex, bool),
    /// The second branch; its last steps put its values among the results.
    pub otherwise: Vec<RowStep>,
}

/// How the rows before the `reduce`s become their results.
pub struct ReducePlan {
    /// The steps before them.
    pub steps: Vec<RowStep>,
    /// Each of them, in their order.
    pub all: SmallVec<[RowReduction; 1]>,
}

/// How the rows before a `reduce` become its results.
pub struct RowReduction {
    /// What it combines: a row.
    pub value: SlotIndex,
    /// The leaf whose elements are that row, where they lie.
    pub leaf: Option<usize>,
    pub op: Op,
    pub dtype: DType,
    /// Bytes of an element.
    pub size: usize,
    /// Combines a row into one element for each chunk.
    pub lanes: RowFn,
    /// Combines two rows, element by element, into the first.
    pub accumulate: RowFn,
    /// The same for three rows, one after another.
    pub accumulate_three: RowFn,
}

/// A value of reductions that machine code computes.
#[derive(Clone, Copy, PartialEq)]
pub struct ComputedValue {
    /// The value, by its slot.
    pub value: SlotIndex,
    /// Bytes of an element.
    pub size: usize,
    /// It is added to the lanes of a sum, not stored.
    pub adds: bool,
}

impl ReducePlan {
    /// What machine code computes for the reductions, each value once; with `lanes`, it adds to the lanes of sums.
    pub fn computed(&self, lanes: bool) -> SmallVec<[ComputedValue; 2]> {
        let mut all: SmallVec<[ComputedValue; 2]> = SmallVec::new();
        for computed in self.all.iter().filter_map(|reduction| reduction.computed(lanes)) {
            if !all.contains(&computed) {
                all.push(computed);
            }
        }
        all
    }
}

impl RowReduction {
    /// What machine code computes for it; `None` where its elements are a leaf's.
    pub fn computed(&self, lanes: bool) -> Option<ComputedValue> {
        let (value, size, adds) = (self.value, self.size, lanes && self.adds());
        self.leaf.is_none().then_some(ComputedValue { value, size, adds })
    }

    /// Whether it is a sum of what machine code could compute and add to the lanes of the tree.
    pub fn adds(&self) -> bool {
        self.op == Op::Add && matches!(self.dtype, DType::F32 | DType::F64) && self.leaf.is_none()
    }
}

/// A program made ready for rows.
pub struct RowPlan {
    /// The `reduce`s and what comes before them, along rows of the input space.
    pub reducing: Option<ReducePlan>,
    /// The rest, along rows of the output space.
    pub steps: Vec<RowStep>,
    pub slots: Vec<SlotPlace>,
    /// The slots that lie elsewhere for each row.
    pub moving: Vec<SlotIndex>,
    pub literals: Vec<u64>,
    /// The most elements of a row, a multiple of `REDUCE_CHUNK`.
    pub tile: usize,
    /// Bytes of scratch memory.
    pub scratch: usize,
    /// What the operations on an element cost, in picoseconds, roughly.
    pub cost: u64,
    /// Bytes of memory that an element's operands and results take.
    pub bytes: u64,
}
