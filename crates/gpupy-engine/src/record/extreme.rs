//! Places of extremes: where along an axis the least or the greatest element stands.
//!
//! Owns their recording, as reductions of positions, and the search in few elements. Invariant: the
//! first NaN wins, otherwise the first of equal extremes; so the place is exact on every driver.
//!
//! Not here: the extremes themselves (`reduced.rs`).

use crate::array::base::{Arg, Array};
use crate::eager::lent::{Lent, Loan};
use crate::graph::value::{NodeOp, Origin};
use crate::memory::little::MOST_POINTS;
use crate::memory::seen::Elements;
use crate::record::recorder::Recorder;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::memory;
use gpupy_core::op::Op;
use gpupy_core::op_eval;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::SmallVec;

/// The longest rows all of whose elements are compared with the extreme. Of longer ones only those of
/// the first chunk that has it are.
const SHORT: usize = 2 * REDUCE_CHUNK;

impl Recorder {
    /// The place along an axis, an int32, of the first element that `op` (the minimum or maximum) gives
    /// of each row; the axis stays, with one element.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for int32.
    /// - `Shape`: the rows have no elements.
    /// - `DType`: the operation does not reduce this dtype.
    pub fn place(&self, op: Op, array: &Array, axis: usize) -> Result<Array> {
        let rank = array.ndim();
        if self.at_once.is_allowed()
            && let Some(found) = place_at_once(op, array, axis)
        {
            return Ok(found);
        }
        if array.shape().get(axis).is_none_or(|extent| *extent > i32::MAX as usize) {
            return Err(Error::new(ErrorKind::Index, "place")
                .says("there is no such axis, or it is too long for int32")
                .with("axis", axis));
        }
        let last = rank - 1;
        let there: SmallVec<[usize; 4]> = (0..rank).filter(|a| *a != axis).chain([axis]).collect();
        let back: SmallVec<[usize; 4]> = (0..axis).chain([last]).chain(axis..last).collect();
        let moved = array.transpose(&there);
        // The reduction's own view of the rows, so that its first step is found again.
        let rows = moved.reshape(moved.shape()).unwrap_or(moved);
        let extreme = self.reduce(op, &rows, &[last], true)?;
        let n = rows.shape()[last];
        let found = if array.constant().is_some() {
            Array::full(extreme.shape(), Scalar::i32(0))?
        } else if n <= SHORT || array.base_len() > i32::MAX as usize {
            self.first(&rows, &extreme, &self.index(rows.shape(), last)?, n)?
        } else {
            self.place_in_chunks(op, &rows, &extreme)?
        };
        Ok(found.transpose(&back))
    }

    /// The place in the last axis of long rows: first the chunk that has the extreme, then the element.
    fn place_in_chunks(&self, op: Op, rows: &Array, extreme: &Array) -> Result<Array> {
        let last = rows.ndim() - 1;
        let n = rows.shape()[last];
        let mut shape = Shape::from(rows.shape());
        shape[last] = n.div_ceil(REDUCE_CHUNK);
        let step = NodeOp::Reduce { op, n };
        let chunks = self.array(rows.dtype(), &shape, step, &[Arg::Array(rows)])?;
        let chunk = self.first(&chunks, extreme, &self.index(&shape, last)?, shape[last])?;
        let on =
            |op, a: &Array, b: i32| self.apply(op, &[Arg::Array(a), Arg::Scalar(Scalar::i32(b))]);
        let sum = |a: &Array, b: &Array| self.apply(Op::Add, &[Arg::Array(a), Arg::Array(b)]);
        let start = on(Op::Mul, &chunk, REDUCE_CHUNK as i32)?;
        let inside = sum(&start, &self.index(&[REDUCE_CHUNK], 0)?)?;
        let place = on(Op::Min, &inside, n as i32 - 1)?;
        // Their positions in the base.
        let view = rows.layout();
        let mut at = on(Op::Mul, &place, view.strides[last] as i32)?;
        at = on(Op::Add, &at, view.offset as i32)?;
        for axis in (0..last).filter(|axis| view.shape[*axis] > 1) {
            let line = self.index(&[view.shape[axis]], 0)?;
            let mut moved = on(Op::Mul, &line, view.strides[axis] as i32)?;
            for _ in axis..last {
                moved = moved.insert_axis(moved.ndim());
            }
            at = sum(&at, &moved)?;
        }
        self.first(&self.gather(rows, &at)?, extreme, &place, n)
    }

    /// The least of the numbers, which are below `n`, whose elements are the extreme or NaN.
    fn first(&self, rows: &Array, extreme: &Array, numbers: &Array, n: usize) -> Result<Array> {
        let mut found = self.apply(Op::Eq, &[Arg::Array(rows), Arg::Array(extreme)])?;
        if rows.dtype().is_float() {
            let nan = self.apply(Op::IsNan, &[Arg::Array(rows)])?;
            found = self.apply(Op::Or, &[Arg::Array(&found), Arg::Array(&nan)])?;
        }
        let none = Arg::Scalar(Scalar::i32(n as i32));
        let numbers = self.apply(Op::Select, &[Arg::Array(&found), Arg::Array(numbers), none])?;
        debug_assert_eq!(numbers.dtype(), DType::I32);
        self.reduce(Op::Min, &numbers, &[rows.ndim() - 1], true)
    }
}

/// The place in C order of the first of all elements that `op` (the minimum or maximum) gives, or of the first NaN;
/// `None` where these are not few elements in host memory.
pub(crate) fn place_of_all(op: Op, array: &Array) -> Option<usize> {
    let mut place = None;
    let found = |at| place = Some(at);
    places_at_once(op, array, array.size(), found).and(place)
}

/// The same of the rows along an axis, as `place` gives them.
fn place_at_once(op: Op, array: &Array, axis: usize) -> Option<Array> {
    let n = *array.shape().get(axis)?;
    let last = array.ndim() - 1;
    let there: SmallVec<[usize; 4]> = (0..=last).filter(|a| *a != axis).chain([axis]).collect();
    let mut places: Elements = memory::few(0, array.size() / n.max(1) * DType::I32.size()).ok()?;
    places.clear();
    // A row of few elements is no longer than an int32 can say.
    let add = |at| places.extend_from_slice(&(at as i32).to_ne_bytes());
    places_at_once(op, &array.transpose(&there), n, add)?;
    let mut shape = Shape::from(array.shape());
    shape[axis] = 1;
    Array::own(DType::I32, &shape, Origin::AtOnce, &places)
}

/// Tells the place of the extreme in each row of `n` elements, in C order, of few elements in host memory; `None`, and
/// nothing is told, where it is more work.
fn places_at_once(op: Op, rows: &Array, n: usize, found: impl FnMut(usize)) -> Option<()> {
    let dtype = rows.dtype();
    if !(1..=MOST_POINTS).contains(&rows.size()) || !op.reduces(dtype) {
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
        found(first_extreme::<T, N, GREATEST>(row, read));
    }
}

/// Elements that are looked at together: enough for two of the widest registers, of float32.
const LANES: usize = 32;

/// The place of the extreme in a row of at least one element: first what it is, then where, as both are loops that
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
