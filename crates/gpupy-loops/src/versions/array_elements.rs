//! Elements of arrays: places, reads, and what is stored.

use super::{BITS_OF_EXTENTS, Known, Unknown, VersionWriter};
use crate::code::{Operation, Slot, Test};
use crate::flow::FlowRegister;
use crate::kinds::{ElementType, Kind, SlotClass};
use crate::nest::Name;

impl VersionWriter<'_> {
    pub(super) fn extent(&mut self, to: FlowRegister, array: Name, axis: isize) -> Known<()> {
        let one = self.arrays[array].as_ref().ok_or(Unknown)?;
        // It counts from the end where it is negative.
        let axis = if axis < 0 { axis + one.extents.len() as isize } else { axis };
        let slot =
            *usize::try_from(axis).ok().and_then(|axis| one.extents.get(axis)).ok_or(Unknown)?;
        if self.flow.is_bound[array] {
            return Err(Unknown);
        }
        let home = self.define(to, Kind::Int);
        self.bits.insert(to, BITS_OF_EXTENTS);
        self.lows.insert(to, 0);
        self.push(Operation::Copy(home, slot));
        Ok(())
    }

    pub(super) fn locate(
        &mut self,
        to: FlowRegister,
        array: Name,
        index: &[FlowRegister],
    ) -> Known<()> {
        let one = self.arrays[array].as_ref().ok_or(Unknown)?;
        if one.extents.len() != index.len() || self.flow.is_bound[array] {
            return Err(Unknown);
        }
        let (base, strides, extents) = (one.base, one.strides.clone(), one.extents.clone());
        let last = one.is_compact.then_some((index.len() - 1, one.element.bytes()));
        let (mut terms, mut side) = (Vec::new(), None);
        for (axis, &register) in index.iter().enumerate() {
            let place = self.place_on(register, extents[axis])?;
            match last {
                Some((number, bytes)) if number == axis => side = Some((place, bytes)),
                _ => terms.push((place, strides[axis])),
            }
        }
        let home = self.define(to, Kind::Int);
        self.push(Operation::Address(home, base, terms, side));
        Ok(())
    }

    /// A place on an axis; leaves where there is none.
    pub(super) fn place_on(&mut self, register: FlowRegister, extent: Slot) -> Known<Slot> {
        let (kind, slot) = self.operand(register)?;
        if kind.is_truth() || kind.class() != SlotClass::Integer {
            return Err(Unknown);
        }
        if kind == Kind::U8 || self.low_of(register, 0).is_some_and(|low| low >= 0) {
            self.push(Operation::Inside(slot, extent));
            return Ok(slot);
        }
        let place = self.fresh(SlotClass::Integer);
        self.push(Operation::Within(place, slot, extent));
        Ok(place)
    }

    pub(super) fn get(&mut self, to: FlowRegister, array: Name, place: FlowRegister) -> Known<()> {
        let element = self.arrays[array].as_ref().ok_or(Unknown)?.element;
        let (_, place) = self.operand(place)?;
        let home = self.define(to, element.kind());
        self.push(Operation::Read(element, home, place));
        Ok(())
    }

    pub(super) fn put(
        &mut self,
        array: Name,
        place: FlowRegister,
        value: FlowRegister,
    ) -> Known<()> {
        self.look()?;
        let element = self.arrays[array].as_ref().ok_or(Unknown)?.element;
        let ((_, place), (_, value)) = (self.operand(place)?, self.operand(value)?);
        self.push(Operation::Write(element, place, value));
        Ok(())
    }

    pub(super) fn convert(
        &mut self,
        to: FlowRegister,
        array: Name,
        value: FlowRegister,
    ) -> Known<()> {
        let one = self.arrays[array].as_ref().ok_or(Unknown)?;
        let (element, is_writeable) = (one.element, one.is_writeable);
        if !is_writeable {
            return Err(Unknown);
        }
        let wanted = element.kind();
        let (kind, slot) = self.operand(value)?;
        let found = match (element, kind.class()) {
            (ElementType::Bool, _) => self.truth(value)?,
            (ElementType::F64, _) => self.as_double(kind, slot),
            (ElementType::F32, _) => self.as_single(kind, slot),
            (_, SlotClass::Integer) => slot,
            _ => {
                let double = self.as_double(kind, slot);
                self.rounded_to_zero(double)
            }
        };
        if let (Some((low, high)), false) =
            (wanted.range(), kind == wanted || kind.is_truth() || wanted.is_truth())
        {
            self.require_within(found, low, high);
        }
        let home = self.define(to, wanted);
        self.push(Operation::Copy(home, found));
        Ok(())
    }

    /// A floating-point number rounded to zero; leaves where that has more than 63 bits, and at NaN.
    pub(super) fn rounded_to_zero(&mut self, double: Slot) -> Slot {
        for (test, bound) in [(Test::Lt, 9.2e18), (Test::Gt, -9.2e18)] {
            let (limit, holds) = (self.fresh(SlotClass::Double), self.fresh(SlotClass::Integer));
            self.push(Operation::Double(limit, bound));
            self.push(Operation::Compare(test, holds, double, limit));
            self.push(Operation::Require(holds));
        }
        let integer = self.fresh(SlotClass::Integer);
        self.push(Operation::ToInteger(integer, double));
        integer
    }
}
