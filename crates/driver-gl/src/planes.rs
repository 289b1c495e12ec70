//! Blocks of 64-bit elements: two textures each, one for each half.
//!
//! Owns [`Long`]s. A texel's component has 32 bits, so such a block is two blocks of uint32, and a
//! program over it one over these. The block's handle is that of its low halves. Invariant: both
//! live and die together.
//!
//! Not here: the programs (`gpupy_codegen::planes`), the blocks themselves (`blocks.rs`).

use crate::blocks::Blocks;
use crate::thread::GlThread;
use gpupy_codegen::planes::{Plane, Planes};
use gpupy_core::driver::{BlockId, BlockSpec, Dest, Launch};
use gpupy_core::ir::{Fingerprint, Program};
use gpupy_core::{DType, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Programs that are kept; beyond, all are made anew.
const MOST_PROGRAMS: usize = 1024;

/// All blocks of 64-bit elements, and the programs over them.
#[derive(Debug, Default)]
pub struct Longs {
    blocks: FxHashMap<BlockId, Long>,
    programs: FxHashMap<Fingerprint, Option<Arc<Planes>>>,
}

/// A block of 64-bit elements.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    /// What it holds.
    pub spec: BlockSpec,
    /// The block of its high halves.
    pub high: BlockId,
}

impl Longs {
    /// Names a new block of 64-bit elements.
    ///
    /// # Errors
    /// As `Blocks::alloc`.
    pub fn alloc(
        &mut self,
        thread: &GlThread,
        blocks: &mut Blocks,
        spec: BlockSpec,
    ) -> Result<BlockId> {
        let half = BlockSpec { dtype: DType::U32, ..spec };
        let low = blocks.alloc(thread, half)?;
        let high = blocks.alloc(thread, half).inspect_err(|_| blocks.free(thread, low))?;
        self.blocks.insert(low, Long { spec, high });
        Ok(low)
    }

    /// The block of this handle, if its elements have 64 bits.
    pub fn get(&self, block: BlockId) -> Option<Long> {
        self.blocks.get(&block).copied()
    }

    /// Forgets a block; the blocks of its halves are the caller's.
    pub fn remove(&mut self, block: BlockId) -> Option<Long> {
        self.blocks.remove(&block)
    }

    /// The program over planes in a program's place, if it has any.
    pub fn planes(&mut self, fingerprint: Fingerprint, program: &Program) -> Option<Arc<Planes>> {
        if self.programs.len() >= MOST_PROGRAMS {
            self.programs.clear();
        }
        let planes = || Planes::of(program).map(Arc::new);
        self.programs.entry(fingerprint).or_insert_with(planes).clone()
    }

    fn plane(&self, block: BlockId, plane: Plane) -> BlockId {
        match (plane, self.get(block)) {
            (Plane::High, Some(long)) => long.high,
            _ => block,
        }
    }

    /// The operands and destinations of a launch over planes.
    pub fn blocks(&self, launch: &Launch<'_>, planes: &Planes) -> (Vec<BlockId>, Vec<Dest>) {
        let operand = |(which, plane): &(usize, Plane)| self.plane(launch.operands[*which], *plane);
        let dest = |(which, plane): &(usize, Plane)| {
            let dest = &launch.dests[*which];
            Dest { block: self.plane(dest.block, *plane), ..dest.clone() }
        };
        (planes.operands.iter().map(operand).collect(), planes.dests.iter().map(dest).collect())
    }
}

/// The halves of elements, low and high.
pub fn halves(elements: &[u8]) -> [Vec<u8>; 2] {
    let (low, high) = elements.as_chunks::<8>().0.iter().map(split).unzip();
    [low, high].map(|half: Vec<[u8; 4]>| half.into_flattened())
}

fn split(element: &[u8; 8]) -> ([u8; 4], [u8; 4]) {
    let bits = u64::from_ne_bytes(*element);
    ((bits as u32).to_ne_bytes(), ((bits >> 32) as u32).to_ne_bytes())
}

/// Puts elements together from their halves.
pub fn join(low: &[u8], high: &[u8], elements: &mut [u8]) {
    let halves = low.as_chunks::<4>().0.iter().zip(high.as_chunks::<4>().0);
    for (element, (low, high)) in elements.as_chunks_mut::<8>().0.iter_mut().zip(halves) {
        let [low, high] = [low, high].map(|half| u64::from(u32::from_ne_bytes(*half)));
        *element = (low | high << 32).to_ne_bytes();
    }
}
