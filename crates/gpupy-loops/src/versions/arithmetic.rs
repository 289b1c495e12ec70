//! Operators and comparisons by the kinds of their operands: Python's for its numbers, NumPy's for its own (NEP 50).

use super::{Known, Unknown, Writer};
use crate::code::{Floating, Integer, Operation, Plain, Slot, Test};
use crate::flow::Register;
use crate::functions::{Of2, OfIntegers};
use crate::kinds::{Class, Kind};
use crate::nest::{Binary, Comparison, Unary};

/// Integers of at most so many bits are floating-point numbers without loss.
const BITS_OF_DOUBLES: u32 = 53;

impl Writer<'_> {
    pub(super) fn constant(&mut self, value: i64) -> Slot {
        let slot = self.fresh(Class::Integer);
        self.push(Operation::Int(slot, value));
        slot
    }

    pub(super) fn compared(&mut self, test: Test, left: Slot, right: Slot) -> Slot {
        let slot = self.fresh(Class::Integer);
        self.push(Operation::Compare(test, slot, left, right));
        slot
    }

    /// Leaves where a comparison does not hold.
    pub(super) fn require(&mut self, test: Test, left: Slot, right: Slot) {
        let holds = self.compared(test, left, right);
        self.push(Operation::Require(holds));
    }

    /// 0 or 1: whether a value is true.
    pub(super) fn truth(&mut self, register: Register) -> Known<Slot> {
        let (kind, slot) = self.operand(register)?;
        if kind.is_truth() {
            return Ok(slot);
        }
        let zero = self.zero(kind.class());
        Ok(self.compared(Test::NotEq, slot, zero))
    }

    pub(super) fn zero(&mut self, class: Class) -> Slot {
        match class {
            Class::Integer => self.constant(0),
            Class::Double => {
                let slot = self.fresh(Class::Double);
                self.push(Operation::Double(slot, 0.0));
                slot
            }
            Class::Single => {
                let double = self.zero(Class::Double);
                let slot = self.fresh(Class::Single);
                self.push(Operation::ToSingle(slot, double));
                slot
            }
        }
    }

    /// A value as `float64`, rounded.
    pub(super) fn as_double(&mut self, kind: Kind, slot: Slot) -> Slot {
        if kind.class() == Class::Double {
            return slot;
        }
        let double = self.fresh(Class::Double);
        self.push(match kind.class() {
            Class::Integer => Operation::ToDouble(double, slot),
            _ => Operation::Widen(double, slot),
        });
        double
    }

    /// A value as `float32`, rounded; leaves where that makes it infinite, or rounds an integer twice.
    pub(super) fn as_single(&mut self, kind: Kind, slot: Slot) -> Slot {
        if kind.class() == Class::Single {
            return slot;
        }
        if kind.class() == Class::Integer && matches!(kind, Kind::Int | Kind::I64) {
            self.require_within(slot, -(1 << BITS_OF_DOUBLES), 1 << BITS_OF_DOUBLES);
        }
        let double = self.as_double(kind, slot);
        let (single, again) = (self.fresh(Class::Single), self.fresh(Class::Double));
        self.push(Operation::ToSingle(single, double));
        self.push(Operation::Widen(again, single));
        self.push(Operation::Quiet(again, [double, double]));
        single
    }

    /// A value as one of the kind that an operator works in.
    fn as_kind(&mut self, wanted: Kind, register: Register) -> Known<Slot> {
        let (kind, slot) = self.operand(register)?;
        Ok(match wanted.class() {
            Class::Integer => {
                // NumPy's small integers take numbers of Python's that they can hold.
                if let (Some((low, high)), Kind::Int) = (wanted.range(), kind) {
                    self.require_within(slot, low, high);
                }
                slot
            }
            Class::Double => {
                // NumPy rounds its integers; Python's are compared as they are, and never too large.
                if kind == Kind::Int && self.bits_of(register, kind) > BITS_OF_DOUBLES {
                    self.require_within(slot, -(1 << BITS_OF_DOUBLES), 1 << BITS_OF_DOUBLES);
                }
                self.as_double(kind, slot)
            }
            Class::Single => self.as_single(kind, slot),
        })
    }

    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        to: Register,
        left: Register,
        right: Register,
    ) -> Known<()> {
        let ((a, first), (b, second)) = (self.operand(left)?, self.operand(right)?);
        let test = match comparison {
            Comparison::Eq => Test::Eq,
            Comparison::NotEq => Test::NotEq,
            Comparison::Lt => Test::Lt,
            Comparison::LtE => Test::LtE,
            Comparison::Gt => Test::Gt,
            Comparison::GtE => Test::GtE,
        };
        let (first, second) = if a.class() == Class::Integer && b.class() == Class::Integer {
            (first, second)
        } else {
            let wanted = a.with(b);
            (self.as_kind(wanted, left)?, self.as_kind(wanted, right)?)
        };
        let kind = if a.is_python() && b.is_python() { Kind::Bool } else { Kind::NumpyBool };
        let home = self.define(to, kind);
        self.push(Operation::Compare(test, home, first, second));
        Ok(())
    }

    pub(super) fn unary(&mut self, operation: Unary, to: Register, operand: Register) -> Known<()> {
        if operation == Unary::Not {
            let (truth, zero) = (self.truth(operand)?, self.constant(0));
            let home = self.define(to, Kind::Bool);
            self.push(Operation::Compare(Test::Eq, home, truth, zero));
            return Ok(());
        }
        let (kind, slot) = self.operand(operand)?;
        let bits = self.bits_of(operand, kind);
        match (operation, kind) {
            (Unary::UAdd, Kind::NumpyBool) | (Unary::USub, Kind::NumpyBool | Kind::U8) => {
                return Err(Unknown);
            }
            (Unary::UAdd, _) => {
                let home = self.define(to, if kind == Kind::Bool { Kind::Int } else { kind });
                self.push(Operation::Copy(home, slot));
            }
            (Unary::USub, _) if kind.class() == Class::Integer => {
                let zero = self.constant(0);
                let result = self.fresh(Class::Integer);
                self.push(Operation::Checked(Integer::Sub, result, zero, slot));
                self.within(kind, result);
                let home = self.define(to, if kind == Kind::Bool { Kind::Int } else { kind });
                self.push(Operation::Copy(home, result));
            }
            (Unary::USub, _) => {
                let home = self.define(to, kind);
                self.push(Operation::Plain(Plain::Neg, home, slot));
            }
            (Unary::Invert, Kind::Int | Kind::I32 | Kind::I64 | Kind::NumpyBool) => {
                let ones = self.constant(if kind == Kind::NumpyBool { 1 } else { -1 });
                let home = self.define(to, kind);
                self.push(Operation::Integer(Integer::Xor, home, slot, ones));
            }
            (Unary::Invert | Unary::Not, _) => return Err(Unknown),
        }
        if operation != Unary::Invert {
            self.bits.insert(to, bits);
        }
        Ok(())
    }

    /// Leaves where an integer is none of a kind's.
    fn within(&mut self, kind: Kind, slot: Slot) {
        if let (Kind::U8 | Kind::I32, Some((low, high))) = (kind, kind.range()) {
            self.require_within(slot, low, high);
        }
    }

    pub(super) fn binary(
        &mut self,
        operation: Binary,
        to: Register,
        left: Register,
        right: Register,
    ) -> Known<()> {
        let ((a, first), (b, second)) = (self.operand(left)?, self.operand(right)?);
        let wanted = a.with(b);
        if matches!(operation, Binary::BitAnd | Binary::BitOr | Binary::BitXor) && wanted.is_truth()
        {
            let home = self.define(to, wanted);
            self.push(Operation::Integer(bitwise(operation), home, first, second));
            return Ok(());
        }
        let wanted = match wanted {
            Kind::NumpyBool => return Err(Unknown),
            Kind::Bool => Kind::Int,
            _ => wanted,
        };
        if operation == Binary::Div && wanted.class() == Class::Integer {
            let kind = if wanted == Kind::Int { Kind::Float } else { Kind::F64 };
            // Python divides integers without rounding them before.
            for (register, kind, slot) in [(left, a, first), (right, b, second)] {
                if self.bits_of(register, kind) > BITS_OF_DOUBLES {
                    self.require_within(slot, -(1 << BITS_OF_DOUBLES), 1 << BITS_OF_DOUBLES);
                }
            }
            self.within_kind(wanted, a, first);
            self.within_kind(wanted, b, second);
            let (first, second) = (self.as_double(a, first), self.as_double(b, second));
            return self.floating(operation, kind, to, first, second);
        }
        let (first, second) = (self.as_kind(wanted, left)?, self.as_kind(wanted, right)?);
        match wanted.class() {
            Class::Integer => {
                let bits = self.bits_after(operation, (left, a), (right, b));
                if let Some(slot) = self.by_power(operation, first, right) {
                    let home = self.define(to, wanted);
                    self.bits.insert(to, bits.min(63));
                    self.push(Operation::Copy(home, slot));
                    return Ok(());
                }
                let is_checked = self.constants.get(&right).is_none_or(|&by| by == 0 || by == -1);
                if is_checked && matches!(operation, Binary::FloorDiv | Binary::Mod) {
                    let (zero, least) = (self.constant(0), self.constant(i64::MIN));
                    self.require(Test::NotEq, second, zero);
                    self.require(Test::NotEq, first, least);
                }
                self.integer(operation, wanted, to, first, second, bits)
            }
            _ => self.floating(operation, wanted, to, first, second),
        }
    }

    /// `//` and `%` by a power of two.
    fn by_power(&mut self, operation: Binary, operand: Slot, by: Register) -> Option<Slot> {
        let by = *self.constants.get(&by)?;
        let (does, with) = match operation {
            Binary::FloorDiv => (Integer::Shr, i64::from(by.trailing_zeros())),
            Binary::Mod => (Integer::And, by.wrapping_sub(1)),
            _ => return None,
        };
        if by <= 0 || by.count_ones() != 1 {
            return None;
        }
        let (with, result) = (self.constant(with), self.fresh(Class::Integer));
        self.push(Operation::Integer(does, result, operand, with));
        Some(result)
    }

    /// Leaves where a number of Python's is none of a kind of NumPy's.
    fn within_kind(&mut self, wanted: Kind, kind: Kind, slot: Slot) {
        if kind == Kind::Int {
            self.within(wanted, slot);
        }
    }

    /// How many bits a sum or product has, at most.
    fn bits_after(
        &self,
        operation: Binary,
        left: (Register, Kind),
        right: (Register, Kind),
    ) -> u32 {
        let (a, b) = (self.bits_of(left.0, left.1), self.bits_of(right.0, right.1));
        match operation {
            Binary::Add | Binary::Sub => a.max(b) + 1,
            Binary::Mult => a + b,
            Binary::Mod if b < 63 => b,
            Binary::FloorDiv | Binary::RShift => a + 1,
            _ => 64,
        }
    }

    fn integer(
        &mut self,
        operation: Binary,
        kind: Kind,
        to: Register,
        a: Slot,
        b: Slot,
        bits: u32,
    ) -> Known<()> {
        let result = self.fresh(Class::Integer);
        let arithmetic = |writer: &mut Self, does| {
            writer.push(if bits < 63 {
                Operation::Integer(does, result, a, b)
            } else {
                Operation::Checked(does, result, a, b)
            });
        };
        match operation {
            Binary::Add => arithmetic(self, Integer::Add),
            Binary::Sub => arithmetic(self, Integer::Sub),
            Binary::Mult => arithmetic(self, Integer::Mul),
            Binary::FloorDiv | Binary::Mod => {
                let does = if operation == Binary::Mod { Integer::Mod } else { Integer::FloorDiv };
                self.push(Operation::Integer(does, result, a, b));
            }
            Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
                self.push(Operation::Integer(bitwise(operation), result, a, b));
            }
            Binary::LShift | Binary::RShift => {
                if !matches!(kind, Kind::Int | Kind::I64) {
                    return Err(Unknown);
                }
                self.require_within(b, 0, 62);
                if operation == Binary::RShift {
                    self.push(Operation::Integer(Integer::Shr, result, a, b));
                } else {
                    let back = self.fresh(Class::Integer);
                    self.push(Operation::Integer(Integer::Shl, result, a, b));
                    self.push(Operation::Integer(Integer::Shr, back, result, b));
                    self.require(Test::Eq, back, a);
                }
            }
            Binary::Pow => {
                let (zero, least) = (self.constant(0), self.constant(i64::MIN));
                self.require(Test::GtE, b, zero);
                self.push(Operation::CallIntegers(OfIntegers::Power, result, a, b));
                self.require(Test::NotEq, result, least);
            }
            Binary::Div => return Err(Unknown),
        }
        self.within(kind, result);
        let home = self.define(to, kind);
        self.bits.insert(to, bits.min(63));
        self.push(Operation::Copy(home, result));
        Ok(())
    }

    fn floating(
        &mut self,
        operation: Binary,
        kind: Kind,
        to: Register,
        a: Slot,
        b: Slot,
    ) -> Known<()> {
        let class = kind.class();
        let result = self.fresh(class);
        let plain = match operation {
            Binary::Add => Some(Floating::Add),
            Binary::Sub => Some(Floating::Sub),
            Binary::Mult => Some(Floating::Mul),
            Binary::Div => Some(Floating::Div),
            _ => None,
        };
        if matches!(operation, Binary::Div | Binary::Mod | Binary::FloorDiv) {
            let zero = self.zero(class);
            self.require(Test::NotEq, b, zero);
        }
        match (plain, operation) {
            (Some(does), _) => self.push(Operation::Floating(does, result, a, b)),
            _ if class == Class::Single => return Err(Unknown),
            (_, Binary::Mod | Binary::FloorDiv | Binary::Pow) => {
                let does = match operation {
                    Binary::Mod => Of2::Remainder,
                    Binary::FloorDiv => Of2::FloorDivide,
                    _ => Of2::Pow,
                };
                // What infinities and NaN make is left to Python and NumPy.
                self.require_finite(a);
                self.require_finite(b);
                self.push(Operation::Call2(does, result, a, b));
                self.require_finite(result);
            }
            _ => return Err(Unknown),
        }
        if kind != Kind::Float {
            self.push(Operation::Quiet(result, [a, b]));
        }
        let home = self.define(to, kind);
        self.push(Operation::Copy(home, result));
        Ok(())
    }

    /// Leaves where a `float64` is infinite or NaN.
    pub(super) fn require_finite(&mut self, slot: Slot) {
        let (size, most) = (self.fresh(Class::Double), self.fresh(Class::Double));
        self.push(Operation::Plain(Plain::Abs, size, slot));
        self.push(Operation::Double(most, f64::MAX));
        self.require(Test::LtE, size, most);
    }
}

fn bitwise(operation: Binary) -> Integer {
    match operation {
        Binary::BitAnd => Integer::And,
        Binary::BitOr => Integer::Or,
        _ => Integer::Xor,
    }
}
