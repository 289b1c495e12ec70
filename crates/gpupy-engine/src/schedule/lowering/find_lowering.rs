//! Lowering: how a device does an operation that it lacks itself.
//!
//! Owns how an [`OperationLowering`] is found, once for each device, operation and dtype. An operation that a driver
//! lowers has the driver's own program. One that it lacks has the core's (`functions/`), if the driver has all
//! operations of that. A program that fits into one kernel takes the operation's place there (`kernel.rs`), with
//! branches where the device has them. One that does not, on a device with tiny limits, becomes values of its own while
//! the operation is walked, so that partitioning can cut between its straight-line instructions. Invariant: each
//! lowering computes the same bits.
//!
//! Not here: the programs.

use crate::explain::trace::operation;
use crate::graph::library_op::LibraryOp;
use crate::graph::scalar_function::ScalarFunction;
use crate::graph::value::{Input, NodeOp, Operand, Value, ValueKind};
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::lowering::operation_lowering::{
    LoweredProgram, LoweredSteps, OperationLowering, method_dtype,
};
use crate::thresholds::T;
use gpupy_core::driver::{Method, Part};
use gpupy_core::functions;
use gpupy_core::ir::{Builder, Form, FormKind, Inst, Program};
use gpupy_core::op::Op;
use gpupy_core::op_eval;
use gpupy_core::{DType, Error, ErrorKind, Scalar};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

impl OpenDevice {
    /// How this device does an operation; `dtype` as for `Driver::get_method`.
    pub fn way(&self, op: Op, dtype: DType) -> OperationLowering {
        if let Some(way) = self.ways.borrow().get(&(op, dtype)) {
            return way.clone();
        }
        let way = self.find_way(op, dtype);
        self.ways.borrow_mut().insert((op, dtype), way.clone());
        way
    }

    /// Whether there is no way, asked more often than which it is.
    fn is_absent(&self, op: Op, dtype: DType) -> bool {
        let known = self
            .ways
            .borrow()
            .get(&(op, dtype))
            .map(|way| matches!(way, OperationLowering::Absent));
        known.unwrap_or_else(|| matches!(self.way(op, dtype), OperationLowering::Absent))
    }

    /// Whether this device can compute a value from its operands, as far as that can be told before
    /// a program is made.
    pub fn does(&self, value: &Value) -> bool {
        let ValueKind::Expr { op, inputs } = &value.0.kind else { return true };
        self.lack(value, op, inputs, &value.state().operands).is_none()
    }

    /// The feature of an operation that this device lacks: a dtype, a form, or the operation itself.
    pub fn lack(
        &self,
        value: &Value,
        op: &NodeOp,
        inputs: &[Input],
        operands: &[Option<Value>],
    ) -> Option<Error> {
        let parts_alike = matches!(op, NodeOp::Join(_));
        if operands.len() != inputs.len() && !parts_alike {
            // Lost, which is told where it is looked for its operands.
            return None;
        }
        // Parts have the joined value's dtype, and there may be thousands.
        let asked = if parts_alike { 0 } else { inputs.len() };
        let given = inputs[..asked].iter().zip(operands).filter_map(|operand| match operand {
            (Input::Scalar(scalar), _) => Some(scalar.dtype),
            (_, operand) => operand.as_ref().map(Value::dtype),
        });
        let own = value.dtype();
        let first = given.clone().next();
        let strange = given.chain([own]).find(|dtype| !self.caps.dtypes.contains(dtype));
        let (method, form) = match op {
            // A copy, which no driver has to be able to do.
            NodeOp::Apply(Op::Cast | Op::Bitcast) if first == Some(own) => (None, FormKind::Map),
            NodeOp::Apply(op) => (Some((*op, method_dtype(*op, own, first))), FormKind::Map),
            NodeOp::Argument | NodeOp::Deferred(_) => return value.check_closed().err(),
            NodeOp::Call(called) => match self.way_of(&called.function) {
                OperationLowering::Absent => return Some(self.cannot(operation(op), own)),
                _ => (None, FormKind::Map),
            },
            NodeOp::Reduce { op, .. } => (Some((*op, own)), FormKind::Reduce),
            NodeOp::Whole(LibraryOp::Routine(call)) => {
                let offers = |dtype| self.caps.offers(call.routine(), dtype);
                return match strange.is_none() && first.is_some_and(offers) {
                    true => None,
                    false => Some(self.cannot(operation(op), own)),
                };
            }
            NodeOp::Whole(whole) => (None, whole.form().kind()),
            NodeOp::Gather => (Some((Op::Gather, own)), FormKind::Map),
            NodeOp::Index(_)
            | NodeOp::InPieces(_)
            | NodeOp::Assign(_)
            | NodeOp::Scatter(_)
            | NodeOp::WhereTrue
            | NodeOp::Join(_) => (None, FormKind::Map),
        };
        let absent = || method.is_some_and(|(op, dtype)| self.is_absent(op, dtype));
        if strange.is_none() && self.caps.has(form) && !absent() {
            return None;
        }
        let dtype = strange.or(method.map(|(_, dtype)| dtype)).unwrap_or(own);
        let said = match self.caps.has(form) {
            true => "the driver cannot do this operation on this dtype".to_string(),
            false => format!("the driver has no {form} form"),
        };
        let error = Error::new(ErrorKind::Unsupported, "evaluate").says(said);
        let error = error.with("operation", operation(op)).with("dtype", dtype);
        Some(error.with("driver", self.name))
    }

