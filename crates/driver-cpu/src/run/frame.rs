//! Running: the steps of a plan on one row of elements.
//!
//! Owns [`Frame`]: where the slots of a plan lie for the row at hand. Invariant: nothing is read or
//! written but the elements of the row, scratch memory of this thread, and operands by clamped
//! numbers.
//!
//! Not here: which rows there are (`space.rs`), reductions (`fold.rs`).

use crate::compile::plan::{Choice, Loop, Place, Plan, Slot, Step};
use crate::rows;
use gpupy_core::{Result, memory};
use gpupy_jit::StridedPointer;

/// What a thread keeps for its rows, from launch to launch.
#[derive(Default)]
pub struct Scratch {
    /// Lines of a cache, so that rows are aligned.
    lines: Vec<Line>,
    slots: Vec<*mut u8>,
    pub leaves: Vec<StridedPointer>,
    pub dests: Vec<StridedPointer>,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u8; 64]);

impl Scratch {
    /// So many bytes, which hold some values.
    ///
    /// # Errors
    /// - `OutOfMemory`: there are not so many.
    pub fn bytes(&mut self, count: usize) -> Result<*mut u8> {
        let lines = count.div_ceil(64);
        if self.lines.len() < lines {
            let more = lines - self.lines.len();
            memory::reserve(&mut self.lines, more)?;
            self.lines.resize(lines, Line([0; 64]));
        }
        Ok(self.lines.as_mut_ptr().cast())
    }
}

/// A plan about to run on rows.
pub struct Frame<'a> {
    pub plan: &'a Plan,
    slots: &'a mut [*mut u8],
    /// Along the row at hand, by the number of the leaf.
    pub leaves: &'a mut [StridedPointer],
    /// Along the row at hand, by destination.
    pub dests: &'a mut [StridedPointer],
    /// The operands' elements, and how many there are.
    operands: &'a [(*mut u8, usize)],
    /// Scratch memory behind the plan's own.
    pub beyond: *mut u8,
}

