//! 64-bit integers as pairs of 32-bit words, for devices that have none.
//!
//! Owns [`split`], which rewrites a program. A block of such integers becomes two of uint32, its planes; a parameter
//! becomes two. Invariant: the new program has no 64-bit integers, and gives the bits of the original. Forms other
//! than a map must not combine 64-bit integers: a driver leaves such programs to another driver.
//!
//! Not here: the arithmetic (`arithmetic.rs`, `floats.rs`), blocks and parameters of launches (`split_storage.rs`),
//! the cost (`pair_cost.rs`).

mod arithmetic;
mod floats;
mod pair_cost;

pub use pair_cost::{is_pair, most_instructions};

use crate::emulation64::split_program::{Plane, SplitProgram, begin, planes};
use arithmetic::{PairBuilder, WordPair};
use gpupy_core::DType;
use gpupy_core::ir::{Builder, Inst, Program};
use gpupy_core::op::Op;
use rustc_hash::FxHashMap;

/// The program over word pairs, if the program has 64-bit integers.
pub fn split(program: &Program) -> Option<SplitProgram> {
    let mut dtypes = program.operands.iter().chain(&program.params);
    let any =
        dtypes.any(|dtype| is_pair(*dtype)) || program.insts.iter().any(|inst| is_pair(inst.dtype));
    any.then(|| IntegerSplitter::new(program).split())
}

/// The representation of a value: itself, or a word pair.
#[derive(Clone, Copy)]
enum LoweredValue {
    One(u32),
    Two(WordPair),
}

/// Copies a program and replaces its 64-bit integers by word pairs.
struct IntegerSplitter<'a> {
    from: &'a Program,
    to: PairBuilder,
    /// For each operand of the original, its first operand in the copy.
    slots: Vec<u32>,
    /// The representation of each instruction's value.
    values: Vec<LoweredValue>,
    /// For each region, which of its carried values or results are pairs.
    regions: FxHashMap<u32, Vec<bool>>,
    operands: Vec<(usize, Plane)>,
    dests: Vec<(usize, Plane)>,
}

