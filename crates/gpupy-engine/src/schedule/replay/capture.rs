//! Capture: the actions of a flush are noted, for a recipe.
//!
//! Owns [`Capture`]. It holds no value, so that it does not change the counts of handles. An action that a recipe
//! cannot express (work in host memory, steps that were planned anew, values outside the flush) gives `None`, and ends
//! the capture.
//!
//! Not here: the actions (`recipe.rs`).

use super::recipe::{Action, LaunchTarget, Param, Recipe, RecordedLaunch, TakenBlock};
use crate::graph::passed::PartialRead;
use crate::graph::value::{Input, NodeOp, Value, ValueId, ValueKind};
use crate::memory::tiling::Tile;
use crate::schedule::destination::Destination;
use crate::schedule::lowering::operation_lowering::is_of_chain;
use crate::schedule::passes::demand::Demand;
use crate::schedule::passes::pending_graph::{GraphReads, InputSource, PendingGraph};
use crate::schedule::program::kernel::Kernel;
use crate::schedule::program::plan_cache::KernelPlan;
use crate::schedule::program::structure_cache::Structure;
use crate::schedule::steps::strip_mining::Strips;
use crate::schedule::walk::FusionWalk;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The captured actions of a flush.
pub(crate) struct Capture {
    structure: Structure,
    numbers: FxHashMap<ValueId, InputSource>,
    reads: GraphReads,
    /// Of each value that is a join, whether parts of it are scalars.
    joins: FxHashMap<ValueId, bool>,
    /// Values that are held anyway: something outside holds them, or they are wanted.
    held: Vec<bool>,
    /// Of each value, the elements that are still to be computed.
    missing: Vec<usize>,
    leaves: usize,
    actions: Vec<Action>,
    /// The scalars that are roots of the present step's walks.
    root: Option<Root>,
    walks: u64,
    passes: Vec<(u32, PartialRead)>,
    /// Whether blocks are being filled.
    is_open: bool,
    /// Whether it is for these scalars alone.
    is_exact: bool,
}

/// A scalar that is all of a walk.
#[derive(Clone, Copy)]
enum Root {
    /// That of a value in this place.
    Of(u32, u32),
    /// That of values which are the same everywhere.
    Constant,
}

impl Capture {
    /// The capture of a flush of this structure.
    pub fn of(structure: Structure, demand: &Demand<'_>, below: PendingGraph) -> Capture {
        let wanted = demand.wanted().filter_map(|value| below.number(value.id()));
        let wanted: SmallVec<[u32; 2]> = wanted.collect();
        let mut held = below.outlives;
        wanted.into_iter().for_each(|number| held[number as usize] = true);
        let is_scalar = |input: &Input| matches!(input, Input::Scalar(_));
        let join = |value: &Value| match &value.0.kind {
            ValueKind::Expr { op: NodeOp::Join(_), inputs } => {
                Some((value.id(), inputs.iter().any(is_scalar)))
            }
            _ => None,
        };
        Capture {
            structure,
            held,
            joins: below.values.iter().filter_map(join).collect(),
            missing: below.values.iter().map(Value::len).collect(),
            numbers: below.numbers,
            reads: below.reads,
            leaves: below.leaves.len(),
            actions: Vec::new(),
            root: None,
            walks: 0,
            passes: Vec::new(),
            is_open: false,
            is_exact: false,
        }
    }

    /// The capture of a flush of this structure and these scalars.
    pub fn exactly(structure: Structure, demand: &Demand<'_>, below: PendingGraph) -> Capture {
        Capture { is_exact: true, ..Capture::of(structure, demand, below) }
    }

    fn source(&self, value: ValueId) -> Option<InputSource> {
        self.numbers.get(&value).copied()
    }

    fn number(&self, value: &Value) -> Option<u32> {
        match self.source(value.id()) {
            Some(InputSource::Pending(number)) => Some(number),
            _ => None,
        }
    }

    /// A step for a tile of this value begins.
    pub fn begin(&mut self, value: &Value) -> Option<()> {
        let number = self.number(value)?;
        let ValueKind::Expr { inputs, .. } = &value.0.kind else { return None };
        let scalars = (0..).zip(inputs).filter(|(_, input)| matches!(input, Input::Scalar(_)));
        let scalars: SmallVec<[u32; 2]> = scalars.map(|(place, _)| place).collect();
        let state = value.state();
        let mut operands = state.operands.iter().flatten();
        let is_constant = operands.any(|value| matches!(value.0.kind, ValueKind::Constant(_)));
        self.root = match scalars[..] {
            [] => Some(Root::Constant),
            [place] if !is_constant => Some(Root::Of(number, place)),
            _ => None,
        };
        Some(())
    }

