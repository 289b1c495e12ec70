//! The meaning of every scalar operation, written once for evaluation element by element (`function` in `mod.rs`) and
//! row by row (drivers).
//!
//! Owns [`visit`], and [`combine`] for the operations that reduce. Operations are closures over Rust types. A
//! [`Visitor`] or [`Combiner`] makes functions or loops of them. Invariants: no bits make an operation panic; no
//! closure captures a value.
//!
//! Not here: casts, and what a visitor is (`element.rs`); bitcasts and selections, which move bits (`mod.rs`).

pub use super::element::Visitor;

use super::bfloat16::Bfloat16;
use super::element::{Element, Half};
use crate::dtype::DType;
use crate::op::Op;

/// Makes something of an operation that combines two elements into one of their kind.
pub trait Combiner {
    /// What it makes.
    type Out;
    /// Of the operation.
    fn combine<A: Element, F: Fn(A, A) -> A + Copy + 'static>(self, f: F) -> Self::Out;
}

/// Gives the operation on operands of a dtype to the visitor, or `None` where it does not exist.
pub fn visit<V: Visitor>(op: Op, dtype: DType, v: V) -> Option<V::Out> {
    match dtype {
        _ if op.info().reduces() => combine(op, dtype, AnyBinary(v)),
        DType::Bool => of_bool(op, v),
        DType::I8 => of_int::i8(op, v),
        DType::I16 => of_int::i16(op, v),
        DType::I32 => of_int::i32(op, v),
        DType::I64 => of_int::i64(op, v),
        DType::U8 => of_int::u8(op, v),
        DType::U16 => of_int::u16(op, v),
        DType::U32 => of_int::u32(op, v),
        DType::U64 => of_int::u64(op, v),
        DType::F16 => of_float::f16(op, v),
        DType::BF16 => of_float::bf16(op, v),
        DType::F32 => of_float::f32(op, v),
        DType::F64 => of_float::f64(op, v),
        DType::C64 | DType::C128 => None,
    }
}

/// Gives one of the operations that reduce, on a dtype, or `None` where it does not exist.
pub fn combine<C: Combiner>(op: Op, dtype: DType, c: C) -> Option<C::Out> {
    match dtype {
        DType::Bool => Some(match op {
            Op::Add | Op::Max | Op::Or => c.combine(|x: bool, y: bool| x | y),
            Op::Mul | Op::Min | Op::And => c.combine(|x: bool, y: bool| x & y),
            Op::Xor => c.combine(|x: bool, y: bool| x ^ y),
            _ => return None,
        }),
        DType::I8 => combine_int::i8(op, c),
        DType::I16 => combine_int::i16(op, c),
        DType::I32 => combine_int::i32(op, c),
        DType::I64 => combine_int::i64(op, c),
        DType::U8 => combine_int::u8(op, c),
        DType::U16 => combine_int::u16(op, c),
        DType::U32 => combine_int::u32(op, c),
        DType::U64 => combine_int::u64(op, c),
        DType::F16 => combine_float::f16(op, c),
        DType::BF16 => combine_float::bf16(op, c),
        DType::F32 => combine_float::f32(op, c),
        DType::F64 => combine_float::f64(op, c),
        DType::C64 | DType::C128 => None,
    }
}

/// A visitor to whom combining is one binary operation among others.
struct AnyBinary<V>(V);

impl<V: Visitor> Combiner for AnyBinary<V> {
    type Out = V::Out;

    fn combine<A: Element, F: Fn(A, A) -> A + Copy + 'static>(self, f: F) -> V::Out {
        self.0.binary(f)
    }
}

fn of_bool<V: Visitor>(op: Op, v: V) -> Option<V::Out> {
    Some(match op {
        Op::Abs => v.unary(|x: bool| x),
        Op::Not => v.unary(|x: bool| !x),
        Op::Ne => v.binary(|x: bool, y: bool| x ^ y),
        Op::Eq => v.binary(|x: bool, y: bool| x == y),
        Op::Lt => v.binary(|x: bool, y: bool| !x & y),
        Op::Le => v.binary(|x: bool, y: bool| !x | y),
        Op::Gt => v.binary(|x: bool, y: bool| x & !y),
        Op::Ge => v.binary(|x: bool, y: bool| x | !y),
        _ => return None,
    })
}

/// One function for each integer type, named after it.
mod combine_int {
    use super::{Combiner, Op};

