//! Evaluation of programs with numbers in pieces: a map box by box, a reduction strip by strip.
//!
//! The map of a reduction is evaluated box by box too: over a strip of its points, into memory that stays in cache and
//! is then reduced. A launch that is not cut compares and selects.
//!
//! Not here: the boxes (`index_split`), other programs (`evaluator.rs`).

use super::Evaluator;
use crate::blocks::Blocks;
use crate::compile::program_cache::ProgramInPieces;
use crate::index_split::affine_facts::IndexBox;
use crate::index_split::launch_box::{LaunchBox, extents, key, moved, split_launch};
use crate::index_split::split_reduction::SplitReduction;
use crate::threads::thread_count;
use crate::thresholds::T;
use gpupy_core::driver::{Access, BlockId, Dest, Evaluated, HostBlock, HostMemory, Launch};
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::{DType, Result, memory};
use smallvec::SmallVec;
use std::ptr::NonNull;

/// Bytes to which what a map stores is aligned.
const LINE: usize = 64;

impl Evaluator {
    /// Evaluates a launch of a program with numbers in pieces; `operands` are its operands' memory.
    pub(super) fn in_pieces(
        &mut self,
        blocks: &mut Blocks,
        launch: &Launch<'_>,
        program: &ProgramInPieces,
        operands: &[(*mut u8, usize)],
    ) -> Result<Evaluated> {
        let map = program.reduction.as_ref().map_or(launch.program, |reduction| &reduction.map);
        let found = program.numbers.as_ref().and_then(|(numbers, lowered)| {
            let lens: SmallVec<[usize; 8]> = operands.iter().map(|(_, len)| *len).collect();
            let find = || split_launch((map, numbers, lowered), launch, &lens);
            self.pieces.get_or_insert(key(numbers, launch, &lens), find).clone()
        });
        let mut done = Evaluated { launches: 1, ..Evaluated::default() };
        match (found, &program.reduction) {
            (Some(boxes), None) => {
                for one in boxes.iter() {
                    let dests: SmallVec<[Dest; 2]> =
                        launch.dests.iter().map(|dest| dest_of(dest, &one.space)).collect();
                    self.one_box(blocks, launch, (one, &one.space), &dests, &mut done)?;
                }
            }
            (Some(boxes), Some(reduction)) => {
                self.in_strips(blocks, launch, (reduction, &boxes), operands, &mut done)?;
            }
            (None, _) => {
                let (program, fingerprint) = (&program.lowered, program.fingerprint);
                return self.launch(blocks, &Launch { program, fingerprint, ..*launch });
            }
        }
        Ok(done)
    }

    /// Evaluates part of a box.
    fn one_box(
        &mut self,
        blocks: &mut Blocks,
        launch: &Launch<'_>,
        (one, space): (&LaunchBox, &IndexBox),
        dests: &[Dest],
        done: &mut Evaluated,
    ) -> Result<()> {
        let own = Launch {
            program: &one.program,
            fingerprint: one.fingerprint,
            shape: &extents(space),
            accesses: &one.accesses(launch, space),
            dests,
            ..*launch
        };
        let Evaluated { compiled, specialised, .. } = self.launch(blocks, &own)?;
        done.compiled += compiled;
        done.specialised += specialised;
        Ok(())
    }

    /// Evaluates a reduction strip by strip, where its map has these boxes.
    fn in_strips(
        &mut self,
        blocks: &mut Blocks,
        launch: &Launch<'_>,
        (reduction, boxes): (&SplitReduction, &[LaunchBox]),
        operands: &[(*mut u8, usize)],
        done: &mut Evaluated,
    ) -> Result<()> {
        let sizes = || reduction.stored.iter().map(|dtype| dtype.size());
        let threads = thread_count::now(self.threads);
        // A strip is as long as a block at most: what it stores is given to the launches as one.
        let points = (T.strip_bytes / sizes().max().unwrap_or(1) * threads).min(blocks.longest);
        let most = (T.long_strip_bytes / sizes().sum::<usize>() * threads).min(blocks.longest);
        let most = most.max(points);
        let all: IndexBox = launch.shape.iter().map(|extent| 0..*extent as i64).collect();
        let order = memory_order(boxes, launch);
        let strips = ReductionStrips::of(launch.shape, &order, points, most);
        let longest = strips.points();
        // All that the launches name is memory: operands, then destinations, then what the map stores.
        let mut named: SmallVec<[HostBlock; 8]> = SmallVec::new();
        for (first, len) in operands {
            named.push(host_block(*first, *len));
        }
        for dest in launch.dests {
            let (first, len) = blocks.named(dest.block, launch)?;
            named.push(host_block(first, len));
        }
        let words =
            |dtype: &DType| (longest * dtype.size()).div_ceil(LINE) * LINE / size_of::<u64>();
        let mut room = std::mem::take(&mut self.room);
        let wanted = reduction.stored.iter().map(words).sum();
        if room.len() < wanted {
            room = memory::zeroed(wanted)?;
        }
        let mut rest = &mut room[..];
        for dtype in &reduction.stored {
            let (own, others) = rest.split_at_mut(words(dtype));
            named.push(host_block(own.as_mut_ptr().cast(), longest));
            rest = others;
        }
        let place = |k: usize| BlockId(k as u64);
        let first = operands.len() + launch.dests.len();
        let temporary: SmallVec<[BlockId; 4]> =
            (first..first + reduction.stored.len()).map(place).collect();
        let read: SmallVec<[BlockId; 8]> = (0..operands.len()).map(place).collect();
        let reduced: SmallVec<[BlockId; 8]> = read.iter().chain(&temporary).copied().collect();
        let mut strip = strips.first();
        loop {
            let shape = extents(&strip);
            let strides = strides_in(&order, &shape);
            let own = Launch { operands: &read, memory: &named, ..launch.clone() };
            for one in boxes {
                let Some(part) = common(&one.space, &strip) else { continue };
                let steps = strides.iter().zip(part.iter().zip(&strip));
                let offset = steps.map(|(step, (own, all))| step * (own.start - all.start)).sum();
                let access = Access { offset, strides: strides.clone() };
                let dests: SmallVec<[Dest; 2]> = temporary
                    .iter()
                    .map(|block| Dest { block: *block, access: access.clone(), whole: false })
                    .collect();
                self.one_box(blocks, &own, (one, &part), &dests, done)?;
            }
            // The results of a reduction count chunks along the last axis.
            let mut results = strip.clone();
            if let Some(last) = results.last_mut() {
                last.start /= REDUCE_CHUNK as i64;
            }
            let mut accesses: SmallVec<[Access; 8]> =
                launch.accesses.iter().map(|access| moved(access, &results)).collect();
            accesses.push(Access { offset: 0, strides });
            let dests: SmallVec<[Dest; 2]> = (operands.len()..)
                .zip(launch.dests)
                .map(|(k, dest)| Dest { block: place(k), ..dest_of(dest, &results) })
                .collect();
            let Evaluated { compiled, specialised, .. } = self.launch(
                blocks,
                &Launch {
                    program: &reduction.rest,
                    fingerprint: reduction.fingerprint,
                    shape: &shape,
                    operands: &reduced,
                    accesses: &accesses,
                    dests: &dests,
                    ..own
                },
            )?;
            done.compiled += compiled;
            done.specialised += specialised;
            if !strips.next(&mut strip, &all) {
                self.room = room;
                return Ok(());
            }
        }
    }
}

