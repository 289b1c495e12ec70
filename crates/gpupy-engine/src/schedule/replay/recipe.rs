//! Recipes: the actions of a flush, without its values and scalars.
//!
//! Owns [`Recipe`] and its [`Action`]s, which name values by their numbers in the flush. Invariant: a recipe is of a
//! flush that went as planned, so that a flush of the same structure needs no schedule: it does the same on its own
//! values.
//!
//! Not here: the structure of a flush (`flush_structure.rs`), how a recipe is captured (`capture.rs`), performing it
//! (`execute/replay.rs`).

use crate::blocks::cache::BlockPart;
use crate::graph::passed::PartialRead;
use crate::memory::tiling::Tile;
use crate::schedule::passes::pending_graph::InputSource;
use crate::schedule::program::kernel::KernelCode;
use crate::schedule::program::structure_cache::Weighed;
use crate::schedule::steps::strip_mining::Strips;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The actions of a flush, one after another.
pub(crate) struct Recipe {
    pub actions: Vec<Action>,
    /// The values and leaves whose last use is each action, so that their handles can be dropped after it: first those
    /// without a use, then those of each action.
    pub last: Vec<SmallVec<[InputSource; 4]>>,
}

/// Something that was done.
pub(crate) enum Action {
    /// A kernel was launched.
    Launch(Box<RecordedLaunch>),
    /// Kernels were launched strip by strip, each into a tile.
    Strips(Vec<RecordedLaunch>, Strips),
    /// Blocks for a tile of each of these values were allocated, to be filled by the launches that follow.
    Open(SmallVec<[u32; 1]>, Tile),
    /// The block of a tile of an old value became that of a value that is the old one with other elements, by the
    /// launches that follow.
    OpenOld { value: u32, tile: Tile, old: TakenBlock },
    /// The blocks are filled.
    Close,
    /// A tile was let go that nothing else needs.
    Lose(u32, Tile),
    /// A step was done, of so many walks; they computed these values in passing.
    Step { walks: u64, passes: Vec<(u32, PartialRead)> },
}

/// A launch.
pub(crate) struct RecordedLaunch {
    pub code: Arc<KernelCode>,
    pub operands: Vec<(InputSource, BlockPart)>,
    pub params: Vec<Param>,
    pub goes: LaunchTarget,
    /// The operand whose block it wrote into.
    pub taken: Option<(usize, TakenBlock)>,
}

/// Where the results of a launch go.
pub(crate) enum LaunchTarget {
    /// To new tiles.
    Tiles(SmallVec<[(u32, Tile); 1]>),
    /// Into open blocks, each by its place among them; and whether all of it.
    Open(SmallVec<[(usize, bool); 1]>),
}

/// A parameter of a launch.
#[derive(Clone, Copy)]
pub(crate) enum Param {
    /// The scalar that a value reads in this place.
    Of(u32, u32),
    /// Bits that are part of the structure.
    Bits(u64),
}

/// A value whose block was taken: it had no handles but the known ones.
pub(crate) struct TakenBlock {
    pub source: InputSource,
    /// The value and its pending readers, newest first, each with the operations that held it.
    pub held: SmallVec<[(InputSource, usize); 2]>,
}

impl Recipe {
    /// The recipe of these actions, for a flush of so many values and leaves.
    pub fn of(actions: Vec<Action>, values: usize, leaves: usize) -> Recipe {
        let pending = (0..values as u32).map(InputSource::Pending);
        let all = pending.chain((0..leaves as u32).map(InputSource::Leaf));
        let mut lasts: FxHashMap<InputSource, usize> = all.map(|source| (source, 0)).collect();
        for (place, action) in (1..).zip(&actions) {
            action.name(&mut |source| {
                lasts.insert(source, place);
            });
        }
        let mut last = vec![SmallVec::new(); actions.len() + 1];
        lasts
            .into_iter()
            .for_each(|(source, place): (InputSource, usize)| last[place].push(source));
        Recipe { actions, last }
    }
}

impl Action {
    /// Names the values of which it needs a handle.
    fn name(&self, names: &mut impl FnMut(InputSource)) {
        match self {
            Action::Launch(launched) => launched.name(names),
            Action::Strips(launches, _) => launches.iter().for_each(|one| one.name(names)),
            // An open block holds its values until it is closed.
            Action::Open(values, _) => {
                values.iter().for_each(|own| names(InputSource::Pending(*own)))
            }
            Action::OpenOld { value, old, .. } => {
                names(InputSource::Pending(*value));
                old.held.iter().for_each(|(held, _)| names(*held));
            }
            Action::Close => {}
            Action::Lose(number, _) => names(InputSource::Pending(*number)),
            Action::Step { passes, .. } => {
                passes.iter().for_each(|(number, _)| names(InputSource::Pending(*number)));
            }
        }
    }
}

impl RecordedLaunch {
    fn name(&self, names: &mut impl FnMut(InputSource)) {
        if let LaunchTarget::Tiles(tiles) = &self.goes {
            tiles.iter().for_each(|(number, _)| names(InputSource::Pending(*number)));
        }
        self.operands.iter().for_each(|(operand, _)| names(*operand));
        for param in &self.params {
            if let Param::Of(number, _) = param {
                names(InputSource::Pending(*number));
            }
        }
        if let Some((_, taken)) = &self.taken {
            taken.held.iter().for_each(|(held, _)| names(*held));
        }
    }
}

impl Weighed for Recipe {
    fn words(&self) -> usize {
        let of_launch = |launched: &RecordedLaunch| {
            let insts = launched.code.program.insts.len();
            2 * insts + 4 * launched.operands.len() + 2 * launched.params.len() + 64
        };
        let of_action = |action: &Action| match action {
            Action::Launch(launched) => of_launch(launched),
            Action::Strips(launches, _) => launches.iter().map(of_launch).sum(),
            Action::Step { passes, .. } => 4 + 8 * passes.len(),
            _ => 32,
        };
        self.actions.iter().map(of_action).sum::<usize>() + 4 * self.last.len()
    }
}
