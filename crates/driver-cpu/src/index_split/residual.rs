//! The residual program of a box: partial evaluation by the facts that hold in it.
//!
//! Owns [`residual`]. Selects with a decided condition become the selected value, gathers at affine indices
//! become loads, and dead instructions are removed. Invariant: in the box of the facts, the residual program
//! stores what the original stores.
//!
//! Not here: the facts (`affine_facts.rs`).

use crate::index_split::affine_facts::{Fact, IndexBox, bounds};
use gpupy_core::Op;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Inst, Program};

/// The access of an input of the residual program.
#[derive(Clone, Debug)]
pub enum ResidualAccess {
    /// An access of the original program, by number.
    Of(usize),
    /// An access that was derived, over the original program's space.
    Found(Access),
}

/// The residual program in a box, and its accesses; `None` where nothing is simpler. `lens` has the length of
/// each operand.
pub fn residual(
    program: &Program,
    facts: &[Fact],
    lens: &[usize],
    space: &IndexBox,
) -> Option<(Program, Vec<ResidualAccess>)> {
    let count = program.insts.len();
    let mut same: Vec<usize> = (0..count).collect();
    let mut insts = program.insts.clone();
    let mut walks: Vec<ResidualAccess> = Vec::new();
    let mut is_less = false;
    for (at, inst) in program.insts.iter().enumerate() {
        let [a, b, c] = inst.args.map(|arg| arg as usize);
        match inst.op {
            Op::Select if let Fact::Holds(holds) = facts[a] => {
                same[at] = same[if holds { b } else { c }];
                is_less = true;
            }
            Op::Gather if let Fact::Affine(number) = &facts[b] => {
                let (low, high) = bounds(number, space)?;
                if low >= 0 && high < lens[a] as i64 {
                    let access = walks.len() as u32;
                    walks.push(ResidualAccess::Found(number.clone()));
                    insts[at] = Inst { op: Op::Load, args: [a as u32, access, 0], ..*inst };
                    is_less = true;
                }
            }
            Op::Load => {
                insts[at].args[1] = walks.len() as u32;
                walks.push(ResidualAccess::Of(b));
            }
            Op::Index => {
                insts[at].args[0] = walks.len() as u32;
                walks.push(ResidualAccess::Of(a));
            }
            _ => {}
        }
    }
    is_less.then(|| pruned(program, insts, &same, walks))
}

/// The program of the instructions that a store depends on; each instruction is replaced by the one in `same`.
fn pruned(
    program: &Program,
    mut insts: Vec<Inst>,
    same: &[usize],
    walks: Vec<ResidualAccess>,
) -> (Program, Vec<ResidualAccess>) {
    let mut extra: Vec<u32> = program.extra.clone();
    extra.iter_mut().for_each(|value| *value = same[*value as usize] as u32);
    for inst in &mut insts {
        for arg in values(inst.op, inst) {
            inst.args[arg] = same[inst.args[arg] as usize] as u32;
        }
    }
    let mut left = Program { insts, extra, ..program.clone() };
    let is_needed = left.live(|_, inst| inst.op == Op::Store);
    // The new positions of the instructions, and the accesses in use.
    let mut positions = vec![0u32; left.insts.len()];
    let mut kept: Vec<Inst> = Vec::new();
    let (mut accesses, mut found) = (Vec::new(), Vec::new());
    for (at, inst) in left.insts.iter().enumerate().filter(|(at, _)| is_needed[*at]) {
        positions[at] = kept.len() as u32;
        let mut inst = *inst;
        for arg in values(inst.op, &inst) {
            inst.args[arg] = positions[inst.args[arg] as usize];
        }
        let access = match inst.op {
            Op::Load => Some(1),
            Op::Index => Some(0),
            _ => None,
        };
        if let Some(arg) = access {
            found.push(walks[inst.args[arg] as usize].clone());
            inst.args[arg] = accesses.len() as u32;
            accesses.push(AccessKind::Affine);
        }
        kept.push(inst);
    }
    // Lists may refer to later instructions: the next carried values of a loop.
    left.extra.iter_mut().for_each(|value| *value = positions[*value as usize]);
    left.insts = kept;
    left.accesses = accesses;
    (left, found)
}

/// The arguments of an instruction that are positions of instructions.
fn values(op: Op, inst: &Inst) -> std::ops::Range<usize> {
    match op {
        Op::Const | Op::Param | Op::Load | Op::Index => 0..0,
        Op::Gather | Op::Store => 1..2,
        Op::Loop | Op::If | Op::Else | Op::End | Op::Carry | Op::Iter | Op::Result => 0..1,
        _ => 0..inst.op.info().arity as usize,
    }
}
