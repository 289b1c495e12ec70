//! Answers that GPU drivers share, whatever their API: limits, and the check of a program.
//!
//! Owns [`BlockLimits`]; re-exports the errors of `call_errors.rs`. Invariant: a configuration only lowers the limits
//! of a device.
//!
//! Not here: the contract (`gpupy_core::driver`), supported operations (`operation_support.rs`).

pub use crate::call_errors::{does_not_work, is_closed, is_open, within};

use crate::device::operation_support::OperationSupport;
use crate::emit::loop_bounds::{self, MOST_STEPS};
use crate::emulation64::split_storage::EmulationLevel;
use gpupy_core::driver::{Check, Config, Resources};
use gpupy_core::ir::Program;
use gpupy_core::{Error, ErrorKind, Result};
use std::borrow::Cow;

/// The most elements of a block on any device: 1 GiB of float32.
const MAX_BLOCK_LEN: u64 = 1 << 28;

/// Bytes of the widest element, whether it is stored in one block or two.
pub const WIDEST: u64 = 8;

/// The least limit that a configuration can set: the points of one step of a reduction.
const MIN_BLOCK_LEN: u64 = 256;

/// Limits of the size of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// The most bytes of all blocks together.
    pub memory: u64,
    /// The most elements of a block on this device.
    pub largest: usize,
    /// The most elements of a block in this configuration.
    pub longest: usize,
}

impl BlockLimits {
    /// The limits of a device with `memory` bytes for blocks and at most `elements` in one.
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

/// The limits, lowered where a configuration asks for it.
pub fn lowered(mut limits: Resources, wanted: &Resources) -> Resources {
    for (limit, wanted) in limits.0.iter_mut().zip(wanted.0) {
        if wanted > 0 {
            *limit = wanted.min(*limit);
        }
    }
    limits
}

/// The limits with the names of their slots, for display.
pub fn named(names: &[&'static str], limits: &Resources) -> Vec<(Cow<'static, str>, u32)> {
    names.iter().map(|name| Cow::Borrowed(*name)).zip(limits.0).collect()
}

/// Checks that a device supports a program with its emulation of 64-bit elements, and returns the answer of
/// `check_ir` with the resources that it needs.
///
/// # Errors
/// - `Unsupported`: the device does not support it. The error names the operation, or the steps of its loops.
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

/// True if no resource exceeds its limit.
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
