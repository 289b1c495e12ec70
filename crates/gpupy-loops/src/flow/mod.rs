//! The control flow of a nest: basic blocks of steps on registers, still without types.
//!
//! Owns [`Flow`], [`Block`], [`FlowStep`] and [`FlowEnd`]. A register is a name's or a temporary's. Invariants: in one
//! statement no step that may leave stands behind one that has an effect (the store of an element, a name that is
//! bound), so that a nest is left before a statement's first effect. Not here: rows (`row_work.rs`),
//! types (`versions`).

mod row_work;

use rustc_hash::FxHashMap;

use crate::called_functions::NamedFunction;
use crate::nest::{
    BinaryOperator, Comparison, Does, Expression, Index, Name, Nest, Statement, Target,
    UnaryOperator,
};
pub use row_work::{AxisIndex, SlicePlace, SliceValue, SliceWork};

/// Where a value is, names first.
pub type FlowRegister = usize;

/// One step.
#[derive(Debug, Clone)]
pub enum FlowStep {
    /// A number of Python's.
    Int(FlowRegister, i64),
    /// A number of Python's.
    Float(FlowRegister, f64),
    /// `True` or `False`.
    Bool(FlowRegister, bool),
    /// The first becomes the second.
    Move(FlowRegister, FlowRegister),
    /// An operator.
    Binary(BinaryOperator, FlowRegister, FlowRegister, FlowRegister),
    /// An operator.
    Unary(UnaryOperator, FlowRegister, FlowRegister),
    /// A comparison.
    Compare(Comparison, FlowRegister, FlowRegister, FlowRegister),
    /// A call.
    Call(NamedFunction, FlowRegister, Vec<FlowRegister>),
    /// The address of an array's element.
    Locate(FlowRegister, Name, Vec<FlowRegister>),
    /// The element at an address.
    Get(FlowRegister, Name, FlowRegister),
    /// A value as an array's dtype has it.
    Convert(FlowRegister, Name, FlowRegister),
    /// Stores such a value at an address.
    Put(Name, FlowRegister, FlowRegister),
    /// An axis's length.
    Extent(FlowRegister, Name, isize),
    /// Work on rows of arrays.
    Rows(Box<SliceWork>),
    /// What no code knows.
    Unknown,
    /// The loop's state from the values of its `range`.
    Begin(usize, Vec<FlowRegister>),
    /// Signals, other threads, and changes of globals are looked at.
    Poll,
}

/// The end of a block.
#[derive(Debug, Clone)]
pub enum FlowEnd {
    /// Goes on.
    Jump(usize),
    /// By the truth of a value.
    Branch(FlowRegister, usize, usize),
    /// Binds the next item of a loop, or goes on behind it.
    Next(usize, usize, usize),
    /// Python goes on before the block's statement.
    Leave,
    /// The nest is done.
    Done,
}

/// Steps of one statement, or of a part of it.
#[derive(Debug)]
pub struct Block {
    /// The statement before which it may be left.
    pub statement: usize,
    /// Its steps.
    pub steps: Vec<FlowStep>,
    /// Where it goes on.
    pub end: FlowEnd,
}

/// A `for`.
#[derive(Debug)]
pub struct Loop {
    /// The statement.
    pub statement: usize,
    /// The last statement in its body.
    pub last: usize,
    /// The name of its items.
    pub target: Name,
    /// Its next item, its end, its step.
    pub state: [FlowRegister; 3],
    /// The sign of its step, 0 where that is not known.
    pub sign: i64,
    /// What its items are not below, if something is known.
    pub low: Option<Low>,
}

/// A bound of an integer: a number, and names that are not negative.
#[derive(Debug, Clone)]
pub struct Low {
    /// The number.
    pub number: i64,
    /// The names.
    pub names: Vec<Name>,
}

