//! Interval arithmetic: the bounds of an operation's result from the bounds of its operands.
//!
//! Owns [`Bounds`]. Invariant: an operation on elements within the operands' bounds gives an element within the
//! result's, also on a device that flushes subnormal numbers.
//!
//! Not here: expressions (`mod.rs`).

use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar, for_integer_type};

/// Numbers between which elements lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bounds {
    /// Of integers and bools: the least and the greatest.
    Whole { low: i128, high: i128 },
    /// The interval of floats that are not NaN, and whether some may be NaN.
    Real { low: f64, high: f64, nan: bool },
}

use Bounds::{Real, Whole};

/// Any float.
const ANY: Bounds = Real { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

impl Bounds {
    /// The range of a dtype; unknown for dtypes without real numbers.
    pub fn of_dtype(dtype: DType) -> Bounds {
        let bits = 8 * dtype.size() as u32;
        match dtype {
            DType::Bool => Whole { low: 0, high: 1 },
            _ if dtype.is_signed_int() => {
                Whole { low: -(1 << (bits - 1)), high: (1 << (bits - 1)) - 1 }
            }
            _ if dtype.is_int() => Whole { low: 0, high: (1 << bits) - 1 },
            _ => ANY,
        }
    }

    /// Exactly this number.
    pub fn of_scalar(scalar: Scalar) -> Bounds {
        let size = scalar.dtype.size();
        Bounds::of_elements(scalar.dtype, &scalar.bytes()[..size]).unwrap_or(ANY)
    }

    /// The least and the greatest of elements; `None` for none, and for dtypes without bounds.
    pub fn of_elements(dtype: DType, bytes: &[u8]) -> Option<Bounds> {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2")]
            fn with_avx2(dtype: DType, bytes: &[u8]) -> Option<Bounds> {
                Bounds::of_elements_here(dtype, bytes)
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2, as was checked before.
                return unsafe { with_avx2(dtype, bytes) };
            }
        }
        Bounds::of_elements_here(dtype, bytes)
    }

    #[inline(always)]
    fn of_elements_here(dtype: DType, bytes: &[u8]) -> Option<Bounds> {
        #[inline(always)]
        fn whole<T: Copy + Ord + bytemuck::AnyBitPattern + Into<i128>>(
            bytes: &[u8],
        ) -> Option<Bounds> {
            let (first, rest) = read::<T>(bytes)?;
            let (low, high) = rest.fold((first, first), |(low, high), x| (low.min(x), high.max(x)));
            Some(Whole { low: low.into(), high: high.into() })
        }
        #[inline(always)]
        fn real<T: Copy + PartialOrd + bytemuck::AnyBitPattern + Into<f64>>(
            bytes: &[u8],
            ends: [T; 2],
        ) -> Option<Bounds> {
            let (first, rest) = read::<T>(bytes)?;
            let (mut low, mut high, mut nan) = (ends[0], ends[1], false);
            for x in std::iter::once(first).chain(rest) {
                low = if x < low { x } else { low };
                high = if x > high { x } else { high };
                // Only NaN differs from itself.
                #[allow(clippy::eq_op)]
                {
                    nan |= x != x;
                }
            }
            Some(Real { low: low.into(), high: high.into(), nan })
        }
        match dtype {
            DType::Bool => Some(Bounds::of_dtype(dtype)),
            DType::F32 => real(bytes, [f32::INFINITY, f32::NEG_INFINITY]),
            DType::F64 => real(bytes, [f64::INFINITY, f64::NEG_INFINITY]),
            _ => for_integer_type!(dtype, T => whole::<T>(bytes), _ => None),
        }
    }

    /// The union: bounds of elements within either.
    pub fn union(self, other: Bounds) -> Bounds {
        match (self, other) {
            (Whole { low, high }, Whole { low: l, high: h }) => {
                Whole { low: low.min(l), high: high.max(h) }
            }
            (Real { low, high, nan }, Real { low: l, high: h, nan: n }) => {
                Real { low: low.min(l), high: high.max(h), nan: nan | n }
            }
            _ => ANY,
        }
    }

    /// True when every number within these bounds is within the others.
    pub fn is_within(self, outer: Bounds) -> bool {
        self.union(outer) == outer
    }
}

