//! `init` opens the device and reports what it found.

use super::check_ir::one_operation;
use super::threads::{on_another, on_several};
use super::{PARTS, Suite, doubling, works};
use crate::cases::random::random_run;
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::reporting::outcome::{Outcome, ensure, fail, fine, refused};
use gpupy_core::driver::{BlockId, BlockSpec, Config, Driver, Resources};
use gpupy_core::op::OPS;
use gpupy_core::{DType, ErrorKind, Scalar};

pub const GROUP: &str = "init";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "reports what it found", reports);
    suite.case_with(GROUP, "again after cleanup", &Config::default(), after_cleanup);
    suite.case_with(GROUP, "limits above the device's own", &limits_above(), |device| {
        device.upload(DType::F32, &[Scalar::f32(1.0)]).map(|_| ())
    });
    let make = suite.constructor();
    suite.apart(GROUP, "nothing works before it, and everything after", || before(&*make));
    suite.case_with(GROUP, "a second time", &Config::default(), twice);
    let make = suite.constructor();
    suite.apart(GROUP, "on one thread, for another", || on_one_for_another(&*make));
    let make = suite.constructor();
    suite.apart(GROUP, "several drivers on several threads", || several(&*make));
    let make = suite.constructor();
    suite.apart(GROUP, "again and again", || again_and_again(&*make));
    for bytes in [1, 4, 64, 1000, 4096] {
        let config = Config { block_bytes: bytes, ..Config::default() };
        suite.case_with(GROUP, &format!("blocks of {bytes} bytes"), &config, |device| {
            small_blocks(device, bytes)
        });
    }
}

fn limits_above() -> Config {
    Config {
        block_bytes: u64::MAX,
        device_bytes: u64::MAX,
        resources: Resources([u32::MAX; 8]),
        ..Config::default()
    }
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

type Make<'a> = &'a (dyn Fn() -> Box<dyn Driver> + Send + Sync);

/// A call before `init` is an error if the function can report one, and never a panic.
fn before(make: Make<'_>) -> Outcome {
    let mut device = Device::closed(make());
    closed(&mut device, BlockId(1))?;
    match device.driver.init(&Config::default()) {
        Ok(caps) => works(&mut Device { driver: device.driver, caps }),
        Err(error) => fail(format!("{error}")),
    }
}

/// Every call that is permitted on a driver that is not open; `block` is not live.
pub fn closed(device: &mut Device, block: BlockId) -> Outcome {
    let driver = &mut device.driver;
    let spec = BlockSpec::new(DType::F32, 10);
    refused(driver.block_alloc(spec), ErrorKind::Invalid, "block_alloc")?;
    driver.block_free(block);
    refused(driver.block_read(block, 0, &mut [0; 4]), ErrorKind::Invalid, "block_read")?;
    refused(driver.block_write(block, 0, &[0; 4]), ErrorKind::Invalid, "block_write")?;
    // The answers have no meaning, but the calls must return.
    let _ = driver.check_ir(&one_operation());
    for part in PARTS {
        let _ = driver.resource_check(&driver.resource_get(part));
    }
    for row in OPS {
        let _ = driver.get_method(row.op, DType::F32);
    }
    let evaluated = device.try_eval(&doubling(10), &[block], &[block]);
    refused(evaluated, ErrorKind::Invalid, "eval_ir")
}

fn twice(device: &mut Device) -> Outcome {
    let data = [Scalar::f32(7.0)];
    let block = device.upload(DType::F32, &data)?;
    let again = device.driver.init(&Config::default());
    refused(again, ErrorKind::Invalid, "a second init")?;
    same(&device.read(block, DType::F32, 0, 1)?, &data, "a block from before")?;
    works(device)
}

fn on_one_for_another(make: Make<'_>) -> Outcome {
    let open = || fine(Device::open(make, &Config::default()), "on another thread");
    let mut device = on_another(open)?;
    works(&mut device)?;
    on_another(|| works(&mut device))?;
    on_another(move || {
        device.driver.cleanup();
        Ok(())
    })
}

/// Drivers that are open at the same time do not interfere.
fn several(make: Make<'_>) -> Outcome {
    on_several(|thread| {
        let mut device = fine(Device::open(make, &Config::default()), "one of several")?;
        for seed in 0..12 {
            let run = random_run(&device, 1000 * thread as u64 + seed, 3);
            if device.check_ir(&run.program)?.fits {
                device.check(&run, 0.0)?;
            }
            works(&mut device)?;
        }
        device.driver.cleanup();
        Ok(())
    })
}

fn again_and_again(make: Make<'_>) -> Outcome {
    let mut device = Device::closed(make());
    for _ in 0..10 {
        device.caps = fine(device.driver.init(&Config::default()), "init")?;
        device.alloc(DType::F32, 1000)?;
        works(&mut device)?;
        device.driver.cleanup();
    }
    Ok(())
}
