//! Array contraction: a result that only the kernels of the same strips read takes the memory of one strip.
//!
//! A stereo matching stores sixteen images of differences, which its last kernel reads. Strip by strip they never leave
//! the cache: each strip writes them where the strip before wrote its own.
//!
//! Owns the rule which results are contracted. Invariants: nothing reads a contracted result after its strips, and a
//! kernel reads no rows of it but those of the strip. The value stays pending, so that whatever asks for it nonetheless
//! computes it.
//!
//! Not here: which kernels have strips (`strip_mining.rs`), their blocks (`execute/strip_launches.rs`).

use super::row_kernel::{RowKernel, loads};
use crate::graph::value::{Value, ValueId};
use gpupy_core::driver::Access;
use gpupy_core::op::Op;
use smallvec::{SmallVec, smallvec};

/// The results of a group that are contracted.
pub(super) type ContractedValues = SmallVec<[ValueId; 16]>;

/// Of kernels over so many rows, the results that are contracted; `is_last` tells whether nothing else reads one.
pub(super) fn contracted(
    group: &[RowKernel<'_>],
    rows: usize,
    is_last: impl Fn(&Value) -> bool,
) -> ContractedValues {
    let results = group.iter().flat_map(|given| &given.tiles);
    let may_be = results.filter(|(value, tile)| {
        let (id, row) = (value.id(), tile.range.len() / rows);
        is_last(value) && group.iter().all(|reader| stays_in_rows(reader, id, rows, row))
    });
    let mut all: ContractedValues = may_be.map(|(value, _)| value.id()).collect();
    while let Some(mixed) = group.iter().find_map(|given| mixed(given, &all)) {
        all.retain(|value| *value != mixed);
    }
    all
}

/// Whether a kernel reads, of a value with `row` elements a row, only the rows of its own points.
fn stays_in_rows(reader: &RowKernel<'_>, value: ValueId, rows: usize, row: usize) -> bool {
    let kernel = reader.kernel;
    let points = kernel.space[0] / rows;
    let is_inside = |access: &Access| {
        let (mut low, mut high) = (access.offset, access.offset);
        let extents = std::iter::once(points).chain(kernel.space[1..].iter().copied());
        for (stride, extent) in access.strides.iter().zip(extents) {
            let reach = stride * (extent as i64 - 1);
            (low, high) = (low + reach.min(0), high + reach.max(0));
        }
        access.strides[0] * points as i64 == row as i64 && low >= 0 && high < row as i64
    };
    let numbers = (0..kernel.operands.len()).filter(|k| kernel.operands[*k].0.id() == value);
    numbers
        .flat_map(|number| loads(kernel, number))
        .all(|inst| inst.op == Op::Load && is_inside(&kernel.accesses[inst.args[1] as usize]))
}

/// A contracted value that a kernel reads by an access of another one or of an index: both would have to be moved from
/// strip to strip, and not.
fn mixed(given: &RowKernel<'_>, contracted: &[ValueId]) -> Option<ValueId> {
    let kernel = given.kernel;
    let mut staying: SmallVec<[Option<ValueId>; 32]> = smallvec![None; kernel.accesses.len()];
    let mut moved: SmallVec<[bool; 32]> = smallvec![false; kernel.accesses.len()];
    for (access, operand) in reads(given) {
        let value = operand.map(|number| kernel.operands[number].0.id());
        match value.filter(|value| contracted.contains(value)) {
            Some(value) => staying[access] = Some(value),
            None => moved[access] = true,
        }
    }
    staying.into_iter().zip(moved).find_map(|(value, moved)| value.filter(|_| moved))
}

/// The accesses that a kernel uses, each with the operand that it reads by it; none for an index.
fn reads(given: &RowKernel<'_>) -> impl Iterator<Item = (usize, Option<usize>)> {
    given.kernel.program.insts.iter().filter_map(|inst| match inst.op {
        Op::Load => Some((inst.args[1] as usize, Some(inst.args[0] as usize))),
        Op::Index => Some((inst.args[0] as usize, None)),
        _ => None,
    })
}

/// The accesses by which a kernel reads contracted values, which stay where they are from strip to strip.
pub(super) fn staying(given: &RowKernel<'_>, contracted: &[ValueId]) -> SmallVec<[usize; 8]> {
    let is_contracted = |number: usize| contracted.contains(&given.kernel.operands[number].0.id());
    let all = reads(given).filter(|(_, operand)| operand.is_some_and(is_contracted));
    let mut all: SmallVec<[usize; 8]> = all.map(|(access, _)| access).collect();
    all.sort_unstable();
    all.dedup();
    all
}
