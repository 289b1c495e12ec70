//! Versions of a nest's blocks for the kinds of values that reach them: from a flow without types to typed code.
//!
//! Owns [`code`]. A block becomes typed code once for each combination of kinds of those registers whose
//! values are read later, so that a name that is a `float` in the first round and a `float64` in the others has two
//! versions of the loop's body. Names that are not read again carry the number of their kind beside their bits: they
//! make no version. Where a kind is not known, the code leaves before the statement.
//!
//! Not here: operators (`number_operators.rs`), functions (`function_calls.rs`), arrays (`array_elements.rs`), rows
//! (`rows.rs`).

mod array_elements;
mod entry_state;
mod function_calls;
mod liveness;
mod number_operators;
mod rows;

use rustc_hash::FxHashMap;

use entry_state::BITS_OF_EXTENTS;
pub use entry_state::{BITS_OF_COUNTERS, Given, GivenArray, layout, ranges};

use crate::code::{Block, BlockEnd, Code, Exit, Integer, Operation, Reason, Slot, Test};
use crate::flow::{self, Flow, FlowRegister, FlowStep};
use crate::kinds::{ElementType, Kind, SlotClass};
use crate::row_functions::DotFunctions;

/// How many versions a block has on average, at most.
const VERSIONS: usize = 8;

/// A value that an operation does not take.
#[derive(Clone, Copy)]
struct Unknown;

type Known<T> = Result<T, Unknown>;

/// Where an array's description is in the state, and in slots.
struct ArrayPlace {
    element: ElementType,
    is_compact: bool,
    is_writeable: bool,
    is_ours: bool,
    base: Slot,
    extents: Vec<Slot>,
    strides: Vec<Slot>,
}

/// Typed code of a flow for what its names are; `None` where that would be too much of it.
pub fn code(flow: &Flow, given: &[Given], products: DotFunctions) -> Option<Code> {
    let mut writer = VersionWriter::new(flow, given, products);
    let steps = flow.blocks.iter().flat_map(|block| &block.steps);
    let rows = steps.filter(|step| matches!(step, FlowStep::Rows(_))).count();
    writer.entry(given);
    while let Some((block, number)) = writer.open.pop() {
        writer.block(block, number);
        if writer.blocks.len() > VERSIONS * (flow.blocks.len() + 4 * rows + 8) {
            return None;
        }
    }
    Some(Code {
        slots: writer.slots,
        blocks: writer.blocks,
        exits: writer.exits,
        words: layout(given, flow.loops.len()).1,
    })
}

/// What a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum HeldKind {
    /// A value of this kind, in the register's slot of its class.
    Value(Kind),
    /// Bits and the number of a kind, in two slots.
    Any,
}

struct VersionWriter<'a> {
    flow: &'a Flow,
    live: Vec<Vec<bool>>,
    // By register: slots of its classes, with a further one for the number of a kind.
    homes: FxHashMap<(FlowRegister, Option<SlotClass>), Slot>,
    slots: Vec<SlotClass>,
    blocks: Vec<Block>,
    exits: Vec<Exit>,
    versions: FxHashMap<(usize, Vec<HeldKind>), usize>,
    open: Vec<((usize, Vec<HeldKind>), usize)>,
    arrays: Vec<Option<ArrayPlace>>,
    // By name: what it is at entry has few bits, or is no integer.
    has_few_bits: Vec<bool>,
    // By name: whether it is an integer at entry.
    is_entered: Vec<bool>,
    products: DotFunctions,
    // The word with the address of scratch memory.
    scratch: u32,
    // Whether an operator on rows does not warn.
    is_silent: bool,
    // The block that is written, and its exit.
    number: usize,
    exit: usize,
    held: Vec<HeldKind>,
    operations: Vec<Operation>,
    // Bits of integers, where they are known to be fewer than 64.
    bits: FxHashMap<FlowRegister, u32>,
    constants: FxHashMap<FlowRegister, i64>,
    // What integers are not below.
    lows: FxHashMap<FlowRegister, i64>,
    // Of results that were used in arithmetic alone: what is to be looked at for NumPy's warnings, by register.
    waiting: FxHashMap<FlowRegister, Waiting>,
}

/// Results, each with its operands.
type Waiting = Vec<(Slot, [Slot; 2])>;

