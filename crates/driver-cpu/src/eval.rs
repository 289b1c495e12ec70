//! Evaluation of one launch: the way of its rows is chosen, its plan found or made, and its items
//! run, on several threads where that pays.
//!
//! Owns [`Evaluator`]. Invariants: a launch changes nothing but its points in its destinations; its
//! bits depend neither on threads nor on the way of its rows.
//!
//! Not here: what happens to one item (`work.rs`).

use crate::axis::{self, Way, stride};
use crate::blocks::Blocks;
use crate::compile::{self, Variant};
use crate::leaves::Leaves;
use crate::plan::{Plan, Stride};
use crate::space::{Line, Point, Rows};
use crate::threads::Pool;
use crate::work::{self, Work};
use gpupy_core::Result;
use gpupy_core::driver::Launch;
use gpupy_core::ir::{Fingerprint, Program, REDUCE_CHUNK};
use gpupy_jit::Kernel;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Programs whose plans are kept.
const KEPT: usize = 1024;
/// Points that a program is evaluated at before machine code is written for it: that takes about as
/// long.
const COMPILED: usize = 2000;
/// Nanoseconds of work that another thread is woken for.
const SHARED: u64 = 30_000;
/// Nanoseconds of work that a thread takes at a time.
const SHARE: u64 = 20_000;

/// Evaluates launches.
pub struct Evaluator {
    known: FxHashMap<Fingerprint, Known>,
    threads: usize,
    /// Started when there is something to share.
    pool: Option<Pool>,
}

/// A program that was evaluated before.
struct Known {
    leaves: Leaves,
    prepared: Vec<Prepared>,
}

/// A program for one way of its leaves and destinations.
struct Prepared {
    variant: Variant,
    plan: Plan,
    /// Machine code, where there is any, once it has been asked for.
    kernel: Option<Option<Kernel>>,
    /// The points that have been evaluated.
    points: usize,
}

/// The lines of a launch.
type Lines<'a> = SmallVec<[Line<'a>; 8]>;

/// How the rows of a launch go.
struct Route {
    /// Of a reduction.
    way: Option<Way>,
    /// The space of the results.
    space: Point,
    /// The axis of that space along which rows go.
    axis: usize,
    variant: Variant,
}

impl Evaluator {
    pub fn new(threads: usize) -> Evaluator {
        Evaluator { known: FxHashMap::default(), threads, pool: None }
    }

    /// Evaluates a launch; tells how many plans were made for it.
    pub fn launch(&mut self, blocks: &mut Blocks, launch: &Launch<'_>) -> Result<u32> {
        let mut operands: SmallVec<[(*mut u8, usize); 8]> = SmallVec::new();
        for id in launch.operands {
            let block = blocks.get(*id)?;
            operands.push((block.as_ptr(), block.len));
        }
        if self.known.len() > KEPT {
            self.known.clear();
        }
        let known = self
            .known
            .entry(launch.fingerprint)
            .or_insert_with(|| Known { leaves: Leaves::of(launch.program), prepared: Vec::new() });
        let leaves: Lines<'_> = known
            .leaves
            .all
            .iter()
            .map(|leaf| Line {
                access: &launch.accesses[leaf.access],
                base: leaf.operand.map_or(std::ptr::null_mut(), |operand| operands[operand].0),
                size: leaf.size,
            })
            .collect();
        let mut dests: Lines<'_> = SmallVec::new();
        for (dest, size) in launch.dests.iter().zip(&known.leaves.dests) {
            let base = blocks.get(dest.block)?.as_ptr();
            dests.push(Line { access: &dest.access, base, size: *size });
        }
        let route = route(launch, &known.leaves, &leaves, &dests);
        let before = known.leaves.before;
        let points = launch.shape.iter().product();
        let (prepared, made) = known.prepared(launch.program, route.variant, points)?;
        let Route { way, space, axis, .. } = route;
        let apart = leaves
            .iter()
            .chain(&dests)
            .any(|line| !line.base.is_null() && stride(line, axis, space[axis]) == Stride::Any);
        let (plan, kernel) = (&prepared.plan, prepared.kernel.as_ref().and_then(Option::as_ref));
        let longest = work::longest(plan, kernel.is_some() && !apart, way, axis, launch.shape);
        let work = Work {
            plan,
            kernel,
            shape: launch.shape,
            way,
            before,
            rows: Rows::new(&space, axis, longest, apart),
            leaves: &leaves,
            dests: &dests,
            operands: &operands,
            params: launch.params,
        };
        share(&work, launch.shape, self.threads, &mut self.pool);
        Ok(u32::from(made))
    }
}

