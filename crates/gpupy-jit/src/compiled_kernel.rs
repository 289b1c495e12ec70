//! Finished code, and running it over a row.
//!
//! Owns [`Kernel`], and all `unsafe` of running. Code goes along rows whose
//! elements follow each other, in whole passes where the machine has no masks. Other rows, and the
//! rest of a row, are copied through short rows of the thread's own.
//!
//! Not here: what a row is (`row_arguments.rs`), writing the code (`function_writer.rs`), the copies' loops (`strided_copies.rs`).

use crate::RowStride;
use crate::aligned_bytes::AlignedBytes;
use crate::complex_parts::ComplexParts;
use crate::row_arguments::{RowArguments, StridedPointer};
use crate::strided_copies::{copy_elements, join_parts, take_apart};
use memmap2::{Mmap, MmapMut};
use std::cell::RefCell;

/// What the code finds at the address that it is called with.
#[repr(C)]
struct CallArguments {
    row: RowArguments,
    constants: *const u8,
    frame: *mut u8,
}

/// An access or destination, as running it needs to know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowBinding {
    pub step: RowStride,
    /// Of an element; 0 for an `index`, which has none.
    pub bytes: usize,
    /// Whether this and the next are the parts of one complex number.
    pub paired: bool,
}

impl RowBinding {
    /// Bytes from an element of a copy to the next.
    fn step_of_copy(&self) -> isize {
        let elements = if self.step.is_of_parts() { 2 } else { 1 };
        (elements * self.bytes) as isize
    }
}

/// Code for one program and variant.
pub struct Kernel {
    code: Mmap,
    constants: AlignedBytes,
    /// Bytes of the code's frame.
    frame: usize,
    /// Rows that the code takes as they are have a multiple of so many points.
    granule: usize,
    accesses: Vec<RowBinding>,
    dests: Vec<RowBinding>,
    /// Whether all walks are such that the code takes them as they are.
    plain: bool,
    /// Where its walks come from, of code over the parts of complex numbers.
    parts: Option<ComplexParts>,
}

/// The most points that are copied at a time: their rows stay in the innermost cache.
const CHUNK: usize = 512;
/// Bytes of a copied row, of elements of any size.
const COPY: usize = CHUNK * 8;

