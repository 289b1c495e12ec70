//! Integers of a nest's code, each value by its own number, and what is known of them at each place.
//!
//! Owns [`NumberedValues`], [`Numbered`] and [`KnownDifference`]. A slot that is written in several places has a value
//! for each, and one where ways meet. Not here: what follows from it (`difference_proofs.rs`).

use rustc_hash::FxHashMap;

use super::natural_loops::BlockGraph;
use crate::code::{BlockEnd, Code, Integer, Operation, Slot, Test};
use crate::kinds::SlotClass;

/// The number of a value.
pub type ValueNumber = usize;

/// The number of 0.
pub const ZERO: ValueNumber = 0;

/// The least and the greatest number that a word of the state is at the entry.
pub type WordRange = (i64, i64);

/// How a value came to be.
#[derive(Debug, PartialEq)]
pub enum Numbered {
    Constant(i64),
    /// A word of the state at the entry.
    Word(u32),
    /// Another value and a constant, exactly.
    Offset(ValueNumber, i64),
    /// A sum, exactly.
    Sum(ValueNumber, ValueNumber),
    /// A product with a constant that is not 0, exactly.
    Scaled(ValueNumber, i64),
    /// One of two.
    Either(ValueNumber, ValueNumber),
    /// Of a division rounded down, by its divisor.
    Remainder(ValueNumber),
    Compare(Test, ValueNumber, ValueNumber),
    /// Of a block where ways meet: what it is by the block before.
    Met(usize, Vec<(usize, ValueNumber)>),
    Other,
}

/// `left - right <= most`.
#[derive(Clone, Copy, Debug)]
pub struct KnownDifference {
    pub left: ValueNumber,
    pub right: ValueNumber,
    pub most: i128,
}

/// The values of an operation that may be left out.
#[derive(Clone, Copy, Debug)]
pub struct CheckOperands(pub ValueNumber, pub ValueNumber);

/// The values of some code.
pub struct NumberedValues {
    pub values: Vec<Numbered>,
    /// By value: the block that has it first.
    pub blocks: Vec<usize>,
    ranges: Vec<(i128, i128)>,
    // By value: the same one with a lower number.
    same: Vec<ValueNumber>,
    /// By block: what is known from behind so many of its operations on.
    pub facts: Vec<Vec<(usize, KnownDifference)>>,
    /// By block: operations with their values.
    pub checks: Vec<Vec<(usize, CheckOperands)>>,
    /// By block: the value by which it ends in a branch.
    pub tests: Vec<Option<ValueNumber>>,
    constants: FxHashMap<i64, ValueNumber>,
}

const ALL: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

impl NumberedValues {
    /// Of some code, with the ranges of the words of its state.
    pub fn new(code: &Code, graph: &BlockGraph, words: &[WordRange]) -> Self {
        let count = code.blocks.len();
        let mut found = Self {
            values: Vec::new(),
            blocks: Vec::new(),
            ranges: Vec::new(),
            same: Vec::new(),
            facts: vec![Vec::new(); count],
            checks: vec![Vec::new(); count],
            tests: vec![None; count],
            constants: FxHashMap::default(),
        };
        found.constant_value(0);
        let mut writes = vec![0; code.slots.len()];
        let operations = graph.order.iter().flat_map(|&block| &code.blocks[block].operations);
        operations.filter_map(Operation::written).for_each(|slot| writes[slot as usize] += 1);
        let several: Vec<Slot> = (0..code.slots.len())
            .filter(|&slot| writes[slot] > 1 && code.slots[slot] == SlotClass::Integer)
            .map(|slot| slot as Slot)
            .collect();
        let mut single = FxHashMap::default();
        let mut behind: Vec<FxHashMap<Slot, ValueNumber>> = vec![FxHashMap::default(); count];
        for &number in &graph.order {
            let mut now = match graph.before[number][..] {
                [only] if number != 0 => behind[only].clone(),
                _ => several
                    .iter()
                    .map(|&slot| (slot, found.add(Numbered::Met(number, Vec::new()), number, ALL)))
                    .collect(),
            };
            for (place, operation) in code.blocks[number].operations.iter().enumerate() {
                let mut get = |slot: Slot, found: &mut Self| {
                    let known = now.get(&slot).or_else(|| single.get(&slot)).copied();
                    known.unwrap_or_else(|| found.add(Numbered::Other, number, ALL))
                };
                let value = found.operation(operation, (number, place), words, &mut get);
                if let Some(slot) = operation.written()
                    && code.slots[slot as usize] == SlotClass::Integer
                {
                    let value = value.unwrap_or_else(|| found.add(Numbered::Other, number, ALL));
                    if writes[slot as usize] > 1 {
                        now.insert(slot, value);
                    } else {
                        single.insert(slot, value);
                    }
                }
            }
            if let BlockEnd::Branch(test, inside, beside) = code.blocks[number].end
                && let Some(&test) = now.get(&test).or_else(|| single.get(&test))
            {
                found.tests[number] = Some(test);
                for (next, holds) in [(inside, true), (beside, false)] {
                    if inside != beside && graph.before[next].len() == 1 {
                        found.told(test, holds, (next, 0));
                    }
                }
            }
            behind[number] = now;
        }
        found.meet(graph, &several, &behind);
        found
    }

