//! The reference meaning of every scalar operation, on bits, with NumPy 2's semantics.
//!
//! Owns [`function`] and [`eval`]. Invariants: exact operations give NumPy's bits (as on x86-64);
//! functions of float32 are computed in float64 and rounded once, so within 0.51 ULP; nothing here
//! panics, whatever the bits.
//!
//! Not here: which dtypes an operation takes (`op.rs`), instructions that are not scalar operations
//! (the drivers).

use crate::dtype::DType;
use crate::op::Op;
use crate::scalar::Scalar;

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
/// Whoever evaluates many elements asks once and calls often.
pub fn function(op: Op, from: DType, to: DType) -> Option<Function> {
    match op {
        Op::Cast => cast(from, to),
        Op::Bitcast => {
            // A bool is 0 or 1 and nothing else, so other bits cannot become one.
            let possible = from.size() == to.size() && (to != DType::Bool || from == to);
            possible.then_some(|a, _, _| a)
        }
        Op::Select => Some(|c, a, b| if c != 0 { a } else { b }),
        _ => match from {
            DType::Bool => of_bool(op),
            DType::I8 => of_int::i8(op),
            DType::I16 => of_int::i16(op),
            DType::I32 => of_int::i32(op),
            DType::I64 => of_int::i64(op),
            DType::U8 => of_int::u8(op),
            DType::U16 => of_int::u16(op),
            DType::U32 => of_int::u32(op),
            DType::U64 => of_int::u64(op),
            DType::F32 => of_float::f32(op),
            DType::F64 => of_float::f64(op),
            DType::F16 | DType::C64 | DType::C128 => None,
        },
    }
}

/// A Rust type whose values are elements.
trait Element: Copy {
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn wide(self) -> Wide;
    fn narrow(wide: Wide) -> Self;
}

/// A value on its way from one dtype to another, without loss.
enum Wide {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

fn of_bool(op: Op) -> Option<Function> {
    Some(match op {
        Op::Abs => |a, _, _| a,
        Op::Not => |a, _, _| a ^ 1,
        Op::Add | Op::Max | Op::Or => |a, b, _| a | b,
        Op::Mul | Op::Min | Op::And => |a, b, _| a & b,
        Op::Xor | Op::Ne => |a, b, _| a ^ b,
        Op::Eq => |a, b, _| a ^ b ^ 1,
        Op::Lt => |a, b, _| u64::from(a < b),
        Op::Le => |a, b, _| u64::from(a <= b),
        Op::Gt => |a, b, _| u64::from(a > b),
        Op::Ge => |a, b, _| u64::from(a >= b),
        _ => return None,
    })
}

macro_rules! unary {
    ($t:ident, |$x:ident| $body:expr) => {
        |a, _, _| {
            let $x = <$t as Element>::of(a);
            Element::bits($body)
        }
    };
}

macro_rules! binary {
    ($t:ident, |$x:ident, $y:ident| $body:expr) => {
        |a, b, _| {
            let ($x, $y) = (<$t as Element>::of(a), <$t as Element>::of(b));
            Element::bits($body)
        }
    };
}

/// One function for each integer type, named after it.
mod of_int {
    use super::{Element, Function, Op};

