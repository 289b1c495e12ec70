//! Library operations in host memory: scans, sorts, matrix products, and routines by their references.
//!
//! Invariant: results are those of the kernels, but for routines whose bits depend on the driver.
//!
//! Not here: which operands are read, and where the operation is done (`schedule/steps/library_step.rs`), kernels
//! (`schedule/commands/library_commands.rs`), the steps of a scan and other recording (`record/library_recording.rs`).

use crate::execute::evaluate::Engine;
use crate::explain::tracer::Doing;
use crate::graph::library_op::LibraryOp;
use crate::graph::value::{NodeOp, Value};
use crate::memory::access;
use crate::memory::strided;
use crate::schedule::cost::operations;
use crate::schedule::steps::LibraryStep;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::memory;
use gpupy_core::op_eval::whole::{product, scanned, sorted};
use gpupy_core::shape::{contiguous_strides, size_of};
use gpupy_core::{DType, Error, ErrorKind, Result};
use smallvec::{SmallVec, smallvec};

impl Engine {
    /// Computes a box of whole rows in host memory.
    pub(in crate::execute) fn whole_on_host(
        &mut self,
        value: &Value,
        LibraryStep { whole, origin, extents, reads, .. }: &LibraryStep,
    ) -> Result<()> {
        let whole = *whole;
        for read in reads {
            self.bring_to_host(&read.value, read.reach())?;
        }
        self.make_way(value, &(0..size_of(extents)))?;
        let began = self.tracer.clock();
        let mut given: SmallVec<[Vec<u8>; 2]> = smallvec![];
        for (which, read) in reads.iter().enumerate() {
            let reach = read.reach();
            let bytes = self.brought(&read.value, reach.clone())?;
            let mut space = read.space.clone();
            if let LibraryOp::MatMul(_) = whole {
                // Without the axis of the other operand's.
                let other = space.len() - 2 - which;
                space[other] = 1;
            }
            let (size, walk) = (read.value.dtype().size(), access::within(&read.access, &reach));
            given.push(strided::gather(&bytes, size, &walk, &space)?);
        }
        let dtype = reads[0].value.dtype();
        let bytes = match whole {
            LibraryOp::MatMul(k) => products(dtype, extents, &given, k)?,
            LibraryOp::Routine(call) => Some(call.evaluated(dtype, &given[0], extents)?),
            _ => in_rows(whole, dtype, extents, &given)?,
        };
        let bytes = bytes
            .ok_or_else(|| Error::new(ErrorKind::Unsupported, whole.name()).with("dtype", dtype))?;
        let steps = contiguous_strides(value.shape());
        let first: usize = steps.iter().zip(origin).map(|(s, o)| *s as usize * o).sum();
        let size = value.dtype().size();
        let all = first..first + bytes.len() / size;
        let missing = value.state().computed.gaps(all.clone());
        for gap in missing {
            value.write_host(gap.clone(), |to| {
                to.copy_from_slice(&bytes[(gap.start - first) * size..(gap.end - first) * size]);
                Ok(())
            })?;
            value.mark_computed(gap);
        }
        self.tracer.step(|| {
            let mut doing = Doing::on_host(whole.name());
            for read in reads {
                doing = doing.reads(&read.value, read.reach());
            }
            let operations = operations(&NodeOp::Whole(whole), value.shape(), all.len());
            doing.writes(value, all).operations(operations as u64).since(began)
        });
        Ok(())
    }
}

/// The results of rows; `None` where the operation does not combine the dtype.
fn in_rows(
    whole: LibraryOp,
    dtype: DType,
    extents: &[usize],
    given: &[Vec<u8>],
) -> Result<Option<Vec<u8>>> {
    let n = extents.last().copied().unwrap_or(1);
    let size = dtype.size();
    let result = if let LibraryOp::ArgSort = whole { DType::I32.size() } else { size };
    let mut bytes = memory::with_room(given[0].len() / size * result)?;
    for (number, row) in given[0].chunks_exact(n * size).enumerate() {
        bytes.extend(match whole {
            LibraryOp::Scan(op) => {
                let count = n.div_ceil(REDUCE_CHUNK) * size;
                let starts = &given[1][number * count..][..count];
                let Some(row) = scanned(op, dtype, row, starts)? else { return Ok(None) };
                row
            }
            _ => sorted(dtype, row, whole == LibraryOp::ArgSort)?,
        });
    }
    Ok(Some(bytes))
}

/// The products of a stack of matrices, gathered one behind the other for each operand; `None` where the dtype
/// has none.
fn products(
    dtype: DType,
    extents: &[usize],
    given: &[Vec<u8>],
    k: usize,
) -> Result<Option<Vec<u8>>> {
    let (stack, matrix) = extents.split_at(extents.len() - 2);
    let mut bytes = memory::with_room(size_of(extents) * dtype.size())?;
    for number in 0..size_of(stack) {
        let part = |which: usize| {
            let len = matrix[which] * k * dtype.size();
            &given[which][number * len..][..len]
        };
        let Some(product) = product(dtype, (part(0), part(1)), k)? else { return Ok(None) };
        bytes.extend(product);
    }
    Ok(Some(bytes))
}
