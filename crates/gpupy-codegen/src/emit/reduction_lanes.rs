//! The lanes of a kernel's reductions: their names, and how they are combined.
//!
//! Owns [`ReductionLanes`]. Invariant: names of the first reduction are as they stand, those of each further one end with its
//! number; so the text of one reduction does not tell that there could be several.
//!
//! Not here: which points a lane takes, and in which order lanes are combined (`compute/text/tree_reduction.rs`,
//! `fragment/row_reduction.rs`, `fragment/column_reduction.rs`).

use crate::dialect::{Dialect, Width};
use crate::emit::operations::emit;
use gpupy_core::Scalar;
use gpupy_core::ir::{Program, Reduction};

/// What a kernel keeps of one reduction, in vectors.
pub(crate) struct ReductionLanes<'a> {
    dialect: &'a dyn Dialect,
    pub reduction: Reduction,
    /// What stands behind each of its names.
    behind: String,
}

impl<'a> ReductionLanes<'a> {
    /// Those of each live reduction of a program.
    pub fn of(
        program: &Program,
        live: &[bool],
        dialect: &'a dyn Dialect,
    ) -> Vec<ReductionLanes<'a>> {
        let behind = |k: usize| if k == 0 { String::new() } else { format!("_{k}") };
        let all = program.reductions().filter(|reduction| live[reduction.at]).enumerate();
        all.map(|(k, reduction)| ReductionLanes { dialect, reduction, behind: behind(k) }).collect()
    }

    /// This reduction's name for something that each has.
    pub fn name(&self, stem: &str) -> String {
        format!("{stem}{}", self.behind)
    }

    /// Declares a vector that is assigned later, too.
    pub fn vector(&self, stem: &str, value: &str) -> String {
        let variable = self.dialect.variable(self.reduction.dtype, Width::Four, &self.name(stem));
        format!("{variable} = {value};")
    }

    /// What lanes hold before anything is combined, which nobody sees.
    pub fn zeros(&self) -> String {
        let (d, dtype) = (self.dialect, self.reduction.dtype);
        d.splat(dtype, Width::Four, &d.literal(Scalar::zero(dtype)))
    }

    /// Two vectors combined.
    pub fn combine(&self, a: &str, b: &str) -> String {
        let Reduction { op, dtype, .. } = self.reduction;
        emit(self.dialect, op, dtype, dtype, Width::Four, &[a, b]).unwrap_or_default()
    }

    /// `then` where the lanes of a vector of bools exist, otherwise what was there.
    pub fn select(&self, exist: &str, then: &str, otherwise: &str) -> String {
        self.dialect.select(self.reduction.dtype, Width::Four, exist, then, otherwise)
    }
}
