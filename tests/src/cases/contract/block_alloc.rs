//! `block_alloc` gives blocks, until there is no room.

use super::mistakes::undisturbed;
use super::{Suite, block_free, imported, numbers};
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::expect::samples::DTYPES;
use crate::reporting::outcome::{Outcome, ensure, fine, refused};
use gpupy_core::driver::{BlockId, BlockSpec, Config, Driver};
use gpupy_core::{DType, ErrorKind, Scalar};
use std::collections::HashSet;

pub const GROUP: &str = "block_alloc";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "blocks apart", blocks_apart);
    suite.case(GROUP, "over host memory", imported::each_dtype);
    let freed = "of host memory that work still reads";
    suite.case(block_free::GROUP, freed, imported::freed_while_read);
    suite.case(GROUP, "lengths that no block has", wrong_lengths);
    suite.case(GROUP, "dtypes that no block has", wrong_dtypes);
    let make = suite.constructor();
    suite.case(GROUP, "no number is given out twice", |device| no_number_twice(device, &*make));
    suite.case(GROUP, "thousands of blocks", thousands);
    let few = Config { device_bytes: 1 << 14, ..Config::default() };
    suite.case_with(GROUP, "no room leaves blocks as they were", &few, no_room);
    for bytes in [64, 4096, 1 << 20] {
        let config = Config { device_bytes: bytes, ..Config::default() };
        suite.case_with(GROUP, &format!("a device of {bytes} bytes"), &config, |device| {
            small_device(device, bytes)
        });
    }
}

fn blocks_apart(device: &mut Device) -> Outcome {
    let mut blocks = Vec::new();
    for k in 0..50 {
        let data = vec![Scalar::f32(k as f32); 10 + k];
        blocks.push((device.upload(DType::F32, &data)?, data));
    }
    for (k, (block, _)) in blocks.iter().enumerate().filter(|(k, _)| k % 3 == 0) {
        device.write(*block, 2, &[Scalar::f32(-1.0 - k as f32)])?;
    }
    for (k, (block, mut data)) in blocks.into_iter().enumerate() {
        if k % 3 == 0 {
            data[2] = Scalar::f32(-1.0 - k as f32);
        }
        let got = device.read(block, DType::F32, 0, data.len())?;
        device.driver.block_free(block);
        same(&got, &data, "one of many blocks")?;
    }
    Ok(())
}

/// Blocks are allocated until there is no room; then one is freed, and there is room again.
fn small_device(device: &mut Device, bytes: u64) -> Outcome {
    let len = (bytes / 16).min(device.caps.max_block_len as u64) as usize;
    for dtype in DTYPES {
        if device.need_dtype(dtype).is_err() {
            continue;
        }
        let spec = BlockSpec::new(dtype, len);
        let mut blocks = Vec::new();
        let error = loop {
            match device.driver.block_alloc(spec) {
                Ok(block) => blocks.push(block),
                Err(error) => break error,
            }
            ensure(blocks.len() as u64 * (len * dtype.size()) as u64 <= bytes, || {
                format!("{} blocks of {len} {dtype} fit in {bytes} bytes", blocks.len())
            })?;
        };
        ensure(error.kind() == ErrorKind::OutOfMemory, || format!("no room, but: {error}"))?;
        ensure(!blocks.is_empty(), || format!("no block of {len} {dtype} in {bytes} bytes"))?;
        // Freeing gives the room back, again and again.
        for _ in 0..3 {
            if let Some(block) = blocks.pop() {
                device.driver.block_free(block);
            }
            blocks.push(device.alloc(dtype, len)?);
        }
        for block in blocks {
            device.driver.block_free(block);
        }
    }
    Ok(())
}

fn wrong_lengths(device: &mut Device) -> Outcome {
    let most = device.caps.max_block_len;
    undisturbed(device, |device| {
        for len in [0, most + 1, most.saturating_mul(1000), usize::MAX] {
            let block = device.driver.block_alloc(BlockSpec::new(DType::F32, len));
            refused(block, ErrorKind::Invalid, &format!("{len} elements"))?;
        }
        Ok(())
    })
}

fn wrong_dtypes(device: &mut Device) -> Outcome {
    undisturbed(device, |device| {
        for dtype in device.other_dtypes() {
            let block = device.driver.block_alloc(BlockSpec::new(dtype, 10));
            refused(block, ErrorKind::Invalid, &format!("{dtype}"))?;
        }
        Ok(())
    })
}

/// Handles of freed blocks, closed devices and other drivers are never reused.
fn no_number_twice(device: &mut Device, make: &dyn Fn() -> Box<dyn Driver>) -> Outcome {
    let mut seen = HashSet::new();
    let mut take = |device: &mut Device| -> Outcome<Vec<BlockId>> {
        let blocks = (0..50).map(|_| device.alloc(DType::F32, 10)).collect::<Outcome<Vec<_>>>()?;
        for block in &blocks {
            ensure(seen.insert(*block), || format!("block {} is given out twice", block.0))?;
        }
        Ok(blocks)
    };
    let mut other = fine(Device::open(make, &Config::default()), "a second driver")?;
    for _ in 0..3 {
        take(device)?.into_iter().for_each(|block| device.driver.block_free(block));
        take(&mut other)?;
        other.driver.cleanup();
        fine(other.driver.init(&Config::default()), "init after cleanup")?;
    }
    Ok(())
}

fn thousands(device: &mut Device) -> Outcome {
    let data = |k: usize| numbers(1 + k % 5, k);
    let blocks: Vec<_> =
        (0..3000).map(|k| device.upload(DType::F32, &data(k))).collect::<Outcome<_>>()?;
    for (k, block) in blocks.iter().enumerate() {
        let got = device.read(*block, DType::F32, 0, data(k).len())?;
        same(&got, &data(k), &format!("block {k} of 3000"))?;
    }
    blocks.into_iter().for_each(|block| device.driver.block_free(block));
    Ok(())
}

fn no_room(device: &mut Device) -> Outcome {
    undisturbed(device, |device| {
        let spec = BlockSpec::new(DType::F32, 100);
        let mut blocks = Vec::new();
        for _ in 0..1000 {
            match device.driver.block_alloc(spec) {
                Ok(block) => blocks.push(block),
                error => {
                    refused(error, ErrorKind::OutOfMemory, "no room")?;
                    break;
                }
            }
        }
        ensure(blocks.len() < 1000, || "1000 blocks fit".to_string())?;
        blocks.into_iter().for_each(|block| device.driver.block_free(block));
        Ok(())
    })
}
