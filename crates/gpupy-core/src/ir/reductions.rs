//! The reductions of a program: its `reduce` instructions, each with its operation.
//!
//! Owns [`Reduction`]. Invariant: the first reduction has the form's operation and does not name it, every further
//! one names its own; so a program of one reduction is what it was before there could be several.
//!
//! Not here: how points are combined (`form.rs`), where the instructions may stand (`verify.rs`).

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
    /// The reductions, in the order of their instructions; none of a program of another form. Of a program that
    /// does not verify, those whose operation is none are left out.
    pub fn reductions(&self) -> impl Iterator<Item = Reduction> + '_ {
        let all = self.insts.iter().enumerate().filter(|(_, inst)| inst.op == Op::Reduce);
        all.filter_map(|(at, inst)| {
            let op = self.reduced_by(inst)?;
            Some(Reduction { at, op, value: inst.args[0], dtype: inst.dtype })
        })
    }

    /// The operation of one of this program's `reduce` instructions; `None` where a program that does not verify
    /// has none for it.
    pub fn reduced_by(&self, inst: &Inst) -> Option<Op> {
        match inst.args[1] {
            0 => self.form.op(),
            _ => inst.own_op(),
        }
    }

    /// The positions of the `reduce` instructions, which stand one behind the other: before them is the prologue,
    /// behind them the epilogue. `None` for a program without.
    pub fn reduce_range(&self) -> Option<Range<usize>> {
        let is_reduce = |inst: &Inst| inst.op == Op::Reduce;
        let first = self.insts.iter().position(is_reduce)?;
        let count = self.insts[first..].iter().take_while(|inst| is_reduce(inst)).count();
        Some(first..first + count)
    }
}

impl Inst {
    /// The operation that a further `reduce` names: `None` where its second argument is the code of none, as in the
    /// first, whose operation is the form's.
    pub(super) fn own_op(&self) -> Option<Op> {
        let code = u16::try_from(self.args[1]).ok().filter(|code| *code != 0);
        code.and_then(Op::from_code)
    }
}
