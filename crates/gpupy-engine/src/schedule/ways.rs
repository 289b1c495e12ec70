//! Ways: what is known of how a device does its operations.
//!
//! Owns [`Way`], [`Lowered`] and [`Steps`].
//!
//! Not here: how ways are found (`lowering.rs`).

use super::walk::Walk;
use crate::graph::value::{Kind, NodeOp, Order, Value};
use gpupy_core::DType;
use gpupy_core::driver::Resources;
use gpupy_core::ir::Program;
use gpupy_core::op::Op;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// How a device does an operation.
#[derive(Clone)]
pub(crate) enum Way {
    /// Not at all.
    Absent,
    /// By itself.
    Native,
    /// By a program in a kernel, among other operations.
    Inlined(Arc<Lowered>),
    /// By the instructions of a program, one by one.
    Expanded(Arc<Lowered>),
}

/// A program in the place of an operation.
pub(crate) struct Lowered {
    pub program: Program,
    /// What it needs at most, without its operands.
    pub need: Resources,
    /// How many operations it has.
    pub operations: u32,
}

/// Steps of expanded operations that were under way when a pause came, or when something else had to be computed
/// first, by their places. A walk that comes to the operation again goes on with them.
#[derive(Default)]
pub(crate) struct Steps(FxHashMap<Order, Value>);

impl Steps {
    /// The step at a place, if it was kept.
    pub fn find(&self, place: Order) -> Option<Value> {
        self.0.get(&place).cloned()
    }

    /// Keeps what a walk leaves.
    pub fn keep(&mut self, walk: &Walk) {
        self.0.extend(steps_of(walk).map(|step| (step.order(), step.clone())));
    }

    /// Leaves the steps of a walk to that walk, which lets each go when nothing needs it any more.
    pub fn leave_to(&mut self, walk: &Walk) {
        if !self.0.is_empty() {
            steps_of(walk).for_each(|step| drop(self.0.remove(&step.order())));
        }
    }
}

/// The steps among a walk's values.
fn steps_of(walk: &Walk) -> impl Iterator<Item = &Value> {
    let is_step = |value: &&Value| {
        let is_operation = matches!(value.0.kind, Kind::Expr { op: NodeOp::Apply(_), .. });
        value.order().1 != u32::MAX && is_operation
    };
    walk.nodes.iter().map(|node| &node.value).filter(is_step)
}

/// The ways that were found.
pub(crate) type Ways = RefCell<FxHashMap<(Op, DType), Way>>;

/// The dtype by which a driver is asked for a method: the first value operand's (see
/// `Driver::get_method`), which for a selection is the second operand's, and for a gather the
/// block's.
pub(crate) fn method_dtype(op: Op, result: DType, first: Option<DType>) -> DType {
    match op {
        Op::Cast | Op::Bitcast | Op::Select | Op::Gather => result,
        _ => first.unwrap_or(result),
    }
}
