//! What of a program is written as code, and in which part of it.
//!
//! Owns [`Plan`]: which instructions are needed, which are other names of a value, which hold for
//! the whole row and are computed before its loop, which comparisons only choose between values and
//! become part of that choice; how many points one pass of the loop does, and when each value is
//! used next.
//!
//! Not here: registers (`registers.rs`), instructions (`lower/`).

use crate::isa::Isa;
use crate::opcodes::Width;
use crate::{Step, Variant};
use gpupy_core::DType;
use gpupy_core::ir::{Form, Inst, Program};
use gpupy_core::op::{Op, Rule};

/// The values that an instruction uses, at most 4.
#[derive(Clone, Copy, Debug, Default)]
pub struct Args {
    list: [u32; 4],
    len: usize,
}

impl Args {
    fn push(&mut self, value: u32) {
        self.list[self.len] = value;
        self.len += 1;
    }
}

impl std::ops::Deref for Args {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.list[..self.len]
    }
}

/// One instruction for one of the vectors of a pass.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The instruction.
    pub inst: u32,
    /// Which vector of the pass.
    pub group: u32,
}

/// What is known of an instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Note {
    /// The instruction whose value this one's is: itself, or what a `bitcast` is of.
    name: u32,
    /// The number among the accesses of the row, of a `load` or `index`.
    walk: u32,
    needed: bool,
    /// The same at all points of the row.
    uniform: bool,
    /// Only written as part of the `select` that uses it.
    folded: bool,
}

/// The order and the parts of the code.
pub struct Plan<'a> {
    /// The program.
    pub program: &'a Program,
    /// Points of one vector.
    pub lanes: usize,
    /// Vectors of one pass.
    pub groups: u32,
    /// What is computed once a row, before the loop; `const`s need not be computed.
    pub before: Vec<Task>,
    /// What is computed in each pass.
    pub body: Vec<Task>,
    /// The most values that are alive at once in the body, of all groups together.
    pub pressure: usize,
    notes: Vec<Note>,
}

/// How many vectors a pass may do side by side, so that one waits while another computes, and the
/// longest program for which that many pay.
const GROUPS: [(u32, usize); 2] = [(4, 60), (2, 1000)];
/// Registers that a pass of several vectors leaves for temporary values.
const SPARE: usize = 4;

