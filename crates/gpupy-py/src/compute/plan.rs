//! Plans: the dtypes in which an operation computes, and operands in them.
//!
//! Owns [`Plan`] and [`Prepared`]. Not here: which plan operands have (`ufunc.rs`).

use crate::array::operand::Operand;
use crate::session::errors::to_py;
use gpupy_core::{DType, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context};
use pyo3::PyResult;

/// What a combination of operand kinds becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The dtypes to which the operands are cast, the only one twice. They differ in one case alone:
    /// int64 and uint64 are compared as they are.
    pub operands: [DType; 2],
    /// The result's dtype.
    pub result: DType,
}

/// The code of a combination that was not asked for yet.
pub const UNKNOWN: u8 = 0;
/// The code of a combination that is NumPy's.
pub const NUMPYS: u8 = 1;
/// The first code of a plan whose operands are cast to one dtype.
const ALIKE: u8 = 2;
const DTYPES: u8 = DType::ALL.len() as u8;
/// The codes of comparisons of int64 with uint64, and the other way round.
const MIXED: [u8; 2] = [ALIKE + DTYPES * DTYPES, ALIKE + DTYPES * DTYPES + 1];

impl Plan {
    /// The plan as a number.
    pub fn code(self) -> u8 {
        match self.operands {
            [DType::I64, DType::U64] => MIXED[0],
            [DType::U64, DType::I64] => MIXED[1],
            [operand, _] => ALIKE + operand as u8 * DTYPES + self.result as u8,
        }
    }

    /// The plan of a number.
    pub fn of_code(code: u8) -> Option<Plan> {
        let mixed = |operands| Some(Plan { operands, result: DType::Bool });
        if code == MIXED[0] {
            return mixed([DType::I64, DType::U64]);
        } else if code == MIXED[1] {
            return mixed([DType::U64, DType::I64]);
        }
        let both = code.checked_sub(ALIKE)?;
        let operand = DType::from_code(both / DTYPES)?;
        Some(Plan { operands: [operand; 2], result: DType::from_code(both % DTYPES)? })
    }

    /// The dtype of the operands, where they have one.
    pub fn operand(self) -> Option<DType> {
        (self.operands[0] == self.operands[1]).then_some(self.operands[0])
    }
}

/// An operand as an operation takes it.
pub enum Prepared<'a> {
    /// A lazy array of the right dtype.
    Array(&'a Array),
    /// An array cast to the right dtype.
    Cast(Array),
    /// A scalar of the right dtype.
    Scalar(Scalar),
}

impl<'a> Prepared<'a> {
    /// An operand as `dtype`; `None` for a scalar that NumPy would refuse or warn about.
    pub fn new(
        context: &Context,
        operand: &'a Operand<'_>,
        dtype: DType,
    ) -> PyResult<Option<Self>> {
        Ok(match operand.as_array() {
            Some(array) if array.dtype() == dtype => Some(Prepared::Array(array)),
            Some(array) => Some(Prepared::Cast(context.cast(array, dtype).map_err(to_py)?)),
            None => match operand.scalar(dtype) {
                Some(scalar) => Some(Prepared::Scalar(scalar)),
                None => operand.complex(dtype).map(Prepared::Cast),
            },
        })
    }

    /// The argument for the core.
    pub fn arg(&self) -> ArrayOrScalar<'_> {
        match self {
            Prepared::Array(array) => ArrayOrScalar::Array(array),
            Prepared::Cast(array) => ArrayOrScalar::Array(array),
            Prepared::Scalar(scalar) => ArrayOrScalar::Scalar(*scalar),
        }
    }
}
