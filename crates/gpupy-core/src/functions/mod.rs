//! Functions as programs: everything richer than the primitive operations, written once.
//!
//! Owns the table of programs, for each function and float dtype a straight line of exact operations,
//! which gives the same bits on every driver, and the same with what is seldom needed in a branch
//! (`if`). Invariants: a program keeps the bound of its row in `op.rs`; it uses neither loops, nor
//! fused products, nor, for float32, a wider float.
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
use formula_builder::{FormulaBuilder, Val};
use std::sync::OnceLock;

/// A function of values of one program.
type Formula = for<'c> fn(&'c FormulaBuilder, &[Val<'c>]) -> Val<'c>;

/// What computes an operation from simpler ones, if the core knows.
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

/// The straight program of a function (see `driver::Method::Lowered`), or `None` where there is none.
pub fn program(op: Op, dtype: DType) -> Option<&'static Program> {
    static ALL: [ProgramTable; 3] = [const { [const { OnceLock::new() }; 256] }; 3];
    found(op, dtype, &ALL, false)
}

/// The program of a function with branches for what is seldom needed. It has the same bits, and is the
/// straight one where there is nothing of the kind.
pub fn branching(op: Op, dtype: DType) -> Option<&'static Program> {
    static ALL: [ProgramTable; 3] = [const { [const { OnceLock::new() }; 256] }; 3];
    found(op, dtype, &ALL, true)
}

/// Programs by the number of their operation.
type ProgramTable = [OnceLock<Program>; 256];

fn found(
    op: Op,
    dtype: DType,
    [half, single, double]: &'static [ProgramTable; 3],
    branches: bool,
) -> Option<&'static Program> {
    let formula = formula(op)?;
    let programs = match dtype {
        DType::F16 => half,
        DType::F32 => single,
        DType::F64 => double,
        _ => return None,
    };
    let cell = programs.get(op as usize)?;
    Some(cell.get_or_init(|| FormulaBuilder::program(dtype, op.info().arity, branches, formula)))
}
