//! `block_write` copies host memory into part of a block.

use super::Suite;
use crate::compare::same;
use crate::device::Device;
use crate::outcome::Outcome;
use crate::samples::{DTYPES, Rng};
use gpupy_core::DType;

pub const GROUP: &str = "block_write";

pub fn run(suite: &mut Suite<'_>) {
    for dtype in DTYPES {
        suite.case(GROUP, &format!("whole blocks, {dtype}"), |device| whole(device, dtype));
    }
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
