//! Rows of arrays: where they are, the loops over their elements, and what becomes of them.
//!
//! A statement on rows computes all values into scratch memory first, so that it is left before its effect, and so that
//! what it reads may be what it writes. Rows have one length, or one number stands for all. Not here: which
//! expressions are rows (`flow/row_work.rs`), functions of whole rows (`row_functions.rs`).

use super::{Known, Unknown, VersionWriter};
use crate::code::{BlockEnd, Integer, Operation, Slot, Test};
use crate::flow::{AxisIndex, FlowRegister, SlicePlace, SliceValue, SliceWork};
use crate::kinds::{ElementType, Kind, SlotClass};
use crate::nest::{BinaryOperator, Name, SliceReduction};
use crate::row_functions::reduction;

/// A row: its first address, bytes from an element to the next, how many elements.
#[derive(Clone, Copy)]
struct LocatedRow {
    array: Name,
    element: ElementType,
    first: Slot,
    stride: Slot,
    count: Slot,
}

impl VersionWriter<'_> {
    pub(super) fn rows(&mut self, work: &SliceWork) -> Known<()> {
        // Of numbers NumPy may warn before it looks at rows, which may have no elements.
        self.look()?;
        let (number, blocks, operations) =
            (self.number, self.blocks.len(), self.operations.clone());
        let found = match work {
            SliceWork::Store(place, value, converted, is_in_place) => {
                self.store_row(place, value, *converted, *is_in_place)
            }
            SliceWork::Reduce(to, function, given) => self.reduce_rows(*to, *function, given),
        };
        if found.is_err() {
            // What is not known is not known of rows without elements either.
            self.blocks.truncate(blocks);
            (self.number, self.operations) = (number, operations);
        }
        found
    }

    fn store_row(
        &mut self,
        place: &SlicePlace,
        value: &SliceValue,
        converted: FlowRegister,
        is_in_place: bool,
    ) -> Known<()> {
        let target = self.row(place)?;
        let (array, element) = (target.array, target.element);
        let rows = self.rows_of(value, target.count)?;
        self.hold(value, &rows, Some(element), target.count)?;
        if let (SliceValue::Row(..), [row]) = (value, &rows[..]) {
            self.apart(*row, target);
        }
        let scratch = self.scratch(0, target.count);
        let size = self.constant(element.bytes());
        let root = is_in_place.then(|| (value.register(), element.kind()));
        self.over(target.count, |writer, at| {
            writer.element(value, &rows, at, root)?;
            if is_in_place {
                let (kind, _) = writer.operand(value.register())?;
                if rank(kind) > rank(element.kind()) {
                    return Err(Unknown);
                }
            }
            writer.convert(converted, array, value.register())?;
            writer.look()?;
            let (_, slot) = writer.operand(converted)?;
            let place = writer.walked(scratch, size, at);
            writer.push(Operation::Write(element, place, slot));
            Ok(())
        })?;
        self.over(target.count, |writer, at| {
            let value = writer.fresh(element.kind().class());
            let from = writer.walked(scratch, size, at);
            writer.push(Operation::Read(element, value, from));
            let to = writer.walked(target.first, target.stride, at);
            writer.push(Operation::Write(element, to, value));
            Ok(())
        })
    }

    fn reduce_rows(
        &mut self,
        to: FlowRegister,
        function: SliceReduction,
        given: &[SliceValue],
    ) -> Known<()> {
        let mut found: Vec<LocatedRow> = Vec::new();
        for (region, value) in given.iter().enumerate() {
            let places = value.rows();
            let is_ours =
                |array: Name| self.arrays[array].as_ref().is_some_and(|array| array.is_ours);
            // NumPy's own functions add up in other orders.
            if !places.iter().all(|(_, place)| is_ours(place.array)) {
                return Err(Unknown);
            }
            found.push(match value {
                SliceValue::Row(_, place) => self.row(place)?,
                _ => self.computed(value, region)?,
            });
            if let [first, .., last] = found[..] {
                self.require(Test::Eq, first.count, last.count);
            }
        }
        let (Some(first), Some(last)) = (found.first(), found.last()) else { return Err(Unknown) };
        let takes = if function == SliceReduction::Dot { 2 } else { 1 };
        if first.element != last.element || found.len() != takes {
            return Err(Unknown);
        }
        let kind = match function {
            SliceReduction::Any | SliceReduction::All => Kind::NumpyBool,
            SliceReduction::Argmax | SliceReduction::Argmin => Kind::I64,
            SliceReduction::Sum if first.element.kind().class() == SlotClass::Integer => Kind::I64,
            _ => first.element.kind(),
        };
        let called = reduction(function, first.element, self.products).ok_or(Unknown)?;
        if matches!(
            function,
            SliceReduction::Max
                | SliceReduction::Min
                | SliceReduction::Mean
                | SliceReduction::Argmax
                | SliceReduction::Argmin
        ) {
            let zero = self.constant(0);
            self.require(Test::Gt, first.count, zero);
        }
        let given = [first.first, first.stride, first.count, last.first, last.stride];
        let result = self.fresh(kind.class());
        self.push(Operation::CallRow(called, result, given));
        match (function, kind.class()) {
            (SliceReduction::Argmax | SliceReduction::Argmin, _) => {
                let zero = self.constant(0);
                self.require(Test::GtE, result, zero);
            }
            (_, SlotClass::Double) => self.require_finite(result),
            (_, SlotClass::Single) => {
                let double = self.as_double(kind, result);
                self.require_finite(double);
            }
            _ => {}
        }
        let home = self.define(to, kind);
        self.push(Operation::Copy(home, result));
        Ok(())
    }

    /// A row of values in scratch memory.
    fn computed(&mut self, value: &SliceValue, region: usize) -> Known<LocatedRow> {
        let places = value.rows();
        let (_, place) = places.first().ok_or(Unknown)?;
        let count = self.row(place)?.count;
        let rows = self.rows_of(value, count)?;
        self.hold(value, &rows, None, count)?;
        let first = self.scratch(region, count);
        let size = self.constant(8);
        let mut found = None;
        self.over(count, |writer, at| {
            writer.element(value, &rows, at, None)?;
            let (kind, slot) = writer.operand(value.register())?;
            let element = ElementType::of(kind).ok_or(Unknown)?;
            found = Some(element);
            let place = writer.walked(first, size, at);
            writer.push(Operation::Write(element, place, slot));
            Ok(())
        })?;
        let element = found.ok_or(Unknown)?;
        let array = place.array;
        Ok(LocatedRow { array, element, first, stride: size, count })
    }

    /// The rows of a value, which have as many elements.
    fn rows_of(&mut self, value: &SliceValue, count: Slot) -> Known<Vec<LocatedRow>> {
        let mut found = Vec::new();
        for (_, place) in value.rows() {
            let row = self.row(place)?;
            self.require(Test::Eq, row.count, count);
            found.push(row);
        }
        Ok(found)
    }

    /// Leaves at rows without elements where a number may be none that the rows or the target can hold, which Python
    /// sees before their length.
    fn hold(
        &mut self,
        value: &SliceValue,
        rows: &[LocatedRow],
        target: Option<ElementType>,
        count: Slot,
    ) -> Known<()> {
        let elements = rows.iter().map(|row| row.element).chain(target);
        let is_narrow = elements.map(ElementType::kind).any(|kind| kind.range().is_some());
        let (mut are_pythons, mut is_cast) = (false, false);
        for number in value.numbers() {
            let kind = self.unseen(number)?.0;
            are_pythons |= kind == Kind::Int;
            let fits = |target: ElementType| {
                let is_wide = target == ElementType::I64 && kind.class() == SlotClass::Integer;
                is_wide || target.kind() == kind || target.kind().class() != SlotClass::Integer
            };
            is_cast |= matches!(value, SliceValue::Number(_)) && !target.is_some_and(fits);
        }
        if is_narrow && are_pythons || is_cast {
            let zero = self.constant(0);
            self.require(Test::Gt, count, zero);
        }
        Ok(())
    }

    /// Leaves where a row is copied to one of NumPy's that it overlaps with, at other strides: NumPy then reads
    /// elements that it has written.
    fn apart(&mut self, row: LocatedRow, target: LocatedRow) {
        if self.arrays[target.array].as_ref().is_some_and(|array| array.is_ours) {
            return;
        }
        let mut holds = self.compared(Test::Eq, row.stride, target.stride);
        let [(a_low, a_high), (b_low, b_high)] = [row, target].map(|row| self.reach(row));
        for (high, low) in [(a_high, b_low), (b_high, a_low)] {
            let (is_before, either) =
                (self.compared(Test::Lt, high, low), self.fresh(SlotClass::Integer));
            self.push(Operation::Integer(Integer::Or, either, holds, is_before));
            holds = either;
        }
        self.push(Operation::Require(holds));
    }

    /// The lowest and the highest address of a row's elements.
    fn reach(&mut self, row: LocatedRow) -> (Slot, Slot) {
        let one = self.constant(1);
        let [last, bytes, end] = [0; 3].map(|_| self.fresh(SlotClass::Integer));
        self.push(Operation::Integer(Integer::Sub, last, row.count, one));
        self.push(Operation::Integer(Integer::Mul, bytes, last, row.stride));
        self.push(Operation::Integer(Integer::Add, end, row.first, bytes));
        (self.extreme(Test::Lt, row.first, end), self.extreme(Test::Gt, row.first, end))
    }

    /// The address of scratch memory for so many elements; leaves where these are more than it has.
    fn scratch(&mut self, region: usize, count: Slot) -> Slot {
        let [address, room] = [0, 1].map(|word| {
            let slot = self.fresh(SlotClass::Integer);
            self.push(Operation::Fetch(slot, self.scratch + word));
            slot
        });
        self.require(Test::LtE, count, room);
        if region == 0 {
            return address;
        }
        let (region, bytes, moved) = (
            self.constant(8 * region as i64),
            self.fresh(SlotClass::Integer),
            self.fresh(SlotClass::Integer),
        );
        self.push(Operation::Integer(Integer::Mul, bytes, region, room));
        self.push(Operation::Integer(Integer::Add, moved, address, bytes));
        moved
    }

    /// A loop over the places of elements.
    fn over(&mut self, count: Slot, does: impl FnOnce(&mut Self, Slot) -> Known<()>) -> Known<()> {
        let (at, one) = (self.constant(0), self.constant(1));
        let (inside, behind) = (self.new_block(), self.new_block());
        let test = self.compared(Test::Lt, at, count);
        self.cut(BlockEnd::Branch(test, inside, behind), inside);
        does(self, at)?;
        self.push(Operation::Integer(Integer::Add, at, at, one));
        let test = self.compared(Test::Lt, at, count);
        self.cut(BlockEnd::Branch(test, inside, behind), behind);
        Ok(())
    }

    /// The address of an element.
    fn walked(&mut self, first: Slot, stride: Slot, at: Slot) -> Slot {
        let place = self.fresh(SlotClass::Integer);
        self.push(Operation::Address(place, first, vec![(at, stride)], None));
        place
    }

    /// The value of an element, in the registers of its parts. NumPy computes the one of ``root``, which is stored in
    /// place in an array of a kind, where it is of another kind.
    fn element(
        &mut self,
        value: &SliceValue,
        rows: &[LocatedRow],
        at: Slot,
        root: Option<(FlowRegister, Kind)>,
    ) -> Known<()> {
        let found = self.part(value, &mut rows.iter(), at, root).map(|_| ());
        self.is_silent = false;
        found
    }

    /// Whether it is gpupy's: its operators and functions do not warn.
    fn part(
        &mut self,
        value: &SliceValue,
        rows: &mut std::slice::Iter<'_, LocatedRow>,
        at: Slot,
        root: Option<(FlowRegister, Kind)>,
    ) -> Known<bool> {
        Ok(match value {
            SliceValue::Number(_) => false,
            SliceValue::Row(to, _) => {
                let row = *rows.next().ok_or(Unknown)?;
                let place = self.walked(row.first, row.stride, at);
                let home = self.define(*to, row.element.kind());
                self.push(Operation::Read(row.element, home, place));
                self.arrays[row.array].as_ref().is_some_and(|array| array.is_ours)
            }
            SliceValue::Binary(to, operation, left, right) => {
                let (mut is_ours, mut are_ours) = (false, true);
                for part in [left, right] {
                    let is_one = self.part(part, rows, at, root)?;
                    is_ours |= is_one;
                    are_ours &= is_one || part.rows().is_empty();
                }
                let (left, right) = (left.register(), right.register());
                let (a, b) = (self.unseen(left)?.0, self.unseen(right)?.0);
                let is_cast = root.is_some_and(|(root, kind)| root == *to && kind != a.with(b));
                // An operator of ours and NumPy's arrays may be NumPy's.
                self.is_silent = is_ours && are_ours && !is_cast;
                match operation {
                    BinaryOperator::Pow if self.constants.get(&right) == Some(&2) => {
                        self.binary(BinaryOperator::Mult, *to, left, left)?;
                    }
                    // Functions of rows have their own bits, and other words at their errors.
                    BinaryOperator::Pow
                    | BinaryOperator::Mod
                    | BinaryOperator::FloorDiv
                    | BinaryOperator::LShift
                    | BinaryOperator::RShift => return Err(Unknown),
                    _ => self.binary(*operation, *to, left, right)?,
                }
                is_ours
            }
            SliceValue::Unary(to, operation, operand) => {
                let is_ours = self.part(operand, rows, at, root)?;
                self.unary(*operation, *to, operand.register())?;
                is_ours
            }
            SliceValue::Compare(to, comparison, left, right) => {
                let is_ours =
                    self.part(left, rows, at, root)? | self.part(right, rows, at, root)?;
                self.compare(*comparison, *to, left.register(), right.register())?;
                is_ours
            }
            SliceValue::Call(to, function, given) => {
                let mut is_ours = false;
                for one in given {
                    is_ours |= self.part(one, rows, at, root)?;
                }
                let given: Vec<_> = given.iter().map(SliceValue::register).collect();
                self.call(*function, *to, &given)?;
                is_ours
            }
        })
    }

    /// Where a row is.
    fn row(&mut self, place: &SlicePlace) -> Known<LocatedRow> {
        let array = place.array;
        let one = self.arrays[array].as_ref().ok_or(Unknown)?;
        if self.flow.is_bound[array] || place.index.len() > one.extents.len() {
            return Err(Unknown);
        }
        let (element, base) = (one.element, one.base);
        let (extents, strides) = (one.extents.clone(), one.strides.clone());
        let is_compact = one.is_compact;
        let (mut terms, mut found) = (Vec::new(), None);
        for (axis, (&extent, &stride)) in extents.iter().zip(&strides).enumerate() {
            let bounds = match place.index.get(axis) {
                Some(AxisIndex::At(register)) => {
                    terms.push((self.place_on(*register, extent)?, stride));
                    continue;
                }
                Some(AxisIndex::Slice(bounds)) => *bounds,
                None => [None; 3],
            };
            let (start, count, step) = self.bounds(extent, bounds)?;
            let stride = if is_compact && axis + 1 == extents.len() {
                self.constant(step * element.bytes())
            } else if step == 1 {
                stride
            } else {
                let (by, slot) = (self.constant(step), self.fresh(SlotClass::Integer));
                self.push(Operation::Integer(Integer::Mul, slot, stride, by));
                slot
            };
            if let Some(start) = start {
                terms.push((start, strides[axis]));
            }
            // Two axes are left.
            if found.replace((stride, count)).is_some() {
                return Err(Unknown);
            }
        }
        let (stride, count) = found.ok_or(Unknown)?;
        let first = self.fresh(SlotClass::Integer);
        self.push(Operation::Address(first, base, terms, None));
        Ok(LocatedRow { array, element, first, stride, count })
    }

    /// Of a slice: its first place, if that is not 0, how many elements it has, and its step.
    fn bounds(
        &mut self,
        extent: Slot,
        [start, stop, step]: [Option<FlowRegister>; 3],
    ) -> Known<(Option<Slot>, Slot, i64)> {
        let step = match step {
            None => 1,
            Some(step) => *self.constants.get(&step).ok_or(Unknown)?,
        };
        if step == 0 || step.unsigned_abs() > 1 << 20 {
            return Err(Unknown);
        }
        let (zero, one) = (self.constant(0), self.constant(1));
        let last = self.fresh(SlotClass::Integer);
        self.push(Operation::Integer(Integer::Sub, last, extent, one));
        let below = self.constant(-1);
        let [low, high] = if step > 0 { [zero, extent] } else { [below, last] };
        let mut bound = |one: Option<FlowRegister>, otherwise: Slot| match one {
            Some(register) => self.clipped(register, extent, low, high),
            None => Ok(otherwise),
        };
        let (first, end) = if step > 0 {
            (bound(start, zero)?, bound(stop, extent)?)
        } else {
            (bound(start, last)?, bound(stop, below)?)
        };
        if step == 1 && start.is_none() && stop.is_none() {
            return Ok((None, extent, 1));
        }
        let distance = self.fresh(SlotClass::Integer);
        let (from, to) = if step > 0 { (first, end) } else { (end, first) };
        self.push(Operation::Integer(Integer::Sub, distance, to, from));
        let mut count = distance;
        if step.abs() != 1 {
            let (more, by) = (self.constant(step.abs() - 1), self.constant(step.abs()));
            let (sum, quotient) = (self.fresh(SlotClass::Integer), self.fresh(SlotClass::Integer));
            self.push(Operation::Integer(Integer::Add, sum, distance, more));
            self.push(Operation::Integer(Integer::FloorDiv, quotient, sum, by));
            count = quotient;
        }
        let count = self.extreme(Test::Gt, count, zero);
        Ok((start.or(if step < 0 { Some(0) } else { None }).map(|_| first), count, step))
    }

    /// A bound of a slice, counted from the end where it is negative, within the axis.
    fn clipped(
        &mut self,
        register: FlowRegister,
        extent: Slot,
        low: Slot,
        high: Slot,
    ) -> Known<Slot> {
        let (kind, mut slot) = self.operand(register)?;
        if kind.is_truth() || kind.class() != SlotClass::Integer {
            return Err(Unknown);
        }
        if kind != Kind::U8 && self.low_of(register, 0).is_none_or(|low| low < 0) {
            let (zero, wrapped, chosen) =
                (self.constant(0), self.fresh(SlotClass::Integer), self.fresh(SlotClass::Integer));
            self.push(Operation::Integer(Integer::Add, wrapped, slot, extent));
            let is_negative = self.compared(Test::Lt, slot, zero);
            self.push(Operation::Select(chosen, is_negative, wrapped, slot));
            slot = self.extreme(Test::Gt, chosen, low);
        }
        Ok(self.extreme(Test::Lt, slot, high))
    }

    /// The greater or the lesser of two integers.
    fn extreme(&mut self, test: Test, a: Slot, b: Slot) -> Slot {
        let (holds, found) = (self.compared(test, a, b), self.fresh(SlotClass::Integer));
        self.push(Operation::Select(found, holds, a, b));
        found
    }
}

/// NumPy's order of kinds: what is stored in place has no greater one.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Bool | Kind::NumpyBool => 0,
        Kind::U8 => 1,
        Kind::Int | Kind::I32 | Kind::I64 => 2,
        _ => 3,
    }
}
