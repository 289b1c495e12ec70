//! Builds programs, with common subexpression elimination.
//!
//! Owns [`Builder`]. Invariant: equal pure instructions of a region become one (local value numbering), and so do equal
//! reductions.
//!
//! Not here: the selection of an expression's nodes for a program (the engine).

use super::{AccessKind, Form, Inst, Program, Reduction};
use crate::dtype::DType;
use crate::op::{Op, Rule};
use crate::routines::Routine;
use crate::scalar::Scalar;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A program under construction.
pub struct Builder {
    program: Program,
    /// The values of pure instructions, for each open region.
    seen: Vec<PureValues>,
}

/// The values of the pure instructions of a region, by what they compute.
#[derive(Default)]
struct PureValues {
    insts: FxHashMap<Inst, u32>,
    /// Those with lists of values.
    lists: FxHashMap<(Op, u32, SmallVec<[u32; 4]>), u32>,
}

impl Builder {
    /// Starts a program over an iteration space of `rank` axes.
    pub fn new(form: Form, rank: u32) -> Builder {
        Builder { program: Program::empty(form, rank), seen: vec![PureValues::default()] }
    }

    /// Adds an operand block and returns its slot.
    pub fn operand(&mut self, dtype: DType) -> u32 {
        push(&mut self.program.operands, dtype)
    }

    /// Adds an access and returns its slot.
    pub fn access(&mut self, kind: AccessKind) -> u32 {
        push(&mut self.program.accesses, kind)
    }

    /// Adds a scalar parameter and returns its value.
    pub fn param(&mut self, dtype: DType) -> u32 {
        let slot = self.param_slot(dtype);
        self.param_at(slot)
    }

    /// Adds a scalar parameter and returns its slot.
    pub fn param_slot(&mut self, dtype: DType) -> u32 {
        push(&mut self.program.params, dtype)
    }

    /// The value of the parameter in a slot.
    pub fn param_at(&mut self, slot: u32) -> u32 {
        let dtype = self.program.params[slot as usize];
        self.pure(Op::Param, dtype, [slot, 0, 0])
    }

    /// A literal's value.
    pub fn constant(&mut self, scalar: Scalar) -> u32 {
        let args = [scalar.bits as u32, (scalar.bits >> 32) as u32, 0];
        self.pure(Op::Const, scalar.dtype, args)
    }

    /// The affine index of an access, an int32.
    pub fn index(&mut self, access: u32) -> u32 {
        self.pure(Op::Index, DType::I32, [access, 0, 0])
    }

    /// An operand's element at an access.
    pub fn load(&mut self, operand: u32, access: u32) -> u32 {
        let dtype = self.program.operands[operand as usize];
        self.pure(Op::Load, dtype, [operand, access, 0])
    }

    /// An operand's element at a computed int32 index.
    pub fn gather(&mut self, operand: u32, index: u32) -> u32 {
        let dtype = self.program.operands[operand as usize];
        self.pure(Op::Gather, dtype, [operand, index, 0])
    }

    /// The piece in which an int32 value lies, an int32: the first whose end, an int32 value, it is below.
    pub fn piece(&mut self, number: u32, ends: &[u32]) -> u32 {
        self.listing(Op::Piece, DType::I32, number, ends)
    }

    /// One of several values of one dtype, by its number in the list, an int32 value.
    pub fn choose(&mut self, number: u32, values: &[u32]) -> u32 {
        let dtype = self.dtype(values[0]);
        self.listing(Op::Choose, dtype, number, values)
    }

    /// A cast or bitcast.
    pub fn convert(&mut self, op: Op, value: u32, to: DType) -> u32 {
        self.pure(op, to, [value, 0, 0])
    }

    /// A scalar operation; the result's dtype follows from the table.
    ///
    /// # Panics
    /// When the operation does not take the operands' dtypes. Public front ends check that before they record.
    pub fn op(&mut self, op: Op, values: &[u32]) -> u32 {
        let dtypes: Vec<DType> = values.iter().map(|v| self.dtype(*v)).collect();
        let dtype = op
            .result_dtype(&dtypes, DType::Bool)
            .unwrap_or_else(|| panic!("{op:?} does not take {dtypes:?}"));
        let mut args = [0; 3];
        args[..values.len()].copy_from_slice(values);
        self.pure(op, dtype, args)
    }

