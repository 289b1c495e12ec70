//! Imported blocks: blocks that a device reads in a value's own host memory, where other devices get copies.
//!
//! Owns the choice of what is imported. Invariants: imported memory belongs to a block until the driver has freed the
//! block, or is closed; a writer finds a value's imported memory shared, so it is not written in place; nothing is
//! written into an imported block.
//!
//! Not here: the blocks (`cache/`), drivers that work on host memory ([`Capabilities::host_memory`]).
//!
//! [`Capabilities::host_memory`]: gpupy_core::driver::Capabilities::host_memory

use crate::blocks::cache::BlockCache;
use crate::explain::stats::Stats;
use crate::explain::step::StepAction;
use crate::explain::tracer::Doing;
use crate::graph::value::Value;
use crate::memory::host_buffer::HostBuffer;
use crate::thresholds::T;
use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{DType, ErrorKind, Result};
use std::ops::Range;
use std::sync::Arc;

impl BlockCache {
    /// Whether so many elements of host memory would be imported, if they lay well.
    pub(crate) fn would_import(&self, dtype: DType, len: usize) -> bool {
        self.caps.import_alignment > 0 && len.saturating_mul(dtype.size()) >= T.imported_from
    }

    /// A block over a tile of a value that lies in host memory, which is kept as long as the block; `None`
    /// where a copy is to be made.
    pub(crate) fn imported(
        &mut self,
        value: &Value,
        tile: &Range<usize>,
        stats: &mut Stats,
    ) -> Result<Option<(BlockId, BlockSpec, Arc<HostBuffer>)>> {
        let (dtype, len) = (value.dtype(), tile.len());
        // Pages of external elements are released while a device may still read them.
        if !self.would_import(dtype, len) || value.is_external() {
            return Ok(None);
        }
        let buffer = value.host_buffer()?;
        let bytes = tile.start * dtype.size()..tile.end * dtype.size();
        let memory = buffer.aligned(bytes, self.caps.import_alignment);
        let Some(memory) = memory else { return Ok(None) };
        let spec = BlockSpec { memory: Some(memory), ..BlockSpec::new(dtype, len) };
        let began = self.tracer.clock();
        let block = match self.alloc(spec, stats) {
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(None),
            other => other?,
        };
        stats.bytes_imported += spec.bytes();
        self.tracer.step(|| {
            let doing = Doing::new(StepAction::Import, self.name).reads(value, tile.clone());
            doing.moves(spec.bytes() as usize).since(began)
        });
        Ok(Some((block, spec, buffer)))
    }
}
