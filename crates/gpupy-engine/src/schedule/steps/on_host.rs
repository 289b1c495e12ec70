//! Needs of steps in host memory: the elements that they read and that are not there yet.
//!
//! Not here: how they are done (`execute/host_ops/host_scatter.rs`, `execute/host_ops/host_gather.rs`,
//! `execute/host_ops/host_nonzero.rs`).

use crate::graph::value::{Value, ValueKind};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::walk::{Needs, lost};
use gpupy_core::Result;
use gpupy_core::driver::Access;
use std::ops::Range;

/// Those of these positions that are not there.
pub(super) fn missing(
    device: &OpenDevice,
    reads: impl IntoIterator<Item = (Value, Range<usize>)>,
) -> Needs {
    let is_missing =
        |(value, range): &(Value, Range<usize>)| !device.is_there(value, range.clone());
    reads.into_iter().filter(is_missing).collect()
}

/// The missing elements of all operands of an expression.
///
/// # Errors
/// - `Lost`: its operands are not held any more.
pub(super) fn missing_operands(device: &OpenDevice, value: &Value) -> Result<Needs> {
    let operands = value.state().operands.clone();
    match &value.0.kind {
        ValueKind::Expr { inputs, .. } if operands.len() == inputs.len() => {
            let reads = operands.into_iter().flatten();
            Ok(missing(
                device,
                reads.map(|operand| {
                    let all = 0..operand.len();
                    (operand, all)
                }),
            ))
        }
        _ => Err(lost(value.id())),
    }
}

/// How a tile of a gather reads its positions, and the missing elements of these and of the table.
///
/// # Errors
/// As of `missing_operands`.
pub(super) fn gathering(
    device: &OpenDevice,
    value: &Value,
    tile: &Tile,
) -> Result<(Access, Needs)> {
    let operands = value.state().operands.clone();
    let (ValueKind::Expr { inputs, .. }, [Some(positions), Some(table)]) =
        (&value.0.kind, operands.as_slice())
    else {
        return Err(lost(value.id()));
    };
    let mut at = inputs[0].access(value.shape());
    for (stride, first) in at.strides.iter().zip(&tile.origin) {
        at.offset += stride * *first as i64;
    }
    let reach = access::reach(&at, &tile.shape);
    let needs = missing(device, [(positions.clone(), reach), (table.clone(), 0..table.len())]);
    Ok((at, needs))
}
