//! The inputs (leaves) of a program, and where its reductions stand: all that is known before a launch.
//!
//! Owns [`ProgramInputs`]. An input is a `load` or an `index`; inputs are numbered in the order of
//! instructions.
//!
//! Not here: offsets and strides of a launch (`iteration_space.rs`).

use crate::compile::row_plan::Stride;
use crate::compile::search_plan::RowSearch;
use gpupy_core::Op;
use gpupy_core::ir::Program;
use std::ops::Range;

/// A `load` or `index` instruction.
pub struct RowInput {
    /// Its position.
    pub at: usize,
    /// The operand of a `load`.
    pub operand: Option<usize>,
    pub access: usize,
    /// Bytes of an element; 1 for an index value, whose strides count numbers.
    pub size: usize,
}

/// The inputs of a program.
pub struct ProgramInputs {
    pub all: Vec<RowInput>,
    /// The positions of the `reduce`s.
    pub reduce: Option<Range<usize>>,
    /// How many inputs stand before them.
    pub before: usize,
    /// The search that the program is.
    search: Option<RowSearch>,
    /// Whether the program gathers.
    pub gathers: bool,
    /// How many operations there are.
    pub operations: usize,
    /// Whether machine code probably replaces its steps.
    pub compiles: bool,
    /// Bytes of an element of each destination.
    pub dests: Vec<usize>,
}

impl ProgramInputs {
    pub fn of(program: &Program) -> ProgramInputs {
        let reduce = program.reduce_range();
        let input = |(at, inst): (usize, &gpupy_core::ir::Inst)| {
            let [a, b, _] = inst.args.map(|arg| arg as usize);
            match inst.op {
                Op::Load => {
                    Some(RowInput { at, operand: Some(a), access: b, size: inst.dtype.size() })
                }
                Op::Index => Some(RowInput { at, operand: None, access: a, size: 1 }),
                _ => None,
            }
        };
        let all: Vec<RowInput> = program.insts.iter().enumerate().filter_map(input).collect();
        let first = reduce.as_ref().map_or(0, |range| range.start);
        let before = all.iter().filter(|input| input.at < first).count();
        let positions: Vec<usize> = all.iter().map(|input| input.at).collect();
        let search = RowSearch::of(program, &positions);
        let dests = program.dests.iter().map(|dtype| dtype.size()).collect();
        let gathers = program.insts.iter().any(|inst| inst.op == Op::Gather);
        let (operations, compiles) = (program.operation_count(), gpupy_jit::is_for(program));
        ProgramInputs { all, reduce, before, search, gathers, operations, compiles, dests }
    }

    /// The search that the program is, if rows whose inputs have these strides can be searched where they lie.
    pub fn search(&self, stride: impl Fn(usize) -> Stride) -> Option<&RowSearch> {
        self.search.as_ref().filter(|search| {
            let strides = [search.of, search.wanted, search.numbers].map(&stride);
            strides == [Stride::Unit, Stride::Zero, Stride::Unit]
        })
    }
}
