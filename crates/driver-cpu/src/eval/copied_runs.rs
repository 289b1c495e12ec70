//! Copies: launches that store what they load, in runs of elements that lie one behind the other on both sides.
//!
//! Owns [`CopiedRuns`]: tiles, repeated and joined rows and slices of boxes are such runs. Nothing is computed, so
//! elements of any dtype are bytes. Not here: copies of single elements, which the rows of a map do.

use crate::eval::repeated_axes::{NEAR, SPEED};
use crate::threads::executor::Executor;
use gpupy_core::Result;
use gpupy_core::driver::Launch;
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use smallvec::SmallVec;

/// Where the runs of a launch lie. Offsets and steps count bytes.
pub struct CopiedRuns {
    /// Bytes of a run.
    run: usize,
    /// The axes over them.
    outer: SmallVec<[OuterAxis; 4]>,
    from: isize,
    to: isize,
}

/// The first bytes of the source and of the destination. Threads write disjoint runs.
struct Ends(*const u8, *mut u8);

// SAFETY: each item writes runs of its own, and reads none that another one writes.
unsafe impl Sync for Ends {}

impl CopiedRuns {
    /// The runs of a launch, if it copies, between two blocks, and has longer ones than elements.
    pub fn of(launch: &Launch<'_>) -> Option<CopiedRuns> {
        let program = launch.program;
        let ([load, store], [dtype]) = (&program.insts[..], &program.dests[..]) else {
            return None;
        };
        let is_copy = program.form == Form::Map
            && (load.op, store.op) == (Op::Load, Op::Store)
            && load.dtype == *dtype;
        let ([from], [dest], [operand]) = (launch.accesses, launch.dests, launch.operands) else {
            return None;
        };
        if !is_copy || dest.block == *operand {
            return None;
        }
        let to = &dest.access;
        let size = dtype.size() as isize;
        let mut run = 1;
        let mut outer: SmallVec<[OuterAxis; 4]> = SmallVec::new();
        for (axis, extent) in launch.shape.iter().copied().enumerate().rev() {
            let steps = (from.strides[axis] as isize, to.strides[axis] as isize);
            if extent == 1 {
                continue;
            }
            if outer.is_empty() && steps == (run as isize, run as isize) {
                run *= extent;
                continue;
            }
            match outer.last_mut() {
                Some((within, a, b)) if steps == (*a * *within as isize, *b * *within as isize) => {
                    *within *= extent;
                }
                _ => outer.push((extent, steps.0, steps.1)),
            }
        }
        outer.reverse();
        outer.iter_mut().for_each(|(_, a, b)| (*a, *b) = (*a * size, *b * size));
        let offset = |offset: i64| offset as isize * size;
        let (from, to) = (offset(from.offset), offset(to.offset));
        (run > 1).then(|| CopiedRuns { run: run * dtype.size(), outer, from, to })
    }

    /// Copies the runs.
    ///
    /// # Errors
    /// None of its own.
    ///
    /// # Safety
    /// All elements that the launch names exist in these blocks, and nothing else accesses the destination's.
    pub unsafe fn copy(
        &self,
        (from, to): (*const u8, *mut u8),
        executor: &mut Executor<'_>,
    ) -> Result<()> {
        let ends = Ends(from.wrapping_offset(self.from), to.wrapping_offset(self.to));
        let Some(((count, step_from, step_to), outer)) = self.outer.split_last() else {
            let pieces = self.run.div_ceil(NEAR);
            return executor.share(pieces, (self.run / SPEED) as u64, &|pieces| {
                let (first, end) = (pieces.start * NEAR, (pieces.end * NEAR).min(self.run));
                let ends = &ends;
                let (from, to) = (ends.0.wrapping_add(first), ends.1.wrapping_add(first));
                // SAFETY: the run has these bytes on both sides.
                unsafe { from.copy_to_nonoverlapping(to, end - first) };
                Ok(())
            });
        };
        let lines: usize = outer.iter().map(|(extent, ..)| extent).product();
        let time = lines * count * (1 + self.run / SPEED);
        // Of one line, threads take parts.
        let most = if lines == 1 { (NEAR / self.run).clamp(1, *count) } else { *count };
        let parts = count.div_ceil(most);
        executor.share(lines * parts, time as u64, &|items| {
            let (first, ends) = (items.start % parts * most, &ends);
            let mut line = CopiedRuns::line(outer, items.start / parts);
            let mut at = first;
            for _ in items {
                let (from, to) = line.offset;
                let from = ends.0.wrapping_offset(from + at as isize * step_from);
                let to = ends.1.wrapping_offset(to + at as isize * step_to);
                let steps = (*step_from, *step_to);
                // SAFETY: the runs of the line exist on both sides.
                unsafe { line_of_runs((from, to), steps, most.min(count - at), self.run) };
                at += most;
                if at >= *count {
                    at = 0;
                    line.move_on(outer);
                }
            }
            Ok(())
        })
    }

