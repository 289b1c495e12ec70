//! Mathematical functions as programs of primitive operations, written once for all drivers.
//!
//! Owns the table of programs. Each function and float dtype has a straight-line program of exact operations, which
//! gives the same bits on every driver, and a branching program with the rare cases inside an `if`. Invariants: a
//! program keeps the error bound of its row in `op.rs`. It uses neither loops nor fused products, nor, for float32, a
//! wider float.
//!
//! Not here: which drivers need them (the engine asks each).

mod area;
mod exp;
mod formula_builder;
mod hyperbolic;
mod inverse;
mod log;
mod power;
mod trig;

use crate::dtype::DType;
use crate::ir::Program;
use crate::op::Op;
use formula_builder::{FormulaBuilder, FormulaValue};
use std::sync::OnceLock;

/// A function of values of one program.
type Formula = for<'c> fn(&'c FormulaBuilder, &[FormulaValue<'c>]) -> FormulaValue<'c>;

/// The formula of an operation, if it has one.
fn formula(op: Op) -> Option<Formula> {
    Some(match op {
        Op::Exp => exp::exp,
        Op::Exp2 => exp::exp2,
        Op::Expm1 => exp::expm1,
        Op::Log => log::log,
        Op::Log2 => log::log2,
        Op::Log10 => log::log10,
        Op::Log1p => log::log1p,
        Op::Sin => trig::sin,
        Op::Cos => trig::cos,
        Op::Tan => trig::tan,
        Op::Asin => inverse::asin,
        Op::Acos => inverse::acos,
        Op::Atan => inverse::atan,
        Op::Sinh => hyperbolic::sinh,
        Op::Cosh => hyperbolic::cosh,
        Op::Tanh => hyperbolic::tanh,
        Op::Asinh => area::asinh,
        Op::Acosh => area::acosh,
        Op::Atanh => area::atanh,
        Op::Cbrt => power::cbrt,
        Op::Pow => power::pow,
        Op::Atan2 => inverse::atan2,
        Op::Hypot => power::hypot,
        _ => return None,
    })
}

/// The straight-line program of a function (see `driver::Method::Lowered`), if it has one.
pub fn program(op: Op, dtype: DType) -> Option<&'static Program> {
    static ALL: ProgramTables = [const { [const { OnceLock::new() }; 256] }; FLOATS.len()];
    found(op, dtype, &ALL, false)
}

/// The program of a function with branches for rare cases. It gives the same bits. It equals the straight-line program
/// if there are no rare cases.
pub fn branching(op: Op, dtype: DType) -> Option<&'static Program> {
    static ALL: ProgramTables = [const { [const { OnceLock::new() }; 256] }; FLOATS.len()];
    found(op, dtype, &ALL, true)
}

/// The dtypes of functions.
const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// Programs by dtype and operation code.
type ProgramTables = [[OnceLock<Program>; 256]; FLOATS.len()];

fn found(
    op: Op,
    dtype: DType,
    all: &'static ProgramTables,
    branches: bool,
) -> Option<&'static Program> {
    let formula = formula(op)?;
    let programs = all.get(FLOATS.iter().position(|float| *float == dtype)?)?;
    let cell = programs.get(op as usize)?;
    Some(cell.get_or_init(|| FormulaBuilder::program(dtype, op.info().arity, branches, formula)))
}
