//! Row kernels: scalar operations on whole rows of elements in host memory, as vector code.
//!
//! Owns [`RowFn`] and the choice of one: [`operation`], [`accumulate`], [`reduce_chunks`], [`ShortRowReducer`].
//! Invariants: a row has exactly the bits that `op_eval` gives for its elements, because both take the same
//! closures; the instructions that the processor offers change only the time.
//!
//! [`RowFn`] is defined in `row_fn.rs` and the loops in `row_loops.rs`. `reducing.rs` makes functions of an operation
//! that combines two elements; `trees` and `vector_rows.rs` have the steps of reductions. `short` has tiles of many
//! short rows, and what is computed from them. `moves.rs` moves elements without computing, `row_search.rs` finds one,
//! `complex_rows.rs` has complex numbers, `scan_rows.rs` prefix scans, and `products` those of skinny and of small
//! matrices, by the SIMD vectors of `simd.rs`.
//!
//! Imports nothing else of this crate. Not here: programs (`compile`).

mod complex_rows;
mod moves;
mod products;
mod reducing;
mod row_fn;
mod row_loops;
mod row_search;
mod scan_rows;
mod short;
mod simd;
mod trees;
mod vector_rows;

pub use moves::{copy, gather, index};
pub use products::{RowProducts, SHORT_COLUMN, Strip, Terms, WholeProducts};
pub use reducing::accumulate;
pub use row_fn::RowFn;
pub use row_search::{SEARCHED, first_equal};
pub use scan_rows::{SIDE, ScanFn, scan};
pub use short::expand::{expand, expand_index, scatter};
pub use short::tile::{SHORT, SORTED, ShortRows, ShortTile, TileMemory};
pub use short::tile_reductions::ShortRowReducer;
pub use simd::Real;
pub use trees::{ColumnsFn, SpacedRows, columns, nothing_added, reduce_chunks};
pub use vector_rows::{VectorRows, reduce_rows};

use gpupy_core::op_eval::element::{Element, cast};
use gpupy_core::op_eval::table::{Visitor, visit};
use gpupy_core::{DType, Op};
use row_loops::{Unary, best};

/// The operation on rows of dtype `from` (of a `select`: its second and third operand), or `None`
/// where it does not exist. `to` is the wanted dtype of a cast or bitcast, unused elsewhere.
///
/// An operand whose `scalars` is true is one element, the same for the whole row; at least one of a
/// unary or binary operation's operands has to be a row.
pub fn operation(op: Op, from: DType, to: DType, scalars: [bool; 3]) -> Option<RowFn> {
    let complex = |dtype| matches!(dtype, DType::C64 | DType::C128);
    match op {
        Op::Cast if complex(from) || complex(to) => complex_rows::cast(from, to),
        Op::Cast => cast(from, to, OnRows(scalars)),
        Op::Bitcast => {
            // A bool is 0 or 1, so other bits cannot become a bool.
            let possible = from.size() == to.size() && (to != DType::Bool || from == to);
            possible.then(|| moves::same_bits(from.size()))
        }
        Op::Select => Some(match from.size() {
            1 => row_loops::select::<u8>(scalars),
            2 => row_loops::select::<u16>(scalars),
            4 => row_loops::select::<u32>(scalars),
            8 => row_loops::select::<u64>(scalars),
            _ => row_loops::select::<u128>(scalars),
        }),
        Op::Complex => complex_rows::of_parts(from, scalars),
        _ if complex(from) => complex_rows::operation(op, from, scalars),
        _ => visit(op, from, OnRows(scalars)),
    }
}

/// Makes functions on rows, with the scalar operands that are marked.
struct OnRows([bool; 3]);

impl Visitor for OnRows {
    type Out = RowFn;

    fn unary<A: Element, R: Element, F: Fn(A) -> R + Copy + 'static>(self, _: F) -> RowFn {
        best::<Unary<A, R, F>>()
    }

    fn binary<A: Element, R: Element, F: Fn(A, A) -> R + Copy + 'static>(self, f: F) -> RowFn {
        row_loops::binary(f, self.0)
    }
}
