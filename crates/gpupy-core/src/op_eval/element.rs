//! Rust types whose values are elements, and conversions between them.
//!
//! Owns [`Stored`], [`Element`], [`Half`] and [`cast`], [`Visitor`], which is given operations on them,
//! and the macros `for_real_type` and `for_integer_type`, which choose a type by its dtype.
//! Invariant: conversions give NumPy's bits, as on x86-64.
//!
//! Not here: bfloat16 (`bfloat16.rs`); the operations of a dtype (`table.rs`); complex numbers, which are not one word
//! (the drivers that have them).

use super::bfloat16::Bfloat16;
use crate::dtype::DType;

/// A Rust type whose values lie in memory as elements.
pub trait Stored: Copy + 'static {
    /// An element as it lies in memory: any bits are one.
    type Raw: Copy;
    /// The value of what lies in memory.
    fn load(raw: Self::Raw) -> Self;
    /// What lies in memory for the value.
    fn store(self) -> Self::Raw;
}

/// A Rust type whose values are elements of one word.
pub trait Element: Stored {
    /// From bits that are zero-extended.
    fn of(bits: u64) -> Self;
    /// Its bits, zero-extended.
    fn bits(self) -> u64;
    /// The value, on its way to another dtype.
    fn wide(self) -> Wide;
    /// The value of another dtype, as cast.
    fn narrow(wide: Wide) -> Self;
}

/// A value on its way from one dtype to another, without loss.
pub enum Wide {
    /// Of a signed integer.
    Signed(i64),
    /// Of an unsigned integer or a bool.
    Unsigned(u64),
    /// Of a float.
    Float(f64),
}

/// Runs code in which a name is the Rust type of a dtype's elements, for every dtype but
/// the complex ones, and other code for these.
#[macro_export]
macro_rules! for_real_type {
    ($dtype:expr, $t:ident => $body:expr, _ => $other:expr $(,)?) => {
        match $dtype {
            $crate::DType::Bool => { type $t = bool; $body }
            $crate::DType::F16 => { type $t = $crate::op_eval::element::Half; $body }
            $crate::DType::BF16 => { type $t = $crate::op_eval::bfloat16::Bfloat16; $body }
            $crate::DType::F32 => { type $t = f32; $body }
            $crate::DType::F64 => { type $t = f64; $body }
            dtype => $crate::for_integer_type!(dtype, $t => $body, _ => $other),
        }
    };
}

/// Runs code in which a name is the Rust type of a dtype's elements, for every dtype of integers, and other code for
/// the other dtypes.
#[macro_export]
macro_rules! for_integer_type {
    ($dtype:expr, $t:ident => $body:expr, _ => $other:expr $(,)?) => {
        match $dtype {
            $crate::DType::I8 => {
                type $t = i8;
                $body
            }
            $crate::DType::I16 => {
                type $t = i16;
                $body
            }
            $crate::DType::I32 => {
                type $t = i32;
                $body
            }
            $crate::DType::I64 => {
                type $t = i64;
                $body
            }
            $crate::DType::U8 => {
                type $t = u8;
                $body
            }
            $crate::DType::U16 => {
                type $t = u16;
                $body
            }
            $crate::DType::U32 => {
                type $t = u32;
                $body
            }
            $crate::DType::U64 => {
                type $t = u64;
                $body
            }
            $crate::DType::Bool
            | $crate::DType::F16
            | $crate::DType::BF16
            | $crate::DType::F32
            | $crate::DType::F64
            | $crate::DType::C64
            | $crate::DType::C128 => $other,
        }
    };
}

/// Makes something of an operation on elements.
pub trait Visitor {
    /// What it makes.
    type Out;
    /// Of an operation on one element.
    fn unary<A: Element, R: Element, F: Fn(A) -> R + Copy + 'static>(self, f: F) -> Self::Out;
    /// Of an operation on two elements of one kind.
    fn binary<A: Element, R: Element, F: Fn(A, A) -> R + Copy + 'static>(self, f: F) -> Self::Out;
}

/// Gives a cast between two dtypes to the visitor, or `None` where one of them is complex.
pub fn cast<V: Visitor>(from: DType, to: DType, v: V) -> Option<V::Out> {
    for_real_type!(from, A => cast_from::<A, V>(to, v), _ => None)
}

fn cast_from<A: Element, V: Visitor>(to: DType, v: V) -> Option<V::Out> {
    for_real_type!(to, T => Some(v.unary(|x: A| T::narrow(x.wide()))), _ => None)
}