impl Low {
    fn of(expression: &Expression) -> Option<Self> {
        let constant = |number| Some(Self { number, names: Vec::new() });
        match expression {
            Expression::Int(value) => constant(*value),
            Expression::Extent(..) => constant(0),
            Expression::Name(name) => Some(Self { number: 0, names: vec![*name] }),
            Expression::Unary(UnaryOperator::USub, operand) => match **operand {
                Expression::Int(value) => constant(-value),
                _ => None,
            },
            Expression::Binary(BinaryOperator::Add, left, right) => {
                let (left, right) = (Self::of(left)?, Self::of(right)?);
                let names = left.names.into_iter().chain(right.names).collect();
                Some(Self { number: left.number.checked_add(right.number)?, names })
            }
            Expression::Binary(BinaryOperator::Sub, left, right) => match **right {
                Expression::Int(value) => {
                    let left = Self::of(left)?;
                    Some(Self { number: left.number.checked_sub(value)?, ..left })
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// A nest's blocks; it begins at the first.
pub struct Flow {
    /// How many names there are: registers from 0 on.
    pub names: usize,
    /// How many registers.
    pub registers: usize,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// The loops over ranges.
    pub loops: Vec<Loop>,
    /// By name: whether the nest binds it.
    pub is_bound: Vec<bool>,
    /// By name: whether nothing but the head of a `for` binds it.
    pub is_counter: Vec<bool>,
}

/// The flow of a nest whose names are arrays of some axes, or none.
pub fn flow(nest: &Nest, axes: &[usize]) -> Flow {
    let names = nest.names.len();
    let flow = Flow {
        names,
        registers: names,
        blocks: Vec::new(),
        loops: Vec::new(),
        is_bound: vec![false; names],
        is_counter: vec![true; names],
    };
    let mut writer =
        FlowWriter { flow, axes, current: 0, locals: FxHashMap::default(), jumps: Vec::new() };
    writer.current = writer.block(0);
    writer.statement(&nest.body);
    writer.end(FlowEnd::Done);
    writer.flow
}

struct FlowWriter<'a> {
    flow: Flow,
    /// By name: how many axes it has.
    axes: &'a [usize],
    current: usize,
    // Variables of functions that are called.
    locals: FxHashMap<usize, FlowRegister>,
    // Of the loops around: where `continue` and `break` go.
    jumps: Vec<(usize, usize)>,
}

/// An effect that waits for the checks of the whole statement.
enum Effect {
    Bind(Name, FlowRegister),
    Store(Name, FlowRegister, FlowRegister),
}

impl FlowWriter<'_> {
    fn block(&mut self, statement: usize) -> usize {
        self.flow.blocks.push(Block { statement, steps: Vec::new(), end: FlowEnd::Leave });
        self.flow.blocks.len() - 1
    }

    fn register(&mut self) -> FlowRegister {
        self.flow.registers += 1;
        self.flow.registers - 1
    }

    fn step(&mut self, step: FlowStep) {
        self.flow.blocks[self.current].steps.push(step);
    }

    fn end(&mut self, end: FlowEnd) {
        self.flow.blocks[self.current].end = end;
    }

    /// Ends the current block there, where the next one begins.
    fn go_on(&mut self, block: usize) {
        self.end(FlowEnd::Jump(block));
        self.current = block;
    }

    fn statements(&mut self, body: &[Statement]) {
        for one in body {
            self.statement(one);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let number = statement.number;
        let begin = self.block(number);
        self.go_on(begin);
        match &statement.does {
            Does::Assign(targets, value) if row_work::rows_of(self.axes, targets, value) => {
                self.assign_rows(targets, None, value);
            }
            Does::InPlace(target, operation, value)
                if row_work::rows_of(self.axes, std::slice::from_ref(target), value) =>
            {
                self.assign_rows(std::slice::from_ref(target), Some(*operation), value);
            }
            Does::Assign(targets, value) => {
                let mut effects = Vec::new();
                self.assign(targets, value, &mut effects);
                self.effects(effects);
            }
            Does::InPlace(target, operation, value) => self.in_place(target, *operation, value),
            Does::If(test, body, other) => {
                let test = self.value(test);
                let (inside, beside, behind) =
                    (self.block(number), self.block(number), self.block(number));
                self.end(FlowEnd::Branch(test, inside, beside));
                self.current = inside;
                self.statements(body);
                self.go_on(behind);
                self.current = beside;
                self.statements(other);
                self.go_on(behind);
            }
            Does::For(target, range, items, body, other) => {
                // Elements of what has another number of axes are not numbers.
                let are_numbers = items.iter().all(|(_, one)| self.is_item(one));
                if !are_numbers {
                    self.step(FlowStep::Unknown);
                }
                self.for_loop(number, (*target, items), range, body, other)
            }
            Does::While(test, body, other) => {
                let head = self.block(number);
                self.go_on(head);
                let test = self.value(test);
                self.body((head, number), &[], body, other, |inside, beside| {
                    FlowEnd::Branch(test, inside, beside)
                });
            }
            Does::Break => self.jump(|jumps| jumps.1),
            Does::Continue => self.jump(|jumps| jumps.0),
            Does::Pass => {}
            Does::Leave => {
                self.end(FlowEnd::Leave);
                self.current = self.block(number);
            }
        }
    }

    fn jump(&mut self, to: impl Fn((usize, usize)) -> usize) {
        if let Some(&jumps) = self.jumps.last() {
            self.end(FlowEnd::Jump(to(jumps)));
        }
        // What follows is not reached.
        self.current = self.block(self.flow.blocks[self.current].statement);
    }

    /// The body of a loop, whose head is the current block, and what is behind it.
    fn body(
        &mut self,
        (head, number): (usize, usize),
        items: &[(Name, Expression)],
        body: &[Statement],
        other: &[Statement],
        end: impl Fn(usize, usize) -> FlowEnd,
    ) {
        let inside = self.block(body.first().map_or(number, |first| first.number));
        let (beside, behind) = (self.block(number), self.block(number));
        self.end(end(inside, beside));
        self.current = inside;
        if !items.is_empty() {
            // Nothing here leaves: places are within, and elements are numbers.
            for (name, item) in items {
                let value = self.value(item);
                self.bind(*name, value);
            }
            let begin = self.block(self.flow.blocks[inside].statement);
            self.go_on(begin);
        }
        self.step(FlowStep::Poll);
        self.jumps.push((head, behind));
        self.statements(body);
        self.jumps.pop();
        self.end(FlowEnd::Jump(head));
        self.current = beside;
        self.statements(other);
        self.go_on(behind);
    }

    /// Whether an item of a loop is a number: an element of an array with one axis.
    fn is_item(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Element(name, _) => self.axes.get(*name) == Some(&1),
            _ => true,
        }
    }

    fn for_loop(
        &mut self,
        number: usize,
        (target, items): (Name, &[(Name, Expression)]),
        range: &[Expression],
        body: &[Statement],
        other: &[Statement],
    ) {
        self.flow.is_bound[target] = true;
        let sign = match range.get(2) {
            None => 1,
            Some(Expression::Int(step)) => step.signum(),
            Some(Expression::Unary(UnaryOperator::USub, step)) => match **step {
                Expression::Int(step) => -step.signum(),
                _ => 0,
            },
            Some(_) => 0,
        };
        let given = range.iter().map(|one| self.value(one)).collect();
        let number_of_loop = self.flow.loops.len();
        let state = [self.register(), self.register(), self.register()];
        let low = match (sign, range) {
            (1, [_]) => Some(Low { number: 0, names: Vec::new() }),
            (1, [start, ..]) => Low::of(start),
            (-1, [_, stop, _]) => {
                Low::of(stop).map(|low| Low { number: low.number.saturating_add(1), ..low })
            }
            _ => None,
        };
        let last = body.last().map_or(number, Statement::last);
        self.flow.loops.push(Loop { statement: number, last, target, state, sign, low });
        self.step(FlowStep::Begin(number_of_loop, given));
        let head = self.block(number);
        self.go_on(head);
        self.body((head, number), items, body, other, |inside, beside| {
            FlowEnd::Next(number_of_loop, inside, beside)
        });
    }

    /// Values of a statement in the order in which Python has them, and its effects for later.
    fn assign(&mut self, targets: &[Target], value: &Expression, effects: &mut Vec<Effect>) {
        match (targets, value) {
            ([Target::Tuple(parts)], Expression::Tuple(values)) if parts.len() == values.len() => {
                let values: Vec<_> = values.iter().map(|one| self.copied(one)).collect();
                for (part, value) in parts.iter().zip(values) {
                    self.target(part, value, effects);
                }
            }
            _ => {
                let value = self.value(value);
                for target in targets {
                    self.target(target, value, effects);
                }
            }
        }
    }

    fn target(&mut self, target: &Target, value: FlowRegister, effects: &mut Vec<Effect>) {
        match target {
            Target::Name(name) => effects.push(Effect::Bind(*name, value)),
            Target::Element(array, index) => {
                let index = self.places(index);
                let (place, converted) = (self.register(), self.register());
                self.step(FlowStep::Locate(place, *array, index));
                self.step(FlowStep::Convert(converted, *array, value));
                effects.push(Effect::Store(*array, place, converted));
            }
            // Python's lowering makes no such text.
            Target::Tuple(_) => {}
        }
    }

    fn effects(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Bind(name, value) => self.bind(name, value),
                Effect::Store(array, place, value) => self.step(FlowStep::Put(array, place, value)),
            }
        }
    }

    fn bind(&mut self, name: Name, value: FlowRegister) {
        self.flow.is_bound[name] = true;
        self.flow.is_counter[name] = false;
        self.step(FlowStep::Move(name, value));
    }

    fn in_place(&mut self, target: &Target, operation: BinaryOperator, value: &Expression) {
        let result = self.register();
        match target {
            Target::Name(name) => {
                let value = self.value(value);
                self.step(FlowStep::Binary(operation, result, *name, value));
                self.bind(*name, result);
            }
            Target::Element(array, index) => {
                let index = self.places(index);
                let (place, old, converted) = (self.register(), self.register(), self.register());
                self.step(FlowStep::Locate(place, *array, index));
                self.step(FlowStep::Get(old, *array, place));
                let value = self.value(value);
                self.step(FlowStep::Binary(operation, result, old, value));
                self.step(FlowStep::Convert(converted, *array, result));
                self.step(FlowStep::Put(*array, place, converted));
            }
            Target::Tuple(_) => {}
        }
    }

    /// A value that stays when names are bound anew.
    fn copied(&mut self, expression: &Expression) -> FlowRegister {
        let value = self.value(expression);
        let copy = self.register();
        self.step(FlowStep::Move(copy, value));
        copy
    }

    fn into(&mut self, register: FlowRegister, expression: &Expression) {
        let value = self.value(expression);
        self.step(FlowStep::Move(register, value));
    }

    /// The places of an element, whose indices are all places.
    fn places(&mut self, index: &[Index]) -> Vec<FlowRegister> {
        let mut found = Vec::new();
        for one in index {
            match one {
                Index::At(place) => found.push(self.value(place)),
                Index::Slice(_) => self.step(FlowStep::Unknown),
            }
        }
        found
    }

    fn value(&mut self, expression: &Expression) -> FlowRegister {
        if let Expression::Name(name) = expression {
            return *name;
        }
        let result = self.register();
        match expression {
            Expression::Name(_) | Expression::Tuple(_) => {}
            Expression::Int(value) => self.step(FlowStep::Int(result, *value)),
            Expression::Float(bits) => self.step(FlowStep::Float(result, f64::from_bits(*bits))),
            Expression::Bool(value) => self.step(FlowStep::Bool(result, *value)),
            Expression::Binary(operation, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                self.step(FlowStep::Binary(*operation, result, left, right));
            }
            Expression::Unary(operation, operand) => {
                let operand = self.value(operand);
                self.step(FlowStep::Unary(*operation, result, operand));
            }
            Expression::Logic(is_and, values) => self.logic(result, *is_and, values),
            Expression::Compare(left, others) => self.compare(result, left, others),
            Expression::Choice(test, body, other) => {
                let test = self.value(test);
                let (inside, beside, behind) = self.fork(test);
                self.current = inside;
                self.into(result, body);
                self.go_on(behind);
                self.current = beside;
                self.into(result, other);
                self.go_on(behind);
            }
            Expression::Element(array, index) => {
                let index = self.places(index);
                let place = self.register();
                self.step(FlowStep::Locate(place, *array, index));
                self.step(FlowStep::Get(result, *array, place));
            }
            Expression::Extent(array, axis) => self.step(FlowStep::Extent(result, *array, *axis)),
            Expression::Let(values, body) => {
                for (number, value) in values {
                    // A name without a value is one where it is given.
                    let value = self.copied(value);
                    self.locals.insert(*number, value);
                }
                return self.value(body);
            }
            Expression::Local(number) => match self.locals.get(number) {
                Some(&value) => return value,
                None => self.step(FlowStep::Unknown),
            },
            Expression::Reduce(function, given) => self.reduce(result, *function, given),
            Expression::Call(function @ (NamedFunction::Max | NamedFunction::Min), given) => {
                self.extreme(result, *function, given);
            }
            Expression::Call(function, given) => {
                let given = given.iter().map(|one| self.value(one)).collect();
                self.step(FlowStep::Call(*function, result, given));
            }
        }
        result
    }

    /// Blocks for a true value, for another one, and behind both.
    fn fork(&mut self, test: FlowRegister) -> (usize, usize, usize) {
        let statement = self.flow.blocks[self.current].statement;
        let (inside, beside, behind) =
            (self.block(statement), self.block(statement), self.block(statement));
        self.end(FlowEnd::Branch(test, inside, beside));
        (inside, beside, behind)
    }

    fn logic(&mut self, result: FlowRegister, is_and: bool, values: &[Expression]) {
        let statement = self.flow.blocks[self.current].statement;
        let behind = self.block(statement);
        for (number, value) in values.iter().enumerate() {
            self.into(result, value);
            if number + 1 < values.len() {
                let next = self.block(statement);
                self.end(if is_and {
                    FlowEnd::Branch(result, next, behind)
                } else {
                    FlowEnd::Branch(result, behind, next)
                });
                self.current = next;
            }
        }
        self.go_on(behind);
    }

    fn compare(
        &mut self,
        result: FlowRegister,
        left: &Expression,
        others: &[(Comparison, Expression)],
    ) {
        let statement = self.flow.blocks[self.current].statement;
        let behind = self.block(statement);
        let mut left = self.value(left);
        for (number, (comparison, right)) in others.iter().enumerate() {
            let right = self.value(right);
            self.step(FlowStep::Compare(*comparison, result, left, right));
            left = right;
            if number + 1 < others.len() {
                let next = self.block(statement);
                self.end(FlowEnd::Branch(result, next, behind));
                self.current = next;
            }
        }
        self.go_on(behind);
    }

    /// `max` and `min`, which keep the first of those that are equal.
    fn extreme(&mut self, result: FlowRegister, function: NamedFunction, given: &[Expression]) {
        let given: Vec<_> = given.iter().map(|one| self.value(one)).collect();
        let comparison =
            if matches!(function, NamedFunction::Max) { Comparison::Gt } else { Comparison::Lt };
        for (number, value) in given.into_iter().enumerate() {
            if number == 0 {
                self.step(FlowStep::Move(result, value));
                continue;
            }
            let test = self.register();
            self.step(FlowStep::Compare(comparison, test, value, result));
            let (inside, beside, behind) = self.fork(test);
            self.current = inside;
            self.step(FlowStep::Move(result, value));
            self.go_on(behind);
            self.current = beside;
            self.go_on(behind);
        }
    }
}
