//! Runs a compiled loop on a row, with stream compaction: it ends when no element of the row is active.
//!
//! Owns [`ActiveElements`]. When a quarter of the active elements has left the loop, the others are compacted,
//! so that elements outside the loop cost nothing. After the loop, every element is back in its place.
//!
//! Not here: the code (`compile/unrolled_loop.rs`).

use crate::compile::row_plan::{Carried, CompiledLoop, LOOP_ROW};
use crate::run::row_frame::RowFrame;
use crate::thresholds::T;
use gpupy_jit::{RowArguments, StridedPointer};
use smallvec::SmallVec;

impl RowFrame<'_> {
    /// Runs a loop on a row of `n` elements.
    ///
    /// # Safety
    /// As for [`RowFrame::run`].
    pub unsafe fn run_compiled_loop(&self, compiled: &CompiledLoop, n: usize) {
        // SAFETY: the slot of the count holds an int32.
        let count = unsafe { self.slot(compiled.count).cast::<i32>().read_unaligned() };
        for first in (0..n).step_by(LOOP_ROW) {
            // SAFETY: the row has these elements.
            unsafe { self.run_together(compiled, count, first, LOOP_ROW.min(n - first)) }
        }
    }

    /// # Safety
    /// As for [`RowFrame::run`]; the row has `n` elements from `first` on, at most `LOOP_ROW`.
    unsafe fn run_together(&self, compiled: &CompiledLoop, count: i32, first: usize, n: usize) {
        let row = |slot, size: usize| StridedPointer {
            ptr: self.slot(slot).wrapping_add(first * size),
            step: size as isize,
        };
        let open = row(compiled.open, 1);
        let carried = compiled.carried.len();
        let rows = |pick: fn(&Carried) -> u32| {
            compiled.carried.iter().map(move |one| row(pick(one), one.size))
        };
        let own: SmallVec<[StridedPointer; 16]> = rows(|one| one.own).collect();
        let known = compiled.known.iter().map(|known| match known.left {
            Some(_) => row(known.slot, known.size),
            None => StridedPointer { ptr: self.slot(known.slot), step: 0 },
        });
        let mut accesses: SmallVec<[StridedPointer; 16]> =
            own.iter().copied().chain(known).collect();
        let mut dests: SmallVec<[StridedPointer; 16]> = rows(|one| one.changing[0]).collect();
        dests.push(open);
        // The rows that the next iterations write: results alternate between two rows.
        let mut other: SmallVec<[StridedPointer; 16]> = rows(|one| one.changing[1]).collect();
        let mut left = ActiveElements { count: n, positions: None };
        let mut iterations = count.max(0);
        let mut has_run = false;
        while iterations > 0 {
            let (several, unrolled) = &compiled.several;
            let (kernel, done) =
                if iterations >= *unrolled { (several, *unrolled) } else { (&compiled.one, 1) };
            let (accesses_at, dests_at) = (accesses.as_ptr(), dests.as_ptr());
            let row = RowArguments {
                n: left.count,
                accesses: accesses_at,
                dests: dests_at,
                params: std::ptr::null(),
                tables: std::ptr::null(),
            };
            // SAFETY: all rows have `count` elements, and no row is both read and written.
            unsafe { kernel.run(&row) };
            iterations -= done;
            for k in 0..carried {
                accesses[k] = dests[k];
                std::mem::swap(&mut dests[k], &mut other[k]);
            }
            has_run = true;
            // SAFETY: the kernel has written a bool for each active element.
            let open = unsafe { std::slice::from_raw_parts(open.ptr, left.count) };
            let still: usize = open.iter().map(|open| usize::from(*open)).sum();
            if still == 0 {
                break;
            }
            if left.count > T.compacted_elements && still <= left.count / 4 * 3 {
                let mut known = SmallVec::<[(usize, StridedPointer); 16]>::new();
                known.extend(compiled.known.iter().enumerate().filter_map(|(k, known)| {
                    known.left.map(|slot| (carried + k, row_of(self.slot(slot), first, known.size)))
                }));
                // SAFETY: rows have these elements, and the rows of `own` and of invariants are written only here.
                unsafe { left.move_together(open, &mut accesses, &own, &known) };
            }
        }
        if has_run {
            // SAFETY: `accesses` holds the active elements, and `own` has room for all elements of the row.
            unsafe { left.give_back(&accesses, &own) };
        }
    }
}

