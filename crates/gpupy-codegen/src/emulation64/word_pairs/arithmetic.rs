//! Arithmetic of 64-bit integers in pairs of 32-bit words.
//!
//! Owns [`PairBuilder`], which adds it to a program. A [`WordPair`] is the low and the high word. Results are those
//! of `op_eval`, to the bit. Shifts rely on the IR's, which give 0 for counts of 32 and more, so that the parts of
//! a shift are joined without a case distinction.
//!
//! Not here: floats (`floats.rs`), which values of a program are pairs (`mod.rs`).

use gpupy_core::ir::Builder;
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// The low and the high word of an integer, both uint32 values.
pub type WordPair = [u32; 2];

/// A program under construction that gets operations on word pairs.
pub struct PairBuilder(pub Builder);

impl PairBuilder {
    /// A literal word.
    pub fn word(&mut self, bits: u32) -> u32 {
        self.0.constant(Scalar::new(DType::U32, bits.into()))
    }

    /// An operation on values of one word.
    pub fn op(&mut self, op: Op, values: &[u32]) -> u32 {
        self.0.op(op, values)
    }

    /// An operation on a word and a literal.
    pub fn with(&mut self, op: Op, a: u32, bits: u32) -> u32 {
        let b = self.word(bits);
        self.0.op(op, &[a, b])
    }

    /// Casts a word to another dtype.
    pub fn cast(&mut self, a: u32, to: DType) -> u32 {
        self.0.convert(Op::Cast, a, to)
    }

    /// Bitcasts a word to another dtype.
    pub fn bits(&mut self, a: u32, to: DType) -> u32 {
        self.0.convert(Op::Bitcast, a, to)
    }

    /// A literal pair.
    pub fn pair(&mut self, bits: u64) -> WordPair {
        [self.word(bits as u32), self.word((bits >> 32) as u32)]
    }

    /// An operation on low words and on high words separately.
    pub fn each(&mut self, op: Op, a: WordPair, b: WordPair) -> WordPair {
        [0, 1].map(|k| self.op(op, &[a[k], b[k]]))
    }

    /// The complement of all bits.
    pub fn not(&mut self, a: WordPair) -> WordPair {
        a.map(|word| self.op(Op::Not, &[word]))
    }

    /// `a` where `which` holds, else `b`.
    pub fn select(&mut self, which: u32, a: WordPair, b: WordPair) -> WordPair {
        [0, 1].map(|k| self.op(Op::Select, &[which, a[k], b[k]]))
    }

    /// The sum.
    pub fn add(&mut self, a: WordPair, b: WordPair) -> WordPair {
        let low = self.op(Op::Add, &[a[0], b[0]]);
        let carry = self.op(Op::Lt, &[low, a[0]]);
        let carry = self.cast(carry, DType::U32);
        let high = self.op(Op::Add, &[a[1], b[1]]);
        [low, self.op(Op::Add, &[high, carry])]
    }

    /// The difference.
    pub fn sub(&mut self, a: WordPair, b: WordPair) -> WordPair {
        let low = self.op(Op::Sub, &[a[0], b[0]]);
        let borrow = self.op(Op::Lt, &[a[0], b[0]]);
        let borrow = self.cast(borrow, DType::U32);
        let high = self.op(Op::Sub, &[a[1], b[1]]);
        [low, self.op(Op::Sub, &[high, borrow])]
    }

    /// The negative.
    pub fn neg(&mut self, a: WordPair) -> WordPair {
        let zero = self.pair(0);
        self.sub(zero, a)
    }

    /// The product.
    pub fn mul(&mut self, a: WordPair, b: WordPair) -> WordPair {
        let [low, high] = self.product(a[0], b[0]);
        let across = [self.op(Op::Mul, &[a[0], b[1]]), self.op(Op::Mul, &[a[1], b[0]])];
        let across = self.op(Op::Add, &across);
        [low, self.op(Op::Add, &[high, across])]
    }

    /// The full 64-bit product of two words, from halves of 16 bits.
    fn product(&mut self, a: u32, b: u32) -> WordPair {
        let [a, b] = [a, b].map(|x| [self.with(Op::And, x, 0xffff), self.with(Op::Shr, x, 16)]);
        let [low, up, down, high] = [(0, 0), (0, 1), (1, 0), (1, 1)]
            .map(|(i, k): (usize, usize)| self.op(Op::Mul, &[a[i], b[k]]));
        // Neither of these sums overflows a word.
        let over = self.with(Op::Shr, low, 16);
        let middle = self.op(Op::Add, &[down, over]);
        let part = self.with(Op::And, middle, 0xffff);
        let middle_low = self.op(Op::Add, &[up, part]);
        let kept = self.with(Op::And, low, 0xffff);
        let shifted = self.with(Op::Shl, middle_low, 16);
        let low = self.op(Op::Or, &[shifted, kept]);
        let overs = [self.with(Op::Shr, middle, 16), self.with(Op::Shr, middle_low, 16)];
        let over = self.op(Op::Add, &overs);
        [low, self.op(Op::Add, &[high, over])]
    }

    /// The count of a shift as a word: 64 for counts that are too large, or negative.
    pub fn count(&mut self, count: WordPair) -> u32 {
        let too_large = self.with(Op::Ne, count[1], 0);
        let most = self.word(64);
        let least = self.op(Op::Min, &[count[0], most]);
        self.op(Op::Select, &[too_large, most, least])
    }

    /// The shift counts between the two words: `32 - count` and `count - 32`.
    fn around(&mut self, count: u32) -> [u32; 2] {
        let width = self.word(32);
        [self.op(Op::Sub, &[width, count]), self.op(Op::Sub, &[count, width])]
    }

