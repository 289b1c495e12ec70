//! Executable code, and its calls over a row.
//!
//! Owns [`Kernel`], and all `unsafe` of calls. The code takes rows of consecutive elements, in whole passes on machines
//! without masks. Rows with other strides, and the rest of a row, are copied through short rows of the thread.
//!
//! Not here: the arguments (`row_arguments.rs`), code generation (`function_writer.rs`), the loops of copies
//! (`strided_copies.rs`).

use crate::RowStride;
use crate::aligned_bytes::AlignedBytes;
use crate::complex_parts::ComplexParts;
use crate::row_arguments::{RowArguments, RowGroup, StridedPointer, move_on};
use crate::strided_copies::{PackedRows, beside, join, take_apart};
use memmap2::{Mmap, MmapMut};
use std::cell::RefCell;

/// The struct whose address is the code's argument.
#[repr(C)]
struct CallArguments {
    row: RowArguments,
    constants: *const u8,
    frame: *mut u8,
}

/// The properties of an access or destination that a call needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowBinding {
    pub step: RowStride,
    /// Bytes of an element; 0 for an `index`, which has none.
    pub bytes: usize,
}

impl RowBinding {
    /// Bytes between consecutive elements of a copy.
    fn step_of_copy(&self) -> isize {
        let elements = if self.step.is_of_parts() { 2 } else { 1 };
        (elements * self.bytes) as isize
    }

    /// Whether points are computed through a copy, where rows `are_padded` to whole passes or not.
    fn is_copied(&self, are_padded: bool) -> bool {
        match self.step {
            _ if self.bytes == 0 => false,
            RowStride::Zero => false,
            RowStride::Any => true,
            _ => are_padded,
        }
    }
}

/// The walks that are copied: those whose elements lie beside each other together. Each time the number of the first
/// walk, the bytes of an element, and how many walks there are.
fn copied_together(
    slots: &[RowBinding],
    walks: &[StridedPointer],
    are_padded: bool,
) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        next += slots[next..].iter().position(|slot| slot.is_copied(are_padded))?;
        let (number, slot) = (next, &slots[next]);
        if slot.step.is_of_parts() {
            // The real part's walk is one over whole complex numbers.
            next += 2;
            return Some((number, 2 * slot.bytes, 1));
        }
        let others = slots[number..].iter().zip(&walks[number..]);
        let alike = others
            .take_while(|(other, _)| other.step == RowStride::Any && other.bytes == slot.bytes);
        let count = match slot.step {
            RowStride::Any => beside(alike.map(|(_, walk)| *walk), slot.bytes),
            _ => 1,
        };
        next += count;
        Some((number, slot.bytes, count))
    })
}

/// The properties of all rows of a program.
pub(crate) struct KernelRows {
    pub accesses: Vec<RowBinding>,
    pub dests: Vec<RowBinding>,
    /// Whether operands are read at computed indices.
    pub gathers: bool,
}

/// The compiled code of one program and variant.
pub struct Kernel {
    code: Mmap,
    constants: AlignedBytes,
    /// Bytes of the code's frame.
    frame: usize,
    /// Rows that are passed to the code directly have a multiple of this many points.
    granule: usize,
    accesses: Vec<RowBinding>,
    dests: Vec<RowBinding>,
    /// Whether operands are read at computed indices.
    gathers: bool,
    /// Whether the strides of all walks allow passing rows to the code directly.
    plain: bool,
    /// The origins of walks, for code over the parts of complex numbers.
    parts: Option<ComplexParts>,
}

/// The most points of one copy. Their rows stay in the L1 cache.
const CHUNK: usize = 512;
/// The most bytes from a copied row to the next, of elements of any size.
const COPY: usize = CHUNK * 8 + 64;

/// Scratch memory that each thread keeps between calls.
struct RowScratch {
    frame: AlignedBytes,
    copies: AlignedBytes,
    walks: Vec<StridedPointer>,
    /// Walks over the parts of complex numbers.
    parts: Vec<StridedPointer>,
}

