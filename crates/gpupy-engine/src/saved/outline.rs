//! Outlines: segments in a file, as recorded steps whose extents may be open.
//!
//! Owns [`Outline`], which is made of a segment and becomes one again where the extents are known. Invariant: nothing
//! in a file is trusted: each view is inside its base, and each step is recorded by its own operation, which refuses
//! other dtypes and extents (`record/known_extents.rs`).
//!
//! Not here: the sequence of segments (`look.rs`).

use super::extent::Extent;
use super::open_view::{OpenView, damaged, extents_of, shape_at};
use crate::graph::deferred::{Deferred, WholeAxisOp};
use crate::graph::join::Join;
use crate::graph::scalar_function::{Called, ScalarFunction};
use crate::graph::value::{InputLayout, NodeOp, Value};
use crate::memory::view::View;
use crate::record::recorded::{Recorded, RecordedOperand, RecordedPlace, RecordedStep};
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Result, Scalar};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::sync::Arc;

/// A segment in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// The dtype and the shape of each argument's base.
    pub arguments: Vec<(DType, Vec<Extent>)>,
    /// The other values that it reads, by their numbers among the look's leaves.
    pub leaves: Vec<u32>,
    /// Operations, operands before their readers.
    pub steps: Vec<SavedStep>,
    /// Its results, each with the shape in which it is seen.
    pub results: Vec<(StepSource, Vec<Extent>)>,
}

/// Elements that are always the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstantLeaf {
    /// Their dtype.
    pub dtype: DType,
    /// Their shape, in C order.
    pub shape: Vec<Extent>,
    /// Where they come from.
    pub elements: ElementSource,
}

/// Where elements come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElementSource {
    /// All are this one.
    All(SavedScalar),
    /// They stand in the file from this byte of its data on.
    Bytes(u64),
}

/// A scalar of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedScalar {
    /// This one.
    Bits(Scalar),
    /// An open number.
    Of(DType, Extent),
    /// One by an open number.
    By(DType, Extent),
}

/// The source of a step's operand, or of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepSource {
    /// An argument's base.
    Argument(u32),
    /// A leaf of the segment.
    Leaf(u32),
    /// The result of an earlier step.
    Step(u32),
}

/// An operand of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedOperand {
    /// One number at every point.
    Number(SavedScalar),
    /// All elements in C order.
    Whole(StepSource),
    /// The elements at these positions: an offset and strides.
    View(StepSource, Extent, Vec<Extent>),
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedStep {
    /// The dtype of its result.
    pub dtype: DType,
    /// The shape of that.
    pub shape: Vec<Extent>,
    /// Its action.
    pub does: SavedAction,
    /// Its operands.
    pub reads: Vec<SavedOperand>,
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedAction {
    /// A scalar operation on operands of its shape.
    Apply(Op),
    /// A result of a function, both by their numbers.
    Call(u32, u32),
    /// The coordinate along an axis.
    Index(u32),
    /// The first operand with this view of it replaced by the second.
    Assign(OpenView),
    /// The operands one behind the other along an axis, with their ends.
    Join(u32, Vec<Extent>),
    /// The elements of the second operand at the positions of the first.
    Gather,
    /// The first operand, written at the positions of the second by the third, of this shape.
    Scatter(Vec<Extent>),
    /// A reduction of an operand of this shape.
    #[allow(missing_docs)] // the operation's own words
    Reduce { op: Op, axes: Vec<u32>, keepdims: bool, of: Vec<Extent> },
    /// Running results along an axis.
    #[allow(missing_docs)]
    Scan { op: Op, axis: u32, of: Vec<Extent> },
    /// Where the extreme of each row stands.
    #[allow(missing_docs)]
    Place { op: Op, axis: u32, of: Vec<Extent> },
    /// The elements of each row in order.
    #[allow(missing_docs)]
    Sort { axis: u32, of: Vec<Extent> },
    /// The positions that put each row in order.
    #[allow(missing_docs)]
    ArgSort { axis: u32, of: Vec<Extent> },
    /// A product of matrices of these shapes.
    MatMul(Vec<Extent>, Vec<Extent>),
}

/// The parts that numbers of a file stand for.
pub(super) struct FileParts<'f> {
    pub functions: &'f [Arc<ScalarFunction>],
    /// The look's leaves, for these extents.
    pub leaves: &'f [Value],
    pub open: &'f [i64],
}