impl Stored for bool {
    type Raw = u8;
    #[inline(always)]
    fn load(raw: u8) -> bool {
        raw != 0
    }
    #[inline(always)]
    fn store(self) -> u8 {
        u8::from(self)
    }
}

impl Element for bool {
    #[inline(always)]
    fn of(bits: u64) -> bool {
        bits != 0
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self)
    }
    #[inline(always)]
    fn wide(self) -> Wide {
        Wide::Unsigned(u64::from(self))
    }
    #[inline(always)]
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
        element!($t $bits, |bits| bits as $t, |x| x as $bits, $wide, {
            Wide::Signed(x) => x as $t,
            Wide::Unsigned(x) => x as $t,
            Wide::Float(x) => $float(x) as $t,
        });
    };
    (float $t:ident $bits:ident) => {
        element!($t $bits, |bits| $t::from_bits(bits), |x| x.to_bits(), Float, {
            Wide::Signed(x) => x as $t,
            Wide::Unsigned(x) => x as $t,
            Wide::Float(x) => x as $t,
        });
    };
    ($t:ident $bits:ident, |$of:ident| $from:expr, |$to:ident| $into:expr, $wide:ident, $narrow:tt)
    => {
        impl Stored for $t {
            type Raw = $t;
            #[inline(always)]
            fn load(raw: $t) -> $t {
                raw
            }
            #[inline(always)]
            fn store(self) -> $t {
                self
            }
        }

        impl Element for $t {
            #[inline(always)]
            fn of(bits: u64) -> $t {
                let $of = bits as $bits;
                $from
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                let $to = self;
                u64::from($into)
            }
            #[inline(always)]
            fn wide(self) -> Wide {
                Wide::$wide(self.into())
            }
            #[inline(always)]
            fn narrow(wide: Wide) -> $t {
                match wide $narrow
            }
        }
    };
}

element!(int i8 u8 Signed truncate_i32);
element!(int i16 u16 Signed truncate_i32);
element!(int i32 u32 Signed truncate_i32);
element!(int i64 u64 Signed truncate_i64);
element!(int u8 u8 Unsigned truncate_i32);
element!(int u16 u16 Unsigned truncate_i32);
element!(int u32 u32 Unsigned truncate_i64);
element!(int u64 u64 Unsigned truncate_u64);
element!(float f32 u32);
element!(float f64 u64);
element!(Half u16, |bits| Half(bits), |x| x.0, Float, {
    Wide::Signed(x) => Half::rounded(x as f64),
    Wide::Unsigned(x) => Half::rounded(x as f64),
    Wide::Float(x) => Half::rounded(x),
});
element!(Bfloat16 u16, |bits| Bfloat16(bits), |x| x.0, Float, {
    Wide::Signed(x) => Bfloat16::from(x as f32),
    Wide::Unsigned(x) => Bfloat16::from(x as f32),
    Wide::Float(x) => Bfloat16::from(x as f32),
});

/// Truncates as x86-64's 32-bit `cvttsd2si`, which compilers use for the small integers too: what
/// is not representable becomes the least integer.
#[inline(always)]
fn truncate_i32(x: f64) -> i32 {
    if x > -2_147_483_649.0 && x < 2_147_483_648.0 {
        // SAFETY: the truncated value fits. `as` would saturate, which takes longer.
        unsafe { x.to_int_unchecked() }
    } else {
        i32::MIN
    }
}

/// Truncates as the 64-bit `cvttsd2si`.
#[inline(always)]
fn truncate_i64(x: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) {
        // SAFETY: the truncated value fits.
        unsafe { x.to_int_unchecked() }
    } else {
        i64::MIN
    }
}

/// Truncates as compilers do for uint64: the upper half of its range is shifted down and up again.
#[inline(always)]
fn truncate_u64(x: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if x >= HALF { (truncate_i64(x - HALF) as u64) ^ (1 << 63) } else { truncate_i64(x) as u64 }
}

/// A float16, as bits. Its arithmetic is float32's, rounded once more: of `+ - * /` and the square
/// root that is the correctly rounded result, because float32 has more than twice its digits.
#[derive(Clone, Copy)]
pub struct Half(pub u16);

impl Half {
    /// The nearest float16, ties to even.
    #[inline(always)]
    fn rounded(x: f64) -> Half {
        // To odd: a float32 that is not exact gets a last bit of 1, and so is never a tie.
        let near = x as f32;
        let exact = f64::from(near) == x || x.is_nan();
        let below = f64::from(near).abs() < x.abs();
        let bits = near.to_bits();
        let towards_zero = if exact || below { bits } else { bits.wrapping_sub(1) };
        let odd = if exact { towards_zero } else { towards_zero | 1 };
        Half::from(f32::from_bits(odd))
    }
}

