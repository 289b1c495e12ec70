//! `cleanup` closes the device and frees every block.

use super::init::closed;
use super::threads::on_another;
use super::{Suite, doubling, numbers, works};
use crate::drivers::device::Device;
use crate::reporting::outcome::{Outcome, ensure, fine};
use gpupy_core::DType;
use gpupy_core::driver::{BlockSpec, Config, Driver};

pub const GROUP: &str = "cleanup";

pub fn run(suite: &mut Suite<'_>) {
    suite.case_with(GROUP, "twice", &Config::default(), |device| {
        device.alloc(DType::F32, 10)?;
        device.driver.cleanup();
        device.driver.cleanup();
        Ok(())
    });
    let make = suite.constructor();
    suite.apart(GROUP, "without init", || {
        make().cleanup();
        Ok(())
    });
    suite.case_with(GROUP, "nothing works afterwards", &Config::default(), |device| {
        let block = device.upload(DType::F32, &numbers(10, 1))?;
        device.driver.cleanup();
        closed(device, block)
    });
    suite.case_with(GROUP, "handles from before stay dead", &Config::default(), stay_dead);
    suite.case_with(GROUP, "while work is queued", &Config::default(), |device| {
        queue(device)?;
        device.driver.cleanup();
        Ok(())
    });
    suite.case_with(GROUP, "on another thread", &Config::default(), |device| {
        queue(device)?;
        on_another(|| {
            device.driver.cleanup();
            Ok(())
        })
    });
    let make = suite.constructor();
    suite.apart(GROUP, "left out, with work in the queue", || dropped(&*make));
    let few = Config { device_bytes: 1 << 16, ..Config::default() };
    suite.case_with(GROUP, "gives memory back", &few, |device| gives_back(device, &few));
}

/// A long evaluation, which may not be done on return.
fn queue(device: &mut Device) -> Outcome {
    let n = 200_000.min(device.caps.max_block_len);
    let (source, dest) = (device.upload(DType::F32, &numbers(n, 0))?, device.alloc(DType::F32, n)?);
    device.eval(&doubling(n), &[source], &[dest]).map(|_| ())
}

fn stay_dead(device: &mut Device) -> Outcome {
    let block = device.upload(DType::F32, &numbers(10, 1))?;
    device.driver.cleanup();
    device.caps = fine(device.driver.init(&Config::default()), "init after cleanup")?;
    super::mistakes::undisturbed(device, |device| {
        super::block_read::of_dead(device, block)?;
        super::block_write::to_dead(device, block)?;
        super::eval_ir::mistakes::dead_operand(device, block)?;
        super::eval_ir::mistakes::dead_dest(device, block)?;
        device.driver.block_free(block);
        Ok(())
    })
}

/// A driver that is not closed explicitly is closed when it is dropped, here on a thread that never used it.
fn dropped(make: &(dyn Fn() -> Box<dyn Driver> + Send + Sync)) -> Outcome {
    for _ in 0..3 {
        let mut device = fine(Device::open(make, &Config::default()), "a driver to drop")?;
        queue(&mut device)?;
        on_another(move || {
            drop(device);
            Ok(())
        })?;
    }
    works(&mut fine(Device::open(make, &Config::default()), "after dropped ones")?)
}

fn gives_back(device: &mut Device, config: &Config) -> Outcome {
    let mut counts = Vec::new();
    for _ in 0..3 {
        let spec = BlockSpec::new(DType::F32, 256);
        counts.push(std::iter::from_fn(|| device.driver.block_alloc(spec).ok()).count());
        device.driver.cleanup();
        fine(device.driver.init(config), "init after cleanup")?;
    }
    let same = counts.iter().all(|count| *count == counts[0] && *count > 0);
    ensure(same, || format!("blocks of 256 that fit, time after time: {counts:?}"))
}
