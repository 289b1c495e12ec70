//! Lowered limits: they hold, and everything still works under them.

use super::Suite;
use super::random::random_run;
use crate::device::{Device, TOO_LARGE};
use crate::report::{Outcome, ensure, skip};
use crate::samples::DTYPES;
use gpupy_core::driver::{BlockSpec, Config, Resources};
use gpupy_core::{DType, ErrorKind, Scalar};

pub const GROUP: &str = "limits";

pub fn run(suite: &mut Suite<'_>) {
    for bytes in [1, 4, 64, 1000, 4096] {
        let config = Config { block_bytes: bytes, ..Config::default() };
        suite.case_with(GROUP, &format!("blocks of {bytes} bytes"), &config, |device| {
            small_blocks(device, bytes)
        });
    }
    for bytes in [64, 4096, 1 << 20] {
        let config = Config { device_bytes: bytes, ..Config::default() };
        suite.case_with(GROUP, &format!("a device of {bytes} bytes"), &config, |device| {
            small_device(device, bytes)
        });
    }
    for slot in 0..8 {
        for limit in [1, 2, 16] {
            let mut resources = Resources::default();
            resources.0[slot] = limit;
            let config = Config { resources, ..Config::default() };
            let name = format!("resource {slot} of {limit}");
            suite.case_with(GROUP, &name, &config, |device| few_resources(device, slot, limit));
        }
    }
}

fn small_blocks(device: &mut Device, bytes: u64) -> Outcome {
    let most = device.caps.max_block_len;
    let widest = device.caps.dtypes.iter().map(|dtype| dtype.size() as u64).max().unwrap_or(1);
    let room = (bytes / widest).max(256);
    ensure((256..=room).contains(&(most as u64)), || {
        format!("{most} elements of {widest} bytes are more than {bytes} bytes")
    })?;
    let data: Vec<_> = (0..most).map(|k| Scalar::f32(k as f32)).collect();
    let block = device.upload(DType::F32, &data)?;
    let got = device.read(block, DType::F32, 0, most)?;
    device.driver.block_free(block);
    super::same(&got, &data, "the largest block")
}

/// Blocks are allocated until there is no room; then one is freed, and there is room again.
fn small_device(device: &mut Device, bytes: u64) -> Outcome {
    let len = (bytes / 16).min(device.caps.max_block_len as u64) as usize;
    for dtype in DTYPES {
        if device.need_dtype(dtype).is_err() {
            continue;
        }
        let spec = BlockSpec { dtype, len };
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

/// The lowered limit is in force, and what still fits is still right.
fn few_resources(device: &mut Device, slot: usize, limit: u32) -> Outcome {
    let Some((name, now)) = device.caps.resources.get(slot).copied() else {
        return skip("fewer resources");
    };
    ensure(now <= limit, || format!("`{name}` is {now}, although {limit} was asked for"))?;
    let mut fitted = false;
    for seed in 100..104 {
        for operations in [1, 3, 9] {
            let run = random_run(device, seed, operations);
            let check = device.check_ir(&run.program)?;
            ensure(check.fits == device.driver.resource_check(&check.resources), || {
                format!("`fits` is {}, but not its resources\n{}", check.fits, run.program)
            })?;
            if check.fits {
                fitted = true;
                device.check(&run, 0.0)?;
            }
        }
    }
    if fitted { Ok(()) } else { skip(TOO_LARGE) }
}
