//! Early exits: loops that a point may leave before the last iteration.
//!
//! Owns [`EarlyExit`]. If an iteration is a single `if`, and one branch leaves every carried value unchanged, then a
//! point that takes that branch once takes it in all later iterations, which may be skipped. The IR has no `break`,
//! so a driver that does not look for early exits is correct too.
//!
//! Not here: how a driver exits a loop.

use super::Program;
use crate::op::Op;

/// A loop that may be left when its `if` takes the second branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyExit {
    /// The `loop`.
    pub region: usize,
    /// The `if` that is the loop's iteration.
    pub choice: usize,
}

impl Program {
    /// The loops with an early exit.
    pub fn leaving(&self) -> impl Iterator<Item = EarlyExit> + '_ {
        let loops = self.insts.iter().enumerate().filter(|(_, inst)| inst.op == Op::Loop);
        loops.filter_map(|(region, _)| self.leaving_choice(region))
    }

    fn leaving_choice(&self, region: usize) -> Option<EarlyExit> {
        let behind = |at: usize| self.insts.iter().enumerate().skip(at + 1);
        // The condition depends only on carried values, and on values that are invariant in the loop.
        let mut before = behind(region).take_while(|(_, inst)| inst.op != Op::If);
        let is_plain = |op: Op| {
            op.is_scalar_op() || matches!(op, Op::Carry | Op::Const | Op::Param | Op::Load)
        };
        if !before.all(|(_, inst)| is_plain(inst.op)) {
            return None;
        }
        let choice = behind(region).find(|(_, inst)| inst.op == Op::If)?.0;
        let closes = |op: Op, of: usize| {
            let found = behind(of).find(|(_, inst)| inst.op == op && inst.args[0] as usize == of);
            found.map(|(at, _)| at)
        };
        let (second, end) = (closes(Op::Else, choice)?, closes(Op::End, choice)?);
        let turn = closes(Op::End, region)?;
        let is_of = |value: &u32, op: Op, of: usize, k: usize| {
            let inst = &self.insts[*value as usize];
            inst.op == op && inst.args[0] as usize == of && inst.args[1] as usize == k
        };
        let all_are = |at: usize, op: Op, of: usize| {
            let [_, from, count] = self.insts[at].args.map(|arg| arg as usize);
            let values = self.extra.get(from..from + count).unwrap_or(&[]);
            values.iter().enumerate().all(|(k, value)| is_of(value, op, of, k))
        };
        let results = &self.insts[end + 1..turn];
        let is_whole = end == second + 1
            && turn > end
            && results.iter().all(|inst| inst.op == Op::Result && inst.args[0] as usize == choice)
            && all_are(end, Op::Carry, region)
            && all_are(turn, Op::Result, choice);
        is_whole.then_some(EarlyExit { region, choice })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use crate::ir::{Builder, Form};
    use crate::scalar::Scalar;

    /// A loop over one value with an `if` as iteration. `other` computes the second branch's value.
    fn program(
        condition: fn(&mut Builder, u32, u32) -> u32,
        other: fn(&mut Builder, u32) -> u32,
    ) -> Program {
        let mut b = Builder::new(Form::Map, 1);
        let x = b.param(DType::I32);
        let (count, one) = (b.constant(Scalar::i32(9)), b.constant(Scalar::i32(1)));
        let region = b.begin_loop(count, &[x]);
        let carried = b.carry(region, 0);
        let condition = condition(&mut b, region, carried);
        let choice = b.begin_if(condition);
        let next = b.op(Op::Add, &[carried, one]);
        b.begin_else(choice, &[next]);
        let same = other(&mut b, carried);
        b.end(choice, &[same]);
        let chosen = b.result(choice, 0, DType::I32);
        b.end(region, &[chosen]);
        let last = b.result(region, 0, DType::I32);
        b.store(last);
        b.finish()
    }

    fn below_five(b: &mut Builder, _: u32, carried: u32) -> u32 {
        let five = b.constant(Scalar::i32(5));
        b.op(Op::Lt, &[carried, five])
    }

    #[test]
    fn a_branch_that_changes_nothing_leaves_the_loop() {
        let program = program(below_five, |_, carried| carried);
        assert_eq!(program.leaving().count(), 1);
    }

    #[test]
    fn a_branch_that_changes_something_does_not() {
        let program = program(below_five, |b, carried| b.op(Op::Neg, &[carried]));
        assert_eq!(program.leaving().count(), 0);
    }

    #[test]
    fn a_condition_that_counts_does_not() {
        let by_number = |b: &mut Builder, region, carried| {
            let number = b.iter(region);
            b.op(Op::Lt, &[number, carried])
        };
        assert_eq!(program(by_number, |_, carried| carried).leaving().count(), 0);
    }
}
