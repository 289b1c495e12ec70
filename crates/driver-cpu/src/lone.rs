//! Launches of one row: what small work mostly is. The row takes less time than finding a route for it
//! would, so here there is none.
//!
//! Owns [`run`]. Invariant: it computes what the longer way would, with the same machine code.
//!
//! Not here: every other launch (`eval.rs`).

use crate::axis::going;
use crate::blocks::Blocks;
use crate::eval::SHARED;
use crate::known::{Known, Ways};
use crate::leaves::Leaf;
use crate::plan::Stride;
use crate::work;
use gpupy_core::Result;
use gpupy_core::driver::{Access, Launch};
use gpupy_jit::{Row, Walk};

/// The most leaves and destinations together: those of one operation.
const MOST: usize = 4;

/// Runs a launch of a map over one axis whose elements lie side by side, for which there is machine code.
/// False when it is not like that, or has so many points that threads should share them; then nothing
/// was done.
///
/// # Errors
/// - `Invalid`: a block of the launch is none.
pub fn run(known: &Known, blocks: &mut Blocks, launch: &Launch<'_>) -> Result<bool> {
    let leaves = &known.leaves;
    let ([n], None) = (launch.shape, leaves.reduce) else { return Ok(false) };
    if leaves.all.len() + leaves.dests.len() > MOST {
        return Ok(false);
    }
    let mut walks = [Walk { ptr: std::ptr::null_mut(), step: 0 }; MOST];
    let (mut ways, mut side_by_side) = (Ways::default(), true);
    let mut places = walks.iter_mut();
    let mut add = |access: &Access, base: *mut u8, size: usize| {
        let (step, size) = (access.strides[0], size as isize);
        let ptr = base.wrapping_offset(access.offset as isize * size);
        if let Some(walk) = places.next() {
            *walk = Walk { ptr, step: step as isize * size };
        }
        let way = going(step, base, *n);
        ways.add(way);
        side_by_side &= way != Stride::Any;
    };
    for Leaf { operand, access, size, .. } in &leaves.all {
        let base = match operand {
            Some(operand) => blocks.get(launch.operands[*operand])?.as_ptr(),
            None => std::ptr::null_mut(),
        };
        add(&launch.accesses[*access], base, *size);
    }
    for (dest, size) in launch.dests.iter().zip(&leaves.dests) {
        add(&dest.access, blocks.get(dest.block)?.as_ptr(), *size);
    }
    let Some(prepared) = known.find(ways) else { return Ok(false) };
    let Some(kernel) = prepared.kernel() else { return Ok(false) };
    let time = (*n as u64).saturating_mul(work::cost(&prepared.plan, true)) / 1000;
    if *n > work::COMPILED || time >= SHARED || !side_by_side {
        return Ok(false);
    }
    let (accesses, dests) = walks.split_at(leaves.all.len());
    let row = Row {
        n: *n,
        accesses: accesses.as_ptr(),
        dests: dests.as_ptr(),
        params: launch.params.as_ptr(),
    };
    // SAFETY: the core promises that accesses name elements that exist, and that no point
    // reads what another writes; the code was written for these strides.
    unsafe { kernel.run(&row) };
    Ok(true)
}
