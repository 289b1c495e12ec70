//! Runs the steps of a plan on one row of elements.
//!
//! Owns [`RowFrame`]: the addresses of a plan's slots for the current row. Invariant: it reads and writes only
//! the elements of the row, scratch memory of this thread, and operands at clamped indices.
//!
//! Not here: the iteration over rows (`iteration_space.rs`), reductions (`launch_items.rs`).

use crate::compile::row_plan::{
    MaskedLoop, PredicatedBranch, RowPlan, RowStep, SlotIndex, SlotPlace,
};
use crate::rows;
use gpupy_core::{Result, memory};
use gpupy_jit::{GatherTable, StridedPointer};

/// Buffers that a thread keeps for its rows, from launch to launch.
#[derive(Default)]
pub struct ThreadScratch {
    /// Whole cache lines, so that rows are aligned.
    lines: Vec<ScratchLine>,
    slots: Vec<*mut u8>,
    pub inputs: Vec<StridedPointer>,
    pub dests: Vec<StridedPointer>,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct ScratchLine(#[allow(dead_code)] [u8; 64]);

impl ThreadScratch {
    /// At least `count` bytes of initialised memory.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no memory.
    pub fn bytes(&mut self, count: usize) -> Result<*mut u8> {
        let lines = count.div_ceil(64);
        if self.lines.len() < lines {
            let more = lines - self.lines.len();
            memory::reserve(&mut self.lines, more)?;
            self.lines.resize(lines, ScratchLine([0; 64]));
        }
        Ok(self.lines.as_mut_ptr().cast())
    }
}

/// A plan with the addresses of its slots.
pub struct RowFrame<'a> {
    pub plan: &'a RowPlan,
    slots: &'a mut [*mut u8],
    /// Walks along the current row, by input.
    pub inputs: &'a mut [StridedPointer],
    /// Walks along the current row, by destination.
    pub dests: &'a mut [StridedPointer],
    /// The operands, for gathers.
    tables: &'a [GatherTable],
    /// Scratch memory after the plan's own.
    pub beyond: *mut u8,
}

impl<'a> RowFrame<'a> {
    /// A frame in a thread's scratch memory, with `beyond` bytes after the plan's own.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no memory.
    pub fn new(
        plan: &'a RowPlan,
        scratch: &'a mut ThreadScratch,
        (inputs, dests): (usize, usize),
        tables: &'a [GatherTable],
        params: &'a [u64],
        beyond: usize,
    ) -> Result<RowFrame<'a>> {
        let nowhere = StridedPointer { ptr: std::ptr::null_mut(), step: 0 };
        let own = plan.scratch.next_multiple_of(64);
        let base = scratch.bytes(own + beyond)?;
        scratch.slots.clear();
        scratch.slots.extend(plan.slots.iter().map(|place| match *place {
            SlotPlace::Scratch(at) => base.wrapping_add(at),
            SlotPlace::Param(slot) => (&raw const params[slot]).cast_mut().cast(),
            SlotPlace::Literal(slot) => (&raw const plan.literals[slot]).cast_mut().cast(),
            SlotPlace::Input(_) | SlotPlace::Dest(_) | SlotPlace::Reduced(_) => {
                std::ptr::null_mut()
            }
        }));
        scratch.inputs.clear();
        scratch.inputs.resize(inputs, nowhere);
        scratch.dests.clear();
        scratch.dests.resize(dests, nowhere);
        Ok(RowFrame {
            plan,
            slots: &mut scratch.slots,
            inputs: &mut scratch.inputs,
            dests: &mut scratch.dests,
            tables,
            beyond: base.wrapping_add(own),
        })
    }

    /// Updates the addresses of inputs, destinations and results of reductions for the next row.
    pub fn moved(&mut self, reduced: &[*mut u8]) {
        for slot in &self.plan.moving {
            self.slots[*slot as usize] = match self.plan.slots[*slot as usize] {
                SlotPlace::Input(input) => self.inputs[input].ptr,
                SlotPlace::Dest(dest) => self.dests[dest].ptr,
                SlotPlace::Reduced(which) => reduced[which],
                SlotPlace::Scratch(_) | SlotPlace::Param(_) | SlotPlace::Literal(_) => continue,
            };
        }
    }

