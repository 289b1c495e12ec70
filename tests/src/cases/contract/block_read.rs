//! `block_read` copies part of a block to host memory.

use super::mistakes::{dead_handles, undisturbed};
use super::{Suite, numbers};
use crate::drivers::device::{Device, from_bytes, to_bytes};
use crate::expect::compare::same;
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::{Outcome, ensure, fine, refused};
use gpupy_core::driver::BlockId;
use gpupy_core::{DType, ErrorKind, Scalar};

pub const GROUP: &str = "block_read";

pub fn run(suite: &mut Suite<'_>) {
    for dtype in DTYPES {
        suite.case(GROUP, &format!("parts of a block, {dtype}"), |device| parts(device, dtype));
    }
    for dtype in DTYPES {
        suite.case(GROUP, &format!("ranges outside, {dtype}"), |device| outside(device, dtype));
    }
    suite.case(GROUP, "host memory of any alignment", any_alignment);
    suite.case(GROUP, "again, after others", again);
    dead_handles(suite, GROUP, "of", of_dead);
    suite.case(GROUP, "nothing read and nothing written", nothing);
}

fn parts(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    let mut rng = Rng::new(52);
    for n in [1, 6, 100, 4099] {
        let n = n.min(device.caps.max_block_len);
        let mut data: Vec<_> = (0..n).map(|_| rng.scalar(dtype)).collect();
        let block = device.upload(dtype, &data)?;
        for _ in 0..20 {
            let from = rng.below(n);
            let most = 1 + rng.below(200);
            let len = 1 + rng.below((n - from).min(most));
            let new: Vec<_> = (0..len).map(|_| rng.scalar(dtype)).collect();
            device.write(block, from, &new)?;
            data[from..from + len].copy_from_slice(&new);
            let from = rng.below(n);
            let len = 1 + rng.below(n - from);
            let got = device.read(block, dtype, from, len)?;
            same(&got, &data[from..from + len], &format!("elements from {from} of {n}"))?;
        }
        device.driver.block_free(block);
    }
    Ok(())
}

fn nothing(device: &mut Device) -> Outcome {
    let data = [Scalar::f32(1.0), Scalar::f32(2.0)];
    let block = device.upload(DType::F32, &data)?;
    for offset in 0..=2 {
        device.write(block, offset, &[])?;
        let got = device.read(block, DType::F32, offset, 0)?;
        ensure(got.is_empty(), || "something was read".into())?;
    }
    let got = device.read(block, DType::F32, 0, 2)?;
    device.driver.block_free(block);
    same(&got, &data, "the block")
}

/// An offset, and how many bytes that is for an element's size.
type OffsetAndBytes = (usize, fn(usize) -> usize);

/// Ranges of a block of 10 that are not inside it.
pub const OUTSIDE: [OffsetAndBytes; 8] = [
    (0, |size| 11 * size),
    (1, |size| 10 * size),
    (9, |size| 2 * size),
    (10, |size| size),
    (11, |_| 0),
    (usize::MAX, |size| size),
    (usize::MAX, |_| 0),
    (usize::MAX / 2, |size| 4 * size),
];

fn outside(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    let mut rng = Rng::new(55);
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
            let mut out = vec![0x3c; bytes];
            let answer = device.driver.block_read(block, offset, &mut out);
            refused(answer, ErrorKind::Invalid, &format!("{bytes} bytes from element {offset}"))?;
            let kept = out.iter().all(|byte| *byte == 0x3c);
            ensure(kept, || format!("{bytes} bytes from element {offset}: something was read"))?;
        }
        Ok(())
    })?;
    let now = device.read(block, dtype, 0, 10)?;
    device.driver.block_free(block);
    same(&now, &data, "the block")
}

fn any_alignment(device: &mut Device) -> Outcome {
    let data = numbers(100, 1);
    let block = device.upload(DType::F32, &data)?;
    for start in 0..8 {
        let mut bytes = vec![0; 408];
        let out = &mut bytes[start..start + 400];
        fine(device.driver.block_read(block, 0, out), "block_read")?;
        same(&from_bytes(DType::F32, out), &data, &format!("host memory at {start} of 8"))?;
        fine(device.driver.block_write(block, 0, &[0; 400]), "block_write")?;
        bytes[start..start + 400].copy_from_slice(&to_bytes(&data));
        let again = device.driver.block_write(block, 0, &bytes[start..start + 400]);
        fine(again, "block_write")?;
    }
    device.driver.block_free(block);
    Ok(())
}

fn again(device: &mut Device) -> Outcome {
    let blocks: Vec<_> =
        (0..5).map(|k| device.upload(DType::F32, &numbers(50, 100 * k))).collect::<Outcome<_>>()?;
    for _ in 0..3 {
        for (k, block) in blocks.iter().enumerate() {
            same(&device.read(*block, DType::F32, 0, 50)?, &numbers(50, 100 * k), "a block")?;
        }
    }
    blocks.into_iter().for_each(|block| device.driver.block_free(block));
    Ok(())
}

pub fn of_dead(device: &mut Device, block: BlockId) -> Outcome {
    for bytes in [40, 4, 0] {
        let mut out = vec![0x3c; bytes];
        let answer = device.driver.block_read(block, 0, &mut out);
        refused(answer, ErrorKind::Invalid, "block_read")?;
        ensure(out.iter().all(|byte| *byte == 0x3c), || "something was read".to_string())?;
    }
    Ok(())
}
