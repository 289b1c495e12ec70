//! Algebraic simplification while operations are recorded: each rewrite gives the same bits.
//!
//! Owns the matcher of the rules in `rewrite_rules.rs`, and constant folding. Invariant: where no rule fits, nothing is
//! allocated, and the operation is recorded as it was asked for.
//!
//! Not here: the rules, and why they hold (`rewrite_rules.rs`), zeros of an unknown sign (`zeros.rs`), lowering for a
//! driver (`lowering.rs`).

mod conditions;
mod rewrite_rules;
#[cfg(test)]
mod tests;
mod zeros;

use crate::graph::value::{Input, NodeOp, Operand, Value, ValueKind};
use conditions::{Dtypes, number};
use gpupy_core::op::{Op, Trait};
use gpupy_core::op_eval;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Scalar};
use rewrite_rules::{FIRST, OPERANDS, RewriteRule, RewriteTerm, rows_of};
use smallvec::SmallVec;
use zeros::KnownResult;

type MatchedOperands = SmallVec<[Operand; 3]>;

/// The operands that the names of a rule stand for.
struct RowBindings {
    operands: [Option<Operand>; OPERANDS],
    made: Option<Scalar>,
    dtypes: Dtypes,
}

/// Makes expressions of operations, the simplest that have the same bits.
pub(crate) trait Rewrite: Sized {
    /// The value of an operation, just as it is asked for.
    fn made(&self, dtype: DType, shape: Shape, op: NodeOp, operands: MatchedOperands) -> Value;

    /// An operation on operands that were broadcast to a shape, as an operand of that shape: a
    /// scalar where it is known, something simpler with the same bits where there is such, otherwise
    /// the operation.
    fn simplest(
        &self,
        op: Op,
        dtype: DType,
        shape: &Shape,
        mut operands: MatchedOperands,
    ) -> Operand {
        if let Some(scalar) = fold(op, dtype, &operands) {
            return (Input::Scalar(scalar), None);
        }
        if op.info().has(Trait::Symmetric)
            && matches!(operands.first(), Some((Input::Scalar(_), _)))
        {
            operands.swap(0, 1);
        }
        let known = zeros::known(op, dtype, &operands);
        if let Some(KnownResult::Number(scalar)) = known {
            return (Input::Scalar(scalar), None);
        }
        let rows = rows_of(op).iter();
        for row in rows {
            if let Some(bound) = matched(row, dtype, shape, &operands)
                && let Some(simpler) = rewritten(self, &row.to, dtype, shape, &bound)
            {
                return simpler;
            }
        }
        let recorded = self.recorded(op, dtype, shape.clone(), operands);
        if let (Some(KnownResult::Zeros), Some(value)) = (known, &recorded.1) {
            value.mark_zeros();
        }
        recorded
    }

    /// An operation just as it is asked for.
    fn recorded(&self, op: Op, dtype: DType, shape: Shape, operands: MatchedOperands) -> Operand {
        let value = self.made(dtype, shape, NodeOp::Apply(op), operands);
        (Input::Whole(value.id()), Some(value))
    }
}

/// The result of a rule; `dtype` is the result's.
fn rewritten(
    to: &impl Rewrite,
    term: &RewriteTerm,
    dtype: DType,
    shape: &Shape,
    bound: &RowBindings,
) -> Option<Operand> {
    match term {
        RewriteTerm::Operand(which) => bound.operands[*which].clone(),
        RewriteTerm::Again => None,
        RewriteTerm::Number(value) => Some((Input::Scalar(number(*value, dtype)?), None)),
        RewriteTerm::Made | RewriteTerm::Making(_) => Some((Input::Scalar(bound.made?), None)),
        RewriteTerm::Of(op, args) => {
            // Numbers beside an operand are of its dtype.
            let args: Option<MatchedOperands> =
                args.iter().map(|arg| rewritten(to, arg, bound.dtypes.x, shape, bound)).collect();
            Some(to.simplest(*op, dtype, shape, args?))
        }
    }
}

