//! The residual program of a box: partial evaluation by the facts that hold in it.
//!
//! Owns [`residual`]. Choices by a piece become the chosen value, gathers at affine numbers become loads, and dead
//! instructions are removed. Invariant: in the box of the facts, the residual program
//! stores what the original stores.
//!
//! Not here: the facts (`affine_facts.rs`).

use crate::index_split::affine_facts::{Fact, IndexBox, bounds, chosen};
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
        let [a, b, _] = inst.args.map(|arg| arg as usize);
        match inst.op {
            Op::Choose if let Some(value) = chosen(&facts[a], program.listed(inst)) => {
                same[at] = same[value as usize];
                is_less = true;
            }
            Op::Gather if let Some(number) = &facts[b] => {
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
        for arg in inst.op.value_arguments() {
            inst.args[arg] = same[inst.args[arg] as usize] as u32;
        }
    }
    let mut left = Program { insts, extra, ..program.clone() };
    let is_needed = left.live(|_, inst| inst.op == Op::Store);
    // The new positions of the instructions, and the accesses in use.
    let mut positions = vec![0u32; left.insts.len()];
    let (mut kept, mut lists): (Vec<Inst>, Vec<u32>) = (Vec::new(), Vec::new());
    let (mut accesses, mut found) = (Vec::new(), Vec::new());
    for (at, inst) in left.insts.iter().enumerate().filter(|(at, _)| is_needed[*at]) {
        positions[at] = kept.len() as u32;
        let mut inst = *inst;
        for arg in inst.op.value_arguments() {
            inst.args[arg] = positions[inst.args[arg] as usize];
        }
        if inst.op.has_list() {
            let from = lists.len();
            lists.extend(left.listed(&inst).iter().map(|value| positions[*value as usize]));
            inst.args[1] = from as u32;
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
    (left.insts, left.extra) = (kept, lists);
    left.accesses = accesses;
    (left, found)
}
