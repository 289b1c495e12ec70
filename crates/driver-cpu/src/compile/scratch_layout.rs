//! The layout of scratch memory: a register allocator for rows.
//!
//! Owns [`SlotAllocator`] and [`ScratchLayout`]. Invariant: two values that are live at once share no row.
//!
//! Not here: liveness (`gpupy_core::ir`).

use crate::compile::row_plan::{SlotIndex, SlotPlace};
use crate::thresholds::T;
use gpupy_core::ir::REDUCE_CHUNK;

/// Bytes of a scalar.
const SCALAR: usize = 16;

/// Allocates slots.
#[derive(Default)]
pub struct SlotAllocator {
    places: Vec<SlotPlace>,
    literals: Vec<u64>,
    /// Rows: the slot, and the bytes per element of all rows before it.
    rows: Vec<(SlotIndex, usize)>,
    /// Bytes per element of all rows together.
    bytes: usize,
    scalars: Vec<SlotIndex>,
    /// Free rows, by the logarithm of the element size.
    free: [Vec<SlotIndex>; 5],
    /// The fewest elements of a row.
    least: usize,
    /// Rows in use: the last use, the logarithm of the element size, and the slot.
    used: Vec<(usize, usize, SlotIndex)>,
}

/// The finished layout.
pub struct ScratchLayout {
    pub places: Vec<SlotPlace>,
    pub literals: Vec<u64>,
    pub tile: usize,
    pub scratch: usize,
}

impl SlotAllocator {
    /// A new slot at a place.
    pub fn at(&mut self, place: SlotPlace) -> SlotIndex {
        self.places.push(place);
        (self.places.len() - 1) as SlotIndex
    }

    /// The place of a slot. Offsets in scratch memory are not known yet.
    pub fn place(&self, slot: SlotIndex) -> SlotPlace {
        self.places[slot as usize]
    }

    /// The slot of a literal.
    pub fn literal(&mut self, bits: u64) -> SlotIndex {
        self.literals.push(bits);
        self.at(SlotPlace::Literal(self.literals.len() - 1))
    }

    /// A slot for a value whose last use is the instruction `until`.
    pub fn value(&mut self, size: usize, scalar: bool, until: usize) -> SlotIndex {
        if scalar { self.scalar() } else { self.row(size, until) }
    }

    /// A slot for one element.
    pub fn scalar(&mut self) -> SlotIndex {
        let slot = self.at(SlotPlace::Scratch(0));
        self.scalars.push(slot);
        slot
    }

    /// A row whose last use is the instruction `until`.
    pub fn row(&mut self, size: usize, until: usize) -> SlotIndex {
        let class = size.trailing_zeros() as usize;
        let slot = self.free[class].pop().unwrap_or_else(|| {
            let slot = self.at(SlotPlace::Scratch(0));
            self.rows.push((slot, self.bytes));
            self.bytes += size;
            slot
        });
        self.used.push((until, class, slot));
        slot
    }

    /// Frees the rows whose last use is at or before an instruction.
    pub fn free(&mut self, at: usize) {
        let free = &mut self.free;
        self.used.retain(|(until, class, slot)| {
            if *until <= at {
                free[*class].push(*slot);
            }
            *until > at
        });
    }

    /// Requires rows of at least `elements` elements, a power of 2.
    pub fn at_least(&mut self, elements: usize) {
        self.least = self.least.max(elements);
    }

    /// The layout. `near` bytes of each element come from memory outside scratch.
    pub fn layout(mut self, near: usize) -> ScratchLayout {
        let fit = T.scratch_bytes / (self.bytes + near).max(1);
        let tile = (fit.max(1).ilog2().min(T.scratch_row.ilog2())).max(REDUCE_CHUNK.ilog2());
        let tile = (1 << tile).max(self.least);
        let scalars = (self.scalars.len() * SCALAR).next_multiple_of(64);
        for (k, slot) in self.scalars.iter().enumerate() {
            self.places[*slot as usize] = SlotPlace::Scratch(k * SCALAR);
        }
        for (slot, before) in &self.rows {
            self.places[*slot as usize] = SlotPlace::Scratch(scalars + before * tile);
        }
        let scratch = scalars + self.bytes * tile;
        ScratchLayout { places: self.places, literals: self.literals, tile, scratch }
    }
}
