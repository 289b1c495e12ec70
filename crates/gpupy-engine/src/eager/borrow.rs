//! Borrow guards: operands of an eager operation, locked while it is computed.
//!
//! Owns [`BorrowedOperand`], [`HostView`] and [`BorrowGuard`]. Invariants: while a guard lives, its operands are not
//! written; taking a guard never waits for a lock, so that two guards of the same arrays cannot deadlock.
//!
//! Not here: the operations on them (`eager_launch.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::array::contents::{Contents, Current};
use crate::graph::value::ValueKind;
use crate::memory::cow_buffer::bases_may_overlap;
use crate::memory::element_bytes::{ElementBytes, seen};
use gpupy_core::Scalar;
use smallvec::SmallVec;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::MutexGuard;

/// An operand that is there.
#[derive(Clone, Copy)]
pub(crate) enum BorrowedOperand<'a> {
    /// One element, or an array all of whose elements are this one.
    Scalar(Scalar),
    /// An array, and the first element of its base in host memory.
    Memory(&'a Array, NonNull<u8>),
}

/// Elements in C order.
pub(crate) enum HostView<'a> {
    /// Where they lie.
    There(&'a [u8]),
    /// Those that lie otherwise, or that are one number.
    Copied(ElementBytes),
}

impl HostView<'_> {
    /// The elements, apart from any memory that a write to another base may change.
    pub fn apart(self) -> Self {
        match self {
            HostView::There(bytes) if bases_may_overlap() => {
                HostView::Copied(ElementBytes::from_slice(bytes))
            }
            other => other,
        }
    }
}

impl Deref for HostView<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            HostView::There(bytes) => bytes,
            HostView::Copied(bytes) => bytes,
        }
    }
}

impl BorrowedOperand<'_> {
    /// The elements of so many bytes each, in C order; of a scalar, one.
    pub fn elements(&self, size: usize) -> Option<HostView<'_>> {
        match self {
            BorrowedOperand::Scalar(scalar) => {
                Some(HostView::Copied(ElementBytes::from_slice(scalar.bytes().get(..size)?)))
            }
            BorrowedOperand::Memory(array, _) => {
                let (bytes, offset) = self.reach(size)?;
                if array.is_contiguous() {
                    return Some(HostView::There(bytes));
                }
                let mut view = array.layout().clone();
                view.offset = offset;
                seen(bytes, size, &view).map(HostView::Copied)
            }
        }
    }

    /// The bytes from the lowest element that an array shows to the highest, and the place of its first element in
    /// them; `None` of a scalar, and of nothing.
    pub fn reach(&self, size: usize) -> Option<(&[u8], isize)> {
        let BorrowedOperand::Memory(array, first) = self else { return None };
        let (low, high) = array.layout().extent()?;
        let (start, len) = (low as usize, (high - low) as usize + 1);
        // SAFETY: the elements up to the highest that the array shows are lent.
        let bytes =
            unsafe { std::slice::from_raw_parts(first.as_ptr().add(start * size), len * size) };
        Some((bytes, array.offset() - low))
    }
}

/// The most operands of an operation.
const MOST: usize = 3;

/// Operands with the locks of their bases.
#[derive(Default)]
pub(crate) struct BorrowGuard<'a> {
    pub operands: SmallVec<[BorrowedOperand<'a>; 3]>,
    /// The longest chain of operations that led to one of them and were computed eagerly.
    pub depth: u32,
    locks: [Option<MutexGuard<'a, Current>>; MOST],
    /// An array whose base the caller has locked, the first element of that, and its depth.
    locked: Option<(&'a Array, NonNull<u8>, u32)>,
}

impl<'a> BorrowGuard<'a> {
    /// These operands, if all of their elements are in host memory and no other thread has locked their bases.
    pub fn of(args: &[ArrayOrScalar<'a>]) -> Option<BorrowGuard<'a>> {
        let mut guard = BorrowGuard::default();
        guard.take(args)?;
        Some(guard)
    }

    /// No operands yet; those of this array's base may be taken, which the caller has locked, and whose first element
    /// lies there.
    pub fn beside(array: &'a Array, first: NonNull<u8>, depth: u32) -> BorrowGuard<'a> {
        BorrowGuard { locked: Some((array, first, depth)), ..BorrowGuard::default() }
    }

    /// Borrows these operands too, as `of` does. On `None` the guard keeps its operands, and some of these.
    #[inline]
    pub fn take(&mut self, args: &[ArrayOrScalar<'a>]) -> Option<()> {
        for arg in args {
            let array = match arg {
                ArrayOrScalar::Scalar(scalar) => {
                    self.operands.push(BorrowedOperand::Scalar(*scalar));
                    continue;
                }
                ArrayOrScalar::Array(array) => *array,
            };
            if let Some((locked, first, depth)) = self.locked
                && locked.shares_base(array)
            {
                self.depth = self.depth.max(depth);
                self.operands.push(BorrowedOperand::Memory(array, first));
                continue;
            }
            // Its base may be lent already.
            let again = self.operands.iter().find_map(|borrowed| match borrowed {
                BorrowedOperand::Memory(other, first) if other.shares_base(array) => Some(*first),
                _ => None,
            });
            if let Some(first) = again {
                self.operands.push(BorrowedOperand::Memory(array, first));
                continue;
            }
            let current = array.current_now()?;
            if let Contents::Own(own) = current.held() {
                self.depth = self.depth.max(own.depth);
            }
            let lock = self.locks.get_mut(self.operands.len())?;
            self.operands.push(borrowed(array, &current)?);
            *lock = Some(current);
        }
        Some(())
    }
}

/// An array as an operand; `None` where its elements are not all in host memory.
#[inline]
fn borrowed<'a>(array: &'a Array, current: &Current) -> Option<BorrowedOperand<'a>> {
    let first = match current.held() {
        Contents::Own(own) => own.start(),
        Contents::Value(value) => {
            if let ValueKind::Constant(scalar) = value.0.kind {
                return Some(BorrowedOperand::Scalar(scalar));
            }
            let (low, high) = array.layout().extent()?;
            value.host_start(low as usize..high as usize + 1)?
        }
        Contents::Nothing => return None,
    };
    Some(BorrowedOperand::Memory(array, first))
}
