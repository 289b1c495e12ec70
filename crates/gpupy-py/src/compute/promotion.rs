//! Promotion: the dtypes in which an operation computes, and its operands cast to them.
//!
//! Owns [`Promotion`] and [`PromotedOperand`]. Not here: NumPy's promotion rules (`ufunc.rs` asks NumPy).

use crate::array::operand::UfuncOperand;
use crate::session::errors::to_py;
use gpupy_core::{DType, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context};
use pyo3::PyResult;

/// The dtypes for one combination of operand kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promotion {
    /// The dtypes to which the operands are cast; of one operand, twice the same. They differ in one case alone:
    /// int64 and uint64 are compared without a cast.
    pub operands: [DType; 2],
    /// The result's dtype.
    pub result: DType,
}

/// The code of a combination that was not resolved yet.
pub const UNKNOWN: u8 = 0;
/// The code of a combination that NumPy computes.
pub const NUMPYS: u8 = 1;
/// The first code of a promotion whose operands are cast to one dtype.
const ALIKE: u8 = 2;
const DTYPES: u8 = DType::ALL.len() as u8;
/// The codes of comparisons of int64 with uint64, and the other way round.
const MIXED: [u8; 2] = [ALIKE + DTYPES * DTYPES, ALIKE + DTYPES * DTYPES + 1];

impl Promotion {
    /// The promotion as a number.
    pub fn code(self) -> u8 {
        match self.operands {
            [DType::I64, DType::U64] => MIXED[0],
            [DType::U64, DType::I64] => MIXED[1],
            [operand, _] => ALIKE + operand as u8 * DTYPES + self.result as u8,
        }
    }

    /// The promotion of a number.
    pub fn of_code(code: u8) -> Option<Promotion> {
        let mixed = |operands| Some(Promotion { operands, result: DType::Bool });
        if code == MIXED[0] {
            return mixed([DType::I64, DType::U64]);
        } else if code == MIXED[1] {
            return mixed([DType::U64, DType::I64]);
        }
        let both = code.checked_sub(ALIKE)?;
        let operand = DType::from_code(both / DTYPES)?;
        Some(Promotion { operands: [operand; 2], result: DType::from_code(both % DTYPES)? })
    }

    /// The dtype of the operands, where they have one.
    pub fn operand(self) -> Option<DType> {
        (self.operands[0] == self.operands[1]).then_some(self.operands[0])
    }
}

/// An operand, cast to the dtype in which an operation takes it.
pub enum PromotedOperand<'a> {
    /// A lazy array of the right dtype.
    Array(&'a Array),
    /// An array cast to the right dtype.
    Cast(Array),
    /// A scalar of the right dtype.
    Scalar(Scalar),
}

impl<'a> PromotedOperand<'a> {
    /// An operand as `dtype`; `None` for a scalar that NumPy would refuse or warn about.
    pub fn new(
        context: &Context,
        operand: &'a UfuncOperand<'_>,
        dtype: DType,
    ) -> PyResult<Option<Self>> {
        Ok(match operand.as_array() {
            Some(array) if array.dtype() == dtype => Some(PromotedOperand::Array(array)),
            Some(array) => Some(PromotedOperand::Cast(context.cast(array, dtype).map_err(to_py)?)),
            None => match operand.scalar(dtype) {
                Some(scalar) => Some(PromotedOperand::Scalar(scalar)),
                None => operand.complex(dtype).map(PromotedOperand::Cast),
            },
        })
    }

    /// The argument for the core.
    pub fn arg(&self) -> ArrayOrScalar<'_> {
        match self {
            PromotedOperand::Array(array) => ArrayOrScalar::Array(array),
            PromotedOperand::Cast(array) => ArrayOrScalar::Array(array),
            PromotedOperand::Scalar(scalar) => ArrayOrScalar::Scalar(*scalar),
        }
    }
}
