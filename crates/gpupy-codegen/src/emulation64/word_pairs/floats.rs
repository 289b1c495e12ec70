//! Casts between float32 and 64-bit integers in pairs of words.
//!
//! Owns the casts of [`PairBuilder`]. Invariants: a value that does not fit gives the result of `op_eval`; a float is
//! rounded once, to nearest. float16 goes by way of float32 without double rounding: an integer that is inexact in
//! float32 overflows float16.
//!
//! Not here: the other operations (`arithmetic.rs`).

use super::arithmetic::{PairBuilder, WordPair};
use gpupy_core::DType;
use gpupy_core::op::Op;

/// The bits of 2^63 and 2^64 as float32, and of infinity.
const LONG: u32 = (127 + 63) << 23;
const ULONG: u32 = (127 + 64) << 23;
const INFINITY: u32 = 255 << 23;

impl PairBuilder {
    /// Truncates a float32 to int64 or uint64.
    pub fn pair_of_float(&mut self, x: u32, has_sign: bool) -> WordPair {
        let bits = self.bits(x, DType::U32);
        let size = self.with(Op::And, bits, 0x7fff_ffff);
        let sign = self.sign([bits, bits]);
        let value = self.integer_part(size);
        let value = self.signed(value, sign);
        let least = self.pair(1 << 63);
        let large = self.with(Op::Ge, size, LONG);
        if has_sign {
            return self.select(large, least, value);
        }
        let none = self.pair(0);
        let above = self.with(Op::Ge, size, ULONG);
        let value = self.select(above, none, value);
        let negative = self.with(Op::Ne, sign, 0);
        let below = self.op(Op::And, &[large, negative]);
        let nan = self.with(Op::Gt, size, INFINITY);
        let lost = self.op(Op::Or, &[below, nan]);
        self.select(lost, least, value)
    }

    /// The integer part of a float below 2^64, given by its bits without sign.
    fn integer_part(&mut self, size: u32) -> WordPair {
        let exponent = self.with(Op::Shr, size, 23);
        let mantissa = self.with(Op::And, size, 0x7f_ffff);
        let mantissa = self.with(Op::Or, mantissa, 0x80_0000);
        // At this exponent the mantissa's last bit counts 1. Counts that wrap shift all bits out.
        let whole = self.word(127 + 23);
        let (up, down) =
            (self.op(Op::Sub, &[exponent, whole]), self.op(Op::Sub, &[whole, exponent]));
        let zero = self.word(0);
        let [low, high] = self.shl([mantissa, zero], up);
        let small = self.op(Op::Shr, &[mantissa, down]);
        [self.op(Op::Or, &[low, small]), high]
    }

    /// The float32 nearest to an int64 or uint64.
    pub fn float_of_pair(&mut self, a: WordPair, has_sign: bool) -> u32 {
        if !has_sign {
            return self.float_of_size(a);
        }
        let sign = self.sign(a);
        let size = self.signed(a, sign);
        let value = self.float_of_size(size);
        let negative = self.with(Op::Ne, sign, 0);
        let opposite = self.op(Op::Neg, &[value]);
        self.op(Op::Select, &[negative, opposite, value])
    }

    fn float_of_size(&mut self, a: WordPair) -> u32 {
        // If the high word is not 0, at least 29 significant bits come into it.
        let (mut top, mut shifted) = (a, self.word(0));
        for (below, by) in [(1 << 16, 16), (1 << 24, 8), (1 << 28, 4)] {
            let count = self.word(by);
            let small = self.with(Op::Lt, top[1], below);
            let moved = self.shl(top, count);
            top = self.select(small, moved, top);
            let more = self.with(Op::Add, shifted, by);
            shifted = self.op(Op::Select, &[small, more, shifted]);
        }
        // Bits that are left out set the last bit (a sticky bit), which is far below the rounding position.
        let inexact = self.with(Op::Ne, top[0], 0);
        let inexact = self.cast(inexact, DType::U32);
        let top = self.op(Op::Or, &[top[1], inexact]);
        let large = self.cast(top, DType::F32);
        let exponent = self.word(127 + 32);
        let exponent = self.op(Op::Sub, &[exponent, shifted]);
        let scale = self.with(Op::Shl, exponent, 23);
        let scale = self.bits(scale, DType::F32);
        let large = self.op(Op::Mul, &[large, scale]);
        let small = self.cast(a[0], DType::F32);
        let has_high = self.with(Op::Ne, a[1], 0);
        self.op(Op::Select, &[has_high, large, small])
    }
}