impl<'a> Frame<'a> {
    /// A frame in a thread's memory, with some bytes of scratch memory beyond the plan's.
    ///
    /// # Errors
    /// - `OutOfMemory`: the thread has no such memory.
    pub fn new(
        plan: &'a Plan,
        scratch: &'a mut Scratch,
        (leaves, dests): (usize, usize),
        operands: &'a [(*mut u8, usize)],
        params: &'a [u64],
        beyond: usize,
    ) -> Result<Frame<'a>> {
        let nowhere = StridedPointer { ptr: std::ptr::null_mut(), step: 0 };
        let own = plan.scratch.next_multiple_of(64);
        let base = scratch.bytes(own + beyond)?;
        scratch.slots.clear();
        scratch.slots.extend(plan.slots.iter().map(|place| match *place {
            Place::Scratch(at) => base.wrapping_add(at),
            Place::Param(slot) => (&raw const params[slot]).cast_mut().cast(),
            Place::Literal(slot) => (&raw const plan.literals[slot]).cast_mut().cast(),
            Place::Leaf(_) | Place::Dest(_) | Place::Reduced(_) => std::ptr::null_mut(),
        }));
        scratch.leaves.clear();
        scratch.leaves.resize(leaves, nowhere);
        scratch.dests.clear();
        scratch.dests.resize(dests, nowhere);
        Ok(Frame {
            plan,
            slots: &mut scratch.slots,
            leaves: &mut scratch.leaves,
            dests: &mut scratch.dests,
            operands,
            beyond: base.wrapping_add(own),
        })
    }

    /// Notes where leaves, destinations and the results of reductions lie for the next row.
    pub fn moved(&mut self, reduced: &[*mut u8]) {
        for slot in &self.plan.moving {
            self.slots[*slot as usize] = match self.plan.slots[*slot as usize] {
                Place::Leaf(leaf) => self.leaves[leaf].ptr,
                Place::Dest(dest) => self.dests[dest].ptr,
                Place::Reduced(which) => reduced[which],
                Place::Scratch(_) | Place::Param(_) | Place::Literal(_) => continue,
            };
        }
    }

    /// Where a slot lies.
    pub fn slot(&self, slot: Slot) -> *mut u8 {
        self.slots[slot as usize]
    }

    /// Runs steps on a row of `n` elements.
    ///
    /// # Safety
    /// The walks name elements that exist for the whole row, of the dtypes of the plan's program;
    /// `n` is between 1 and the plan's `tile`.
    pub unsafe fn run(&self, steps: &[Step], n: usize) {
        for step in steps {
            // SAFETY: rows of scratch memory hold a tile; the rest is the caller's.
            unsafe { self.step(step, n) }
        }
    }

    /// # Safety
    /// As for [`Frame::run`].
    #[inline(always)]
    unsafe fn step(&self, step: &Step, n: usize) {
        let rows_of = |wide: bool| if wide { n } else { 1 };
        // SAFETY: the caller's.
        unsafe {
            match step {
                Step::Row { f, dst, args, wide } => {
                    let args = args.map(|slot| self.slot(slot).cast_const());
                    f(self.slot(*dst), args, rows_of(*wide));
                }
                Step::Load { dst, leaf, size } => {
                    let StridedPointer { ptr, step } = self.leaves[*leaf];
                    rows::copy(*size, (self.slot(*dst), *size as isize), (ptr, step), n);
                }
                Step::Index { dst, leaf, wide } => {
                    let StridedPointer { ptr: first, step } = self.leaves[*leaf];
                    rows::index(self.slot(*dst), first as i64, step as i64, rows_of(*wide));
                }
                Step::Gather { dst, operand, numbers, size, wide } => {
                    let (dst, numbers) = (self.slot(*dst), self.slot(*numbers));
                    let table = self.operands[*operand];
                    let table = (table.0.cast_const(), table.1);
                    rows::gather(*size, dst, table, numbers, rows_of(*wide));
                }
                Step::Copy { dst, src, scalar, size } => {
                    let step = *size as isize;
                    let from = if *scalar { 0 } else { step };
                    rows::copy(*size, (self.slot(*dst), step), (self.slot(*src), from), n);
                }
                Step::Store { dest, src, scalar, size } => {
                    let StridedPointer { ptr, step } = self.dests[*dest];
                    let from = if *scalar { 0 } else { *size as isize };
                    rows::copy(*size, (ptr, step), (self.slot(*src), from), n);
                }
                Step::Loop(region) => self.run_loop(region, n),
                Step::Turns(turns) => self.run_turns(turns, n),
                Step::If(choice) => drop(self.choose(choice, n)),
            }
        }
    }

    /// # Safety
    /// As for [`Frame::run`].
    unsafe fn run_loop(&self, region: &Loop, n: usize) {
        // Beyond the highest count no element is in the loop.
        for number in 0..i32::MAX {
            // SAFETY: the slot is of an int32; the rest is the caller's.
            unsafe {
                self.slot(region.iter).cast::<i32>().write_unaligned(number);
                self.run(&region.test, n);
                if !self.any(region.active, n) {
                    break;
                }
                if !self.turn(region, n) {
                    break;
                }
            }
        }
    }

    /// An iteration of a loop; false where all elements have done with it.
    ///
    /// # Safety
    /// As for [`Frame::run`].
    unsafe fn turn(&self, region: &Loop, n: usize) -> bool {
        for step in &region.body {
            // SAFETY: the caller's.
            unsafe {
                match step {
                    Step::If(choice) if region.is_left => {
                        if !self.choose(choice, n) {
                            return false;
                        }
                    }
                    step => self.step(step, n),
                }
            }
        }
        true
    }

    /// Does the branches that elements take; tells whether one takes the first.
    ///
    /// # Safety
    /// As for [`Frame::run`].
    unsafe fn choose(&self, choice: &Choice, n: usize) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let is_taken = self.any(choice.taken, n);
            if is_taken {
                self.run(&choice.then, n);
            }
            if self.any(choice.refused, n) {
                self.run(&choice.otherwise, n);
            }
            is_taken
        }
    }

    /// True when some element of a row of bools, or the only one, is.
    ///
    /// # Safety
    /// As for [`Frame::run`].
    unsafe fn any(&self, (slot, scalar): (Slot, bool), n: usize) -> bool {
        // SAFETY: the row has that many bytes.
        let row =
            unsafe { std::slice::from_raw_parts(self.slot(slot), if scalar { 1 } else { n }) };
        row.iter().any(|byte| *byte != 0)
    }
}