impl SavedScalar {
    /// The scalar where the open extents are these.
    ///
    /// # Errors
    /// - `Shape`: it is beyond 64 bits. `DType`: its dtype has no such numbers.
    pub fn at(&self, open: &[i64]) -> Result<Scalar> {
        match self {
            // The bits above those of the dtype are none.
            SavedScalar::Bits(scalar) if scalar.dtype == DType::Bool && scalar.bits > 1 => {
                Err(damaged("a bool is neither true nor false"))
            }
            SavedScalar::Bits(scalar) if scalar.dtype.is_complex() => {
                Err(damaged("a number is complex"))
            }
            SavedScalar::Bits(scalar) => Ok(Scalar::new(scalar.dtype, scalar.bits)),
            SavedScalar::Of(dtype, of) => number(*dtype, of.at(open)?, false),
            SavedScalar::By(dtype, of) => number(*dtype, of.at(open)?, true),
        }
    }
}

/// An integer, or one by it, as an element.
///
/// # Errors
/// - `DType`: the dtype has no such numbers.
pub(super) fn number(dtype: DType, integer: i64, is_inverse: bool) -> Result<Scalar> {
    let real = if is_inverse { 1.0 / integer as f64 } else { integer as f64 };
    match dtype {
        DType::F32 if is_inverse => Ok(Scalar::f32(1.0 / integer as f32)),
        DType::F32 => Ok(Scalar::f32(integer as f32)),
        DType::F64 => Ok(Scalar::f64(real)),
        dtype if dtype.is_int() && !is_inverse => Ok(Scalar::new(dtype, integer as u64)),
        _ => Err(damaged("an open number is of a dtype that has none")),
    }
}

impl Outline {
    /// A segment's steps; `leaf` gives the number of a value that it reads besides its arguments, `function` that of a
    /// function.
    ///
    /// # Errors
    /// Those of `leaf`, and `Unsupported` for a step that a file cannot have.
    pub(super) fn of(
        recorded: &Recorded,
        mut leaf: impl FnMut(&Value) -> Result<u32>,
        mut function: impl FnMut(&Arc<ScalarFunction>) -> u32,
    ) -> Result<Outline> {
        let leaves = recorded.leaves().iter().map(&mut leaf).collect::<Result<_>>()?;
        let arguments = recorded.arguments().iter();
        let steps = recorded.steps().iter().map(|step| SavedStep::of(step, &mut function));
        let results = recorded.results().iter();
        Ok(Outline {
            arguments: arguments.map(|(dtype, shape)| (*dtype, extents_of(shape))).collect(),
            leaves,
            steps: steps.collect::<Result<_>>()?,
            results: results
                .map(|(place, shape)| (StepSource::of(*place), extents_of(shape)))
                .collect(),
        })
    }

    /// The recorded expressions, for these extents.
    ///
    /// # Errors
    /// - `Invalid`, `Shape`, `Index`: a part names what is not there, or extents that cannot be.
    pub(super) fn recorded(&self, parts: &FileParts<'_>) -> Result<Recorded> {
        let open = parts.open;
        let arguments = self.arguments.iter();
        let arguments = arguments.map(|(dtype, shape)| Ok((*dtype, shape_at(shape, open)?)));
        let leaves = self.leaves.iter().map(|leaf| parts.leaves.get(*leaf as usize).cloned());
        let leaves: Option<Vec<Value>> = leaves.collect();
        let results = self
            .results
            .iter()
            .map(|(at, shape)| Ok((at.place(self, self.steps.len())?, shape_at(shape, open)?)));
        Ok(Recorded::new(
            arguments.collect::<Result<_>>()?,
            leaves.ok_or_else(|| damaged("a segment reads elements that are not there"))?,
            (0..self.steps.len()).map(|n| self.step(n, parts)).collect::<Result<_>>()?,
            results.collect::<Result<_>>()?,
        ))
    }