thread_local! {
    static SCRATCH: RefCell<RowScratch> = RefCell::new(RowScratch {
        frame: AlignedBytes::new(0),
        copies: AlignedBytes::new(0),
        walks: Vec::new(),
        parts: Vec::new(),
    });
}

impl Kernel {
    /// Maps code as executable. `None` if the system refuses.
    pub(crate) fn new(
        code: &[u8],
        constants: AlignedBytes,
        frame: usize,
        granule: usize,
        rows: KernelRows,
    ) -> Option<Kernel> {
        let KernelRows { accesses, dests, gathers } = rows;
        let mut memory = MmapMut::map_anon(code.len()).ok()?;
        memory.copy_from_slice(code);
        let plain = !accesses.iter().any(|slot| slot.step == RowStride::Any && slot.bytes > 0)
            && dests.iter().all(|slot| slot.step != RowStride::Any);
        Some(Kernel {
            code: memory.make_exec().ok()?,
            constants,
            frame,
            granule,
            accesses,
            dests,
            gathers,
            plain,
            parts: None,
        })
    }

    /// A kernel of a program over complex numbers, from the kernel over their parts.
    pub(crate) fn of_parts(self, parts: ComplexParts) -> Kernel {
        Kernel { parts: Some(parts), ..self }
    }

    /// The machine code, for disassemblers.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// Computes the program at each point of a row.
    ///
    /// - **Units:** steps are bytes; elements need not be aligned.
    /// - **Empty:** a row without points changes nothing.
    /// - **Ordering:** done on return. Any number of threads may run a kernel at once.
    ///
    /// # Safety
    /// - The row has a walk for each `load` and `index` of the program and for each destination, and the bits of each
    ///   parameter.
    /// - If the program gathers, the row has a table for each operand, with at least one element, and with memory of at
    ///   least [`LEAST_BYTES`](crate::GatherTable::LEAST_BYTES).
    /// - The elements of tables, and those of walks at `n` points, are valid for reads, those of destinations for
    ///   writes, during the call. No other thread writes elements that are read.
    /// - Elements of destinations overlap neither each other nor elements that are read.
    /// - Walks have the strides of the variant: `Unit` steps are the element's size, `Zero` steps are 0. A destination
    ///   of `Lanes` has 16 elements for each 256 points, and then `n` is a multiple of 256.
    #[inline]
    pub unsafe fn run(&self, row: &RowArguments) {
        // Most small launches need no scratch memory, and looking it up would take as long as the launch.
        let plain = self.plain && self.parts.is_none() && self.frame == 0;
        if plain && (self.granule == 1 || row.n.is_multiple_of(self.granule)) {
            if row.n > 0 {
                // SAFETY: the caller keeps the conditions of `run`. The strides are plain, the row has whole passes,
                // and the code uses no frame.
                unsafe { self.call(*row, std::ptr::null_mut()) };
            }
            return;
        }
        // SAFETY: the conditions are those of `run`, which the caller keeps.
        unsafe { self.run_by_scratch(row) }
    }

