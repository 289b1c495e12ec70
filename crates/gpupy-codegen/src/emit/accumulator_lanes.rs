//! The accumulators of a kernel's reductions, in lanes: their names, and how they are combined.
//!
//! Owns [`ReductionLanes`]. Invariant: names of the first reduction have no suffix, those of a further one end with
//! its number. So the text of a single reduction does not depend on the support for several.
//!
//! Not here: the points of a lane and the order of combination (`compute/text/tree_reduction.rs`,
//! `fragment/row_reduction.rs`, `fragment/column_reduction.rs`).

use crate::dialect::{Dialect, Width};
use crate::emit::operations::emit;
use gpupy_core::Scalar;
use gpupy_core::ir::{Program, Reduction};

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
        let variable = self.dialect.variable(self.reduction.dtype, Width::Four, &self.name(stem));
        format!("{variable} = {value};")
    }

    /// The initial value of lanes. It is never part of a result.
    pub fn zeros(&self) -> String {
        let (d, dtype) = (self.dialect, self.reduction.dtype);
        d.splat(dtype, Width::Four, &d.literal(Scalar::zero(dtype)))
    }

    /// Two vectors combined.
    pub fn combine(&self, a: &str, b: &str) -> String {
        let Reduction { op, dtype, .. } = self.reduction;
        emit(self.dialect, op, dtype, dtype, Width::Four, &[a, b]).unwrap_or_default()
    }

    /// Per lane, `then` where `exist` holds, else `otherwise`.
    pub fn select(&self, exist: &str, then: &str, otherwise: &str) -> String {
        self.dialect.select(self.reduction.dtype, Width::Four, exist, then, otherwise)
    }
}
