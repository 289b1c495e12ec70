//! Operation lowerings: how a device does each operation, as far as it is known.
//!
//! Owns [`OperationLowering`], [`LoweredProgram`] and [`LoweredSteps`]: values that belong to walks, on the way to
//! those that were recorded.
//!
//! Not here: how lowerings are found (`lowering.rs`).

use crate::graph::value::{
    Expressions, Input, NodeOp, Operand, TopologicalRank, Value, ValueId, ValueKind,
};
use crate::schedule::walk::FusionWalk;
use gpupy_core::DType;
use gpupy_core::driver::Resources;
use gpupy_core::ir::{Fingerprint, Program};
use gpupy_core::op::Op;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// The first rank of the steps of chains.
const FIRST: u32 = 1 << 31;

/// Whether a value is a step of a chain.
pub(crate) fn is_of_chain(value: &Value) -> bool {
    value.is_step() && value.order().1 >= FIRST
}

/// How a device does an operation.
#[derive(Clone)]
pub(crate) enum OperationLowering {
    /// Not at all.
    Absent,
    /// By itself.
    Native,
    /// By a program in a kernel, among other operations.
    Inlined(Arc<LoweredProgram>),
    /// By the instructions of a program, one by one.
    Expanded(Arc<LoweredProgram>),
}

/// A program in the place of an operation.
pub(crate) struct LoweredProgram {
    pub program: Program,
    /// An upper bound of its needs, without its operands.
    pub need: Resources,
    /// The number of its operations.
    pub operations: u32,
}

/// Steps of expanded operations and of chains that were under way when a pause came, or when something else had to be
/// computed first, by their places. A walk that comes to the operation again goes on with them.
#[derive(Default)]
pub(crate) struct LoweredSteps {
    kept: FxHashMap<TopologicalRank, Value>,
    /// The living steps of chains; equal steps are one.
    made: Arc<Expressions>,
    /// Those that say the same as one that stands for another value, by the value that they stand for.
    apart: RefCell<FxHashMap<ValueId, Arc<Expressions>>>,
    /// How many of these there were.
    count: Cell<u32>,
}

impl LoweredSteps {
    /// The step at a place, if it was kept.
    pub fn find(&self, place: TopologicalRank) -> Option<Value> {
        self.kept.get(&place).cloned()
    }

    /// A step of a chain that stands for a value of this name, or is on the way to it; or the living one that says the
    /// same.
    pub fn made(
        &self,
        of: ValueId,
        dtype: DType,
        shape: &[usize],
        op: NodeOp,
        operands: SmallVec<[Operand; 3]>,
    ) -> Value {
        let rank = || {
            let next = self.count.get();
            // The last rank is that of the value itself.
            self.count.set((next + 1) % (u32::MAX - FIRST));
            FIRST + next
        };
        let made = |steps: &Arc<Expressions>, operands| {
            let step =
                Value::found_within(steps, (of, rank), dtype, shape.into(), op.clone(), operands);
            // A walk that is made again after a pause finds the step by its operands, also when it is stored.
            step.keep_operands(true);
            step
        };
        let found = made(&self.made, operands.clone());
        // Where the same is done later with other scalars, those of two values may differ.
        let is_own = found.order().0 == of;
        let has_scalars = operands.iter().any(|(input, _)| matches!(input, Input::Scalar(_)));
        if is_own || !has_scalars {
            return found;
        }
        let apart = self.apart.borrow_mut().entry(of).or_default().clone();
        made(&apart, operands)
    }

    /// Keeps the steps of a walk.
    pub fn keep(&mut self, walk: &FusionWalk) {
        self.kept.extend(steps_of(walk).map(|step| (step.order(), step.clone())));
    }

    /// Leaves the steps of a walk to that walk, which lets each go when nothing needs it any more.
    pub fn leave_to(&mut self, walk: &FusionWalk) {
        if !self.kept.is_empty() {
            steps_of(walk).for_each(|step| drop(self.kept.remove(&step.order())));
        }
    }
}

/// The steps among a walk's values.
fn steps_of(walk: &FusionWalk) -> impl Iterator<Item = &Value> {
    let is_step = |value: &&Value| {
        let is_operation = matches!(
            value.0.kind,
            ValueKind::Expr {
                op: NodeOp::Apply(_)
                    | NodeOp::Call(_)
                    | NodeOp::Gather
                    | NodeOp::Index(_)
                    | NodeOp::InPieces(_),
                ..
            }
        );
        value.is_step() && is_operation
    };
    walk.nodes.iter().map(|node| &node.value).filter(is_step)
}

/// The lowerings that were found.
pub(crate) type OperationLowerings = RefCell<FxHashMap<(Op, DType), OperationLowering>>;

/// The lowerings of functions.
pub(crate) type FunctionLowerings = RefCell<FxHashMap<Fingerprint, OperationLowering>>;

/// The dtype by which a driver is asked for a method: the first value operand's (see
/// `Driver::get_method`), which for a selection is the second operand's, and for a gather the
/// block's.
pub(crate) fn method_dtype(op: Op, result: DType, first: Option<DType>) -> DType {
    match op {
        Op::Cast | Op::Bitcast | Op::Select | Op::Choose | Op::Gather => result,
        _ => first.unwrap_or(result),
    }
}
