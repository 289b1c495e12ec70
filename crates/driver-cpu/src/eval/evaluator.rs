//! Evaluation of one launch: it chooses the loop order, finds or compiles the program's plan, and runs its
//! items, on several threads where that pays.
//!
//! Owns [`Evaluator`]. Invariants: a launch writes nothing but its points in its destinations; its bits depend
//! neither on the number of threads nor on the loop order.
//!
//! Not here: the cache of compiled programs (`program_cache.rs`), what one item computes (`launch_items.rs`).

use crate::blocks::Blocks;
use crate::compile::inputs::RowInput;
use crate::compile::program_cache::CachedProgram;
use crate::compile::row_plan::Stride;
use crate::eval::copied_runs::CopiedRuns;
use crate::eval::repeated_axes::RepeatedAxes;
use crate::index_split::launch_box::{LaunchBox, SplitKey};
use crate::library_ops;
use crate::routines::FourierPlans;
use crate::run::few_rows;
use crate::run::launch_items::{self, LaunchItems};
use crate::threads::executor::Executor;
use crate::threads::thread_count;
use crate::threads::thread_pool::ThreadPool;
use crate::thresholds::T;
use crate::traversal::axis_choice::{ReduceOrder, stride};
use crate::traversal::coalesce::ShortRowCopy;
use crate::traversal::iteration_space::{IterationSpace, StridedAccess};
use crate::traversal::loop_order::LoopOrder;
use gpupy_core::Result;
use gpupy_core::driver::{Evaluated, Launch};
use gpupy_core::ir::{Fingerprint, REDUCE_CHUNK};
use gpupy_jit::GatherTable;
use lru::LruCache;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Programs whose plans are kept.
const KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);
/// Evaluates launches.
pub struct Evaluator {
    known: LruCache<Fingerprint, CachedProgram, FxBuildHasher>,
    /// Index-set splits of launches with numbers in pieces: the boxes in which each is evaluated, or `None` where it is
    /// not split.
    pub(super) pieces: LruCache<SplitKey, Option<Arc<[LaunchBox]>>, FxBuildHasher>,
    /// The instructions of the largest program.
    limit: u32,
    /// As many as the driver was opened with.
    pub(super) threads: usize,
    /// Memory for what the map of a reduction stores.
    pub(super) room: Vec<u64>,
    /// The plans of Fourier transforms.
    plans: FourierPlans,
    /// Started when there is something to share.
    pool: Option<ThreadPool>,
}

/// The lines of a launch.
type AccessList<'a> = SmallVec<[StridedAccess<'a>; 8]>;

impl Evaluator {
    pub fn new(limit: u32, threads: usize) -> Evaluator {
        let known = LruCache::with_hasher(KEPT, FxBuildHasher);
        let pieces = LruCache::with_hasher(KEPT, FxBuildHasher);
        Evaluator {
            known,
            pieces,
            limit,
            threads,
            room: Vec::new(),
            plans: FourierPlans::default(),
            pool: None,
        }
    }