impl<'a> Plan<'a> {
    /// Plans a program; `None` when it is not one that is written as code.
    pub fn new(program: &'a Program, variant: &Variant, isa: Isa) -> Option<Plan<'a>> {
        if program.form != Form::Map {
            return None;
        }
        let mut widest = 0;
        let mut notes = vec![Note::default(); program.insts.len()];
        let mut walks = 0;
        for (at, inst) in program.insts.iter().enumerate() {
            let mut note = Note { name: at as u32, ..Note::default() };
            match inst.op {
                Op::Const | Op::Param => note.uniform = true,
                Op::Load | Op::Index => {
                    note.walk = walks;
                    note.uniform = *variant.accesses.get(walks as usize)? == Step::Zero;
                    walks += 1;
                }
                Op::Store => {}
                op if op.info().rule == Rule::Special => return None,
                // Not all bits are a bool's.
                Op::Bitcast if inst.dtype == DType::Bool && !is_renaming(program, inst) => {
                    return None;
                }
                op => {
                    let arity = op.info().arity as usize;
                    if is_renaming(program, inst) {
                        note.name = notes[inst.args[0] as usize].name;
                    }
                    note.uniform =
                        inst.args[..arity].iter().all(|arg| notes[*arg as usize].uniform);
                }
            }
            Width::of(inst.dtype)?;
            widest = widest.max(inst.dtype.size());
            notes[at] = note;
        }
        // Lanes as small as bools and small integers are faster for them alone.
        if widest < 4 {
            return None;
        }
        if variant.accesses.len() != walks as usize || variant.dests.len() != program.dests.len() {
            return None;
        }
        let lanes = isa.bytes() / widest;
        let mut plan = Plan {
            program,
            lanes,
            groups: 1,
            before: Vec::new(),
            body: Vec::new(),
            pressure: 0,
            notes,
        };
        plan.find_needed();
        if isa == Isa::Avx512 {
            plan.fold_comparisons();
        }
        plan.order(isa);
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

    /// True for what is the same at all points of the row.
    pub fn is_uniform(&self, inst: u32) -> bool {
        self.notes[inst as usize].uniform
    }

    /// True for a comparison that is written with the `select` that uses it.
    pub fn is_folded(&self, inst: u32) -> bool {
        self.notes[inst as usize].folded
    }

    /// The number of a `load`'s or `index`'s walk.
    pub fn walk(&self, inst: u32) -> usize {
        self.notes[inst as usize].walk as usize
    }

    /// How many values have names of their own: one for each instruction and vector of a pass.
    pub fn values(&self) -> usize {
        self.notes.len() * self.groups as usize
    }

    /// The value of an instruction for one vector of a pass.
    pub fn value(&self, inst: u32, group: u32) -> u32 {
        let name = self.name(inst);
        name * self.groups + if self.is_uniform(name) { 0 } else { group }
    }

    /// The instruction of a value.
    pub fn inst_of(&self, value: u32) -> u32 {
        value / self.groups
    }

    /// The instructions whose values this one takes from registers or memory.
    pub fn args(&self, inst: u32) -> Args {
        let mut args = Args::default();
        let it = self.inst(inst);
        match it.op {
            Op::Store => args.push(self.name(it.args[1])),
            Op::Select if self.is_folded(it.args[0]) => {
                let test = self.inst(it.args[0]);
                for arg in &test.args[..test.op.info().arity as usize] {
                    args.push(self.name(*arg));
                }
                args.push(self.name(it.args[1]));
                args.push(self.name(it.args[2]));
            }
            op if op.is_scalar_op() => {
                for arg in &it.args[..op.info().arity as usize] {
                    args.push(self.name(*arg));
                }
            }
            _ => {}
        }
        args
    }

    fn find_needed(&mut self) {
        for at in (0..self.notes.len() as u32).rev() {
            if self.inst(at).op == Op::Store {
                self.notes[at as usize].needed = true;
            }
            if self.notes[at as usize].needed {
                for arg in self.args(at).iter() {
                    self.notes[*arg as usize].needed = true;
                }
            }
        }
    }

    fn fold_comparisons(&mut self) {
        let mut uses = vec![0u32; self.notes.len()];
        let all = 0..self.notes.len() as u32;
        let written: Vec<u32> =
            all.filter(|at| self.notes[*at as usize].needed && self.name(*at) == *at).collect();
        for at in &written {
            for arg in self.args(*at).iter() {
                uses[*arg as usize] += 1;
            }
        }
        for at in written {
            let inst = self.inst(at);
            let test = inst.args[0];
            // A comparison of the row with a choice between values of its points stays where it is.
            if inst.op == Op::Select
                && uses[test as usize] == 1
                && is_test(self.program, test)
                && self.is_uniform(test) == self.is_uniform(at)
            {
                self.notes[test as usize].folded = true;
            }
        }
    }

    fn order(&mut self, isa: Isa) {
        let mut body = Vec::new();
        for at in 0..self.notes.len() as u32 {
            let note = self.notes[at as usize];
            let inst = self.inst(at);
            if !note.needed || note.folded || note.name != at || inst.op == Op::Const {
                continue;
            }
            if note.uniform {
                self.before.push(Task { inst: at, group: 0 });
            } else {
                body.push(at);
            }
        }
        self.pressure = self.most_alive(&body);
        let fits = |(groups, longest): &(u32, usize)| {
            let needed = *groups as usize * self.pressure + SPARE;
            needed <= isa.registers() && body.len() <= *longest
        };
        self.groups = GROUPS.iter().find(|choice| fits(choice)).map_or(1, |(groups, _)| *groups);
        self.pressure *= self.groups as usize;
        let groups = self.groups;
        self.body = body
            .iter()
            .flat_map(|inst| (0..groups).map(|group| Task { inst: *inst, group }))
            .collect();
    }

    fn most_alive(&self, body: &[u32]) -> usize {
        let mut alive = vec![false; self.notes.len()];
        let (mut now, mut most) = (0, 0);
        for inst in body.iter().rev() {
            now -= usize::from(std::mem::replace(&mut alive[*inst as usize], false));
            for arg in self.args(*inst).iter().filter(|arg| !self.is_uniform(**arg)) {
                now += usize::from(!std::mem::replace(&mut alive[*arg as usize], true));
            }
            most = most.max(now);
        }
        most
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
        Op::Bitcast => from == to || to.size() >= 4,
        Op::Cast if from == to => true,
        Op::Cast if from.size() < 4 => both_int && extended,
        Op::Cast => both_int && from.size() == to.size(),
        Op::Abs => from == DType::Bool || from.is_int() && !from.is_signed_int(),
        _ => false,
    }
}

/// Whether an instruction tests numbers, so that it leaves a mask.
fn is_test(program: &Program, at: u32) -> bool {
    let inst = &program.insts[at as usize];
    match inst.op.info().rule {
        Rule::Compare => program.insts[inst.args[0] as usize].dtype != DType::Bool,
        _ => matches!(inst.op, Op::IsNan | Op::IsInf | Op::IsFinite),
    }
}
