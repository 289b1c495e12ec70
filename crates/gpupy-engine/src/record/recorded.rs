//! Recorded expressions: operations of arguments, kept to be recorded of other arrays.
//!
//! Owns [`Recorded`]. Operations on arguments (`argument.rs`) are recorded as on any other array. [`Recorded::of`]
//! keeps the expressions of some results as a list of steps, operands before the steps that read them.
//! [`Recorded::all_values`] makes the same expressions of other values. Invariant: the steps are plain data but for the
//! values that they read besides the arguments, none of which is open.
//!
//! Not here: functions of scalars, which become programs (`function_recording.rs`), eager steps (`eager/segment.rs`).

use crate::array::base::Array;
use crate::graph::value::{
    Expressions, Input, InputLayout, NodeOp, Operand, Value, ValueId, ValueKind,
};
use gpupy_core::op_eval;
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Expressions of arguments.
pub(crate) struct Recorded {
    arguments: Vec<(DType, Shape)>,
    leaves: Vec<Value>,
    steps: Vec<RecordedStep>,
    /// Each with its shape.
    results: Vec<(RecordedPlace, Shape)>,
}

/// The place of a step's operand, or of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RecordedPlace {
    Argument(u32),
    /// A value that reads no argument.
    Leaf(u32),
    Step(u32),
}

/// An operand of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RecordedOperand {
    Scalar(Scalar),
    Whole(RecordedPlace),
    View(RecordedPlace, Box<InputLayout>),
}

/// An expression.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct RecordedStep {
    pub dtype: DType,
    pub shape: Shape,
    pub op: NodeOp,
    pub operands: SmallVec<[RecordedOperand; 3]>,
    /// Each element is a zero of one sign or the other.
    pub is_zeros: bool,
}

impl Recorded {
    /// How the bases of these results came from those of the arguments; and the numbers of the arguments that they
    /// came from, which alone it takes.
    ///
    /// # Errors
    /// - `Open`: a result reads an argument of another recording. `Disposed`: an array has no elements any more.
    pub fn of(arguments: &[Array], results: &[Array]) -> Result<(Recorded, Vec<usize>)> {
        let values = arguments.iter().map(Array::value).collect::<Result<Vec<Value>>>()?;
        let mut recording = ExpressionRecording::default();
        recording.given.extend(values.iter().map(Value::id).zip(0..));
        let places = results.iter().map(|result| {
            let value = result.value()?;
            Ok((recording.place(&value)?, value.shape().into()))
        });
        let results = places.collect::<Result<_>>()?;
        let ExpressionRecording { used, leaves, steps, .. } = recording;
        let taken = used.iter().map(|number| &values[*number]);
        let arguments = taken.map(|value| (value.dtype(), value.shape().into())).collect();
        Ok((Recorded { arguments, leaves, steps, results }, used))
    }

    /// A list of these steps.
    pub fn new(
        arguments: Vec<(DType, Shape)>,
        leaves: Vec<Value>,
        steps: Vec<RecordedStep>,
        results: Vec<(RecordedPlace, Shape)>,
    ) -> Recorded {
        Recorded { arguments, leaves, steps, results }
    }

    /// How these values, each to be seen in a shape, came from all of the arguments.
    ///
    /// # Errors
    /// - `Open`: a value reads another argument.
    pub(super) fn of_values(arguments: &[Value], results: &[(Value, Shape)]) -> Result<Recorded> {
        let mut recording = ExpressionRecording::default();
        recording
            .known
            .extend(arguments.iter().map(Value::id).zip((0..).map(RecordedPlace::Argument)));
        let places =
            results.iter().map(|(value, shape)| Ok((recording.place(value)?, shape.clone())));
        let results = places.collect::<Result<_>>()?;
        let ExpressionRecording { leaves, steps, .. } = recording;
        let arguments =
            arguments.iter().map(|value| (value.dtype(), value.shape().into())).collect();
        Ok(Recorded { arguments, leaves, steps, results })
    }

    /// The dtype and the shape of each argument's base.
    pub fn arguments(&self) -> &[(DType, Shape)] {
        &self.arguments
    }

    pub fn leaves(&self) -> &[Value] {
        &self.leaves
    }

    pub fn steps(&self) -> &[RecordedStep] {
        &self.steps
    }

    /// Its results, each with the shape in which it is seen: the elements lie in C order, perhaps under another shape.
    pub fn results(&self) -> &[(RecordedPlace, Shape)] {
        &self.results
    }

    /// The dtype of the value in a place.
    pub fn dtype(&self, place: RecordedPlace) -> DType {
        match place {
            RecordedPlace::Argument(number) => self.arguments[number as usize].0,
            RecordedPlace::Leaf(number) => self.leaves[number as usize].dtype(),
            RecordedPlace::Step(number) => self.steps[number as usize].dtype,
        }
    }