    /// The step is done.
    pub fn end(&mut self) -> Option<()> {
        let passes = std::mem::take(&mut self.passes);
        self.actions.push(Action::Step { walks: std::mem::take(&mut self.walks), passes });
        Some(())
    }

    /// A walk of the step went through a device, and computed these in passing.
    pub fn walked(&mut self, passes: impl Iterator<Item = (ValueId, PartialRead)>) -> Option<()> {
        self.walks += 1;
        for (value, read) in passes {
            let Some(InputSource::Pending(number)) = self.source(value) else { return None };
            self.passes.push((number, read));
        }
        Some(())
    }

    /// A kernel was launched: of a walk, as it was planned, or of none; into the block of an operand where one is
    /// named.
    pub fn launch(
        &mut self,
        of: Option<(&FusionWalk, &KernelPlan)>,
        kernel: &Kernel,
        dests: &[Destination],
        taken: Option<usize>,
    ) -> Option<()> {
        let operands = kernel.operands.iter();
        let operands = operands.map(|(value, part)| Some((self.source(value.id())?, part.clone())));
        let operands = operands.collect::<Option<Vec<_>>>()?;
        let params = match of {
            _ if self.is_exact => kernel.params.iter().copied().map(Param::Bits).collect(),
            Some((walk, planned)) => self.params(walk, planned, &kernel.params)?,
            None if kernel.params.is_empty() => Vec::new(),
            None => return None,
        };
        let goes = self.goes(dests)?;
        let taken = match (taken, &goes) {
            (Some(operand), LaunchTarget::Tiles(tiles)) => {
                Some((operand, self.taking(operands[operand].0, tiles.first()?.0)))
            }
            (Some(_), LaunchTarget::Open(_)) => return None,
            (None, _) => None,
        };
        if let LaunchTarget::Tiles(tiles) = &goes {
            tiles.iter().for_each(|(number, tile)| self.computed(*number, tile));
        }
        let code = kernel.code.clone();
        self.actions.push(Action::Launch(Box::new(RecordedLaunch {
            code,
            operands,
            params,
            goes,
            taken,
        })));
        Some(())
    }

    /// How many actions there are.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// The launches since there were so many actions were made strip by strip.
    pub fn strips(&mut self, mark: usize, strips: &Strips) -> Option<()> {
        let launches = self.actions.drain(mark..).map(|action| match action {
            Action::Launch(launched) => Some(*launched),
            _ => None,
        });
        let launches = launches.collect::<Option<Vec<RecordedLaunch>>>()?;
        self.actions.push(Action::Strips(launches, strips.clone()));
        Some(())
    }

    fn goes(&self, dests: &[Destination]) -> Option<LaunchTarget> {
        let tile = |dest: &Destination| match dest {
            Destination::Tile { value, tile } => Some((self.number(value)?, tile.clone())),
            Destination::Open { .. } => None,
        };
        let place = |dest: &Destination| match dest {
            Destination::Tile { .. } => None,
            Destination::Open { number, whole } => Some((*number, *whole)),
        };
        match dests.first()? {
            Destination::Tile { .. } => {
                dests.iter().map(tile).collect::<Option<_>>().map(LaunchTarget::Tiles)
            }
            Destination::Open { .. } => {
                dests.iter().map(place).collect::<Option<_>>().map(LaunchTarget::Open)
            }
        }
    }

