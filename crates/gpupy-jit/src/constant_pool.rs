//! The constant pool of a kernel: constants in memory.
//!
//! Owns [`ConstantPool`]. A constant is one element if instructions can broadcast it from memory, and otherwise a whole
//! vector.
//!
//! Not here: scalar parameters of a row (`compiled_kernel.rs`).

use crate::aligned_bytes::AlignedBytes;
use crate::code::encode::{Mem, gpr};
use crate::code::opcodes::LaneWidth;
use crate::isa::Isa;
use rustc_hash::FxHashMap;

/// A constant pool under construction.
pub struct ConstantPool {
    bytes: Vec<u8>,
    seen: FxHashMap<(u64, usize), i32>,
    vectors: FxHashMap<Vec<u8>, i32>,
    isa: Isa,
}

impl ConstantPool {
    /// A pool without constants.
    pub fn new(isa: Isa) -> ConstantPool {
        ConstantPool {
            bytes: Vec::new(),
            seen: FxHashMap::default(),
            vectors: FxHashMap::default(),
            isa,
        }
    }

    /// The address of a constant, as the last operand of an instruction on vectors of `bytes` bytes.
    pub fn constant(&mut self, width: LaneWidth, bits: u64, bytes: usize) -> Mem {
        let size = width.bytes();
        let broadcast = self.isa == Isa::Avx512;
        let (pool, isa) = (&mut self.bytes, self.isa);
        let at = *self.seen.entry((bits, size)).or_insert_with(|| {
            let copies = if broadcast { 1 } else { isa.bytes() / size };
            append(pool, size * copies, &bits.to_le_bytes()[..size])
        });
        let bytes = if broadcast { size } else { bytes };
        Mem { broadcast, ..Mem::at(gpr::R10, at, bytes) }
    }

    /// The address of a vector of the int32 numbers 0, 1, 2, …
    pub fn numbers(&mut self, bytes: usize) -> Mem {
        let numbers = (0..self.isa.bytes() as u32 / 4).flat_map(u32::to_le_bytes).collect();
        Mem { bytes: bytes as u8, ..self.vector(numbers) }
    }

    /// The address of a vector with these numbers in its lanes.
    pub fn places(&mut self, width: LaneWidth, numbers: impl Iterator<Item = u64>) -> Mem {
        let size = width.bytes();
        self.vector(
            numbers.flat_map(|number| number.to_le_bytes().into_iter().take(size)).collect(),
        )
    }

    /// The address of a vector of these bytes.
    fn vector(&mut self, bytes: Vec<u8>) -> Mem {
        let (pool, len) = (&mut self.bytes, bytes.len());
        let place = self.vectors.entry(bytes);
        let at = *place.or_insert_with_key(|bytes| append(pool, len, bytes));
        Mem::at(gpr::R10, at, len)
    }

    /// The finished constants.
    pub fn finish(self) -> AlignedBytes {
        let mut lines = AlignedBytes::new(self.bytes.len());
        lines.bytes()[..self.bytes.len()].copy_from_slice(&self.bytes);
        lines
    }
}

/// Appends copies of an element, `len` bytes in all, aligned to their length. Returns their offset.
fn append(pool: &mut Vec<u8>, len: usize, element: &[u8]) -> i32 {
    pool.resize(pool.len().next_multiple_of(len), 0);
    let at = pool.len() as i32;
    pool.extend(element.iter().cycle().take(len));
    at
}