    /// The values of all steps on these arguments, recorded anew.
    pub fn all_values(&self, expressions: &Arc<Expressions>, given: &[Value]) -> Vec<Value> {
        let mut made: Vec<Value> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            // Other operations take values, also of elements that are all the same.
            let may_be_scalar = matches!(step.op, NodeOp::Apply(_) | NodeOp::Call(_));
            let operand = |read| self.operand(read, given, &made, may_be_scalar);
            let operands = step.operands.iter().map(operand);
            let operands: SmallVec<[Operand; 3]> = operands.collect();
            let (shape, op) = (step.shape.clone(), step.op.clone());
            let value = match folded(step, &operands) {
                Some(scalar) => Value::constant(&shape, scalar),
                None => Value::expr(expressions, step.dtype, shape, op, operands),
            };
            if step.is_zeros {
                value.mark_zeros();
            }
            made.push(value);
        }
        made
    }

    /// An operand, of these arguments and the steps before; what is the same everywhere may be a scalar, as when it is
    /// recorded.
    pub(super) fn operand(
        &self,
        read: &RecordedOperand,
        given: &[Value],
        made: &[Value],
        may_be_scalar: bool,
    ) -> Operand {
        let (place, layout) = match read {
            RecordedOperand::Scalar(scalar) => return (Input::Scalar(*scalar), None),
            RecordedOperand::Whole(place) => (place, None),
            RecordedOperand::View(place, layout) => (place, Some(layout)),
        };
        let value = self.value(*place, given, made);
        match (&value.0.kind, layout) {
            (ValueKind::Constant(scalar), _) if may_be_scalar => (Input::Scalar(*scalar), None),
            (_, None) => (Input::Whole(value.id()), Some(value.clone())),
            (_, Some(layout)) => (Input::View(value.id(), layout.clone()), Some(value.clone())),
        }
    }

    /// The value in a place, of these arguments and the steps that were made of them.
    pub fn value<'v>(
        &'v self,
        place: RecordedPlace,
        given: &'v [Value],
        made: &'v [Value],
    ) -> &'v Value {
        match place {
            RecordedPlace::Argument(number) => &given[number as usize],
            RecordedPlace::Leaf(number) => &self.leaves[number as usize],
            RecordedPlace::Step(number) => &made[number as usize],
        }
    }

    /// Refuses values that cannot stand in the arguments' place: they have the elements in C order, in whatever shape.
    ///
    /// # Errors
    /// - `Shape`: they are others than those that were recorded.
    pub fn check(&self, given: &[Value]) -> Result<()> {
        let fits = given.len() == self.arguments.len()
            && given.iter().zip(&self.arguments).all(|(value, (dtype, shape))| {
                value.dtype() == *dtype && value.len() == size_of(shape)
            });
        match fits {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Shape, "replay")
                .says("the arrays are others than those for which it was recorded")),
        }
    }
}

/// The result of a scalar operation on scalars (constant folding).
fn folded(step: &RecordedStep, operands: &[Operand]) -> Option<Scalar> {
    let NodeOp::Apply(op) = step.op else { return None };
    let scalar = |(input, _): &Operand| match input {
        Input::Scalar(scalar) => Some(*scalar),
        Input::Whole(_) | Input::View(..) => None,
    };
    let scalars: SmallVec<[Scalar; 3]> = operands.iter().map(scalar).collect::<Option<_>>()?;
    op_eval::eval(op, step.dtype, &scalars)
}

impl PartialEq for Recorded {
    fn eq(&self, other: &Recorded) -> bool {
        let ids = |recorded: &Recorded| recorded.leaves.iter().map(Value::id).collect::<Vec<_>>();
        self.arguments == other.arguments
            && self.steps == other.steps
            && self.results == other.results
            && ids(self) == ids(other)
    }
}

impl Eq for Recorded {}

impl Hash for Recorded {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.arguments, &self.steps, &self.results).hash(state);
        self.leaves.iter().for_each(|leaf| leaf.id().hash(state));
    }
}

/// Expressions on their way.
#[derive(Default)]
struct ExpressionRecording {
    /// The numbers of the arguments.
    given: FxHashMap<ValueId, usize>,
    /// Those that were come upon.
    used: Vec<usize>,
    known: FxHashMap<ValueId, RecordedPlace>,
    leaves: Vec<Value>,
    steps: Vec<RecordedStep>,
}

impl ExpressionRecording {
    /// Where a value stands, with all that it reads before it; without recursion.
    fn place(&mut self, root: &Value) -> Result<RecordedPlace> {
        let mut open = vec![root.clone()];
        while let Some(value) = open.last().cloned() {
            if self.known.contains_key(&value.id()) {
                open.pop();
                continue;
            }
            if let Some(number) = self.given.get(&value.id()) {
                self.known.insert(value.id(), RecordedPlace::Argument(self.used.len() as u32));
                self.used.push(*number);
                continue;
            }
            let closed = if value.is_open() { value.in_own_memory() } else { Some(value.clone()) };
            if let Some(closed) = closed {
                let place = RecordedPlace::Leaf(self.leaves.len() as u32);
                self.known.insert(value.id(), place);
                self.leaves.push(closed);
                continue;
            }
            let operands = value.state().operands.clone();
            let ValueKind::Expr { op, inputs } = &value.0.kind else { return Err(of_another()) };
            // An argument that was not given, or an expression whose operands are gone.
            if *op == NodeOp::Argument || operands.len() != inputs.len() {
                return Err(of_another());
            }
            let is_new = |below: &&Value| !self.known.contains_key(&below.id());
            let below: Vec<Value> = operands.iter().flatten().filter(is_new).cloned().collect();
            if !below.is_empty() {
                open.extend(below.into_iter().rev());
                continue;
            }
            let read = |input: &Input| match input {
                Input::Scalar(scalar) => Some(RecordedOperand::Scalar(*scalar)),
                Input::Whole(id) => self.known.get(id).map(|place| RecordedOperand::Whole(*place)),
                Input::View(id, layout) => {
                    self.known.get(id).map(|place| RecordedOperand::View(*place, layout.clone()))
                }
            };
            let step = RecordedStep {
                dtype: value.dtype(),
                shape: value.shape().into(),
                op: op.clone(),
                operands: inputs.iter().map(read).collect::<Option<_>>().ok_or_else(of_another)?,
                is_zeros: value.is_zeros(),
            };
            self.known.insert(value.id(), RecordedPlace::Step(self.steps.len() as u32));
            self.steps.push(step);
        }
        self.known.get(&root.id()).copied().ok_or_else(of_another)
    }
}

fn of_another() -> Error {
    Error::new(ErrorKind::Open, "record").says("an array belongs to another recording")
}
