//! Split storage, in memory: a block of 64-bit elements is two blocks of 32-bit halves.
//!
//! Owns [`SplitStorage`]. The block's handle is the handle of its low halves. Invariant: both halves have one
//! lifetime; the driver, which allocates and frees them, keeps it.
//!
//! Not here: the programs (`split_program.rs`, `word_pairs`).

use crate::call_errors::within;
use crate::emulation64::split_program::{Plane, SplitProgram, has_planes};
use crate::emulation64::word_pairs;
use gpupy_core::driver::{BlockId, BlockSpec, Dest, Launch};
use gpupy_core::ir::{Fingerprint, Program};
use gpupy_core::{DType, Error, ErrorKind, Result, memory};
use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The most split programs that are kept; the least recently used one goes first.
const MOST_PROGRAMS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);

/// How much of 64-bit arithmetic and storage a device lacks, and so is emulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmulationLevel {
    /// Nothing: the device has 64-bit elements.
    #[default]
    Nothing,
    /// Storage: the device computes with 64 bits but cannot store them.
    Blocks,
    /// Integers: the device has no 64-bit integers at all.
    Integers,
}

impl EmulationLevel {
    /// True if a block of this dtype is stored as two.
    pub fn splits(self, dtype: DType) -> bool {
        match self {
            EmulationLevel::Nothing => false,
            EmulationLevel::Blocks => has_planes(dtype),
            EmulationLevel::Integers => word_pairs::is_pair(dtype),
        }
    }

    /// The split program that replaces a program, if it needs one.
    pub fn program(self, program: &Program) -> Option<SplitProgram> {
        match self {
            EmulationLevel::Nothing => None,
            EmulationLevel::Blocks => SplitProgram::of(program),
            EmulationLevel::Integers => word_pairs::split(program),
        }
    }
}

/// All split blocks of a driver, and the programs over them.
#[derive(Debug)]
pub struct SplitStorage {
    split: EmulationLevel,
    blocks: FxHashMap<BlockId, SplitBlock>,
    programs: LruCache<Fingerprint, Option<Arc<SplitProgram>>, FxBuildHasher>,
}

/// A block of 64-bit elements, stored as two.
#[derive(Clone, Copy, Debug)]
pub struct SplitBlock {
    /// The dtype and length of the block.
    pub spec: BlockSpec,
    /// The block of the high halves.
    pub high: BlockId,
}

/// A launch over planes that replaces a launch over 64-bit elements.
#[derive(Debug)]
pub struct SplitLaunch {
    planes: Arc<SplitProgram>,
    operands: Vec<BlockId>,
    dests: Vec<Dest>,
    params: Vec<u64>,
}

impl Default for SplitStorage {
    fn default() -> SplitStorage {
        SplitStorage::new(EmulationLevel::default())
    }
}

impl SplitStorage {
    /// Empty storage, for a device that needs this emulation.
    pub fn new(split: EmulationLevel) -> SplitStorage {
        let programs = LruCache::with_hasher(MOST_PROGRAMS, FxBuildHasher);
        SplitStorage { split, blocks: FxHashMap::default(), programs }
    }

    /// The emulation that the device needs.
    pub fn split(&self) -> EmulationLevel {
        self.split
    }

    /// Allocates both halves of a block of 64-bit elements. If one fails, the other is freed.
    ///
    /// # Errors
    /// - The errors of `alloc`.
    /// - `Unsupported`: over host memory, where the halves of an element are adjacent.
    pub fn alloc<D>(
        &mut self,
        device: &mut D,
        spec: BlockSpec,
        alloc: impl Fn(&mut D, BlockSpec) -> Result<BlockId>,
        free: impl Fn(&mut D, BlockId),
    ) -> Result<BlockId> {
        if spec.memory.is_some() {
            return Err(Error::new(ErrorKind::Unsupported, "block_alloc")
                .says("elements in halves cannot be imported")
                .with("dtype", spec.dtype));
        }
        let half = BlockSpec { dtype: DType::U32, ..spec };
        let low = alloc(device, half)?;
        let high = alloc(device, half).inspect_err(|_| free(device, low))?;
        self.blocks.insert(low, SplitBlock { spec, high });
        Ok(low)
    }

