//! Instructions of typed code, in Cranelift's words.
//!
//! Owns [`Emitter`]. Exits are cold blocks, one for each exit and innermost loop. A block is sealed as soon as all ways
//! to it are written, so that it has no values of its own for what is one value on all of them. Not here: what becomes
//! of the function (`mod.rs`), what exits save (`exit_words.rs`), what NumPy would warn of (`float_warnings.rs`).

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, AliasRegion, Block as Target, BlockArg, InstBuilder, MemFlags, SigRef, Signature,
    Type, Value,
};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, Variable};
use rustc_hash::FxHashMap;

use super::exit_words::ExitWords;
use crate::code::{Block, BlockEnd, Code, FloatFunction, Floating, Integer, Operation, Slot, Test};
use crate::kinds::SlotClass;
use crate::optimization::BlockGraph;
use crate::pause::FIRST_ROUNDS;

/// Of a function that changes no register.
pub fn of_pause() -> Signature {
    let mut signature = Signature::new(CallConv::Patchable);
    signature.params.push(AbiParam::new(I64));
    signature
}

/// Of a function with these arguments and one result.
pub fn signature(isa: &OwnedTargetIsa, given: &[Type], result: Type) -> Signature {
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params.extend(given.iter().map(|&one| AbiParam::new(one)));
    signature.returns.push(AbiParam::new(result));
    signature
}

fn type_of(class: SlotClass) -> Type {
    match class {
        SlotClass::Integer => I64,
        SlotClass::Double => F64,
        SlotClass::Single => F32,
    }
}

/// The state and arrays are apart.
fn of_state() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Vmctx))
}

/// Writes the instructions of a function.
pub struct Emitter<'a> {
    code: &'a Code,
    pub(super) builder: FunctionBuilder<'a>,
    slots: Vec<Variable>,
    rounds: Variable,
    blocks: Vec<Target>,
    words: ExitWords,
    reached: Vec<usize>,
    // By block: how many ways to it are not written yet.
    open: Vec<usize>,
    // By exit and innermost loop.
    exits: FxHashMap<(usize, Option<usize>), Target>,
    // The block that is written.
    number: usize,
    state: Value,
    pause: Value,
    // The address of what is called in pauses.
    ask: i64,
    of_pause: SigRef,
    of_one: SigRef,
    of_two: SigRef,
    of_integers: SigRef,
    of_rows: SigRef,
}

