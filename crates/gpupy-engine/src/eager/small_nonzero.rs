//! Places of few elements in host memory that are not zero.
//!
//! Owns [`places`]. Invariant: they come in C order; NaN is not zero, and -0.0 is.
//!
//! Not here: masks of many elements (`context/indexing/nonzero.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::eager::borrow::{BorrowGuard, BorrowedOperand};
use crate::graph::value::Origin;
use gpupy_core::DType;
use smallvec::SmallVec;

/// The coordinates, int64, of elements that are not zero: a row for each of them, with a number for each axis. `None`
/// where the elements are not in host memory.
pub(crate) fn places(array: &Array) -> Option<Array> {
    let size = array.dtype().size();
    let guard = BorrowGuard::of(&[ArrayOrScalar::Array(array)])?;
    let [borrowed @ BorrowedOperand::Memory(..)] = &guard.operands[..] else { return None };
    let elements = borrowed.elements(size)?;
    let mut found: SmallVec<[usize; 32]> = SmallVec::new();
    let all = elements.chunks_exact(size).enumerate();
    match array.dtype().part().unwrap_or(array.dtype()) {
        part if part.is_float() => {
            let is_zero = |element: &[u8]| element.chunks_exact(part.size()).all(is_zero_float);
            found.extend(all.filter(|(_, element)| !is_zero(element)).map(|(at, _)| at));
        }
        _ => {
            let is_zero = |element: &[u8]| element.iter().all(|byte| *byte == 0);
            found.extend(all.filter(|(_, element)| !is_zero(element)).map(|(at, _)| at));
        }
    }
    let (rank, shape) = (array.ndim(), array.shape());
    let wide = DType::I64.size();
    Array::made(DType::I64, &[found.len(), rank], Origin::Eager, 0, |room| {
        for (at, row) in found.iter().zip(room.chunks_exact_mut(rank * wide)) {
            let mut rest = *at;
            for (extent, place) in shape.iter().zip(row.chunks_exact_mut(wide)).rev() {
                place.copy_from_slice(&((rest % extent) as i64).to_ne_bytes());
                rest /= extent;
            }
        }
        Some(())
    })
}

/// Whether the bytes of a float are those of a zero, of either sign.
fn is_zero_float(bytes: &[u8]) -> bool {
    let sign = if cfg!(target_endian = "little") { bytes.len() - 1 } else { 0 };
    bytes
        .iter()
        .enumerate()
        .all(|(at, byte)| if at == sign { byte & 0x7f == 0 } else { *byte == 0 })
}
