//! Routines, the rows of the table of library operations: which of them this driver has, and its method of each.
//!
//! Owns [`offered`] and [`run`]. A method is one line of [`METHODS`]. Transforms of rows are in `fourier_rows.rs`, with
//! their plans (`plan.rs`), passes (`radix_passes.rs`), rows in memory (`moving.rs`), and long rows (`long_row.rs`).
//!
//! Imports `threads` and `traversal`. Not here: what a routine computes (`gpupy_core::routines`), the other
//! whole-program forms (`library_ops`).

mod fourier_rows;
mod long_row;
mod moving;
mod plan;
mod radix_passes;
mod routine_launch;

pub use fourier_rows::FourierPlans;

use crate::errors::invalid;
use crate::threads::executor::Executor;
use crate::traversal::iteration_space::StridedAccess;
use fourier_rows::TransformKind;
use gpupy_core::routines::{Routine, RoutineCall};
use gpupy_core::{DType, Result};
use routine_launch::RoutineLaunch;

type RoutineMethod = fn(&RoutineLaunch<'_>, &mut FourierPlans, &mut Executor<'_>) -> Result<()>;

const METHODS: [(&str, RoutineMethod); 3] = [
    ("fft", |launch, plans, executor| {
        let inverse = launch.call.attributes()[4] != 0;
        fourier_rows::run(launch, TransformKind::Complex { inverse }, plans, executor)
    }),
    ("rfft", |launch, plans, executor| {
        fourier_rows::run(launch, TransformKind::OfReal, plans, executor)
    }),
    ("irfft", |launch, plans, executor| {
        fourier_rows::run(launch, TransformKind::ToReal, plans, executor)
    }),
];

/// The routines of this driver, with the dtypes of their operands.
pub fn offered() -> Vec<(Routine, DType)> {
    let known = METHODS.iter().filter_map(|(name, _)| Routine::from_name(name));
    known.flat_map(|own| own.info().dtypes.iter().map(move |(from, _)| (own, *from))).collect()
}

/// Evaluates a launch of a routine with these parameters.
///
/// # Errors
/// - `Invalid`: the attributes make no sense, or the shape is not that of the results.
/// - `OutOfMemory`: there is no room for a row.
pub fn run(
    routine: Routine,
    params: &[u64],
    (shape, dtype): (&[usize], DType),
    [read, dest]: [StridedAccess<'_>; 2],
    plans: &mut FourierPlans,
    executor: &mut Executor<'_>,
) -> Result<()> {
    let call = RoutineCall::new(routine, params, shape.len())?;
    if shape[call.axis()] != call.points().result {
        return Err(invalid("the launch has another shape than the routine's result"));
    }
    let method = METHODS.iter().find(|(name, _)| *name == routine.info().name);
    let (_, method) = method.ok_or_else(|| invalid("the driver has no such routine"))?;
    let launch = RoutineLaunch { call, shape, dtype, read, dest };
    method(&launch, plans, executor)
}
