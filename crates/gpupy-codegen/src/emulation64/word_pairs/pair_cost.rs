//! The cost of operations on word pairs, in instructions.
//!
//! Owns [`most_instructions`] and [`is_pair`]. Invariant: no operation takes more instructions (tested).

use gpupy_core::DType;
use gpupy_core::op::Op;

/// True for dtypes that word pairs represent.
pub fn is_pair(dtype: DType) -> bool {
    matches!(dtype, DType::I64 | DType::U64)
}

/// The most instructions that replace one operation. `dtype` is its result's.
///
/// The result's dtype does not show whether the operands of a comparison or a cast are pairs, so these always count
/// as operations on pairs.
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
