//! Traces: what an evaluation did, step by step.
//!
//! Owns [`Flush`] (one evaluation of a value: its graph and its [`Event`]s) and the recorder of it.
//! Invariants: while nobody listens, an event costs one load and one branch; recording never changes
//! what is evaluated. Values are named by their ids here; readers number them anew.
//!
//! Not here: how a flush reads (`text.rs`) and looks (`picture.rs`), counts (`stats.rs`).

use crate::graph::value::{Input, Kind, NodeOp, Value, ValueId};
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Scalar};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Where the text of each flush goes.
pub type Sink = Box<dyn Fn(&str) + Send>;

/// A value by its name and type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The value's name.
    pub id: ValueId,
    /// The elements' dtype.
    pub dtype: DType,
    /// The value's extents.
    pub shape: Shape,
}

/// What an operation of a graph reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The same scalar everywhere.
    Scalar(Scalar),
    /// All elements of a value in C order.
    Whole(ValueId),
    /// Elements of a value from an offset on, with strides.
    View(ValueId, isize, Vec<isize>),
}

impl Source {
    /// The value that is read, unless it is a scalar.
    pub fn id(&self) -> Option<ValueId> {
        match self {
            Source::Scalar(_) => None,
            Source::Whole(id) | Source::View(id, ..) => Some(*id),
        }
    }
}

/// One value of a graph: an operation that was pending, or a leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphNode {
    /// The value.
    pub value: Subject,
    /// The operation's name with what it knows of axes; of a leaf, what it is.
    pub what: String,
    /// What it reads; nothing for a leaf.
    pub sources: Vec<Source>,
    /// Whether there was nothing to compute: host data, a constant, or computed before.
    pub leaf: bool,
}

/// One launch.
#[derive(Clone, Debug)]
pub struct KernelEvent {
    /// The driver's name.
    pub driver: &'static str,
    /// The program's text form.
    pub program: String,
    /// The program's fingerprint.
    pub fingerprint: u128,
    /// The iteration space, after axes were merged.
    pub space: Shape,
    /// The values whose operations the program computes.
    pub computes: Vec<ValueId>,
    /// The values that it reads from blocks.
    pub reads: Vec<Subject>,
    /// The values whose tiles it writes; none when it writes into a block of an assignment or of a
    /// reduction by pieces.
    pub writes: Vec<Subject>,
    /// Computing instructions.
    pub operations: usize,
    /// Programs that the driver compiled for it, with those made again for their scalars.
    pub compiled: u32,
    /// Launches, draws or dispatches that it took.
    pub launches: u32,
    /// What the device ran, where the driver tells.
    pub code: Option<Arc<str>>,
    /// The time of the driver's call, which may return before the device is done.
    pub time: Duration,
}

/// One step of an evaluation.
#[derive(Clone, Debug)]
pub enum Event {
    /// A program was launched.
    Kernel(Box<KernelEvent>),
    /// An operation of this name was computed while it was recorded, by this driver: what came out.
    AtOnce(DType, Shape, &'static str, &'static str),
    /// Host memory was copied to a block; gathered through a view or as it lies.
    Uploaded(Subject, &'static str, usize, bool),
    /// A device reads a block in the value's host memory: the driver and the bytes.
    Imported(Subject, &'static str, usize),
    /// A block, or one element of it, was copied to host memory: the driver and the bytes.
    Downloaded(Subject, &'static str, usize),
    /// A block was taken from a device to make room.
    Evicted(Subject, &'static str),
    /// A piece was too large for one kernel (or shared by several), so this is evaluated first.
    Cut(Subject),
    /// These have to be evaluated before the value can be.
    Needed(Vec<Subject>),
    /// An assignment writes into the old value's block, or into a copy of it.
    Assigned(Subject, bool),
    /// A driver could not evaluate a value; the reason. The next driver does it, if there is one.
    GaveUp(Subject, &'static str, String),
}

/// One evaluation.
#[derive(Clone, Debug)]
pub struct Flush {
    /// What was wanted.
    pub value: Subject,
    /// Its positions that were wanted, in C order.
    pub range: Range<usize>,
    /// What was pending below it, and the leaves of that; operands before operations.
    pub graph: Vec<GraphNode>,
    /// What was done, in order.
    pub events: Vec<Event>,
    /// From the beginning to the end, on the host's clock.
    pub time: Duration,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// A value's name and type.
pub(crate) fn subject(value: &Value) -> Subject {
    Subject { id: value.id(), dtype: value.dtype(), shape: value.shape().into() }
}

/// The pending graph below a value with its leaves, by rising creation number.
pub(crate) fn graph(root: &Value) -> Vec<GraphNode> {
    let mut seen: FxHashSet<ValueId> = [root.id()].into_iter().collect();
    let mut found = Vec::new();
    let mut stack = vec![root.clone()];
    while let Some(value) = stack.pop() {
        let operands = value.state().operands.clone();
        let leaf = match &value.0.kind {
            Kind::Host(_) => Some("host data".to_string()),
            Kind::Constant(scalar) => Some(format!("constant {scalar}")),
            // What was computed has let go of its operands.
            Kind::Expr { inputs, .. } if value.is_computed() || operands.len() != inputs.len() => {
                Some("computed before".into())
            }
            Kind::Expr { .. } => None,
        };
        let (what, sources) = match (&leaf, &value.0.kind) {
            (None, Kind::Expr { op, inputs }) => {
                let sources = inputs.iter().map(source).collect();
                (operation(op), sources)
            }
            (leaf, _) => (leaf.clone().unwrap_or_default(), Vec::new()),
        };
        found.push(GraphNode { value: subject(&value), what, sources, leaf: leaf.is_some() });
        if leaf.is_none() {
            stack
                .extend(operands.into_iter().flatten().filter(|operand| seen.insert(operand.id())));
        }
    }
    found.sort_unstable_by_key(|node| node.value.id);
    found
}

fn source(input: &Input) -> Source {
    match input {
        Input::Scalar(scalar) => Source::Scalar(*scalar),
        Input::Whole(id) => Source::Whole(*id),
        Input::View(id, layout) => Source::View(*id, layout.offset, layout.strides.to_vec()),
    }
}

/// An operation in words.
pub(crate) fn operation(op: &NodeOp) -> String {
    match op {
        NodeOp::Apply(op) => op.info().name.to_string(),
        NodeOp::Index(axis) => format!("index of axis {axis}"),
        NodeOp::Reduce { op, .. } => format!("reduce {}", op.info().name),
        NodeOp::Whole(whole) => whole.op().info().name.to_string(),
        NodeOp::Gather => "gather".to_string(),
        NodeOp::Scatter(_) => "scatter".to_string(),
        NodeOp::WhereTrue => "positions".to_string(),
        NodeOp::Join(join) => format!("join of {} along axis {}", join.ends.len(), join.axis),
        NodeOp::Assign(view) => {
            format!("assign to {}", view_text(view.offset, &view.strides))
        }
    }
}

/// Offset and strides, in elements.
pub(crate) fn view_text(offset: isize, strides: &[isize]) -> String {
    let all: Vec<String> = strides.iter().map(isize::to_string).collect();
    format!("[from {offset} by {}]", all.join(", "))
}
