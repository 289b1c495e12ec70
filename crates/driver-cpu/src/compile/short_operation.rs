//! A plan of one operation, prepared for short rows: most small work is of this kind.
//!
//! Owns [`ShortOperation`]. Elements of any stride go through rows on the stack, so that neither scratch memory
//! nor machine code is looked up, and no row has to be a whole number of vectors. Invariant: it gives the bits of
//! the plan, because it calls the plan's own function.
//!
//! Not here: the choice of this way (`run/few_rows.rs`).

use crate::compile::row_plan::{RowPlan, RowStep, SlotIndex, SlotPlace};
use crate::rows::{self, RowFn};
use gpupy_jit::StridedPointer;
use std::mem::MaybeUninit;

/// The most elements of a short row. Machine code takes less time for more, even if it has to be copied for.
pub const SHORT_ROW: usize = 64;
/// Bytes of a row on the stack, of elements of any size.
const ROW_BYTES: usize = 16 * SHORT_ROW;

/// Where an operand's row is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RowPlace {
    /// Where an operand before it is, of this number; also of an operand that the operation does not have.
    Again(usize),
    /// In place, along the walk of this number.
    Walk(usize),
    /// On the stack: copied along the walk of this number, whose elements have so many bytes.
    Copied { walk: usize, size: usize },
    /// A parameter.
    Param(usize),
    /// A literal.
    Literal(usize),
}

/// One operation on rows of the inputs, with one destination.
#[derive(Debug)]
pub struct ShortOperation {
    f: RowFn,
    args: [RowPlace; 3],
    /// The number of the destination's walk.
    dest: usize,
    /// Bytes of a result where results are computed on the stack, and copied to the destination then.
    copied: Option<usize>,
}

impl ShortOperation {
    /// The operation that a plan of so many inputs consists of. `None` for any other plan.
    pub fn of(plan: &RowPlan, inputs: usize) -> Option<ShortOperation> {
        let mut steps = &plan.steps[..];
        let mut loaded: [Option<(SlotIndex, usize, usize)>; 3] = [None; 3];
        for place in &mut loaded {
            let [RowStep::Load { dst, input, size }, rest @ ..] = steps else { break };
            (*place, steps) = (Some((*dst, *input, *size)), rest);
        }
        // A result that is computed in place and stored a second time has two destinations.
        let is_dest = |slot: SlotIndex| matches!(plan.slots[slot as usize], SlotPlace::Dest(_));
        let (f, args, dest, copied) = match steps {
            [RowStep::Row { f, dst, args, wide: true }] => match plan.slots[*dst as usize] {
                SlotPlace::Dest(dest) => (*f, args, dest, None),
                _ => return None,
            },
            [
                RowStep::Row { f, dst, args, wide: true },
                RowStep::Store { dest, src, scalar: false, size },
            ] if src == dst && !is_dest(*dst) => (*f, args, *dest, Some(*size)),
            _ => return None,
        };
        let place = |slot: SlotIndex| {
            let is_loaded = |(dst, ..): &&(SlotIndex, usize, usize)| *dst == slot;
            if let Some((_, walk, size)) = loaded.iter().flatten().find(is_loaded) {
                return Some(RowPlace::Copied { walk: *walk, size: *size });
            }
            match plan.slots[slot as usize] {
                SlotPlace::Input(input) => Some(RowPlace::Walk(input)),
                SlotPlace::Param(number) => Some(RowPlace::Param(number)),
                SlotPlace::Literal(number) => Some(RowPlace::Literal(number)),
                SlotPlace::Scratch(_) | SlotPlace::Dest(_) | SlotPlace::Reduced(_) => None,
            }
        };
        let operand = |number: usize| {
            let before = args[..number].iter().position(|slot| *slot == args[number]);
            before.map_or_else(|| place(args[number]), |before| Some(RowPlace::Again(before)))
        };
        let args = [operand(0)?, operand(1)?, operand(2)?];
        Some(ShortOperation { f, args, dest: inputs + dest, copied })
    }

    /// The most elements of a row that it computes: rows on the stack are short.
    pub fn longest(&self, plan: &RowPlan) -> usize {
        let is_copied = |place: &RowPlace| matches!(place, RowPlace::Copied { .. });
        match self.copied.is_some() || self.args.iter().any(is_copied) {
            true => SHORT_ROW,
            false => plan.tile,
        }
    }

    /// Computes a row of `n` elements.
    ///
    /// # Safety
    /// The walks, of the inputs and then of the destination, name `n` elements that exist and have the strides of the
    /// plan's variant; `params` are those of its program. `n` is at least 1, and at most [`ShortOperation::longest`].
    #[inline]
    pub unsafe fn run(&self, plan: &RowPlan, walks: &[StridedPointer], params: &[u64], n: usize) {
        let mut stack = MaybeUninit::<[[u128; SHORT_ROW]; 4]>::uninit();
        let row = |number: usize| stack.as_mut_ptr().cast::<u8>().wrapping_add(number * ROW_BYTES);
        let [first, second, third, result] = [0, 1, 2, 3].map(row);
        let operand = |place: RowPlace, row: *mut u8, before: [*const u8; 2]| match place {
            RowPlace::Again(number) => before[number],
            RowPlace::Walk(walk) => walks[walk].ptr.cast_const(),
            RowPlace::Param(number) => (&raw const params[number]).cast(),
            RowPlace::Literal(number) => (&raw const plan.literals[number]).cast(),
            RowPlace::Copied { walk, size } => {
                let StridedPointer { ptr, step } = walks[walk];
                // SAFETY: the row has room for `SHORT_ROW` elements of any size, and the walk's exist.
                unsafe { rows::copy(size, (row, size as isize), (ptr, step), n) };
                row.cast_const()
            }
        };
        let nothing = std::ptr::null();
        let a = operand(self.args[0], first, [nothing; 2]);
        let b = operand(self.args[1], second, [a, nothing]);
        let args = [a, b, operand(self.args[2], third, [a, b])];
        let StridedPointer { ptr, step } = walks[self.dest];
        // SAFETY: all rows have `n` elements, or are scalars as the plan says; a destination is in place where it is
        // not copied.
        unsafe {
            match self.copied {
                None => (self.f)(ptr, args, n),
                Some(size) => {
                    (self.f)(result, args, n);
                    rows::copy(size, (ptr, step), (result, size as isize), n);
                }
            }
        }
    }
}
