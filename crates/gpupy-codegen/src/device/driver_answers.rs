//! What drivers of GPUs answer alike, whatever their API.
//!
//! Owns [`BlockLimits`], and the errors of calls that no device sees. Invariant: a configuration only lowers what a
//! device has.
//!
//! Not here: the contract (`gpupy_core::driver`), what a device can do (`operation_support.rs`).

pub use crate::call_errors::{does_not_work, is_closed, is_open, within};

use crate::device::operation_support::OperationSupport;
use crate::emit::loop_bounds::{self, MOST_STEPS};
use crate::emulation64::split_storage::EmulationLevel;
use gpupy_core::driver::{Check, Config, Resources};
use gpupy_core::ir::Program;
use gpupy_core::{Error, ErrorKind, Result};
use std::borrow::Cow;

/// Elements of the largest block, however much a device could hold: 1 GiB of float32.
const MAX_BLOCK_LEN: u64 = 1 << 28;

/// Bytes of the widest element, whether it lies in one block or in two.
pub const WIDEST: u64 = 8;

/// Elements that blocks have however low a configuration's limit is: the points of one step of a reduction.
const MIN_BLOCK_LEN: u64 = 256;

/// How large blocks may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// Bytes of all blocks together.
    pub memory: u64,
    /// Elements of the largest block that the device could have.
    pub largest: usize,
    /// Elements of the largest block that anybody is given.
    pub longest: usize,
}

impl BlockLimits {
    /// Those of a device with so many bytes for blocks, and so many elements in one at most.
    pub fn of(config: &Config, memory: u64, elements: u64) -> BlockLimits {
        let at_most = |wanted: u64, ours: u64| if wanted == 0 { ours } else { wanted.min(ours) };
        let largest = MAX_BLOCK_LEN.min(elements);
        let wanted = match config.block_bytes {
            0 => 0,
            bytes => (bytes / WIDEST).max(MIN_BLOCK_LEN),
        };
        BlockLimits {
            memory: at_most(config.device_bytes, memory),
            largest: largest as usize,
            longest: at_most(wanted, largest) as usize,
        }
    }
}

/// Limits, or lower ones where a configuration has them.
pub fn lowered(mut limits: Resources, wanted: &Resources) -> Resources {
    for (limit, wanted) in limits.0.iter_mut().zip(wanted.0) {
        if wanted > 0 {
            *limit = wanted.min(*limit);
        }
    }
    limits
}

/// Limits with the names of their slots, for people to read.
pub fn named(names: &[&'static str], limits: &Resources) -> Vec<(Cow<'static, str>, u32)> {
    names.iter().map(|name| Cow::Borrowed(*name)).zip(limits.0).collect()
}

/// What a program needs that a device can do; 64-bit elements are split as the device wants them.
///
/// # Errors
/// - `Unsupported`: it cannot do it; the error names the operation, or the steps of its loops.
pub fn check(
    driver: &'static str,
    abilities: &OperationSupport,
    split: EmulationLevel,
    program: &Program,
    need: impl FnOnce(&Program) -> Resources,
    limits: &Resources,
) -> Result<Check> {
    abilities.check(program, driver)?;
    let halved = split.program(program);
    let program = halved.as_ref().map_or(program, |halved| &halved.program);
    let steps = loop_bounds::of_program(program);
    if steps > MOST_STEPS {
        return Err(Error::new(ErrorKind::Unsupported, "check_ir")
            .says("the loops may make more steps than a device takes")
            .with("driver", driver)
            .with("steps", steps)
            .with("most", MOST_STEPS));
    }
    let resources = need(program);
    Ok(Check { fits: fits(&resources, limits), resources })
}

/// True where no resource goes beyond its limit.
pub fn fits(needs: &Resources, limits: &Resources) -> bool {
    needs.0.iter().zip(limits.0).all(|(need, limit)| *need <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_lowers_sizes_and_never_raises_them() {
        let sizes = |block_bytes, device_bytes| {
            let config = Config { block_bytes, device_bytes, ..Config::default() };
            let BlockLimits { memory, largest, longest } = BlockLimits::of(&config, 10_000, 1000);
            (memory, largest, longest)
        };
        assert_eq!(sizes(0, 0), (10_000, 1000, 1000));
        assert_eq!(sizes(4000, 500), (500, 1000, 500));
        assert_eq!(sizes(8, u64::MAX), (10_000, 1000, 256));
        assert_eq!(sizes(u64::MAX, 1), (1, 1000, 1000));
    }
}
