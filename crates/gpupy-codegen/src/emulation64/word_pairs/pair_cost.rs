//! What operations on pairs take.
//!
//! Owns [`most_instructions`] and [`is_pair`]. Invariant: no operation takes more than it says (tested).

use gpupy_core::DType;
use gpupy_core::op::Op;

/// True for the dtypes whose values are pairs.
pub fn is_pair(dtype: DType) -> bool {
    matches!(dtype, DType::I64 | DType::U64)
}

/// The most instructions that stand for one operation; `dtype` is what comes out.
///
/// Of a comparison or a cast the result does not tell that pairs go in, so these are always taken for
/// operations on pairs.
pub fn most_instructions(op: Op, dtype: DType) -> u32 {
    match op {
        Op::Cast => 64,
        Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => 10,
        _ if !is_pair(dtype) => 1,
        Op::FloorDiv | Op::Mod => 112,
        Op::Mul => 32,
        Op::Shl | Op::Shr => 28,
        _ => 12,
    }
}
