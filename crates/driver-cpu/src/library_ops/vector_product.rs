//! The product of two vectors in host memory, without a launch.
//!
//! Owns [`vector_product`]. Invariant: its bits are those of a launch of the matrix product. Not here: the computation
//! (`short_product.rs`, `skinny_product.rs`).

use super::library_launch::LibraryLaunch;
use super::{gemm, short_product};
use crate::rows::{Real, RowProducts};
use crate::threads::executor::Executor;
use crate::traversal::iteration_space::StridedAccess;
use gpupy_core::driver::Access;
use gpupy_core::{DType, Result};
use smallvec::smallvec;

/// A vector: its first element, and elements from one to the next.
pub type StridedVector = (*const u8, isize);

/// The sum of the products of two vectors of float32 or float64, of `terms` elements, as bits.
///
/// # Safety
/// The elements exist, and nothing writes them meanwhile.
///
/// # Errors
/// - `OutOfMemory`: there is no room for packed operands.
pub unsafe fn vector_product(
    dtype: DType,
    terms: usize,
    left: StridedVector,
    right: StridedVector,
) -> Result<u64> {
    let mut bits = 0u64;
    let result = std::ptr::from_mut(&mut bits);
    // SAFETY: the elements exist; the result has room for either type.
    unsafe {
        match dtype {
            _ if terms == 0 => {}
            DType::F64 if short_product::suits(dtype, [1, 1, terms]) => {
                short::<f64>(terms, left, right, result.cast());
            }
            DType::F32 if short_product::suits(dtype, [1, 1, terms]) => {
                short::<f32>(terms, left, right, result.cast());
            }
            _ => launched(dtype, terms, left, right, result.cast())?,
        }
    }
    Ok(bits)
}

/// # Safety
/// As for [`vector_product`]; nothing else accesses the result.
unsafe fn short<T: Real>(
    terms: usize,
    (a, a_step): StridedVector,
    (b, b_step): StridedVector,
    c: *mut T,
) {
    let products = RowProducts {
        extents: [1, 1, terms],
        count: 1,
        a: a.cast::<T>(),
        a_strides: [0, 0, a_step],
        b: b.cast(),
        b_strides: [0, b_step],
        c,
        c_strides: [0, 0],
    };
    // SAFETY: the elements exist.
    unsafe { products.run() }
}

/// # Safety
/// As for [`short`].
unsafe fn launched(
    dtype: DType,
    terms: usize,
    (a, a_step): StridedVector,
    (b, b_step): StridedVector,
    c: *mut u8,
) -> Result<()> {
    let along = |step: isize| Access { offset: 0, strides: smallvec![0, 0, step as i64] };
    let (left, right, dest) = (along(a_step), along(b_step), along(1));
    let size = dtype.size();
    let line = |access, base: *mut u8| StridedAccess { access, base, size };
    let whole = LibraryLaunch {
        shape: &[1, 1, terms],
        dtype,
        reads: smallvec![line(&left, a.cast_mut()), line(&right, b.cast_mut())],
        dest: line(&dest, c),
    };
    gemm::run(&whole, &mut Executor { threads: 1, pool: &mut None })
}