    /// The end of a range of elements that starts at `offset`, and the block's halves if it is split. `whole` gives the
    /// specification of a block that is not.
    ///
    /// # Errors
    /// - `Invalid`: the range leaves the block, or its bytes are not whole elements.
    /// - The errors of `whole`.
    pub fn range(
        &self,
        (driver, operation): (&'static str, &'static str),
        block: BlockId,
        (offset, bytes): (usize, usize),
        whole: impl FnOnce() -> Result<BlockSpec>,
    ) -> Result<(usize, Option<[BlockId; 2]>)> {
        let long = self.get(block);
        let spec = long.map_or_else(whole, |long| Ok(long.spec))?;
        let end = within(driver, operation, spec, offset, bytes)?;
        Ok((end, long.map(|long| [block, long.high])))
    }

    fn get(&self, block: BlockId) -> Option<SplitBlock> {
        self.blocks.get(&block).copied()
    }

    /// Removes a split block. The caller frees the blocks of its halves.
    pub fn remove(&mut self, block: BlockId) -> Option<SplitBlock> {
        self.blocks.remove(&block)
    }

    /// The launch over planes that replaces a launch, if it needs one.
    pub fn halved(&mut self, launch: &Launch<'_>) -> Option<SplitLaunch> {
        let planes = || self.split.program(launch.program).map(Arc::new);
        let planes = self.programs.get_or_insert(launch.fingerprint, planes).clone()?;
        let operand = |(which, plane): &(usize, Plane)| self.plane(launch.operands[*which], *plane);
        let dest = |(which, plane): &(usize, Plane)| {
            let dest = &launch.dests[*which];
            Dest { block: self.plane(dest.block, *plane), ..dest.clone() }
        };
        let param = |(which, plane): &(usize, Plane)| match (launch.params[*which], plane) {
            (bits, Plane::Whole) => bits,
            (bits, Plane::Low) => bits & u64::from(u32::MAX),
            (bits, Plane::High) => bits >> 32,
        };
        Some(SplitLaunch {
            operands: planes.operands.iter().map(operand).collect(),
            dests: planes.dests.iter().map(dest).collect(),
            params: planes.params.iter().map(param).collect(),
            planes,
        })
    }

    fn plane(&self, block: BlockId, plane: Plane) -> BlockId {
        match (plane, self.get(block)) {
            (Plane::High, Some(long)) => long.high,
            _ => block,
        }
    }
}

impl SplitLaunch {
    /// The replacing launch, which shares shape and accesses with the original.
    pub fn launch<'a>(&'a self, launch: &Launch<'a>) -> Launch<'a> {
        Launch {
            program: &self.planes.program,
            fingerprint: self.planes.fingerprint,
            operands: &self.operands,
            dests: &self.dests,
            params: &self.params,
            ..launch.clone()
        }
    }
}

/// Reads elements and joins them from their halves.
///
/// # Errors
/// The errors of `read`.
pub fn read(
    halves: [BlockId; 2],
    out: &mut [u8],
    mut read: impl FnMut(BlockId, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let mut bytes = [memory::zeroed(out.len() / 2)?, memory::zeroed(out.len() / 2)?];
    for (half, bytes) in halves.into_iter().zip(&mut bytes) {
        read(half, bytes)?;
    }
    let [low, high] = &bytes;
    let halves = low.as_chunks::<4>().0.iter().zip(high.as_chunks::<4>().0);
    for (element, (low, high)) in out.as_chunks_mut::<8>().0.iter_mut().zip(halves) {
        let [low, high] = [low, high].map(|half| u64::from(u32::from_ne_bytes(*half)));
        *element = (low | high << 32).to_ne_bytes();
    }
    Ok(())
}

/// Splits elements and writes their halves.
///
/// # Errors
/// The errors of `write`.
pub fn write(
    halves: [BlockId; 2],
    data: &[u8],
    mut write: impl FnMut(BlockId, &[u8]) -> Result<()>,
) -> Result<()> {
    for (half, shift) in halves.into_iter().zip([0, 32]) {
        let elements = data.as_chunks::<8>().0.iter();
        let words = elements.map(|element| (u64::from_ne_bytes(*element) >> shift) as u32);
        let bytes = memory::collected(data.len() / 8, words.map(u32::to_ne_bytes))?;
        write(half, bytes.as_flattened())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_written_in_halves_is_read_again() {
        let data: Vec<u8> = (0..80).collect();
        let mut blocks = [vec![0; 40], vec![0; 40]];
        let names = [BlockId(0), BlockId(1)];
        write(names, &data, |half, bytes| {
            blocks[half.0 as usize].copy_from_slice(bytes);
            Ok(())
        })
        .unwrap();
        let mut out = vec![0; 80];
        read(names, &mut out, |half, bytes| {
            bytes.copy_from_slice(&blocks[half.0 as usize]);
            Ok(())
        })
        .unwrap();
        assert_eq!(out, data);
    }
}
