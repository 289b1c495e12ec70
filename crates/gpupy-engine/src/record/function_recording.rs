//! Recording a scalar function: expressions of its arguments become a program.
//!
//! [`ScalarFunction::recorded`] turns the expressions of the results into a [`ScalarFunction`].
//!
//! Not here: functions themselves (`graph/scalar_function.rs`), calls of them (`Recorder::call`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::graph::scalar_function::{Called, ScalarFunction};
use crate::graph::value::{Input, NodeOp, Operand, Value, ValueId, ValueKind};
use crate::record::recorder::Recorder;
use gpupy_core::ir::{Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

impl ScalarFunction {
    /// The function that gives these results of these arguments, as they were recorded.
    ///
    /// # Errors
    /// - `Unsupported`: a result takes more than operations on elements, or reads an array.
    pub fn recorded(arguments: &[Array], results: &[ArrayOrScalar<'_>]) -> Result<ScalarFunction> {
        let mut recording =
            FunctionRecording { builder: Builder::new(Form::Map, 1), known: FxHashMap::default() };
        for argument in arguments {
            let value = argument.value()?;
            let param = recording.builder.param(value.dtype());
            recording.known.insert(value.id(), param);
        }
        let mut stored: SmallVec<[u32; 4]> = SmallVec::new();
        for result in results {
            stored.push(match result {
                ArrayOrScalar::Scalar(scalar) => recording.literal(*scalar),
                ArrayOrScalar::Array(array) => {
                    let input = array.operand(array.shape())?;
                    recording.operand(&input)?
                }
            });
        }
        stored.into_iter().for_each(|value| recording.builder.store(value));
        ScalarFunction::of_program(recording.builder.finish(), 0)
    }
}

impl Recorder {
    /// A result of a function on operands that broadcast, whose dtypes are the function's.
    ///
    /// # Errors
    /// - `Shape`, `DType`, `Index`: the operands or the result's number do not fit.
    pub fn call(
        &self,
        function: &Arc<ScalarFunction>,
        result: usize,
        args: &[ArrayOrScalar<'_>],
    ) -> Result<Array> {
        let given: SmallVec<[DType; 8]> = args.iter().map(ArrayOrScalar::dtype).collect();
        if given[..] != *function.arguments() {
            return Err(Error::new(ErrorKind::DType, "call")
                .says("the function takes other dtypes")
                .with("given", format!("{given:?}"))
                .with("taken", format!("{:?}", function.arguments())));
        }
        let Some(dtype) = function.results().get(result) else {
            return Err(Error::new(ErrorKind::Index, "call")
                .says("the function has no such result")
                .with("result", result));
        };
        let (shape, operands) = self.broadcast(args)?;
        let called = Called { function: function.clone(), result: result as u32 };
        Ok(Array::from_value(self.value(*dtype, shape, NodeOp::Call(called), operands)))
    }
}

/// A function on its way.
struct FunctionRecording {
    builder: Builder,
    known: FxHashMap<ValueId, u32>,
}

impl FunctionRecording {
    fn operand(&mut self, (input, value): &Operand) -> Result<u32> {
        match (input, value) {
            (Input::Scalar(scalar), _) => Ok(self.literal(*scalar)),
            (Input::Whole(_), Some(value)) if value.len() == 1 => self.number(value, 0),
            (Input::Whole(_), Some(value)) => self.value(value),
            (Input::View(_, layout), Some(value)) if layout.strides.iter().all(|s| *s == 0) => {
                self.number(value, layout.offset.unsigned_abs())
            }
            (Input::View(..), _) | (_, None) => Err(reads_array()),
        }
    }

    fn literal(&mut self, scalar: Scalar) -> u32 {
        self.builder.constant(scalar)
    }

    /// The element at this position of a value in host memory.
    fn number(&mut self, value: &Value, at: usize) -> Result<u32> {
        if let ValueKind::Constant(scalar) = value.0.kind {
            return Ok(self.literal(scalar));
        }
        let dtype = value.dtype();
        let first = value.host_start(at..at + 1).ok_or_else(reads_array)?;
        // SAFETY: the element is in host memory, and elements there are not written while their value is held.
        let bytes = unsafe {
            std::slice::from_raw_parts(first.as_ptr().add(at * dtype.size()), dtype.size())
        };
        let Some(part) = dtype.part() else { return Ok(self.literal(scalar(dtype, bytes))) };
        let (re, im) = bytes.split_at(part.size());
        let [re, im] = [re, im].map(|bytes| self.builder.constant(scalar(part, bytes)));
        Ok(self.builder.op(Op::Complex, &[re, im]))
    }

    /// The instruction of a value in the program: its operands first, without recursion.
    fn value(&mut self, root: &Value) -> Result<u32> {
        let mut open = vec![root.clone()];
        while let Some(value) = open.last().cloned() {
            if self.known.contains_key(&value.id()) {
                open.pop();
                continue;
            }
            let ValueKind::Expr { op, inputs } = &value.0.kind else {
                let ValueKind::Constant(scalar) = value.0.kind else { return Err(reads_array()) };
                let literal = self.literal(scalar);
                self.known.insert(value.id(), literal);
                continue;
            };
            let operands = value.state().operands.clone();
            if operands.len() != inputs.len() {
                return Err(reads_array());
            }
            // Elements in host memory are literals, where they are read.
            let is_open = |below: &&Value| {
                matches!(below.0.kind, ValueKind::Expr { .. })
                    && !self.known.contains_key(&below.id())
            };
            let below: Vec<Value> = operands.iter().flatten().filter(is_open).cloned().collect();
            if !below.is_empty() {
                open.extend(below);
                continue;
            }
            let given = inputs.iter().cloned().zip(operands);
            let args = given.map(|operand| self.operand(&operand));
            let args: SmallVec<[u32; 3]> = args.collect::<Result<_>>()?;
            let new = self.operation(op, value.dtype(), &args)?;
            self.known.insert(value.id(), new);
        }
        self.known.get(&root.id()).copied().ok_or_else(reads_array)
    }

    fn operation(&mut self, op: &NodeOp, dtype: DType, args: &[u32]) -> Result<u32> {
        match op {
            NodeOp::Apply(Op::Cast | Op::Bitcast) if self.builder.dtype(args[0]) == dtype => {
                Ok(args[0])
            }
            NodeOp::Apply(op @ (Op::Cast | Op::Bitcast)) => {
                Ok(self.builder.convert(*op, args[0], dtype))
            }
            NodeOp::Apply(op) => Ok(self.builder.op(*op, args)),
            NodeOp::Call(Called { function, result }) if function.steps() == 0 => {
                Ok(self.builder.inline_all(function.program(), args)[*result as usize])
            }
            _ => Err(Error::new(ErrorKind::Unsupported, "function")
                .says("a function does operations on elements alone")
                .with("operation", crate::explain::trace::operation(op))),
        }
    }
}

/// The scalar of these bytes, which are as many as the dtype has.
fn scalar(dtype: DType, bytes: &[u8]) -> Scalar {
    let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    Scalar::new(dtype, bits)
}

fn reads_array() -> Error {
    Error::new(ErrorKind::Unsupported, "function")
        .says("a function reads its arguments alone, and no arrays")
}
