//! An open device, as schedules see it: its blocks, and the facts known of its driver.
//!
//! Owns [`OpenDevice`]. Facts that are found once (lowerings of operations, programs, plans) are kept as long as the
//! device is open; the rest belongs to the present evaluation.
//!
//! Not here: the blocks (`blocks/`), opening (`context/driver_selection.rs`).

use super::compiled::compiled_flush::CompiledFlush;
use super::program::eager_programs::EagerPrograms;
use crate::blocks::cache::{BlockCache, BlockPart};
use crate::graph::value::{Value, ValueId};
use crate::memory::ranges::Ranges;
use crate::memory::tiling::Tile;
use crate::schedule::compiled::flush_cache::{FlushCache, Structure};
use crate::schedule::lowering::operation_lowering::{
    FunctionLowerings, LoweredSteps, OperationLowerings,
};
use crate::schedule::passes::fusion::Fates;
use crate::schedule::passes::others::Others;
use crate::schedule::passes::reduction_groups::ReductionGroups;
use crate::schedule::program::refusals::Refusals;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

/// An open driver with its blocks, and the facts found about it.
pub(crate) struct OpenDevice {
    pub blocks: BlockCache,
    /// How the driver does operations.
    pub ways: OperationLowerings,
    pub functions: FunctionLowerings,
    /// The programs of eager launches.
    pub programs: EagerPrograms,
    /// The programs that the driver did not take.
    pub refusals: Refusals,
    /// What flushes do.
    pub flushes: FlushCache,
    /// Whether that is kept.
    pub keeps_flushes: bool,
    /// The facts of the flush that is being compiled.
    pub flush: FlushFacts,
    /// Nodes of walks that were made since this was asked for last.
    pub walked: Cell<u64>,
}

/// The facts of a device about the flush that is being compiled.
#[derive(Default)]
pub(crate) struct FlushFacts {
    /// Values that are computed on another device.
    pub elsewhere: FxHashSet<ValueId>,
    /// The fates of its values.
    pub fates: Arc<Fates>,
    /// Which reductions go together.
    pub together: Arc<ReductionGroups>,
    /// Pending values that it was not asked for.
    pub others: Arc<Others>,
    /// Values that will be asked for after it.
    pub next: Vec<Value>,
    /// Other needs of the step that needs the value for which a step is being found.
    pub fellows: Vec<Value>,
    /// The steps of expanded operations.
    pub steps: LoweredSteps,
    /// The node, by its signature, at which the walk was cut last that could not be done: the next one is cut alike, so
    /// that its pieces are the same programs.
    pub last_cut: Option<u64>,
    /// The tiles that the steps found so far will have computed.
    pub promised: Promised,
    /// Those of the steps that are commands by now.
    pub recorded: Promised,
    /// The pieces of wanted reductions that were found to need nothing.
    pub complete_pieces: CompletePieces,
}

impl FlushFacts {
    /// Only what is recorded counts as there, until `and_promised` is given what this gives.
    pub fn only_recorded(&mut self) -> Promised {
        std::mem::replace(&mut self.promised, std::mem::take(&mut self.recorded))
    }

    /// Steps that are no commands yet compute nothing.
    pub fn promise_recorded(&mut self) {
        self.promised = self.recorded.clone();
        self.complete_pieces = CompletePieces::default();
    }

    /// What the steps found so far will have computed counts as there again.
    pub fn and_promised(&mut self, promised: Promised) {
        self.recorded = std::mem::replace(&mut self.promised, promised);
    }
}

/// How far the pieces of each reduction's tile, with the values that are combined, need nothing: pieces are walked in
/// their order, and each wants what it needs first, so that a tile is asked about as often as it has pieces.
#[derive(Default)]
pub(crate) struct CompletePieces(FxHashMap<(ValueId, usize, SmallVec<[ValueId; 4]>), usize>);

impl CompletePieces {
    /// The place of the first piece of a tile that may need something.
    pub fn known(&self, of: &(ValueId, usize, SmallVec<[ValueId; 4]>)) -> usize {
        self.0.get(of).copied().unwrap_or(0)
    }

    /// Notes that all pieces before this place need nothing.
    pub fn note(&mut self, of: (ValueId, usize, SmallVec<[ValueId; 4]>), next: usize) {
        self.0.insert(of, next);
    }
}

/// Elements that will be computed by steps that are not done yet.
#[derive(Clone, Default)]
pub(crate) struct Promised(FxHashMap<ValueId, Ranges>);

impl Promised {
    /// Adds the elements that a step will compute.
    pub fn insert(&mut self, value: ValueId, range: Range<usize>) {
        self.0.entry(value).or_default().insert(range);
    }

