//! Builds programs from formulas in Rust's operator notation.
//!
//! Owns [`FormulaBuilder`], a program under construction for one float dtype, and [`FormulaValue`], a value of it.
//! Numbers among the operands become literals of the other operand's dtype. Invariants: every operation here is exact
//! in the operation table, so a program gives the same bits everywhere. A formula's straight-line program and its
//! branching program give the same bits.
//!
//! Not here: the formulas (the files named after their families).

use crate::dtype::DType;
use crate::ir::{Builder, Form, Program};
use crate::op::Op;
use crate::scalar::Scalar;
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};

/// A program under construction, for one float dtype.
pub(super) struct FormulaBuilder {
    builder: RefCell<Builder>,
    float: DType,
    /// True if rare cases become branches.
    branches: bool,
}

/// A value of a program.
#[derive(Clone, Copy)]
pub(super) struct FormulaValue<'c> {
    code: &'c FormulaBuilder,
    at: u32,
}

/// The operand beside a value: another value, or a number.
pub(super) trait FormulaOperand<'c> {
    fn beside(self, other: FormulaValue<'c>) -> FormulaValue<'c>;
}

impl<'c> FormulaOperand<'c> for FormulaValue<'c> {
    fn beside(self, _: FormulaValue<'c>) -> FormulaValue<'c> {
        self
    }
}

/// A float's literal.
impl<'c> FormulaOperand<'c> for f64 {
    fn beside(self, other: FormulaValue<'c>) -> FormulaValue<'c> {
        other.code.literal(match other.dtype() {
            DType::F64 => Scalar::f64(self),
            _ => Scalar::f32(self as f32),
        })
    }
}

/// An integer's literal, by its low bits.
impl<'c> FormulaOperand<'c> for i64 {
    fn beside(self, other: FormulaValue<'c>) -> FormulaValue<'c> {
        other.code.literal(Scalar::new(other.dtype(), self as u64))
    }
}

impl FormulaBuilder {
    /// The program of a formula of `arity` operands of a float dtype, straight-line or with branches. The program for
    /// a narrower float is float32's, rounded once more.
    pub fn program(
        float: DType,
        arity: u8,
        branches: bool,
        formula: impl for<'c> Fn(&'c FormulaBuilder, &[FormulaValue<'c>]) -> FormulaValue<'c>,
    ) -> Program {
        let working = float.accumulated();
        let builder = RefCell::new(Builder::new(Form::Map, 1));
        let code = FormulaBuilder { builder, float: working, branches };
        let operands: Vec<FormulaValue<'_>> = (0..arity)
            .map(|_| {
                let at = code.builder.borrow_mut().param(float);
                FormulaValue { code: &code, at }.as_dtype(working)
            })
            .collect();
        let result = formula(&code, &operands).as_dtype(float).at;
        code.builder.borrow_mut().store(result);
        code.builder.into_inner().finish()
    }

    /// Whether the program is for float64.
    pub fn is_double(&self) -> bool {
        self.float == DType::F64
    }

    /// `single` or `double`, by the program's dtype.
    pub fn pick<T>(&self, single: T, double: T) -> T {
        if self.is_double() { double } else { single }
    }

    /// A float.
    pub fn float(&self, value: f64) -> FormulaValue<'_> {
        self.literal(match self.float {
            DType::F64 => Scalar::f64(value),
            _ => Scalar::f32(value as f32),
        })
    }

    /// An unsigned integer as wide as the float.
    pub fn word(&self, value: u64) -> FormulaValue<'_> {
        self.literal(Scalar::new(self.unsigned(), value))
    }

    /// The number of bits of a float's mantissa, without the leading one.
    pub fn mantissa(&self) -> i64 {
        self.pick(23, 52)
    }

    /// The bias of a float's exponent.
    pub fn bias(&self) -> i64 {
        self.pick(127, 1023)
    }

    /// The bits of a float, as an unsigned integer.
    pub fn bits_of(&self, value: f64) -> FormulaValue<'_> {
        self.word(self.pick((value as f32).to_bits().into(), value.to_bits()))
    }

