//! Places of extremes among few elements in host memory: where along an axis the least or the greatest one stands.
//!
//! Owns [`place`] and [`places`]. Invariant: the first NaN wins, otherwise the first of equal extremes, as where the
//! search is recorded.
//!
//! Not here: the search in many elements (`record/extreme.rs`).

use crate::array::base::{Arg, Array};
use crate::eager::lent::{Lent, Loan};
use crate::graph::value::Origin;
use crate::memory::seen::Elements;
use gpupy_core::memory;
use gpupy_core::op::Op;
use gpupy_core::op_eval;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Scalar};
use smallvec::SmallVec;

/// The place in C order of the first of all elements that `op` (the minimum or maximum) gives, or of the first NaN;
/// `None` where these are not few elements in host memory.
pub(crate) fn place(op: Op, array: &Array) -> Option<usize> {
    let mut place = None;
    let found = |at| place = Some(at);
    each_place(op, array, array.size(), found).and(place)
}

/// The same of the rows along an axis, as `place` gives them.
pub(crate) fn places(op: Op, array: &Array, axis: usize) -> Option<Array> {
    let n = *array.shape().get(axis)?;
    let last = array.ndim() - 1;
    let there: SmallVec<[usize; 4]> = (0..=last).filter(|a| *a != axis).chain([axis]).collect();
    let mut places: Elements = memory::few(0, array.size() / n.max(1) * DType::I32.size()).ok()?;
    places.clear();
    // A row of few elements is no longer than an int32 can say.
    let add = |at| places.extend_from_slice(&(at as i32).to_ne_bytes());
    each_place(op, &array.transpose(&there), n, add)?;
    let mut shape = Shape::from(array.shape());
    shape[axis] = 1;
    Array::own(DType::I32, &shape, Origin::AtOnce, &places)
}

/// Tells the place of the extreme in each row of `n` elements, in C order, of elements in host memory; `None`, and
/// nothing is told, where they are not there.
fn each_place(op: Op, rows: &Array, n: usize, found: impl FnMut(usize)) -> Option<()> {
    let dtype = rows.dtype();
    if !op.reduces(dtype) {
        return None;
    }
    let loan = Loan::of(&[Arg::Array(rows)])?;
    let elements = loan.operands.first().filter(|lent| matches!(lent, Lent::Memory(..)))?;
    let elements = elements.elements(dtype.size())?;
    macro_rules! rows {
        ($read:expr) => {
            match op {
                Op::Max => each_row::<_, _, true>(&elements, n, found, $read),
                _ => each_row::<_, _, false>(&elements, n, found, $read),
            }
        };
    }
    match dtype {
        DType::Bool | DType::U8 => rows!(u8::from_ne_bytes),
        DType::I8 => rows!(i8::from_ne_bytes),
        DType::I16 => rows!(i16::from_ne_bytes),
        DType::U16 => rows!(u16::from_ne_bytes),
        DType::I32 => rows!(i32::from_ne_bytes),
        DType::U32 => rows!(u32::from_ne_bytes),
        DType::I64 => rows!(i64::from_ne_bytes),
        DType::U64 => rows!(u64::from_ne_bytes),
        DType::F16 => rows!(half),
        DType::F32 => rows!(f32::from_ne_bytes),
        DType::F64 => rows!(f64::from_ne_bytes),
        DType::C64 | DType::C128 => return None,
    }
    Some(())
}

/// A number of two bytes as a wider one.
fn half(bytes: [u8; 2]) -> f32 {
    let half = Scalar::new(DType::F16, u16::from_ne_bytes(bytes).into());
    op_eval::eval(Op::Cast, DType::F32, &[half]).map_or(f32::NAN, |number| number.as_f32())
}

/// Tells the place of the extreme in each row of `n` elements.
fn each_row<T: Copy + PartialOrd, const N: usize, const GREATEST: bool>(
    elements: &[u8],
    n: usize,
    mut found: impl FnMut(usize),
    read: impl Fn([u8; N]) -> T + Copy,
) {
    for row in elements.as_chunks::<N>().0.chunks_exact(n) {
        found(match n {
            ..LANES => first_of_few::<T, N, GREATEST>(row, read),
            _ => first_extreme::<T, N, GREATEST>(row, read),
        });
    }
}

/// The place of the extreme in a row of at least one element: what it is and where, element by element.
fn first_of_few<T: Copy + PartialOrd, const N: usize, const GREATEST: bool>(
    row: &[[u8; N]],
    read: impl Fn([u8; N]) -> T + Copy,
) -> usize {
    let (mut extreme, mut place) = (read(row[0]), 0);
    for (at, element) in row.iter().enumerate().skip(1) {
        let x = read(*element);
        let stays = if GREATEST { extreme >= x } else { extreme <= x };
        if !(stays | is_nan(extreme)) {
            (extreme, place) = (x, at);
        }
    }
    place
}

/// Elements that are looked at together: enough for two of the widest registers, of float32.
const LANES: usize = 32;

/// The place of the extreme in a row of many elements: first what it is, then where, as both are loops that
/// processors do on many elements at once.
fn first_extreme<T: Copy + PartialOrd, const N: usize, const GREATEST: bool>(
    row: &[[u8; N]],
    read: impl Fn([u8; N]) -> T + Copy,
) -> usize {
    // The first NaN stays, whatever comes after it.
    let better = |best: T, x: T| {
        let stays = if GREATEST { best >= x } else { best <= x };
        if stays | is_nan(best) { best } else { x }
    };
    let (blocks, rest) = row.as_chunks::<LANES>();
    let mut best = [read(row[0]); LANES];
    for block in blocks {
        for (best, element) in best.iter_mut().zip(block) {
            *best = better(*best, read(*element));
        }
    }
    let others = best.into_iter().chain(rest.iter().map(|element| read(*element)));
    let extreme = others.fold(read(row[0]), better);
    let is_it = |x: T| if is_nan(extreme) { is_nan(x) } else { x == extreme };
    let has_it = |block: &[[u8; N]; LANES]| {
        block.iter().fold(false, |found, element| found | is_it(read(*element)))
    };
    let start = blocks.iter().position(has_it).unwrap_or(blocks.len()) * LANES;
    let within = row[start..].iter().position(|element| is_it(read(*element)));
    start + within.unwrap_or(0)
}

/// Whether it is not even equal to itself.
fn is_nan<T: PartialOrd>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}
