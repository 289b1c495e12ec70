//! Expected results of functions: for float32, the float64 functions of the platform's C library.

use gpupy_core::Op;

/// The reference function of a unary operation.
pub fn unary(op: Op) -> Option<fn(f64) -> f64> {
    Some(match op {
        Op::Exp => f64::exp,
        Op::Exp2 => f64::exp2,
        Op::Expm1 => f64::exp_m1,
        Op::Log => f64::ln,
        Op::Log2 => f64::log2,
        Op::Log10 => f64::log10,
        Op::Log1p => f64::ln_1p,
        Op::Sin => f64::sin,
        Op::Cos => f64::cos,
        Op::Tan => f64::tan,
        Op::Asin => f64::asin,
        Op::Acos => f64::acos,
        Op::Atan => f64::atan,
        Op::Sinh => f64::sinh,
        Op::Cosh => f64::cosh,
        Op::Tanh => f64::tanh,
        Op::Asinh => f64::asinh,
        Op::Acosh => f64::acosh,
        Op::Atanh => f64::atanh,
        Op::Cbrt => f64::cbrt,
        _ => return None,
    })
}

/// The reference function of a binary operation.
pub fn binary(op: Op) -> Option<fn(f64, f64) -> f64> {
    Some(match op {
        Op::Pow => f64::powf,
        Op::Atan2 => f64::atan2,
        Op::Hypot => f64::hypot,
        _ => return None,
    })
}

/// The distance of a float32 from the exact result, in units of the exact result's last place. It is infinite if a
/// special value or the sign of zero is wrong.
pub fn error_single(got: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if got.to_bits() == rounded.to_bits() {
        // Counted as 0: the error of rounding alone does not matter for the worst case.
        return 0.0;
    }
    if rounded.is_nan() || got.is_nan() {
        return if rounded.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if rounded == 0.0 && got == 0.0 || exact.is_infinite() {
        return f64::INFINITY;
    }
    let exponent = ((exact.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-126, 127);
    let unit = 2f64.powi(exponent - 23);
    let got = if got.is_infinite() { f64::from(got.signum()) * 2f64.powi(128) } else { got.into() };
    (got - exact).abs() / unit
}

/// The result of a float64 function, computed by mpmath with at least 400 bits.
pub struct Vector {
    pub op: Op,
    /// One operand or two.
    pub operands: Vec<f64>,
    /// The result, correctly rounded.
    pub rounded: f64,
    /// The exact result minus the rounded one, in units of its last place.
    pub rest: f64,
}

/// Reads lines of an operation's name, the bits of its operands and of the rounded result, and `rest` in hundredths.
pub fn vectors(text: &str) -> Option<Vec<Vector>> {
    let read = |word: &str| u64::from_str_radix(word, 16).ok().map(f64::from_bits);
    text.lines()
        .map(|line| {
            let mut words: Vec<&str> = line.split(' ').collect();
            let rest: f64 = words.pop()?.parse().ok()?;
            let rounded = read(words.pop()?)?;
            let (name, operands) = words.split_first()?;
            let operands = operands.iter().map(|word| read(word)).collect::<Option<_>>()?;
            Some(Vector { op: Op::from_name(name)?, operands, rounded, rest: rest / 100.0 })
        })
        .collect()
}

/// The distance of a float64 from the exact result of a vector, in units of its last place.
pub fn error_double(got: f64, vector: &Vector) -> f64 {
    // Bits of one sign count floats. At the end of a binade this is too large by a factor of at most 2.
    let place = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
    };
    if got.is_nan() || got.is_infinite() != vector.rounded.is_infinite() {
        return f64::INFINITY;
    }
    let steps = place(got).wrapping_sub(place(vector.rounded)) as f64;
    let sign = if vector.rounded.is_sign_negative() { -1.0 } else { 1.0 };
    (steps * sign - vector.rest * sign).abs()
}
