//! Plans the code of a program.
//!
//! Owns [`CodePlan`]: live instructions; aliases of a value; loop invariants, which are computed before the loop over
//! the row; comparisons that are folded into a select; *detours*, which run only if a point takes the first branch of
//! an `if`; and the number of points in one pass of the loop.
//!
//! Instructions and their operands are here, dead code and folding in `dead_code.rs`, the order of tasks in
//! `instruction_order.rs`, tasks for two vectors in `pairs.rs`, float16 that only moves in `moved_halves.rs`.
//!
//! Not here: registers (`register_allocation.rs`), instructions (`lower/`).

mod dead_code;
mod instruction_order;
pub mod moved_halves;
mod pairs;

use crate::code::opcodes::{LaneWidth, Shift};
use crate::if_conversion::IfRegions;
use crate::isa::Isa;
use crate::{KernelStrides, RowStride};
use gpupy_core::DType;
use gpupy_core::ir::{Form, Inst, Program};
use gpupy_core::op::{Op, Rule};

/// The operands of an instruction, at most 4.
#[derive(Clone, Copy, Debug, Default)]
pub struct OperandList {
    list: [u32; 4],
    len: usize,
}

impl OperandList {
    fn push(&mut self, value: u32) {
        self.list[self.len] = value;
        self.len += 1;
    }
}

impl std::ops::Deref for OperandList {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.list[..self.len]
    }
}

/// The work of one instruction for one vector of a pass.
#[derive(Clone, Copy, Debug)]
pub struct CodeTask {
    /// The instruction.
    pub inst: u32,
    /// The index of the vector in the pass; for a pair of vectors, of the first.
    pub group: u32,
    /// The part of the instruction's work.
    pub duty: Duty,
}

/// The part of an instruction's work that a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Computes the value; for the result of an `if`, the second branch's.
    Value,
    /// For an `if`: enters the detour, which is this many of the next tasks, if a point takes the first branch.
    Leave(u32),
    /// For the result of an `if`, at the end of the detour: selects the first branch's value for points that take
    /// it.
    Merge,
    /// Joins the 32-bit lanes of a pair of vectors.
    Join,
    /// Splits the second vector's lanes off those of a pair.
    Split,
}

impl CodeTask {
    fn value(inst: u32) -> CodeTask {
        CodeTask { inst, group: 0, duty: Duty::Value }
    }
}

/// Facts about an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct InstructionNote {
    /// The instruction that computes this one's value: itself, or the operand of a `bitcast`.
    name: u32,
    /// For a `load` or `index`, the index of its walk in the row.
    walk: u32,
    needed: bool,
    /// True if the value is uniform: equal at all points of the row.
    uniform: bool,
    /// True for a load, a parameter or a store of float16 that keeps all bits.
    keeps_bits: bool,
    /// True if a task computes the value for a pair of vectors.
    paired: bool,
    /// True if the instruction is emitted only as part of the `select` or `if` that uses it.
    folded: bool,
}

/// The plan of a program's code: its parts and their order.
pub struct CodePlan<'a> {
    /// The program.
    pub program: &'a Program,
    /// The strides of accesses and destinations.
    pub variant: &'a KernelStrides,
    /// Points of one vector.
    pub lanes: usize,
    /// Vectors of one pass.
    pub groups: u32,
    /// Vectors for which a paired task computes: 2, or 1 if the program has no pairs.
    pub span: u32,
    /// Tasks before the loop, once for a row: the loop invariants. `const`s need no task.
    pub before: Vec<CodeTask>,
    /// Tasks of each pass. A detour follows the task that enters it.
    pub body: Vec<CodeTask>,
    /// The register pressure of the body without detours, over all groups.
    pub pressure: usize,
    notes: Vec<InstructionNote>,
    choices: IfRegions,
    isa: Isa,
}

/// The numbers of vectors that a pass may interleave to hide latency, each with the longest program for which it pays.
const GROUPS: [(u32, usize); 2] = [(4, 60), (2, 10_000)];
/// The most vectors of a pass: AVX-512 has a mask register for each, and for each pair.
const MOST_GROUPS: u32 = 4;
/// Registers that a pass of several vectors leaves free for temporaries.
const SPARE: usize = 4;