    /// Opens a loop of `count` (an int32 value) iterations over carried values, which begin as `starts`. Returns the
    /// region's number, for `carry`, `iter`, `end` and `result`.
    pub fn begin_loop(&mut self, count: u32, starts: &[u32]) -> u32 {
        let (at, len) = self.list(starts);
        self.open(Op::Loop, [count, at, len])
    }

    /// Opens the first branch of an `if`. Returns the region's number.
    pub fn begin_if(&mut self, condition: u32) -> u32 {
        self.open(Op::If, [condition, 0, 0])
    }

    /// Carried value number `k` of the loop `region`.
    pub fn carry(&mut self, region: u32, k: u32) -> u32 {
        let start = self.program.insts[region as usize].args[1] + k;
        let dtype = self.dtype(self.program.extra[start as usize]);
        self.pure(Op::Carry, dtype, [region, k, 0])
    }

    /// The index of the loop's iteration.
    pub fn iter(&mut self, region: u32) -> u32 {
        self.pure(Op::Iter, DType::I32, [region, 0, 0])
    }

    /// Ends the first branch with its values and opens the second.
    pub fn begin_else(&mut self, region: u32, values: &[u32]) {
        let (at, len) = self.list(values);
        self.seen.pop();
        self.raw(Op::Else, DType::Bool, [region, at, len]);
        self.seen.push(PureValues::default());
    }

    /// Ends a region with its values.
    pub fn end(&mut self, region: u32, values: &[u32]) {
        let (at, len) = self.list(values);
        self.seen.pop();
        self.raw(Op::End, DType::Bool, [region, at, len]);
    }

    /// Value number `k` of the finished region, of the given dtype.
    pub fn result(&mut self, region: u32, k: u32, dtype: DType) -> u32 {
        self.pure(Op::Result, dtype, [region, k, 0])
    }

    /// Reduces a value by the form's operation. Later instructions, except further reductions, are the epilogue.
    pub fn reduce(&mut self, value: u32) -> u32 {
        self.reduce_by(self.program.form.op().unwrap_or(Op::Add), value)
    }

    /// Reduces a value by an operation. The first reduction sets the form's operation. Equal reductions become one.
    pub fn reduce_by(&mut self, op: Op, value: u32) -> u32 {
        let equal = |known: &Reduction| (known.op, known.value) == (op, value);
        if let Some(known) = self.program.reductions().find(equal) {
            return known.at as u32;
        }
        let dtype = self.dtype(value);
        self.seen.iter_mut().for_each(|known| *known = PureValues::default());
        let is_first = self.program.reduce_range().is_none();
        if let (true, Form::Reduce { op: of_form }) = (is_first, &mut self.program.form) {
            *of_form = op;
        }
        let named = if is_first { 0 } else { op as u32 };
        self.raw(Op::Reduce, dtype, [value, named, 0])
    }

    /// The instruction of a library operation, that is, of a whole-program form (`Op::Scan`, `Op::Sort`,
    /// `Op::ArgSort`, `Op::MatMul`), on the values of its loads.
    pub fn library_op(&mut self, op: Op, values: &[u32]) -> u32 {
        let dtype = if op == Op::ArgSort { DType::I32 } else { self.dtype(values[0]) };
        let mut args = [0; 3];
        args[..values.len()].copy_from_slice(values);
        self.raw(op, dtype, args)
    }

    /// The instruction of the form's routine on the value of its load, whose result has this dtype. The parameters of
    /// the program become the routine's attributes.
    pub fn routine(&mut self, routine: Routine, operand: u32, dtype: DType) -> u32 {
        self.program.params.extend(routine.attribute_dtypes());
        self.listing(Op::Routine, dtype, 0, &[operand])
    }

    /// Stores a value to a new destination.
    pub fn store(&mut self, value: u32) {
        let dtype = self.dtype(value);
        let slot = push(&mut self.program.dests, dtype);
        self.raw(Op::Store, dtype, [slot, value, 0]);
    }

