//! What rows become: sums by the canonical tree, extremes and their places, truth values, products.
//!
//! Owns [`RowFunction`] and [`reduction`]. A sum has the bits that `docs/ir.md` gives. Products of floats are
//! [`DotFunctions`] of the driver that multiplies. Not here: the kinds of results (`versions/rows.rs`).

use std::ops::Add;

use crate::kinds::ElementType;
use crate::nest::SliceReduction;

/// A function of one row or two, each with its address, its stride in bytes, and as many elements; gives bits.
pub type RowFunction = extern "C" fn(i64, i64, i64, i64, i64) -> i64;

/// Products of two rows of floats, as the driver that computes them outside of loops gives them.
#[derive(Clone, Copy, Debug)]
pub struct DotFunctions {
    /// Of `float64`.
    pub of_doubles: RowFunction,
    /// Of `float32`.
    pub of_singles: RowFunction,
}

/// Elements of a step of the tree, and its lanes.
const CHUNK: usize = 256;
const LANES: usize = 16;

/// The function for rows of a type; `None` where there is none.
pub(crate) fn reduction(
    function: SliceReduction,
    element: ElementType,
    products: DotFunctions,
) -> Option<RowFunction> {
    use ElementType::{Bool, F32, F64, I32, I64, U8};
    Some(match (function, element) {
        (SliceReduction::Dot, F64) => products.of_doubles,
        (SliceReduction::Dot, F32) => products.of_singles,
        (SliceReduction::Dot, I64) => dot_of_integers,
        (SliceReduction::Sum, F64) => sum_of_doubles,
        (SliceReduction::Sum, F32) => sum_of_singles,
        (SliceReduction::Sum, I64) => sum_of_integers::<i64>,
        (SliceReduction::Sum, I32) => sum_of_integers::<i32>,
        (SliceReduction::Sum, Bool) => sum_of_integers::<u8>,
        (SliceReduction::Mean, F64) => mean_of_doubles,
        (SliceReduction::Mean, F32) => mean_of_singles,
        (SliceReduction::Max, F64) => extreme_of_doubles::<true>,
        (SliceReduction::Min, F64) => extreme_of_doubles::<false>,
        (SliceReduction::Max, I64) => extreme_of_integers::<i64, true>,
        (SliceReduction::Min, I64) => extreme_of_integers::<i64, false>,
        (SliceReduction::Max, I32) => extreme_of_integers::<i32, true>,
        (SliceReduction::Min, I32) => extreme_of_integers::<i32, false>,
        (SliceReduction::Max, U8) => extreme_of_integers::<u8, true>,
        (SliceReduction::Min, U8) => extreme_of_integers::<u8, false>,
        (SliceReduction::Argmax, F64) => place_of::<f64, true>,
        (SliceReduction::Argmin, F64) => place_of::<f64, false>,
        (SliceReduction::Argmax, I64) => place_of::<i64, true>,
        (SliceReduction::Argmin, I64) => place_of::<i64, false>,
        (SliceReduction::Argmax, I32) => place_of::<i32, true>,
        (SliceReduction::Argmin, I32) => place_of::<i32, false>,
        (SliceReduction::Any, Bool | U8) => is_any::<u8>,
        (SliceReduction::Any, I32) => is_any::<i32>,
        (SliceReduction::Any, I64) => is_any::<i64>,
        (SliceReduction::Any, F64) => is_any::<f64>,
        (SliceReduction::All, Bool | U8) => is_all::<u8>,
        (SliceReduction::All, I32) => is_all::<i32>,
        (SliceReduction::All, I64) => is_all::<i64>,
        (SliceReduction::All, F64) => is_all::<f64>,
        _ => return None,
    })
}

/// The elements of a row.
fn elements<T: Copy>(first: i64, stride: i64, count: i64) -> impl Iterator<Item = T> {
    (0..count).map(move |at| element(first, stride, at))
}

#[inline(always)]
fn element<T: Copy>(first: i64, stride: i64, at: i64) -> T {
    let place = first.wrapping_add(at.wrapping_mul(stride)) as usize as *const T;
    // SAFETY: code gives rows whose places were found within arrays that live meanwhile, or its own scratch.
    unsafe { place.read_unaligned() }
}

/// The canonical tree over elements; nothing is the default.
fn tree<T: Copy + Default + Add<Output = T>>(count: usize, at: impl Fn(usize) -> T) -> T {
    if count <= CHUNK {
        return chunk(count, at);
    }
    let first = |number: usize| CHUNK * number;
    let mut points: Vec<T> = (0..count.div_ceil(CHUNK))
        .map(|number| chunk(CHUNK.min(count - first(number)), |place| at(first(number) + place)))
        .collect();
    while points.len() > 1 {
        points = points.chunks(CHUNK).map(|some| chunk(some.len(), |place| some[place])).collect();
    }
    points[0]
}

