//! The registers whose values are read later, at the beginning of each block.
//!
//! Exits read no registers here: what a name is that is not read again travels as a number beside its kind.

use crate::flow::{Flow, FlowEnd, FlowRegister, FlowStep};

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
    let mut join = |block: usize, without: Option<FlowRegister>| {
        for (register, is_live) in found[block].iter().enumerate() {
            live[register] |= *is_live && Some(register) != without;
        }
    };
    match block.end {
        FlowEnd::Jump(next) => join(next, None),
        FlowEnd::Branch(_, inside, beside) => {
            join(inside, None);
            join(beside, None);
        }
        FlowEnd::Next(one, inside, beside) => {
            join(inside, Some(flow.loops[one].target));
            join(beside, None);
        }
        FlowEnd::Leave | FlowEnd::Done => {}
    }
    if let FlowEnd::Branch(test, ..) = block.end {
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
fn registers(step: &FlowStep) -> (Option<FlowRegister>, Vec<FlowRegister>) {
    match step {
        FlowStep::Int(to, _)
        | FlowStep::Float(to, _)
        | FlowStep::Bool(to, _)
        | FlowStep::Extent(to, ..) => (Some(*to), vec![]),
        FlowStep::Move(to, from)
        | FlowStep::Unary(_, to, from)
        | FlowStep::Get(to, _, from)
        | FlowStep::Convert(to, _, from) => (Some(*to), vec![*from]),
        FlowStep::Binary(_, to, left, right) | FlowStep::Compare(_, to, left, right) => {
            (Some(*to), vec![*left, *right])
        }
        FlowStep::Call(_, to, given) | FlowStep::Locate(to, _, given) => (Some(*to), given.clone()),
        FlowStep::Put(_, place, value) => (None, vec![*place, *value]),
        FlowStep::Begin(_, given) => (None, given.clone()),
        FlowStep::Rows(work) => work.registers(),
        FlowStep::Poll | FlowStep::Unknown => (None, vec![]),
    }
}
