//! Rewrites of operations while they are recorded, each the same to the bit.
//!
//! Owns the list of rewrites. Invariant: whatever the operands (zeros of either sign, infinities,
//! NaN), the rewritten expression has the bits of the one that was asked for (but for which NaN).
//!
//! Not here: folding of constants (`record.rs`), lowering for a driver (`kernel.rs`).

use crate::op::Op;
use crate::value::{Input, Kind, NodeOp, Operand, Value};
use smallvec::SmallVec;

/// The operation to record in place of `op` on `operands`: the operand of an outer operation, which
/// is given too.
///
/// `min(sqrt(a), sqrt(b))` is `sqrt(min(a, b))`: the root is monotonic and correctly rounded, keeps
/// the sign of zero, and is NaN for what is below zero, which the minimum prefers. It saves a root,
/// and in a chain of minima all but one. (Not for `max`, which would prefer the number.)
pub(crate) fn inner_of_min(op: Op, operands: &[Operand]) -> Option<(Op, SmallVec<[Operand; 3]>)> {
    if op != Op::Min {
        return None;
    }
    let inner = operands.iter().map(pending_root).collect::<Option<SmallVec<[Operand; 3]>>>()?;
    Some((Op::Sqrt, inner))
}

/// Whether a comparison is false whatever the elements: nothing is less or greater than itself.
///
/// Compilers know this too, and go on to drop additions of what they then take for a literal zero,
/// which -0.0 forbids; a constant of ours reaches the device as a parameter.
pub(crate) fn is_never(op: Op, operands: &[Operand]) -> bool {
    matches!(op, Op::Lt | Op::Gt) && matches!(operands, [(a, Some(_)), (b, Some(_))] if a == b)
}

/// The operand of a pending square root that is seen whole.
fn pending_root((input, value): &Operand) -> Option<Operand> {
    let (Input::Whole(_), Some(Value(node))) = (input, value) else { return None };
    let Kind::Expr { op: NodeOp::Apply(Op::Sqrt), inputs } = &node.kind else { return None };
    let operand = Value(node.clone()).state().operands.first()?.clone()?;
    Some((inputs.first()?.clone(), Some(operand)))
}

#[cfg(test)]
mod tests {
    use crate::op::Op;
    use crate::{Scalar, op_eval};

    fn apply(op: Op, args: &[Scalar]) -> f32 {
        op_eval::eval(op, args[0].dtype, args).map_or(f32::NAN, Scalar::as_f32)
    }

    fn check(a: f32, b: f32) {
        let (x, y) = (Scalar::f32(a), Scalar::f32(b));
        let root = |x| Scalar::f32(apply(Op::Sqrt, &[x]));
        let asked = apply(Op::Min, &[root(x), root(y)]);
        let given = apply(Op::Sqrt, &[Scalar::f32(apply(Op::Min, &[x, y]))]);
        let same = asked.to_bits() == given.to_bits() || asked.is_nan() && given.is_nan();
        assert!(same, "min(sqrt({a:e}), sqrt({b:e})) is {asked:e}, rewritten {given:e}");
    }

    #[test]
    fn the_least_root_is_the_root_of_the_least() {
        // Every float16-sized pattern in the upper half of a float32: all exponents, both signs,
        // zeros, subnormals, infinities and NaN, against a ladder of the same.
        let numbers = || (0..=u16::MAX).map(|high| f32::from_bits(u32::from(high) << 16));
        for a in numbers() {
            for b in numbers().step_by(509) {
                check(a, b);
                check(b, a);
            }
        }
        // Neighbours, whose roots may be the same number.
        let mut bits = 0x9e37_79b9u32;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            check(f32::from_bits(bits), f32::from_bits(bits.wrapping_add(bits >> 30)));
        }
    }
}
