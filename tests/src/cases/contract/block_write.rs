//! `block_write` copies host memory into part of a block.

use super::block_read::OUTSIDE;
use super::mistakes::{dead_handles, undisturbed};
use super::{Suite, numbers};
use crate::drivers::device::{Device, to_bytes};
use crate::expect::compare::same;
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::{Outcome, fine, refused};
use gpupy_core::driver::BlockId;
use gpupy_core::{DType, ErrorKind};

pub const GROUP: &str = "block_write";

pub fn run(suite: &mut Suite<'_>) {
    for dtype in DTYPES {
        suite.case(GROUP, &format!("whole blocks, {dtype}"), |device| whole(device, dtype));
    }
    for dtype in DTYPES {
        suite.case(GROUP, &format!("parts leave the rest, {dtype}"), |d| parts(d, dtype));
        suite.case(GROUP, &format!("ranges outside, {dtype}"), |device| outside(device, dtype));
        suite.case(GROUP, &format!("neighbours, {dtype}"), |device| neighbours(device, dtype));
    }
    suite.case(GROUP, "host memory is free on return", free_on_return);
    suite.case(GROUP, "the first write is a part", first_is_a_part);
    dead_handles(suite, GROUP, "to", to_dead);
}

const SIZES: [usize; 12] = [1, 2, 3, 4, 5, 7, 16, 63, 257, 1000, 4099, 20_000];

fn whole(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    let mut rng = Rng::new(51);
    let most = device.caps.max_block_len;
    for n in SIZES.into_iter().filter(|n| *n <= most) {
        let data: Vec<_> = (0..n).map(|_| rng.scalar(dtype)).collect();
        let block = device.upload(dtype, &data)?;
        let got = device.read(block, dtype, 0, n)?;
        device.driver.block_free(block);
        same(&got, &data, &format!("a block of {n}"))?;
    }
    Ok(())
}

/// After each write the whole block is read: the elements on both sides are guards.
fn parts(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    let mut rng = Rng::new(56);
    for n in [1, 2, 5, 16, 100, 1003] {
        let n = n.min(device.caps.max_block_len);
        let mut data: Vec<_> = (0..n).map(|_| rng.scalar(dtype)).collect();
        let block = device.upload(dtype, &data)?;
        for _ in 0..12 {
            let from = rng.below(n);
            let len = 1 + rng.below(n - from);
            let new: Vec<_> = (0..len).map(|_| rng.scalar(dtype)).collect();
            device.write(block, from, &new)?;
            data[from..from + len].copy_from_slice(&new);
            let now = device.read(block, dtype, 0, n)?;
            same(&now, &data, &format!("{len} elements from {from} of {n} written"))?;
        }
        device.driver.block_free(block);
    }
    Ok(())
}

fn outside(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    let mut rng = Rng::new(57);
    let data: Vec<_> = (0..10).map(|_| rng.scalar(dtype)).collect();
    let block = device.upload(dtype, &data)?;
    let mut ranges: Vec<_> =
        OUTSIDE.iter().map(|(offset, bytes)| (*offset, bytes(dtype.size()))).collect();
    if dtype.size() > 1 {
        // Not whole elements.
        ranges.extend([(0, 1), (0, dtype.size() + 1), (8, 2 * dtype.size() - 1)]);
    }
    undisturbed(device, |device| {
        for (offset, bytes) in ranges {
            let answer = device.driver.block_write(block, offset, &vec![1; bytes]);
            let what = format!("{bytes} bytes from element {offset}");
            refused(answer, ErrorKind::Invalid, &what)?;
            same(&device.read(block, dtype, 0, 10)?, &data, &what)?;
        }
        Ok(())
    })?;
    device.driver.block_free(block);
    Ok(())
}

/// A block that is written whole leaves those that were allocated before and after it.
fn neighbours(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    let mut rng = Rng::new(58);
    for n in [1, 3, 5, 64, 257, 1001] {
        let n = n.min(device.caps.max_block_len);
        let mut blocks = Vec::new();
        for _ in 0..3 {
            let data: Vec<_> = (0..n).map(|_| rng.scalar(dtype)).collect();
            blocks.push((device.upload(dtype, &data)?, data));
        }
        let new: Vec<_> = (0..n).map(|_| rng.scalar(dtype)).collect();
        device.write(blocks[1].0, 0, &new)?;
        blocks[1].1 = new;
        for (block, data) in blocks {
            let now = device.read(block, dtype, 0, n)?;
            device.driver.block_free(block);
            same(&now, &data, &format!("one of three blocks of {n}"))?;
        }
    }
    Ok(())
}

fn free_on_return(device: &mut Device) -> Outcome {
    for n in [1, 100, 20_000, 100_000] {
        let n = n.min(device.caps.max_block_len);
        let block = device.alloc(DType::F32, n)?;
        let mut bytes = to_bytes(&numbers(n, 1));
        fine(device.driver.block_write(block, 0, &bytes), "block_write")?;
        bytes.fill(0x77);
        let now = device.read(block, DType::F32, 0, n)?;
        device.driver.block_free(block);
        same(&now, &numbers(n, 1), &format!("{n} elements"))?;
    }
    Ok(())
}

/// The written elements are defined; the rest of the block is not.
fn first_is_a_part(device: &mut Device) -> Outcome {
    for (n, from, len) in [(10, 3, 4), (1000, 999, 1), (5000, 1, 4000)] {
        let n = n.min(device.caps.max_block_len);
        let (from, len) = (from.min(n - 1), len.min(n - from.min(n - 1)));
        let block = device.alloc(DType::F32, n)?;
        device.write(block, from, &numbers(len, 1))?;
        let now = device.read(block, DType::F32, from, len)?;
        device.driver.block_free(block);
        same(&now, &numbers(len, 1), &format!("{len} elements from {from} of {n}"))?;
    }
    Ok(())
}

pub fn to_dead(device: &mut Device, block: BlockId) -> Outcome {
    for bytes in [40, 4, 0] {
        let answer = device.driver.block_write(block, 0, &vec![1; bytes]);
        refused(answer, ErrorKind::Invalid, "block_write")?;
    }
    Ok(())
}