#[inline(always)]
fn chunk<T: Copy + Default + Add<Output = T>>(count: usize, at: impl Fn(usize) -> T) -> T {
    let mut lanes = [T::default(); LANES];
    for (lane, value) in lanes.iter_mut().enumerate().take(count) {
        *value = at(lane);
    }
    let whole = count - count % LANES;
    for first in (LANES..whole.max(LANES)).step_by(LANES) {
        for (lane, value) in lanes.iter_mut().enumerate() {
            *value = *value + at(first + lane);
        }
    }
    for (lane, place) in (whole.max(LANES)..count).enumerate() {
        lanes[lane] = lanes[lane] + at(place);
    }
    for half in [8, 4, 2, 1] {
        for lane in 0..half.min(count.saturating_sub(half)) {
            lanes[lane] = lanes[lane] + lanes[lane + half];
        }
    }
    lanes[0]
}

fn sum<T: Copy + Default + Add<Output = T>>(first: i64, stride: i64, count: i64) -> T {
    if stride == size_of::<T>() as i64 {
        return tree(count as usize, |at| element(first, size_of::<T>() as i64, at as i64));
    }
    tree(count as usize, |at| element(first, stride, at as i64))
}

extern "C" fn sum_of_doubles(first: i64, stride: i64, count: i64, _: i64, _: i64) -> i64 {
    sum::<f64>(first, stride, count).to_bits() as i64
}

extern "C" fn sum_of_singles(first: i64, stride: i64, count: i64, _: i64, _: i64) -> i64 {
    sum::<f32>(first, stride, count).to_bits().into()
}

extern "C" fn mean_of_doubles(first: i64, stride: i64, count: i64, _: i64, _: i64) -> i64 {
    (sum::<f64>(first, stride, count) / count as f64).to_bits() as i64
}

extern "C" fn mean_of_singles(first: i64, stride: i64, count: i64, _: i64, _: i64) -> i64 {
    (sum::<f32>(first, stride, count) / count as f32).to_bits().into()
}

extern "C" fn sum_of_integers<T: Copy + Into<i64>>(
    first: i64,
    stride: i64,
    count: i64,
    _: i64,
    _: i64,
) -> i64 {
    elements::<T>(first, stride, count).fold(0, |sum, one| sum.wrapping_add(one.into()))
}

extern "C" fn dot_of_integers(a: i64, a_stride: i64, count: i64, b: i64, b_stride: i64) -> i64 {
    let pairs = elements::<i64>(a, a_stride, count).zip(elements::<i64>(b, b_stride, count));
    pairs.fold(0, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(y)))
}

/// Of floats; NaN where one is, and where it is zeros of both signs.
extern "C" fn extreme_of_doubles<const IS_MAX: bool>(
    first: i64,
    stride: i64,
    count: i64,
    _: i64,
    _: i64,
) -> i64 {
    let mut all = elements::<f64>(first, stride, count);
    let mut found = all.next().unwrap_or(f64::NAN);
    for one in all {
        if one == found && one.to_bits() != found.to_bits() {
            return f64::NAN.to_bits() as i64;
        }
        if one.is_nan() || if IS_MAX { one > found } else { one < found } {
            found = one;
        }
    }
    found.to_bits() as i64
}

extern "C" fn extreme_of_integers<T: Copy + Into<i64>, const IS_MAX: bool>(
    first: i64,
    stride: i64,
    count: i64,
    _: i64,
    _: i64,
) -> i64 {
    let all = elements::<T>(first, stride, count).map(Into::into);
    if IS_MAX { all.max() } else { all.min() }.unwrap_or(0)
}

/// The first place of an extreme; negative at NaN.
extern "C" fn place_of<T: Copy + PartialOrd, const IS_MAX: bool>(
    first: i64,
    stride: i64,
    count: i64,
    _: i64,
    _: i64,
) -> i64 {
    let mut found: Option<(i64, T)> = None;
    for (place, one) in (0..).zip(elements::<T>(first, stride, count)) {
        if one.partial_cmp(&one).is_none() {
            return -1;
        }
        if found.is_none_or(|(_, best)| if IS_MAX { one > best } else { one < best }) {
            found = Some((place, one));
        }
    }
    found.map_or(-1, |(place, _)| place)
}

extern "C" fn is_any<T: Copy + Default + PartialEq>(
    first: i64,
    stride: i64,
    count: i64,
    _: i64,
    _: i64,
) -> i64 {
    elements::<T>(first, stride, count).any(|one| one != T::default()).into()
}

extern "C" fn is_all<T: Copy + Default + PartialEq>(
    first: i64,
    stride: i64,
    count: i64,
    _: i64,
    _: i64,
) -> i64 {
    elements::<T>(first, stride, count).all(|one| one != T::default()).into()
}
