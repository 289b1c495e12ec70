//! Plans: the steps of an evaluation on rows of elements.
//!
//! Owns [`RowPlan`] and its [`RowStep`]s. A plan belongs to a program and to the strides of its inputs and
//! destinations along a row ([`Stride`]); offsets and shapes of a launch are not part of it. Rows lie in
//! *slots*: a row of scratch memory, elements of an operand or a destination in place, or one element for the
//! whole row (a scalar).
//!
//! Not here: how a program becomes a plan (`plan_compiler.rs`), how a plan runs (`run/row_frame.rs`).

use crate::compile::search_plan::RowSearch;
use crate::rows::{ColumnsFn, RowFn, ShortRowReducer, VectorRows};
use gpupy_core::{DType, Op};
use gpupy_jit::Kernel;
use smallvec::SmallVec;

/// The elements that go through a loop together. They fit in the second-level cache. The last active ones run
/// in short rows, which cost as much as longer ones, so these should be few. With 1024, and compaction, Collatz
/// lengths and escape times take two thirds of the time that they take with 256 elements that stay until the
/// last one leaves (two virtual cores of an AMD EPYC).
pub const LOOP_ROW: usize = 1024;

/// The stride class of an input or destination along a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// To the next element in memory.
    Unit,
    /// One element for the whole row (stride 0).
    Zero,
    /// Any other stride.
    Any,
    /// Of an index value: each point's is the next in memory, an int32.
    Listed,
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
    /// The element of an input at the start of the row; an input of stride class `Any` has none.
    Input(usize),
    /// The element of a destination at the start of the row.
    Dest(usize),
    /// The results of a reduction, by its number.
    Reduced(usize),
}

/// One step of a plan. `wide` steps are done for each element of the row, others once.
pub enum RowStep {
    /// An operation.
    Row { f: RowFn, dst: SlotIndex, args: [SlotIndex; 3], wide: bool },
    /// Copies an input of any stride into a row.
    Load { dst: SlotIndex, input: usize, size: usize },
    /// Computes the values of an `index` input.
    Index { dst: SlotIndex, input: usize, wide: bool },
    /// Gathers elements of an operand.
    Gather { dst: SlotIndex, operand: usize, numbers: SlotIndex, size: usize, wide: bool },
    /// Copies a row, or broadcasts a scalar over one.
    Copy { dst: SlotIndex, src: SlotIndex, scalar: bool, size: usize },
    /// Copies a row or scalar into a destination.
    Store { dest: usize, src: SlotIndex, scalar: bool, size: usize },
    /// A loop.
    Loop(Box<MaskedLoop>),
    /// A loop by machine code.
    CompiledLoop(Box<CompiledLoop>),
    /// A branch, predicated by rows of bools.
    If(Box<PredicatedBranch>),
}

/// A loop over rows with a mask: it runs until no element is active.
pub struct MaskedLoop {
    /// The number of the iteration, an int32.
    pub iter: SlotIndex,
    /// Computes `active` from `iter`.
    pub test: Vec<RowStep>,
    /// The mask of active elements: a bool for each, or one for all.
    pub active: (SlotIndex, bool),
    /// The iteration; its last steps give the carried values.
    pub body: Vec<RowStep>,
    /// Whether an element that does not take the first branch of the loop's choice leaves the loop.
    pub is_left: bool,
}

/// A loop-carried value: the bytes of an element, the row of its values before and after the loop, and two rows
/// between which iterations alternate.
pub struct Carried {
    pub size: usize,
    pub own: SlotIndex,
    pub changing: [SlotIndex; 2],
}

/// A loop-invariant value: the bytes of an element, a row or one element for all, and a row for the compacted
/// active elements (`None` for one element).
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
    /// A row of bools: the elements that are still in the loop.
    pub open: SlotIndex,
    /// The kernel for several iterations with their number, and the kernel for one.
    pub several: (Kernel, i32),
    pub one: Kernel,
}

/// A branch by predication: each side runs only where some element takes it.
pub struct PredicatedBranch {
    /// The mask of the first branch: a bool for each element, or one for all.
    pub taken: (SlotIndex, bool),
    /// The first branch; its last steps give the results.
    pub then: Vec<RowStep>,
    /// The mask of the second branch.
    pub refused: (SlotIndex, bool),
    /// The second branch; its last steps merge its values into the results.
    pub otherwise: Vec<RowStep>,
}

/// The part of a plan that reduces, for all reductions of the program.
pub struct ReducePlan {
    /// The steps that compute the operands.
    pub steps: Vec<RowStep>,
    /// The reductions, in the program's order.
    pub all: SmallVec<[RowReduction; 1]>,
    /// The search that the one reduction is.
    pub search: Option<RowSearch>,
}

/// One reduction of a plan.
pub struct RowReduction {
    /// The operand: a row.
    pub value: SlotIndex,
    /// The input whose elements are that row in place, if there is one.
    pub input: Option<usize>,
    pub op: Op,
    pub dtype: DType,
    /// Bytes of an element.
    pub size: usize,
    /// Combines a row into one element for each chunk.
    pub lanes: RowFn,
    /// Combines two rows, element by element, into the first.
    pub accumulate: RowFn,
    /// Combines rows, element by element, into one.
    pub columns: ColumnsFn,
    /// Reduces many short rows.
    pub short_rows: ShortRowReducer,
    /// Reduces rows of more elements than the tree has lanes, and of one chunk, if the operation has a function for it.
    pub vector_rows: Option<VectorRows>,
}

/// An operand of reductions that machine code computes.
#[derive(Clone, Copy, PartialEq)]
pub struct ComputedValue {
    /// The value, by its slot.
    pub value: SlotIndex,
    /// Bytes of an element.
    pub size: usize,
    /// Whether it is added to the lanes of a sum rather than stored.
    pub adds: bool,
}

impl ReducePlan {
    /// The operands that machine code computes, each once; with `lanes`, it adds to the lanes of sums.
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
    /// The operand that machine code computes for it; `None` where that is an input in place.
    pub fn computed(&self, lanes: bool) -> Option<ComputedValue> {
        let (value, size, adds) = (self.value, self.size, lanes && self.adds());
        self.input.is_none().then_some(ComputedValue { value, size, adds })
    }

    /// Whether machine code could add its operand to the lanes of the tree: a sum of computed floats.
    pub fn adds(&self) -> bool {
        self.op == Op::Add && matches!(self.dtype, DType::F32 | DType::F64) && self.input.is_none()
    }
}

/// A program compiled to row operations.
pub struct RowPlan {
    /// The reductions and their operands, along rows of the input space.
    pub reducing: Option<ReducePlan>,
    /// The epilogue, or the whole map, along rows of the output space.
    pub steps: Vec<RowStep>,
    pub slots: Vec<SlotPlace>,
    /// The slots whose address changes with each row.
    pub moving: Vec<SlotIndex>,
    pub literals: Vec<u64>,
    /// The most elements of a row, a multiple of `REDUCE_CHUNK`.
    pub tile: usize,
    /// Bytes of scratch memory.
    pub scratch: usize,
    /// The estimated cost of the operations on an element, in picoseconds.
    pub cost: u64,
    /// Bytes of memory that an element's operands and results take.
    pub bytes: u64,
}