impl<'a> VersionWriter<'a> {
    fn new(flow: &'a Flow, given: &[Given], products: DotFunctions) -> Self {
        let has_few_bits = given
            .iter()
            .map(|one| !matches!(one, Given::Number(Kind::Int | Kind::I64, false)))
            .collect();
        let is_entered = given
            .iter()
            .map(|one| matches!(one, Given::Number(kind, _) if kind.class() == SlotClass::Integer))
            .collect();
        Self {
            flow,
            live: liveness::live(flow),
            homes: FxHashMap::default(),
            slots: Vec::new(),
            blocks: Vec::new(),
            exits: Vec::new(),
            versions: FxHashMap::default(),
            open: Vec::new(),
            arrays: Vec::new(),
            has_few_bits,
            is_entered,
            products,
            scratch: layout(given, flow.loops.len()).1 as u32 - 2,
            is_silent: false,
            number: 0,
            exit: 0,
            held: vec![HeldKind::Value(Kind::Kept); flow.registers],
            operations: Vec::new(),
            bits: FxHashMap::default(),
            constants: FxHashMap::default(),
            lows: FxHashMap::default(),
            waiting: FxHashMap::default(),
        }
    }

    fn fresh(&mut self, class: SlotClass) -> Slot {
        self.slots.push(class);
        (self.slots.len() - 1) as Slot
    }

    fn home(&mut self, register: FlowRegister, class: SlotClass) -> Slot {
        self.place(register, Some(class), class)
    }

    /// The slot with the number of a name's kind.
    fn kind_slot(&mut self, register: FlowRegister) -> Slot {
        self.place(register, None, SlotClass::Integer)
    }

    fn place(&mut self, register: FlowRegister, key: Option<SlotClass>, class: SlotClass) -> Slot {
        if let Some(&slot) = self.homes.get(&(register, key)) {
            return slot;
        }
        let slot = self.fresh(class);
        self.homes.insert((register, key), slot);
        slot
    }

