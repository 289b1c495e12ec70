//! Forms of programs: map, reduce, scan, sort, matrix product, routine.
//!
//! Owns [`Form`], the meaning of a program's iteration space, and [`FormKind`]; and the kind of each form's
//! instruction. Invariant: the codes of kinds are part of the IR's memory form and never change.
//!
//! Not here: rows of these operations (`op.rs`), the rules for their instructions (`verify.rs`).

use super::REDUCE_CHUNK;
use crate::op::Op;
use crate::routines::{Routine, RoutineCall};
use crate::shape::Shape;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The form of a program: the meaning of its iteration space.
///
/// A map and a reduction have any instructions. The others are *whole-program forms* (library operations): a `load` for
/// each operand of the form's instruction, in order, that instruction, a `store` of its value, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Every instruction runs once for each point of the launch's shape.
    Map,
    /// One step of a reduction along the last axis of the launch's shape (the *input space*), which has `n` points
    /// there. The *output space* has `ceil(n / 256)` there, and otherwise the same extents.
    ///
    /// Instructions before `reduce` (the prologue) run for each point of the input space, those
    /// after it (the epilogue) for each point of the output space, where accesses count output
    /// coordinates. Output point `c` combines input points `256 c + k`, `0 <= k < 256`, that exist:
    /// lane `l` (of 16) combines `k = l, l + 16, l + 32, …` in that order, from left to right; then
    /// lane `l` combines lane `l + 8` for `l < 8`, lane `l + 4` for `l < 4`, `l + 2`, `l + 1`, the
    /// lower lane always the left operand. Lanes and points that do not exist are skipped. This is
    /// the canonical tree; it does not depend on driver, threads or block length.
    ///
    /// A program may have several reductions of values of its prologue, each with its own operation
    /// ([`Program::reductions`](super::Program::reductions)), up to the driver's limit
    /// ([`Capabilities::max_reductions`](crate::driver::Capabilities::max_reductions)). Their instructions are
    /// consecutive, and each combines its points as if it were alone.
    Reduce {
        /// The combining operation of the first reduction.
        op: Op,
    },
    /// Running results along the last axis, chunk by chunk: `scan` of an element and its chunk's
    /// start. Along that axis chunk `c` is the points `256 c + k`, `0 <= k < 256`; the first result
    /// is the start combined with the first element, and every other one the result before it
    /// combined with its element, the element always the right operand. The load of the starts
    /// counts chunks: its space has `ceil(n / 256)` points along the last axis.
    Scan {
        /// The combining operation.
        op: Op,
    },
    /// The last axis in ascending order: `sort` gives the elements, `argsort` their former positions (int32). The
    /// sort is stable; NaN comes after all numbers.
    Sort,
    /// A matrix product. The launch's shape is the input space, of at least three axes: any number for stacks of
    /// matrices, then `m`, `n` and `k`. The output space has one point on the last axis. An output point is the sum
    /// over `k` of `matmul`'s first operand, which does not move along `n`, times the second, which does not move
    /// along `m`.
    MatMul,
    /// A routine, a row of the table of library operations. The launch's shape is the result's; its parameters are the
    /// routine's attributes, in the row's order. The operand's space differs from it along the whole axis alone
    /// ([`RoutineCall::operand_shape`]).
    Routine {
        /// The row.
        routine: Routine,
    },
}

/// A form without its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
#[allow(missing_docs)] // they are those of `Form`
pub enum FormKind {
    Map = 0,
    Reduce = 1,
    Scan = 2,
    Sort = 3,
    MatMul = 4,
    Routine = 5,
}

impl FormKind {
    /// Every kind, by its code.
    pub const ALL: [FormKind; 6] = [
        FormKind::Map,
        FormKind::Reduce,
        FormKind::Scan,
        FormKind::Sort,
        FormKind::MatMul,
        FormKind::Routine,
    ];

