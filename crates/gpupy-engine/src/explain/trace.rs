//! Traces: the record of an evaluation, step by step.
//!
//! Owns [`Flush`] (one evaluation of a value: its graph and its [`Event`]s). Invariants: without a listener, an event
//! costs one load and one branch; recording never changes what is evaluated. Values are named by their ids here;
//! readers number them anew.
//!
//! Not here: the recorder (`tracer.rs`), the steps among the events (`step.rs`), a flush as text (`flush_text.rs`) and
//! as a picture (`picture.rs`), counts (`stats.rs`).

pub(crate) use super::step::subject;
pub use super::step::{ElementRange, Freed, KernelEvent, Step, StepAction, StepWork, Subject};
use crate::graph::scalar_function::Called;
use crate::graph::value::{Input, NodeOp, Value, ValueId, ValueKind};
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Scalar};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::time::Duration;

/// Where the text of each flush goes.
pub type Sink = Box<dyn Fn(&str) + Send>;

/// The source of an operand in a graph.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// One scalar at every point.
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
    /// The operation's name with its axes; the kind of a leaf.
    pub what: String,
    /// Its operands; none for a leaf.
    pub sources: Vec<Source>,
    /// Whether there was nothing to compute: host data, a constant, or computed before.
    pub leaf: bool,
}

/// An event of an evaluation: a step, or the reason for the steps that follow.
#[derive(Clone, Debug)]
pub enum Event {
    /// Something is done.
    Step(Box<Step>),
    /// An eager operation: dtype and shape of the result, the operation's name, and the driver's.
    Eager(DType, Shape, &'static str, &'static str),
    /// A piece was too large for one kernel (or shared by several), so this is evaluated first.
    Cut(Subject),
    /// An assignment writes into the old value's block, or into a copy of it.
    Assigned(Subject, bool),
    /// A driver could not evaluate a value; the reason. The next driver does it, if there is one.
    GaveUp(Subject, &'static str, String),
    /// So many windows, or all that is left where there are none, are compiled when what was told has been done.
    Later(usize),
}

/// One evaluation.
#[derive(Clone, Debug)]
pub struct Flush {
    /// The wanted value.
    pub value: Subject,
    /// The values that were wanted together with it.
    pub beside: Vec<Subject>,
    /// The first one's positions that were wanted, in C order.
    pub range: Range<usize>,
    /// The pending values below them, and their leaves; operands before operations.
    pub graph: Vec<GraphNode>,
    /// The actions, in order.
    pub events: Vec<Event>,
    /// From the beginning to the end, on the host's clock; nothing where it was not run.
    pub time: Option<Duration>,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

impl Flush {
    /// The actions, in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> + '_ {
        self.events.iter().filter_map(|event| match event {
            Event::Step(step) => Some(&**step),
            _ => None,
        })
    }

    /// The launches among the steps.
    pub fn kernels(&self) -> impl Iterator<Item = (&Step, &KernelEvent)> + '_ {
        self.steps().filter_map(|step| match &step.what {
            StepAction::Kernel(kernel) => Some((step, &**kernel)),
            _ => None,
        })
    }
}

/// The pending graph below values with its leaves, by rising creation number. `stored` gets each leaf.
pub(crate) fn graph(roots: &[&Value], mut stored: impl FnMut(&Value)) -> Vec<GraphNode> {
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut found = Vec::new();
    let mut stack: Vec<Value> =
        roots.iter().filter(|root| seen.insert(root.id())).map(|root| (*root).clone()).collect();
    while let Some(value) = stack.pop() {
        let operands = value.state().operands.clone();
        let leaf = match &value.0.kind {
            ValueKind::Host(_) => Some("host data".to_string()),
            ValueKind::External(external) => Some(format!("elements of {}", external.0.name())),
            ValueKind::Constant(scalar) => Some(format!("constant {scalar}")),
            // A computed value has released its operands.
            ValueKind::Expr { inputs, .. }
                if value.is_computed() || operands.len() != inputs.len() =>
            {
                Some("computed before".into())
            }
            ValueKind::Expr { .. } => None,
        };
        let (what, sources) = match (&leaf, &value.0.kind) {
            (None, ValueKind::Expr { op, inputs }) => {
                let sources = inputs.iter().map(source).collect();
                (operation(op), sources)
            }
            (leaf, _) => (leaf.clone().unwrap_or_default(), Vec::new()),
        };
        found.push(GraphNode { value: subject(&value), what, sources, leaf: leaf.is_some() });
        if leaf.is_some() {
            stored(&value);
        } else {
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
        NodeOp::Call(Called { function, result }) => {
            format!("result {result} of function {}", function.fingerprint())
        }
        NodeOp::Argument => "argument of a function".to_string(),
        NodeOp::Deferred(deferred) => deferred.over.name().to_string(),
        NodeOp::Index(axis) => format!("index of axis {axis}"),
        NodeOp::InPieces(_) => "number in pieces".to_string(),
        NodeOp::Reduce { op, .. } => format!("reduce {}", op.info().name),
        NodeOp::Whole(whole) => whole.name().to_string(),
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
