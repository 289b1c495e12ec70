//! The single-row fast path, also for a few rows: most small work is such a launch. Its rows take less time
//! than the choice of a loop order would, so they simply go along the last axis.
//!
//! Owns [`run`]. Invariant: it computes what the general path would, with the same machine code or plan.
//!
//! Not here: every other launch (`eval`).

use crate::blocks::Blocks;
use crate::compile::inputs::{ProgramInputs, RowInput};
use crate::compile::program_cache::{CachedProgram, StrideKey};
use crate::compile::row_plan::Stride;
use crate::compile::short_operation::SHORT_ROW;
use crate::run::launch_items;
use crate::run::row_frame::RowFrame;
use crate::thresholds::T;
use crate::traversal::axis_choice::going;
use gpupy_core::Result;
use gpupy_core::driver::{Access, Launch};
use gpupy_jit::{RowArguments, RowGroup, StridedPointer};
use smallvec::SmallVec;

/// The most inputs and destinations together of a launch that takes the short way: those of one operation.
const FEW_OPERANDS: usize = 4;

/// The most rows, where each has at least so many elements, or no other axis is longer: then rows along the last axis
/// are the best.
const LONG_ROWS: (usize, usize) = (256, 16);

/// The strides of an input or a destination.
#[derive(Clone, Copy)]
struct RowStrides<'a> {
    /// Elements from a point to the next along each axis.
    strides: &'a [i64],
    /// Bytes of an element.
    size: isize,
}

/// An access with stride 0 everywhere.
const NOWHERE: RowStrides<'static> = RowStrides { strides: &[], size: 0 };

/// Runs a map over few rows whose specialisation is final. Returns false, and does nothing, for any other
/// launch, and for one with so many points that threads should share it.
///
/// # Errors
/// - `Invalid`: the launch names a block that does not exist.
pub fn run(known: &CachedProgram, blocks: &mut Blocks, launch: &Launch<'_>) -> Result<bool> {
    let inputs = &known.inputs;
    let ([outer @ .., n], None, false) = (launch.shape, &inputs.reduce, inputs.gathers) else {
        return Ok(false);
    };
    let (lined, rows) = (inputs.all.len() + inputs.dests.len(), outer.iter().product::<usize>());
    let (most, long) = LONG_ROWS;
    let is_long = *n >= long || outer.iter().all(|extent| extent <= n);
    if lined > FEW_OPERANDS || !(1..=if is_long { most } else { T.few_rows }).contains(&rows) {
        return Ok(false);
    }
    let mut walks: Walks = [StridedPointer { ptr: std::ptr::null_mut(), step: 0 }; FEW_OPERANDS];
    let (mut ways, mut is_apart) = (StrideKey::default(), false);
    let mut add = |walk: &mut StridedPointer, access: &Access, base: *mut u8, size: usize| {
        let (step, size) = (access.strides[outer.len()], size as isize);
        let ptr = base.wrapping_offset(access.offset as isize * size);
        *walk = StridedPointer { ptr, step: step as isize * size };
        let way = going(step, base, *n);
        ways.add(way);
        is_apart |= way == Stride::Any;
    };
    let (of_inputs, of_dests) = walks.split_at_mut(inputs.all.len());
    for (walk, RowInput { operand, access, size, .. }) in of_inputs.iter_mut().zip(&inputs.all) {
        let base = match operand {
            Some(operand) => blocks.named(launch.operands[*operand], launch)?.0,
            None => std::ptr::null_mut(),
        };
        add(walk, &launch.accesses[*access], base, *size);
    }
    for (walk, (dest, size)) in of_dests.iter_mut().zip(launch.dests.iter().zip(&inputs.dests)) {
        add(walk, &dest.access, blocks.named(dest.block, launch)?.0, *size);
    }
    ways.end(launch.dests.iter().any(|dest| launch.operands.contains(&dest.block)));
    let Some(prepared) = known.find(ways) else { return Ok(false) };
    let (plan, kernel) = (&prepared.plan, prepared.kernel());
    // Machine code needs no scratch rows, and threads share no work that is as little.
    let longest = if kernel.is_some() { usize::MAX } else { plan.tile };
    let points = (*n as u64).saturating_mul(rows as u64);
    let time = points.saturating_mul(launch_items::cost(plan, kernel.is_some()));
    // Many elements that lie apart are copied together with others.
    let is_far = is_apart && points >= T.coalesced_points as u64;
    if is_far || *n > longest || time >= 1000 * T.shared_work || !prepared.is_settled() {
        return Ok(false);
    }
    let count = inputs.all.len();
    // A single row needs no strides between rows.
    let lines = if outer.is_empty() { [NOWHERE; FEW_OPERANDS] } else { lines(inputs, launch) };
    let shortest = if kernel.is_some() { SHORT_ROW } else { plan.tile };
    if let Some(short) = prepared.short.as_ref().filter(|it| *n <= shortest.min(it.longest(plan))) {
        each_row(
            outer,
            &lines,
            &mut walks,
            one_by_one(|walks| {
                // SAFETY: the contract guarantees that accesses name elements that exist; the plan was made for these
                // strides, and the row is not too long.
                unsafe { short.run(plan, walks, launch.params, *n) };
            }),
        );
        return Ok(true);
    }
    if let Some(kernel) = kernel {
        each_row(outer, &lines, &mut walks, |walks, rows, steps| {
            let (params, tables) = (launch.params.as_ptr(), std::ptr::null());
            let walks = &mut walks[..lined];
            // SAFETY: the contract guarantees that accesses name elements that exist, and that no point
            // reads what another writes; the code was written for these strides.
            unsafe {
                if rows == 1 {
                    let (accesses, dests) = walks.split_at(count);
                    let (accesses, dests) = (accesses.as_ptr(), dests.as_ptr());
                    kernel.run(&RowArguments { n: *n, accesses, dests, params, tables });
                } else {
                    kernel.run_rows(RowGroup {
                        n: *n,
                        count: rows,
                        walks,
                        accesses: count,
                        steps,
                        params,
                        tables,
                    });
                }
            }
        });
        return Ok(true);
    }
    launch_items::with_scratch(|scratch| {
        let dests = inputs.dests.len();
        let mut frame = RowFrame::new(plan, scratch, (count, dests), &[], launch.params, 0)?;
        each_row(
            outer,
            &lines,
            &mut walks,
            one_by_one(|walks| {
                frame.inputs.copy_from_slice(&walks[..count]);
                frame.dests.copy_from_slice(&walks[count..count + dests]);
                frame.moved(&[]);
                // SAFETY: walks name elements that exist, as the contract guarantees, and `n` is at most a tile.
                unsafe { frame.run(&plan.steps, *n) };
            }),
        );
        Ok(true)
    })
}

