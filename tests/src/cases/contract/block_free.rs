//! `block_free` frees a block, once the work that uses it is done.

use super::{Suite, doubling};
use crate::compare::same;
use crate::device::Device;
use crate::outcome::Outcome;
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "block_free";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "while work is queued", while_queued);
}

fn while_queued(device: &mut Device) -> Outcome {
    let n = 10_001.min(device.caps.max_block_len);
    let data: Vec<_> = (0..n).map(|k| Scalar::f32(k as f32)).collect();
    let twice: Vec<_> = (0..n).map(|k| Scalar::f32(2.0 * k as f32)).collect();
    let (source, dest) = (device.upload(DType::F32, &data)?, device.alloc(DType::F32, n)?);
    device.eval(&doubling(n), &[source], &[dest])?;
    device.driver.block_free(source);
    let other = device.upload(DType::F32, &vec![Scalar::f32(-1.0); n])?;
    let got = device.read(dest, DType::F32, 0, n)?;
    device.driver.block_free(other);
    device.driver.block_free(dest);
    same(&got, &twice, "the doubled block")
}
