//! Tiles: short rows that lie beside each other, transposed.
//!
//! Owns [`ShortTile`], its memory and its [`ShortRows`]. A row of a tile has one element of each short row, so that
//! what is computed along short rows is computed by vectors across them, and every length costs alike.
//!
//! Not here: the transposition (`transpose.rs`), computations on tiles (`tile_reductions.rs`, `products.rs`,
//! `library_ops`).

use super::super::moves::copy;
use super::transpose::{TileRows, transpose};
use std::mem::MaybeUninit;

/// The most elements of a short row.
pub const SHORT: usize = 64;
/// Bytes of a tile, which stays in the nearest cache beside the elements that it is made of.
const TILE: usize = 16 << 10;
/// The most short rows of a tile.
const MOST_LANES: usize = 256;
/// Short rows of a tile come in multiples of this, which are whole vectors.
const LANES: usize = 16;
/// Elements of a short row of which a tile has room for `LANES`, of 8 bytes each: sorts have no wider keys.
pub const SORTED: usize = TILE / (LANES * 8);
/// Rows of a tile are this many bytes longer than they need be, and so are no power of two from each other.
const APART: usize = 64;

/// Memory of a tile, on the stack.
#[repr(align(64))]
pub struct TileMemory(MaybeUninit<[u8; TILE + TILE / SHORT + (SORTED + 1) * APART]>);

impl Default for TileMemory {
    /// Memory that holds nothing yet.
    #[inline(always)]
    fn default() -> TileMemory {
        TileMemory(MaybeUninit::uninit())
    }
}

/// Short rows that lie at equal distances.
#[derive(Clone, Copy)]
pub struct ShortRows {
    /// The first element of the first row.
    pub first: *mut u8,
    /// Bytes from an element to the next.
    pub step: isize,
    /// Bytes from a row to the next.
    pub apart: isize,
}

/// The transposed elements of some short rows.
#[derive(Clone, Copy)]
pub struct ShortTile {
    first: *mut u8,
    /// Bytes from a row to the next.
    pitch: usize,
    /// Bytes of an element.
    size: usize,
    /// How many short rows there is room for.
    pub lanes: usize,
}

impl ShortTile {
    /// A tile of short rows of at most `extent` elements, at most [`SHORT`] and one more, or [`SORTED`] of no more than
    /// 8 bytes.
    pub fn new(memory: &mut TileMemory, size: usize, extent: usize) -> ShortTile {
        let lanes = ShortTile::lanes(size, extent);
        ShortTile { first: memory.0.as_mut_ptr().cast(), pitch: lanes * size + APART, size, lanes }
    }

    /// How many short rows of `extent` elements a tile has.
    pub fn lanes(size: usize, extent: usize) -> usize {
        (TILE / (extent * size) / LANES * LANES).clamp(LANES, MOST_LANES)
    }

    /// Element `k` of all short rows, one after another.
    #[inline(always)]
    pub fn row(&self, k: usize) -> *mut u8 {
        self.first.wrapping_add(self.pitch * k)
    }

    /// A tile in memory that has a place for each of its elements, without gaps.
    pub fn in_memory(first: *mut u8, size: usize, lanes: usize) -> ShortTile {
        ShortTile { first, pitch: lanes * size, size, lanes }
    }

    /// Every so many rows of the tile, from this one on.
    pub fn part(self, (from, every): (usize, usize)) -> ShortTile {
        ShortTile { first: self.row(from), pitch: self.pitch * every, ..self }
    }

    /// The tile without its first rows.
    pub fn from_row(self, k: usize) -> ShortTile {
        ShortTile { first: self.row(k), ..self }
    }

    /// Copies `count` short rows of `extent` elements into the tile, from this lane on.
    ///
    /// # Safety
    /// The elements exist, and the tile has room for them.
    pub unsafe fn load(&self, lane: usize, from: ShortRows, count: usize, extent: usize) {
        let (size, apart) = (self.size, from.apart);
        let to = self.first.wrapping_add(lane * size);
        // SAFETY: the elements exist, and the tile has room for them.
        unsafe {
            if from.step == size as isize && apart != size as isize {
                if apart == (extent * size) as isize {
                    prefetch(
                        from.first.wrapping_offset(apart * count as isize),
                        extent * count * size,
                    );
                }
                let to = TileRows { first: to, pitch: self.pitch as isize };
                let from = TileRows { first: from.first, pitch: from.apart };
                return transpose(size, to, from, count, extent);
            }
            for k in 0..extent {
                let from = from.first.wrapping_offset(from.step * k as isize).cast_const();
                copy(size, (to.wrapping_add(self.pitch * k), size as isize), (from, apart), count);
            }
        }
    }

    /// Copies the elements of `count` short rows, from this lane on, to where they belong.
    ///
    /// # Safety
    /// The short rows have room for `extent` elements, and the tile's rows hold them.
    pub unsafe fn store(&self, lane: usize, to: ShortRows, count: usize, extent: usize) {
        let (size, apart) = (self.size, to.apart);
        let from = self.first.wrapping_add(lane * size);
        // SAFETY: the elements exist, and so do their places.
        unsafe {
            if to.step == size as isize && apart != size as isize {
                let from = TileRows { first: from, pitch: self.pitch as isize };
                let to = TileRows { first: to.first, pitch: apart };
                return transpose(size, to, from, extent, count);
            }
            for k in 0..extent {
                let to = to.first.wrapping_offset(to.step * k as isize);
                copy(size, (to, apart), (from.wrapping_add(self.pitch * k), size as isize), count);
            }
        }
    }
}

/// Prefetches bytes, which need not exist: processors do not predict the accesses to many short rows at once.
#[inline(always)]
fn prefetch(first: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of any address has no effect but on caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (first, bytes);
}