    fn push(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    /// A name that the nest binds; others keep their kinds.
    fn is_bound(&self, register: FlowRegister) -> bool {
        register < self.flow.names && self.flow.is_bound[register]
    }

    fn entry(&mut self, given: &[Given]) {
        let (places, _) = layout(given, self.flow.loops.len());
        for (name, one) in given.iter().enumerate() {
            let kind = if let Given::Number(kind, _) = one { *kind } else { Kind::Kept };
            let word = 2 * name as u32;
            if self.is_bound(name) && !self.live[0][name] {
                let (bits, number) = (self.home(name, SlotClass::Integer), self.kind_slot(name));
                self.push(Operation::Fetch(bits, word));
                self.push(Operation::Fetch(number, word + 1));
                self.held[name] = HeldKind::Any;
            } else if kind != Kind::Kept {
                let slot = self.home(name, kind.class());
                self.push(Operation::Fetch(slot, word));
                self.held[name] = HeldKind::Value(kind);
            }
            let array = self.array(*one, places[name] as u32);
            self.arrays.push(array);
        }
        let next = self.edge(0);
        let operations = std::mem::take(&mut self.operations);
        // It leaves nowhere.
        let first = self.exits.len();
        self.exits.push(Exit { statement: 0, reason: Reason::Value, saved: vec![], kinds: vec![] });
        self.blocks[0].operations = operations;
        self.blocks[0].exit = first;
        self.blocks[0].end = BlockEnd::Jump(next);
    }

    fn array(&mut self, given: Given, word: u32) -> Option<ArrayPlace> {
        let Given::Array(GivenArray { element, axes, is_compact, is_writeable, is_ours }) = given
        else {
            return None;
        };
        let mut next = word;
        let mut fetched = |writer: &mut Self| {
            let slot = writer.fresh(SlotClass::Integer);
            writer.push(Operation::Fetch(slot, next));
            next += 1;
            slot
        };
        let base = fetched(self);
        let extents = (0..axes).map(|_| fetched(self)).collect();
        let strides = (0..axes).map(|_| fetched(self)).collect();
        Some(ArrayPlace { element, is_compact, is_writeable, is_ours, base, extents, strides })
    }

    fn new_block(&mut self) -> usize {
        let end = BlockEnd::Leave;
        self.blocks.push(Block { exit: 0, operations: Vec::new(), end, is_cold: false });
        self.blocks.len() - 1
    }

    /// The version of a block for what the registers hold now; names that it does not read become numbers with kinds.
    fn edge(&mut self, target: usize) -> usize {
        if self.blocks.is_empty() {
            self.new_block();
        }
        let mut key = self.held.clone();
        for (register, held) in key.iter_mut().enumerate() {
            if self.live[target][register] {
                continue;
            }
            if self.is_bound(register) {
                if let HeldKind::Value(kind) = *held {
                    self.as_any(register, kind);
                }
                *held = HeldKind::Any;
            } else if register >= self.flow.names {
                *held = HeldKind::Value(Kind::Kept);
            }
        }
        if let Some(&number) = self.versions.get(&(target, key.clone())) {
            return number;
        }
        let number = self.new_block();
        self.versions.insert((target, key.clone()), number);
        self.open.push(((target, key), number));
        number
    }

    fn as_any(&mut self, register: FlowRegister, kind: Kind) {
        let (bits, number) = (self.home(register, SlotClass::Integer), self.kind_slot(register));
        if kind.class() != SlotClass::Integer {
            let slot = self.home(register, kind.class());
            self.push(Operation::Bits(bits, slot));
        }
        self.push(Operation::Int(number, kind as i64));
    }

    /// A way out with the names as they are now.
    fn exit(&mut self, statement: usize, reason: Reason) -> usize {
        let mut exit = Exit { statement, reason, saved: vec![], kinds: vec![] };
        for name in 0..self.flow.names {
            let word = 2 * name as u32;
            match self.held[name] {
                _ if !self.flow.is_bound[name] => {}
                HeldKind::Value(kind) => {
                    if kind != Kind::Kept {
                        exit.saved.push((word, self.home(name, kind.class())));
                    }
                    exit.kinds.push((word + 1, kind));
                }
                HeldKind::Any => {
                    exit.saved.push((word, self.home(name, SlotClass::Integer)));
                    exit.saved.push((word + 1, self.kind_slot(name)));
                }
            }
        }
        for (number, one) in self.flow.loops.iter().enumerate() {
            // Of other loops nothing is asked.
            if !(one.statement + 1..=one.last).contains(&statement) {
                continue;
            }
            for (place, register) in one.state.into_iter().enumerate() {
                let word = 2 * self.flow.names + 3 * number + place;
                exit.saved.push((word as u32, self.home(register, SlotClass::Integer)));
            }
        }
        self.exits.push(exit);
        self.exits.len() - 1
    }

    fn block(&mut self, (block, held): (usize, Vec<HeldKind>), number: usize) {
        let flow = self.flow;
        let from = &flow.blocks[block];
        self.held = held;
        self.bits.clear();
        self.constants.clear();
        self.lows.clear();
        self.waiting.clear();
        let exit = self.exit(from.statement, Reason::Value);
        (self.number, self.exit) = (number, exit);
        let is_known =
            from.steps.iter().try_for_each(|step| self.step(step)).and_then(|()| self.look());
        let end = is_known.and_then(|()| self.end(&from.end));
        let end = end.unwrap_or_else(|Unknown| {
            self.exits[exit].reason = Reason::Kind;
            BlockEnd::Leave
        });
        match from.end {
            flow::FlowEnd::Leave if matches!(end, BlockEnd::Leave) && is_known.is_ok() => {
                self.exits[exit].reason = Reason::Return
            }
            flow::FlowEnd::Done if is_known.is_ok() => self.exits[exit].reason = Reason::Done,
            _ => {}
        }
        self.cut(end, number);
    }

    /// Ends the block that is written; what follows is in another one with the same exit.
    fn cut(&mut self, end: BlockEnd, next: usize) {
        let operations = std::mem::take(&mut self.operations);
        self.blocks[self.number] = Block { exit: self.exit, operations, end, is_cold: false };
        self.number = next;
    }

    fn end(&mut self, end: &flow::FlowEnd) -> Known<BlockEnd> {
        Ok(match *end {
            flow::FlowEnd::Jump(next) => BlockEnd::Jump(self.edge(next)),
            flow::FlowEnd::Branch(test, inside, beside) => {
                let test = self.truth(test)?;
                self.branch(test, inside, beside, |_| {})
            }
            flow::FlowEnd::Next(number, inside, beside) => self.next(number, inside, beside),
            flow::FlowEnd::Leave | flow::FlowEnd::Done => BlockEnd::Leave,
        })
    }

    /// A branch, whose first way does something besides.
    fn branch(
        &mut self,
        test: Slot,
        inside: usize,
        beside: usize,
        does: impl FnOnce(&mut Self),
    ) -> BlockEnd {
        let held = self.held.clone();
        let before = std::mem::take(&mut self.operations);
        does(self);
        let inside = self.way(inside);
        self.held = held;
        let beside = self.way(beside);
        self.operations = before;
        BlockEnd::Branch(test, inside, beside)
    }

    /// A version of a block, by a block with what has to be done before.
    fn way(&mut self, target: usize) -> usize {
        let number = self.edge(target);
        let operations = std::mem::take(&mut self.operations);
        if operations.is_empty() {
            return number;
        }
        let way = self.new_block();
        self.blocks[way].operations = operations;
        self.blocks[way].end = BlockEnd::Jump(number);
        way
    }

    fn next(&mut self, number: usize, inside: usize, beside: usize) -> BlockEnd {
        let flow = self.flow;
        let one = &flow.loops[number];
        let [at, stop, step] = one.state.map(|register| self.home(register, SlotClass::Integer));
        let test = self.fresh(SlotClass::Integer);
        match one.sign {
            1 => self.push(Operation::Compare(Test::Lt, test, at, stop)),
            -1 => self.push(Operation::Compare(Test::Gt, test, at, stop)),
            _ => {
                // The sign of (at - stop) differs from that of the step.
                let (rest, zero) = (self.fresh(SlotClass::Integer), self.fresh(SlotClass::Integer));
                self.push(Operation::Integer(Integer::Sub, rest, at, stop));
                let is_more = self.fresh(SlotClass::Integer);
                self.push(Operation::Integer(Integer::Xor, is_more, rest, step));
                self.push(Operation::Int(zero, 0));
                self.push(Operation::Compare(Test::Lt, test, is_more, zero));
                let differs = self.fresh(SlotClass::Integer);
                self.push(Operation::Compare(Test::NotEq, differs, rest, zero));
                self.push(Operation::Integer(Integer::And, test, test, differs));
            }
        }
        self.branch(test, inside, beside, |writer| {
            let item = writer.define(one.target, Kind::Int);
            writer.push(Operation::Copy(item, at));
            writer.push(Operation::Integer(Integer::Add, at, at, step));
        })
    }

    /// The slot of a register that gets a value of a kind.
    fn define(&mut self, register: FlowRegister, kind: Kind) -> Slot {
        self.held[register] = HeldKind::Value(kind);
        self.bits.remove(&register);
        self.constants.remove(&register);
        self.lows.remove(&register);
        self.home(register, kind.class())
    }

    /// A register's kind and slot, where it may be looked at.
    fn operand(&mut self, register: FlowRegister) -> Known<(Kind, Slot)> {
        if self.waiting.contains_key(&register) {
            let (_, slot) = self.unseen(register)?;
            let waiting = self.waiting.remove(&register).unwrap_or_default();
            self.push(Operation::QuietAll(slot, waiting));
        }
        self.unseen(register)
    }

    /// Looks at all results that wait for it.
    fn look(&mut self) -> Known<()> {
        let registers: Vec<_> = self.waiting.keys().copied().collect();
        registers.into_iter().try_for_each(|one| self.operand(one).map(|_| ()))
    }

    /// What an integer is not below, if that is known.
    fn low_of(&self, register: FlowRegister, depth: usize) -> Option<i64> {
        if let Some(&low) = self.lows.get(&register) {
            return Some(low);
        }
        if depth > 6
            || register >= self.flow.names
            || !self.flow.is_counter[register]
            || !self.has_few_bits[register]
        {
            return None;
        }
        // What it is at the entry is not negative, if it is an integer.
        let mut low = if self.is_entered[register] { 0 } else { i64::MAX };
        for one in self.flow.loops.iter().filter(|one| one.target == register) {
            let bound = one.low.as_ref()?;
            let mut sum = bound.number;
            for &name in &bound.names {
                let part = self.low_of(name, depth + 1).filter(|part| *part >= 0)?;
                sum = sum.checked_add(part)?;
            }
            low = low.min(sum);
        }
        (low < i64::MAX).then_some(low)
    }

    /// A register's kind and slot.
    fn unseen(&mut self, register: FlowRegister) -> Known<(Kind, Slot)> {
        match self.held[register] {
            HeldKind::Value(Kind::Kept) | HeldKind::Any => Err(Unknown),
            HeldKind::Value(kind) => Ok((kind, self.home(register, kind.class()))),
        }
    }

    /// How many bits an integer has without its sign.
    fn bits_of(&self, register: FlowRegister, kind: Kind) -> u32 {
        let most = match kind {
            Kind::Bool | Kind::NumpyBool => 1,
            Kind::U8 => 8,
            Kind::I32 => 32,
            _ => 63,
        };
        let is_counter = register < self.flow.names
            && self.flow.is_counter[register]
            && self.has_few_bits[register];
        let few =
            if is_counter && matches!(kind, Kind::Int | Kind::I64) { BITS_OF_COUNTERS } else { 63 };
        most.min(few).min(self.bits.get(&register).copied().unwrap_or(63))
    }

    fn step(&mut self, step: &FlowStep) -> Known<()> {
        match step {
            FlowStep::Int(to, value) => {
                let slot = self.define(*to, Kind::Int);
                self.bits.insert(*to, 64 - value.unsigned_abs().leading_zeros());
                self.constants.insert(*to, *value);
                self.lows.insert(*to, *value);
                self.push(Operation::Int(slot, *value));
            }
            FlowStep::Float(to, value) => {
                let slot = self.define(*to, Kind::Float);
                self.push(Operation::Double(slot, *value));
            }
            FlowStep::Bool(to, value) => {
                let slot = self.define(*to, Kind::Bool);
                self.push(Operation::Int(slot, i64::from(*value)));
            }
            FlowStep::Move(to, from) => {
                if *to < self.flow.names {
                    // An effect.
                    self.look()?;
                }
                let low = self.low_of(*from, 0);
                let (kind, slot) = self.operand(*from)?;
                let bits = self.bits_of(*from, kind);
                let home = self.define(*to, kind);
                self.bits.insert(*to, bits);
                if let Some(low) = low {
                    self.lows.insert(*to, low);
                }
                self.push(Operation::Copy(home, slot));
            }
            FlowStep::Binary(operation, to, left, right) => {
                self.binary(*operation, *to, *left, *right)?
            }
            FlowStep::Unary(operation, to, operand) => self.unary(*operation, *to, *operand)?,
            FlowStep::Compare(comparison, to, left, right) => {
                self.compare(*comparison, *to, *left, *right)?
            }
            FlowStep::Call(function, to, given) => self.call(*function, *to, given)?,
            FlowStep::Locate(to, array, index) => self.locate(*to, *array, index)?,
            FlowStep::Get(to, array, place) => self.get(*to, *array, *place)?,
            FlowStep::Convert(to, array, value) => self.convert(*to, *array, *value)?,
            FlowStep::Put(array, place, value) => self.put(*array, *place, *value)?,
            FlowStep::Extent(to, array, axis) => self.extent(*to, *array, *axis)?,
            FlowStep::Begin(number, given) => self.begin(*number, given)?,
            FlowStep::Rows(work) => self.rows(work)?,
            FlowStep::Unknown => return Err(Unknown),
            FlowStep::Poll => self.push(Operation::Poll),
        }
        Ok(())
    }

    fn begin(&mut self, number: usize, given: &[FlowRegister]) -> Known<()> {
        let flow = self.flow;
        let state = flow.loops[number].state;
        let mut slots = Vec::new();
        for &register in given {
            let (kind, slot) = self.operand(register)?;
            if kind.class() != SlotClass::Integer || kind == Kind::NumpyBool {
                return Err(Unknown);
            }
            if self.bits_of(register, kind) > BITS_OF_COUNTERS {
                self.require_within(slot, -(1 << BITS_OF_COUNTERS), 1 << BITS_OF_COUNTERS);
            }
            slots.push(slot);
        }
        let constant = |writer: &mut Self, value| {
            let slot = writer.fresh(SlotClass::Integer);
            writer.push(Operation::Int(slot, value));
            slot
        };
        if let [_, _, step] = slots[..] {
            self.push(Operation::Require(step));
        }
        let [start, stop, step] = match slots[..] {
            [stop] => [constant(self, 0), stop, constant(self, 1)],
            [start, stop] => [start, stop, constant(self, 1)],
            [start, stop, step] => [start, stop, step],
            _ => return Err(Unknown),
        };
        for (register, slot) in state.into_iter().zip([start, stop, step]) {
            let home = self.define(register, Kind::Int);
            self.push(Operation::Copy(home, slot));
        }
        Ok(())
    }

    /// Leaves where an integer is not within.
    fn require_within(&mut self, slot: Slot, low: i64, high: i64) {
        for (test, bound) in [(Test::GtE, low), (Test::LtE, high)] {
            let (limit, holds) = (self.fresh(SlotClass::Integer), self.fresh(SlotClass::Integer));
            self.push(Operation::Int(limit, bound));
            self.push(Operation::Compare(test, holds, slot, limit));
            self.push(Operation::Require(holds));
        }
    }
}