impl Known {
    /// The program, prepared for a launch of so many points, and whether something was compiled.
    fn prepared(
        &mut self,
        program: &Program,
        variant: Variant,
        points: usize,
    ) -> Result<(&Prepared, bool)> {
        let found = self.prepared.iter().position(|prepared| prepared.variant == variant);
        let at = found.unwrap_or(self.prepared.len());
        if found.is_none() {
            let plan = compile::plan(program, &self.leaves, &variant)?;
            self.prepared.push(Prepared { variant, plan, kernel: None, points: 0 });
        }
        let prepared = &mut self.prepared[at];
        prepared.points = prepared.points.saturating_add(points);
        let mut compiled = found.is_none();
        if prepared.points >= COMPILED && prepared.kernel.is_none() {
            let kernel = gpupy_jit::compile(program, &prepared.variant.for_code(&self.leaves));
            compiled |= kernel.is_some();
            prepared.kernel = Some(kernel);
        }
        Ok((prepared, compiled))
    }
}

/// Chooses the way of a launch's rows.
fn route(launch: &Launch<'_>, known: &Leaves, leaves: &[Line<'_>], dests: &[Line<'_>]) -> Route {
    let shape = launch.shape;
    let (last, steps) = (shape.len() - 1, launch.program.insts.len());
    let (first, rest) = leaves.split_at(known.before);
    let mut space = Point::from(shape);
    let mut way = None;
    let outside = || rest.iter().chain(dests).copied();
    let (axis, before) = match known.reduce {
        None => (axis::best(shape, outside(), steps), 0),
        Some(reduce) => {
            space[last] = shape[last].div_ceil(REDUCE_CHUNK);
            let chosen = axis::best_way(shape, first.iter().copied(), reduce);
            way = Some(chosen);
            match chosen {
                Way::Across(axis) => (axis, axis),
                Way::Along if space[last] > 1 => (last, last),
                Way::Along => (axis::best(&space, outside(), steps - reduce), last),
            }
        }
    };
    let inside = first.iter().map(|line| stride(line, before, shape[before]));
    let after = |line: &Line<'_>| stride(line, axis, space[axis]);
    let leaves = inside.chain(rest.iter().map(after)).collect();
    let variant = Variant { leaves, dests: dests.iter().map(after).collect() };
    Route { way, space, axis, variant }
}

/// Runs all items of the work, on several threads where that pays.
fn share(work: &Work<'_>, shape: &[usize], threads: usize, pool: &mut Option<Pool>) {
    let items = work.rows.items();
    let points: u64 = shape.iter().map(|extent| *extent as u64).product();
    let time = points.saturating_mul(work.plan.cost) / 1000;
    if threads == 1 || items == 1 || time < SHARED {
        return work.run(0..items);
    }
    // Shares end at about the same time, and are not so small that taking one counts.
    let shares = (time / SHARE).clamp(2, 16 * threads as u64) as usize;
    let each = items.div_ceil(shares);
    let next = AtomicUsize::new(0);
    pool.get_or_insert_with(|| Pool::new(threads)).run(&|| {
        loop {
            let from = next.fetch_add(each, Ordering::Relaxed);
            if from >= items {
                break;
            }
            work.run(from..items.min(from + each));
        }
    });
}