    /// The value of `general`, which is right for all operands. `usual` gives a condition that seldom holds, and a
    /// value with less work that has the same bits if the condition does not hold.
    pub fn shortened<'c>(
        &'c self,
        general: impl FnOnce() -> FormulaValue<'c>,
        usual: impl FnOnce() -> (FormulaValue<'c>, FormulaValue<'c>),
    ) -> FormulaValue<'c> {
        if !self.branches {
            return general();
        }
        let (is_odd, usual) = usual();
        let [result] = is_odd.seldom(|| [general()], [usual]);
        result
    }

    fn unsigned(&self) -> DType {
        self.pick(DType::U32, DType::U64)
    }

    fn signed(&self) -> DType {
        self.pick(DType::I32, DType::I64)
    }

    fn literal(&self, scalar: Scalar) -> FormulaValue<'_> {
        FormulaValue { code: self, at: self.builder.borrow_mut().constant(scalar) }
    }

    fn op<'c>(&'c self, op: Op, values: &[FormulaValue<'c>]) -> FormulaValue<'c> {
        let values: Vec<u32> = values.iter().map(|value| value.at).collect();
        FormulaValue { code: self, at: self.builder.borrow_mut().op(op, &values) }
    }
}

impl<'c> FormulaValue<'c> {
    /// The program.
    pub fn code(self) -> &'c FormulaBuilder {
        self.code
    }

    fn dtype(self) -> DType {
        self.code.builder.borrow().dtype(self.at)
    }

    fn unary(self, op: Op) -> FormulaValue<'c> {
        self.code.op(op, &[self])
    }

    fn binary(self, op: Op, other: impl FormulaOperand<'c>) -> FormulaValue<'c> {
        self.code.op(op, &[self, other.beside(self)])
    }

    fn convert(self, op: Op, to: DType) -> FormulaValue<'c> {
        FormulaValue {
            code: self.code,
            at: self.code.builder.borrow_mut().convert(op, self.at, to),
        }
    }

    fn as_dtype(self, dtype: DType) -> FormulaValue<'c> {
        if self.dtype() == dtype { self } else { self.convert(Op::Cast, dtype) }
    }

    /// The bits as an unsigned integer.
    pub fn bits(self) -> FormulaValue<'c> {
        self.convert(Op::Bitcast, self.code.unsigned())
    }

    /// The float with these bits.
    pub fn float_of_bits(self) -> FormulaValue<'c> {
        self.convert(Op::Bitcast, self.code.float)
    }

    /// An integer's bits as a signed one.
    pub fn signed(self) -> FormulaValue<'c> {
        self.convert(Op::Bitcast, self.code.signed())
    }

    /// An integer's bits as an unsigned one.
    pub fn unsigned(self) -> FormulaValue<'c> {
        self.convert(Op::Bitcast, self.code.unsigned())
    }

    /// The value as a float.
    pub fn to_float(self) -> FormulaValue<'c> {
        self.convert(Op::Cast, self.code.float)
    }

    /// The value as a signed integer.
    pub fn to_int(self) -> FormulaValue<'c> {
        self.convert(Op::Cast, self.code.signed())
    }

    /// A truth value as an unsigned integer.
    pub fn to_word(self) -> FormulaValue<'c> {
        self.convert(Op::Cast, self.code.unsigned())
    }

    pub fn abs(self) -> FormulaValue<'c> {
        self.unary(Op::Abs)
    }

    pub fn sqrt(self) -> FormulaValue<'c> {
        self.unary(Op::Sqrt)
    }

    /// The integer nearest to a float, as a float and as a word with the integer's low bits. The float is at most a
    /// quarter of the largest integer that the mantissa counts.
    pub fn nearest(self) -> (FormulaValue<'c>, FormulaValue<'c>) {
        // Numbers of this magnitude have no fraction.
        let large = self.code.pick(12582912.0, 6755399441055744.0);
        let sum = self + large;
        (sum - large, sum.bits())
    }

    /// `factor 2^n` for the n in this word's low bits. The result must be a normal number.
    pub fn power_of_2(self, factor: f64) -> FormulaValue<'c> {
        (self * (1i64 << self.code.mantissa()) + self.code.bits_of(factor)).float_of_bits()
    }

    /// This float times 2^n, for the n in the low bits of a word. Both this float and the result must be normal
    /// numbers.
    pub fn scaled(self, n: FormulaValue<'c>) -> FormulaValue<'c> {
        (self.bits() + n * (1i64 << self.code.mantissa())).float_of_bits()
    }

    pub fn rint(self) -> FormulaValue<'c> {
        self.unary(Op::Rint)
    }

    pub fn floor(self) -> FormulaValue<'c> {
        self.unary(Op::Floor)
    }

    pub fn is_nan(self) -> FormulaValue<'c> {
        self.unary(Op::IsNan)
    }

    pub fn sign_bit(self) -> FormulaValue<'c> {
        self.unary(Op::SignBit)
    }

    pub fn not(self) -> FormulaValue<'c> {
        self.unary(Op::Not)
    }

    /// The minimum; this value if it is NaN.
    pub fn min(self, other: impl FormulaOperand<'c>) -> FormulaValue<'c> {
        self.binary(Op::Min, other)
    }

    /// The maximum; this value if it is NaN.
    pub fn max(self, other: impl FormulaOperand<'c>) -> FormulaValue<'c> {
        self.binary(Op::Max, other)
    }

    pub fn copysign(self, other: FormulaValue<'c>) -> FormulaValue<'c> {
        self.binary(Op::Copysign, other)
    }

    pub fn shl(self, other: impl FormulaOperand<'c>) -> FormulaValue<'c> {
        self.binary(Op::Shl, other)
    }

    pub fn shr(self, other: impl FormulaOperand<'c>) -> FormulaValue<'c> {
        self.binary(Op::Shr, other)
    }

    pub fn equals(self, other: impl FormulaOperand<'c>) -> FormulaValue<'c> {
        self.binary(Op::Eq, other)
    }

    pub fn differs(self, other: impl FormulaOperand<'c>) -> FormulaValue<'c> {
        self.binary(Op::Ne, other)
    }

    pub fn below(self, other: impl FormulaOperand<'c>) -> FormulaValue<'c> {
        self.binary(Op::Lt, other)
    }

    pub fn at_least(self, other: impl FormulaOperand<'c>) -> FormulaValue<'c> {
        self.binary(Op::Ge, other)
    }

    pub fn above(self, other: impl FormulaOperand<'c>) -> FormulaValue<'c> {
        self.binary(Op::Gt, other)
    }

    /// A select between two values, by this bool.
    pub fn choose(self, yes: FormulaValue<'c>, no: FormulaValue<'c>) -> FormulaValue<'c> {
        self.code.op(Op::Select, &[self, yes, no])
    }

    /// The value of `rare` if this bool holds, which is seldom; otherwise `usual`.
    pub fn seldom<const N: usize>(
        self,
        rare: impl FnOnce() -> [FormulaValue<'c>; N],
        usual: [FormulaValue<'c>; N],
    ) -> [FormulaValue<'c>; N] {
        let code = self.code;
        if !code.branches {
            let rare = rare();
            return std::array::from_fn(|k| self.choose(rare[k], usual[k]));
        }
        let region = code.builder.borrow_mut().begin_if(self.at);
        let rare = rare().map(|value| value.at);
        let mut builder = code.builder.borrow_mut();
        builder.begin_else(region, &rare);
        builder.end(region, &usual.map(|value| value.at));
        std::array::from_fn(|k| {
            let dtype = builder.dtype(usual[k].at);
            FormulaValue { code, at: builder.result(region, k as u32, dtype) }
        })
    }

    /// The polynomial in this value with these coefficients, the constant one first, by Horner's
    /// rule.
    pub fn polynomial(self, coefficients: &[f64]) -> FormulaValue<'c> {
        let mut powers = coefficients.iter().rev();
        let highest = self.code.float(powers.next().copied().unwrap_or(0.0));
        powers.fold(highest, |sum, coefficient| sum * self + *coefficient)
    }

    /// The leading half of a float's significant bits. A product of two such halves is exact.
    pub fn upper_half(self) -> FormulaValue<'c> {
        (self.bits() & self.code.pick(0xffff_f000, -1 << 27)).float_of_bits()
    }
}

macro_rules! operator {
    ($($trait:ident, $method:ident, $op:ident;)*) => { $(
        impl<'c, T: FormulaOperand<'c>> $trait<T> for FormulaValue<'c> {
            type Output = FormulaValue<'c>;

            fn $method(self, other: T) -> FormulaValue<'c> {
                self.binary(Op::$op, other)
            }
        }
    )* };
}

operator! {
    Add, add, Add;
    Sub, sub, Sub;
    Mul, mul, Mul;
    Div, div, Div;
    BitAnd, bitand, And;
    BitOr, bitor, Or;
    BitXor, bitxor, Xor;
}

impl<'c> Neg for FormulaValue<'c> {
    type Output = FormulaValue<'c>;

    fn neg(self) -> FormulaValue<'c> {
        self.unary(Op::Neg)
    }
}

impl<'c> Sub<FormulaValue<'c>> for f64 {
    type Output = FormulaValue<'c>;

    fn sub(self, other: FormulaValue<'c>) -> FormulaValue<'c> {
        self.beside(other) - other
    }
}

impl<'c> Div<FormulaValue<'c>> for f64 {
    type Output = FormulaValue<'c>;

    fn div(self, other: FormulaValue<'c>) -> FormulaValue<'c> {
        self.beside(other) / other
    }
}
