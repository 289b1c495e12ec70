//! Operators and comparisons by the kinds of their operands: Python's for its numbers, NumPy's for its own (NEP 50).

use super::{Known, Unknown, VersionWriter, Waiting};
use crate::called_functions::{Of2, OfIntegers};
use crate::code::{FloatFunction, Floating, Integer, Operation, Slot, Test};
use crate::flow::FlowRegister;
use crate::kinds::{Kind, SlotClass};
use crate::nest::{BinaryOperator, Comparison, UnaryOperator};

/// Integers of at most so many bits are floating-point numbers without loss.
const BITS_OF_DOUBLES: u32 = 53;

/// How many results wait together.
const WAITING: usize = 16;

impl VersionWriter<'_> {
    pub(super) fn constant(&mut self, value: i64) -> Slot {
        let slot = self.fresh(SlotClass::Integer);
        self.push(Operation::Int(slot, value));
        slot
    }

    pub(super) fn compared(&mut self, test: Test, left: Slot, right: Slot) -> Slot {
        let slot = self.fresh(SlotClass::Integer);
        self.push(Operation::Compare(test, slot, left, right));
        slot
    }

    /// Leaves where a comparison does not hold.
    pub(super) fn require(&mut self, test: Test, left: Slot, right: Slot) {
        let holds = self.compared(test, left, right);
        self.push(Operation::Require(holds));
    }

    /// 0 or 1: whether a value is true.
    pub(super) fn truth(&mut self, register: FlowRegister) -> Known<Slot> {
        let (kind, slot) = self.operand(register)?;
        if kind.is_truth() {
            return Ok(slot);
        }
        let zero = self.zero(kind.class());
        Ok(self.compared(Test::NotEq, slot, zero))
    }

    pub(super) fn zero(&mut self, class: SlotClass) -> Slot {
        match class {
            SlotClass::Integer => self.constant(0),
            SlotClass::Double => {
                let slot = self.fresh(SlotClass::Double);
                self.push(Operation::Double(slot, 0.0));
                slot
            }
            SlotClass::Single => {
                let double = self.zero(SlotClass::Double);
                let slot = self.fresh(SlotClass::Single);
                self.push(Operation::ToSingle(slot, double));
                slot
            }
        }
    }

    /// A value as `float64`, rounded.
    pub(super) fn as_double(&mut self, kind: Kind, slot: Slot) -> Slot {
        if kind.class() == SlotClass::Double {
            return slot;
        }
        let double = self.fresh(SlotClass::Double);
        self.push(match kind.class() {
            SlotClass::Integer => Operation::ToDouble(double, slot),
            _ => Operation::Widen(double, slot),
        });
        double
    }

    /// A value as `float32`, rounded; leaves where that makes it infinite, or rounds an integer twice.
    pub(super) fn as_single(&mut self, kind: Kind, slot: Slot) -> Slot {
        if kind.class() == SlotClass::Single {
            return slot;
        }
        if kind.class() == SlotClass::Integer && matches!(kind, Kind::Int | Kind::I64) {
            self.require_within(slot, -(1 << BITS_OF_DOUBLES), 1 << BITS_OF_DOUBLES);
        }
        let double = self.as_double(kind, slot);
        let (single, again) = (self.fresh(SlotClass::Single), self.fresh(SlotClass::Double));
        self.push(Operation::ToSingle(single, double));
        self.push(Operation::Widen(again, single));
        self.push(Operation::Quiet(again, [double, double]));
        single
    }

    /// A value as one of the kind that an operator works in.
    fn as_kind(&mut self, wanted: Kind, register: FlowRegister) -> Known<Slot> {
        let (kind, slot) = self.operand(register)?;
        Ok(match wanted.class() {
            SlotClass::Integer => {
                // NumPy's small integers take numbers of Python's that they can hold.
                if let (Some((low, high)), Kind::Int) = (wanted.range(), kind) {
                    self.require_within(slot, low, high);
                }
                slot
            }
            SlotClass::Double => {
                // NumPy rounds its integers; Python's are compared as they are, and never too large.
                if kind == Kind::Int && self.bits_of(register, kind) > BITS_OF_DOUBLES {
                    self.require_within(slot, -(1 << BITS_OF_DOUBLES), 1 << BITS_OF_DOUBLES);
                }
                self.as_double(kind, slot)
            }
            SlotClass::Single => self.as_single(kind, slot),
        })
    }

    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        to: FlowRegister,
        left: FlowRegister,
        right: FlowRegister,
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
        let (first, second) = if a.class() == SlotClass::Integer && b.class() == SlotClass::Integer
        {
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

    pub(super) fn unary(
        &mut self,
        operation: UnaryOperator,
        to: FlowRegister,
        operand: FlowRegister,
    ) -> Known<()> {
        if operation == UnaryOperator::Not {
            let (truth, zero) = (self.truth(operand)?, self.constant(0));
            let home = self.define(to, Kind::Bool);
            self.push(Operation::Compare(Test::Eq, home, truth, zero));
            return Ok(());
        }
        let (kind, slot) = self.operand(operand)?;
        let bits = self.bits_of(operand, kind);
        match (operation, kind) {
            (UnaryOperator::UAdd, Kind::NumpyBool)
            | (UnaryOperator::USub, Kind::NumpyBool | Kind::U8) => {
                return Err(Unknown);
            }
            (UnaryOperator::UAdd, _) => {
                let home = self.define(to, if kind == Kind::Bool { Kind::Int } else { kind });
                self.push(Operation::Copy(home, slot));
            }
            (UnaryOperator::USub, _) if kind.class() == SlotClass::Integer => {
                let zero = self.constant(0);
                let result = self.fresh(SlotClass::Integer);
                self.push(Operation::Checked(Integer::Sub, result, zero, slot));
                self.within(kind, result);
                let home = self.define(to, if kind == Kind::Bool { Kind::Int } else { kind });
                self.push(Operation::Copy(home, result));
            }
            (UnaryOperator::USub, _) => {
                let home = self.define(to, kind);
                self.push(Operation::Plain(FloatFunction::Neg, home, slot));
            }
            (UnaryOperator::Invert, Kind::Int | Kind::I32 | Kind::I64 | Kind::NumpyBool) => {
                let ones = self.constant(if kind == Kind::NumpyBool { 1 } else { -1 });
                let home = self.define(to, kind);
                self.push(Operation::Integer(Integer::Xor, home, slot, ones));
            }
            (UnaryOperator::Invert | UnaryOperator::Not, _) => return Err(Unknown),
        }
        if operation != UnaryOperator::Invert {
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
        operation: BinaryOperator,
        to: FlowRegister,
        left: FlowRegister,
        right: FlowRegister,
    ) -> Known<()> {
        let ((a, _), (b, _)) = (self.unseen(left)?, self.unseen(right)?);
        let wanted = a.with(b);
        // What is not finite makes results that are not finite, in sums, products and quotients of it.
        let mut waiting = Vec::new();
        let hands_on = match operation {
            BinaryOperator::Add | BinaryOperator::Sub | BinaryOperator::Mult => &[left, right][..],
            BinaryOperator::Div => &[left],
            _ => &[],
        };
        if wanted == Kind::F64 {
            for register in hands_on {
                waiting.extend(self.waiting.remove(register).unwrap_or_default());
            }
        }
        let ((_, first), (_, second)) = (self.operand(left)?, self.operand(right)?);
        if matches!(
            operation,
            BinaryOperator::BitAnd | BinaryOperator::BitOr | BinaryOperator::BitXor
        ) && wanted.is_truth()
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
        if operation == BinaryOperator::Div && wanted.class() == SlotClass::Integer {
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
            return self.floating(operation, kind, to, [first, second], waiting);
        }
        let (first, second) = (self.as_kind(wanted, left)?, self.as_kind(wanted, right)?);
        match wanted.class() {
            SlotClass::Integer => {
                let bits = self.bits_after(operation, (left, a), (right, b));
                let low = self.low_after(operation, left, right);
                if let Some(slot) = self.by_power(operation, first, right) {
                    let home = self.define(to, wanted);
                    self.bits.insert(to, bits.min(63));
                    self.lows.extend(low.map(|low| (to, low)));
                    self.push(Operation::Copy(home, slot));
                    return Ok(());
                }
                let is_checked = self.constants.get(&right).is_none_or(|&by| by == 0 || by == -1);
                if is_checked && matches!(operation, BinaryOperator::FloorDiv | BinaryOperator::Mod)
                {
                    let (zero, least) = (self.constant(0), self.constant(i64::MIN));
                    self.require(Test::NotEq, second, zero);
                    self.require(Test::NotEq, first, least);
                }
                self.integer(operation, wanted, to, first, second, bits)?;
                self.lows.extend(low.map(|low| (to, low)));
                Ok(())
            }
            _ => self.floating(operation, wanted, to, [first, second], waiting),
        }
    }

    /// `//` and `%` by a power of two.
    fn by_power(
        &mut self,
        operation: BinaryOperator,
        operand: Slot,
        by: FlowRegister,
    ) -> Option<Slot> {
        let by = *self.constants.get(&by)?;
        let (does, with) = match operation {
            BinaryOperator::FloorDiv => (Integer::Shr, i64::from(by.trailing_zeros())),
            BinaryOperator::Mod => (Integer::And, by.wrapping_sub(1)),
            _ => return None,
        };
        if by <= 0 || by.count_ones() != 1 {
            return None;
        }
        let (with, result) = (self.constant(with), self.fresh(SlotClass::Integer));
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
        operation: BinaryOperator,
        left: (FlowRegister, Kind),
        right: (FlowRegister, Kind),
    ) -> u32 {
        let (a, b) = (self.bits_of(left.0, left.1), self.bits_of(right.0, right.1));
        match operation {
            BinaryOperator::Add | BinaryOperator::Sub => a.max(b) + 1,
            BinaryOperator::Mult => a + b,
            BinaryOperator::Mod if b < 63 => b,
            BinaryOperator::FloorDiv | BinaryOperator::RShift => a + 1,
            _ => 64,
        }
    }

    /// What a result is not below.
    fn low_after(
        &self,
        operation: BinaryOperator,
        left: FlowRegister,
        right: FlowRegister,
    ) -> Option<i64> {
        let (a, b) = (self.low_of(left, 0), self.low_of(right, 0));
        let has_none = |low: Option<i64>| low.is_some_and(|low| low >= 0);
        match operation {
            BinaryOperator::Add => a?.checked_add(b?),
            BinaryOperator::Sub => a?.checked_sub(*self.constants.get(&right)?),
            BinaryOperator::Mult | BinaryOperator::FloorDiv => {
                (has_none(a) && has_none(b)).then_some(0)
            }
            // Its sign is the divisor's.
            BinaryOperator::Mod => has_none(b).then_some(0),
            BinaryOperator::RShift => has_none(a).then_some(0),
            _ => None,
        }
    }

    fn integer(
        &mut self,
        operation: BinaryOperator,
        kind: Kind,
        to: FlowRegister,
        a: Slot,
        b: Slot,
        bits: u32,
    ) -> Known<()> {
        let result = self.fresh(SlotClass::Integer);
        let arithmetic = |writer: &mut Self, does| {
            writer.push(if bits < 63 {
                Operation::Integer(does, result, a, b)
            } else {
                Operation::Checked(does, result, a, b)
            });
        };
        match operation {
            BinaryOperator::Add => arithmetic(self, Integer::Add),
            BinaryOperator::Sub => arithmetic(self, Integer::Sub),
            BinaryOperator::Mult => arithmetic(self, Integer::Mul),
            BinaryOperator::FloorDiv | BinaryOperator::Mod => {
                let does =
                    if operation == BinaryOperator::Mod { Integer::Mod } else { Integer::FloorDiv };
                self.push(Operation::Integer(does, result, a, b));
            }
            BinaryOperator::BitAnd | BinaryOperator::BitOr | BinaryOperator::BitXor => {
                self.push(Operation::Integer(bitwise(operation), result, a, b));
            }
            BinaryOperator::LShift | BinaryOperator::RShift => {
                if !matches!(kind, Kind::Int | Kind::I64) {
                    return Err(Unknown);
                }
                self.require_within(b, 0, 62);
                if operation == BinaryOperator::RShift {
                    self.push(Operation::Integer(Integer::Shr, result, a, b));
                } else {
                    let back = self.fresh(SlotClass::Integer);
                    self.push(Operation::Integer(Integer::Shl, result, a, b));
                    self.push(Operation::Integer(Integer::Shr, back, result, b));
                    self.require(Test::Eq, back, a);
                }
            }
            BinaryOperator::Pow => {
                let (zero, least) = (self.constant(0), self.constant(i64::MIN));
                self.require(Test::GtE, b, zero);
                self.push(Operation::CallIntegers(OfIntegers::Power, result, a, b));
                self.require(Test::NotEq, result, least);
            }
            BinaryOperator::Div => return Err(Unknown),
        }
        self.within(kind, result);
        let home = self.define(to, kind);
        self.bits.insert(to, bits.min(63));
        self.push(Operation::Copy(home, result));
        Ok(())
    }

    fn floating(
        &mut self,
        operation: BinaryOperator,
        kind: Kind,
        to: FlowRegister,
        [a, b]: [Slot; 2],
        mut waiting: Waiting,
    ) -> Known<()> {
        let class = kind.class();
        let result = self.fresh(class);
        let plain = match operation {
            BinaryOperator::Add => Some(Floating::Add),
            BinaryOperator::Sub => Some(Floating::Sub),
            BinaryOperator::Mult => Some(Floating::Mul),
            BinaryOperator::Div => Some(Floating::Div),
            _ => None,
        };
        let divides = matches!(
            operation,
            BinaryOperator::Div | BinaryOperator::Mod | BinaryOperator::FloorDiv
        );
        if divides && !self.is_silent && !self.is_written_and_not_zero(b) {
            let zero = self.zero(class);
            self.require(Test::NotEq, b, zero);
        }
        match (plain, operation) {
            (Some(does), _) => self.push(Operation::Floating(does, result, a, b)),
            _ if class == SlotClass::Single => return Err(Unknown),
            (_, BinaryOperator::Mod | BinaryOperator::FloorDiv | BinaryOperator::Pow) => {
                let does = match operation {
                    BinaryOperator::Mod => Of2::Remainder,
                    BinaryOperator::FloorDiv => Of2::FloorDivide,
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
        let home = self.define(to, kind);
        self.push(Operation::Copy(home, result));
        if self.is_silent {
            return Ok(());
        }
        waiting.push((result, [a, b]));
        match kind {
            Kind::Float => {}
            Kind::F64 if plain.is_some() && waiting.len() < WAITING => {
                self.waiting.insert(to, waiting);
            }
            _ => self.push(Operation::QuietAll(result, waiting)),
        }
        Ok(())
    }

    /// Whether a floating-point number is a constant of this statement other than 0.
    fn is_written_and_not_zero(&self, slot: Slot) -> bool {
        let write =
            |slot: Slot| self.operations.iter().rev().find(|one| one.written() == Some(slot));
        match write(slot) {
            Some(Operation::Double(_, value)) => *value != 0.0,
            Some(Operation::ToDouble(_, from)) => {
                matches!(write(*from), Some(Operation::Int(_, value)) if *value != 0)
            }
            _ => false,
        }
    }

    /// Leaves where a `float64` is infinite or NaN.
    pub(super) fn require_finite(&mut self, slot: Slot) {
        let (size, most) = (self.fresh(SlotClass::Double), self.fresh(SlotClass::Double));
        self.push(Operation::Plain(FloatFunction::Abs, size, slot));
        self.push(Operation::Double(most, f64::MAX));
        self.require(Test::LtE, size, most);
    }
}

fn bitwise(operation: BinaryOperator) -> Integer {
    match operation {
        BinaryOperator::BitAnd => Integer::And,
        BinaryOperator::BitOr => Integer::Or,
        _ => Integer::Xor,
    }
}