impl<'a> Emitter<'a> {
    /// ``ask`` is the address of what is called in pauses.
    pub fn new(
        code: &'a Code,
        isa: &OwnedTargetIsa,
        mut builder: FunctionBuilder<'a>,
        ask: i64,
    ) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let [state, pause] = [0, 1].map(|number| builder.block_params(entry)[number]);
        let slots = code.slots.iter().map(|&class| builder.declare_var(type_of(class))).collect();
        let rounds = builder.declare_var(I64);
        let first = builder.ins().iconst(I64, FIRST_ROUNDS);
        builder.def_var(rounds, first);
        let graph = BlockGraph::new(code);
        let blocks: Vec<_> = code.blocks.iter().map(|_| builder.create_block()).collect();
        builder.ins().jump(blocks[0], &[]);
        let of_pause = builder.import_signature(of_pause());
        let [of_one, of_two, of_integers, of_rows] =
            [(&[F64][..], F64), (&[F64, F64], F64), (&[I64, I64], I64), (&[I64; 5], I64)]
                .map(|(given, result)| builder.import_signature(signature(isa, given, result)));
        Self {
            code,
            builder,
            slots,
            rounds,
            blocks,
            words: ExitWords::new(code, &graph),
            open: graph.before.iter().map(Vec::len).collect(),
            reached: graph.order,
            exits: FxHashMap::default(),
            number: 0,
            state,
            pause,
            ask,
            of_pause,
            of_one,
            of_two,
            of_integers,
            of_rows,
        }
    }

    /// Writes all.
    pub fn emit(mut self) {
        let code = self.code;
        let reached = std::mem::take(&mut self.reached);
        if self.open[0] == 0 {
            self.builder.seal_block(self.blocks[0]);
        }
        for number in reached {
            self.builder.switch_to_block(self.blocks[number]);
            if code.blocks[number].is_cold {
                self.builder.set_cold_block(self.blocks[number]);
            }
            self.number = number;
            self.block(&code.blocks[number]);
            // A block whose ways are all known has no values of its own for what is one on all of them.
            for next in code.blocks[number].end.targets() {
                self.open[next] -= 1;
                if self.open[next] == 0 {
                    self.builder.seal_block(self.blocks[next]);
                }
            }
        }
        let mut exits: Vec<_> = self.exits.drain().collect();
        exits.sort_unstable_by_key(|&(exit, _)| exit);
        for ((number, around), target) in exits {
            self.leave(number, around, target);
        }
        self.builder.seal_all_blocks();
        self.builder.finalize();
    }

    fn leave(&mut self, number: usize, around: Option<usize>, target: Target) {
        let exit = &self.code.exits[number];
        self.builder.switch_to_block(target);
        self.builder.set_cold_block(target);
        for (word, slot) in self.words.saved(self.code, around, number) {
            let value = self.get(slot);
            self.store(value, word);
        }
        for &(word, kind) in &exit.kinds {
            let value = self.int(kind as i64);
            self.store(value, word);
        }
        let result = self.int(number as i64);
        self.builder.ins().return_(&[result]);
    }

    fn store(&mut self, value: Value, word: u32) {
        self.builder.ins().store(of_state(), value, self.state, 8 * word as i32);
    }

    pub(super) fn exit(&mut self) -> Target {
        let key = (self.code.blocks[self.number].exit, self.words.loop_of(self.number));
        *self.exits.entry(key).or_insert_with(|| self.builder.create_block())
    }

    pub(super) fn get(&mut self, slot: Slot) -> Value {
        self.builder.use_var(self.slots[slot as usize])
    }

    pub(super) fn put(&mut self, slot: Slot, value: Value) {
        self.builder.def_var(self.slots[slot as usize], value);
        if let Some(word) = self.words.stored(self.number, slot) {
            self.store(value, word);
        }
    }

    pub(super) fn class(&self, slot: Slot) -> SlotClass {
        self.code.slots[slot as usize]
    }

    fn int(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(I64, value)
    }

    fn block(&mut self, block: &Block) {
        for operation in &block.operations {
            self.operation(operation);
        }
        match block.end {
            BlockEnd::Jump(next) => self.go(next),
            BlockEnd::Branch(test, inside, beside) => {
                let test = self.get(test);
                let ways = [inside, beside].map(|next| (next, self.way(next)));
                let [first, second] = ways.map(|(_, way)| way);
                self.builder.ins().brif(test, first, &[], second, &[]);
                for (next, way) in ways {
                    if way != self.blocks[next] {
                        self.only(way);
                        self.go(next);
                    }
                }
            }
            BlockEnd::Leave => {
                let exit = self.exit();
                self.builder.ins().jump(exit, &[]);
            }
        }
    }

    /// Writes on in a block that has no further ways to it.
    pub(super) fn only(&mut self, block: Target) {
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }

    /// Where a branch goes on to another block: there, or where something is done before.
    fn way(&mut self, next: usize) -> Target {
        let (stores, loads) = self.words.between(self.number, next);
        if stores.is_empty() && loads.is_empty() {
            return self.blocks[next];
        }
        let way = self.builder.create_block();
        if self.code.blocks[next].is_cold {
            self.builder.set_cold_block(way);
        }
        way
    }

    /// Goes on in another block.
    fn go(&mut self, next: usize) {
        let (stores, loads) = self.words.between(self.number, next);
        for (word, slot) in stores {
            let value = self.get(slot);
            self.store(value, word);
        }
        for (word, slot) in loads {
            let value = self.load(slot, word);
            self.builder.def_var(self.slots[slot as usize], value);
        }
        self.builder.ins().jump(self.blocks[next], &[]);
    }

    /// A word of the state.
    fn load(&mut self, slot: Slot, word: u32) -> Value {
        let class = type_of(self.class(slot));
        self.builder.ins().load(class, of_state(), self.state, 8 * word as i32)
    }

    /// Goes on where a value is not 0, else leaves.
    fn require(&mut self, holds: Value) {
        let (next, exit) = (self.builder.create_block(), self.exit());
        self.builder.ins().brif(holds, next, &[], exit, &[]);
        self.only(next);
    }

    fn call(&mut self, of: SigRef, function: usize, given: &[Value]) -> Value {
        let function = self.int(function as i64);
        let call = self.builder.ins().call_indirect(of, function, given);
        self.builder.inst_results(call)[0]
    }

    fn operation(&mut self, operation: &Operation) {
        match *operation {
            Operation::Int(to, value) => {
                let value = self.int(value);
                self.put(to, value);
            }
            Operation::Double(to, value) => {
                let value = self.builder.ins().f64const(value);
                self.put(to, value);
            }
            Operation::Copy(to, from) => {
                let value = self.get(from);
                self.put(to, value);
            }
            Operation::Integer(does, to, a, b) => {
                let (a, b) = (self.get(a), self.get(b));
                let value = self.integer(does, a, b);
                self.put(to, value);
            }
            Operation::Checked(does, to, a, b) => {
                let (a, b) = (self.get(a), self.get(b));
                let (value, overflows) = match does {
                    Integer::Add => self.builder.ins().sadd_overflow(a, b),
                    Integer::Sub => self.builder.ins().ssub_overflow(a, b),
                    _ => self.builder.ins().smul_overflow(a, b),
                };
                let (next, exit) = (self.builder.create_block(), self.exit());
                self.builder.ins().brif(overflows, exit, &[], next, &[]);
                self.only(next);
                self.put(to, value);
            }
            Operation::Compare(test, to, a, b) => {
                let class = self.class(a);
                let (a, b) = (self.get(a), self.get(b));
                let holds = if class == SlotClass::Integer {
                    self.builder.ins().icmp(of_integers(test), a, b)
                } else {
                    self.builder.ins().fcmp(of_floats(test), a, b)
                };
                let holds = self.builder.ins().uextend(I64, holds);
                self.put(to, holds);
            }
            Operation::Floating(does, to, a, b) => {
                let (a, b) = (self.get(a), self.get(b));
                let value = match does {
                    Floating::Add => self.builder.ins().fadd(a, b),
                    Floating::Sub => self.builder.ins().fsub(a, b),
                    Floating::Mul => self.builder.ins().fmul(a, b),
                    Floating::Div => self.builder.ins().fdiv(a, b),
                };
                self.put(to, value);
            }
            Operation::Plain(does, to, from) => {
                let from = self.get(from);
                let value = match does {
                    FloatFunction::Neg => self.builder.ins().fneg(from),
                    FloatFunction::Abs => self.builder.ins().fabs(from),
                    FloatFunction::Sqrt => self.builder.ins().sqrt(from),
                };
                self.put(to, value);
            }
            Operation::ToDouble(to, from) => {
                let from = self.get(from);
                let value = self.builder.ins().fcvt_from_sint(F64, from);
                self.put(to, value);
            }
            Operation::ToSingle(to, from) => {
                let from = self.get(from);
                let value = self.builder.ins().fdemote(F32, from);
                self.put(to, value);
            }
            Operation::Widen(to, from) => {
                let from = self.get(from);
                let value = self.builder.ins().fpromote(F64, from);
                self.put(to, value);
            }
            Operation::ToInteger(to, from) => {
                let from = self.get(from);
                let value = self.builder.ins().fcvt_to_sint_sat(I64, from);
                self.put(to, value);
            }
            Operation::Bits(to, from) => {
                let class = self.class(from);
                let from = self.get(from);
                let value = match class {
                    SlotClass::Integer => from,
                    SlotClass::Double => self.builder.ins().bitcast(I64, MemFlags::new(), from),
                    SlotClass::Single => {
                        let bits = self.builder.ins().bitcast(I32, MemFlags::new(), from);
                        self.builder.ins().uextend(I64, bits)
                    }
                };
                self.put(to, value);
            }
            Operation::Call1(function, to, a) => {
                let a = self.get(a);
                let value = self.call(self.of_one, function.function() as *const () as usize, &[a]);
                self.put(to, value);
            }
            Operation::Call2(function, to, a, b) => {
                let (a, b) = (self.get(a), self.get(b));
                let value =
                    self.call(self.of_two, function.function() as *const () as usize, &[a, b]);
                self.put(to, value);
            }
            Operation::CallIntegers(function, to, a, b) => {
                let (a, b) = (self.get(a), self.get(b));
                let value =
                    self.call(self.of_integers, function.function() as *const () as usize, &[a, b]);
                self.put(to, value);
            }
            Operation::CallRow(function, to, given) => {
                let given = given.map(|one| self.get(one));
                let bits = self.call(self.of_rows, function as *const () as usize, &given);
                let value = match self.class(to) {
                    SlotClass::Integer => bits,
                    SlotClass::Double => self.builder.ins().bitcast(F64, MemFlags::new(), bits),
                    SlotClass::Single => {
                        let bits = self.builder.ins().ireduce(I32, bits);
                        self.builder.ins().bitcast(F32, MemFlags::new(), bits)
                    }
                };
                self.put(to, value);
            }
            Operation::Select(to, test, a, b) => {
                let (test, a, b) = (self.get(test), self.get(a), self.get(b));
                let value = self.builder.ins().select(test, a, b);
                self.put(to, value);
            }
            Operation::Require(slot) => {
                let holds = self.get(slot);
                self.require(holds);
            }
            Operation::Quiet(result, from) => self.quiet(result, &[(result, from)]),
            Operation::QuietAll(root, ref all) => self.quiet(root, all),
            Operation::Inside(index, extent) => {
                let (index, extent) = (self.get(index), self.get(extent));
                let holds = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, extent);
                self.require(holds);
            }
            Operation::Fetch(to, word) => {
                let value = self.load(to, word);
                self.builder.def_var(self.slots[to as usize], value);
            }
            Operation::Within(to, index, extent) => {
                let (index, extent) = (self.get(index), self.get(extent));
                let value = self.within(index, extent);
                self.put(to, value);
            }
            Operation::Address(to, base, ref terms, side) => {
                let address = self.address(base, terms, side);
                self.put(to, address);
            }
            Operation::Read(element, to, place) => {
                let value = self.read(element, place);
                self.put(to, value);
            }
            Operation::Write(element, place, value) => self.write(element, place, value),
            Operation::Take(to, rounds) => {
                let left = self.builder.use_var(self.rounds);
                let left = self.builder.ins().iadd_imm(left, -rounds);
                self.builder.def_var(self.rounds, left);
                let is_taken = self.builder.ins().icmp_imm(IntCC::SignedGreaterThan, left, 0);
                let is_taken = self.builder.ins().uextend(I64, is_taken);
                self.put(to, is_taken);
            }
            Operation::IsFinite(to, from) => {
                let from = self.get(from);
                let is_finite = self.finite(from);
                let is_finite = self.builder.ins().uextend(I64, is_finite);
                self.put(to, is_finite);
            }
            Operation::IsBelow(to, index, extent) => {
                let (index, extent) = (self.get(index), self.get(extent));
                let is_below = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, extent);
                let is_below = self.builder.ins().uextend(I64, is_below);
                self.put(to, is_below);
            }
            Operation::Poll => self.poll(),
        }
    }

    fn integer(&mut self, does: Integer, a: Value, b: Value) -> Value {
        match does {
            Integer::Add => self.builder.ins().iadd(a, b),
            Integer::Sub => self.builder.ins().isub(a, b),
            Integer::Mul => self.builder.ins().imul(a, b),
            Integer::And => self.builder.ins().band(a, b),
            Integer::Or => self.builder.ins().bor(a, b),
            Integer::Xor => self.builder.ins().bxor(a, b),
            Integer::Shl => self.builder.ins().ishl(a, b),
            Integer::Shr => self.builder.ins().sshr(a, b),
            Integer::FloorDiv => {
                let quotient = self.builder.ins().sdiv(a, b);
                let product = self.builder.ins().imul(quotient, b);
                let rest = self.builder.ins().isub(a, product);
                let differs = self.is_other_sign(rest, b);
                self.builder.ins().isub(quotient, differs)
            }
            Integer::Mod => self.remainder(a, b),
            Integer::ModBelowTwice => {
                let rest = self.builder.ins().isub(a, b);
                let is_below = self.builder.ins().icmp_imm(IntCC::SignedLessThan, rest, 0);
                self.builder.ins().select(is_below, a, rest)
            }
            Integer::ModFromMinus => {
                let sum = self.builder.ins().iadd(a, b);
                let is_negative = self.builder.ins().icmp_imm(IntCC::SignedLessThan, a, 0);
                self.builder.ins().select(is_negative, sum, a)
            }
        }
    }

    /// Of a division rounded down; what is below a positive divisor already is divided by none.
    fn remainder(&mut self, a: Value, b: Value) -> Value {
        let (divides, next) = (self.builder.create_block(), self.builder.create_block());
        let found = self.builder.append_block_param(next, I64);
        let is_below = self.builder.ins().icmp(IntCC::UnsignedLessThan, a, b);
        let is_positive = self.builder.ins().icmp_imm(IntCC::SignedGreaterThan, b, 0);
        let is_rest = self.builder.ins().band(is_below, is_positive);
        self.builder.ins().brif(is_rest, next, &[BlockArg::Value(a)], divides, &[]);
        self.only(divides);
        let rest = self.builder.ins().srem(a, b);
        let differs = self.is_other_sign(rest, b);
        let sum = self.builder.ins().iadd(rest, b);
        let rest = self.builder.ins().select(differs, sum, rest);
        self.builder.ins().jump(next, &[BlockArg::Value(rest)]);
        self.only(next);
        found
    }

    /// 1 where a remainder is not 0, and has another sign than the divisor.
    fn is_other_sign(&mut self, rest: Value, divisor: Value) -> Value {
        let signs = self.builder.ins().bxor(rest, divisor);
        let differs = self.builder.ins().icmp_imm(IntCC::SignedLessThan, signs, 0);
        let is_rest = self.builder.ins().icmp_imm(IntCC::NotEqual, rest, 0);
        let both = self.builder.ins().band(differs, is_rest);
        self.builder.ins().uextend(I64, both)
    }

    fn within(&mut self, index: Value, extent: Value) -> Value {
        let (cold, next, exit) =
            (self.builder.create_block(), self.builder.create_block(), self.exit());
        let place = self.builder.append_block_param(next, I64);
        self.builder.set_cold_block(cold);
        let holds = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, extent);
        self.builder.ins().brif(holds, next, &[BlockArg::Value(index)], cold, &[]);
        self.only(cold);
        let wrapped = self.builder.ins().iadd(index, extent);
        let holds = self.builder.ins().icmp(IntCC::UnsignedLessThan, wrapped, extent);
        let is_negative = self.builder.ins().icmp_imm(IntCC::SignedLessThan, index, 0);
        let holds = self.builder.ins().band(holds, is_negative);
        self.builder.ins().brif(holds, next, &[BlockArg::Value(wrapped)], exit, &[]);
        self.only(next);
        place
    }

    fn poll(&mut self) {
        let (cold, next, exit) =
            (self.builder.create_block(), self.builder.create_block(), self.exit());
        self.builder.set_cold_block(cold);
        let rounds = self.builder.use_var(self.rounds);
        let left = self.builder.ins().iadd_imm(rounds, -1);
        self.builder.def_var(self.rounds, left);
        // A group of rounds may have taken more than there were.
        let is_left = self.builder.ins().icmp_imm(IntCC::SignedGreaterThan, left, 0);
        self.builder.ins().brif(is_left, next, &[], cold, &[]);
        self.only(cold);
        let ask = self.int(self.ask);
        self.builder.ins().call_indirect(self.of_pause, ask, &[self.pause]);
        // The first word of a pause.
        let rounds = self.builder.ins().load(I64, MemFlags::trusted(), self.pause, 0);
        self.builder.def_var(self.rounds, rounds);
        self.builder.ins().brif(rounds, next, &[], exit, &[]);
        self.only(next);
    }
}

fn of_integers(test: Test) -> IntCC {
    match test {
        Test::Eq => IntCC::Equal,
        Test::NotEq => IntCC::NotEqual,
        Test::Lt => IntCC::SignedLessThan,
        Test::LtE => IntCC::SignedLessThanOrEqual,
        Test::Gt => IntCC::SignedGreaterThan,
        Test::GtE => IntCC::SignedGreaterThanOrEqual,
    }
}

fn of_floats(test: Test) -> FloatCC {
    match test {
        Test::Eq => FloatCC::Equal,
        Test::NotEq => FloatCC::NotEqual,
        Test::Lt => FloatCC::LessThan,
        Test::LtE => FloatCC::LessThanOrEqual,
        Test::Gt => FloatCC::GreaterThan,
        Test::GtE => FloatCC::GreaterThanOrEqual,
    }
}
