//! `block_read` copies part of a block to host memory.

use super::Suite;
use crate::compare::same;
use crate::device::Device;
use crate::outcome::{Outcome, ensure};
use crate::samples::{DTYPES, Rng};
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "block_read";

pub fn run(suite: &mut Suite<'_>) {
    for dtype in DTYPES {
        suite.case(GROUP, &format!("parts of a block, {dtype}"), |device| parts(device, dtype));
    }
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