    /// A line of runs by its number.
    fn line(outer: &[OuterAxis], mut number: usize) -> LineOfRuns {
        let mut line = LineOfRuns { point: SmallVec::from_elem(0, outer.len()), offset: (0, 0) };
        for (at, (extent, step_from, step_to)) in line.point.iter_mut().zip(outer).rev() {
            *at = number % extent;
            number /= extent;
            let (from, to) = &mut line.offset;
            *from += *at as isize * step_from;
            *to += *at as isize * step_to;
        }
        line
    }
}

/// The extent of an axis over runs, and the steps of the source and of the destination along it, in bytes.
type OuterAxis = (usize, isize, isize);

/// Runs along the last axis over them: where they begin.
struct LineOfRuns {
    /// Along the other axes.
    point: SmallVec<[usize; 4]>,
    /// Bytes of the source and of the destination before the first.
    offset: (isize, isize),
}

impl LineOfRuns {
    /// Goes on to the next.
    fn move_on(&mut self, outer: &[OuterAxis]) {
        let (from, to) = &mut self.offset;
        for (at, (extent, step_from, step_to)) in self.point.iter_mut().zip(outer).rev() {
            *at += 1;
            *from += step_from;
            *to += step_to;
            if *at < *extent {
                return;
            }
            let back = *extent as isize;
            *at = 0;
            *from -= back * step_from;
            *to -= back * step_to;
        }
    }
}

/// Copies runs, a step from each other on both sides. Short ones take no call: two copies of a length that is known,
/// which may overlap, are any length up to twice as much.
///
/// # Safety
/// The runs exist on both sides, which do not overlap.
unsafe fn line_of_runs(
    (from, to): (*const u8, *mut u8),
    steps: (isize, isize),
    count: usize,
    run: usize,
) {
    // SAFETY: the caller vouches for the runs.
    unsafe {
        match run {
            2..=4 => by_halves::<2>((from, to), steps, count, run),
            5..=8 => by_halves::<4>((from, to), steps, count, run),
            9..=16 => by_halves::<8>((from, to), steps, count, run),
            17..=32 => by_halves::<16>((from, to), steps, count, run),
            33..=64 => by_halves::<32>((from, to), steps, count, run),
            65..=128 => by_halves::<64>((from, to), steps, count, run),
            _ => {
                for number in 0..count as isize {
                    let from = from.wrapping_offset(number * steps.0);
                    from.copy_to_nonoverlapping(to.wrapping_offset(number * steps.1), run);
                }
            }
        }
    }
}

/// Copies runs of `N` to `2 * N` bytes: the first `N` bytes and the last.
///
/// # Safety
/// As of `line_of_runs`.
#[inline(always)]
unsafe fn by_halves<const N: usize>(
    (mut from, mut to): (*const u8, *mut u8),
    (step_from, step_to): (isize, isize),
    count: usize,
    run: usize,
) {
    let last = run - N;
    for _ in 0..count {
        // SAFETY: the run has `N` bytes at its beginning and at its end, on both sides.
        unsafe {
            let (a, b) = (from.cast::<[u8; N]>().read(), from.add(last).cast::<[u8; N]>().read());
            to.cast::<[u8; N]>().write(a);
            to.add(last).cast::<[u8; N]>().write(b);
        }
        from = from.wrapping_offset(step_from);
        to = to.wrapping_offset(step_to);
    }
}
