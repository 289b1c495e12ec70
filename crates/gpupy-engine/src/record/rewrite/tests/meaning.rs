//! The values of terms, by the meaning of their operations; also on a device that flushes subnormal numbers to zero.
//!
//! Owns [`CompiledTerm`] and [`SubnormalMode`].
//!
//! Not here: which terms and operands (`cases.rs`).

use super::super::conditions::{Dtypes, number};
use super::super::rewrite_rules::{OPERANDS, RewriteTerm};
use super::cases::dtype_of;
use gpupy_core::op::Op;
use gpupy_core::op_eval::{self, Function};
use gpupy_core::{DType, Scalar};
use std::collections::BTreeSet;

impl RewriteTerm {
    /// Whether the term's operation is this one.
    pub(super) fn is_of(&self, wanted: Op) -> bool {
        matches!(self, RewriteTerm::Of(op, _) if *op == wanted)
    }
}

/// A term that is ready to be computed.
pub(super) enum CompiledTerm {
    Operand(usize),
    Known(u64),
    Call { op: Op, from: DType, to: DType, function: Function, args: Vec<CompiledTerm> },
}

/// `result` is the dtype of the term; `scalars` are the one that is met and the one that is made.
pub(super) fn code(
    term: &RewriteTerm,
    of: Dtypes,
    result: DType,
    scalars: Option<(Scalar, Scalar)>,
) -> CompiledTerm {
    match term {
        RewriteTerm::Operand(which) => CompiledTerm::Operand(*which),
        RewriteTerm::Again => CompiledTerm::Operand(0),
        RewriteTerm::Number(value) => CompiledTerm::Known(number(*value, result).unwrap().bits),
        RewriteTerm::Making(_) => CompiledTerm::Known(scalars.unwrap().0.bits),
        RewriteTerm::Made => CompiledTerm::Known(scalars.unwrap().1.bits),
        RewriteTerm::Of(op, args) => {
            // The dtype between two casts; the dtype of a select's choices.
            let from = match (op, &args[0]) {
                (Op::Cast, RewriteTerm::Of(..)) => of.inner,
                (Op::Select, _) => result,
                (_, first) => dtype_of(first, of.x).unwrap(),
            };
            let inner = |arg: &RewriteTerm| match arg {
                RewriteTerm::Of(Op::Cast, _) => of.inner,
                RewriteTerm::Of(..) => dtype_of(arg, of.x).unwrap(),
                _ => from,
            };
            let function = op_eval::function(*op, from, result).unwrap();
            let args = args.iter().map(|arg| code(arg, of, inner(arg), scalars)).collect();
            CompiledTerm::Call { op: *op, from, to: result, function, args }
        }
    }
}

impl CompiledTerm {
    pub(super) fn compute(&self, operands: [u64; OPERANDS]) -> u64 {
        match self {
            CompiledTerm::Operand(which) => operands[*which],
            CompiledTerm::Known(bits) => *bits,
            CompiledTerm::Call { function, args, .. } => {
                let arg = |i: usize| args.get(i).map_or(0, |arg| arg.compute(operands));
                function(arg(0), arg(1), arg(2))
            }
        }
    }