    /// Shifts left by `count`.
    pub fn shl(&mut self, a: WordPair, count: u32) -> WordPair {
        let [left, beyond] = self.around(count);
        let low = self.op(Op::Shl, &[a[0], count]);
        let high = self.op(Op::Shl, &[a[1], count]);
        let come = [self.op(Op::Shr, &[a[0], left]), self.op(Op::Shl, &[a[0], beyond])];
        let come = self.op(Op::Or, &come);
        [low, self.op(Op::Or, &[high, come])]
    }

    /// Shifts right by `count`, filling with zeros.
    pub fn shr(&mut self, a: WordPair, count: u32) -> WordPair {
        let [left, beyond] = self.around(count);
        let low = self.op(Op::Shr, &[a[0], count]);
        let come = [self.op(Op::Shl, &[a[1], left]), self.op(Op::Shr, &[a[1], beyond])];
        let come = self.op(Op::Or, &come);
        [self.op(Op::Or, &[low, come]), self.op(Op::Shr, &[a[1], count])]
    }

    /// Shifts right by `count`, at most 64, filling with the sign.
    pub fn shr_signed(&mut self, a: WordPair, count: u32) -> WordPair {
        let sign = self.sign(a);
        let up = self.word(64);
        let up = self.op(Op::Sub, &[up, count]);
        let signs = self.shl([sign, sign], up);
        let shifted = self.shr(a, count);
        self.each(Op::Or, shifted, signs)
    }

    /// A word of all ones if the integer is negative, else 0.
    pub fn sign(&mut self, a: WordPair) -> u32 {
        let high = self.bits(a[1], DType::I32);
        let most = self.0.constant(Scalar::new(DType::I32, 31));
        let sign = self.op(Op::Shr, &[high, most]);
        self.bits(sign, DType::U32)
    }

    /// Negates `a` if `sign` is all ones.
    pub fn signed(&mut self, a: WordPair, sign: u32) -> WordPair {
        let flipped = self.each(Op::Xor, a, [sign, sign]);
        self.sub(flipped, [sign, sign])
    }

    /// True for integers other than 0.
    pub fn is_some(&mut self, a: WordPair) -> u32 {
        let any = self.op(Op::Or, &a);
        self.with(Op::Ne, any, 0)
    }

    /// Whether they are equal.
    pub fn eq(&mut self, a: WordPair, b: WordPair) -> u32 {
        let differ = self.each(Op::Xor, a, b);
        let any = self.is_some(differ);
        self.op(Op::Not, &[any])
    }

    /// Whether `a < b`, as signed or unsigned integers.
    pub fn lt(&mut self, a: WordPair, b: WordPair, has_sign: bool) -> u32 {
        let highs = [a[1], b[1]].map(|high| match has_sign {
            true => self.bits(high, DType::I32),
            false => high,
        });
        let less = self.op(Op::Lt, &highs);
        let same = self.op(Op::Eq, &highs);
        let below = self.op(Op::Lt, &[a[0], b[0]]);
        let below = self.op(Op::And, &[same, below]);
        self.op(Op::Or, &[less, below])
    }

    /// The floored quotient and the remainder with the divisor's sign. Both are 0 for a divisor of 0.
    pub fn divide(&mut self, a: WordPair, b: WordPair, has_sign: bool) -> (WordPair, WordPair) {
        let zero = self.pair(0);
        let by_some = self.is_some(b);
        let (quotient, rest) = match has_sign {
            false => self.divide_sizes(a, b),
            true => {
                let signs = [self.sign(a), self.sign(b)];
                let [x, y] = [(a, signs[0]), (b, signs[1])].map(|(x, sign)| self.signed(x, sign));
                let (quotient, rest) = self.divide_sizes(x, y);
                let apart = self.op(Op::Xor, &signs);
                let quotient = self.signed(quotient, apart);
                let rest = self.signed(rest, signs[0]);
                // The floored quotient is one less if there is a remainder.
                let left = self.is_some(rest);
                let left = self.cast(left, DType::U32);
                let down = self.op(Op::Mul, &[apart, left]);
                let quotient = self.add(quotient, [down, down]);
                let back = self.each(Op::And, b, [down, down]);
                (quotient, self.add(rest, back))
            }
        };
        (self.select(by_some, quotient, zero), self.select(by_some, rest, zero))
    }

    /// Unsigned quotient and remainder, by long division, one bit at a time.
    fn divide_sizes(&mut self, a: WordPair, b: WordPair) -> (WordPair, WordPair) {
        let steps = self.0.constant(Scalar::new(DType::I32, 64));
        let zero = self.word(0);
        let region = self.0.begin_loop(steps, &[a[0], a[1], zero, zero]);
        let [low, high, rest_low, rest_high] = [0, 1, 2, 3].map(|k| self.0.carry(region, k));
        let one = self.word(1);
        let come = self.with(Op::Shr, high, 31);
        let lost = self.with(Op::Shr, rest_high, 31);
        let lost = self.with(Op::Ne, lost, 0);
        let rest = self.shl([rest_low, rest_high], one);
        let rest = [self.op(Op::Or, &[rest[0], come]), rest[1]];
        let less = self.lt(rest, b, false);
        let fits = self.op(Op::Not, &[less]);
        let fits = self.op(Op::Or, &[lost, fits]);
        let less = self.sub(rest, b);
        let rest = self.select(fits, less, rest);
        let quotient = self.shl([low, high], one);
        let bit = self.cast(fits, DType::U32);
        let low = self.op(Op::Or, &[quotient[0], bit]);
        self.0.end(region, &[low, quotient[1], rest[0], rest[1]]);
        let [low, high, rest_low, rest_high] =
            [0, 1, 2, 3].map(|k| self.0.result(region, k, DType::U32));
        ([low, high], [rest_low, rest_high])
    }
}
