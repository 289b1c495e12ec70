//! Evaluation of one launch: the way of its rows is chosen, its plan found or made, and its items
//! run, on several threads where that pays.
//!
//! Owns [`Evaluator`]. Invariants: a launch changes nothing but its points in its destinations; its
//! bits depend neither on threads nor on the way of its rows.
//!
//! Not here: which programs are ready (`known.rs`), what happens to one item (`work.rs`).

use crate::blocks::Blocks;
use crate::compile::known::Known;
use crate::compile::leaves::Leaf;
use crate::compile::plan::Stride;
use crate::pieces::piece::{Key, Piece, key, pieces};
use crate::run::lone;
use crate::run::work::{self, APART, Work};
use crate::threads::crew::Crew;
use crate::threads::number;
use crate::threads::pool::Pool;
use crate::traversal::axis::{Way, stride};
use crate::traversal::fold::Spread;
use crate::traversal::route::Route;
use crate::traversal::space::{Line, Rows};
use crate::whole;
use gpupy_core::Result;
use gpupy_core::driver::{Evaluated, Launch};
use gpupy_core::ir::{Fingerprint, REDUCE_CHUNK};
use lru::LruCache;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Programs whose plans are kept.
const KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);
/// Evaluates launches.
pub struct Evaluator {
    known: LruCache<Fingerprint, Known, FxBuildHasher>,
    /// Of launches that read at computed numbers, the pieces that they are evaluated in, if any.
    pieces: LruCache<Key, Option<Arc<[Piece]>>, FxBuildHasher>,
    /// The instructions of the largest program.
    limit: u32,
    /// As many as the driver was opened with.
    threads: usize,
    /// Started when there is something to share.
    pool: Option<Pool>,
}

/// The lines of a launch.
type Lines<'a> = SmallVec<[Line<'a>; 8]>;

impl Evaluator {
    pub fn new(limit: u32, threads: usize) -> Evaluator {
        let known = LruCache::with_hasher(KEPT, FxBuildHasher);
        let pieces = LruCache::with_hasher(KEPT, FxBuildHasher);
        Evaluator { known, pieces, limit, threads, pool: None }
    }

