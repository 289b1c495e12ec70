//! Sample numbers for probes, and the judgement of results.
//!
//! Owns [`Verdict`]. Invariant: any wrong bit is noticed, except in NaN. Not here: the operations (`mod.rs`).

use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar, op_eval};

/// The number of sample pairs.
pub const PAIRS: usize = 1024;

/// All pairs of special numbers, then pseudo-random ones.
pub fn pairs(dtype: DType) -> impl Iterator<Item = (u64, u64)> {
    let special = special(dtype);
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let bits = state >> 16;
        match dtype {
            // From numbers below 1 to numbers without a fraction.
            DType::F32 => (120 + (bits & 31)) << 23 | bits >> 8 & 0x7f_ffff,
            DType::F64 => (1013 + (bits & 63)) << 52 | (state ^ bits << 24) >> 12,
            _ => bits >> (bits & 15) & 0xffff_ffff,
        }
    };
    let squares: Vec<(u64, u64)> =
        special.iter().flat_map(|x| special.iter().map(|y| (*x, *y))).collect();
    squares.into_iter().chain(std::iter::from_fn(move || Some((next(), next())))).take(PAIRS)
}

fn special(dtype: DType) -> Vec<u64> {
    const FLOATS: [f64; 10] =
        [0.0, -0.0, 1.0, -1.5, 3.0, 2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e30];
    match dtype {
        DType::F32 => {
            let tiny = [1e-45, 1e-40, f32::MIN_POSITIVE / 2.0, f32::MIN_POSITIVE];
            let all = FLOATS.into_iter().map(|x| x as f32).chain(tiny);
            all.map(|x| u64::from(x.to_bits())).collect()
        }
        DType::F64 => {
            let tiny = [5e-324, 1e-310, f64::MIN_POSITIVE / 2.0, f64::MIN_POSITIVE];
            FLOATS.into_iter().chain(tiny).map(f64::to_bits).collect()
        }
        _ => [0, 1, 2, 3, 7, 31, 32, 33, 40, i32::MAX, i32::MIN, -1, -2, -7, -32]
            .map(|x: i32| u64::from(x as u32))
            .to_vec(),
    }
}

fn is_nan(x: Scalar) -> bool {
    match x.dtype {
        DType::F32 => x.as_f32().is_nan(),
        DType::F64 => f64::from_bits(x.bits).is_nan(),
        _ => false,
    }
}

/// True for subnormal numbers and the least normal one.
fn is_small(x: Scalar) -> bool {
    match x.dtype {
        DType::F32 => x.as_f32() != 0.0 && x.as_f32().abs() <= f32::MIN_POSITIVE,
        DType::F64 => {
            let x = f64::from_bits(x.bits);
            x != 0.0 && x.abs() <= f64::MIN_POSITIVE
        }
        _ => false,
    }
}

/// How an operation's results compare with the table.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All results are equal.
    Right,
    /// Results differ only for subnormal operands or results.
    Flushes,
    /// Other results differ too.
    Wrong,
}

/// Compares the results of an operation on sample pairs with the table's.
pub fn judge(op: Op, dtype: DType, xs: &[u64], ys: &[u64], got: &[u64]) -> Verdict {
    let mut verdict = Verdict::Right;
    for ((x, y), got) in xs.iter().zip(ys).zip(got) {
        let args = [Scalar::new(dtype, *x), Scalar::new(dtype, *y)];
        let args = &args[..usize::from(op.info().arity)];
        let Some(wanted) = op_eval::eval(op, dtype, args) else { continue };
        let both_nan = is_nan(wanted) && is_nan(Scalar::new(wanted.dtype, *got));
        if *got == wanted.bits || both_nan {
            continue;
        }
        // Some devices also flush a result that is rounded up to the least normal number.
        if !args.iter().chain([&wanted]).any(|s| is_small(*s)) {
            return Verdict::Wrong;
        }
        verdict = Verdict::Flushes;
    }
    verdict
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::TRIED;
    use super::*;

    /// Judges the table's results after `change`.
    fn judged(op: Op, dtype: DType, change: impl Fn(u64) -> u64) -> Verdict {
        let (xs, ys): (Vec<u64>, Vec<u64>) = pairs(dtype).unzip();
        let of = |(x, y): (&u64, &u64)| {
            let args = [Scalar::new(dtype, *x), Scalar::new(dtype, *y)];
            let args = &args[..usize::from(op.info().arity)];
            change(op_eval::eval(op, dtype, args).unwrap().bits)
        };
        let got: Vec<u64> = xs.iter().zip(&ys).map(of).collect();
        judge(op, dtype, &xs, &ys, &got)
    }

    #[test]
    fn what_is_right_is_found_right_and_the_least_mistake_is_found() {
        for (dtype, ops) in TRIED {
            for op in ops {
                assert_eq!(judged(*op, dtype, |bits| bits), Verdict::Right, "{op:?} {dtype}");
                assert_eq!(judged(*op, dtype, |bits| bits ^ 1), Verdict::Wrong, "{op:?} {dtype}");
            }
        }
    }

    #[test]
    fn flushing_is_no_mistake() {
        let flush = |bits: u64| if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits };
        assert_eq!(judged(Op::Add, DType::F32, flush), Verdict::Flushes);
        assert_eq!(judged(Op::Div, DType::F32, flush), Verdict::Flushes);
    }
}
