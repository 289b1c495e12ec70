//! One element of any real dtype, as bits.
//!
//! Owns [`Scalar`]. Invariant: bits reach the device as the user gave them; no scalar is printed and parsed on the way.
//!
//! Not here: arithmetic on scalars (`op_eval`).

use crate::dtype::DType;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A typed element: its dtype and its bits, zero-extended to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scalar {
    /// The element's type; complex types have no scalar form.
    pub dtype: DType,
    /// The element's bits, native endian, zero-extended.
    pub bits: u64,
}

impl Scalar {
    /// A scalar of `dtype` with these bits; bits above the dtype's size are cleared.
    pub fn new(dtype: DType, bits: u64) -> Scalar {
        let size = dtype.size();
        let mask = if size >= 8 { u64::MAX } else { (1u64 << (size * 8)) - 1 };
        Scalar { dtype, bits: bits & mask }
    }

    /// A `float32`.
    pub fn f32(value: f32) -> Scalar {
        Scalar::new(DType::F32, u64::from(value.to_bits()))
    }

    /// A `float64`.
    pub fn f64(value: f64) -> Scalar {
        Scalar::new(DType::F64, value.to_bits())
    }

    /// An `int32`.
    pub fn i32(value: i32) -> Scalar {
        Scalar::new(DType::I32, u64::from(value as u32))
    }

    /// A `uint32`.
    pub fn u32(value: u32) -> Scalar {
        Scalar::new(DType::U32, u64::from(value))
    }

    /// A `bool`.
    pub fn bool(value: bool) -> Scalar {
        Scalar::new(DType::Bool, u64::from(value))
    }

    /// The zero of `dtype`.
    pub fn zero(dtype: DType) -> Scalar {
        Scalar::new(dtype, 0)
    }

    /// The bits as `float32`, whatever the dtype says.
    pub fn as_f32(self) -> f32 {
        f32::from_bits(self.bits as u32)
    }

    /// The bits as `int32`, whatever the dtype says.
    pub fn as_i32(self) -> i32 {
        self.bits as u32 as i32
    }

    /// The bits as `uint32`, whatever the dtype says.
    pub fn as_u32(self) -> u32 {
        self.bits as u32
    }

    /// The number that an integer is.
    pub fn as_int(self) -> i128 {
        let above = 64 - 8 * self.dtype.size() as u32;
        match self.dtype.is_signed_int() {
            true => i128::from(((self.bits << above) as i64) >> above),
            false => i128::from(self.bits),
        }
    }

    /// The bits as a truth value, whatever the dtype says.
    pub fn as_bool(self) -> bool {
        self.bits != 0
    }

    /// Reads the element at the start of `bytes` (native endian).
    ///
    /// Returns `None` when `bytes` is shorter than an element, or the dtype has no scalar form.
    pub fn read(dtype: DType, bytes: &[u8]) -> Option<Scalar> {
        let size = dtype.size();
        if size > 8 || dtype == DType::C64 {
            return None;
        }
        let mut raw = [0u8; 8];
        raw[..size].copy_from_slice(bytes.get(..size)?);
        Some(Scalar::new(dtype, u64::from_le_bytes(raw)))
    }

    /// The element's bytes (native endian), to be cut at the dtype's size.
    pub fn bytes(self) -> [u8; 8] {
        self.bits.to_le_bytes()
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            DType::F32 => write!(f, "{:?}", self.as_f32()),
            DType::F64 => write!(f, "{:?}", f64::from_bits(self.bits)),
            DType::I32 => write!(f, "{}", self.as_i32()),
            DType::Bool => write!(f, "{}", self.as_bool()),
            _ => write!(f, "{:#x}", self.bits),
        }
    }
}

#[cfg(not(target_endian = "little"))]
compile_error!("gpupy stores scalars as little-endian bits; this target is big-endian");
