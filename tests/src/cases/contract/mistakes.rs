//! Mistakes of a caller: the driver reports an error, works on, and changes no other block.
//!
//! Owns [`undisturbed`] and [`dead_handles`].
//!
//! Not here: the mistakes of each function (its own file).

use super::{Suite, numbers, works};
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::reporting::outcome::{Outcome, fine};
use gpupy_core::DType;
use gpupy_core::driver::{BlockId, Config};
use gpupy_engine::Constructor;

/// Makes a mistake among blocks that must stay as they are; afterwards the driver must work.
pub fn undisturbed(device: &mut Device, mistake: impl FnOnce(&mut Device) -> Outcome) -> Outcome {
    let mut others = Vec::new();
    for k in 0..3 {
        let data = numbers(10, 100 * k);
        others.push((device.upload(DType::F32, &data)?, data));
    }
    mistake(device)?;
    for (block, data) in others {
        let now = device.read(block, DType::F32, 0, data.len())?;
        device.driver.block_free(block);
        same(&now, &data, "another block")?;
    }
    works(device)
}

/// A handle that is not live, and a device that must stay open meanwhile.
type Dead = (BlockId, Option<Device>);

/// Its description, and a function that produces it.
type Way = (&'static str, fn(&mut Device, &Constructor) -> Outcome<Dead>);

/// Ways to come by a handle that is not live.
const DEAD: [Way; 3] = [
    ("a block that was freed", |device, _| {
        let block = device.upload(DType::F32, &numbers(10, 1))?;
        device.driver.block_free(block);
        Ok((block, None))
    }),
    ("a block of another driver", |_, make| {
        let mut other = fine(Device::open(&**make, &Config::default()), "a second driver")?;
        let block = other.upload(DType::F32, &numbers(10, 1))?;
        Ok((block, Some(other)))
    }),
    ("a number that is no block", |_, _| Ok((BlockId(u64::MAX), None))),
];

/// A case for each kind of handle that is not live; `mistake` uses it for a float32 block of 10.
pub fn dead_handles(
    suite: &mut Suite<'_>,
    group: &'static str,
    what: &str,
    mistake: fn(&mut Device, BlockId) -> Outcome,
) {
    for (name, dead) in DEAD {
        let make = suite.constructor();
        suite.case(group, &format!("{what} {name}"), |device| {
            let (block, other) = dead(device, &make)?;
            undisturbed(device, |device| mistake(device, block))?;
            let Some(mut other) = other else { return Ok(()) };
            let now = other.read(block, DType::F32, 0, 10)?;
            same(&now, &numbers(10, 1), "the block of the other driver")?;
            other.driver.cleanup();
            Ok(())
        });
    }
}
