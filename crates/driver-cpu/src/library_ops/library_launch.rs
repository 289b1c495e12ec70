//! A launch of a library operation.
//!
//! Owns [`LibraryLaunch`]: its space and the accesses of its operands and its destination. Not here: the
//! operations (`mod.rs`).

use crate::traversal::iteration_space::{Point, StridedAccess};
use gpupy_core::DType;
use smallvec::SmallVec;

/// A launch of a library operation.
pub struct LibraryLaunch<'a> {
    /// The input space.
    pub shape: &'a [usize],
    pub dtype: DType,
    /// The operands, in their order.
    pub reads: SmallVec<[StridedAccess<'a>; 2]>,
    pub dest: StridedAccess<'a>,
}

// SAFETY: threads write different elements and read none that is written; the core does not touch any
// of them until the evaluation returns.
unsafe impl Sync for LibraryLaunch<'_> {}

impl LibraryLaunch<'_> {
    /// The number of rows along the last axis.
    pub fn rows(&self) -> usize {
        self.shape.iter().rev().skip(1).product()
    }

    /// The first point of a row.
    pub fn row(&self, number: usize) -> Point {
        let mut point = unravelled(number, &self.shape[..self.shape.len() - 1]);
        point.push(0);
        point
    }
}

/// Point number `number` of a shape in C order.
pub fn unravelled(mut number: usize, shape: &[usize]) -> Point {
    let mut point = Point::from_elem(0, shape.len());
    for (i, extent) in point.iter_mut().zip(shape).rev() {
        *i = number % extent;
        number /= extent;
    }
    point
}