impl From<f32> for Half {
    /// The nearest float16, ties to even. Without branches, so that loops over it are vectors.
    #[inline(always)]
    fn from(x: f32) -> Half {
        /// The float32 with float16's distance of subnormals as its own: adding it rounds to them.
        const SUBNORMAL: u32 = ((127 - 15) + (23 - 10) + 1) << 23;
        let bits = x.to_bits();
        let (sign, size) = ((bits >> 16) & 0x8000, bits & 0x7fff_ffff);
        // The exponent's bias changes; half of the last place, less one where the last bit is 0,
        // rounds ties to even, and carries up to infinity.
        let odd = (size >> 13) & 1;
        let normal =
            size.wrapping_sub((127 - 15) << 23).wrapping_add(0xfff).wrapping_add(odd) >> 13;
        let shifted = f32::from_bits(size) + f32::from_bits(SUBNORMAL);
        let subnormal = shifted.to_bits().wrapping_sub(SUBNORMAL);
        let half = if size < (127 - 14) << 23 { subnormal } else { normal };
        let half = if size >= (127 + 16) << 23 { 0x7c00 } else { half };
        let half = if size > 0x7f80_0000 { 0x7e00 } else { half };
        Half((half | sign) as u16)
    }
}

impl From<Half> for f32 {
    #[inline(always)]
    fn from(x: Half) -> f32 {
        let (sign, size) = (u32::from(x.0 & 0x8000) << 16, u32::from(x.0 & 0x7fff));
        let normal = (size << 13) + ((127 - 15) << 23);
        // Subnormals are multiples of 2^-24; as a float32's bits they would take long.
        let subnormal = (size as f32 * f32::from_bits((127 - 24) << 23)).to_bits();
        let special = (size << 13) | 0x7f80_0000;
        let number = if size < 1 << 10 { subnormal } else { normal };
        f32::from_bits(sign | if size >= 0x7c00 { special } else { number })
    }
}

impl From<Half> for f64 {
    #[inline(always)]
    fn from(x: Half) -> f64 {
        f64::from(f32::from(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of a float16 that is a number, from its definition.
    fn value(bits: u16) -> f64 {
        let (exponent, digits) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        let size = match exponent {
            0 => digits * 2f64.powi(-24),
            _ => (1024.0 + digits) * 2f64.powi(exponent - 25),
        };
        if bits >> 15 == 1 { -size } else { size }
    }

    #[test]
    fn every_float16_is_its_value_and_comes_back() {
        for bits in (0..=u16::MAX).filter(|bits| bits & 0x7c00 != 0x7c00) {
            assert_eq!(f64::from(Half(bits)).to_bits(), value(bits).to_bits(), "{bits:#x}");
            assert_eq!(Half::from(f32::from(Half(bits))).0, bits);
            assert_eq!(Half::rounded(value(bits)).0, bits);
        }
        assert_eq!(f32::from(Half(0x7c00)), f32::INFINITY);
        assert_eq!(f32::from(Half(0xfc00)), f32::NEG_INFINITY);
        assert!(f32::from(Half(0xfe01)).is_nan());
        assert!(f32::from(Half::from(f32::NAN)).is_nan());
        assert!(f32::from(Half::rounded(f64::NAN)).is_nan());
    }

    #[test]
    fn what_lies_between_two_float16_goes_to_the_nearer_one_and_ties_to_even() {
        for bits in 0..0x7c00 {
            let (low, high) = (value(bits), value(bits + 1));
            let tie = (low + high) / 2.0;
            let even = if bits & 1 == 0 { bits } else { bits + 1 };
            // Nearer to the tie than float32 can tell, on both sides.
            let (below, above) = (tie * (1.0 - 2f64.powi(-40)), tie * (1.0 + 2f64.powi(-40)));
            for (x, want) in [(below, bits), (tie, even), (above, bits + 1)] {
                assert_eq!(Half::rounded(x).0, want, "{x:e}");
                assert_eq!(Half::rounded(-x).0, want | 0x8000, "-{x:e}");
            }
            assert_eq!(Half::from(tie as f32).0, even, "{tie:e}");
        }
        assert_eq!(Half::rounded(1e300).0, 0x7c00);
        assert_eq!(Half::rounded(1e-300).0, 0);
        assert_eq!(Half::from(f32::MAX).0, 0x7c00);
    }
}