    macro_rules! ints {
        ($($t:ident)*) => { $(
            #[allow(unused_comparisons)] // unsigned types have no negative values to test for
            pub(super) fn $t(op: Op) -> Option<Function> {
                const WIDTH: u128 = $t::BITS as u128;
                Some(match op {
                    Op::Neg => unary!($t, |x| x.wrapping_neg()),
                    Op::Abs => unary!($t, |x| if x < 0 { x.wrapping_neg() } else { x }),
                    Op::Sign => unary!($t, |x| {
                        // 0 - 1 is the type's -1; unsigned types never get there.
                        if x > 0 { 1 } else if x < 0 { (0 as $t).wrapping_sub(1) } else { 0 }
                    }),
                    Op::Not => unary!($t, |x| !x),
                    Op::Add => binary!($t, |x, y| x.wrapping_add(y)),
                    Op::Sub => binary!($t, |x, y| x.wrapping_sub(y)),
                    Op::Mul => binary!($t, |x, y| x.wrapping_mul(y)),
                    Op::FloorDiv => binary!($t, |x, y| if y == 0 { 0 } else {
                        let inexact = x.wrapping_rem(y) != 0;
                        let down = inexact && (x < 0) != (y < 0);
                        x.wrapping_div(y).wrapping_sub(<$t>::from(down))
                    }),
                    Op::Mod => binary!($t, |x, y| if y == 0 { 0 } else {
                        let rest = x.wrapping_rem(y);
                        if rest != 0 && (rest < 0) != (y < 0) { rest.wrapping_add(y) } else { rest }
                    }),
                    Op::Min => binary!($t, |x, y| if x < y { x } else { y }),
                    Op::Max => binary!($t, |x, y| if x > y { x } else { y }),
                    Op::And => binary!($t, |x, y| x & y),
                    Op::Or => binary!($t, |x, y| x | y),
                    Op::Xor => binary!($t, |x, y| x ^ y),
                    // A negative count is a huge one once it is read as unsigned.
                    Op::Shl => binary!($t, |x, y| if (y as u128) < WIDTH { x << y } else { 0 }),
                    Op::Shr => binary!($t, |x, y| {
                        if (y as u128) < WIDTH { x >> y }
                        else if x < 0 { (0 as $t).wrapping_sub(1) }
                        else { 0 }
                    }),
                    Op::Eq => binary!($t, |x, y| x == y),
                    Op::Ne => binary!($t, |x, y| x != y),
                    Op::Lt => binary!($t, |x, y| x < y),
                    Op::Le => binary!($t, |x, y| x <= y),
                    Op::Gt => binary!($t, |x, y| x > y),
                    Op::Ge => binary!($t, |x, y| x >= y),
                    _ => return None,
                })
            }
        )* };
    }
    ints!(i8 i16 i32 i64 u8 u16 u32 u64);
}

/// One function for each float type, named after it.
mod of_float {
    use super::{Element, Function, Op};

    macro_rules! floats {
        ($($t:ident)*) => { $(
            // `as f64` and back are no conversions for float64, but the rounding for float32.
            #[allow(clippy::unnecessary_cast)]
            pub(super) fn $t(op: Op) -> Option<Function> {
                macro_rules! via {
                    ($f:ident) => { unary!($t, |x| (x as f64).$f() as $t) };
                    ($f:ident, 2) => { binary!($t, |x, y| (x as f64).$f(y as f64) as $t) };
                }
                Some(match op {
                    Op::Neg => unary!($t, |x| -x),
                    Op::Abs => unary!($t, |x| x.abs()),
                    Op::Sign => unary!($t, |x| {
                        if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else if x == 0.0 { 0.0 } else { x }
                    }),
                    Op::Sqrt => unary!($t, |x| x.sqrt()),
                    Op::Floor => unary!($t, |x| x.floor()),
                    Op::Ceil => unary!($t, |x| x.ceil()),
                    Op::Trunc => unary!($t, |x| x.trunc()),
                    Op::Rint => unary!($t, |x| x.round_ties_even()),
                    Op::IsNan => unary!($t, |x| x.is_nan()),
                    Op::IsInf => unary!($t, |x| x.is_infinite()),
                    Op::IsFinite => unary!($t, |x| x.is_finite()),
                    Op::SignBit => unary!($t, |x| x.is_sign_negative()),
                    Op::Exp => via!(exp),
                    Op::Exp2 => via!(exp2),
                    Op::Expm1 => via!(exp_m1),
                    Op::Log => via!(ln),
                    Op::Log2 => via!(log2),
                    Op::Log10 => via!(log10),
                    Op::Log1p => via!(ln_1p),
                    Op::Sin => via!(sin),
                    Op::Cos => via!(cos),
                    Op::Tan => via!(tan),
                    Op::Asin => via!(asin),
                    Op::Acos => via!(acos),
                    Op::Atan => via!(atan),
                    Op::Sinh => via!(sinh),
                    Op::Cosh => via!(cosh),
                    Op::Tanh => via!(tanh),
                    Op::Add => binary!($t, |x, y| x + y),
                    Op::Sub => binary!($t, |x, y| x - y),
                    Op::Mul => binary!($t, |x, y| x * y),
                    Op::Div => binary!($t, |x, y| x / y),
                    Op::Min => binary!($t, |x, y| if x.is_nan() || x < y { x } else { y }),
                    Op::Max => binary!($t, |x, y| if x.is_nan() || x > y { x } else { y }),
                    Op::Copysign => binary!($t, |x, y| x.copysign(y)),
                    Op::Pow => via!(powf, 2),
                    Op::Atan2 => via!(atan2, 2),
                    Op::Fmod => binary!($t, |x, y| x % y),
                    Op::Hypot => via!(hypot, 2),
                    Op::Eq => binary!($t, |x, y| x == y),
                    Op::Ne => binary!($t, |x, y| x != y),
                    Op::Lt => binary!($t, |x, y| x < y),
                    Op::Le => binary!($t, |x, y| x <= y),
                    Op::Gt => binary!($t, |x, y| x > y),
                    Op::Ge => binary!($t, |x, y| x >= y),
                    _ => return None,
                })
            }
        )* };
    }
    floats!(f32 f64);
}

fn cast(from: DType, to: DType) -> Option<Function> {
    Some(match from {
        DType::Bool => cast_from::<bool>(to)?,
        DType::I8 => cast_from::<i8>(to)?,
        DType::I16 => cast_from::<i16>(to)?,
        DType::I32 => cast_from::<i32>(to)?,
        DType::I64 => cast_from::<i64>(to)?,
        DType::U8 => cast_from::<u8>(to)?,
        DType::U16 => cast_from::<u16>(to)?,
        DType::U32 => cast_from::<u32>(to)?,
        DType::U64 => cast_from::<u64>(to)?,
        DType::F32 => cast_from::<f32>(to)?,
        DType::F64 => cast_from::<f64>(to)?,
        DType::F16 | DType::C64 | DType::C128 => return None,
    })
}

fn cast_from<A: Element>(to: DType) -> Option<Function> {
    fn one<A: Element, B: Element>(a: u64, _: u64, _: u64) -> u64 {
        B::narrow(A::of(a).wide()).bits()
    }
    Some(match to {
        DType::Bool => one::<A, bool>,
        DType::I8 => one::<A, i8>,
        DType::I16 => one::<A, i16>,
        DType::I32 => one::<A, i32>,
        DType::I64 => one::<A, i64>,
        DType::U8 => one::<A, u8>,
        DType::U16 => one::<A, u16>,
        DType::U32 => one::<A, u32>,
        DType::U64 => one::<A, u64>,
        DType::F32 => one::<A, f32>,
        DType::F64 => one::<A, f64>,
        DType::F16 | DType::C64 | DType::C128 => return None,
    })
}

/// Truncates as x86-64's `cvttsd2si`: what is not representable becomes the least integer.
fn truncate(x: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) {
        x as i64
    } else {
        i64::MIN
    }
}