    /// Evaluates a launch; returns what was compiled for it.
    pub fn launch(&mut self, blocks: &mut Blocks, launch: &Launch<'_>) -> Result<Evaluated> {
        if launch.program.form.is_library_op() {
            let mut executor =
                Executor { threads: thread_count::now(self.threads), pool: &mut self.pool };
            return library_ops::launch(blocks, launch, &mut self.plans, &mut executor);
        }
        if let Some(known) = self.known.get(&launch.fingerprint)
            && few_rows::run(known, blocks, launch)?
        {
            return Ok(Evaluated { launches: 1, ..Evaluated::default() });
        }
        if let Some(runs) = CopiedRuns::of(launch)
            && let ([operand], [dest]) = (launch.operands, launch.dests)
        {
            let (from, to) =
                (blocks.named(*operand, launch)?.0, blocks.named(dest.block, launch)?.0);
            let mut executor =
                Executor { threads: thread_count::now(self.threads), pool: &mut self.pool };
            // SAFETY: the contract guarantees that accesses name elements that exist; the blocks are different ones.
            unsafe { runs.copy((from, to), &mut executor)? };
            return Ok(Evaluated { launches: 1, ..Evaluated::default() });
        }
        if let Some(axes) = RepeatedAxes::of(launch) {
            let done = self.launch(blocks, &Launch { shape: &axes.once, ..launch.clone() })?;
            let mut executor =
                Executor { threads: thread_count::now(self.threads), pool: &mut self.pool };
            for (dest, dtype) in launch.dests.iter().zip(&launch.program.dests) {
                let (base, _) = blocks.named(dest.block, launch)?;
                // SAFETY: the contract guarantees that accesses name elements that exist, and that no point reads what
                // another writes; the first positions are computed.
                unsafe { axes.copy((base, &dest.access, *dtype), &mut executor)? };
            }
            return Ok(done);
        }
        let mut operands: SmallVec<[(*mut u8, usize); 8]> = SmallVec::new();
        for id in launch.operands {
            operands.push(blocks.named(*id, launch)?);
        }
        let limit = self.limit;
        let make = || CachedProgram::of(launch.program, limit);
        let known = self.known.try_get_or_insert_mut(launch.fingerprint, make)?;
        if let Some(in_pieces) = known.in_pieces.clone() {
            return self.in_pieces(blocks, launch, &in_pieces, &operands);
        }
        let line = |input: &RowInput| StridedAccess {
            access: &launch.accesses[input.access],
            base: input.operand.map_or(std::ptr::null_mut(), |operand| operands[operand].0),
            size: input.size,
        };
        // Accesses borrow from it, so it is declared first and dropped last.
        let coalesced;
        let mut inputs: AccessList<'_> = known.inputs.all.iter().map(line).collect();
        let mut dests: AccessList<'_> = SmallVec::new();
        for (dest, size) in launch.dests.iter().zip(&known.inputs.dests) {
            let (base, _) = blocks.named(dest.block, launch)?;
            dests.push(StridedAccess { access: &dest.access, base, size: *size });
        }
        let mut tables: SmallVec<[GatherTable; 8]> = SmallVec::new();
        let mut few: SmallVec<[[u8; GatherTable::LEAST_BYTES]; 8]> = SmallVec::new();
        if known.inputs.gathers {
            few.resize(operands.len(), Default::default());
            let sizes = launch.program.operands.iter().map(|dtype| dtype.size());
            for (((first, len), size), few) in operands.iter().zip(sizes).zip(&mut few) {
                let mut first = first.cast_const();
                if len * size < few.len() {
                    // SAFETY: the block has the operand's elements, which are not written before the launch.
                    unsafe { few.as_mut_ptr().copy_from_nonoverlapping(first, len * size) };
                    first = few.as_ptr();
                }
                tables.push(GatherTable::new(first, *len));
            }
        }
        let order = LoopOrder::of(launch.shape, &known.inputs, &inputs, &dests);
        let LoopOrder { reduce_order, space, axis, beside, crossing, mut variant, .. } = order;
        variant.in_place = launch.dests.iter().any(|dest| launch.operands.contains(&dest.block));
        coalesced = order.coalesced;
        let mut expanded: SmallVec<[ShortRowCopy<'_>; 4]> = SmallVec::new();
        let mut scattered: SmallVec<[ShortRowCopy<'_>; 1]> = SmallVec::new();
        if let Some(coalesced) = &coalesced {
            let copied = |copy| ShortRowCopy::new(&inputs, copy, coalesced.rows);
            expanded.extend(coalesced.expanded.iter().map(copied));
            let copied = |copy| ShortRowCopy::new(&dests, copy, coalesced.rows);
            scattered.extend(coalesced.scattered.iter().map(copied));
            let lines = inputs.iter_mut().chain(&mut dests);
            lines.zip(&coalesced.accesses).for_each(|(line, access)| line.access = access);
        }
        let is_apart = |line: &StridedAccess<'_>| {
            !line.base.is_null() && stride(line, axis, space[axis]) == Stride::Any
        };
        let apart = inputs.iter().chain(&dests).any(is_apart);
        let before = known.inputs.before;
        let points: usize = launch.shape.iter().product();
        let last = launch.shape.len() - 1;
        let extent = launch.shape[last];
        let in_chunks = reduce_order == Some(ReduceOrder::Rows)
            && (axis, beside) == (last, None)
            && extent > REDUCE_CHUNK;
        let beyond = in_chunks.then(|| points / extent * (extent % REDUCE_CHUNK));
        let (prepared, done) = known.prepared(launch.program, variant, points, beyond)?;
        let (plan, kernel) = (&prepared.plan, prepared.kernel());
        let lanes = prepared.lanes().filter(|_| in_chunks);
        let mut longest =
            launch_items::longest(plan, kernel.is_some(), reduce_order, axis, launch.shape);
        if apart {
            longest = longest.min(T.strided_row);
        }
        if let Some(crossing) = &crossing {
            longest = longest.min(crossing.longest());
        }
        if let Some(coalesced) = &coalesced {
            // Scratch rows stay in the nearest cache.
            if !expanded.is_empty() || !scattered.is_empty() {
                longest = longest.min(T.scratch_row);
            }
            // Items begin where rows begin, so that a row that repeats is expanded once.
            longest -= longest % coalesced.rows.extent;
        }
        if beside.is_some() {
            longest -= longest % extent.div_ceil(REDUCE_CHUNK);
        }
        let mut rows = IterationSpace::new(&space, axis, longest, apart);
        if let Some(crossing) = &crossing {
            rows = rows.beside(crossing.outer);
        }
        let work = LaunchItems {
            plan,
            kernel,
            lanes,
            shape: if coalesced.is_some() { &space } else { launch.shape },
            reduce_order,
            beside,
            before,
            rows,
            inputs: &inputs,
            crossing: crossing.as_ref(),
            expanded: &expanded,
            scattered: &scattered,
            dests: &dests,
            tables: &tables,
            params: launch.params,
        };
        let time = (points as u64).saturating_mul(work.cost()) / 1000;
        let mut executor =
            Executor { threads: thread_count::now(self.threads), pool: &mut self.pool };
        executor.share(work.rows.items(), time, &|items| work.run(items))?;
        Ok(Evaluated { launches: 1, ..done })
    }
}
