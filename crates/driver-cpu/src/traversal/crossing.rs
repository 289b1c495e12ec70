//! Crossing accesses: rows whose elements lie apart, but beside those of the neighbouring rows.
//!
//! Owns [`Crossing`], which are those of a map, and their copies. Along such a row every element is in another cache
//! line, whose other elements belong to the next rows. So several rows are taken at a time, and transposed between the
//! blocks and scratch rows, which are contiguous for the computation.
//!
//! Not here: short rows (`coalesce.rs`), the transposition (`rows/short`).

use crate::rows::{self, ShortRows};
use crate::thresholds::T;
use crate::traversal::iteration_space::StridedAccess;
use gpupy_jit::StridedPointer;
use smallvec::SmallVec;

/// The accesses of a map that cross its rows.
#[derive(Default)]
pub struct Crossing {
    /// The axis along which neighbouring rows lie.
    pub outer: usize,
    /// The number of each input and its bytes of an element, then those of the destinations, counted on.
    lines: SmallVec<[(usize, usize); 4]>,
    /// How many of them are inputs.
    inputs: usize,
    /// Rows that are taken at a time: elements of a cache line.
    pub rows: usize,
}

impl Crossing {
    /// The crossing accesses of rows along an axis: with the neighbouring rows where most accesses cross.
    pub fn of(
        shape: &[usize],
        axis: usize,
        inputs: &[StridedAccess<'_>],
        dests: &[StridedAccess<'_>],
    ) -> Option<Crossing> {
        // As many as a cache line has of the longest real numbers.
        let fewest = CACHE_LINE / 8;
        if shape[axis] < fewest {
            return None;
        }
        let along = |outer: usize| {
            let lines = inputs.iter().chain(dests).enumerate();
            let lines = lines.filter(|(_, line)| crosses(line, axis, outer));
            lines.map(|(number, line)| (number, line.size)).collect::<SmallVec<[_; 4]>>()
        };
        let axes = (0..shape.len()).filter(|k| *k != axis && shape[*k] >= fewest);
        let (outer, lines) =
            axes.map(|outer| (outer, along(outer))).max_by_key(|(_, lines)| lines.len())?;
        let least = lines.iter().map(|(_, size)| *size).min()?;
        let count = lines.iter().filter(|(number, _)| *number < inputs.len()).count();
        Some(Crossing { outer, lines, inputs: count, rows: CACHE_LINE / least })
    }

    /// The most elements of a row: all that are taken at a time stay in half of the nearest cache.
    pub fn longest(&self) -> usize {
        let sizes: usize = self.lines.iter().map(|(_, size)| size).sum();
        T.scratch_bytes / 2 / (self.rows * sizes)
    }

    /// Whether an input crosses, or a destination: its number follows those of the inputs.
    pub fn contains(&self, number: usize) -> bool {
        self.lines.iter().any(|(line, _)| *line == number)
    }

    /// Bytes of the scratch rows of `n` elements.
    pub fn bytes(&self, n: usize) -> usize {
        self.lines.iter().map(|(_, size)| self.tile(n, *size)).sum()
    }

    /// Bytes of the scratch rows for one access.
    fn tile(&self, n: usize, size: usize) -> usize {
        self.rows * n * size + CACHE_LINE
    }

    /// Copies the elements of inputs at `count` rows into scratch rows. Walks over these take the place of the walks
    /// along the first row, and bytes between them that of `steps`; for destinations too, whose own are returned.
    ///
    /// # Safety
    /// The walks name elements that exist, of at most [`Crossing::rows`] rows of `n` elements; `scratch` has room.
    pub unsafe fn load(
        &self,
        walks: &mut [StridedPointer],
        steps: &mut [isize],
        (count, n): (usize, usize),
        scratch: *mut u8,
    ) -> SmallVec<[ShortRows; 2]> {
        let mut to = scratch;
        let mut dests = SmallVec::new();
        for (k, (number, size)) in self.lines.iter().enumerate() {
            let (walk, apart) = (&mut walks[*number], &mut steps[*number]);
            let given = ShortRows { first: walk.ptr, step: walk.step, apart: *apart };
            if k < self.inputs {
                // SAFETY: the elements exist, and the scratch rows have room for them.
                unsafe { rows::expand(*size, to, given, (count, n)) };
            } else {
                dests.push(given);
            }
            *walk = StridedPointer { ptr: to, step: *size as isize };
            *apart = (n * size) as isize;
            to = to.wrapping_add(self.tile(n, *size));
        }
        dests
    }

    /// Copies the scratch rows of destinations to where [`Crossing::load`] found these.
    ///
    /// # Safety
    /// As for `load`, with the same numbers; the scratch rows hold the results.
    pub unsafe fn store(&self, dests: &[ShortRows], (count, n): (usize, usize), scratch: *mut u8) {
        let mut from = scratch;
        for (k, (_, size)) in self.lines.iter().enumerate() {
            if let Some(k) = k.checked_sub(self.inputs) {
                // SAFETY: the elements exist, and the scratch rows hold them.
                unsafe { rows::scatter(*size, dests[k], from, (count, n)) };
            }
            from = from.wrapping_add(self.tile(n, *size));
        }
    }
}

/// Bytes of a cache line.
pub const CACHE_LINE: usize = 64;

/// Whether elements of a line lie apart along an axis, and beside each other along another one.
fn crosses(line: &StridedAccess<'_>, axis: usize, outer: usize) -> bool {
    let [along, beside] = [axis, outer].map(|axis| line.access.strides[axis].unsigned_abs());
    !line.base.is_null() && along > 1 && beside == 1
}
