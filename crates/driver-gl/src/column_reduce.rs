//! Column reduction: the reductions that go across the rows of their operands.
//!
//! Owns [`ColumnDetour`]. A texel holds four neighbours of a row. If a reduction along columns computed the
//! chunks of one column next to each other, it would use one of the four; instead it takes a detour over a
//! block in which neighbours are columns. Invariant: the detour gives the same bits, because it changes only
//! the places of results.
//!
//! Not here: the draws (`eval.rs`), the shader (`gpupy_codegen::fragment`).

use gpupy_core::DType;
use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::{AccessKind, Builder, Form, Program, REDUCE_CHUNK};
use gpupy_core::op::Op;
use smallvec::smallvec;

/// With fewer columns, most of a rasteriser is idle.
const LEAST_COLUMNS: usize = 64;

/// A reduction through temporary blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDetour {
    /// The number of columns: results next to each other.
    pub columns: usize,
    /// The number of chunks: results of each column.
    pub chunks: usize,
    /// The access of a result by column and chunk.
    pub across: Access,
}

impl ColumnDetour {
    /// The detour of a launch, where it pays.
    pub fn of(launch: &Launch<'_>) -> Option<ColumnDetour> {
        let [columns, points] = launch.shape else { return None };
        let (columns, chunks) = (*columns, points.div_ceil(REDUCE_CHUNK));
        let reduces = launch.program.form != Form::Map;
        let whole = launch.dests.iter().all(|dest| dest.whole);
        if !reduces || !whole || chunks < 2 || columns < LEAST_COLUMNS {
            return None;
        }
        let prologue = launch.program.insts.iter().take_while(|inst| inst.op != Op::Reduce);
        let mut gains = false;
        for inst in prologue {
            match inst.op {
                Op::Load => match launch.accesses[inst.args[1] as usize].strides[..] {
                    [0, _] => {}
                    [1, step] => gains |= step != 1,
                    _ => return None,
                },
                Op::Loop => return None,
                _ => {}
            }
        }
        let across = Access { offset: 0, strides: smallvec![1, columns as i64] };
        gains.then_some(ColumnDetour { columns, chunks, across })
    }
}

/// The program that copies blocks of these dtypes with permuted axes.
pub fn copy(dtypes: &[DType]) -> Program {
    let mut builder = Builder::new(Form::Map, 2);
    let access = builder.access(AccessKind::Affine);
    for dtype in dtypes {
        let operand = builder.operand(*dtype);
        let value = builder.load(operand, access);
        builder.store(value);
    }
    builder.finish()
}