/// A destination, moved to a box.
fn dest_of(dest: &Dest, space: &IndexBox) -> Dest {
    Dest { access: moved(&dest.access, space), whole: false, ..*dest }
}

fn host_block(first: *mut u8, len: usize) -> HostBlock {
    HostBlock { memory: HostMemory::new(NonNull::new(first).unwrap_or(NonNull::dangling())), len }
}

/// The axes in the order in which the largest of the boxes reads memory, the fastest last. An axis along which it reads
/// the same again comes first; of two that are as fast, the shorter one.
fn memory_order(boxes: &[LaunchBox], launch: &Launch<'_>) -> SmallVec<[usize; 4]> {
    let mut order: SmallVec<[usize; 4]> = (0..launch.shape.len()).collect();
    let points = |one: &&LaunchBox| extents(&one.space).iter().product::<usize>();
    if let Some(largest) = boxes.iter().max_by_key(points) {
        let accesses = largest.accesses(launch, &largest.space);
        let step = |axis: usize| {
            let steps = accesses.iter().map(|own| own.strides[axis].unsigned_abs());
            steps.max().filter(|step| *step > 0).unwrap_or(u64::MAX)
        };
        order.sort_by_key(|axis| (std::cmp::Reverse(step(*axis)), launch.shape[*axis]));
    }
    order
}

/// The strides of elements of this shape that follow each other, the last axis in this order first.
fn strides_in(order: &[usize], shape: &[usize]) -> SmallVec<[i64; 4]> {
    let mut strides = SmallVec::from_elem(0, shape.len());
    let mut step = 1;
    for axis in order.iter().rev() {
        strides[*axis] = step;
        step *= shape[*axis] as i64;
    }
    strides
}

/// How the points of a reduction are cut into strips: boxes of these extents, and what is left at the ends.
struct ReductionStrips {
    extents: SmallVec<[i64; 4]>,
}

impl ReductionStrips {
    /// Strips of about so many points, cut along the axes that come first in an order. Along the last axis, which is
    /// reduced, they end where chunks do: if all others are faster, they may have as many as `most` points, so that
    /// rows stay whole.
    fn of(shape: &[usize], order: &[usize], points: usize, most: usize) -> ReductionStrips {
        let last = shape.len() - 1;
        let mut extents: SmallVec<[usize; 4]> = shape.into();
        for axis in order.iter().copied() {
            let all: usize = extents.iter().product();
            let wanted = if extents[last] < shape[last] { most } else { points };
            if all <= wanted {
                break;
            }
            let fits = extents[axis] * points / all;
            extents[axis] = match axis == last {
                true => (fits / REDUCE_CHUNK).max(1) * REDUCE_CHUNK,
                false => fits.max(1),
            }
            .min(shape[axis]);
        }
        ReductionStrips { extents: extents.iter().map(|extent| *extent as i64).collect() }
    }

    /// The points of a strip.
    fn points(&self) -> usize {
        self.extents.iter().product::<i64>() as usize
    }

    fn first(&self) -> IndexBox {
        self.extents.iter().map(|extent| 0..*extent).collect()
    }

    /// Moves on to the next strip; false behind the last one.
    fn next(&self, strip: &mut IndexBox, all: &IndexBox) -> bool {
        for (axis, extent) in self.extents.iter().enumerate().rev() {
            let start = strip[axis].end;
            if start < all[axis].end {
                strip[axis] = start..(start + extent).min(all[axis].end);
                return true;
            }
            strip[axis] = 0..*extent;
        }
        false
    }
}

/// The points of both boxes, if there are any.
fn common(a: &IndexBox, b: &IndexBox) -> Option<IndexBox> {
    let both: IndexBox =
        a.iter().zip(b).map(|(a, b)| a.start.max(b.start)..a.end.min(b.end)).collect();
    both.iter().all(|range| range.start < range.end).then_some(both)
}
