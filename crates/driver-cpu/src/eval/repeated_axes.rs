//! Axes along which a map's results repeat, as no operand and no index varies along them: tiled and broadcast arrays.
//!
//! Owns [`RepeatedAxes`]. The map is computed for the first position along each of them, and its results are copied.
//! Invariant: what is copied is contiguous in every destination.
//!
//! Not here: operands that repeat where others do not (`traversal/coalesce.rs`).

use crate::threads::executor::Executor;
use crate::traversal::crossing::CACHE_LINE;
use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::Form;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Result};

/// Bytes that are copied at once, so that they are read from the nearest cache.
pub const NEAR: usize = 16 << 10;
/// Bytes that are copied in a nanosecond, estimated.
pub const SPEED: usize = 16;

/// The space of a launch without its repeated axes.
pub struct RepeatedAxes {
    /// The space with one position along each.
    pub once: Shape,
    shape: Shape,
}

/// The memory of a destination. Threads write disjoint parts.
struct FirstElement(*mut u8);

// SAFETY: each item copies to bytes of its own, and reads none that another one writes.
unsafe impl Sync for FirstElement {}

impl RepeatedAxes {
    /// Those of a launch, if it has any that its results can be copied along.
    pub fn of(launch: &Launch<'_>) -> Option<RepeatedAxes> {
        if launch.program.form != Form::Map || launch.accesses.is_empty() {
            return None;
        }
        let shape: Shape = launch.shape.into();
        let mut once = shape.clone();
        for axis in 0..shape.len() {
            let is_same = launch.accesses.iter().all(|access| access.strides[axis] == 0);
            let is_beside = |access: &Access| {
                let inner: usize = shape[axis + 1..].iter().product();
                let mut within = (axis + 1..shape.len()).filter(|within| shape[*within] > 1);
                access.strides[axis] == inner as i64
                    && within.all(|within| {
                        let behind: usize = shape[within + 1..].iter().product();
                        access.strides[within] == behind as i64
                    })
            };
            // What is copied is a line of the cache: less is computed sooner.
            let block: usize = shape[axis + 1..].iter().product();
            let is_line = |dtype: &DType| block * dtype.size() >= CACHE_LINE;
            if shape[axis] > 1
                && is_same
                && launch.program.dests.iter().all(is_line)
                && launch.dests.iter().all(|dest| is_beside(&dest.access))
            {
                once[axis] = 1;
            }
        }
        // One number everywhere is stored as fast as it is copied.
        let varies = once.iter().any(|extent| *extent > 1);
        (varies && once != shape).then_some(RepeatedAxes { once, shape })
    }

    /// Copies the results to the other positions along the repeated axes, the innermost one first.
    ///
    /// # Errors
    /// None of its own.
    ///
    /// # Safety
    /// The destination's elements exist, those of the first positions are computed, and nothing else accesses them.
    pub unsafe fn copy(
        &self,
        (first, access, dtype): (*mut u8, &Access, DType),
        executor: &mut Executor<'_>,
    ) -> Result<()> {
        let repeated = |axis: &usize| self.once[*axis] != self.shape[*axis];
        for axis in (0..self.shape.len()).rev().filter(repeated) {
            let block = self.shape[axis + 1..].iter().product::<usize>() * dtype.size();
            let (all, near) = (block * self.shape[axis], (NEAR / block).max(1) * block);
            let outer = &self.once[..axis];
            let count: usize = outer.iter().product();
            let start = FirstElement(first);
            let run = |mut number: usize| {
                let mut at = access.offset;
                for (extent, stride) in outer.iter().zip(&access.strides).rev() {
                    at += (number % extent) as i64 * stride;
                    number /= extent;
                }
                let start = &start;
                start.0.wrapping_offset(at as isize * dtype.size() as isize)
            };
            let time = |bytes: usize| (count * bytes / SPEED) as u64;
            let begun = near.min(all);
            executor.share(count, time(begun), &|numbers| {
                for first in numbers.map(&run) {
                    let mut done = block;
                    while done < begun {
                        let more = done.min(begun - done);
                        // SAFETY: both parts are in the run, and the one that is read ends before the other.
                        unsafe { first.copy_to_nonoverlapping(first.add(done), more) };
                        done += more;
                    }
                }
                Ok(())
            })?;
            let pieces = (all - begun).div_ceil(near);
            executor.share(count * pieces, time(all - begun), &|numbers| {
                for number in numbers {
                    let (first, done) = (run(number / pieces), begun + number % pieces * near);
                    // SAFETY: as above.
                    unsafe { first.copy_to_nonoverlapping(first.add(done), near.min(all - done)) };
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}
