//! The arguments of a kernel: a row of points, and its elements.
//!
//! Owns [`RowArguments`], [`StridedPointer`] and [`GatherTable`], and [`RowGroup`]: rows beside each other. Invariant:
//! generated code reads the former three by offset, so the order of their fields is fixed.
//!
//! Not here: calls (`compiled_kernel.rs`), the strides that code supports (`RowStride`).

/// A strided pointer: the elements of an access or destination along a row.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StridedPointer {
    /// The element of the row's first point. For an `index`: its value there, in the low 32 bits.
    pub ptr: *mut u8,
    /// Bytes between consecutive points. For an `index`: its increment.
    pub step: isize,
}

/// Bytes of the largest element.
const LARGEST: usize = 16;

impl StridedPointer {
    /// The same from so many points on.
    pub(crate) fn moved(self, points: isize) -> StridedPointer {
        let ptr = self.ptr.wrapping_offset(self.step.wrapping_mul(points));
        StridedPointer { ptr, ..self }
    }

    /// Whether no element at `n` points, at least one, is one of the other's; it may also be false for neighbours.
    pub(crate) fn is_apart(self, other: StridedPointer, n: usize) -> bool {
        let (own, other) = (self.ends(n), other.ends(n));
        own.1 <= other.0 || other.1 <= own.0
    }

    /// As `is_apart`, where both go over as many rows, each so many bytes behind the one before: whether no element
    /// is one of the other's in the same row, where they move alike, or in any row.
    pub(crate) fn is_apart_in_rows(
        self,
        step: isize,
        (other, of_other): (StridedPointer, isize),
        n: usize,
        count: usize,
    ) -> bool {
        let ends = |walk: StridedPointer, step: isize| {
            let last = walk.ptr.wrapping_offset(step.wrapping_mul(count as isize - 1));
            let (a, b) = (walk.ends(n), StridedPointer { ptr: last, ..walk }.ends(n));
            (a.0.min(b.0), a.1.max(b.1))
        };
        if step == of_other {
            return self.is_apart(other, n);
        }
        let (own, other) = (ends(self, step), ends(other, of_other));
        own.1 <= other.0 || other.1 <= own.0
    }

    /// The first address, and one behind the last, of the elements at `n` points.
    fn ends(self, n: usize) -> (usize, usize) {
        let (first, last) = (self.ptr.addr(), self.moved(n as isize - 1).ptr.addr());
        (first.min(last), first.max(last) + LARGEST)
    }
}

/// A row of points, and the elements and parameters of a program over it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RowArguments {
    /// The number of points.
    pub n: usize,
    /// The walk of each `load` and `index`, in the order of the program's instructions.
    pub accesses: *const StridedPointer,
    /// The walk of each destination.
    pub dests: *const StridedPointer,
    /// The bits of the program's parameters, each zero-extended.
    pub params: *const u64,
    /// The operands of the program, for gathers; may be null for a program without these.
    pub tables: *const GatherTable,
}

/// Rows beside each other: each has as many points, and its elements lie as far from those of the row before.
#[derive(Debug)]
pub struct RowGroup<'a> {
    /// The number of points of each.
    pub n: usize,
    /// The number of rows.
    pub count: usize,
    /// The walks of the first row: of each access, then of each destination.
    pub walks: &'a mut [StridedPointer],
    /// How many of the walks are those of accesses.
    pub accesses: usize,
    /// Bytes from a row to the next, for each walk. For an `index`: the difference of its values.
    pub steps: &'a [isize],
    /// As of [`RowArguments`].
    pub params: *const u64,
    /// As of [`RowArguments`].
    pub tables: *const GatherTable,
}

impl RowGroup<'_> {
    /// Moves the walks to the next row.
    pub fn move_on(&mut self) {
        move_on(self.walks, self.steps);
    }
}

/// Moves walks to the next row.
#[inline]
pub(crate) fn move_on(walks: &mut [StridedPointer], steps: &[isize]) {
    for (walk, step) in walks.iter_mut().zip(steps) {
        walk.ptr = walk.ptr.wrapping_offset(*step);
    }
}

/// An operand that is read at computed indices.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GatherTable {
    /// Its first element.
    pub first: *const u8,
    /// The index of its last element.
    pub last: i32,
}

impl GatherTable {
    /// The fewest bytes that may be read from a table's first element on: narrow elements are read with others.
    pub const LEAST_BYTES: usize = 4;

    /// A table of this many elements, at least one. Elements that an int32 does not reach are left out.
    pub fn new(first: *const u8, len: usize) -> GatherTable {
        GatherTable { first, last: i32::try_from(len.saturating_sub(1)).unwrap_or(i32::MAX) }
    }
}
