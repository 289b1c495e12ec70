//! Running the iterations of a loop by machine code, a short row at a time: it ends when no element of the row is left.
//!
//! Not here: the code (`compile/turns.rs`).

use crate::compile::plan::Turns;
use crate::run::frame::Frame;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_jit::{Row, Walk};
use smallvec::SmallVec;

/// The elements that go through a loop together, until the last of them has done with it.
const TOGETHER: usize = REDUCE_CHUNK;

impl Frame<'_> {
    /// Runs a loop on a row of `n` elements.
    ///
    /// # Safety
    /// As for [`Frame::run`].
    pub unsafe fn run_turns(&self, turns: &Turns, n: usize) {
        // SAFETY: the slot is of an int32.
        let count = unsafe { self.slot(turns.count).cast::<i32>().read_unaligned() };
        for first in (0..n).step_by(TOGETHER) {
            // SAFETY: the row has these elements.
            unsafe { self.run_together(turns, count, first, TOGETHER.min(n - first)) }
        }
    }

    /// # Safety
    /// As for [`Frame::run`]; the row has `n` elements from `first` on.
    unsafe fn run_together(&self, turns: &Turns, count: i32, first: usize, n: usize) {
        let row = |slot, size: usize| Walk {
            ptr: self.slot(slot).wrapping_add(first * size),
            step: size as isize,
        };
        let open = row(turns.open, 1);
        let carried = turns.carried.len();
        let mut accesses: SmallVec<[Walk; 16]> = SmallVec::new();
        accesses.extend(turns.carried.iter().map(|(own, _, size)| row(*own, *size)));
        accesses.extend(turns.known.iter().map(|(slot, step)| Walk {
            ptr: self.slot(*slot).wrapping_add(first * step.unsigned_abs()),
            step: *step,
        }));
        let mut dests: SmallVec<[Walk; 16]> = SmallVec::new();
        dests.extend(turns.carried.iter().map(|(_, other, size)| row(*other, *size)));
        dests.push(open);
        let mut left = count.max(0);
        let mut is_swapped = false;
        while left > 0 {
            let (several, unrolled) = &turns.several;
            let (kernel, done) =
                if left >= *unrolled { (several, *unrolled) } else { (&turns.one, 1) };
            let (accesses_at, dests_at) = (accesses.as_ptr(), dests.as_ptr());
            let row = Row { n, accesses: accesses_at, dests: dests_at, params: std::ptr::null() };
            // SAFETY: all rows have these elements; what is read is not written.
            unsafe { kernel.run(&row) };
            left -= done;
            is_swapped = !is_swapped;
            for k in 0..carried {
                std::mem::swap(&mut accesses[k], &mut dests[k]);
            }
            // SAFETY: the code has written so many bools.
            let open = unsafe { std::slice::from_raw_parts(open.ptr, n) };
            if !open.iter().any(|open| *open != 0) {
                break;
            }
        }
        if is_swapped {
            for (k, (_, _, size)) in turns.carried.iter().enumerate() {
                // SAFETY: both rows have these elements, and are two.
                unsafe {
                    accesses[k].ptr.copy_to_nonoverlapping(dests[k].ptr, n * size);
                }
            }
        }
    }
}