    /// All that a device may give.
    pub(super) fn outcomes(
        &self,
        device: SubnormalMode,
        operands: [u64; OPERANDS],
    ) -> BTreeSet<u64> {
        let CompiledTerm::Call { op, from, to, function, args } = self else {
            return BTreeSet::from([self.compute(operands)]);
        };
        let rounds = !matches!(op, Op::Neg | Op::Abs | Op::Min | Op::Max);
        let mut given: Vec<BTreeSet<u64>> =
            args.iter().map(|a| a.outcomes(device, operands)).collect();
        given.resize(3, BTreeSet::from([0]));
        let seen = |set: &BTreeSet<u64>| match op {
            Op::Select => set.clone(),
            _ => set.iter().flat_map(|x| device.seen(*from, *x)).collect(),
        };
        let mut outcomes = BTreeSet::new();
        for (a, b) in given[0].iter().flat_map(|a| given[1].iter().map(move |b| (*a, *b))) {
            let one = |x| seen(&BTreeSet::from([x]));
            for (x, y) in one(a).into_iter().flat_map(|x| one(b).into_iter().map(move |y| (x, y))) {
                for c in &given[2] {
                    let result = function(x, y, *c);
                    let moved = *op == Op::Select || !to.is_float();
                    outcomes.extend(if moved {
                        vec![result]
                    } else {
                        device.given(*to, result, rounds)
                    });
                }
                // These may compare what they see and give what there was.
                let less = match op {
                    Op::Min => Op::Lt,
                    Op::Max => Op::Gt,
                    _ => continue,
                };
                let first = op_eval::function(less, *from, DType::Bool).unwrap()(x, y, 0) != 0;
                outcomes.insert(if first || is_nan(*from, x) { a } else { b });
            }
        }
        outcomes
    }
}

/// How a device treats subnormal numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum SubnormalMode {
    /// Takes them for zero wherever it likes, which is all that a driver promises.
    Free,
    /// Does the same in all operations: whether it sees those of operands, and gives those of
    /// results.
    Steady { sees: bool, gives: bool },
}

impl SubnormalMode {
    /// The bits of an operand that an operation may see.
    pub(super) fn seen(self, dtype: DType, bits: u64) -> Vec<u64> {
        let sees = match self {
            SubnormalMode::Free => None,
            SubnormalMode::Steady { sees, .. } => Some(sees),
        };
        SubnormalMode::flushed(sees, dtype, bits, is_subnormal(dtype, bits))
    }

    /// The bits that a result may have; it may have been rounded up to the least normal number.
    pub(super) fn given(self, dtype: DType, bits: u64, rounds: bool) -> Vec<u64> {
        let gives = match self {
            SubnormalMode::Free => None,
            SubnormalMode::Steady { gives, .. } => Some(gives),
        };
        let least = rounds && bits & !sign_bit(dtype) == 1 << digits(dtype);
        let gives = if least { gives.filter(|gives| *gives) } else { gives };
        SubnormalMode::flushed(gives, dtype, bits, least || is_subnormal(dtype, bits))
    }

    /// A number, or zero of either sign where it is small; `keeps` says which, or both.
    pub(super) fn flushed(keeps: Option<bool>, dtype: DType, bits: u64, small: bool) -> Vec<u64> {
        match keeps {
            _ if !small => vec![bits],
            Some(true) => vec![bits],
            Some(false) => vec![0, sign_bit(dtype)],
            None => vec![bits, 0, sign_bit(dtype)],
        }
    }
}

/// Stored bits of a float's mantissa.
pub(super) fn digits(dtype: DType) -> u32 {
    dtype.mantissa()
}

pub(super) fn sign_bit(dtype: DType) -> u64 {
    1 << (dtype.size() * 8 - 1)
}

pub(super) fn is_nan(dtype: DType, bits: u64) -> bool {
    let infinity = (sign_bit(dtype) - 1) & !((1 << digits(dtype)) - 1);
    dtype.is_float() && bits & (sign_bit(dtype) - 1) > infinity
}

pub(super) fn is_subnormal(dtype: DType, bits: u64) -> bool {
    let size = bits & (sign_bit(dtype) - 1);
    dtype.is_float() && size != 0 && size < 1 << digits(dtype)
}

/// Whether a result is right: the bits, another NaN, or within the bound of a function.
pub(super) fn is_right(op: Op, dtype: DType, asked: u64, given: u64) -> bool {
    if asked == given || is_nan(dtype, asked) && is_nan(dtype, given) {
        return true;
    }
    let bound = op.info().ulp as u64;
    bound > 0 && !is_nan(dtype, asked) && !is_nan(dtype, given) && asked.abs_diff(given) <= bound
}
