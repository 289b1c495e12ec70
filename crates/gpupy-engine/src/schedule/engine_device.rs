//! An open device, as schedules see it: its blocks, and the facts known of its driver.
//!
//! Owns [`OpenDevice`]. Facts that are found once (lowerings of operations, programs, plans) are kept as long as the
//! device is open; the rest belongs to the present evaluation.
//!
//! Not here: the blocks (`blocks/`), opening (`context/driver_selection.rs`).

use super::program::eager_programs::EagerPrograms;
use super::program::plan_cache::PlanCache;
use super::replay::recipe::Recipe;
use crate::blocks::cache::{BlockCache, BlockPart};
use crate::graph::value::{Value, ValueId};
use crate::memory::ranges::Ranges;
use crate::memory::tiling::Tile;
use crate::schedule::lowering::operation_lowering::{
    FunctionLowerings, LoweredSteps, OperationLowerings,
};
use crate::schedule::passes::fusion::Fates;
use crate::schedule::passes::others::Others;
use crate::schedule::passes::reduction_groups::ReductionGroups;
use crate::schedule::program::refusals::Refusals;
use crate::schedule::program::structure_cache::{Structure, StructureCache};
use crate::schedule::walk::halo::Halos;
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
    /// The plans of walks.
    pub plans: PlanCache,
    /// The programs that the driver did not take.
    pub refusals: Refusals,
    /// The recipes of flushes.
    pub recipes: StructureCache<Recipe>,
    /// Values that the present evaluation computes on another device.
    pub elsewhere: FxHashSet<ValueId>,
    /// The fates of the values of the present evaluation.
    pub fates: Arc<Fates>,
    /// Which reductions go together in the present evaluation.
    pub together: Arc<ReductionGroups>,
    /// Pending values that the present evaluation was not asked for.
    pub others: Arc<Others>,
    /// Values that will be asked for after the present evaluation.
    pub next: Vec<Value>,
    /// Other needs of the step that needs the value for which a step is being found.
    pub fellows: Vec<Value>,
    /// Copies that the present evaluation reads in place of rotated values.
    pub halos: Halos,
    /// The steps of expanded operations in the present evaluation.
    pub steps: LoweredSteps,
    /// The node, by its signature, at which the walk was cut last that a pause ended: the next one is cut alike, so
    /// that its pieces are the same programs.
    pub last_cut: Option<u64>,
    /// Nodes of walks that were made since this was asked for last.
    pub walked: Cell<u64>,
    /// The tiles that earlier steps will have computed.
    pub promised: Promised,
    /// The pieces of wanted reductions that were found to need nothing.
    pub complete_pieces: CompletePieces,
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
#[derive(Default)]
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
            plans: PlanCache::default(),
            refusals: Refusals::default(),
            recipes: StructureCache::default(),
            elsewhere: FxHashSet::default(),
            fates: Arc::default(),
            together: Arc::default(),
            others: Arc::default(),
            next: Vec::new(),
            fellows: Vec::new(),
            halos: Halos::default(),
            steps: LoweredSteps::default(),
            last_cut: None,
            walked: Cell::new(0),
            promised: Promised::default(),
            complete_pieces: CompletePieces::default(),
        }
    }

    /// Whether positions of a value are computed, or will be by the steps before.
    pub fn is_there(&self, value: &Value, range: Range<usize>) -> bool {
        self.promised.complete(value.id(), &value.state().computed, range)
    }

    /// As `is_there`, of all of a value.
    pub fn is_all_there(&self, value: &Value) -> bool {
        self.is_there(value, 0..value.len())
    }

    /// Forgets the promises of steps: they are done, or never will be.
    pub fn promise_no_more(&mut self) {
        self.promised.0.clear();
        self.blocks.expect_no_more();
    }

    /// Forgets what was found for steps that are not done, and their promises.
    pub fn forget_steps(&mut self) {
        self.promise_no_more();
        self.complete_pieces = CompletePieces::default();
    }

    /// Begins an evaluation with these fates, reduction groups, other pending values, and values asked for next;
    /// forgets the facts of the evaluation before.
    pub fn begin(
        &mut self,
        (fates, together, others): (&Arc<Fates>, &Arc<ReductionGroups>, &Arc<Others>),
        next: &[Value],
    ) {
        self.begin_anew();
        self.fates = fates.clone();
        self.together = together.clone();
        self.others = others.clone();
        self.next = next.to_vec();
    }

    /// Begins an evaluation that decides nothing.
    pub fn begin_anew(&mut self) {
        self.blocks.begin();
        self.refusals.begin();
        self.elsewhere.clear();
        self.promised.0.clear();
        self.complete_pieces = CompletePieces::default();
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

    /// The recipe of a flush of this structure, if it is to be replayed.
    pub fn known_recipe(&mut self, structure: &Structure) -> Option<Arc<Recipe>> {
        // A listener is told of planning, too.
        let recipe = self.recipes.find(structure).filter(|_| !self.blocks.tracer.listens())?;
        self.begin_anew();
        Some(recipe)
    }

    /// The facts with which the present evaluation goes on after a pause.
    pub fn lay_aside(&mut self) -> LaidAside {
        LaidAside {
            halos: std::mem::take(&mut self.halos),
            steps: std::mem::take(&mut self.steps),
            next: std::mem::take(&mut self.next),
        }
    }

    /// Takes up again what was laid aside.
    pub fn take_up(&mut self, facts: LaidAside) {
        (self.halos, self.steps, self.next) = (facts.halos, facts.steps, facts.next);
    }
}

/// The facts of a device about an evaluation that pauses, which hold values that nothing else may hold.
#[derive(Default)]
pub(crate) struct LaidAside {
    halos: Halos,
    steps: LoweredSteps,
    next: Vec<Value>,
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