    /// The parameters of a walk's kernel.
    fn params(&self, walk: &FusionWalk, planned: &KernelPlan, bits: &[u64]) -> Option<Vec<Param>> {
        let param = |((node, place), bits): (&(Option<u32>, u32), &u64)| {
            let Some(node) = node else {
                return Some(match self.root? {
                    Root::Of(number, place) => Param::Of(number, place),
                    Root::Constant => Param::Bits(*bits),
                });
            };
            let value = &walk.nodes.get(*node as usize)?.value;
            let is_step = is_of_chain(value);
            let of = if is_step { value.order().0 } else { value.id() };
            let Some(InputSource::Pending(number)) = self.source(of) else { return None };
            // The structure determines which elements of its operands a join chooses.
            if is_step && let Some(has_scalars) = self.joins.get(&of) {
                return (!has_scalars).then_some(Param::Bits(*bits));
            }
            let ValueKind::Expr { op, inputs } = &value.0.kind else { return None };
            let is_scalar = |input: &Input| matches!(input, Input::Scalar(_));
            match (op, inputs.get(*place as usize)) {
                (
                    NodeOp::Apply(_) | NodeOp::Call(_) | NodeOp::Gather,
                    Some(Input::Scalar(scalar)),
                ) => (scalar.bits == *bits).then_some(Param::Of(number, *place)),
                // The other scalars of a walk are values which are the same everywhere.
                (NodeOp::Apply(_) | NodeOp::Call(_) | NodeOp::Gather, Some(_)) => {
                    Some(Param::Bits(*bits))
                }
                // Which part of a join is read stands nowhere.
                (NodeOp::Join(_), _) if !inputs.iter().any(is_scalar) => Some(Param::Bits(*bits)),
                _ => None,
            }
        };
        let all = planned.params.iter().zip(bits).map(param).collect::<Option<Vec<_>>>()?;
        (all.len() == bits.len()).then_some(all)
    }

    /// Blocks were allocated for a tile of these values.
    pub fn open(&mut self, values: &[Value], tile: &Tile) -> Option<()> {
        if self.is_open {
            return None;
        }
        let numbers = values.iter().map(|value| self.number(value)).collect::<Option<_>>()?;
        self.is_open = true;
        self.actions.push(Action::Open(numbers, tile.clone()));
        Some(())
    }

    /// The block of a tile of an old value is written, and becomes a value's.
    pub fn open_old(&mut self, value: &Value, old: &Value, tile: &Tile) -> Option<()> {
        if self.is_open {
            return None;
        }
        let number = self.number(value)?;
        let old = self.taking(self.source(old.id())?, number);
        self.is_open = true;
        self.actions.push(Action::OpenOld { value: number, tile: tile.clone(), old });
        Some(())
    }

    /// The open blocks are filled.
    pub fn close(&mut self, values: &[Value], tile: &Tile) -> Option<()> {
        self.is_open = false;
        for value in values {
            self.computed(self.number(value)?, tile);
        }
        self.actions.push(Action::Close);
        Some(())
    }

    /// A tile was let go.
    pub fn lost(&mut self, value: &Value, tile: &Tile) -> Option<()> {
        let number = self.number(value)?;
        self.missing[number as usize] += tile.range.len();
        self.actions.push(Action::Lose(number, tile.clone()));
        Some(())
    }

    fn computed(&mut self, number: u32, tile: &Tile) {
        let missing = &mut self.missing[number as usize];
        *missing = missing.saturating_sub(tile.range.len());
    }

    /// The handles of a value whose block another value is about to take.
    fn taking(&self, source: InputSource, heir: u32) -> TakenBlock {
        // Values hold their operands until they are computed, or gone.
        let mut living = self.held.clone();
        let mut holding: Vec<u32> = Vec::new();
        for number in (0..self.reads.len() as u32).rev() {
            let place = number as usize;
            if !living[place] || self.missing[place] == 0 {
                continue;
            }
            holding.push(number);
            for read in &self.reads[place] {
                if let InputSource::Pending(read) = read {
                    living[*read as usize] = true;
                }
            }
        }
        let slots = |held: InputSource| {
            let reads = holding.iter().flat_map(|number| &self.reads[*number as usize]);
            reads.filter(|read| **read == held).count()
        };
        // Its readers on the way to the heir: operands before their readers.
        let mut between: SmallVec<[InputSource; 4]> = SmallVec::from_iter([source]);
        for number in holding.iter().rev().filter(|number| **number != heir) {
            if self.reads[*number as usize].iter().any(|read| between.contains(read)) {
                between.push(InputSource::Pending(*number));
            }
        }
        let held = between.into_iter().rev().map(|held| (held, slots(held))).collect();
        TakenBlock { source, held }
    }

    /// The recipe of the captured actions, with its structure.
    pub fn recipe(self) -> (Structure, Recipe) {
        (self.structure, Recipe::of(self.actions, self.reads.len(), self.leaves))
    }
}
