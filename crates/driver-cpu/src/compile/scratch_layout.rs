//! SlotAllocator: which row of scratch memory is whose, and until when.
//!
//! Owns [`SlotAllocator`] and [`ScratchLayout`]. Invariant: two values that are needed at once share no row.
//!
//! Not here: when a value is needed last (`last_uses.rs`).

use crate::compile::row_plan::{SlotIndex, SlotPlace};
use gpupy_core::ir::REDUCE_CHUNK;

/// Bytes that the nearest cache holds of rows, beside what else is going on.
const NEAR: usize = 32 << 10;
/// The most elements of a row: more gains nothing.
const LONGEST: usize = 2048;
/// Bytes of a scalar.
const SCALAR: usize = 16;

/// SlotAllocator as they are given out.
#[derive(Default)]
pub struct SlotAllocator {
    places: Vec<SlotPlace>,
    literals: Vec<u64>,
    /// Rows: the slot, and bytes of an element before it.
    rows: Vec<(SlotIndex, usize)>,
    /// Bytes of an element in all rows.
    bytes: usize,
    scalars: Vec<SlotIndex>,
    /// Rows that are free, by the logarithm of an element's size.
    free: [Vec<SlotIndex>; 5],
    /// The least elements of a row.
    least: usize,
    /// Rows in use: until which instruction, and the logarithm of an element's size.
    used: Vec<(usize, usize, SlotIndex)>,
}

/// Where everything lies.
pub struct ScratchLayout {
    pub places: Vec<SlotPlace>,
    pub literals: Vec<u64>,
    pub tile: usize,
    pub scratch: usize,
}

impl SlotAllocator {
    /// A slot at a place.
    pub fn at(&mut self, place: SlotPlace) -> SlotIndex {
        self.places.push(place);
        (self.places.len() - 1) as SlotIndex
    }

    /// Where a slot lies; offsets of scratch memory are not known yet.
    pub fn place(&self, slot: SlotIndex) -> SlotPlace {
        self.places[slot as usize]
    }

    /// The slot of a literal.
    pub fn literal(&mut self, bits: u64) -> SlotIndex {
        self.literals.push(bits);
        self.at(SlotPlace::Literal(self.literals.len() - 1))
    }

    /// Room for a value, which is needed until an instruction.
    pub fn value(&mut self, size: usize, scalar: bool, until: usize) -> SlotIndex {
        if scalar { self.scalar() } else { self.row(size, until) }
    }

    /// Room for one element.
    pub fn scalar(&mut self) -> SlotIndex {
        let slot = self.at(SlotPlace::Scratch(0));
        self.scalars.push(slot);
        slot
    }

    /// Room for a row, which is needed until an instruction.
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

    /// Frees what is not needed after an instruction.
    pub fn free(&mut self, at: usize) {
        let free = &mut self.free;
        self.used.retain(|(until, class, slot)| {
            if *until <= at {
                free[*class].push(*slot);
            }
            *until > at
        });
    }

    /// Asks for rows of so many elements, a power of 2, or more.
    pub fn at_least(&mut self, elements: usize) {
        self.least = self.least.max(elements);
    }

    /// The layout; `near` bytes of each element come from elsewhere.
    pub fn layout(mut self, near: usize) -> ScratchLayout {
        let fit = NEAR / (self.bytes + near).max(1);
        let tile = (fit.max(1).ilog2().min(LONGEST.ilog2())).max(REDUCE_CHUNK.ilog2());
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
