//! From recorded expressions of open extents to expressions of known extents.
//!
//! Each step that was recorded of open arrays is recorded once more, by its own operation, with arguments of known
//! extents: reductions take the steps of the canonical tree, writes become joins where that saves a copy. Each
//! operation checks its operands, so steps that come from a file are checked by being recorded.
//!
//! Not here: the steps as data (`recorded.rs`), the operations (`recorder.rs` and its neighbours).

use super::recorded::{Recorded, RecordedOperand, RecordedPlace, RecordedStep};
use super::recorder::Recorder;
use crate::array::base::{Array, ArrayOrScalar};
use crate::graph::value::{Input, NodeOp, Operand, Value, ValueKind};
use crate::memory::view::View;
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::SmallVec;

/// An operand, on its way to an operation.
enum LoweredOperand {
    Scalar(Scalar),
    Array(Array),
}

impl LoweredOperand {
    fn as_arg(&self) -> ArrayOrScalar<'_> {
        match self {
            LoweredOperand::Scalar(scalar) => ArrayOrScalar::Scalar(*scalar),
            LoweredOperand::Array(array) => ArrayOrScalar::Array(array),
        }
    }

    /// As an array of this shape.
    fn into_array(self, shape: &[usize]) -> Result<Array> {
        match self {
            LoweredOperand::Scalar(scalar) => Array::full(shape, scalar),
            LoweredOperand::Array(array) => Ok(array),
        }
    }

    /// This operand as an input of an operation over this shape.
    fn operand(&self, shape: &[usize]) -> Result<Operand> {
        match self {
            LoweredOperand::Scalar(scalar) => Ok((Input::Scalar(*scalar), None)),
            LoweredOperand::Array(array) => array.operand(shape),
        }
    }
}

