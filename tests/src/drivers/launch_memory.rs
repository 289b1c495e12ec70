//! Launches on host memory that they bring, instead of blocks.
//!
//! Owns [`LaunchMemory`]: elements of a launch in host memory. Invariants: it is aligned for their dtype and no
//! more; the memory before and after it is guarded.
//!
//! Not here: launches on blocks (`launch.rs`).

use crate::drivers::device::{Device, from_bytes, to_bytes};
use crate::expect::compare::{accepts, same};
use crate::expect::oracle::Run;
use crate::reporting::outcome::{Outcome, ensure, fine, skip};
use gpupy_core::driver::{BlockId, HostBlock, HostMemory};
use gpupy_core::{DType, Scalar};
use std::ptr::NonNull;

/// The contents of the guards.
const GUARD_BYTE: u8 = 0xa5;
/// The largest alignment, and at least so many bytes of guards before the elements and behind them.
const WORD: usize = 16;

/// Elements in host memory.
pub struct LaunchMemory {
    dtype: DType,
    len: usize,
    /// Where the elements begin.
    start: usize,
    bytes: Vec<u8>,
}

impl LaunchMemory {
    pub fn new(data: &[Scalar], dtype: DType) -> LaunchMemory {
        let elements = to_bytes(data);
        let mut bytes = vec![GUARD_BYTE; elements.len() + 4 * WORD];
        let start = bytes.as_ptr().align_offset(WORD) + WORD + dtype.size() % WORD;
        bytes[start..start + elements.len()].copy_from_slice(&elements);
        LaunchMemory { dtype, len: data.len(), start, bytes }
    }

    /// Some of the elements, in the place of a block.
    pub fn part(&mut self, from: usize, len: usize) -> HostBlock {
        let at = self.start + from * self.dtype.size();
        let start = NonNull::from(&mut self.bytes[at..]).cast();
        HostBlock { memory: HostMemory::new(start), len }
    }

    /// All elements.
    pub fn all(&mut self) -> HostBlock {
        self.part(0, self.len)
    }

    /// The current elements.
    pub fn read(&self) -> Outcome<Vec<Scalar>> {
        let (before, rest) = self.bytes.split_at(self.start);
        let (elements, behind) = rest.split_at(self.len * self.dtype.size());
        let guarded = before.iter().chain(behind).all(|byte| *byte == GUARD_BYTE);
        ensure(guarded, || "host memory beside the elements of a launch has changed".to_string())?;
        Ok(from_bytes(self.dtype, elements))
    }
}

/// Skips unless launches may bring host memory.
pub fn need_memory_launches(device: &Device) -> Outcome {
    if device.caps.memory_launches { Ok(()) } else { skip("launches bring no memory") }
}

impl Device {
    /// Repeats a launch that succeeded on blocks on host memory with equal contents, if the driver supports
    /// that: it writes the same bits, except for the bits of NaN.
    pub fn check_brought(
        &mut self,
        run: &Run,
        before: &[Vec<Scalar>],
        wanted: &[Vec<Scalar>],
    ) -> Outcome {
        if !self.caps.memory_launches {
            return Ok(());
        }
        let with = |dtypes: &[DType], data: &[Vec<Scalar>]| -> Vec<LaunchMemory> {
            dtypes.iter().zip(data).map(|(dtype, data)| LaunchMemory::new(data, *dtype)).collect()
        };
        let mut operands = with(&run.program.operands, &run.operands);
        let mut dests = with(&run.program.dests, before);
        let pieces = operands.iter_mut().chain(&mut dests);
        let memory: Vec<HostBlock> = pieces.map(LaunchMemory::all).collect();
        let ids: Vec<BlockId> = (0..memory.len() as u64).map(BlockId).collect();
        let (of_operands, of_dests) = ids.split_at(operands.len());
        fine(self.try_eval_on(run, of_operands, of_dests, &memory), "eval_ir on host memory")?;
        for (dest, wanted) in dests.iter_mut().zip(wanted) {
            let got = dest.read()?;
            let alike = |at: &usize| accepts(got[*at], wanted[*at], 0.0);
            let wrong = (0..got.len()).find(|at| !alike(at));
            ensure(wrong.is_none(), || {
                format!("on host memory, another element at {wrong:?} than in a block")
            })?;
        }
        for (operand, data) in operands.iter_mut().zip(&run.operands) {
            same(&operand.read()?, data, "an operand on host memory")?;
        }
        Ok(())
    }
}
