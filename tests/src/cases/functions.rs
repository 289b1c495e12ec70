//! Functions with a bound (`exp`, `sin`, `pow`, …) through the core, which has programs of exact
//! operations for those that a driver lacks.
//!
//! Not here: operations of the driver itself (`elementwise.rs`, `specials.rs`).

use super::Suite;
use super::arrays::context;
use super::elementwise::{inputs, map, operands_of};
use super::specials;
use crate::drivers::device::{from_bytes, to_bytes};
use crate::drivers::launch::compare;
use crate::expect::oracle::expected;
use crate::reporting::outcome::{Outcome, fine, skip};
use gpupy_core::op::{OPS, OpInfo, Rule};
use gpupy_core::{DType, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};

pub const GROUP: &str = "functions";

pub fn run(suite: &mut Suite<'_>) {
    // One for all cases: opening a device takes longer than most of them.
    let context = context(suite.constructor(), Settings::default());
    let bounded = |row: &&OpInfo| row.ulp > 0.0 && row.rule != Rule::Special;
    for row in OPS.iter().filter(bounded) {
        let operands = operands_of(row, DType::F32);
        suite.apart(GROUP, &format!("{} of arrays", row.name), || {
            function(&context, row, inputs(&operands))
        });
        for (kind, specials) in specials::kinds() {
            suite.apart(GROUP, &format!("{} of {kind}", row.name), || {
                function(&context, row, specials::columns(&operands, &specials))
            });
        }
    }
}

fn function(context: &Context, row: &OpInfo, columns: Vec<Vec<Scalar>>) -> Outcome {
    let flushes = fine(context.driver(), "the driver")?.1.flushes_subnormals;
    if !context.supports(row.op, DType::F32) {
        return skip("absent methods, for which the core has no program");
    }
    let mut arrays = Vec::new();
    for column in &columns {
        let array = Array::from_bytes(DType::F32, &[column.len()], &to_bytes(column));
        arrays.push(fine(array, "an array")?);
    }
    let arguments: Vec<_> = arrays.iter().map(ArrayOrScalar::Array).collect();
    let result = fine(context.apply(row.op, &arguments), row.name)?;
    let bytes = fine(fine(context.read(&result), row.name)?.to_vec(), row.name)?;
    // As if the driver had the operation itself.
    let run = map(columns, |b, values| Ok(b.op(row.op, values)))?;
    let elements = expected(&run).remove(0);
    compare(&from_bytes(DType::F32, &bytes), &elements, row.ulp, flushes)
}