/// What each thread keeps from call to call.
struct RowScratch {
    frame: AlignedBytes,
    copies: AlignedBytes,
    walks: Vec<StridedPointer>,
    /// Of complex numbers' parts.
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
    /// Puts code where it can run; `None` when the system has no such place.
    pub(crate) fn new(
        code: &[u8],
        constants: AlignedBytes,
        frame: usize,
        granule: usize,
        accesses: Vec<RowBinding>,
        dests: Vec<RowBinding>,
    ) -> Option<Kernel> {
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
            plain,
            parts: None,
        })
    }

    /// The code over the parts of complex numbers for a program over these.
    pub(crate) fn of_parts(mut self, parts: ComplexParts) -> Kernel {
        parts.pairs_of_accesses().for_each(|first| self.accesses[first].paired = true);
        parts.pairs_of_dests().for_each(|first| self.dests[first].paired = true);
        Kernel { parts: Some(parts), ..self }
    }

    /// The machine code, for disassemblers.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// Computes the program at each point of a row.
    ///
    /// - **Units:** steps are bytes; elements need not be aligned.
    /// - **Empty:** a row without points is left alone.
    /// - **Ordering:** done on return. Any number of threads may run a kernel at once.
    ///
    /// # Safety
    /// - The row lists a walk for each `load` and `index` of the program, one for each destination,
    ///   and the bits of each parameter.
    /// - Each element that a walk reaches in `n` points may be read, and of a destination written,
    ///   by this thread and for the time of the call; no other thread writes what is read.
    /// - Elements of destinations are apart from each other and from all that is read.
    /// - Walks go as the variant says: `Unit` steps are the element's size, `Zero` steps are 0. Where a
    ///   destination is of `Lanes`, it has 16 elements for each 256 points, and `n` is a multiple of 256.
    #[inline]
    pub unsafe fn run(&self, row: &RowArguments) {
        // Most code of small work needs nothing of its thread's, which would take as long to find.
        let plain = self.plain && self.parts.is_none() && self.frame == 0;
        if plain && (self.granule == 1 || row.n.is_multiple_of(self.granule)) {
            if row.n > 0 {
                // SAFETY: as promised; the row is plain and has whole passes, and no frame is used.
                unsafe { self.call(*row, std::ptr::null_mut()) };
            }
            return;
        }
        // SAFETY: as promised.
        unsafe { self.run_by_scratch(row) }
    }

    /// The same with what the thread keeps.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn run_by_scratch(&self, row: &RowArguments) {
        SCRATCH.with_borrow_mut(|scratch| {
            let of_parts;
            let row = match &self.parts {
                Some(parts) => {
                    // SAFETY: as promised.
                    of_parts = unsafe { parts.row(row, &mut scratch.parts) };
                    &of_parts
                }
                None => row,
            };
            scratch.frame.reserve(self.frame);
            let whole = if self.plain { row.n - row.n % self.granule } else { 0 };
            if whole > 0 {
                let row = RowArguments { n: whole, ..*row };
                // SAFETY: as promised; the row is plain and has whole passes.
                unsafe { self.call(row, scratch.frame.bytes().as_mut_ptr()) };
            }
            if whole < row.n {
                scratch.copies.reserve(COPY * (self.accesses.len() + self.dests.len()));
            }
            let mut done = whole;
            while done < row.n {
                let len = (row.n - done).min(CHUNK);
                // SAFETY: as promised, and the points lie inside the row.
                unsafe { self.copied(row, done, len, scratch) };
                done += len;
            }
        });
    }

    /// Computes `len` points from number `first` by way of copies.
    ///
    /// # Safety
    /// As for `run`; the points lie inside the row, and `scratch` has room for all copies.
    unsafe fn copied(
        &self,
        row: &RowArguments,
        first: usize,
        len: usize,
        scratch: &mut RowScratch,
    ) {
        let padded = len.next_multiple_of(self.granule);
        let copies = scratch.copies.bytes().as_mut_ptr();
        // SAFETY: there is a copy for each access and destination, COPY bytes apart.
        let copy = |number: usize| unsafe { copies.add(number * COPY) };
        let is_copied = |slot: &RowBinding| match slot.step {
            _ if slot.bytes == 0 => false,
            RowStride::Zero => false,
            RowStride::Unit | RowStride::Lanes | RowStride::Real | RowStride::Imaginary => {
                padded != len
            }
            RowStride::Any => true,
        };
        let moved = |walk: &StridedPointer| StridedPointer {
            ptr: walk.ptr.wrapping_offset(walk.step.wrapping_mul(first as isize)),
            step: walk.step,
        };
        scratch.walks.clear();
        let mut apart = false;
        for (number, slot) in self.accesses.iter().enumerate() {
            // SAFETY: the row lists this access.
            let walk = moved(unsafe { &*row.accesses.add(number) });
            if is_copied(slot) {
                let to = StridedPointer { ptr: copy(number), step: slot.step_of_copy() };
                // SAFETY: the row's elements may be read, and copies have room for CHUNK; those of a
                // complex number's parts lie one behind the other.
                unsafe {
                    match (slot.step, slot.paired, apart) {
                        (RowStride::Imaginary, ..) | (_, false, true) => {}
                        (RowStride::Real, ..) => copy_elements(2 * slot.bytes, len, walk, to),
                        (_, true, _) => {
                            take_apart(slot.bytes, len, walk, [to.ptr, copy(number + 1)]);
                        }
                        (_, false, false) => copy_elements(slot.bytes, len, walk, to),
                    }
                }
                apart = slot.paired && slot.step == RowStride::Any;
                scratch.walks.push(to);
            } else {
                scratch.walks.push(walk);
            }
        }
        let dests = self.accesses.len();
        for (number, slot) in self.dests.iter().enumerate() {
            // SAFETY: the row lists this destination.
            let walk = moved(unsafe { &*row.dests.add(number) });
            let copied = slot.step == RowStride::Any || padded != len;
            scratch.walks.push(match copied {
                true => StridedPointer { ptr: copy(dests + number), step: slot.step_of_copy() },
                false => walk,
            });
        }
        let walks = &scratch.walks;
        let row_of_copies = RowArguments {
            n: padded,
            accesses: walks.as_ptr(),
            dests: walks[dests..].as_ptr(),
            params: row.params,
        };
        // SAFETY: what is not copied is as promised, and copies have room for `padded` elements.
        unsafe { self.call(row_of_copies, scratch.frame.bytes().as_mut_ptr()) };
        let mut joined = false;
        for (number, slot) in self.dests.iter().enumerate() {
            let from = walks[dests + number];
            if from.ptr != copy(dests + number) {
                continue;
            }
            // SAFETY: the row lists this destination, whose elements may be written.
            unsafe {
                let to = moved(&*row.dests.add(number));
                match (slot.step, slot.paired, joined) {
                    (RowStride::Imaginary, ..) | (_, false, true) => {}
                    (RowStride::Real, ..) => copy_elements(2 * slot.bytes, len, from, to),
                    (_, true, _) => {
                        let parts = [from.ptr, copy(dests + number + 1)];
                        join_parts(slot.bytes, len, parts, to);
                    }
                    (_, false, false) => copy_elements(slot.bytes, len, from, to),
                }
            }
            joined = slot.paired && slot.step == RowStride::Any;
        }
    }

    /// Runs the code.
    ///
    /// # Safety
    /// As for `run`; also, walks are `Unit` where the variant does not say `Zero`, and `n` is a
    /// multiple of the granule and not 0. The frame has the code's bytes.
    #[cfg(target_arch = "x86_64")]
    unsafe fn call(&self, row: RowArguments, frame: *mut u8) {
        let call = CallArguments { row, constants: self.constants.start(), frame };
        // SAFETY: the memory holds a function of this type, written by `function_writer.rs`. It writes to the
        // row's destinations and to as much of the frame as was reserved.
        unsafe {
            let code: extern "sysv64" fn(&CallArguments) = std::mem::transmute(self.code.as_ptr());
            code(&call);
        }
    }

    /// There is no kernel that could be called.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn call(&self, row: RowArguments, frame: *mut u8) {
        let _ = CallArguments { row, constants: self.constants.start(), frame };
    }
}

// SAFETY: code and constants are only read once a kernel is made.
unsafe impl Sync for Kernel {}
// SAFETY: nothing of a kernel belongs to a thread.
unsafe impl Send for Kernel {}
