//! `block_free` frees a block, once the work that uses it is done.

use super::mistakes::dead_handles;
use super::{Suite, doubling, numbers, works};
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::expect::samples::Rng;
use crate::reporting::outcome::{Outcome, ensure};
use gpupy_core::driver::{BlockSpec, Config};
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "block_free";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "while work is queued", while_queued);
    suite.case(GROUP, "a destination while work is queued", dest_while_queued);
    suite.case(GROUP, "in any order", in_any_order);
    dead_handles(suite, GROUP, "of", |device, block| {
        device.driver.block_free(block);
        Ok(())
    });
    let few = Config { device_bytes: 1 << 14, ..Config::default() };
    suite.case_with(GROUP, "twice gives no more room than once", &few, twice);
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

fn dest_while_queued(device: &mut Device) -> Outcome {
    let n = 10_001.min(device.caps.max_block_len);
    let source = device.upload(DType::F32, &numbers(n, 0))?;
    for _ in 0..5 {
        let dest = device.alloc(DType::F32, n)?;
        device.eval(&doubling(n), &[source], &[dest])?;
        device.driver.block_free(dest);
    }
    let now = device.read(source, DType::F32, 0, n)?;
    device.driver.block_free(source);
    same(&now, &numbers(n, 0), "the operand")?;
    works(device)
}

fn in_any_order(device: &mut Device) -> Outcome {
    let mut rng = Rng::new(54);
    let mut live = Vec::new();
    for k in 0..200 {
        let data = numbers(1 + k % 30, k);
        live.push((device.upload(DType::F32, &data)?, data));
        if live.len() > 20 {
            let (block, data) = live.swap_remove(rng.below(live.len()));
            let now = device.read(block, DType::F32, 0, data.len())?;
            device.driver.block_free(block);
            same(&now, &data, "a block among others that come and go")?;
        }
    }
    live.into_iter().for_each(|(block, _)| device.driver.block_free(block));
    Ok(())
}

fn twice(device: &mut Device) -> Outcome {
    let spec = BlockSpec::new(DType::F32, 256);
    let mut counts = Vec::new();
    for _ in 0..3 {
        let blocks: Vec<_> =
            std::iter::from_fn(|| device.driver.block_alloc(spec).ok()).take(1000).collect();
        counts.push(blocks.len());
        for block in blocks {
            device.driver.block_free(block);
            device.driver.block_free(block);
        }
    }
    let same = counts.iter().all(|count| *count == counts[0] && *count > 0);
    ensure(same, || format!("blocks of 256 that fit, time after time: {counts:?}"))
}
