//! float16 that programs move: the bits of a signalling NaN are kept, which the conversion to float32 and back changes.
//!
//! Owns [`as_words`], the program in which float16 is uint16, and [`kept`], the loads and stores of other programs that
//! keep all bits. Invariant: from a load to a store, a value that only moves passes through the same form.
//!
//! Not here: the instructions (`lower/float16.rs`).

use crate::if_conversion::IfRegions;
use gpupy_core::DType;
use gpupy_core::ir::{Form, Inst, Program};
use gpupy_core::op::Op;

const F16: DType = DType::F16;

/// The program with uint16 in the place of float16. `None` for a program that stores no float16, and for one that
/// computes with it.
pub fn as_words(program: &Program) -> Option<Program> {
    let is_half = |at: u32| program.insts[at as usize].dtype == F16;
    let mut found = false;
    for inst in &program.insts {
        let from_half = program.uses(inst).any(is_half);
        match inst.op {
            Op::If | Op::Else | Op::End => continue,
            Op::Load | Op::Gather | Op::Param | Op::Const => {}
            Op::Select | Op::Result | Op::Store => {}
            Op::Cast if inst.dtype == F16 && from_half => {}
            _ if inst.dtype == F16 || from_half => return None,
            _ => {}
        }
        found |= inst.op == Op::Store && inst.dtype == F16;
    }
    if !found || program.form != Form::Map {
        return None;
    }
    let word = |dtype: &mut DType| {
        if *dtype == F16 {
            *dtype = DType::U16;
        }
    };
    let mut words = program.clone();
    words.operands.iter_mut().for_each(word);
    words.params.iter_mut().for_each(word);
    words.dests.iter_mut().for_each(word);
    words.insts.iter_mut().for_each(|inst| word(&mut inst.dtype));
    Some(words)
}

/// For each instruction: whether it is a leaf or a store between which a float16 only moves.
pub fn kept(program: &Program, regions: &IfRegions) -> Vec<bool> {
    let mut kept = vec![false; program.insts.len()];
    let is_store = |inst: &Inst| inst.op == Op::Store && inst.dtype == F16;
    for at in (0..program.insts.len()).filter(|at| is_store(&program.insts[*at])) {
        let mut rest = vec![program.insts[at].args[1]];
        let mut visited: Vec<u32> = Vec::new();
        while let Some(value) = rest.pop() {
            if visited.contains(&value) {
                continue;
            }
            visited.push(value);
            let inst = &program.insts[value as usize];
            match inst.op {
                Op::Load | Op::Param | Op::Const => {
                    kept[value as usize] = true;
                    kept[at] = true;
                }
                Op::Select => rest.extend([inst.args[1], inst.args[2]]),
                Op::Cast if program.insts[inst.args[0] as usize].dtype == F16 => {
                    rest.push(inst.args[0]);
                }
                Op::Result => {
                    let options = regions.options(program, inst);
                    rest.extend(options.iter().flat_map(|it| [it.first, it.second]));
                }
                _ => {}
            }
        }
    }
    kept
}