/// The names of a row, when it stands for the operation on these operands.
fn matched(
    row: &RewriteRule,
    dtype: DType,
    shape: &Shape,
    operands: &[Operand],
) -> Option<RowBindings> {
    // Most rows fail here, before anything is held.
    let may_be = |i: usize, term: &RewriteTerm| match term {
        RewriteTerm::Again => i > 0 && operands[i - 1].0 == operands[i].0,
        term => may_be(term, &operands[i], shape),
    };
    if !row.from.iter().enumerate().all(|(i, term)| may_be(i, term)) {
        return None;
    }
    let mut bound = RowBindings {
        operands: [const { None }; OPERANDS],
        made: None,
        dtypes: Dtypes { x: dtype, inner: dtype_of(operands.first()?), result: dtype },
    };
    for (term, operand) in row.from.iter().zip(operands) {
        match term {
            RewriteTerm::Operand(which) => bound.operands[*which] = Some(operand.clone()),
            RewriteTerm::Making(make) => bound.made = make(scalar_of(operand)?),
            RewriteTerm::Of(_, terms) => {
                let inner = operands_of(operand.1.as_ref()?)?;
                for (term, operand) in terms.iter().zip(inner) {
                    let RewriteTerm::Operand(which) = term else { return None };
                    bound.operands[*which] = Some(operand);
                }
            }
            RewriteTerm::Again | RewriteTerm::Number(_) | RewriteTerm::Made => {}
        }
    }
    if let Some(x) = &bound.operands[FIRST] {
        bound.dtypes.x = dtype_of(x);
    }
    (row.when)(bound.dtypes).then_some(bound)
}

/// Whether an operand may match a term, as far as can be told without its own operands.
fn may_be(term: &RewriteTerm, operand: &Operand, shape: &Shape) -> bool {
    match term {
        RewriteTerm::Operand(_) => true,
        RewriteTerm::Number(value) => {
            scalar_of(operand).is_some_and(|scalar| number(*value, scalar.dtype) == Some(scalar))
        }
        RewriteTerm::Making(make) => scalar_of(operand).and_then(make).is_some(),
        RewriteTerm::Again | RewriteTerm::Made => false,
        RewriteTerm::Of(op, _) => match operand {
            // Its own operands have its shape, and must be seen as they are.
            (Input::Whole(_), Some(value)) => {
                matches!(&value.0.kind, ValueKind::Expr { op: NodeOp::Apply(o), .. } if o == op)
                    && value.0.shape == *shape
                    && !value.is_computed()
            }
            _ => false,
        },
    }
}

fn scalar_of(operand: &Operand) -> Option<Scalar> {
    match operand.0 {
        Input::Scalar(scalar) => Some(scalar),
        Input::Whole(_) | Input::View(..) => None,
    }
}

fn dtype_of(operand: &Operand) -> DType {
    match operand {
        (Input::Scalar(scalar), _) => scalar.dtype,
        (_, Some(value)) => value.dtype(),
        // Only a scalar lacks a value.
        (_, None) => DType::Bool,
    }
}

/// The operands of an expression, unless it was computed meanwhile and let them go.
fn operands_of(value: &Value) -> Option<MatchedOperands> {
    let ValueKind::Expr { inputs, .. } = &value.0.kind else { return None };
    let state = value.state();
    let values = (state.operands.len() == inputs.len()).then_some(&state.operands)?;
    Some(inputs.iter().cloned().zip(values.iter().cloned()).collect())
}

/// The value of an operation whose operands are all known scalars.
fn fold(op: Op, dtype: DType, operands: &[Operand]) -> Option<Scalar> {
    // Functions differ between devices within their bound, so only exact operations are folded:
    // the result must not depend on where it is computed.
    if operands.iter().any(|operand| operand.1.is_some()) || op.info().ulp != 0.0 {
        return None;
    }
    let scalars: SmallVec<[Scalar; 3]> = operands.iter().map(scalar_of).collect::<Option<_>>()?;
    op_eval::eval(op, dtype, &scalars)
}