    macro_rules! ints {
        ($($t:ident)*) => { $(
            pub(super) fn $t<C: Combiner>(op: Op, c: C) -> Option<C::Out> {
                Some(match op {
                    Op::Add => c.combine(|x: $t, y: $t| x.wrapping_add(y)),
                    Op::Mul => c.combine(|x: $t, y: $t| x.wrapping_mul(y)),
                    Op::Min => c.combine(|x: $t, y: $t| if x < y { x } else { y }),
                    Op::Max => c.combine(|x: $t, y: $t| if x > y { x } else { y }),
                    Op::And => c.combine(|x: $t, y: $t| x & y),
                    Op::Or => c.combine(|x: $t, y: $t| x | y),
                    Op::Xor => c.combine(|x: $t, y: $t| x ^ y),
                    _ => return None,
                })
            }
        )* };
    }
    ints!(i8 i16 i32 i64 u8 u16 u32 u64);
}

/// One function for each integer type, named after it: what does not combine.
mod of_int {
    use super::{Op, Visitor};

    macro_rules! ints {
        ($($t:ident $divide:expr;)*) => { $(
            #[allow(unused_comparisons)] // unsigned types have no negative values to test for
            pub(super) fn $t<V: Visitor>(op: Op, v: V) -> Option<V::Out> {
                const WIDTH: u128 = $t::BITS as u128;
                Some(match op {
                    Op::Neg => v.unary(|x: $t| x.wrapping_neg()),
                    Op::Abs => v.unary(|x: $t| if x < 0 { x.wrapping_neg() } else { x }),
                    Op::Sign => v.unary(|x: $t| -> $t {
                        // 0 - 1 is the type's -1; unsigned types never get there.
                        if x > 0 { 1 } else if x < 0 { (0 as $t).wrapping_sub(1) } else { 0 }
                    }),
                    Op::Not => v.unary(|x: $t| !x),
                    Op::Sub => v.binary(|x: $t, y: $t| x.wrapping_sub(y)),
                    Op::FloorDiv => v.binary(|x: $t, y: $t| {
                        let (quotient, rest) = $divide(x, y);
                        let down = rest != 0 && (rest < 0) != (y < 0);
                        if y == 0 { 0 } else { quotient.wrapping_sub(<$t>::from(down)) }
                    }),
                    Op::Mod => v.binary(|x: $t, y: $t| {
                        let (_, rest) = $divide(x, y);
                        let other = rest != 0 && (rest < 0) != (y < 0);
                        if y == 0 { 0 } else if other { rest.wrapping_add(y) } else { rest }
                    }),
                    // A negative count is a huge one once it is read as unsigned.
                    Op::Shl => v.binary(|x: $t, y: $t| {
                        if (y as u128) < WIDTH { x.wrapping_shl(y as u32) } else { 0 }
                    }),
                    Op::Shr => v.binary(|x: $t, y: $t| {
                        if (y as u128) < WIDTH { x.wrapping_shr(y as u32) }
                        else if x < 0 { (0 as $t).wrapping_sub(1) }
                        else { 0 }
                    }),
                    Op::Eq => v.binary(|x: $t, y: $t| x == y),
                    Op::Ne => v.binary(|x: $t, y: $t| x != y),
                    Op::Lt => v.binary(|x: $t, y: $t| x < y),
                    Op::Le => v.binary(|x: $t, y: $t| x <= y),
                    Op::Gt => v.binary(|x: $t, y: $t| x > y),
                    Op::Ge => v.binary(|x: $t, y: $t| x >= y),
                    _ => return None,
                })
            }
        )* };
    }
    /// Quotient, towards zero, and rest; of the least integer by -1, as it wraps; by 0, something.
    /// Floats of more than twice the digits divide exactly enough, and as vectors.
    macro_rules! through {
        ($t:ident $float:ident) => {
            |x: $t, y: $t| {
                let least = x == $t::MIN && y as i64 == -1;
                let some = if y == 0 || least { 1 } else { y };
                let quotient = $float::from(x) / $float::from(some);
                // SAFETY: it fits: the divisor is not 0, and what would not fit is left out.
                let quotient = unsafe { quotient.to_int_unchecked::<i32>() } as $t;
                (quotient, x.wrapping_sub(quotient.wrapping_mul(y)))
            }
        };
    }

    macro_rules! divided {
        ($t:ident) => {
            |x: $t, y: $t| {
                let some = if y == 0 { 1 } else { y };
                let quotient = x.wrapping_div(some);
                (quotient, x.wrapping_sub(quotient.wrapping_mul(y)))
            }
        };
    }

    ints! {
        i8 through!(i8 f32);
        i16 through!(i16 f32);
        i32 through!(i32 f64);
        i64 divided!(i64);
        u8 through!(u8 f32);
        u16 through!(u16 f32);
        u32 divided!(u32);
        u64 divided!(u64);
    }
}

/// One function for each float type.
mod combine_float {
    use super::{Bfloat16, Combiner, Half, Op};