/// The strides of the inputs, then of the destinations of a launch that has few.
fn lines<'a>(inputs: &ProgramInputs, launch: &'a Launch<'_>) -> [RowStrides<'a>; FEW_OPERANDS] {
    let of_inputs = inputs.all.iter().map(|input| (&launch.accesses[input.access], input.size));
    let dests = launch.dests.iter().map(|dest| &dest.access).zip(inputs.dests.iter().copied());
    let mut lines = [NOWHERE; FEW_OPERANDS];
    for (line, (access, size)) in lines.iter_mut().zip(of_inputs.chain(dests)) {
        *line = RowStrides { strides: &access.strides, size: size as isize };
    }
    lines
}

/// The walks of a row of few inputs and destinations.
type Walks = [StridedPointer; FEW_OPERANDS];

/// Has each of some rows beside each other run by itself.
fn one_by_one(
    mut run: impl FnMut(&Walks),
) -> impl FnMut(&mut Walks, usize, &[isize; FEW_OPERANDS]) {
    move |walks, rows, steps| {
        for _ in 0..rows {
            run(walks);
            walks
                .iter_mut()
                .zip(steps)
                .for_each(|(walk, step)| walk.ptr = walk.ptr.wrapping_offset(*step));
        }
    }
}

/// Calls `run` for all rows along the last of the outer axes, at each point of the others: with the walks at the
/// first row, which it may move, the number of rows, and the bytes between them. No extent is 0.
#[inline(always)]
fn each_row(
    outer: &[usize],
    lines: &[RowStrides<'_>; FEW_OPERANDS],
    walks: &mut Walks,
    mut run: impl FnMut(&mut Walks, usize, &[isize; FEW_OPERANDS]),
) {
    let Some((near, far)) = outer.split_last() else { return run(walks, 1, &[0; FEW_OPERANDS]) };
    let step_of = |line: &RowStrides<'_>, axis: usize| {
        line.strides.get(axis).map_or(0, |stride| *stride as isize) * line.size
    };
    let steps = lines.map(|line| step_of(&line, far.len()));
    let mut point: SmallVec<[usize; 4]> = SmallVec::from_elem(0, far.len());
    loop {
        let first = *walks;
        run(walks, *near, &steps);
        *walks = first;
        let mut go = |axis: usize, rows: isize| {
            for (walk, line) in walks.iter_mut().zip(lines) {
                walk.ptr = walk.ptr.wrapping_offset(rows * step_of(line, axis));
            }
        };
        let mut axis = far.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            point[axis] += 1;
            go(axis, 1);
            if point[axis] < far[axis] {
                break;
            }
            // Back to the first, for the axis before.
            go(axis, -(far[axis] as isize));
            point[axis] = 0;
        }
    }
}