    /// Inlines `callee` (see `driver::Method::Lowered`) with `values` as its parameters. Returns the value that it
    /// stores.
    pub fn inline(&mut self, callee: &Program, values: &[u32]) -> u32 {
        self.inline_all(callee, values).last().copied().unwrap_or(0)
    }

    /// Inlines a map without operands, with `values` as its parameters. Returns the values that it stores, in the order
    /// of its destinations.
    pub fn inline_all(&mut self, callee: &Program, values: &[u32]) -> Vec<u32> {
        let mut renamed: Vec<u32> = Vec::with_capacity(callee.insts.len());
        let mut stored = vec![0; callee.dests.len()];
        for inst in &callee.insts {
            let name = |v: u32| renamed[v as usize];
            let list = |from: u32, len: u32| -> Vec<u32> {
                callee.extra[from as usize..(from + len) as usize]
                    .iter()
                    .map(|v| name(*v))
                    .collect()
            };
            let [a, b, c] = inst.args;
            let new = match inst.op {
                Op::Param => values[a as usize],
                Op::Piece | Op::Choose => {
                    let values = list(b, c);
                    self.listing(inst.op, inst.dtype, name(a), &values)
                }
                Op::Const => self.pure(Op::Const, inst.dtype, inst.args),
                Op::Loop => {
                    let starts = list(b, c);
                    self.begin_loop(name(a), &starts)
                }
                Op::If => self.begin_if(name(a)),
                Op::Carry => self.carry(name(a), b),
                Op::Iter => self.iter(name(a)),
                Op::Else => {
                    let values = list(b, c);
                    self.begin_else(name(a), &values);
                    0
                }
                Op::End => {
                    let values = list(b, c);
                    self.end(name(a), &values);
                    0
                }
                Op::Result => self.result(name(a), b, inst.dtype),
                Op::Store => {
                    stored[a as usize] = name(b);
                    0
                }
                op => {
                    let mut args = inst.args;
                    for arg in args.iter_mut().take(op.info().arity as usize) {
                        *arg = name(*arg);
                    }
                    self.pure(op, inst.dtype, args)
                }
            };
            renamed.push(new);
        }
        stored
    }

    /// The dtype of a value.
    pub fn dtype(&self, value: u32) -> DType {
        self.program.insts[value as usize].dtype
    }

    /// The finished program.
    pub fn finish(self) -> Program {
        self.program
    }

    fn open(&mut self, op: Op, args: [u32; 3]) -> u32 {
        let region = self.raw(op, DType::Bool, args);
        self.seen.push(PureValues::default());
        region
    }

    fn list(&mut self, values: &[u32]) -> (u32, u32) {
        let at = self.program.extra.len() as u32;
        self.program.extra.extend_from_slice(values);
        (at, values.len() as u32)
    }

    fn raw(&mut self, op: Op, dtype: DType, args: [u32; 3]) -> u32 {
        push(&mut self.program.insts, Inst { op, dtype, args })
    }

    /// A pure instruction with a list. An equal one of the same region is taken in its place.
    fn listing(&mut self, op: Op, dtype: DType, first: u32, values: &[u32]) -> u32 {
        let key = (op, first, SmallVec::from_slice(values));
        if let Some(found) = self.seen.iter().find_map(|known| known.lists.get(&key)) {
            return *found;
        }
        let (at, len) = self.list(values);
        let value = self.raw(op, dtype, [first, at, len]);
        if let Some(known) = self.seen.last_mut() {
            known.lists.insert(key, value);
        }
        value
    }

    fn pure(&mut self, op: Op, dtype: DType, args: [u32; 3]) -> u32 {
        debug_assert!(op.info().rule != Rule::Special || op.info().arity == 0 || op == Op::Gather);
        let inst = Inst { op, dtype, args };
        for known in &self.seen {
            if let Some(found) = known.insts.get(&inst) {
                return *found;
            }
        }
        let value = push(&mut self.program.insts, inst);
        if let Some(known) = self.seen.last_mut() {
            known.insts.insert(inst, value);
        }
        value
    }
}

fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    (list.len() - 1) as u32
}