    /// The kinds that a driver has or lacks as a whole: neither maps, which every driver has, nor routines, which it
    /// offers one by one.
    pub const OFFERED: [FormKind; 4] =
        [FormKind::Reduce, FormKind::Scan, FormKind::Sort, FormKind::MatMul];

    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            FormKind::Map => "map",
            FormKind::Reduce => "reduce",
            FormKind::Scan => "scan",
            FormKind::Sort => "sort",
            FormKind::MatMul => "matmul",
            FormKind::Routine => "routine",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<FormKind> {
        FormKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind with this code.
    pub fn from_code(code: u32) -> Option<FormKind> {
        FormKind::ALL.get(code as usize).copied()
    }

    /// Whether forms of this kind name an operation.
    pub const fn combines(self) -> bool {
        matches!(self, FormKind::Reduce | FormKind::Scan)
    }

    /// The form of this kind with the number of the memory form: the code of its operation, or its routine's number;
    /// other forms ignore it. `None` where nothing has the number.
    pub fn with(self, number: u32) -> Option<Form> {
        let op = || u16::try_from(number).ok().and_then(Op::from_code);
        Some(match self {
            FormKind::Map => Form::Map,
            FormKind::Reduce => Form::Reduce { op: op()? },
            FormKind::Scan => Form::Scan { op: op()? },
            FormKind::Sort => Form::Sort,
            FormKind::MatMul => Form::MatMul,
            FormKind::Routine => Form::Routine { routine: Routine::from_number(number)? },
        })
    }
}

impl Op {
    /// The kind of form that this operation is the instruction of.
    pub fn form(self) -> Option<FormKind> {
        match self {
            Op::Reduce => Some(FormKind::Reduce),
            Op::Scan => Some(FormKind::Scan),
            Op::Sort | Op::ArgSort => Some(FormKind::Sort),
            Op::MatMul => Some(FormKind::MatMul),
            Op::Routine => Some(FormKind::Routine),
            _ => None,
        }
    }
}

impl fmt::Display for FormKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Form {
    /// The form without its operation.
    pub const fn kind(self) -> FormKind {
        match self {
            Form::Map => FormKind::Map,
            Form::Reduce { .. } => FormKind::Reduce,
            Form::Scan { .. } => FormKind::Scan,
            Form::Sort => FormKind::Sort,
            Form::MatMul => FormKind::MatMul,
            Form::Routine { .. } => FormKind::Routine,
        }
    }

    /// The combining operation of a form that has one.
    pub const fn op(self) -> Option<Op> {
        match self {
            Form::Reduce { op } | Form::Scan { op } => Some(op),
            Form::Map | Form::Sort | Form::MatMul | Form::Routine { .. } => None,
        }
    }

    /// The number of the memory form: see [`FormKind::with`].
    pub const fn number(self) -> u32 {
        match (self, self.op()) {
            (_, Some(op)) => op as u32,
            (Form::Routine { routine }, _) => routine.number(),
            _ => 0,
        }
    }

    /// Whether this is a whole-program form: loads, the form's instruction and a store alone.
    pub const fn is_library_op(self) -> bool {
        !matches!(self, Form::Map | Form::Reduce { .. })
    }

    /// The extents of the output space, for a launch of shape `shape`.
    pub fn out_shape(self, shape: &[usize]) -> Shape {
        match self {
            Form::Map | Form::Scan { .. } | Form::Sort | Form::Routine { .. } => shape.into(),
            Form::Reduce { .. } => chunks(shape),
            Form::MatMul => with_last(shape, |_| 1),
        }
    }

    /// The extents of the space of operand `which` of a whole-program form's instruction, for a launch of shape
    /// `shape` with these parameters.
    pub fn operand_shape(self, which: usize, shape: &[usize], params: &[u64]) -> Shape {
        match (self, which) {
            (Form::Scan { .. }, 1) => chunks(shape),
            (Form::Routine { routine }, _) => RoutineCall::new(routine, params, shape.len())
                .map_or_else(|_| shape.into(), |call| call.operand_shape(shape)),
            _ => shape.into(),
        }
    }
}

/// The extents of a space with a point for each chunk of the last axis.
fn chunks(shape: &[usize]) -> Shape {
    with_last(shape, |n| n.div_ceil(REDUCE_CHUNK))
}

fn with_last(shape: &[usize], change: impl Fn(usize) -> usize) -> Shape {
    let mut shape = Shape::from(shape);
    if let Some(last) = shape.last_mut() {
        *last = change(*last);
    }
    shape
}