    /// The address of a slot.
    pub fn slot(&self, slot: SlotIndex) -> *mut u8 {
        self.slots[slot as usize]
    }

    /// Runs steps on a row of `n` elements.
    ///
    /// # Safety
    /// The walks name elements that exist for the whole row, of the dtypes of the plan's program;
    /// `n` is between 1 and the plan's `tile`.
    pub unsafe fn run(&self, steps: &[RowStep], n: usize) {
        for step in steps {
            // SAFETY: rows of scratch memory hold a tile, so `n` elements; walks name elements that exist, as
            // this function requires.
            unsafe { self.step(step, n) }
        }
    }

    /// # Safety
    /// As for [`RowFrame::run`].
    #[inline(always)]
    unsafe fn step(&self, step: &RowStep, n: usize) {
        let rows_of = |wide: bool| if wide { n } else { 1 };
        // SAFETY: every slot has `n` elements or is a scalar, and walks name elements that exist, as `run` requires.
        unsafe {
            match step {
                RowStep::Row { f, dst, args, wide } => {
                    let args = args.map(|slot| self.slot(slot).cast_const());
                    f(self.slot(*dst), args, rows_of(*wide));
                }
                RowStep::Load { dst, input, size } => {
                    let StridedPointer { ptr, step } = self.inputs[*input];
                    rows::copy(*size, (self.slot(*dst), *size as isize), (ptr, step), n);
                }
                RowStep::Index { dst, input, wide } => {
                    let StridedPointer { ptr: first, step } = self.inputs[*input];
                    rows::index(self.slot(*dst), first as i64, step as i64, rows_of(*wide));
                }
                RowStep::Gather { dst, operand, numbers, size, wide } => {
                    let (dst, numbers) = (self.slot(*dst), self.slot(*numbers));
                    rows::gather(*size, dst, self.tables[*operand], numbers, rows_of(*wide));
                }
                RowStep::Copy { dst, src, scalar, size } => {
                    let step = *size as isize;
                    let from = if *scalar { 0 } else { step };
                    rows::copy(*size, (self.slot(*dst), step), (self.slot(*src), from), n);
                }
                RowStep::Store { dest, src, scalar, size } => {
                    let StridedPointer { ptr, step } = self.dests[*dest];
                    let from = if *scalar { 0 } else { *size as isize };
                    rows::copy(*size, (ptr, step), (self.slot(*src), from), n);
                }
                RowStep::Loop(region) => self.run_loop(region, n),
                RowStep::CompiledLoop(compiled) => self.run_compiled_loop(compiled, n),
                RowStep::If(choice) => drop(self.choose(choice, n)),
            }
        }
    }

    /// # Safety
    /// As for [`RowFrame::run`].
    unsafe fn run_loop(&self, region: &MaskedLoop, n: usize) {
        // Beyond the highest count no element is in the loop.
        for number in 0..i32::MAX {
            // SAFETY: the slot of the iteration's number holds an int32; the steps run under the conditions of `run`.
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

    /// Runs an iteration of a loop; returns false when all elements have left the loop.
    ///
    /// # Safety
    /// As for [`RowFrame::run`].
    unsafe fn turn(&self, region: &MaskedLoop, n: usize) -> bool {
        for step in &region.body {
            // SAFETY: the steps run under the conditions of `run`.
            unsafe {
                match step {
                    RowStep::If(choice) if region.is_left => {
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

    /// Runs the branches that some element takes; returns whether one takes the first.
    ///
    /// # Safety
    /// As for [`RowFrame::run`].
    unsafe fn choose(&self, choice: &PredicatedBranch, n: usize) -> bool {
        // SAFETY: the steps run under the conditions of `run`.
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

    /// Whether some element of a row of bools, or a scalar bool, is true.
    ///
    /// # Safety
    /// As for [`RowFrame::run`].
    unsafe fn any(&self, (slot, scalar): (SlotIndex, bool), n: usize) -> bool {
        // SAFETY: a row of bools has a byte for each of the `n` elements, a scalar has one.
        let row =
            unsafe { std::slice::from_raw_parts(self.slot(slot), if scalar { 1 } else { n }) };
        row.iter().any(|byte| *byte != 0)
    }
}