    fn add(&mut self, value: Numbered, block: usize, range: (i128, i128)) -> ValueNumber {
        self.values.push(value);
        self.blocks.push(block);
        self.ranges.push(range);
        self.same.push(self.values.len() - 1);
        self.values.len() - 1
    }

    fn constant_value(&mut self, value: i64) -> ValueNumber {
        if let Some(&known) = self.constants.get(&value) {
            return known;
        }
        let number = self.add(Numbered::Constant(value), 0, (value.into(), value.into()));
        self.constants.insert(value, number);
        number
    }

    fn fact(
        &mut self,
        (block, place): (usize, usize),
        left: ValueNumber,
        right: ValueNumber,
        most: i128,
    ) {
        self.facts[block].push((place, KnownDifference { left, right, most }));
    }

    /// What a comparison says where it holds, or does not.
    fn told(&mut self, test: ValueNumber, holds: bool, place: (usize, usize)) {
        let Numbered::Compare(test, a, b) = self.values[test] else { return };
        match (test, holds) {
            (Test::Lt, true) | (Test::GtE, false) => self.fact(place, a, b, -1),
            (Test::LtE, true) | (Test::Gt, false) => self.fact(place, a, b, 0),
            (Test::Gt, true) | (Test::LtE, false) => self.fact(place, b, a, -1),
            (Test::GtE, true) | (Test::Lt, false) => self.fact(place, b, a, 0),
            (Test::Eq, true) | (Test::NotEq, false) => {
                self.fact(place, a, b, 0);
                self.fact(place, b, a, 0);
            }
            _ => {}
        }
    }

    /// The value that an operation makes, if something is known of it.
    fn operation(
        &mut self,
        operation: &Operation,
        (block, place): (usize, usize),
        words: &[WordRange],
        get: &mut impl FnMut(Slot, &mut Self) -> ValueNumber,
    ) -> Option<ValueNumber> {
        let behind = (block, place + 1);
        Some(match *operation {
            Operation::Int(_, value) => self.constant_value(value),
            Operation::Copy(_, from) => get(from, self),
            Operation::Fetch(_, word) => {
                let (low, high) = words[word as usize];
                self.add(Numbered::Word(word), 0, (low.into(), high.into()))
            }
            Operation::Integer(does, _, a, b) | Operation::Checked(does, _, a, b) => {
                let (a, b) = (get(a, self), get(b, self));
                let is_checked = matches!(operation, Operation::Checked(..));
                if is_checked {
                    self.checks[block].push((place, CheckOperands(a, b)));
                }
                match (does, self.constant(a), self.constant(b)) {
                    // Versions make sums with constants without a check only where they have fewer than 64 bits.
                    (Integer::Add, _, Some(by)) => self.add(Numbered::Offset(a, by), block, ALL),
                    (Integer::Add, Some(by), _) => self.add(Numbered::Offset(b, by), block, ALL),
                    (Integer::Sub, _, Some(by)) if by != i64::MIN => {
                        self.add(Numbered::Offset(a, -by), block, ALL)
                    }
                    (Integer::Mod, ..) => {
                        self.checks[block].push((place, CheckOperands(a, b)));
                        self.add(Numbered::Remainder(b), block, ALL)
                    }
                    (Integer::Add, ..) if is_checked => self.add(Numbered::Sum(a, b), block, ALL),
                    (Integer::Mul, _, Some(by)) if is_checked && by != 0 => {
                        self.add(Numbered::Scaled(a, by), block, ALL)
                    }
                    (Integer::Mul, Some(by), _) if is_checked && by != 0 => {
                        self.add(Numbered::Scaled(b, by), block, ALL)
                    }
                    (Integer::And, _, Some(by)) if by >= 0 => {
                        self.add(Numbered::Other, block, (0, by.into()))
                    }
                    _ => return None,
                }
            }
            Operation::Compare(test, _, a, b) => {
                let (a, b) = (get(a, self), get(b, self));
                self.add(Numbered::Compare(test, a, b), block, (0, 1))
            }
            Operation::Select(_, _, a, b) => {
                let (a, b) = (get(a, self), get(b, self));
                self.add(Numbered::Either(a, b), block, ALL)
            }
            Operation::Require(test) => {
                let test = get(test, self);
                self.checks[block].push((place, CheckOperands(test, test)));
                self.told(test, true, behind);
                return None;
            }
            Operation::Inside(index, extent) => {
                let (index, extent) = (get(index, self), get(extent, self));
                self.checks[block].push((place, CheckOperands(index, extent)));
                self.fact(behind, index, extent, -1);
                return None;
            }
            Operation::Within(_, index, extent) => {
                let (index, extent) = (get(index, self), get(extent, self));
                self.checks[block].push((place, CheckOperands(index, extent)));
                // An index that passes is below the extent.
                self.fact(behind, index, extent, -1);
                let value = self.add(Numbered::Other, block, (0, ALL.1));
                self.fact(behind, value, extent, -1);
                value
            }
            Operation::Read(element, ..) => {
                let (low, high) = element.kind().range()?;
                self.add(Numbered::Other, block, (low.into(), high.into()))
            }
            _ => return None,
        })
    }

