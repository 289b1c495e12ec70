//! Blocks over host memory, which a driver that imports it reads in place.
//!
//! Invariant: a block over imported memory shows the memory's contents; after `block_free`, the driver does not
//! read it any more.
//!
//! Not here: the names and groups of these cases (`block_alloc.rs`).

use super::{doubling, numbers};
use crate::drivers::device::{Device, from_bytes, to_bytes};
use crate::expect::compare::same;
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::{Outcome, fail, fine, skip};
use gpupy_core::driver::{BlockId, BlockSpec, HostMemory};
use gpupy_core::{DType, ErrorKind, Scalar};
use std::ptr::NonNull;

/// Bytes at a multiple of an alignment, that go on to the next one behind them.
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    fn new(data: &[Scalar], alignment: usize) -> Aligned {
        let data = to_bytes(data);
        let mut bytes = vec![0; data.len() + 2 * alignment];
        let start = bytes.as_ptr().align_offset(alignment);
        bytes[start..start + data.len()].copy_from_slice(&data);
        Aligned { bytes, start, len: data.len() }
    }

    fn get(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }

    /// A block over them, if the driver imports these.
    fn block(&mut self, device: &mut Device, dtype: DType) -> Outcome<Option<BlockId>> {
        let (len, start) = (self.len / dtype.size(), NonNull::from(self.get()).cast());
        let spec = BlockSpec { memory: Some(HostMemory::new(start)), ..BlockSpec::new(dtype, len) };
        match device.driver.block_alloc(spec) {
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
            other => fine(other, "block_alloc over host memory").map(Some),
        }
    }
}

fn need_import(device: &Device) -> Outcome<usize> {
    match device.caps.import_alignment {
        0 => skip("host memory is not imported"),
        alignment if alignment.is_power_of_two() => Ok(alignment),
        other => fail(format!("memory aligned to `{other}` bytes")),
    }
}

/// Blocks of every dtype over host memory.
pub fn each_dtype(device: &mut Device) -> Outcome {
    let alignment = need_import(device)?;
    let mut rng = Rng::new(91);
    for dtype in DTYPES {
        if device.need_dtype(dtype).is_err() {
            continue;
        }
        for len in [1, 255, 5000] {
            let len = len.min(device.caps.max_block_len);
            let data: Vec<Scalar> = (0..len).map(|_| rng.scalar(dtype)).collect();
            let mut memory = Aligned::new(&data, alignment);
            let Some(block) = memory.block(device, dtype)? else { continue };
            let got = device.read(block, dtype, 0, len)?;
            device.driver.block_free(block);
            same(&got, &data, &format!("{len} imported elements of {dtype}"))?;
            let left = from_bytes(dtype, memory.get());
            same(&left, &data, &format!("{len} elements of {dtype} that were imported"))?;
        }
    }
    Ok(())
}

/// The memory is written again at once, as its owner may.
pub fn freed_while_read(device: &mut Device) -> Outcome {
    let alignment = need_import(device)?;
    let n = 100_000.min(device.caps.max_block_len);
    let run = doubling(n);
    for turn in 0..20 {
        let data = numbers(n, turn);
        let mut memory = Aligned::new(&data, alignment);
        let Some(source) = memory.block(device, DType::F32)? else { return Ok(()) };
        let dest = device.alloc(DType::F32, n)?;
        device.eval(&run, &[source], &[dest])?;
        device.driver.block_free(source);
        memory.get().fill(0xa5);
        drop(memory);
        let got = device.read(dest, DType::F32, 0, n)?;
        device.driver.block_free(dest);
        let wanted: Vec<Scalar> = data.iter().map(|x| Scalar::f32(2.0 * x.as_f32())).collect();
        same(&got, &wanted, &format!("evaluation {turn} of imported elements"))?;
    }
    Ok(())
}