    /// Computes the program at each point of rows that lie beside each other, in their order. What is the same for all
    /// rows is asked once. The walks of the group are those behind its last row then.
    ///
    /// - **Units, empty, ordering:** as of [`Kernel::run`].
    ///
    /// # Safety
    /// The conditions of [`Kernel::run`] for each row; no row reads what another one writes.
    pub unsafe fn run_rows(&self, group: RowGroup<'_>) {
        let RowGroup { n, count, walks, accesses, steps, params, tables } = group;
        let rest = n % self.granule;
        let row_of = |n: usize, walks: &[StridedPointer]| {
            let (accesses, dests) = walks.split_at(accesses);
            let (accesses, dests) = (accesses.as_ptr(), dests.as_ptr());
            RowArguments { n, accesses, dests, params, tables }
        };
        let is_whole = self.plain && self.parts.is_none() && n >= self.granule;
        if !is_whole || rest > 0 && !self.may_repeat(&row_of(n, walks), count, steps) {
            for _ in 0..count {
                // SAFETY: the caller keeps the conditions of `run`.
                unsafe { self.run(&row_of(n, walks)) };
                move_on(walks, steps);
            }
            return;
        }
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.frame.reserve(self.frame);
            let frame = scratch.frame.bytes().as_mut_ptr();
            let last = &mut scratch.walks;
            last.clear();
            if rest > 0 {
                last.extend(walks.iter().map(|walk| walk.moved((n - self.granule) as isize)));
            }
            for _ in 0..count {
                // SAFETY: the caller keeps the conditions of `run`. The strides are plain, both calls have whole passes
                // inside the row, and the frame has been reserved. The results of points that are computed twice are
                // the same.
                unsafe {
                    self.call(row_of(n - rest, walks), frame);
                    if rest > 0 {
                        self.call(row_of(self.granule, last), frame);
                        move_on(last, steps);
                    }
                }
                move_on(walks, steps);
            }
        });
    }

    /// Does the work of `run` with the thread's scratch memory.
    ///
    /// # Safety
    /// The conditions of `run`.
    unsafe fn run_by_scratch(&self, row: &RowArguments) {
        SCRATCH.with_borrow_mut(|scratch| {
            let of_parts;
            let row = match &self.parts {
                Some(parts) => {
                    // SAFETY: the row has all walks of the program over complex numbers.
                    of_parts = unsafe { parts.row(row, &mut scratch.parts) };
                    &of_parts
                }
                None => row,
            };
            scratch.frame.reserve(self.frame);
            let whole = if self.plain { row.n - row.n % self.granule } else { 0 };
            if whole > 0 {
                let row = RowArguments { n: whole, ..*row };
                // SAFETY: the caller keeps the conditions of `run`. The strides are plain, the row has whole passes,
                // and the frame has been reserved.
                unsafe { self.call(row, scratch.frame.bytes().as_mut_ptr()) };
            }
            if whole < row.n && whole > 0 && self.may_repeat(row, 1, &[]) {
                // SAFETY: the caller keeps the conditions of `run`. The last points of the row are a whole pass, whose
                // results are the same however often they are computed.
                unsafe { self.last_pass(row, scratch) };
                return;
            }
            if whole < row.n {
                scratch.copies.reserve(COPY * (self.accesses.len() + self.dests.len()));
            }
            let mut done = whole;
            while done < row.n {
                let len = (row.n - done).min(CHUNK);
                // SAFETY: the caller keeps the conditions of `run`, `done + len` is at most `n`, and copies have
                // been reserved.
                unsafe { self.copied(row, done, len, scratch) };
                done += len;
            }
        });
    }

    /// Whether points of a row, and of those beside it (see [`RowGroup`]), may be computed twice: no destination adds
    /// to what lies there, and none lies where elements are read; those of gathers may lie anywhere.
    fn may_repeat(&self, row: &RowArguments, count: usize, steps: &[isize]) -> bool {
        let step_of = |number: usize| steps.get(number).copied().unwrap_or_default();
        !self.gathers
            && self.dests.iter().enumerate().all(|(number, slot)| {
                // SAFETY: the row has a walk for each destination.
                let dest = unsafe { *row.dests.add(number) };
                let dest = (dest, step_of(self.accesses.len() + number));
                let is_apart = |(number, read): (usize, &RowBinding)| {
                    // SAFETY: the row has a walk for each access.
                    let walk = unsafe { *row.accesses.add(number) };
                    read.bytes == 0 || walk.is_apart_in_rows(step_of(number), dest, row.n, count)
                };
                slot.step != RowStride::Lanes && self.accesses.iter().enumerate().all(is_apart)
            })
    }

    /// Computes the last points of a row, as many as a pass has.
    ///
    /// # Safety
    /// The conditions of `run`. The strides are plain, the row has at least as many points, and the frame has been
    /// reserved.
    unsafe fn last_pass(&self, row: &RowArguments, scratch: &mut RowScratch) {
        let first = (row.n - self.granule) as isize;
        // SAFETY: the row has a walk for each access and destination.
        let (accesses, dests) = unsafe {
            (
                std::slice::from_raw_parts(row.accesses, self.accesses.len()),
                std::slice::from_raw_parts(row.dests, self.dests.len()),
            )
        };
        scratch.walks.clear();
        scratch.walks.extend(accesses.iter().chain(dests).map(|walk| walk.moved(first)));
        let (accesses, dests) = scratch.walks.split_at(self.accesses.len());
        let (accesses, dests) = (accesses.as_ptr(), dests.as_ptr());
        let row = RowArguments { n: self.granule, accesses, dests, ..*row };
        // SAFETY: the caller keeps the conditions of `call`.
        unsafe { self.call(row, scratch.frame.bytes().as_mut_ptr()) };
    }

    /// Computes `len` points from number `first` through copies.
    ///
    /// # Safety
    /// The conditions of `run`. The points are inside the row, and `scratch` has room for all copies.
    unsafe fn copied(
        &self,
        row: &RowArguments,
        first: usize,
        len: usize,
        scratch: &mut RowScratch,
    ) {
        let padded = len.next_multiple_of(self.granule);
        let are_padded = padded != len;
        // Copies of short rows are near each other, and none is a power of two from the next: caches have few places
        // for these.
        let apart = (padded * 8).next_multiple_of(64) + 64;
        let copies = scratch.copies.bytes().as_mut_ptr();
        // SAFETY: the row has a walk for each access and destination.
        let (accesses, dests) = unsafe {
            (
                std::slice::from_raw_parts(row.accesses, self.accesses.len()),
                std::slice::from_raw_parts(row.dests, self.dests.len()),
            )
        };
        scratch.walks.clear();
        for (walks, slots) in [(accesses, &self.accesses), (dests, &self.dests)] {
            for (walk, slot) in walks.iter().zip(slots) {
                let ptr = copies.wrapping_add(scratch.walks.len() * apart);
                scratch.walks.push(match slot.is_copied(are_padded) {
                    true => StridedPointer { ptr, step: slot.step_of_copy() },
                    false => walk.moved(first as isize),
                });
            }
        }
        let (from, to) = scratch.walks.split_at(accesses.len());
        let rows_of = |walk: &StridedPointer, bytes: usize, count: usize| PackedRows {
            first: walk.ptr,
            apart,
            count,
            bytes,
        };
        for (number, bytes, count) in copied_together(&self.accesses, accesses, are_padded) {
            let walk = accesses[number].moved(first as isize);
            // SAFETY: the row's elements may be read, and a copy has room for `CHUNK` of them, or for both parts of
            // complex numbers beside each other.
            unsafe { take_apart(len, walk, rows_of(&from[number], bytes, count)) };
        }
        let row_of_copies =
            RowArguments { n: padded, accesses: from.as_ptr(), dests: to.as_ptr(), ..*row };
        // SAFETY: the caller keeps the conditions of `run` for walks that are not copied. Copies have room for `padded`
        // elements.
        unsafe { self.call(row_of_copies, scratch.frame.bytes().as_mut_ptr()) };
        for (number, bytes, count) in copied_together(&self.dests, dests, are_padded) {
            let walk = dests[number].moved(first as isize);
            // SAFETY: the row's elements may be written, and the code has written the copies.
            unsafe { join(len, rows_of(&to[number], bytes, count), walk) };
        }
    }

    /// Calls the code.
    ///
    /// # Safety
    /// The conditions of `run`. Walks are `Unit` unless the variant says `Zero`. `n` is a multiple of the granule, and
    /// not 0. The frame has as many bytes as the code uses.
    #[cfg(target_arch = "x86_64")]
    unsafe fn call(&self, row: RowArguments, frame: *mut u8) {
        let call = CallArguments { row, constants: self.constants.start(), frame };
        // SAFETY: the memory holds a function of this type, written by `function_writer.rs`. It writes only the row's
        // destinations and the reserved frame.
        unsafe {
            let code: extern "sysv64" fn(&CallArguments) = std::mem::transmute(self.code.as_ptr());
            code(&call);
        }
    }

    /// On other machines there are no kernels to call.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn call(&self, row: RowArguments, frame: *mut u8) {
        let _ = CallArguments { row, constants: self.constants.start(), frame };
    }
}

// SAFETY: code and constants are not written after construction.
unsafe impl Sync for Kernel {}
// SAFETY: a kernel has no thread-local state.
unsafe impl Send for Kernel {}
