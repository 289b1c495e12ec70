//! The registers whose values are read later, at the beginning of each block.
//!
//! Exits read no registers here: what a name is that is not read again travels as a number beside its kind.

use crate::flow::{End, Flow, Register, Step};

/// By block and register: whether its value is read before it is written again.
pub(super) fn live(flow: &Flow) -> Vec<Vec<bool>> {
    let mut found = vec![vec![false; flow.registers]; flow.blocks.len()];
    loop {
        let mut is_new = false;
        for number in (0..flow.blocks.len()).rev() {
            let before = before(flow, number, &found);
            if before != found[number] {
                found[number] = before;
                is_new = true;
            }
        }
        if !is_new {
            return found;
        }
    }
}

fn before(flow: &Flow, number: usize, found: &[Vec<bool>]) -> Vec<bool> {
    let block = &flow.blocks[number];
    let mut live = vec![false; flow.registers];
    let mut join = |block: usize, without: Option<Register>| {
        for (register, is_live) in found[block].iter().enumerate() {
            live[register] |= *is_live && Some(register) != without;
        }
    };
    match block.end {
        End::Jump(next) => join(next, None),
        End::Branch(_, inside, beside) => {
            join(inside, None);
            join(beside, None);
        }
        End::Next(one, inside, beside) => {
            join(inside, Some(flow.loops[one].target));
            join(beside, None);
        }
        End::Leave | End::Done => {}
    }
    if let End::Branch(test, ..) = block.end {
        live[test] = true;
    }
    for step in block.steps.iter().rev() {
        let (written, read) = registers(step);
        if let Some(written) = written {
            live[written] = false;
        }
        for register in read {
            live[register] = true;
        }
    }
    live
}

/// The register that a step writes, and those that it reads.
fn registers(step: &Step) -> (Option<Register>, Vec<Register>) {
    match step {
        Step::Int(to, _) | Step::Float(to, _) | Step::Bool(to, _) | Step::Extent(to, ..) => {
            (Some(*to), vec![])
        }
        Step::Move(to, from)
        | Step::Unary(_, to, from)
        | Step::Get(to, _, from)
        | Step::Convert(to, _, from) => (Some(*to), vec![*from]),
        Step::Binary(_, to, left, right) | Step::Compare(_, to, left, right) => {
            (Some(*to), vec![*left, *right])
        }
        Step::Call(_, to, given) | Step::Locate(to, _, given) => (Some(*to), given.clone()),
        Step::Put(_, place, value) => (None, vec![*place, *value]),
        Step::Begin(_, given) => (None, given.clone()),
        Step::Poll => (None, vec![]),
    }
}
