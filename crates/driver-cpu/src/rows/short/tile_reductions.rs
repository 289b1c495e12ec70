//! Reductions of short rows: many rows of few elements become one result each.
//!
//! Owns [`ShortRowReducer`]. Rows are transposed, a tile at a time, and then combined element by element, so that
//! vectors run along the rows' neighbours and every length costs alike. Invariant: elements of a row are combined in
//! the order of the canonical tree.
//!
//! Not here: tiles (`tile.rs`), long rows, and one short row alone (`trees`).

use super::super::reducing::{accumulate, accumulate_three, reducing};
use super::super::row_fn::{RowFn, RowFnMaker};
use super::super::row_loops::{RowLoop, best, get, put};
use super::tile::{ShortRows, ShortTile, TileMemory};
use gpupy_core::ir::REDUCE_LANES;
use gpupy_core::op_eval::conjured;
use gpupy_core::op_eval::element::Stored;
use gpupy_core::{DType, Op};
use std::marker::PhantomData;

/// How short rows are reduced.
#[derive(Clone, Copy)]
pub struct ShortRowReducer {
    /// Bytes of an element.
    size: usize,
    operation: Combination,
    /// Loops for rows of 4, 8 and 16 elements, whose blocks of vectors are whole: they take two thirds of a tile's
    /// time.
    of_blocks: [Option<RowFn>; 3],
}

/// An operation on rows, element by element.
#[derive(Clone, Copy)]
struct Combination {
    /// Combines two rows into the first.
    two: RowFn,
    /// Combines three rows, one after another, into the first argument.
    three: RowFn,
}

impl ShortRowReducer {
    /// The reductions by an operation, or `None` where it does not reduce the dtype.
    pub fn of(op: Op, dtype: DType) -> Option<ShortRowReducer> {
        let operation =
            Combination { two: accumulate(op, dtype)?, three: accumulate_three(op, dtype)? };
        let of_blocks = [
            reducing(op, dtype, OfBlocks::<4>),
            reducing(op, dtype, OfBlocks::<8>),
            reducing(op, dtype, OfBlocks::<16>),
        ];
        Some(ShortRowReducer { size: dtype.size(), operation, of_blocks })
    }

    /// Reduces `count` rows of `extent` elements, which follow each other, to one result each.
    ///
    /// # Safety
    /// The elements are valid for reads, and `out` for as many results; `extent` is between 1 and
    /// [`SHORT`](super::tile::SHORT).
    pub unsafe fn run(&self, out: *mut u8, row: *const u8, count: usize, extent: usize) {
        let size = self.size;
        if let Some(blocks) = self.blocks(extent) {
            // SAFETY: the rows exist, and `out` has room for their results.
            return unsafe { blocks(out, [row; 3], count) };
        }
        let mut memory = TileMemory::default();
        let tile = ShortTile::new(&mut memory, size, extent);
        let (step, apart) = (size as isize, (extent * size) as isize);
        for first in (0..count).step_by(tile.lanes) {
            let m = tile.lanes.min(count - first);
            let rows = ShortRows {
                first: row.wrapping_add(first * extent * size).cast_mut(),
                step,
                apart,
            };
            // SAFETY: the rows exist, and the tile has room for `m` of each of their elements.
            unsafe {
                tile.load(0, rows, m, extent);
                self.operation.fold(tile, m, extent);
                out.add(first * size).copy_from_nonoverlapping(tile.row(0), m * size);
            }
        }
    }

    /// The loop for rows of just this length.
    fn blocks(&self, extent: usize) -> Option<RowFn> {
        match extent {
            4 => self.of_blocks[0],
            8 => self.of_blocks[1],
            16 => self.of_blocks[2],
            _ => None,
        }
    }
}

impl Combination {
    /// Combines the first `m` elements of the `extent` rows of a tile into the first row.
    ///
    /// # Safety
    /// The tile's rows hold them.
    unsafe fn fold(&self, tile: ShortTile, m: usize, extent: usize) {
        let row = |k: usize| tile.row(k);
        // SAFETY: only rows below `extent` are named.
        unsafe {
            for lane in 0..REDUCE_LANES.min(extent) {
                let mut next = lane + REDUCE_LANES;
                while next + 2 * REDUCE_LANES < extent {
                    let rows = [0, 1, 2].map(|k| row(next + k * REDUCE_LANES).cast_const());
                    (self.three)(row(lane), rows, m);
                    next += 3 * REDUCE_LANES;
                }
                for next in (next..extent).step_by(REDUCE_LANES) {
                    (self.two)(row(lane), [row(next).cast_const(); 3], m);
                }
            }
            for half in [8, 4, 2, 1] {
                for lane in 0..half.min(extent.saturating_sub(half)) {
                    (self.two)(row(lane), [row(lane + half).cast_const(); 3], m);
                }
            }
        }
    }
}

/// Makes reductions of rows of `N` elements, a power of two that is no more than the tree's lanes.
struct OfBlocks<const N: usize>;

impl<const N: usize> RowFnMaker for OfBlocks<N> {
    type Out = RowFn;
    fn make<A: Stored, F: Fn(A, A) -> A + Copy + 'static>(self, _: F) -> RowFn {
        best::<Blocks<A, F, N>>()
    }
}

/// Reduces rows of `N` elements, each element a lane; `n` counts rows.
struct Blocks<A, F, const N: usize>(PhantomData<(A, F)>);

impl<A: Stored, F: Fn(A, A) -> A + Copy + 'static, const N: usize> RowLoop for Blocks<A, F, N> {
    type Args = [*const u8; 3];
    #[inline(always)]
    unsafe fn run(dst: *mut u8, [a, ..]: [*const u8; 3], n: usize) {
        // SAFETY: there are `n` rows and a result for each; a value of `F` was passed to `make`, so `F` may be
        // conjured.
        unsafe {
            let f = conjured::<F>();
            for row in 0..n {
                let mut lanes: [A; N] = std::array::from_fn(|l| get(a, row * N + l));
                let mut half = N / 2;
                while half > 0 {
                    for l in 0..half {
                        lanes[l] = f(lanes[l], lanes[l + half]);
                    }
                    half /= 2;
                }
                put(dst, row, lanes[0]);
            }
        }
    }
}