    fn cannot(&self, operation: String, dtype: DType) -> Error {
        Error::new(ErrorKind::Unsupported, "evaluate")
            .says("the driver cannot do what this function does")
            .with("operation", operation)
            .with("dtype", dtype)
            .with("driver", self.name)
    }

    /// How this device does a function, in operations that it has: never by itself.
    pub fn way_of(&self, function: &ScalarFunction) -> OperationLowering {
        let mut functions = self.functions.borrow_mut();
        if functions.len() == T.kept_functions {
            functions.clear();
        }
        let known = functions.entry(function.fingerprint());
        known
            .or_insert_with(|| {
                let method = |op, dtype| match self.way(op, dtype) {
                    OperationLowering::Native => Method::Native,
                    OperationLowering::Inlined(own) | OperationLowering::Expanded(own) => {
                        Method::Lowered(own.program.clone())
                    }
                    OperationLowering::Absent => Method::Absent,
                };
                match self.translate(function.program(), method) {
                    Some(program) => self.inlined_or_expanded(program, function.results()[0]),
                    None => OperationLowering::Absent,
                }
            })
            .clone()
    }

    /// Whether kernels of this device can read a value anywhere: it fits into one block.
    pub fn gathers_from(&self, table: &Value) -> bool {
        let fits = self.tiling_of(table).numbers(0..table.len()).len() == 1;
        fits && !matches!(self.way(Op::Gather, table.dtype()), OperationLowering::Absent)
    }

    fn find_way(&self, op: Op, dtype: DType) -> OperationLowering {
        if !self.caps.dtypes.contains(&dtype) {
            return OperationLowering::Absent;
        }
        let own = |op, dtype| self.driver.get_method(op, dtype);
        let program = match own(op, dtype) {
            Method::Native => return OperationLowering::Native,
            Method::Lowered(program) => Some(program),
            Method::Absent => {
                // A program inside one kernel may have branches; one that is cut is straight-line.
                let branching =
                    functions::branching(op, dtype).and_then(|p| self.translate(p, own));
                if let Some(lowered) = branching.map(|program| self.lowered(program))
                    && self.fits_alone(&lowered, dtype)
                {
                    return OperationLowering::Inlined(Arc::new(lowered));
                }
                functions::program(op, dtype).and_then(|p| self.translate(p, own))
            }
        };
        program
            .map_or(OperationLowering::Absent, |program| self.inlined_or_expanded(program, dtype))
    }

    /// A program in the place of an operation whose result has this dtype: in a kernel, if one takes it.
    fn inlined_or_expanded(&self, program: Program, dtype: DType) -> OperationLowering {
        let is_straight =
            !program.insts.iter().any(|inst| inst.op == Op::Loop || inst.op == Op::If);
        let lowered = self.lowered(program);
        let fits = self.fits_alone(&lowered, dtype);
        let lowered = Arc::new(lowered);
        if fits || !is_straight {
            OperationLowering::Inlined(lowered)
        } else {
            OperationLowering::Expanded(lowered)
        }
    }

    fn lowered(&self, program: Program) -> LoweredProgram {
        let mut need = self.driver.resource_zero();
        for inst in &program.insts {
            if !matches!(inst.op, Op::Const | Op::Param | Op::Store) {
                let part = self.driver.resource_get(Part::Op(inst.op, inst.dtype));
                self.driver.resource_add(&mut need, &part);
            }
        }
        let operations = program.operation_count() as u32;
        LoweredProgram { program, need, operations }
    }

    /// Whether a kernel takes a program of an operation whose result has this dtype.
    fn fits_alone(&self, lowered: &LoweredProgram, dtype: DType) -> bool {
        let mut alone = lowered.need;
        for operand in &lowered.program.params {
            let part = self.driver.resource_get(Part::Operand(*operand));
            self.driver.resource_add(&mut alone, &part);
        }
        self.driver.resource_add(&mut alone, &self.driver.resource_get(Part::Dest(dtype)));
        self.driver.resource_check(&alone)
    }

