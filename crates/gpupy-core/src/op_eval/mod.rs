//! The reference meaning of every scalar operation, on bits, with NumPy 2's semantics.
//!
//! Owns [`function`] and [`eval`]. Invariants: exact operations give NumPy's bits (as on x86-64);
//! functions of float32 are computed in float64 and rounded once, so within 0.51 ULP; nothing here
//! panics, whatever the bits.
//!
//! `table.rs` has the operations and `element.rs` the conversions as closures, of which drivers that evaluate whole
//! rows make loops.
//!
//! Not here: which dtypes an operation takes (`op.rs`), instructions that are not scalar operations
//! (the drivers).

pub mod bfloat16;
pub mod element;
mod order;
pub mod table;
pub mod whole;

pub use order::order;

use crate::dtype::DType;
use crate::op::Op;
use crate::scalar::Scalar;
use element::{Element, cast};
use table::{Visitor, visit};

/// A scalar operation on the bits of up to three operands, each zero-extended; unused ones are
/// ignored.
pub type Function = fn(u64, u64, u64) -> u64;

/// Computes one element, or `None` where the operation does not exist for these dtypes.
///
/// `to` is the wanted dtype of a cast or bitcast, unused elsewhere.
pub fn eval(op: Op, to: DType, args: &[Scalar]) -> Option<Scalar> {
    let mut dtypes = [DType::Bool; 3];
    let mut bits = [0; 3];
    for (i, arg) in args.iter().enumerate().take(3) {
        dtypes[i] = arg.dtype;
        bits[i] = arg.bits;
    }
    let result = op.result_dtype(dtypes.get(..args.len())?, to)?;
    let from = if op == Op::Select { dtypes[1] } else { dtypes[0] };
    Some(Scalar::new(result, function(op, from, to)?(bits[0], bits[1], bits[2])))
}

/// The operation on operands of dtype `from` (of a `select`: its second and third), or `None` where
/// it does not exist. `to` is the wanted dtype of a cast or bitcast, unused elsewhere.
///
/// To evaluate many elements, get the function once and call it for each.
pub fn function(op: Op, from: DType, to: DType) -> Option<Function> {
    match op {
        Op::Cast => cast(from, to, OnBits),
        Op::Bitcast => {
            // A bool is 0 or 1 and nothing else, so other bits cannot become one.
            let possible = from.size() == to.size() && (to != DType::Bool || from == to);
            possible.then_some(|a, _, _| a)
        }
        Op::Select => Some(|c, a, b| if c != 0 { a } else { b }),
        _ => visit(op, from, OnBits),
    }
}

/// Makes functions on bits.
struct OnBits;

impl Visitor for OnBits {
    type Out = Function;

    fn unary<A: Element, R: Element, F: Fn(A) -> R + Copy + 'static>(self, _: F) -> Function {
        |a, _, _| {
            // SAFETY: a value of the type was given.
            let f = unsafe { conjured::<F>() };
            f(A::of(a)).bits()
        }
    }

    fn binary<A: Element, R: Element, F: Fn(A, A) -> R + Copy + 'static>(self, _: F) -> Function {
        |a, b, _| {
            // SAFETY: a value of the type was given.
            let f = unsafe { conjured::<F>() };
            f(A::of(a), A::of(b)).bits()
        }
    }
}

/// A value of a closure type that captures nothing; so functions without data can call it.
///
/// # Safety
/// A value of the type exists.
#[inline(always)]
pub unsafe fn conjured<F: Copy + 'static>() -> F {
    const { assert!(size_of::<F>() == 0, "the closure captures something") };
    // SAFETY: a type without size has no bits that could be wrong, and the caller has one.
    unsafe { std::ptr::dangling::<F>().read() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn f(op: Op, args: &[f32]) -> f32 {
        let args: Vec<_> = args.iter().map(|x| Scalar::f32(*x)).collect();
        eval(op, DType::F32, &args).unwrap().as_f32()
    }

    fn i(op: Op, args: &[i32]) -> i32 {
        let args: Vec<_> = args.iter().map(|x| Scalar::i32(*x)).collect();
        eval(op, DType::I32, &args).unwrap().as_i32()
    }

    #[test]
    fn minimum_and_maximum_keep_the_first_nan_and_the_second_zero() {
        assert!(f(Op::Min, &[f32::NAN, 1.0]).is_nan());
        assert!(f(Op::Max, &[1.0, f32::NAN]).is_nan());
        assert_eq!(f(Op::Min, &[0.0, -0.0]).to_bits(), (-0.0f32).to_bits());
        assert_eq!(f(Op::Min, &[-0.0, 0.0]).to_bits(), 0.0f32.to_bits());
    }

    #[test]
    fn integer_division_is_numpys() {
        assert_eq!(i(Op::FloorDiv, &[-7, 2]), -4);
        assert_eq!(i(Op::FloorDiv, &[7, 0]), 0);
        assert_eq!(i(Op::FloorDiv, &[i32::MIN, -1]), i32::MIN);
        assert_eq!(i(Op::Mod, &[-7, 2]), 1);
        assert_eq!(i(Op::Mod, &[7, -2]), -1);
        assert_eq!(i(Op::Mod, &[i32::MIN, -1]), 0);
    }

    #[test]
    fn shifts_out_of_range_leave_zero_or_the_sign() {
        assert_eq!(i(Op::Shl, &[1, 32]), 0);
        assert_eq!(i(Op::Shl, &[1, -1]), 0);
        assert_eq!(i(Op::Shr, &[-8, 40]), -1);
        assert_eq!(i(Op::Shr, &[8, -1]), 0);
    }

    #[test]
    fn casts_that_do_not_fit_are_those_of_x86() {
        let to = |x: f32, dtype| eval(Op::Cast, dtype, &[Scalar::f32(x)]).unwrap();
        assert_eq!(to(-1.9, DType::I32).as_i32(), -1);
        assert_eq!(to(3e9, DType::I32).as_i32(), i32::MIN);
        assert_eq!(to(f32::NAN, DType::I32).as_i32(), i32::MIN);
        assert_eq!(to(-1.0, DType::U32).as_u32(), u32::MAX);
        assert_eq!(to(3e9, DType::U32).as_u32(), 3_000_000_000);
        assert_eq!(to(300.0, DType::U8).bits, 44);
        assert_eq!(to(2f32.powi(63), DType::U64).bits, 1 << 63);
        assert!(to(f32::NAN, DType::Bool).as_bool());
        assert_eq!(to(-0.0, DType::Bool).bits, 0);
    }

    #[test]
    fn what_numpy_refuses_for_bools_does_not_exist() {
        for op in [Op::Neg, Op::Sub, Op::Sign, Op::Shl, Op::FloorDiv] {
            let args = [Scalar::bool(true); 2];
            assert_eq!(eval(op, DType::Bool, &args[..op.info().arity as usize]), None);
        }
    }

    #[test]
    fn functions_are_rounded_from_float64() {
        assert_eq!(f(Op::Sin, &[1e6]), (1e6f64).sin() as f32);
        assert_eq!(f(Op::Fmod, &[-7.5, 2.0]), -1.5);
        assert_eq!(f(Op::Pow, &[2.0, 0.5]), 2f32.sqrt());
        assert_eq!(f(Op::Hypot, &[3e38, 3e38]), f32::INFINITY);
    }
}