/// The first element and the others; `None` for none, or where they are not aligned.
#[inline(always)]
fn read<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> Option<(T, impl Iterator<Item = T> + '_)> {
    // A single element may lie anywhere.
    if bytes.len() == size_of::<T>() {
        return Some((bytemuck::pod_read_unaligned(bytes), [].iter().copied()));
    }
    let (first, rest) = bytemuck::try_cast_slice::<u8, T>(bytes).ok()?.split_first()?;
    Some((*first, rest.iter().copied()))
}

/// The bounds of an operation's results.
pub(super) fn apply(op: Op, dtype: DType, given: &[(Bounds, DType)]) -> Bounds {
    let bounds = match *given {
        [(x, from)] if op == Op::Cast => cast(x, from, dtype),
        [(Whole { low, high }, _)] => whole_of_one(op, (low, high)),
        [(Real { low, high, nan }, _)] => real_of_one(op, (low, high), nan),
        [(Whole { low: a, high: b }, _), (Whole { low: c, high: d }, _)] if dtype.is_int() => {
            whole_of_two(op, (a, b), (c, d), 8 * dtype.size() as i128)
        }
        [(x @ Real { .. }, _), (y @ Real { .. }, _)] if dtype.is_float() => {
            real_of_two(op, x, y, dtype)
        }
        [_, (x, _), (y, _)] if op == Op::Select => Some(x.union(y)),
        _ => None,
    };
    let everything = Bounds::of_dtype(dtype);
    // Integers that leave their dtype wrap, which could give any.
    bounds.filter(|bounds| bounds.is_within(everything)).unwrap_or(everything)
}

/// The ends of an interval.
type IntervalEnds<T> = (T, T);

fn whole_of_one(op: Op, (low, high): IntervalEnds<i128>) -> Option<Bounds> {
    let (low, high) = match op {
        Op::Neg => (-high, -low),
        Op::Abs if low >= 0 => (low, high),
        Op::Abs => (if high < 0 { -high } else { 0 }, high.max(-low)),
        Op::Sign => (low.signum(), high.signum()),
        _ => return None,
    };
    Some(Whole { low, high })
}

fn whole_of_two(
    op: Op,
    x: IntervalEnds<i128>,
    y: IntervalEnds<i128>,
    bits: i128,
) -> Option<Bounds> {
    let corners = |f: fn(i128, i128) -> Option<i128>| {
        let all = [f(x.0, y.0)?, f(x.0, y.1)?, f(x.1, y.0)?, f(x.1, y.1)?];
        Some((all.into_iter().min()?, all.into_iter().max()?))
    };
    let (low, high) = match op {
        Op::Add => (x.0 + y.0, x.1 + y.1),
        Op::Sub => (x.0 - y.1, x.1 - y.0),
        Op::Mul => corners(i128::checked_mul)?,
        Op::Min => (x.0.min(y.0), x.1.min(y.1)),
        Op::Max => (x.0.max(y.0), x.1.max(y.1)),
        // By 0 there is a rule of its own.
        Op::FloorDiv if y.0 > 0 => corners(|x, y| Some(x.div_euclid(y)))?,
        Op::Mod if x.0 >= 0 && x.1 < y.0 => x,
        Op::Mod => ((y.0 + 1).min(0), (y.1 - 1).max(0)),
        Op::Shl if y.0 == y.1 && (0..bits).contains(&y.0) => (x.0 << y.0, x.1 << y.0),
        Op::Shr if y.0 == y.1 && (0..bits).contains(&y.0) => (x.0 >> y.0, x.1 >> y.0),
        Op::And if x.0 >= 0 && y.0 >= 0 => (0, x.1.min(y.1)),
        Op::And if x.0 >= 0 => (0, x.1),
        Op::And if y.0 >= 0 => (0, y.1),
        Op::Or | Op::Xor if x.0 >= 0 && y.0 >= 0 => {
            // Nothing above the highest bit of either is set.
            (0, (1 << (128 - x.1.max(y.1).leading_zeros())) - 1)
        }
        _ => return None,
    };
    Some(Whole { low, high })
}

