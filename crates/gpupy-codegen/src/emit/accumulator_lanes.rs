//! The accumulators of a kernel's reductions, in lanes: their names, and how they are combined.
//!
//! Owns [`ReductionLanes`]. Invariants: names of the first reduction have no suffix, those of a further one end with
//! its number. So the text of a single reduction does not depend on the support for several. Bools accumulate as
//! words of 0 and 1: what invocations share has a size then, and a GPU's compiler (NVIDIA's 580) has combined bools
//! of workgroup memory wrongly.
//!
//! Not here: the points of a lane and the order of combination (`compute/text/tree_reduction.rs`,
//! `fragment/row_reduction.rs`, `fragment/column_reduction.rs`).

use crate::dialect::{Dialect, Width};
use crate::emit::operations::emit;
use gpupy_core::ir::{Program, Reduction};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// The accumulators of one reduction, in vectors of four lanes.
pub(crate) struct ReductionLanes<'a> {
    dialect: &'a dyn Dialect,
    pub reduction: Reduction,
    /// The suffix of its names.
    behind: String,
}

impl<'a> ReductionLanes<'a> {
    /// The lanes of each live reduction of a program.
    pub fn of(
        program: &Program,
        live: &[bool],
        dialect: &'a dyn Dialect,
    ) -> Vec<ReductionLanes<'a>> {
        let behind = |k: usize| if k == 0 { String::new() } else { format!("_{k}") };
        let all = program.reductions().filter(|reduction| live[reduction.at]).enumerate();
        all.map(|(k, reduction)| ReductionLanes { dialect, reduction, behind: behind(k) }).collect()
    }

    /// The name of this reduction's variable `stem`.
    pub fn name(&self, stem: &str) -> String {
        format!("{stem}{}", self.behind)
    }

    /// Declares a vector variable with a first value.
    pub fn vector(&self, stem: &str, value: &str) -> String {
        let variable = self.dialect.variable(self.dtype(), Width::Four, &self.name(stem));
        format!("{variable} = {value};")
    }

    /// The initial value of lanes. It is never part of a result.
    pub fn zeros(&self) -> String {
        let (d, dtype) = (self.dialect, self.dtype());
        d.splat(dtype, Width::Four, &d.literal(Scalar::zero(dtype)))
    }

    /// Two vectors combined.
    pub fn combine(&self, a: &str, b: &str) -> String {
        let dtype = self.dtype();
        let op = accumulating_op(self.reduction.op, self.reduction.dtype);
        emit(self.dialect, op, dtype, dtype, Width::Four, &[a, b]).unwrap_or_default()
    }

    /// The dtype of the lanes.
    pub fn dtype(&self) -> DType {
        accumulator(self.reduction.dtype)
    }

    /// A value of the program's as a lane has it.
    pub fn taken(&self, width: Width, value: &str) -> String {
        match self.reduction.dtype {
            DType::Bool => self.dialect.convert(DType::U32, width, value),
            _ => value.to_owned(),
        }
    }

    /// A lane as a value of the program's.
    pub fn given(&self, width: Width, lane: &str) -> String {
        emit(self.dialect, Op::Cast, self.dtype(), self.reduction.dtype, width, &[lane])
            .filter(|_| self.reduction.dtype == DType::Bool)
            .unwrap_or_else(|| lane.to_owned())
    }

    /// Per lane, `then` where `exist` holds, else `otherwise`.
    pub fn select(&self, exist: &str, then: &str, otherwise: &str) -> String {
        self.dialect.select(self.dtype(), Width::Four, exist, then, otherwise)
    }
}

/// The dtype in which values of a dtype accumulate.
pub(crate) fn accumulator(dtype: DType) -> DType {
    if dtype == DType::Bool { DType::U32 } else { dtype }
}

/// The operation on accumulators that is an operation on values of a dtype.
pub(crate) fn accumulating_op(op: Op, dtype: DType) -> Op {
    match op {
        Op::Add | Op::Max if dtype == DType::Bool => Op::Or,
        Op::Mul | Op::Min if dtype == DType::Bool => Op::And,
        op => op,
    }
}