    /// A program in operations that the driver has itself, by these methods; `None` when it lacks one.
    fn translate(
        &self,
        program: &Program,
        method: impl Fn(Op, DType) -> Method,
    ) -> Option<Program> {
        let mut builder = Builder::new(Form::Map, 1);
        let mut values: Vec<u32> = Vec::with_capacity(program.insts.len());
        for inst in &program.insts {
            if !self.caps.dtypes.contains(&inst.dtype) {
                return None;
            }
            let args: SmallVec<[u32; 3]> = program.uses(inst).map(|v| values[v as usize]).collect();
            let first = program.uses(inst).next().map(|v| program.insts[v as usize].dtype);
            let asked = method_dtype(inst.op, inst.dtype, first);
            let region = |values: &[u32]| values[inst.args[0] as usize];
            let value = match inst.op {
                Op::Param => builder.param(inst.dtype),
                Op::Const => builder.constant(literal(inst)),
                Op::Store => {
                    builder.store(args[0]);
                    0
                }
                op => match method(op, asked) {
                    Method::Native => match op {
                        Op::Cast | Op::Bitcast => builder.convert(op, args[0], inst.dtype),
                        Op::Loop => builder.begin_loop(args[0], &args[1..]),
                        Op::Carry => builder.carry(region(&values), inst.args[1]),
                        Op::Iter => builder.iter(region(&values)),
                        Op::If => builder.begin_if(args[0]),
                        Op::Else => {
                            builder.begin_else(region(&values), &args);
                            0
                        }
                        Op::End => {
                            builder.end(region(&values), &args);
                            0
                        }
                        Op::Result => builder.result(region(&values), inst.args[1], inst.dtype),
                        _ => builder.op(op, &args),
                    },
                    Method::Lowered(lowered) => builder.inline(&lowered, &args),
                    Method::Absent => return None,
                },
            };
            values.push(value);
        }
        Some(builder.finish())
    }
}

/// The last operation on the way to a result of a straight-line program on a value's operands, with the others as
/// values before it. These belong to the walk that asks; another walk makes them again, except for those that are kept.
pub(crate) fn expand(
    whole: &Value,
    (program, result): (&Program, u32),
    operands: &[Operand],
    kept: &LoweredSteps,
) -> (Op, LoweringOperands) {
    let mut known: Vec<Operand> = Vec::with_capacity(program.insts.len());
    let stored = |inst: &&Inst| inst.op == Op::Store && inst.args[0] == result;
    let last = program.insts.iter().find(stored).map(|inst| inst.args[1]);
    for (at, inst) in program.insts.iter().enumerate() {
        let args: LoweringOperands =
            program.uses(inst).map(|v| known[v as usize].clone()).collect();
        let found = match inst.op {
            Op::Param => operands[inst.args[0] as usize].clone(),
            Op::Const => (Input::Scalar(literal(inst)), None),
            Op::Store if inst.args[0] == result => break,
            // Another result's.
            Op::Store => (Input::Scalar(Scalar::zero(inst.dtype)), None),
            op => match folded(inst, &args) {
                Some(scalar) => (Input::Scalar(scalar), None),
                None if last == Some(at as u32) => return (op, args),
                None => {
                    let (order, shape) = ((whole.id(), at as u32), whole.shape().into());
                    let new = || Value::within(order, inst.dtype, shape, NodeOp::Apply(op), args);
                    let value = kept.find(order).unwrap_or_else(new);
                    (Input::Whole(value.id()), Some(value))
                }
            },
        };
        known.push(found);
    }
    // The result is an operand or a literal: a copy of it.
    let copied = last.and_then(|last| known.get(last as usize)).cloned();
    (Op::Cast, smallvec![copied.unwrap_or((Input::Scalar(Scalar::zero(whole.dtype())), None))])
}

type LoweringOperands = SmallVec<[Operand; 3]>;

/// The value of an instruction whose operands are all scalars; its operation is exact.
fn folded(inst: &Inst, args: &[Operand]) -> Option<Scalar> {
    let mut scalars: SmallVec<[Scalar; 3]> = SmallVec::new();
    for (input, _) in args {
        let Input::Scalar(scalar) = input else { return None };
        scalars.push(*scalar);
    }
    op_eval::eval(inst.op, inst.dtype, &scalars)
}

/// The literal of a `const` instruction.
fn literal(inst: &Inst) -> Scalar {
    Scalar::new(inst.dtype, u64::from(inst.args[0]) | u64::from(inst.args[1]) << 32)
}
