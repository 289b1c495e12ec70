//! `init` opens the device and reports what it found.

use super::Suite;
use crate::compare::same;
use crate::device::Device;
use crate::outcome::{Outcome, ensure, fail};
use gpupy_core::driver::{Config, Resources};
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "init";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "reports what it found", reports);
    suite.case_with(GROUP, "again after cleanup", &Config::default(), after_cleanup);
    suite.case_with(GROUP, "limits above the device's own", &limits_above(), |device| {
        device.upload(DType::F32, &[Scalar::f32(1.0)]).map(|_| ())
    });
    for bytes in [1, 4, 64, 1000, 4096] {
        let config = Config { block_bytes: bytes, ..Config::default() };
        suite.case_with(GROUP, &format!("blocks of {bytes} bytes"), &config, |device| {
            small_blocks(device, bytes)
        });
    }
}

fn limits_above() -> Config {
    Config { block_bytes: u64::MAX, device_bytes: u64::MAX, resources: Resources([u32::MAX; 8]) }
}

fn reports(device: &mut Device) -> Outcome {
    let caps = &device.caps;
    ensure(!caps.device.is_empty(), || "the device has no name".into())?;
    ensure(caps.dtypes.contains(&DType::F32), || "there is no float32".into())?;
    ensure(caps.max_block_len >= 256, || "fewer than 256 elements fit in a block".into())?;
    ensure(caps.max_dests >= 1, || "there are no destinations".into())?;
    ensure(caps.resources.len() <= 8, || "there are more than 8 resources".into())?;
    let mut dtypes = caps.dtypes.clone();
    dtypes.sort();
    dtypes.dedup();
    ensure(dtypes.len() == caps.dtypes.len(), || format!("{:?} has one twice", caps.dtypes))
}

fn after_cleanup(device: &mut Device) -> Outcome {
    let before = device.caps.clone();
    device.driver.cleanup();
    match device.driver.init(&Config::default()) {
        Ok(after) => {
            ensure(before == after, || format!("{before:?} and then {after:?}"))?;
            device.upload(DType::F32, &[Scalar::f32(1.0)]).map(|_| ())
        }
        Err(error) => fail(format!("{error}")),
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
    same(&got, &data, "the largest block")
}