fn row_of(slot: *mut u8, first: usize, size: usize) -> StridedPointer {
    StridedPointer { ptr: slot.wrapping_add(first * size), step: size as isize }
}

/// The elements that are still in a loop, and, after a compaction, the position of each in the original row.
struct ActiveElements {
    count: usize,
    positions: Option<Box<[u16; LOOP_ROW]>>,
}

impl ActiveElements {
    /// Compacts the active elements of carried values (the first of `accesses`) and of loop invariants.
    /// Elements that have left the loop are copied to their places in `own`. `known` pairs the index of an
    /// invariant's access with its compacted row.
    ///
    /// # Safety
    /// The rows have `count` elements, and `own` has elements at their positions. Rows do not overlap, except
    /// that an invariant may already lie in its compacted row.
    unsafe fn move_together(
        &mut self,
        open: &[u8],
        accesses: &mut [StridedPointer],
        own: &[StridedPointer],
        known: &[(usize, StridedPointer)],
    ) {
        let (mut stay, mut leave) = ([0u16; LOOP_ROW], [0u16; LOOP_ROW]);
        let (mut staying, mut leaving) = (0, 0);
        for (at, open) in (0..).zip(open) {
            // Branch-free, because the branch would be unpredictable.
            stay[staying] = at;
            leave[leaving] = at;
            staying += usize::from(*open);
            leaving += usize::from(*open == 0);
        }
        let (stay, leave) = (&stay[..staying], &leave[..leaving]);
        let positions = self.positions.as_deref();
        let place = |at: u16| positions.map_or(at, |positions| positions[at as usize]);
        for (from, own) in accesses.iter().zip(own) {
            // SAFETY: both rows have elements at these places, as the function requires.
            unsafe { copied(*from, *own, leave.iter().map(|at| (*at, place(*at)))) };
        }
        for from in &accesses[..own.len()] {
            // SAFETY: elements move towards the front in order, so none is overwritten before it has moved.
            unsafe { copied(*from, *from, stay.iter().copied().zip(0..)) };
        }
        for (number, to) in known {
            // SAFETY: the compacted row has room for the active elements, which move towards the front in order.
            unsafe { copied(accesses[*number], *to, stay.iter().copied().zip(0..)) };
            accesses[*number] = *to;
        }
        let mut positions = Box::new([0; LOOP_ROW]);
        for (to, at) in positions.iter_mut().zip(stay) {
            *to = place(*at);
        }
        self.positions = Some(positions);
        self.count = staying;
    }

    /// Copies the active elements back to their places.
    ///
    /// # Safety
    /// As for [`ActiveElements::move_together`].
    unsafe fn give_back(&self, accesses: &[StridedPointer], own: &[StridedPointer]) {
        for (from, own) in accesses.iter().zip(own) {
            match &self.positions {
                None => {
                    let bytes = self.count * own.step.unsigned_abs();
                    // SAFETY: both rows have `count` elements, and they are different rows.
                    unsafe { from.ptr.copy_to_nonoverlapping(own.ptr, bytes) }
                }
                Some(positions) => {
                    let places = positions[..self.count].iter().copied();
                    // SAFETY: both rows have elements at these places, as the function requires.
                    unsafe { copied(*from, *own, (0..).zip(places)) }
                }
            }
        }
    }
}

/// Copies elements from places of one row to places of another, in order.
///
/// # Safety
/// The rows have elements at these places.
unsafe fn copied(
    from: StridedPointer,
    to: StridedPointer,
    places: impl Iterator<Item = (u16, u16)>,
) {
    // SAFETY: both rows have elements at these places, as the function requires.
    unsafe {
        match from.step {
            1 => copied_as::<u8>(from, to, places),
            2 => copied_as::<u16>(from, to, places),
            4 => copied_as::<u32>(from, to, places),
            8 => copied_as::<u64>(from, to, places),
            _ => copied_as::<u128>(from, to, places),
        }
    }
}

/// # Safety
/// As for [`copied`]; elements have this type's size.
unsafe fn copied_as<T: Copy>(
    from: StridedPointer,
    to: StridedPointer,
    places: impl Iterator<Item = (u16, u16)>,
) {
    let (from, to) = (from.ptr.cast::<T>(), to.ptr.cast::<T>());
    for (at, place) in places {
        // SAFETY: both rows have elements at these places, as the function requires.
        unsafe {
            let element = from.wrapping_add(at as usize).read_unaligned();
            to.wrapping_add(place as usize).write_unaligned(element);
        }
    }
}
