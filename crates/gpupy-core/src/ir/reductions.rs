//! The reductions of a program: its `reduce` instructions, each with its operation.
//!
//! Owns [`Reduction`]. Invariant: the first reduction has the form's operation and does not name it; each further one
//! names its own. So the memory form of a program with one reduction is that of versions that knew only one.
//!
//! Not here: the order of combination (`form.rs`), the rules for their instructions (`verify.rs`).

use super::{Inst, Program};
use crate::dtype::DType;
use crate::op::Op;
use std::ops::Range;

/// One `reduce` of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// The position of the instruction, which names the result.
    pub at: usize,
    /// The combining operation.
    pub op: Op,
    /// The value that is combined.
    pub value: u32,
    /// The dtype of the value and of the result.
    pub dtype: DType,
}

impl Program {
    /// The reductions, in program order; none for other forms. In a program that does not verify, `reduce` instructions
    /// without a valid operation are omitted.
    pub fn reductions(&self) -> impl Iterator<Item = Reduction> + '_ {
        let all = self.insts.iter().enumerate().filter(|(_, inst)| inst.op == Op::Reduce);
        all.filter_map(|(at, inst)| {
            let op = self.reduced_by(inst)?;
            Some(Reduction { at, op, value: inst.args[0], dtype: inst.dtype })
        })
    }

    /// The operation of a `reduce` instruction of this program. `None` only in a program that does not verify.
    pub fn reduced_by(&self, inst: &Inst) -> Option<Op> {
        match inst.args[1] {
            0 => self.form.op(),
            _ => inst.own_op(),
        }
    }

    /// The positions of the consecutive `reduce` instructions. The prologue is before them, the epilogue after them.
    /// `None` without reductions.
    pub fn reduce_range(&self) -> Option<Range<usize>> {
        let is_reduce = |inst: &Inst| inst.op == Op::Reduce;
        let first = self.insts.iter().position(is_reduce)?;
        let count = self.insts[first..].iter().take_while(|inst| is_reduce(inst)).count();
        Some(first..first + count)
    }
}

impl Inst {
    /// The operation that a further `reduce` names. `None` if its second argument is not an operation's code, as in the
    /// first, which has the form's operation.
    pub(super) fn own_op(&self) -> Option<Op> {
        let code = u16::try_from(self.args[1]).ok().filter(|code| *code != 0);
        code.and_then(Op::from_code)
    }
}
