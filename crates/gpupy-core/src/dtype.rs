//! Element types, named and sized as NumPy's.
//!
//! Owns [`DType`]. Invariant: the discriminants are part of the IR's memory form and never change.
//!
//! Not here: values of a dtype (`scalar.rs`), promotion rules (NumPy's, applied by the front end).

use serde::{Deserialize, Serialize};
use std::fmt;

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)] // the variants are their own names
pub enum DType {
    #[serde(rename = "bool")]
    Bool = 0,
    #[serde(rename = "int8")]
    I8 = 1,
    #[serde(rename = "int16")]
    I16 = 2,
    #[serde(rename = "int32")]
    I32 = 3,
    #[serde(rename = "int64")]
    I64 = 4,
    #[serde(rename = "uint8")]
    U8 = 5,
    #[serde(rename = "uint16")]
    U16 = 6,
    #[serde(rename = "uint32")]
    U32 = 7,
    #[serde(rename = "uint64")]
    U64 = 8,
    #[serde(rename = "float16")]
    F16 = 9,
    #[serde(rename = "float32")]
    F32 = 10,
    #[serde(rename = "float64")]
    F64 = 11,
    #[serde(rename = "complex64")]
    C64 = 12,
    #[serde(rename = "complex128")]
    C128 = 13,
}

impl DType {
    /// Every dtype, by discriminant.
    pub const ALL: [DType; 14] = [
        DType::Bool,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::F16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ];

    /// Bytes of one element in host memory (a bool is one byte, 0 or 1).
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::I8 | DType::U8 => 1,
            DType::I16 | DType::U16 | DType::F16 => 2,
            DType::I32 | DType::U32 | DType::F32 => 4,
            DType::I64 | DType::U64 | DType::F64 | DType::C64 => 8,
            DType::C128 => 16,
        }
    }

    /// NumPy's name, for example `float32`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I8 => "int8",
            DType::I16 => "int16",
            DType::I32 => "int32",
            DType::I64 => "int64",
            DType::U8 => "uint8",
            DType::U16 => "uint16",
            DType::U32 => "uint32",
            DType::U64 => "uint64",
            DType::F16 => "float16",
            DType::F32 => "float32",
            DType::F64 => "float64",
            DType::C64 => "complex64",
            DType::C128 => "complex128",
        }
    }

    /// The dtype with this NumPy name.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|d| d.name() == name)
    }

    /// The dtype with this discriminant.
    pub fn from_code(code: u8) -> Option<DType> {
        DType::ALL.get(code as usize).copied()
    }

    /// True for the real floating-point types.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::F32 | DType::F64)
    }

    /// True for the complex types.
    pub const fn is_complex(self) -> bool {
        matches!(self, DType::C64 | DType::C128)
    }

    /// The dtype of a complex number's parts; `None` of the other dtypes.
    pub const fn part(self) -> Option<DType> {
        match self {
            DType::C64 => Some(DType::F32),
            DType::C128 => Some(DType::F64),
            _ => None,
        }
    }

    /// The dtype of complex numbers with parts of this dtype, if there is one.
    pub const fn complex(self) -> Option<DType> {
        match self {
            DType::F32 => Some(DType::C64),
            DType::F64 => Some(DType::C128),
            _ => None,
        }
    }

    /// True for signed and unsigned integers; bool is not one.
    pub const fn is_int(self) -> bool {
        matches!(
            self,
            DType::I8
                | DType::I16
                | DType::I32
                | DType::I64
                | DType::U8
                | DType::U16
                | DType::U32
                | DType::U64
        )
    }

    /// True for signed integers.
    pub const fn is_signed_int(self) -> bool {
        matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
