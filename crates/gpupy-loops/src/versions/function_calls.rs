//! Calls of functions by the kinds of what they are given.

use super::{Known, Unknown, VersionWriter};
use crate::called_functions::{NamedFunction, Of1, Of2};
use crate::code::{FloatFunction, Floating, Integer, Operation, Slot, Test};
use crate::flow::FlowRegister;
use crate::kinds::{Kind, SlotClass};

impl VersionWriter<'_> {
    pub(super) fn call(
        &mut self,
        function: NamedFunction,
        to: FlowRegister,
        given: &[FlowRegister],
    ) -> Known<()> {
        match (function, given) {
            (NamedFunction::Abs | NamedFunction::NumpyAbs, &[one]) => self.abs(function, to, one),
            (NamedFunction::Bool, &[one]) => {
                let truth = self.truth(one)?;
                self.give(to, Kind::Bool, truth)
            }
            (NamedFunction::Int | NamedFunction::NumpyInt64, &[one]) => {
                let (kind, slot) = self.operand(one)?;
                let found = if kind.class() == SlotClass::Integer {
                    slot
                } else {
                    let double = self.as_double(kind, slot);
                    self.rounded_to_zero(double)
                };
                self.give(
                    to,
                    if function == NamedFunction::Int { Kind::Int } else { Kind::I64 },
                    found,
                )
            }
            (NamedFunction::Float | NamedFunction::NumpyFloat64, &[one]) => {
                let (kind, slot) = self.operand(one)?;
                let double = self.as_double(kind, slot);
                self.give(
                    to,
                    if function == NamedFunction::Float { Kind::Float } else { Kind::F64 },
                    double,
                )
            }
            (NamedFunction::NumpyFloat32, &[one]) => {
                let (kind, slot) = self.operand(one)?;
                let single = self.as_single(kind, slot);
                self.give(to, Kind::F32, single)
            }
            (NamedFunction::NumpySqrt, &[one]) => self.square_root(to, one),
            (NamedFunction::NumpyMaximum | NamedFunction::NumpyMinimum, &[left, right]) => {
                self.extreme_of_floats(function, to, left, right)
            }
            (NamedFunction::Math1(function), &[one]) => {
                let operand = self.finite(one)?;
                let result = self.fresh(SlotClass::Double);
                match function {
                    Of1::Sqrt => {
                        let zero = self.zero(SlotClass::Double);
                        self.require(Test::GtE, operand, zero);
                        self.push(Operation::Plain(FloatFunction::Sqrt, result, operand));
                    }
                    Of1::Fabs => self.push(Operation::Plain(FloatFunction::Abs, result, operand)),
                    _ => self.push(Operation::Call1(function, result, operand)),
                }
                self.require_finite(result);
                self.give(to, Kind::Float, result)
            }
            (NamedFunction::Math2(function), &[left, right]) => {
                let (left, right) = (self.finite(left)?, self.finite(right)?);
                if function == Of2::Fmod {
                    let zero = self.zero(SlotClass::Double);
                    self.require(Test::NotEq, right, zero);
                }
                let result = self.fresh(SlotClass::Double);
                self.push(Operation::Call2(function, result, left, right));
                self.require_finite(result);
                self.give(to, Kind::Float, result)
            }
            (NamedFunction::MathFloor | NamedFunction::MathCeil, &[one]) => {
                self.rounded(function, to, one)
            }
            _ => Err(Unknown),
        }
    }

    fn give(&mut self, to: FlowRegister, kind: Kind, slot: Slot) -> Known<()> {
        let home = self.define(to, kind);
        self.push(Operation::Copy(home, slot));
        Ok(())
    }

    /// A finite `float64`; of an integer that is one.
    fn finite(&mut self, register: FlowRegister) -> Known<Slot> {
        let (kind, slot) = self.operand(register)?;
        if kind.class() == SlotClass::Integer {
            self.require_within(slot, -(1 << 53), 1 << 53);
        }
        let double = self.as_double(kind, slot);
        self.require_finite(double);
        Ok(double)
    }

    fn abs(
        &mut self,
        function: NamedFunction,
        to: FlowRegister,
        operand: FlowRegister,
    ) -> Known<()> {
        let (kind, slot) = self.operand(operand)?;
        let kind = match (function, kind) {
            (NamedFunction::NumpyAbs, Kind::Bool) => return Err(Unknown),
            (NamedFunction::NumpyAbs, Kind::Int) => Kind::I64,
            (NamedFunction::NumpyAbs, Kind::Float) => Kind::F64,
            (_, Kind::Bool) => Kind::Int,
            _ => kind,
        };
        if kind.class() != SlotClass::Integer {
            let home = self.define(to, kind);
            self.push(Operation::Plain(FloatFunction::Abs, home, slot));
            return Ok(());
        }
        if !matches!(kind, Kind::Int | Kind::I64 | Kind::I32) {
            return self.give(to, kind, slot);
        }
        let least = self.constant(if kind == Kind::I32 { i32::MIN.into() } else { i64::MIN });
        self.require(Test::NotEq, slot, least);
        // (x ^ s) - s, of the sign s in all bits.
        let (all, sign, other) =
            (self.constant(63), self.fresh(SlotClass::Integer), self.fresh(SlotClass::Integer));
        self.push(Operation::Integer(Integer::Shr, sign, slot, all));
        self.push(Operation::Integer(Integer::Xor, other, slot, sign));
        let home = self.define(to, kind);
        self.push(Operation::Integer(Integer::Sub, home, other, sign));
        Ok(())
    }

    fn square_root(&mut self, to: FlowRegister, operand: FlowRegister) -> Known<()> {
        let (kind, slot) = self.operand(operand)?;
        let (kind, slot) = match kind {
            Kind::F32 => (kind, slot),
            Kind::Float | Kind::F64 | Kind::I64 | Kind::I32 | Kind::Int => {
                (Kind::F64, self.as_double(kind, slot))
            }
            _ => return Err(Unknown),
        };
        let zero = self.zero(kind.class());
        self.require(Test::GtE, slot, zero);
        let home = self.define(to, kind);
        self.push(Operation::Plain(FloatFunction::Sqrt, home, slot));
        Ok(())
    }

    /// `np.maximum` and `np.minimum` of numbers that are neither NaN nor both zero.
    fn extreme_of_floats(
        &mut self,
        function: NamedFunction,
        to: FlowRegister,
        left: FlowRegister,
        right: FlowRegister,
    ) -> Known<()> {
        let ((a, first), (b, second)) = (self.operand(left)?, self.operand(right)?);
        if a.with(b).class() != SlotClass::Double {
            return Err(Unknown);
        }
        let (first, second) = (self.finite_double(a, first), self.finite_double(b, second));
        let (zero, sum) = (self.zero(SlotClass::Double), self.fresh(SlotClass::Double));
        let (left_size, right_size) =
            (self.fresh(SlotClass::Double), self.fresh(SlotClass::Double));
        self.push(Operation::Plain(FloatFunction::Abs, left_size, first));
        self.push(Operation::Plain(FloatFunction::Abs, right_size, second));
        self.push(Operation::Floating(Floating::Add, sum, left_size, right_size));
        self.require(Test::NotEq, sum, zero);
        let test = if function == NamedFunction::NumpyMaximum { Test::Gt } else { Test::Lt };
        let holds = self.compared(test, first, second);
        let result = self.fresh(SlotClass::Double);
        self.push(Operation::Select(result, holds, first, second));
        self.give(to, Kind::F64, result)
    }

    fn finite_double(&mut self, kind: Kind, slot: Slot) -> Slot {
        let double = self.as_double(kind, slot);
        self.require_finite(double);
        double
    }

    fn rounded(
        &mut self,
        function: NamedFunction,
        to: FlowRegister,
        operand: FlowRegister,
    ) -> Known<()> {
        let (kind, slot) = self.operand(operand)?;
        if kind.class() == SlotClass::Integer {
            return if kind.is_truth() { Err(Unknown) } else { self.give(to, Kind::Int, slot) };
        }
        let double = self.as_double(kind, slot);
        let integer = self.rounded_to_zero(double);
        let (again, other) = (self.fresh(SlotClass::Double), self.fresh(SlotClass::Integer));
        self.push(Operation::ToDouble(again, integer));
        let is_floor = function == NamedFunction::MathFloor;
        let differs = self.compared(if is_floor { Test::Gt } else { Test::Lt }, again, double);
        let does = if is_floor { Integer::Sub } else { Integer::Add };
        self.push(Operation::Integer(does, other, integer, differs));
        self.give(to, Kind::Int, other)
    }
}
