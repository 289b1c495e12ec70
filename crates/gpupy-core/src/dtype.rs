//! Element types, named and sized as NumPy's.
//!
//! Owns [`DType`] and its table: every fact about a dtype is one column. Invariant: the discriminants are part of the
//! IR's memory form and never change.
//!
//! Not here: values of a dtype (`scalar.rs`), the Rust types of elements (`op_eval/element.rs`), promotion rules
//! (NumPy's, applied by the front end).

use serde::{Deserialize, Serialize};
use std::ffi::CStr;
use std::fmt;

/// What kind of numbers a dtype has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// False and true, of one byte that is 0 or 1.
    Bool,
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Real floating-point numbers.
    Float,
    /// Two floats: a real and an imaginary part.
    Complex,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct DTypeInfo {
    /// The dtype.
    pub dtype: DType,
    /// NumPy's name, for example `float32`.
    pub name: &'static str,
    /// Bytes of one element in host memory.
    pub size: usize,
    /// What kind of numbers it has.
    pub class: Class,
    /// Bits of a number without its sign; of a float, its significant digits, the leading one among them.
    pub digits: u32,
    /// The dtype of 32 bits or more that holds its values, all of them exactly: in registers of a shader, and where
    /// arithmetic is done.
    pub held: DType,
    /// The greatest number that a float64 has as well; 0 of bools.
    pub greatest: f64,
    /// Its letters in the buffer protocol (PEP 3118), of the C types whose sizes are the same everywhere; empty if it
    /// has none.
    pub format: &'static CStr,
}

/// The greatest bfloat16.
const BFLOAT16_MAX: f64 = f32::from_bits(0x7f7f_0000) as f64;

macro_rules! dtypes {
    ($($variant:ident = $code:literal, $name:literal, $size:literal, $class:ident, $digits:literal, $held:ident,
       $greatest:expr, $format:literal;)*) => {
        /// The type of an array's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[repr(u8)]
        #[allow(missing_docs)] // the variants are their own names
        pub enum DType { $(#[serde(rename = $name)] $variant = $code,)* }

        impl DType {
            /// Every dtype, by discriminant.
            pub const ALL: [DType; DTYPES.len()] = [$(DType::$variant),*];
        }

        /// All rows, by discriminant.
        pub const DTYPES: [DTypeInfo; [$($code),*].len()] = [$(DTypeInfo {
            dtype: DType::$variant, name: $name, size: $size, class: Class::$class,
            digits: $digits, held: DType::$held, greatest: $greatest, format: $format,
        },)*];
    };
}

dtypes! {
    // variant = code, NumPy's name, bytes, class, digits, held in registers as, greatest number, format
    Bool = 0, "bool", 1, Bool, 1, Bool, 0.0, c"?";
    I8 = 1, "int8", 1, Signed, 7, I32, 127.0, c"b";
    I16 = 2, "int16", 2, Signed, 15, I32, 32_767.0, c"h";
    I32 = 3, "int32", 4, Signed, 31, I32, 2_147_483_647.0, c"i";
    I64 = 4, "int64", 8, Signed, 63, I64, 9_223_372_036_854_774_784.0, c"q";
    U8 = 5, "uint8", 1, Unsigned, 8, U32, 255.0, c"B";
    U16 = 6, "uint16", 2, Unsigned, 16, U32, 65_535.0, c"H";
    U32 = 7, "uint32", 4, Unsigned, 32, U32, 4_294_967_295.0, c"I";
    U64 = 8, "uint64", 8, Unsigned, 64, U64, 18_446_744_073_709_549_568.0, c"Q";
    F16 = 9, "float16", 2, Float, 11, F32, 65_504.0, c"e";
    F32 = 10, "float32", 4, Float, 24, F32, f32::MAX as f64, c"f";
    F64 = 11, "float64", 8, Float, 53, F64, f64::MAX, c"d";
    C64 = 12, "complex64", 8, Complex, 24, C64, f32::MAX as f64, c"Zf";
    C128 = 13, "complex128", 16, Complex, 53, C128, f64::MAX, c"Zd";
    // The upper half of a float32. NumPy has it from the package ml_dtypes.
    BF16 = 14, "bfloat16", 2, Float, 8, F32, BFLOAT16_MAX, c"";
}

// A dtype's code is its place.
const _: () = {
    let mut place = 0;
    while place < DTYPES.len() {
        assert!(DTYPES[place].dtype as usize == place);
        place += 1;
    }
};

impl DType {
    /// The dtype's row.
    pub const fn info(self) -> &'static DTypeInfo {
        &DTYPES[self as usize]
    }

    /// Bytes of one element in host memory (a bool is one byte, 0 or 1).
    pub const fn size(self) -> usize {
        self.info().size
    }

    /// NumPy's name, for example `float32`.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The dtype of 32 bits or more that holds its values ([`DTypeInfo::held`]).
    pub const fn held(self) -> DType {
        self.info().held
    }

    /// The dtype in which sums and products of this one are accumulated: float32 for narrower floats.
    pub const fn accumulated(self) -> DType {
        if self.is_float() { self.held() } else { self }
    }

    /// Whether this is a float that is computed in float32 and rounded after each operation.
    pub const fn is_narrow_float(self) -> bool {
        self.is_float() && self.size() < 4
    }

    /// Bits of a float's significand that are stored, all but the leading one; 0 for dtypes that are not floats.
    pub const fn mantissa(self) -> u32 {
        if self.is_float() { self.info().digits - 1 } else { 0 }
    }

    /// The bits of a float's infinity, which are all bits of its exponent; 0 for dtypes that are not floats.
    pub const fn infinity(self) -> u64 {
        match self.is_float() {
            true => (1 << (8 * self.size() - 1)) - (1 << self.mantissa()),
            false => 0,
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
        matches!(self.info().class, Class::Float)
    }

    /// True for the complex types.
    pub const fn is_complex(self) -> bool {
        matches!(self.info().class, Class::Complex)
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
        matches!(self.info().class, Class::Signed | Class::Unsigned)
    }

    /// True for signed integers.
    pub const fn is_signed_int(self) -> bool {
        matches!(self.info().class, Class::Signed)
    }

    /// All dtypes but the complex ones.
    pub fn real() -> impl Iterator<Item = DType> + Clone {
        DType::ALL.into_iter().filter(|dtype| !dtype.is_complex())
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
