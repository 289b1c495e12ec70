//! Positions that put few elements in host memory in order.
//!
//! Owns [`places`]. Invariant: it is the order of a recorded sort: ascending, equal elements as they were, NaN last,
//! and zeros of both signs equal.
//!
//! Not here: the sort of many elements (`record/library_recording.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::eager::borrow::{BorrowGuard, BorrowedOperand};
use crate::eager::small_argmin::widened;
use crate::graph::value::Origin;
use gpupy_core::shape::size_of;
use gpupy_core::{DType, for_integer_type};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Numbers that are in order as elements are.
type Ranks = SmallVec<[u64; 32]>;

/// The positions, int64, that put each row along an axis in the order of the last key, equal ones in that of the key
/// before it, and so on; `None` for keys of different shapes, for complex ones, and where one is not in host memory.
pub(crate) fn places(keys: &[&Array], axis: usize) -> Option<Array> {
    let shape = keys.first()?.shape();
    if keys.iter().any(|key| key.shape() != shape) {
        return None;
    }
    let (n, beside) = (*shape.get(axis)?, size_of(&shape[axis + 1..]));
    let ranks: SmallVec<[Ranks; 2]> = keys.iter().map(|key| ranks(key)).collect::<Option<_>>()?;
    Array::made(DType::I64, shape, Origin::Eager, 0, |room| {
        let (room, _) = room.as_chunks_mut::<8>();
        let mut places: SmallVec<[usize; 32]> = SmallVec::new();
        for row in 0..room.len() / n {
            let first = row / beside * beside * n + row % beside;
            let at = |k: usize| first + k * beside;
            places.clear();
            places.extend(0..n);
            places.sort_by(|a, b| {
                let by = |ranks: &Ranks| ranks[at(*a)].cmp(&ranks[at(*b)]);
                ranks.iter().rev().map(by).find(|it| it.is_ne()).unwrap_or(Ordering::Equal)
            });
            for (k, place) in places.iter().enumerate() {
                room[at(k)] = (*place as i64).to_ne_bytes();
            }
        }
        Some(())
    })
}

/// A rank for each element of an array, in C order.
fn ranks(key: &Array) -> Option<Ranks> {
    let dtype = key.dtype();
    let guard = BorrowGuard::of(&[ArrayOrScalar::Array(key)])?;
    let [borrowed @ BorrowedOperand::Memory(..)] = &guard.operands[..] else { return None };
    let elements = borrowed.elements(dtype.size())?;
    macro_rules! each {
        ($rank:expr) => {
            Some(elements.as_chunks().0.iter().map(|element| $rank(*element)).collect())
        };
    }
    let least = if dtype.is_signed_int() { i128::from(i64::MIN) } else { 0 };
    match dtype {
        DType::Bool => each!(|element| u64::from(u8::from_ne_bytes(element))),
        _ if dtype.is_narrow_float() => each!(|element| float(widened(dtype, element).into())),
        DType::F32 => each!(|element| float(f32::from_ne_bytes(element).into())),
        DType::F64 => each!(|element| float(f64::from_ne_bytes(element))),
        _ => for_integer_type!(
            dtype,
            T => each!(|element| (i128::from(T::from_ne_bytes(element)) - least) as u64),
            _ => None,
        ),
    }
}

/// The rank of a float: its bits, those of negative ones turned round.
fn float(number: f64) -> u64 {
    const SIGN: u64 = 1 << 63;
    if number.is_nan() {
        return u64::MAX;
    }
    // Zero without a sign.
    let bits = (number + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}
