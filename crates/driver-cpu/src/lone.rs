//! Launches of few rows: what small work mostly is. The rows take less time than finding a route for them
//! would, so here there is none: they go along the last axis.
//!
//! Owns [`run`]. Invariant: it computes what the longer way would, with the same machine code or plan.
//!
//! Not here: every other launch (`eval.rs`).

use crate::axis::going;
use crate::blocks::Blocks;
use crate::eval::SHARED;
use crate::known::{Known, Ways};
use crate::leaves::Leaf;
use crate::plan::Stride;
use crate::run::Frame;
use crate::work;
use gpupy_core::Result;
use gpupy_core::driver::{Access, Launch};
use gpupy_jit::{Row, Walk};
use smallvec::SmallVec;

/// The most leaves and destinations together: those of one operation.
const MOST: usize = 4;
/// The most rows. Of more, which axis they go along counts.
const ROWS: usize = 64;

/// A leaf or a destination.
#[derive(Clone, Copy)]
struct Line<'a> {
    /// Elements from a point to the next along each axis.
    strides: &'a [i64],
    /// Bytes of an element.
    size: isize,
}

/// Runs a launch of a map over few rows in each of which elements lie side by side, and which has run so
/// often that there is machine code for it, if there ever is. False when it is not like that, or has so
/// many points that threads should share them; then nothing was done.
///
/// # Errors
/// - `Invalid`: a block of the launch is none.
pub fn run<'a>(known: &Known, blocks: &mut Blocks, launch: &'a Launch<'_>) -> Result<bool> {
    let leaves = &known.leaves;
    let ([outer @ .., n], None, false) = (launch.shape, leaves.reduce, leaves.gathers) else {
        return Ok(false);
    };
    let (count, rows) = (leaves.all.len() + leaves.dests.len(), outer.iter().product::<usize>());
    if count > MOST || rows > ROWS {
        return Ok(false);
    }
    let mut lines = [Line { strides: &[], size: 0 }; MOST];
    let mut walks = [Walk { ptr: std::ptr::null_mut(), step: 0 }; MOST];
    let (mut ways, mut side_by_side) = (Ways::default(), true);
    let mut places = lines.iter_mut().zip(&mut walks);
    let mut add = |access: &'a Access, base: *mut u8, size: usize| {
        let Access { offset, strides } = access;
        let (step, size) = (strides[outer.len()], size as isize);
        let ptr = base.wrapping_offset(*offset as isize * size);
        if let Some((line, walk)) = places.next() {
            *line = Line { strides, size };
            *walk = Walk { ptr, step: step as isize * size };
        }
        let way = going(step, base, *n);
        ways.add(way);
        side_by_side &= way != Stride::Any;
    };
    for Leaf { operand, access, size, .. } in &leaves.all {
        let base = match operand {
            Some(operand) => blocks.get(launch.operands[*operand])?.as_ptr(),
            None => std::ptr::null_mut(),
        };
        add(&launch.accesses[*access], base, *size);
    }
    for (dest, size) in launch.dests.iter().zip(&leaves.dests) {
        add(&dest.access, blocks.get(dest.block)?.as_ptr(), *size);
    }
    ways.end(launch.dests.iter().any(|dest| launch.operands.contains(&dest.block)));
    let Some(prepared) = known.find(ways) else { return Ok(false) };
    let (plan, kernel) = (&prepared.plan, prepared.kernel());
    let longest = if kernel.is_some() { work::COMPILED } else { plan.tile };
    let points = (*n as u64).saturating_mul(rows as u64);
    let time = points.saturating_mul(work::cost(plan, kernel.is_some())) / 1000;
    if *n > longest || time >= SHARED || !side_by_side || !prepared.is_settled() {
        return Ok(false);
    }
    let (accesses, dests) = walks.split_at_mut(leaves.all.len());
    let dests = &mut dests[..leaves.dests.len()];
    let (of_accesses, of_dests) = lines.split_at(leaves.all.len());
    let mut point: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
    let mut go_on = |accesses: &mut [Walk], dests: &mut [Walk]| {
        next_row(&mut point, outer, |axis, rows| {
            move_on(accesses, of_accesses, axis, rows);
            move_on(dests, of_dests, axis, rows);
        });
    };
    if let Some(kernel) = kernel {
        for _ in 0..rows {
            let params = launch.params.as_ptr();
            let row = Row { n: *n, accesses: accesses.as_ptr(), dests: dests.as_ptr(), params };
            // SAFETY: the core promises that accesses name elements that exist, and that no point
            // reads what another writes; the code was written for these strides.
            unsafe { kernel.run(&row) };
            go_on(accesses, dests);
        }
        return Ok(true);
    }
    work::with_scratch(|scratch| {
        let count = (accesses.len(), dests.len());
        let mut frame = Frame::new(plan, scratch, count, &[], launch.params, 0);
        frame.leaves.copy_from_slice(accesses);
        frame.dests.copy_from_slice(dests);
        for _ in 0..rows {
            frame.moved(std::ptr::null_mut());
            // SAFETY: as above, of a plan; a row is no longer than the plan's.
            unsafe { frame.run(&plan.steps, *n) };
            go_on(frame.leaves, frame.dests);
        }
    });
    Ok(true)
}

/// Goes on to the next row, the last of the outer axes first. `go` is told along which axis, and how many rows.
#[inline(always)]
fn next_row(point: &mut [usize], outer: &[usize], mut go: impl FnMut(usize, isize)) {
    for axis in (0..outer.len()).rev() {
        point[axis] += 1;
        go(axis, 1);
        if point[axis] < outer[axis] {
            return;
        }
        // Back to the first, for the axis before.
        go(axis, -(outer[axis] as isize));
        point[axis] = 0;
    }
}

/// Moves walks along an axis by so many rows.
#[inline(always)]
fn move_on(walks: &mut [Walk], lines: &[Line<'_>], axis: usize, rows: isize) {
    for (walk, line) in walks.iter_mut().zip(lines) {
        let step = line.strides.get(axis).map_or(0, |stride| *stride as isize);
        walk.ptr = walk.ptr.wrapping_offset(rows * step * line.size);
    }
}
