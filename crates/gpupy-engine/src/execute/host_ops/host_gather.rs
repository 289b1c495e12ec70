//! Gathers in host memory: the elements of one value at the positions that another value gives.
//!
//! A kernel does a gather itself where it can: it reads the first operand, the positions, where they stand, fused like
//! any other operand; the second, the *table*, is computed first and lies whole in one block. A table that is larger
//! than any block of the device is read in host memory, here. Invariant: positions are inside the table
//! (`fancy_index.rs` makes them so).
//!
//! Not here: the recording of a gather (`context/indexing/gather_recording.rs`), the elements that an index means
//! (`fancy_index.rs`), a gather in a walk (`walk/mod.rs`).

use crate::execute::evaluate::Engine;
use crate::explain::tracer::Doing;
use crate::graph::value::Value;
use crate::memory::access;
use crate::memory::strided::gather;
use crate::memory::tiling::Tile;
use crate::schedule::walk::lost;
use gpupy_core::driver::Access;
use gpupy_core::{DType, Result};

impl Engine {
    /// Gathers a tile in host memory, as the table is larger than the device's blocks; the positions are read so.
    pub fn gather_on_host(&mut self, value: &Value, at: &Access, tile: &Tile) -> Result<()> {
        let operands = value.state().operands.clone();
        let [Some(positions), Some(table)] = operands.as_slice() else {
            return Err(lost(value.id()));
        };
        let reach = access::reach(at, &tile.shape);
        let numbers = self.brought(positions, reach.clone())?;
        let from = self.brought(table, 0..table.len())?;
        let began = self.tracer.clock();
        let (size, width) = (table.dtype().size(), DType::I32.size());
        let numbers = gather(&numbers, width, &access::within(at, &reach), &tile.shape)?;
        let missing = value.state().computed.gaps(tile.range.clone());
        for gap in missing {
            let numbers = numbers.chunks_exact(width).skip(gap.start - tile.range.start);
            value.write_host(gap.clone(), |to| {
                for (to, number) in to.chunks_exact_mut(size).zip(numbers) {
                    let mut bytes = [0; 4];
                    bytes.copy_from_slice(number);
                    // As `gather` of the IR: into the table, whatever the number.
                    let at = i32::from_ne_bytes(bytes).clamp(0, table.len() as i32 - 1) as usize;
                    to.copy_from_slice(&from[at * size..(at + 1) * size]);
                }
                Ok(())
            })?;
            value.mark_computed(gap);
        }
        self.tracer.step(|| {
            let doing =
                Doing::on_host("gather").reads(positions, reach).reads(table, 0..table.len());
            let doing = doing.writes(value, tile.range.clone());
            doing.operations(tile.range.len() as u64).since(began)
        });
        Ok(())
    }
}
