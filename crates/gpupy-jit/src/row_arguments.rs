//! The arguments of a kernel: a row of points, and its elements.
//!
//! Owns [`RowArguments`], [`StridedPointer`] and [`GatherTable`]. Invariant: generated code reads them by offset, so
//! the order of their fields is fixed.
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
        let ends = |walk: StridedPointer| {
            let (first, last) = (walk.ptr.addr(), walk.moved(n as isize - 1).ptr.addr());
            (first.min(last), first.max(last) + LARGEST)
        };
        let (own, other) = (ends(self), ends(other));
        own.1 <= other.0 || other.1 <= own.0
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
    /// A table of this many elements, at least one. Elements that an int32 does not reach are left out.
    pub fn new(first: *const u8, len: usize) -> GatherTable {
        GatherTable { first, last: i32::try_from(len.saturating_sub(1)).unwrap_or(i32::MAX) }
    }
}