    macro_rules! floats {
        // `$t` is the type of the elements, `$c` the one that computes.
        ($($name:ident $t:ident $c:ident;)*) => { $(
            #[allow(clippy::useless_conversion)] // of a type that computes for itself
            pub(super) fn $name<C: Combiner>(op: Op, c: C) -> Option<C::Out> {
                macro_rules! combine {
                    (|$x:ident, $y:ident| $body:expr) => {
                        c.combine(|x: $t, y: $t| {
                            let ($x, $y) = (<$c>::from(x), <$c>::from(y));
                            <$t>::from($body)
                        })
                    };
                }
                Some(match op {
                    Op::Add => combine!(|x, y| x + y),
                    Op::Mul => combine!(|x, y| x * y),
                    Op::Min => combine!(|x, y| if x.is_nan() || x < y { x } else { y }),
                    Op::Max => combine!(|x, y| if x.is_nan() || x > y { x } else { y }),
                    _ => return None,
                })
            }
        )* };
    }
    floats! {
        f16 Half f32;
        bf16 Bfloat16 f32;
        f32 f32 f32;
        f64 f64 f64;
    }
}

/// One function for each float type: what does not combine.
mod of_float {
    use super::{Bfloat16, Half, Op, Visitor};

    macro_rules! floats {
        // `$t` is the type of the elements, `$c` the one that computes.
        ($($name:ident $t:ident $c:ident;)*) => { $(
            // For float64, `as f64` and back are no conversions; for float32 they round.
            #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
            pub(super) fn $name<V: Visitor>(op: Op, v: V) -> Option<V::Out> {
                macro_rules! unary {
                    (|$x:ident| $body:expr) => {
                        v.unary(|x: $t| { let $x = <$c>::from(x); <$t>::from($body) })
                    };
                }
                macro_rules! binary {
                    (|$x:ident, $y:ident| $body:expr) => {
                        v.binary(|x: $t, y: $t| {
                            let ($x, $y) = (<$c>::from(x), <$c>::from(y));
                            <$t>::from($body)
                        })
                    };
                }
                macro_rules! test {
                    (|$x:ident| $body:expr) => {
                        v.unary(|x: $t| { let $x = <$c>::from(x); $body })
                    };
                    (|$x:ident, $y:ident| $body:expr) => {
                        v.binary(|x: $t, y: $t| {
                            let ($x, $y) = (<$c>::from(x), <$c>::from(y));
                            $body
                        })
                    };
                }
                macro_rules! via {
                    ($f:ident) => { unary!(|x| (x as f64).$f() as $c) };
                    ($f:ident, 2) => { binary!(|x, y| (x as f64).$f(y as f64) as $c) };
                }
                Some(match op {
                    Op::Neg => unary!(|x| -x),
                    Op::Abs => unary!(|x| x.abs()),
                    Op::Sign => unary!(|x| {
                        if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else if x == 0.0 { 0.0 } else { x }
                    }),
                    Op::Sqrt => unary!(|x| x.sqrt()),
                    Op::Floor => unary!(|x| x.floor()),
                    Op::Ceil => unary!(|x| x.ceil()),
                    Op::Trunc => unary!(|x| x.trunc()),
                    Op::Rint => unary!(|x| x.round_ties_even()),
                    Op::IsNan => test!(|x| x.is_nan()),
                    Op::IsInf => test!(|x| x.is_infinite()),
                    Op::IsFinite => test!(|x| x.is_finite()),
                    Op::SignBit => test!(|x| x.is_sign_negative()),
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
                    Op::Asinh => via!(asinh),
                    Op::Acosh => via!(acosh),
                    Op::Atanh => via!(atanh),
                    Op::Cbrt => via!(cbrt),
                    Op::Sub => binary!(|x, y| x - y),
                    Op::Div => binary!(|x, y| x / y),
                    Op::Copysign => binary!(|x, y| x.copysign(y)),
                    Op::Pow => via!(powf, 2),
                    Op::Atan2 => via!(atan2, 2),
                    Op::Fmod => binary!(|x, y| x % y),
                    Op::Hypot => via!(hypot, 2),
                    Op::Eq => test!(|x, y| x == y),
                    Op::Ne => test!(|x, y| x != y),
                    Op::Lt => test!(|x, y| x < y),
                    Op::Le => test!(|x, y| x <= y),
                    Op::Gt => test!(|x, y| x > y),
                    Op::Ge => test!(|x, y| x >= y),
                    _ => return None,
                })
            }
        )* };
    }
    floats! {
        f16 Half f32;
        bf16 Bfloat16 f32;
        f32 f32 f32;
        f64 f64 f64;
    }
}