    /// Whether anything of a value is promised.
    pub fn has(&self, value: ValueId) -> bool {
        self.0.contains_key(&value)
    }

    /// Whether these positions of a value are computed or promised.
    pub fn complete(&self, value: ValueId, computed: &Ranges, range: Range<usize>) -> bool {
        self.first_gap(value, computed, range).is_none()
    }

    /// The first of these positions of a value that is neither computed nor promised.
    pub fn first_gap(
        &self,
        value: ValueId,
        computed: &Ranges,
        range: Range<usize>,
    ) -> Option<usize> {
        let mut first = computed.first_gap(range.clone())?;
        let Some(promised) = self.0.get(&value) else { return Some(first) };
        loop {
            let next = promised.first_gap(first..range.end)?;
            if next == first {
                return Some(first);
            }
            first = computed.first_gap(next..range.end)?;
        }
    }
}

impl OpenDevice {
    /// A device without known facts.
    pub fn new(blocks: BlockCache) -> OpenDevice {
        OpenDevice {
            blocks,
            ways: OperationLowerings::default(),
            functions: FunctionLowerings::default(),
            programs: EagerPrograms::default(),
            refusals: Refusals::default(),
            flushes: FlushCache::default(),
            keeps_flushes: true,
            flush: FlushFacts::default(),
            walked: Cell::new(0),
        }
    }

    /// Whether positions of a value are computed, or will be by the steps before.
    pub fn is_there(&self, value: &Value, range: Range<usize>) -> bool {
        self.flush.promised.complete(value.id(), &value.state().computed, range)
    }

    /// As `is_there`, of all of a value.
    pub fn is_all_there(&self, value: &Value) -> bool {
        self.is_there(value, 0..value.len())
    }

    /// Forgets the flush that was compiled.
    pub fn forget_flush(&mut self) {
        self.flush = FlushFacts::default();
        self.blocks.expect_no_more();
    }

    /// Forgets what was found of a flush that is compiled anew, but for the steps that its walks left.
    pub fn forget_all_but_steps(&mut self) {
        let steps = std::mem::take(&mut self.flush.steps);
        self.forget_flush();
        self.flush.steps = steps;
    }

    /// Begins to compile a flush with these fates, reduction groups, other pending values, and further wanted values.
    pub fn begin(
        &mut self,
        (fates, together, others): (&Arc<Fates>, &Arc<ReductionGroups>, &Arc<Others>),
        next: &[Value],
    ) {
        let (fates, together, others) = (fates.clone(), together.clone(), others.clone());
        let next = next.to_vec();
        self.forget_all_but_steps();
        self.flush =
            FlushFacts { fates, together, others, next, ..std::mem::take(&mut self.flush) };
    }

    /// An evaluation begins: what failed before may succeed.
    pub fn begin_evaluation(&mut self) {
        self.blocks.begin();
        self.refusals.begin();
    }

    /// Lets go of a tile of a value that is pending otherwise, unless it is in host memory; whether it is gone.
    pub fn lose(&mut self, value: &Value, tile: &Tile) -> bool {
        if value.state().on_host.covers(tile.range.clone()) {
            return false;
        }
        self.blocks.tracer.frees(value);
        self.blocks.forget(&(value.id(), BlockPart::Tile(tile.number)));
        value.mark_lost(tile.range.clone());
        true
    }

    /// What a flush of this structure does, if it is known and to be done again.
    pub fn known_flush(&mut self, structure: &Structure) -> Option<Arc<CompiledFlush>> {
        // A listener is told of planning, too.
        self.flushes.find(structure).filter(|_| !self.blocks.tracer.listens())
    }
}

impl Deref for OpenDevice {
    type Target = BlockCache;

    fn deref(&self) -> &BlockCache {
        &self.blocks
    }
}

impl DerefMut for OpenDevice {
    fn deref_mut(&mut self) -> &mut BlockCache {
        &mut self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_computed_or_promised() {
        let mut promised = Promised::default();
        let mut computed = Ranges::default();
        computed.insert(0..8);
        computed.insert(16..24);
        assert_eq!(promised.first_gap(1, &computed, 0..32), Some(8));
        promised.insert(1, 8..16);
        assert!(promised.complete(1, &computed, 4..24));
        assert_eq!(promised.first_gap(1, &computed, 0..32), Some(24));
        promised.insert(1, 24..28);
        assert_eq!(promised.first_gap(1, &computed, 0..32), Some(28));
        promised.insert(1, 28..32);
        assert!(promised.complete(1, &computed, 0..32));
        // Of another value nothing is said.
        assert!(!promised.complete(2, &computed, 4..24));
        let promised = Promised::default();
        assert_eq!(promised.first_gap(1, &computed, 4..24), Some(8));
    }
}