impl Element for bool {
    fn of(bits: u64) -> bool {
        bits != 0
    }
    fn bits(self) -> u64 {
        u64::from(self)
    }
    fn wide(self) -> Wide {
        Wide::Unsigned(u64::from(self))
    }
    fn narrow(wide: Wide) -> bool {
        match wide {
            Wide::Signed(x) => x != 0,
            Wide::Unsigned(x) => x != 0,
            Wide::Float(x) => x != 0.0,
        }
    }
}

macro_rules! element {
    // `$bits` is the unsigned type of the same size; `$float` truncates a float64.
    (int $t:ident $bits:ident $wide:ident $float:expr) => {
        impl Element for $t {
            fn of(bits: u64) -> $t {
                bits as $t
            }
            fn bits(self) -> u64 {
                u64::from(self as $bits)
            }
            fn wide(self) -> Wide {
                Wide::$wide(self.into())
            }
            fn narrow(wide: Wide) -> $t {
                match wide {
                    Wide::Signed(x) => x as $t,
                    Wide::Unsigned(x) => x as $t,
                    Wide::Float(x) => $float(x) as $t,
                }
            }
        }
    };
    (float $t:ident $bits:ident) => {
        impl Element for $t {
            fn of(bits: u64) -> $t {
                $t::from_bits(bits as $bits)
            }
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
            fn wide(self) -> Wide {
                Wide::Float(self.into())
            }
            fn narrow(wide: Wide) -> $t {
                match wide {
                    Wide::Signed(x) => x as $t,
                    Wide::Unsigned(x) => x as $t,
                    Wide::Float(x) => x as $t,
                }
            }
        }
    };
}

/// Truncates as x86-64's 32-bit `cvttsd2si`, which compilers use for the small integers too.
fn truncate32(x: f64) -> i32 {
    i32::try_from(truncate(x)).unwrap_or(i32::MIN)
}

/// Truncates as compilers do for uint64: the upper half of its range is shifted down and up again.
fn truncate_u64(x: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if x >= HALF { (truncate(x - HALF) as u64) ^ (1 << 63) } else { truncate(x) as u64 }
}

element!(int i8 u8 Signed truncate32);
element!(int i16 u16 Signed truncate32);
element!(int i32 u32 Signed truncate32);
element!(int i64 u64 Signed truncate);
element!(int u8 u8 Unsigned truncate32);
element!(int u16 u16 Unsigned truncate32);
element!(int u32 u32 Unsigned truncate);
element!(int u64 u64 Unsigned truncate_u64);
element!(float f32 u32);
element!(float f64 u64);

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