    /// Fills in what values are where ways meet, and finds those that are one value on all of them.
    fn meet(
        &mut self,
        graph: &BlockGraph,
        several: &[Slot],
        behind: &[FxHashMap<Slot, ValueNumber>],
    ) {
        let mut met: FxHashMap<usize, Vec<ValueNumber>> = FxHashMap::default();
        for number in 0..self.values.len() {
            if let Numbered::Met(block, _) = self.values[number] {
                met.entry(block).or_default().push(number);
            }
        }
        for (&block, numbers) in &met {
            for (&slot, &number) in several.iter().zip(numbers) {
                let inputs = graph.before[block].iter().map(|&from| (from, behind[from][&slot]));
                let inputs: Vec<_> = inputs.collect();
                self.values[number] = if block == 0 || inputs.is_empty() {
                    Numbered::Other
                } else {
                    Numbered::Met(block, inputs)
                };
            }
        }
        loop {
            let mut is_new = false;
            for number in 0..self.values.len() {
                let Numbered::Met(_, inputs) = &self.values[number] else { continue };
                if self.same[number] != number {
                    continue;
                }
                let mut others = inputs
                    .iter()
                    .map(|&(_, one)| self.representative(one))
                    .filter(|&one| one != number);
                if let Some(first) = others.next()
                    && others.all(|one| one == first)
                {
                    self.same[number] = first;
                    is_new = true;
                }
            }
            if !is_new {
                return;
            }
        }
    }

    /// Whether a comparison of two constants holds.
    pub fn known(&self, test: ValueNumber) -> Option<bool> {
        let Numbered::Compare(test, a, b) = self.values[self.representative(test)] else {
            return None;
        };
        Some(test.holds(&self.constant(a)?, &self.constant(b)?))
    }

    /// The least number of the values that are one.
    pub fn representative(&self, mut value: ValueNumber) -> ValueNumber {
        while self.same[value] != value {
            value = self.same[value];
        }
        value
    }

    /// A value as another one and a constant.
    pub fn offset(&self, value: ValueNumber) -> (ValueNumber, i128) {
        let (mut value, mut sum) = (self.representative(value), 0);
        loop {
            match self.values[value] {
                Numbered::Offset(of, by) => {
                    (value, sum) = (self.representative(of), sum + i128::from(by));
                }
                Numbered::Constant(by) => return (ZERO, sum + i128::from(by)),
                _ => return (value, sum),
            }
        }
    }

    /// The number that a value is.
    pub fn constant(&self, value: ValueNumber) -> Option<i64> {
        match self.offset(value) {
            (ZERO, value) => i64::try_from(value).ok(),
            _ => None,
        }
    }

    /// The least and the greatest number that it is, by its kind.
    pub fn range(&self, value: ValueNumber) -> (i128, i128) {
        self.ranges[value]
    }

    /// The word of the state that a value is, none of 0; `None` for others.
    pub fn entered(&self, value: ValueNumber) -> Option<Option<u32>> {
        match self.values[value] {
            Numbered::Word(word) => Some(Some(word)),
            Numbered::Constant(0) => Some(None),
            _ => None,
        }
    }
}
