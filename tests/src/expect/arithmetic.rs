//! The expected results of scalar operations: plain arithmetic in wider types, rounded once.
//!
//! Owns [`apply`]. Integers are computed in 128 bits and wrapped, float32 in float64 and rounded, which gives
//! the correctly rounded result for + - * / sqrt (53 ≥ 2·24 + 2 bits). Invariant: no code of the core is used,
//! so that a mistake there cannot hide.
//!
//! Not here: programs (`oracle.rs`), tolerances (`compare.rs`).

use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// The operation's result, or `None` where this suite does not define it (a dtype that
/// no driver has).
pub fn apply(op: Op, to: DType, args: &[Scalar]) -> Option<Scalar> {
    let a = *args.first()?;
    let b = args.get(1).copied().unwrap_or(a);
    match op {
        Op::Cast => return cast(a, to),
        Op::Bitcast => return Some(Scalar::new(to, a.bits)),
        Op::Select => return Some(if a.as_bool() { b } else { *args.get(2)? }),
        _ => {}
    }
    match a.dtype {
        DType::Bool => on_bools(op, a.as_bool(), b.as_bool()),
        DType::I32 => on_integers(op, a.dtype, a.as_i32().into(), b.as_i32().into()),
        DType::U32 => on_integers(op, a.dtype, a.as_u32().into(), b.as_u32().into()),
        DType::F32 => on_floats(op, a.as_f32(), b.as_f32()),
        _ => None,
    }
}

fn cast(a: Scalar, to: DType) -> Option<Scalar> {
    // Every value of our dtypes is a float64 exactly.
    let wide = match a.dtype {
        DType::Bool => f64::from(u8::from(a.as_bool())),
        DType::I32 => f64::from(a.as_i32()),
        DType::U32 => f64::from(a.as_u32()),
        DType::F32 => f64::from(a.as_f32()),
        _ => return None,
    };
    Some(match to {
        DType::Bool => Scalar::bool(wide != 0.0),
        DType::F32 => Scalar::f32(wide as f32),
        DType::I32 | DType::U32 if a.dtype != DType::F32 => Scalar::new(to, wide as i64 as u64),
        // A float that does not fit gives the least integer, as x86-64 does.
        DType::I32 if wide.trunc() >= -2147483648.0 && wide.trunc() <= 2147483647.0 => {
            Scalar::i32(wide as i32)
        }
        DType::I32 => Scalar::i32(i32::MIN),
        // By way of int64, whose least has no low bits.
        DType::U32 if wide.abs() < 9223372036854775808.0 => Scalar::u32(wide as i64 as u32),
        DType::U32 => Scalar::u32(0),
        _ => return None,
    })
}

fn on_bools(op: Op, a: bool, b: bool) -> Option<Scalar> {
    Some(Scalar::bool(match op {
        Op::Abs => a,
        Op::Not => !a,
        Op::Add | Op::Or | Op::Max => a || b,
        Op::Mul | Op::And | Op::Min => a && b,
        Op::Xor | Op::Ne => a != b,
        Op::Eq => a == b,
        Op::Lt => !a && b,
        Op::Le => !a || b,
        Op::Gt => a && !b,
        Op::Ge => a || !b,
        _ => return None,
    }))
}

fn on_integers(op: Op, dtype: DType, a: i128, b: i128) -> Option<Scalar> {
    let floor_div = |a: i128, b: i128| {
        let towards_zero = a / b;
        if towards_zero * b != a && (a < 0) != (b < 0) { towards_zero - 1 } else { towards_zero }
    };
    let value = match op {
        Op::Neg => -a,
        Op::Abs => a.abs(),
        Op::Sign => a.signum(),
        Op::Not => -1 - a,
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::FloorDiv | Op::Mod if b == 0 => 0,
        Op::FloorDiv => floor_div(a, b),
        Op::Mod => a - floor_div(a, b) * b,
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl if (0..32).contains(&b) => a << b,
        Op::Shl => 0,
        Op::Shr if (0..32).contains(&b) => a >> b,
        Op::Shr => -i128::from(a < 0),
        Op::Eq => return Some(Scalar::bool(a == b)),
        Op::Ne => return Some(Scalar::bool(a != b)),
        Op::Lt => return Some(Scalar::bool(a < b)),
        Op::Le => return Some(Scalar::bool(a <= b)),
        Op::Gt => return Some(Scalar::bool(a > b)),
        Op::Ge => return Some(Scalar::bool(a >= b)),
        _ => return None,
    };
    Some(Scalar::new(dtype, value as u64))
}

fn on_floats(op: Op, a: f32, b: f32) -> Option<Scalar> {
    const SIGN: u32 = 1 << 31;
    let (x, y) = (f64::from(a), f64::from(b));
    let bits = |bits: u32| Some(Scalar::f32(f32::from_bits(bits)));
    let value = match op {
        Op::Neg => return bits(a.to_bits() ^ SIGN),
        Op::Abs => return bits(a.to_bits() & !SIGN),
        Op::Copysign => return bits(a.to_bits() & !SIGN | b.to_bits() & SIGN),
        Op::IsNan => return Some(Scalar::bool(a.is_nan())),
        Op::IsInf => return Some(Scalar::bool(a.abs() == f32::INFINITY)),
        Op::IsFinite => return Some(Scalar::bool(a.abs() < f32::INFINITY)),
        Op::SignBit => return Some(Scalar::bool(a.to_bits() >= SIGN)),
        Op::Eq => return Some(Scalar::bool(x == y)),
        Op::Ne => return Some(Scalar::bool(x != y)),
        Op::Lt => return Some(Scalar::bool(x < y)),
        Op::Le => return Some(Scalar::bool(x <= y)),
        Op::Gt => return Some(Scalar::bool(x > y)),
        Op::Ge => return Some(Scalar::bool(x >= y)),
        Op::Min | Op::Max => {
            let first = a.is_nan() || if op == Op::Min { a < b } else { a > b };
            return Some(Scalar::f32(if first { a } else { b }));
        }
        Op::Sign => match x.partial_cmp(&0.0) {
            Some(order) => f64::from(order as i8),
            None => x,
        },
        Op::Sqrt => x.sqrt(),
        Op::Floor => x.floor(),
        Op::Ceil => x.ceil(),
        Op::Trunc => x.trunc(),
        Op::Rint => x.round_ties_even(),
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::Div => x / y,
        Op::Fmod => x % y,
        Op::Exp => x.exp(),
        Op::Exp2 => x.exp2(),
        Op::Expm1 => x.exp_m1(),
        Op::Log => x.ln(),
        Op::Log2 => x.log2(),
        Op::Log10 => x.log10(),
        Op::Log1p => x.ln_1p(),
        Op::Sin => x.sin(),
        Op::Cos => x.cos(),
        Op::Tan => x.tan(),
        Op::Asin => x.asin(),
        Op::Acos => x.acos(),
        Op::Atan => x.atan(),
        Op::Sinh => x.sinh(),
        Op::Cosh => x.cosh(),
        Op::Tanh => x.tanh(),
        Op::Asinh => x.asinh(),
        Op::Acosh => x.acosh(),
        Op::Atanh => x.atanh(),
        Op::Cbrt => x.cbrt(),
        Op::Pow => x.powf(y),
        Op::Atan2 => x.atan2(y),
        Op::Hypot => x.hypot(y),
        _ => return None,
    };
    Some(Scalar::f32(value as f32))
}