    fn step(&self, number: usize, parts: &FileParts<'_>) -> Result<RecordedStep> {
        let (step, open) = (&self.steps[number], parts.open);
        let read = |reads: &SavedOperand| match reads {
            SavedOperand::Number(scalar) => Ok(RecordedOperand::Scalar(scalar.at(open)?)),
            SavedOperand::Whole(at) => Ok(RecordedOperand::Whole(at.place(self, number)?)),
            SavedOperand::View(at, offset, strides) => {
                // Without a shape nothing is known of its reach, which is looked at when it is read.
                let seen =
                    OpenView { offset: offset.clone(), shape: Vec::new(), strides: Vec::new() };
                let offset = seen.at(open)?.offset;
                let stride = |stride: &Extent| {
                    let stride = stride.at(open)?;
                    if stride.unsigned_abs() > FARTHEST {
                        Err(damaged("a view is too far"))
                    } else {
                        Ok(stride as isize)
                    }
                };
                let strides = strides.iter().map(stride).collect::<Result<_>>()?;
                Ok(RecordedOperand::View(
                    at.place(self, number)?,
                    Box::new(InputLayout { offset, strides }),
                ))
            }
        };
        Ok(RecordedStep {
            dtype: step.dtype,
            shape: shape_at(&step.shape, open)?,
            op: step.does.op(parts)?,
            operands: step.reads.iter().map(read).collect::<Result<_>>()?,
            is_zeros: false,
        })
    }
}

/// The longest stride: no step of an axis that has more than one element is longer.
const FARTHEST: u64 = i64::MAX as u64 / 16;

impl StepSource {
    fn of(place: RecordedPlace) -> StepSource {
        match place {
            RecordedPlace::Argument(number) => StepSource::Argument(number),
            RecordedPlace::Leaf(number) => StepSource::Leaf(number),
            RecordedPlace::Step(number) => StepSource::Step(number),
        }
    }

    /// The place, if it is there before so many steps are done.
    fn place(self, outline: &Outline, steps: usize) -> Result<RecordedPlace> {
        let (place, number, count) = match self {
            StepSource::Argument(number) => {
                (RecordedPlace::Argument(number), number, outline.arguments.len())
            }
            StepSource::Leaf(number) => (RecordedPlace::Leaf(number), number, outline.leaves.len()),
            StepSource::Step(number) => (RecordedPlace::Step(number), number, steps),
        };
        match (number as usize) < count {
            true => Ok(place),
            false => Err(damaged("a step reads what is not there")),
        }
    }
}

impl SavedStep {
    fn of(
        step: &RecordedStep,
        function: &mut impl FnMut(&Arc<ScalarFunction>) -> u32,
    ) -> Result<SavedStep> {
        let read = |read: &RecordedOperand| match read {
            RecordedOperand::Scalar(scalar) => SavedOperand::Number(SavedScalar::Bits(*scalar)),
            RecordedOperand::Whole(place) => SavedOperand::Whole(StepSource::of(*place)),
            RecordedOperand::View(place, layout) => {
                let InputLayout { offset, strides } = &**layout;
                let view = View { offset: *offset, shape: Shape::new(), strides: strides.clone() };
                let OpenView { offset, strides, .. } = OpenView::of(&view);
                SavedOperand::View(StepSource::of(*place), offset, strides)
            }
        };
        Ok(SavedStep {
            dtype: step.dtype,
            shape: extents_of(&step.shape),
            does: SavedAction::of(&step.op, function)?,
            reads: step.operands.iter().map(read).collect(),
        })
    }
}

impl SavedAction {
    fn of(
        op: &NodeOp,
        function: &mut impl FnMut(&Arc<ScalarFunction>) -> u32,
    ) -> Result<SavedAction> {
        Ok(match op {
            NodeOp::Apply(op) => SavedAction::Apply(*op),
            NodeOp::Call(called) => SavedAction::Call(function(&called.function), called.result),
            NodeOp::Index(axis) => SavedAction::Index(*axis),
            NodeOp::Assign(view) => SavedAction::Assign(OpenView::of(view)),
            NodeOp::Join(join) => SavedAction::Join(join.axis, extents_of(&join.ends)),
            NodeOp::Gather => SavedAction::Gather,
            NodeOp::Scatter(shape) => SavedAction::Scatter(extents_of(shape)),
            NodeOp::Deferred(deferred) => SavedAction::over(deferred)?,
            NodeOp::Argument
            | NodeOp::Reduce { .. }
            | NodeOp::InPieces(_)
            | NodeOp::Whole(_)
            | NodeOp::WhereTrue => {
                let words = crate::explain::trace::operation(op);
                return Err(super::unsupported("a file has no such step").with("operation", words));
            }
        })
    }