impl Recorded {
    /// These expressions recorded anew for arguments with their extents, by the steps that they take then.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn lowered(&self) -> Result<Recorded> {
        let recorder = Recorder::default();
        let arguments = self.arguments().iter();
        let arguments: Vec<Value> =
            arguments.map(|(dtype, shape)| Value::argument(*dtype, shape)).collect();
        let mut made: Vec<Value> = Vec::with_capacity(self.steps().len());
        for step in self.steps() {
            let value = self.step(&recorder, step, &arguments, &made)?;
            made.push(value);
        }
        let results = self.results().iter().map(|(place, shape)| {
            let found = self.found(*place, &arguments, &made)?;
            Ok((found.clone(), shape.clone()))
        });
        let results = results.collect::<Result<Vec<(Value, Shape)>>>()?;
        Recorded::of_values(&arguments, &results)
    }

    /// The value of a step on these arguments and the steps before: one whose elements are the step's, in C order.
    fn step(
        &self,
        recorder: &Recorder,
        step: &RecordedStep,
        arguments: &[Value],
        made: &[Value],
    ) -> Result<Value> {
        let shape = &step.shape[..];
        let read = |number: usize, shape: &[usize]| -> Result<LoweredOperand> {
            let read = step.operands.get(number);
            self.read(read.ok_or_else(|| wrong("a step lacks an operand"))?, shape, arguments, made)
        };
        let all = |shape: &[usize]| -> Result<SmallVec<[LoweredOperand; 3]>> {
            (0..step.operands.len()).map(|number| read(number, shape)).collect()
        };
        let array = match &step.op {
            NodeOp::Apply(op) => {
                let operands = all(shape)?;
                if operands.len() != op.info().arity as usize {
                    return Err(wrong("an operation has other operands than it takes"));
                }
                let args: SmallVec<[ArrayOrScalar<'_>; 3]> =
                    operands.iter().map(LoweredOperand::as_arg).collect();
                recorder.convert(*op, &args, step.dtype)?
            }
            NodeOp::Call(called) => {
                let operands = all(shape)?;
                let args: SmallVec<[ArrayOrScalar<'_>; 3]> =
                    operands.iter().map(LoweredOperand::as_arg).collect();
                recorder.call(&called.function, called.result as usize, &args)?
            }
            NodeOp::Index(axis) => recorder.index(shape, *axis as usize)?,
            NodeOp::Assign(view) => {
                let old = read(0, shape)?.into_array(shape)?.value()?;
                let old = in_shape(recorder, &old, shape)?;
                let dest = Array::from_value(old.clone()).seen((**view).clone())?;
                let source = read(1, &view.shape)?.operand(&view.shape)?;
                is_same(dtype_of(&source), old.dtype(), step.dtype)?;
                return Ok(recorder.assigned(old, &dest, source));
            }
            NodeOp::Join(join) => {
                let extent = shape.get(join.axis as usize);
                let fits = extent.is_some() && extent == join.ends.last();
                if !fits || join.ends.len() != step.operands.len() {
                    return Err(wrong("a join has other parts than its extent"));
                }
                let part = |part: usize| {
                    let shape = join.shape(part, shape);
                    read(part, &shape)?.into_array(&shape)
                };
                let parts = (0..join.ends.len()).map(part).collect::<Result<Vec<Array>>>()?;
                recorder.join(join.axis as usize, &parts)?
            }
            NodeOp::Gather => {
                let positions = read(0, shape)?.into_array(shape)?;
                let table = self.whole(step.operands.get(1), arguments, made)?;
                are_positions(positions.dtype())?;
                if table.size() == 0 && positions.size() > 0 {
                    return Err(wrong("an array without elements has none at a position"));
                }
                recorder.gather(&table, &positions)?
            }
            NodeOp::Scatter(positions) => {
                let old = self.whole(step.operands.first(), arguments, made)?.value()?;
                let old = in_shape(recorder, &old, shape)?;
                let [places, source] = [
                    read(1, positions)?.operand(positions)?,
                    read(2, positions)?.operand(positions)?,
                ];
                are_positions(dtype_of(&places))?;
                is_same(dtype_of(&source), old.dtype(), step.dtype)?;
                return Ok(recorder.scattered(old, positions, places, source));
            }
            NodeOp::Deferred(deferred) => {
                let shapes = deferred.shapes.iter().enumerate();
                let operands: SmallVec<[LoweredOperand; 2]> =
                    shapes.map(|(number, shape)| read(number, shape)).collect::<Result<_>>()?;
                let args: SmallVec<[ArrayOrScalar<'_>; 2]> =
                    operands.iter().map(LoweredOperand::as_arg).collect();
                recorder.done(&deferred.over, &args)?
            }
            // Steps already.
            NodeOp::Reduce { .. } | NodeOp::Whole(_) => {
                let (operands, op) = (step.operands.iter(), step.op.clone());
                let operands = operands.map(|read| self.operand(read, arguments, made, false));
                let operands = operands.collect();
                let shape = step.shape.clone();
                return Ok(Value::expr(&recorder.expressions, step.dtype, shape, op, operands));
            }
            NodeOp::Argument | NodeOp::WhereTrue | NodeOp::InPieces(_) => {
                return Err(wrong("a step is no operation on elements"));
            }
        };
        if array.dtype() != step.dtype {
            return Err(wrong("a step gives another dtype"));
        }
        let array = if array.shape() == shape { array } else { array.broadcast_to(shape)? };
        recorder.copy(&array)?.value()
    }

    /// The input of a step over this shape.
    fn read(
        &self,
        read: &RecordedOperand,
        shape: &[usize],
        arguments: &[Value],
        made: &[Value],
    ) -> Result<LoweredOperand> {
        let (place, view) = match read {
            RecordedOperand::Scalar(scalar) => return Ok(LoweredOperand::Scalar(*scalar)),
            RecordedOperand::Whole(place) => (*place, View::contiguous(shape)),
            RecordedOperand::View(place, layout) => {
                let (offset, strides) = (layout.offset, layout.strides.clone());
                (*place, View { offset, shape: shape.into(), strides })
            }
        };
        let value = self.found(place, arguments, made)?.clone();
        Ok(LoweredOperand::Array(Array::from_value(value).seen(view)?))
    }

    /// An operand that is read whole.
    fn whole(
        &self,
        read: Option<&RecordedOperand>,
        arguments: &[Value],
        made: &[Value],
    ) -> Result<Array> {
        match read {
            Some(RecordedOperand::Whole(place)) => {
                Ok(Array::from_value(self.found(*place, arguments, made)?.clone()))
            }
            _ => Err(wrong("a step reads a part where it needs all")),
        }
    }

    fn found<'v>(
        &'v self,
        place: RecordedPlace,
        arguments: &'v [Value],
        made: &'v [Value],
    ) -> Result<&'v Value> {
        let found = match place {
            RecordedPlace::Argument(number) => arguments.get(number as usize),
            RecordedPlace::Leaf(number) => self.leaves().get(number as usize),
            RecordedPlace::Step(number) => made.get(number as usize),
        };
        found.ok_or_else(|| wrong("a step reads what is not there"))
    }
}

/// A value of this shape with the same elements in C order.
fn in_shape(recorder: &Recorder, value: &Value, shape: &[usize]) -> Result<Value> {
    if value.shape() == shape {
        return Ok(value.clone());
    }
    if let ValueKind::Constant(scalar) = value.0.kind {
        return Ok(Value::constant(shape, scalar));
    }
    if value.len() != size_of(shape) {
        return Err(wrong("a step has another number of elements"));
    }
    Ok(recorder.reshaped(value, shape))
}

/// Refuses positions that are none.
fn are_positions(dtype: DType) -> Result<()> {
    if dtype == DType::I32 { Ok(()) } else { Err(wrong("positions are int32 numbers")) }
}

/// Refuses a write of another dtype.
fn is_same(source: DType, old: DType, new: DType) -> Result<()> {
    if source == old && old == new { Ok(()) } else { Err(wrong("a write is of another dtype")) }
}

fn dtype_of((input, value): &Operand) -> DType {
    match (input, value) {
        (Input::Scalar(scalar), _) => scalar.dtype,
        (_, Some(value)) => value.dtype(),
        // Only a scalar lacks a value.
        (_, None) => DType::Bool,
    }
}

pub(super) fn wrong(words: &str) -> Error {
    Error::new(ErrorKind::Invalid, "record").says(words)
}
