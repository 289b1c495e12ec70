//! The kinds of values: Python's numbers and NumPy's, and what becomes of two of them.
//!
//! Owns [`Kind`], [`SlotClass`] and [`ElementType`]. Not here: operations (`versions`).

/// A kind of value that a name may have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// The name stays as it is in the program: it has no value, or one that compiled code does not know.
    Kept,
    /// Python's `bool`.
    Bool,
    /// Python's `int`, of 64 bits here.
    Int,
    /// Python's `float`.
    Float,
    /// NumPy's `bool`.
    NumpyBool,
    /// `uint8`.
    U8,
    /// `int32`.
    I32,
    /// `int64`.
    I64,
    /// `float32`.
    F32,
    /// `float64`.
    F64,
}

/// All kinds, by their numbers.
pub const KINDS: [Kind; 10] = [
    Kind::Kept,
    Kind::Bool,
    Kind::Int,
    Kind::Float,
    Kind::NumpyBool,
    Kind::U8,
    Kind::I32,
    Kind::I64,
    Kind::F32,
    Kind::F64,
];

/// How a value is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotClass {
    /// 64 bits, sign extended; truth values are 0 and 1.
    Integer,
    /// A `float64`.
    Double,
    /// A `float32`.
    Single,
}

impl Kind {
    /// How its values are held.
    pub fn class(self) -> SlotClass {
        match self {
            Kind::Float | Kind::F64 => SlotClass::Double,
            Kind::F32 => SlotClass::Single,
            _ => SlotClass::Integer,
        }
    }

    /// Whether it is one of Python's own.
    pub fn is_python(self) -> bool {
        matches!(self, Kind::Bool | Kind::Int | Kind::Float)
    }

    /// Whether it is a truth value.
    pub fn is_truth(self) -> bool {
        matches!(self, Kind::Bool | Kind::NumpyBool)
    }

    /// The least and the greatest number of a kind of integers.
    pub fn range(self) -> Option<(i64, i64)> {
        match self {
            Kind::Bool | Kind::NumpyBool => Some((0, 1)),
            Kind::U8 => Some((0, 255)),
            Kind::I32 => Some((i32::MIN.into(), i32::MAX.into())),
            _ => None,
        }
    }

    /// The kind of what operators make of two; Python's numbers take the kind of NumPy's (NEP 50).
    pub fn with(self, other: Kind) -> Kind {
        let (low, high) = if self <= other { (self, other) } else { (other, self) };
        match (low, high) {
            _ if low == high => low,
            (_, Kind::Bool | Kind::Int | Kind::Float) => high,
            (Kind::Bool, _) => high,
            (Kind::Int, Kind::NumpyBool) => Kind::I64,
            (Kind::Int, _) => high,
            (Kind::Float, Kind::F32 | Kind::F64) => high,
            (Kind::Float, _) => Kind::F64,
            (Kind::I32 | Kind::I64, Kind::F32) => Kind::F64,
            // uint8 and int32 are within int64, and so on.
            _ => high,
        }
    }
}

/// The dtype of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElementType {
    /// `bool`.
    Bool,
    /// `uint8`.
    U8,
    /// `int32`.
    I32,
    /// `int64`.
    I64,
    /// `float32`.
    F32,
    /// `float64`.
    F64,
}

impl ElementType {
    /// The dtype of arrays of a kind; Python's numbers have none.
    pub fn of(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::NumpyBool => ElementType::Bool,
            Kind::U8 => ElementType::U8,
            Kind::I32 => ElementType::I32,
            Kind::I64 => ElementType::I64,
            Kind::F32 => ElementType::F32,
            Kind::F64 => ElementType::F64,
            Kind::Kept | Kind::Bool | Kind::Int | Kind::Float => return None,
        })
    }

    /// The kind of its elements, read.
    pub fn kind(self) -> Kind {
        match self {
            ElementType::Bool => Kind::NumpyBool,
            ElementType::U8 => Kind::U8,
            ElementType::I32 => Kind::I32,
            ElementType::I64 => Kind::I64,
            ElementType::F32 => Kind::F32,
            ElementType::F64 => Kind::F64,
        }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> i64 {
        match self {
            ElementType::Bool | ElementType::U8 => 1,
            ElementType::I32 | ElementType::F32 => 4,
            ElementType::I64 | ElementType::F64 => 8,
        }
    }
}