impl<'a> CodePlan<'a> {
    /// Plans a program. `None` if this crate does not compile it.
    pub fn new(program: &'a Program, variant: &'a KernelStrides, isa: Isa) -> Option<CodePlan<'a>> {
        if program.form != Form::Map {
            return None;
        }
        let choices = IfRegions::of(program)?;
        let mut widest = 0;
        let mut notes: Vec<InstructionNote> = vec![InstructionNote::default(); program.insts.len()];
        let mut walks = 0;
        for (at, inst) in program.insts.iter().enumerate() {
            let mut note = InstructionNote { name: at as u32, ..InstructionNote::default() };
            match inst.op {
                Op::Load | Op::Index => {
                    note.walk = walks;
                    walks += 1;
                }
                Op::Const | Op::Param | Op::Store | Op::If | Op::Else | Op::End | Op::Result => {}
                Op::Gather if inst.dtype != DType::F16 => {}
                op if op.info().rule == Rule::Special => return None,
                // A bool has not all bit patterns, and a float16's lane has a float32's bits.
                Op::Bitcast if !has_all_bits(program, inst) && !is_renaming(program, inst) => {
                    return None;
                }
                _ if is_renaming(program, inst) => {
                    note.name = notes[inst.args[0] as usize].name;
                }
                _ => {}
            }
            LaneWidth::of(inst.dtype)?;
            // A float16 is computed in float32.
            widest = widest.max(if inst.dtype == DType::F16 { 4 } else { inst.dtype.size() });
            notes[at] = note;
        }
        // Programs of bools and narrow integers alone are faster in narrower lanes.
        if widest < 4 {
            return None;
        }
        if variant.accesses.len() != walks as usize || variant.dests.len() != program.dests.len() {
            return None;
        }
        let is_uniform = |at: usize| variant.accesses[notes[at].walk as usize] == RowStride::Zero;
        let uniform = program.uniform(is_uniform);
        for (note, uniform) in notes.iter_mut().zip(uniform) {
            note.uniform = uniform;
        }
        for (note, kept) in notes.iter_mut().zip(moved_halves::kept(program, &choices)) {
            note.keeps_bits = kept;
        }
        let lanes = isa.bytes() / widest;
        let mut plan = CodePlan {
            program,
            variant,
            lanes,
            groups: 1,
            span: 1,
            before: Vec::new(),
            body: Vec::new(),
            pressure: 0,
            notes,
            choices,
            isa,
        };
        plan.find_needed();
        plan.find_pairs(widest);
        if isa == Isa::Avx512 {
            plan.fold_comparisons();
        }
        plan.order();
        Some(plan)
    }

    /// An instruction.
    pub fn inst(&self, inst: u32) -> &'a Inst {
        &self.program.insts[inst as usize]
    }

    /// The instruction that computes the value of instruction `inst`.
    pub fn name(&self, inst: u32) -> u32 {
        self.notes[inst as usize].name
    }

    /// True for a uniform value: equal at all points of the row.
    pub fn is_uniform(&self, inst: u32) -> bool {
        self.notes[inst as usize].uniform
    }

    /// True for a load, a parameter or a store of float16 that keeps the bits of a NaN, too.
    pub fn keeps_bits(&self, inst: u32) -> bool {
        self.notes[inst as usize].keeps_bits
    }

    /// True for a comparison that is folded into the `select` or `if` that uses it.
    pub fn is_folded(&self, inst: u32) -> bool {
        self.notes[inst as usize].folded
    }

    /// Whether the program reads operands at computed indices.
    pub fn gathers(&self) -> bool {
        self.program.insts.iter().any(|inst| inst.op == Op::Gather)
    }

    /// The index of the walk of a `load` or `index`.
    pub fn walk(&self, inst: u32) -> usize {
        self.notes[inst as usize].walk as usize
    }

    /// The number of values: for each instruction and vector of a pass, one, and with pairs a converted one.
    pub fn values(&self) -> usize {
        self.notes.len() * (self.groups * self.span) as usize
    }

    /// The instruction of a value.
    pub fn inst_of(&self, value: u32) -> u32 {
        value / (self.groups * self.span)
    }

    /// The instructions that compute the operands of a task in registers or memory; conversions have none.
    pub fn args(&self, task: CodeTask) -> OperandList {
        let mut args = OperandList::default();
        let inst = self.inst(task.inst);
        let mut take = |value: u32| args.push(self.name(value));
        match (inst.op, task.duty) {
            (_, Duty::Join | Duty::Split) => {}
            (Op::Store, _) => {
                // Both parts of a complex number are stored together.
                if self.variant.dests[inst.args[0] as usize] == RowStride::Imaginary {
                    take(self.inst(task.inst - 1).args[1]);
                }
                take(inst.args[1]);
            }
            (Op::Select, _) if self.is_folded(inst.args[0]) => {
                self.listed(inst.args[0]).iter().for_each(|value| take(*value));
                take(inst.args[1]);
                take(inst.args[2]);
            }
            (Op::If, _) if self.is_folded(inst.args[0]) => {
                self.listed(inst.args[0]).iter().for_each(|value| take(*value));
            }
            (Op::If, _) => take(inst.args[0]),
            (Op::Gather, _) => take(inst.args[1]),
            (Op::Result, duty) => {
                let Some(options) = self.choices.options(self.program, inst) else { return args };
                if duty == Duty::Merge || self.is_uniform(task.inst) {
                    take(options.condition);
                    take(options.first);
                }
                take(if duty == Duty::Merge { task.inst } else { options.second });
            }
            _ if self.shift(inst).is_some() => take(inst.args[0]),
            (op, _) if op.is_scalar_op() => {
                self.listed(task.inst).iter().for_each(|value| take(*value));
            }
            _ => {}
        }
        args
    }

    /// The bits of an operand that is a literal.
    pub fn literal(&self, inst: &Inst, k: usize) -> Option<u64> {
        let operand = self.inst(inst.args[k]);
        let from = self.inst(self.name(inst.args[k]));
        // A cast narrower literal has other bits.
        let same = from.op == Op::Const && from.dtype.size() == operand.dtype.size();
        same.then(|| u64::from(from.args[0]) | u64::from(from.args[1]) << 32)
    }

    /// The shift of an instruction's first operand by a literal, if the instruction is one; also for products with
    /// powers of 2. The count is less than the bits of a lane.
    pub fn shift(&self, inst: &Inst) -> Option<(Shift, u8)> {
        if !inst.dtype.is_int() || inst.dtype.size() < 4 {
            return None;
        }
        let number = match inst.op {
            Op::Mul | Op::Shl | Op::Shr => self.literal(inst, 1)?,
            _ => return None,
        };
        let by = u8::try_from(number).ok().filter(|by| usize::from(*by) < 8 * inst.dtype.size());
        match inst.op {
            Op::Mul => {
                number.is_power_of_two().then(|| (Shift::Left, number.trailing_zeros() as u8))
            }
            Op::Shl => Some((Shift::Left, by?)),
            _ if !inst.dtype.is_signed_int() => Some((Shift::Right, by?)),
            // AVX2 has no such shift of 64-bit lanes.
            _ if self.isa == Isa::Avx2 && inst.dtype.size() == 8 => None,
            _ => Some((Shift::RightSigned, by?)),
        }
    }

    /// The operands of an operation, as it lists them.
    fn listed(&self, inst: u32) -> &'a [u32] {
        let inst = self.inst(inst);
        &inst.args[..inst.op.info().arity as usize]
    }
}

/// Whether an instruction's value has the same lanes as its operand's.
fn is_renaming(program: &Program, inst: &Inst) -> bool {
    let (from, to) = (program.insts[inst.args[0] as usize].dtype, inst.dtype);
    let both_int = from.is_int() && to.is_int();
    let extended = from.size() < to.size().min(4)
        && to.size() <= 4
        && (to.size() == 4 || to.is_signed_int() || !from.is_signed_int());
    match inst.op {
        Op::Cast if (from, to) == (DType::F16, DType::F32) => true,
        Op::Bitcast => from == to || to.size() >= 4,
        Op::Cast if from == to => true,
        Op::Cast if from.size() < 4 => both_int && extended,
        Op::Cast => both_int && from.size() == to.size(),
        Op::Abs => from == DType::Bool || from.is_int() && !from.is_signed_int(),
        _ => false,
    }
}

/// Whether the lanes of a `bitcast`'s operand and result hold their bits.
fn has_all_bits(program: &Program, inst: &Inst) -> bool {
    let from = program.insts[inst.args[0] as usize].dtype;
    inst.dtype != DType::Bool && from != DType::F16 && inst.dtype != DType::F16
}