fn real_of_one(op: Op, (low, high): IntervalEnds<f64>, nan: bool) -> Option<Bounds> {
    let (low, high) = flushed((low, high));
    let (low, high) = match op {
        Op::Neg => (-high, -low),
        Op::Abs if low >= 0.0 => (low, high),
        Op::Abs => (if high < 0.0 { -high } else { 0.0 }, high.max(-low)),
        Op::Floor => (low.floor(), high.floor()),
        Op::Ceil => (low.ceil(), high.ceil()),
        Op::Trunc => (low.trunc(), high.trunc()),
        Op::Rint => (low.round_ties_even(), high.round_ties_even()),
        _ => return None,
    };
    Some(Real { low, high, nan })
}

fn real_of_two(op: Op, x: Bounds, y: Bounds, dtype: DType) -> Option<Bounds> {
    let (Real { low: a, high: b, nan: m }, Real { low: c, high: d, nan: n }) = (x, y) else {
        return None;
    };
    let ((a, b), (c, d), nan) = (flushed((a, b)), flushed((c, d)), m | n);
    // These choose one operand, and NaN wins.
    match op {
        Op::Min => return Some(Real { low: a.min(c), high: b.min(d), nan }),
        Op::Max => return Some(Real { low: a.max(c), high: b.max(d), nan }),
        _ => {}
    }
    // Of finite numbers no sum, product or quotient is NaN.
    if ![a, b, c, d].iter().all(|end| end.is_finite()) {
        return None;
    }
    // Rounding keeps the order, so the ends are those of the ends' results. Float64 holds these so
    // exactly that rounding them once more gives float32's.
    let round = match dtype {
        DType::F32 => |x: f64| f64::from(x as f32),
        DType::F64 => |x: f64| x,
        _ => return None,
    };
    let corners = |f: fn(f64, f64) -> f64| {
        let all = [f(a, c), f(a, d), f(b, c), f(b, d)];
        let ends =
            all.into_iter().fold((all[0], all[0]), |(low, high), x| (low.min(x), high.max(x)));
        (round(ends.0), round(ends.1))
    };
    let ends = match op {
        Op::Add => (round(a + c), round(b + d)),
        Op::Sub => (round(a - d), round(b - c)),
        Op::Mul => corners(|x, y| x * y),
        Op::Div if c > 0.0 || d < 0.0 => corners(|x, y| x / y),
        _ => return None,
    };
    let (low, high) = flushed(ends);
    Some(Real { low, high, nan })
}

/// Ends between which also lies the zero that a device may make of a subnormal number. Float32's
/// least normal number is above all of float64's that may be flushed.
fn flushed((low, high): IntervalEnds<f64>) -> IntervalEnds<f64> {
    let least = f64::from(f32::MIN_POSITIVE);
    let low = if low > 0.0 && low <= least { 0.0 } else { low };
    let high = if high < 0.0 && high >= -least { -0.0 } else { high };
    (low, high)
}

fn cast(x: Bounds, from: DType, to: DType) -> Option<Bounds> {
    match (x, Bounds::of_dtype(to)) {
        (_, Whole { .. }) if to == DType::Bool => None,
        (Whole { .. }, Whole { .. }) => Some(x),
        (Whole { low, high }, Real { .. }) => {
            let to_real = |x: i128| match to {
                DType::F32 => Some(f64::from(x as f32)),
                DType::F64 => Some(x as f64),
                _ => None,
            };
            Some(Real { low: to_real(low)?, high: to_real(high)?, nan: false })
        }
        (Real { low, high, nan }, outer @ Whole { low: least, .. }) => {
            let known = matches!(from, DType::F32 | DType::F64) && low <= high;
            let whole = Whole { low: low.trunc() as i128, high: high.trunc() as i128 };
            // Numbers that do not fit, and NaN, become the least int32 or int64; other dtypes have rules of their own.
            let kept = matches!(to, DType::I32 | DType::I64);
            match known && whole.is_within(outer) {
                true if !nan => Some(whole),
                true if kept => Some(whole.union(Whole { low: least, high: least })),
                _ => None,
            }
        }
        (Real { low, high, nan }, Real { .. }) => match (from, to) {
            (DType::F32, DType::F64) => Some(x),
            (DType::F64, DType::F32) => {
                let (low, high) = flushed((f64::from(low as f32), f64::from(high as f32)));
                Some(Real { low, high, nan })
            }
            _ if from == to => Some(x),
            _ => None,
        },
    }
}
