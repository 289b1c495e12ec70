//! `block_alloc` gives blocks, until there is no room.

use super::Suite;
use crate::compare::same;
use crate::device::Device;
use crate::outcome::{Outcome, ensure};
use crate::samples::DTYPES;
use gpupy_core::driver::{BlockSpec, Config};
use gpupy_core::{DType, ErrorKind, Scalar};

pub const GROUP: &str = "block_alloc";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "blocks apart", blocks_apart);
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
