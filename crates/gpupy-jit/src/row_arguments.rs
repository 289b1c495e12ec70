//! A row of points, and where its elements lie.
//!
//! Owns [`RowArguments`] and [`StridedPointer`]. Invariant: code of ours reads both as they lie in memory, so that their fields keep
//! their order.
//!
//! Not here: running code over a row (`compiled_kernel.rs`), how walks may go (`RowStride`).

/// Where an access or destination is along a row.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StridedPointer {
    /// The element of the row's first point. Of an `index`: its number, in the low 32 bits.
    pub ptr: *mut u8,
    /// Bytes from one point to the next. Of an `index`: how much the number grows.
    pub step: isize,
}

/// A row of points.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RowArguments {
    /// How many points.
    pub n: usize,
    /// The walk of each `load` and `index`, in the order of the program's instructions.
    pub accesses: *const StridedPointer,
    /// The walk of each destination.
    pub dests: *const StridedPointer,
    /// The bits of the program's parameters, each zero-extended.
    pub params: *const u64,
}
