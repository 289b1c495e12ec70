//! Reductions that search: the least number of a row whose element is the wanted one.
//!
//! Owns [`RowSearch`]. Argmin and argmax are the minimum of `select(x == extreme, index, last)`, where NaN counts as
//! equal. Along rows that lie in memory as they are, this is the place of the first such element: later ones need not
//! be read, and no numbers computed.
//!
//! Not here: the loops (`rows/row_search.rs`), the choice of rows (`run/launch_items.rs`).

use crate::rows::{self, RowFn};
use gpupy_core::ir::{Inst, Program};
use gpupy_core::{DType, Op};

/// The search that a program's one reduction is.
#[derive(Clone)]
pub struct RowSearch {
    /// Finds the place in a row.
    pub first_equal: RowFn,
    /// The input that is searched.
    pub of: usize,
    /// The input that is wanted: one element for a row.
    pub wanted: usize,
    /// The input that counts the row's elements.
    pub numbers: usize,
    /// The number of the parameter that stands for elements that are not wanted.
    pub other: usize,
}

impl RowSearch {
    /// The search that a program is whose inputs stand at these positions; `None` for any other.
    pub fn of(program: &Program, inputs: &[usize]) -> Option<RowSearch> {
        program.reduce_range().filter(|range| range.len() == 1)?;
        let inst = |at: u32| program.insts[at as usize];
        let input = |at: u32| inputs.iter().position(|input| *input == at as usize);
        let of = program.reductions().find(|of| of.op == Op::Min && of.dtype == DType::I32)?;
        let Inst { op: Op::Select, args: [found, numbers, other], .. } = inst(of.value) else {
            return None;
        };
        let Inst { op: Op::Param, args: [parameter, ..], .. } = inst(other) else { return None };
        let equal = match inst(found) {
            Inst { op: Op::Eq, args, .. } => args,
            Inst { op: Op::Or, args: [equal, nan, _], .. } => match [inst(equal), inst(nan)] {
                [Inst { op: Op::Eq, args, .. }, Inst { op: Op::IsNan, args: [x, ..], .. }]
                    if x == args[0] =>
                {
                    args
                }
                _ => return None,
            },
            _ => return None,
        };
        let [of, wanted, _] = equal;
        let (of, dtype) = (input(of)?, inst(of).dtype);
        // Floats of which NaN does not count are not searched for it.
        let counts_nan = inst(found).op == Op::Or;
        Some(RowSearch {
            first_equal: rows::first_equal(dtype).filter(|_| counts_nan == dtype.is_float())?,
            of,
            wanted: input(wanted)?,
            numbers: input(numbers).filter(|_| inst(numbers).op == Op::Index)?,
            other: parameter as usize,
        })
    }
}