    fn over(Deferred { over, shapes }: &Deferred) -> Result<SavedAction> {
        let of = shapes.first().map_or_else(Vec::new, |shape| extents_of(shape));
        Ok(match over {
            WholeAxisOp::Routine(call) => {
                let said = super::unsupported("a file has no such step");
                return Err(said.with("operation", call.info().name));
            }
            WholeAxisOp::Reduce { op, axes, keepdims } => {
                let axes = axes.iter().map(|axis| *axis as u32).collect();
                SavedAction::Reduce { op: *op, axes, keepdims: *keepdims, of }
            }
            WholeAxisOp::Scan { op, axis } => SavedAction::Scan { op: *op, axis: *axis as u32, of },
            WholeAxisOp::Place { op, axis } => {
                SavedAction::Place { op: *op, axis: *axis as u32, of }
            }
            WholeAxisOp::Sort { axis } => SavedAction::Sort { axis: *axis as u32, of },
            WholeAxisOp::ArgSort { axis } => SavedAction::ArgSort { axis: *axis as u32, of },
            WholeAxisOp::MatMul => SavedAction::MatMul(
                of,
                shapes.get(1).map_or_else(Vec::new, |shape| extents_of(shape)),
            ),
        })
    }

    /// The operation, for these extents.
    fn op(&self, parts: &FileParts<'_>) -> Result<NodeOp> {
        let open = parts.open;
        let deferred = |over: WholeAxisOp, shapes: &[&Vec<Extent>]| {
            let shapes = shapes.iter().map(|shape| shape_at(shape, open));
            let shapes: SmallVec<[Shape; 2]> = shapes.collect::<Result<_>>()?;
            Ok(NodeOp::Deferred(Box::new(Deferred { over, shapes })))
        };
        match self {
            SavedAction::Apply(op) => Ok(NodeOp::Apply(*op)),
            SavedAction::Call(function, result) => {
                let function = parts.functions.get(*function as usize);
                let function = function.ok_or_else(|| damaged("a step calls no function"))?;
                Ok(NodeOp::Call(Called { function: function.clone(), result: *result }))
            }
            SavedAction::Index(axis) => Ok(NodeOp::Index(*axis)),
            SavedAction::Assign(seen) => Ok(NodeOp::Assign(Box::new(seen.at(open)?))),
            SavedAction::Join(axis, ends) => {
                let mut join = Join { axis: *axis, ends: SmallVec::new() };
                for end in ends {
                    let end = usize::try_from(end.at(open)?).unwrap_or(0);
                    if end <= join.ends.last().copied().unwrap_or(0) {
                        return Err(damaged("a join has an empty part"));
                    }
                    join.ends.push(end);
                }
                Ok(NodeOp::Join(Box::new(join)))
            }
            SavedAction::Gather => Ok(NodeOp::Gather),
            SavedAction::Scatter(shape) => Ok(NodeOp::Scatter(Box::new(shape_at(shape, open)?))),
            SavedAction::Reduce { op, axes, keepdims, of } => {
                let axes: SmallVec<[usize; 4]> = axes.iter().map(|axis| *axis as usize).collect();
                let is_once = |(number, axis): (usize, &usize)| {
                    *axis < of.len() && !axes[..number].contains(axis)
                };
                if !axes.iter().enumerate().all(is_once) {
                    return Err(damaged("a reduction is over axes that are not there"));
                }
                deferred(WholeAxisOp::Reduce { op: *op, axes, keepdims: *keepdims }, &[of])
            }
            SavedAction::Scan { op, axis, of } => {
                deferred(WholeAxisOp::Scan { op: *op, axis: *axis as usize }, &[of])
            }
            SavedAction::Place { op, axis, of } => {
                deferred(WholeAxisOp::Place { op: *op, axis: *axis as usize }, &[of])
            }
            SavedAction::Sort { axis, of } => {
                deferred(WholeAxisOp::Sort { axis: *axis as usize }, &[of])
            }
            SavedAction::ArgSort { axis, of } => {
                deferred(WholeAxisOp::ArgSort { axis: *axis as usize }, &[of])
            }
            SavedAction::MatMul(left, right) => deferred(WholeAxisOp::MatMul, &[left, right]),
        }
    }
}