impl<'a> IntegerSplitter<'a> {
    fn new(from: &'a Program) -> IntegerSplitter<'a> {
        let (to, slots, operands) = begin(from);
        let (values, regions) = (Vec::new(), FxHashMap::default());
        IntegerSplitter {
            from,
            to: PairBuilder(to),
            slots,
            values,
            regions,
            operands,
            dests: Vec::new(),
        }
    }

    fn split(mut self) -> SplitProgram {
        let from = self.from;
        let (mut given, mut params) = (Vec::new(), Vec::new());
        for (which, dtype) in from.params.iter().enumerate() {
            params.extend(planes(*dtype).into_iter().map(|(plane, _)| (which, plane)));
            given.push(match is_pair(*dtype) {
                true => LoweredValue::Two([0, 1].map(|_| self.to.0.param(DType::U32))),
                false => LoweredValue::One(self.to.0.param(*dtype)),
            });
        }
        for (name, inst) in from.insts.iter().enumerate() {
            let held = match inst.op {
                Op::Param => given[inst.args[0] as usize],
                _ => self.copy(name as u32, inst),
            };
            self.values.push(held);
        }
        let program = self.to.0.finish();
        let fingerprint = program.fingerprint();
        SplitProgram { program, fingerprint, operands: self.operands, dests: self.dests, params }
    }

    /// The representation of a value of at most 32 bits, or of a region.
    fn one(&self, value: u32) -> u32 {
        match self.values[value as usize] {
            LoweredValue::One(value) | LoweredValue::Two([value, _]) => value,
        }
    }

    /// The representations of a list of values, and which are pairs.
    fn list(&self, at: u32, len: u32) -> (Vec<u32>, Vec<bool>) {
        let listed = &self.from.extra[at as usize..(at + len) as usize];
        let held = || listed.iter().map(|value| self.values[*value as usize]);
        let values = held().flat_map(|held| match held {
            LoweredValue::One(value) => vec![value],
            LoweredValue::Two(pair) => pair.to_vec(),
        });
        (values.collect(), held().map(|held| matches!(held, LoweredValue::Two(_))).collect())
    }

    /// Value number `k` of a region. `value` gives the region's value at an index of the new program.
    fn of_region(
        &mut self,
        region: u32,
        k: u32,
        value: impl Fn(&mut Builder, u32) -> u32,
    ) -> LoweredValue {
        let pairs = self.regions.get(&region).map_or(&[][..], Vec::as_slice);
        let before = pairs.iter().take(k as usize).filter(|pair| **pair).count() as u32;
        let first = k + before;
        match pairs.get(k as usize) {
            Some(true) => LoweredValue::Two([first, first + 1].map(|k| value(&mut self.to.0, k))),
            _ => LoweredValue::One(value(&mut self.to.0, first)),
        }
    }

    /// Loads an element of an operand; `element` loads it from one plane.
    fn read(&mut self, operand: u32, element: impl Fn(&mut Builder, u32) -> u32) -> LoweredValue {
        let slot = self.slots[operand as usize];
        match is_pair(self.from.operands[operand as usize]) {
            true => LoweredValue::Two([slot, slot + 1].map(|slot| element(&mut self.to.0, slot))),
            false => LoweredValue::One(element(&mut self.to.0, slot)),
        }
    }

    /// Copies an instruction. Returns its value, or the number of a region.
    fn copy(&mut self, name: u32, inst: &Inst) -> LoweredValue {
        let [a, b, c] = inst.args;
        let done = LoweredValue::One(0);
        match inst.op {
            Op::Index => LoweredValue::One(self.to.0.index(a)),
            Op::Load => self.read(a, |to, slot| to.load(slot, b)),
            Op::Gather => {
                let index = self.one(b);
                self.read(a, |to, slot| to.gather(slot, index))
            }
            Op::Store => {
                let stored = planes(inst.dtype).into_iter().map(|(plane, _)| (a as usize, plane));
                self.dests.extend(stored);
                match self.values[b as usize] {
                    LoweredValue::One(value) => self.to.0.store(value),
                    LoweredValue::Two(pair) => {
                        pair.into_iter().for_each(|word| self.to.0.store(word))
                    }
                }
                done
            }
            Op::Loop => {
                let (starts, pairs) = self.list(b, c);
                self.regions.insert(name, pairs);
                LoweredValue::One(self.to.0.begin_loop(self.one(a), &starts))
            }
            Op::If => LoweredValue::One(self.to.0.begin_if(self.one(a))),
            Op::Else | Op::End => {
                let (values, pairs) = self.list(b, c);
                let region = self.one(a);
                self.regions.insert(a, pairs);
                match inst.op {
                    Op::Else => self.to.0.begin_else(region, &values),
                    _ => self.to.0.end(region, &values),
                }
                done
            }
            Op::Carry => {
                let region = self.one(a);
                self.of_region(a, b, |to, k| to.carry(region, k))
            }
            Op::Iter => LoweredValue::One(self.to.0.iter(self.one(a))),
            Op::Result => {
                let (region, dtype) = (self.one(a), inst.dtype);
                let dtype = if is_pair(dtype) { DType::U32 } else { dtype };
                self.of_region(a, b, |to, k| to.result(region, k, dtype))
            }
            Op::Reduce => LoweredValue::One(match self.from.reduced_by(inst) {
                Some(op) => self.to.0.reduce_by(op, self.one(a)),
                None => self.to.0.reduce(self.one(a)),
            }),
            op if op.form().is_some() => {
                let values: Vec<u32> = self.from.uses(inst).map(|value| self.one(value)).collect();
                LoweredValue::One(self.to.0.library_op(op, &values))
            }
            _ => self.compute(inst),
        }
    }

    /// Copies an instruction that computes a value from values alone.
    fn compute(&mut self, inst: &Inst) -> LoweredValue {
        let held: Vec<LoweredValue> =
            self.from.uses(inst).map(|value| self.values[value as usize]).collect();
        let (op, to) = (inst.op, &mut self.to);
        match (op, &held[..]) {
            (Op::Const, _) => {
                let bits = u64::from(inst.args[0]) | u64::from(inst.args[1]) << 32;
                match is_pair(inst.dtype) {
                    true => LoweredValue::Two(to.pair(bits)),
                    false => {
                        LoweredValue::One(to.0.constant(gpupy_core::Scalar::new(inst.dtype, bits)))
                    }
                }
            }
            // Casts between int64 and uint64 keep the bits.
            (Op::Cast | Op::Bitcast, [LoweredValue::Two(pair)]) if is_pair(inst.dtype) => {
                LoweredValue::Two(*pair)
            }
            (Op::Cast | Op::Bitcast, [LoweredValue::Two(pair)]) => {
                let from = self.from.insts[inst.args[0] as usize].dtype;
                LoweredValue::One(narrow(to, *pair, from == DType::I64, inst.dtype))
            }
            (Op::Cast | Op::Bitcast, [LoweredValue::One(value)]) if is_pair(inst.dtype) => {
                let from = to.0.dtype(*value);
                LoweredValue::Two(widen(to, *value, from, inst.dtype == DType::I64))
            }
            (Op::Cast | Op::Bitcast, [LoweredValue::One(value)]) => {
                LoweredValue::One(to.0.convert(op, *value, inst.dtype))
            }
            (
                Op::Select,
                [LoweredValue::One(which), LoweredValue::Two(a), LoweredValue::Two(b)],
            ) => LoweredValue::Two(to.select(*which, *a, *b)),
            (_, [LoweredValue::Two(a)]) => {
                LoweredValue::Two(unary(to, op, *a, inst.dtype == DType::I64))
            }
            (_, [LoweredValue::Two(a), LoweredValue::Two(b)]) => {
                let from = self.from.insts[inst.args[0] as usize].dtype;
                binary(to, op, *a, *b, from == DType::I64)
            }
            _ => {
                let values: Vec<u32> = self.from.uses(inst).map(|value| self.one(value)).collect();
                LoweredValue::One(self.to.0.op(op, &values))
            }
        }
    }
}

/// Casts a value of at most 32 bits to a 64-bit integer.
fn widen(to: &mut PairBuilder, value: u32, from: DType, has_sign: bool) -> WordPair {
    if from.is_float() {
        let value = to.cast(value, DType::F32);
        return to.pair_of_float(value, has_sign);
    }
    if from.is_signed_int() {
        let value = to.cast(value, DType::I32);
        let low = to.bits(value, DType::U32);
        let sign = to.sign([low, low]);
        return [low, sign];
    }
    [to.cast(value, DType::U32), to.word(0)]
}

/// Casts a 64-bit integer to a dtype of at most 32 bits.
fn narrow(to: &mut PairBuilder, pair: WordPair, has_sign: bool, dtype: DType) -> u32 {
    match dtype {
        DType::Bool => to.is_some(pair),
        dtype if dtype.is_float() => {
            let value = to.float_of_pair(pair, has_sign);
            to.cast(value, dtype)
        }
        dtype => to.cast(pair[0], dtype),
    }
}

fn unary(to: &mut PairBuilder, op: Op, a: WordPair, has_sign: bool) -> WordPair {
    match (op, has_sign) {
        (Op::Neg, _) => to.neg(a),
        (Op::Not, _) => to.not(a),
        (Op::Abs, true) => {
            let sign = to.sign(a);
            to.signed(a, sign)
        }
        (Op::Sign, _) => {
            let some = to.is_some(a);
            let some = to.cast(some, DType::U32);
            let sign = if has_sign { to.sign(a) } else { to.word(0) };
            [to.op(Op::Or, &[some, sign]), sign]
        }
        // The magnitude of an unsigned integer. Integers have no other unary operations.
        _ => a,
    }
}

fn binary(to: &mut PairBuilder, op: Op, a: WordPair, b: WordPair, has_sign: bool) -> LoweredValue {
    LoweredValue::Two(match op {
        Op::Add => to.add(a, b),
        Op::Sub => to.sub(a, b),
        Op::Mul => to.mul(a, b),
        Op::FloorDiv => to.divide(a, b, has_sign).0,
        Op::Mod => to.divide(a, b, has_sign).1,
        Op::Min | Op::Max => {
            let less = to.lt(a, b, has_sign);
            let (least, most) = if op == Op::Min { (a, b) } else { (b, a) };
            to.select(less, least, most)
        }
        Op::Shl | Op::Shr => {
            let count = to.count(b);
            match (op, has_sign) {
                (Op::Shl, _) => to.shl(a, count),
                (_, true) => to.shr_signed(a, count),
                (_, false) => to.shr(a, count),
            }
        }
        Op::And | Op::Or | Op::Xor => to.each(op, a, b),
        _ => return LoweredValue::One(compare(to, op, a, b, has_sign)),
    })
}

fn compare(to: &mut PairBuilder, op: Op, a: WordPair, b: WordPair, has_sign: bool) -> u32 {
    let (value, opposite) = match op {
        Op::Eq => (to.eq(a, b), false),
        Op::Ne => (to.eq(a, b), true),
        Op::Lt => (to.lt(a, b, has_sign), false),
        Op::Ge => (to.lt(a, b, has_sign), true),
        Op::Gt => (to.lt(b, a, has_sign), false),
        _ => (to.lt(b, a, has_sign), true),
    };
    if opposite { to.op(Op::Not, &[value]) } else { value }
}

#[cfg(test)]
mod tests;
