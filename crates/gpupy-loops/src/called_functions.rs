//! Functions that a nest may call, and those that compiled code calls: `math`'s by the functions of the C library
//! that Python calls, powers and remainders as Python's.
//!
//! Owns [`NamedFunction`], [`Of1`], [`Of2`] and [`OfIntegers`]. Not here: what kinds of values they take (`versions`).

use serde::Deserialize;

/// A function by its name in the program.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum NamedFunction {
    Max,
    Min,
    Abs,
    Int,
    Float,
    Bool,
    NumpyFloat64,
    NumpyFloat32,
    NumpyInt64,
    /// `np.sqrt`, which takes and gives NumPy's numbers.
    NumpySqrt,
    NumpyAbs,
    NumpyMaximum,
    NumpyMinimum,
    /// `math.sqrt` and so on.
    Math1(Of1),
    Math2(Of2),
    /// `math.floor`, which gives an `int`.
    MathFloor,
    MathCeil,
}

/// A function of one `float64`.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Of1 {
    Acos,
    Asin,
    Atan,
    Cos,
    Cosh,
    Exp,
    Expm1,
    Fabs,
    Log,
    Log10,
    Log1p,
    Log2,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
}

/// A function of two `float64`.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Of2 {
    Atan2,
    Copysign,
    Fmod,
    Pow,
    /// `%` of two floats.
    Remainder,
    /// `//` of two floats.
    FloorDivide,
}

/// A function of two integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfIntegers {
    /// `**`; the least integer where that overflows.
    Power,
}

impl Of1 {
    /// The function.
    pub fn function(self) -> extern "C" fn(f64) -> f64 {
        macro_rules! of {
            ($name:ident) => {{
                extern "C" fn call(x: f64) -> f64 {
                    f64::$name(x)
                }
                call
            }};
        }
        match self {
            Of1::Acos => of!(acos),
            Of1::Asin => of!(asin),
            Of1::Atan => of!(atan),
            Of1::Cos => of!(cos),
            Of1::Cosh => of!(cosh),
            Of1::Exp => of!(exp),
            Of1::Expm1 => of!(exp_m1),
            Of1::Fabs => of!(abs),
            Of1::Log => of!(ln),
            Of1::Log10 => of!(log10),
            Of1::Log1p => of!(ln_1p),
            Of1::Log2 => of!(log2),
            Of1::Sin => of!(sin),
            Of1::Sinh => of!(sinh),
            Of1::Sqrt => of!(sqrt),
            Of1::Tan => of!(tan),
            Of1::Tanh => of!(tanh),
        }
    }
}

impl Of2 {
    /// The function.
    pub fn function(self) -> extern "C" fn(f64, f64) -> f64 {
        match self {
            Of2::Atan2 => atan2,
            Of2::Copysign => copysign,
            Of2::Fmod => fmod,
            Of2::Pow => pow,
            Of2::Remainder => remainder,
            Of2::FloorDivide => floor_divide,
        }
    }
}

impl OfIntegers {
    /// The function.
    pub fn function(self) -> extern "C" fn(i64, i64) -> i64 {
        power
    }
}

extern "C" fn atan2(y: f64, x: f64) -> f64 {
    y.atan2(x)
}

extern "C" fn copysign(x: f64, y: f64) -> f64 {
    x.copysign(y)
}

extern "C" fn fmod(x: f64, y: f64) -> f64 {
    x % y
}

extern "C" fn pow(x: f64, y: f64) -> f64 {
    x.powf(y)
}

/// `x % y` as Python has it; `y` is not 0.
extern "C" fn remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest == 0.0 {
        return 0.0_f64.copysign(y);
    }
    if (y < 0.0) != (rest < 0.0) { rest + y } else { rest }
}

/// `x // y` as Python has it; `y` is not 0.
extern "C" fn floor_divide(x: f64, y: f64) -> f64 {
    let rest = x % y;
    let mut quotient = (x - rest) / y;
    if rest != 0.0 && (y < 0.0) != (rest < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return 0.0_f64.copysign(x / y);
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 { floor + 1.0 } else { floor }
}

/// `x ** y`; `y` is not negative.
extern "C" fn power(x: i64, y: i64) -> i64 {
    let found = match (x, u32::try_from(y)) {
        (0 | 1, _) => Some(if y == 0 { 1 } else { x }),
        (-1, _) => Some(if y % 2 == 0 { 1 } else { -1 }),
        (_, Ok(y)) => x.checked_pow(y),
        (_, Err(_)) => None,
    };
    found.unwrap_or(i64::MIN)
}
