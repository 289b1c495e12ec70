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
        let size: usize = reduction.stored.iter().map(|dtype| dtype.size()).sum();
        let points = T.strip_bytes / size * thread_count::now(self.threads);
        let all: IndexBox = launch.shape.iter().map(|extent| 0..*extent as i64).collect();
        let order = memory_order(boxes, launch);
        let strips = ReductionStrips::of(launch.shape, &order, points);
        let longest = strips.points(launch.shape);
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
        let mut strip = strips.first(&all);
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

/// The axes in the order in which the largest of the boxes reads memory, the fastest last.
fn memory_order(boxes: &[LaunchBox], launch: &Launch<'_>) -> SmallVec<[usize; 4]> {
    let mut order: SmallVec<[usize; 4]> = (0..launch.shape.len()).collect();
    let points = |one: &&LaunchBox| extents(&one.space).iter().product::<usize>();
    if let Some(largest) = boxes.iter().max_by_key(points) {
        let accesses = largest.accesses(launch, &largest.space);
        let step = |axis: usize| accesses.iter().map(|own| own.strides[axis].unsigned_abs()).max();
        order.sort_by_key(|axis| std::cmp::Reverse(step(*axis)));
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

/// How the points of a reduction are cut into strips.
struct ReductionStrips {
    /// ReductionStrips lie one behind the other along this axis, and are so long along it.
    axis: usize,
    length: usize,
    /// The axes along which a strip has one point, the outermost first.
    outer: SmallVec<[usize; 4]>,
}

impl ReductionStrips {
    /// Strips of about so many points, cut along the axes that come first in an order. Along the last axis, which is
    /// reduced, they end where chunks do.
    fn of(shape: &[usize], order: &[usize], points: usize) -> ReductionStrips {
        let last = shape.len() - 1;
        let in_chunks = |inner: usize| (points / inner / REDUCE_CHUNK).max(1) * REDUCE_CHUNK;
        let mut inner: usize = shape.iter().product();
        let mut outer = SmallVec::new();
        for axis in order.iter().copied() {
            inner /= shape[axis];
            if axis != last && inner <= points {
                let length = (points / inner).clamp(1, shape[axis]);
                return ReductionStrips { axis, length, outer };
            }
            if axis == last && inner * REDUCE_CHUNK <= points * T.long_strips {
                return ReductionStrips { axis, length: in_chunks(inner).min(shape[axis]), outer };
            }
            match axis == last {
                // All of it is part of each strip.
                true => inner *= shape[axis],
                false => outer.push(axis),
            }
        }
        ReductionStrips { axis: last, length: in_chunks(1).min(shape[last]), outer }
    }

    /// The points of a strip.
    fn points(&self, shape: &[usize]) -> usize {
        let mut own: SmallVec<[usize; 4]> = shape.into();
        self.outer.iter().for_each(|axis| own[*axis] = 1);
        own[self.axis] = self.length;
        own.iter().product()
    }

    fn first(&self, all: &IndexBox) -> IndexBox {
        let mut strip = all.clone();
        self.outer.iter().for_each(|axis| strip[*axis].end = 1);
        strip[self.axis].end = self.length as i64;
        strip
    }

    /// Moves on to the next strip; false behind the last one.
    fn next(&self, strip: &mut IndexBox, all: &IndexBox) -> bool {
        let axes = std::iter::once((self.axis, self.length as i64));
        for (axis, step) in axes.chain(self.outer.iter().rev().map(|axis| (*axis, 1))) {
            let start = strip[axis].end;
            if start < all[axis].end {
                strip[axis] = start..(start + step).min(all[axis].end);
                return true;
            }
            strip[axis] = 0..step.min(all[axis].end);
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