    /// Evaluates a launch; tells what was compiled for it.
    pub fn launch(&mut self, blocks: &mut Blocks, launch: &Launch<'_>) -> Result<Evaluated> {
        if launch.program.form.is_whole() {
            let mut crew = Crew { threads: number::now(self.threads), pool: &mut self.pool };
            return whole::launch(blocks, launch, &mut crew);
        }
        if let Some(known) = self.known.get(&launch.fingerprint)
            && lone::run(known, blocks, launch)?
        {
            return Ok(Evaluated { launches: 1, ..Evaluated::default() });
        }
        let mut operands: SmallVec<[(*mut u8, usize); 8]> = SmallVec::new();
        for id in launch.operands {
            operands.push(blocks.named(*id, launch)?);
        }
        let limit = self.limit;
        let make = || Known::of(launch.program, limit);
        let mut known = self.known.try_get_or_insert_mut(launch.fingerprint, make)?;
        if known.numbers.is_some() {
            if let Some(done) = self.in_pieces(blocks, launch, &operands)? {
                return Ok(done);
            }
            known = self.known.try_get_or_insert_mut(launch.fingerprint, make)?;
        }
        let line = |leaf: &Leaf| Line {
            access: &launch.accesses[leaf.access],
            base: leaf.operand.map_or(std::ptr::null_mut(), |operand| operands[operand].0),
            size: leaf.size,
        };
        // Lines may go by it, so it lives longer.
        let fold;
        let mut leaves: Lines<'_> = known.leaves.all.iter().map(line).collect();
        let mut dests: Lines<'_> = SmallVec::new();
        for (dest, size) in launch.dests.iter().zip(&known.leaves.dests) {
            let (base, _) = blocks.named(dest.block, launch)?;
            dests.push(Line { access: &dest.access, base, size: *size });
        }
        let route = Route::of(launch.shape, &known.leaves, &leaves, &dests);
        let Route { way, space, axis, mut variant, .. } = route;
        variant.in_place = launch.dests.iter().any(|dest| launch.operands.contains(&dest.block));
        fold = route.fold;
        let mut spread: SmallVec<[Spread<'_>; 4]> = SmallVec::new();
        let mut parted: SmallVec<[Spread<'_>; 1]> = SmallVec::new();
        if let Some(fold) = &fold {
            let all = fold.spread.iter().map(|leaf| (*leaf, leaves[*leaf]));
            let extent = fold.extent;
            spread.extend(all.map(|(which, line)| Spread { which, line, extent }));
            let all = fold.parted.iter().zip(&dests).enumerate();
            let whole = |(access, line): (_, &Line<'_>)| Line { access, ..*line };
            parted.extend(all.map(|(which, all)| Spread { which, line: whole(all), extent }));
            let lines = leaves.iter_mut().chain(&mut dests);
            lines.zip(&fold.accesses).for_each(|(line, access)| line.access = access);
        }
        let is_apart = |line: &Line<'_>| {
            !line.base.is_null() && stride(line, axis, space[axis]) == Stride::Any
        };
        let apart = leaves.iter().chain(&dests).any(is_apart);
        let before = known.leaves.before;
        let points: usize = launch.shape.iter().product();
        let last = launch.shape.len() - 1;
        let extent = launch.shape[last];
        let in_chunks = way == Some(Way::Along) && axis == last && extent > REDUCE_CHUNK;
        let beyond = in_chunks.then(|| points / extent * (extent % REDUCE_CHUNK));
        let (prepared, done) = known.prepared(launch.program, variant, points, beyond)?;
        let (plan, kernel) = (&prepared.plan, prepared.kernel());
        let lanes = prepared.lanes().filter(|_| in_chunks);
        let mut longest = work::longest(plan, kernel.is_some(), way, axis, launch.shape);
        if apart {
            longest = longest.min(APART);
        }
        if let Some(fold) = &fold {
            // Items begin where rows do, so that what repeats with every row is spread once.
            longest -= longest % fold.extent;
        }
        let work = Work {
            plan,
            kernel,
            lanes,
            shape: if fold.is_some() { &space } else { launch.shape },
            way,
            before,
            rows: Rows::new(&space, axis, longest, apart),
            leaves: &leaves,
            spread: &spread,
            parted: &parted,
            dests: &dests,
            operands: &operands,
            params: launch.params,
        };
        let time = (points as u64).saturating_mul(work.cost()) / 1000;
        let mut crew = Crew { threads: number::now(self.threads), pool: &mut self.pool };
        crew.share(work.rows.items(), time, &|items| work.run(items))?;
        Ok(Evaluated { launches: 1, ..done })
    }

    /// Evaluates a launch piece by piece, if that is how its elements are read with steps.
    fn in_pieces(
        &mut self,
        blocks: &mut Blocks,
        launch: &Launch<'_>,
        operands: &[(*mut u8, usize)],
    ) -> Result<Option<Evaluated>> {
        let limit = self.limit;
        let make = || Known::of(launch.program, limit);
        let known = self.known.try_get_or_insert(launch.fingerprint, make)?;
        let Some(numbers) = &known.numbers else { return Ok(None) };
        let lens: SmallVec<[usize; 8]> = operands.iter().map(|(_, len)| *len).collect();
        let find = || pieces(numbers, launch, &lens);
        let found = self.pieces.get_or_insert(key(numbers, launch, &lens), find);
        let Some(found) = found.clone() else { return Ok(None) };
        let mut done = Evaluated { launches: 1, ..Evaluated::default() };
        for piece in found.iter() {
            let own = Launch {
                program: &piece.program,
                fingerprint: piece.fingerprint,
                shape: &piece.shape,
                accesses: &piece.accesses(launch),
                dests: &piece.dests(launch),
                ..*launch
            };
            let Evaluated { compiled, specialised, .. } = self.launch(blocks, &own)?;
            done.compiled += compiled;
            done.specialised += specialised;
        }
        Ok(Some(done))
    }
}
