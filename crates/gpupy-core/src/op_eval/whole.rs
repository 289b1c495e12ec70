//! The whole-program forms on rows of elements in host memory, of any dtype.
//!
//! Owns [`scanned`], [`sorted`], [`product`] and [`reduced`]. They are short and plainly right, and so slow: they
//! serve where a device has no room for the rows at once, or where there are few elements.
//!
//! Not here: which rows these are (the engine).

use super::{Function, function, order};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{PRODUCT_CHUNK, REDUCE_CHUNK, REDUCE_LANES};
use crate::memory;
use crate::op::Op;
use std::cmp::Ordering;

/// An element as one or two words: of a complex number its parts.
type Words = [u64; 2];

/// The dtype of an element's words, and how many there are.
fn parts(dtype: DType) -> (DType, usize) {
    match dtype {
        DType::C64 => (DType::F32, 2),
        DType::C128 => (DType::F64, 2),
        _ => (dtype, 1),
    }
}

fn load(dtype: DType, bytes: &[u8]) -> Words {
    let mut words = [0; 2];
    for (word, part) in words.iter_mut().zip(bytes.chunks_exact(parts(dtype).0.size())) {
        *word = part.iter().rfold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    words
}

fn store(dtype: DType, words: Words, bytes: &mut [u8]) {
    let size = parts(dtype).0.size();
    for (word, part) in words.iter().zip(bytes.chunks_exact_mut(size)) {
        part.copy_from_slice(&word.to_le_bytes()[..size]);
    }
}

/// What combines two elements.
fn combining(op: Op, dtype: DType) -> Option<impl Fn(Words, Words) -> Words> {
    let (part, count) = parts(dtype);
    let of = |op| function(op, part, part);
    let (by, add, sub): (Function, _, _) = (of(op)?, of(Op::Add), of(Op::Sub));
    Some(move |a: Words, b: Words| match (op, add, sub) {
        (Op::Mul, Some(add), Some(sub)) if count == 2 => [
            sub(by(a[0], b[0], 0), by(a[1], b[1], 0), 0),
            add(by(a[0], b[1], 0), by(a[1], b[0], 0), 0),
        ],
        _ => [by(a[0], b[0], 0), by(a[1], b[1], 0)],
    })
}

/// What at most a chunk of elements are reduced to, by the canonical tree, in its first bytes; `None` where the
/// operation does not combine the dtype.
pub fn reduced(op: Op, dtype: DType, chunk: &[u8]) -> Option<[u8; 16]> {
    let combine = combining(op, dtype)?;
    let elements = chunk.chunks_exact(dtype.size());
    let (n, mut lanes) = (elements.len(), [Words::default(); REDUCE_LANES]);
    for (at, element) in elements.enumerate() {
        let (lane, element) = (&mut lanes[at % REDUCE_LANES], load(dtype, element));
        *lane = if at < REDUCE_LANES { element } else { combine(*lane, element) };
    }
    for half in [8, 4, 2, 1] {
        for lane in 0..half.min(n.saturating_sub(half)) {
            lanes[lane] = combine(lanes[lane], lanes[lane + half]);
        }
    }
    let mut result = [0; 16];
    store(dtype, lanes[0], &mut result);
    Some(result)
}

/// A row's running results from its chunks' starts; `None` where the operation does not combine the
/// dtype.
///
/// # Errors
/// - `OutOfMemory`: there is no room for them.
pub fn scanned(op: Op, dtype: DType, row: &[u8], starts: &[u8]) -> Result<Option<Vec<u8>>> {
    let Some(combine) = combining(op, dtype) else { return Ok(None) };
    let size = dtype.size();
    let mut out = memory::zeroed(row.len())?;
    let chunks = row.chunks(REDUCE_CHUNK * size).zip(out.chunks_mut(REDUCE_CHUNK * size));
    for ((from, to), start) in chunks.zip(starts.chunks_exact(size)) {
        let mut now = load(dtype, start);
        for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
            now = combine(now, load(dtype, from));
            store(dtype, now, to);
        }
    }
    Ok(Some(out))
}

/// A row in order, or the positions (int32) that put it there.
///
/// # Errors
/// - `OutOfMemory`: there is no room for them.
pub fn sorted(dtype: DType, row: &[u8], positions: bool) -> Result<Vec<u8>> {
    let (size, n) = (dtype.size(), row.len() / dtype.size());
    let element = |at: u32| &row[at as usize * size..][..size];
    let mut places = memory::collected(n, 0..n as u32)?;
    // Equal ones stay in their order; a sort that keeps it by itself takes memory of its own.
    places.sort_unstable_by(|a, b| {
        let order = compare(dtype, load(dtype, element(*a)), load(dtype, element(*b)));
        order.then(a.cmp(b))
    });
    match positions {
        true => memory::collected(4 * n, places.iter().flat_map(|at| at.to_le_bytes())),
        false => {
            memory::collected(row.len(), places.iter().flat_map(|at| element(*at).iter().copied()))
        }
    }
}

/// Complex numbers stand by their real parts, then by their imaginary ones; those with a NaN behind
/// the others, one in the real part behind one in the imaginary part.
fn compare(dtype: DType, a: Words, b: Words) -> Ordering {
    let (part, count) = parts(dtype);
    if count == 1 {
        return order(part, a[0], b[0]);
    }
    let nan = |word| function(Op::IsNan, part, part).is_some_and(|test| test(word, 0, 0) != 0);
    let class = |words: Words| (nan(words[0]), nan(words[1]));
    class(a)
        .cmp(&class(b))
        .then_with(|| order(part, a[0], b[0]))
        .then_with(|| order(part, a[1], b[1]))
}

/// The product of a matrix of `m` rows of `k` elements and one of `n` columns of `k`, one behind the
/// other; `None` where the dtype has none.
///
/// # Errors
/// - `OutOfMemory`: there is no room for it.
pub fn product(dtype: DType, (a, b): (&[u8], &[u8]), k: usize) -> Result<Option<Vec<u8>>> {
    // Narrow floats are summed in float32, as NumPy sums float16.
    let sum = dtype.accumulated();
    let Some((add, mul)) = combining(Op::Add, sum).zip(combining(Op::Mul, sum)) else {
        return Ok(None);
    };
    let size = dtype.size();
    let convert = |from, to| function(Op::Cast, from, to);
    let (widen, narrow) = (convert(dtype, sum), convert(sum, dtype));
    let via = |convert: Option<Function>, x: Words| match convert {
        Some(convert) if sum != dtype => [convert(x[0], 0, 0), 0],
        _ => x,
    };
    let results = (a.len() / (k * size)) * (b.len() / (k * size));
    let mut out = memory::with_room(results * size)?;
    for row in a.chunks_exact(k * size) {
        for column in b.chunks_exact(k * size) {
            // One sum of all would lose what is too small beside it.
            let chunks = row.chunks(PRODUCT_CHUNK * size).zip(column.chunks(PRODUCT_CHUNK * size));
            let sums = chunks.filter_map(|(row, column)| {
                let pairs = row.chunks_exact(size).zip(column.chunks_exact(size));
                let products =
                    pairs.map(|(x, y)| mul(via(widen, load(dtype, x)), via(widen, load(dtype, y))));
                products.reduce(&add)
            });
            let sum = sums.reduce(&add).unwrap_or_default();
            let at = out.len();
            out.resize(at + size, 0);
            store(dtype, via(narrow, sum), &mut out[at..]);
        }
    }
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A float64 as the first bytes of an element; of a complex number the real part.
    fn element(dtype: DType, x: f64) -> Vec<u8> {
        let (part, count) = parts(dtype);
        let bits = match function(Op::Cast, DType::F64, part) {
            Some(cast) if part != DType::F64 => cast(x.to_bits(), 0, 0),
            _ => x.to_bits(),
        };
        let mut bytes = vec![0; dtype.size()];
        bytes[..dtype.size() / count].copy_from_slice(&bits.to_le_bytes()[..part.size()]);
        bytes
    }

    fn number(dtype: DType, bytes: &[u8]) -> f64 {
        let (part, bits) = (parts(dtype).0, load(dtype, bytes)[0]);
        match function(Op::Cast, part, DType::F64) {
            Some(cast) if part != DType::F64 => f64::from_bits(cast(bits, 0, 0)),
            _ => f64::from_bits(bits),
        }
    }

    #[test]
    fn long_products_are_within_the_bound_that_the_specification_states() {
        let units = [
            (DType::F16, 2f64.powi(-11)),
            (DType::BF16, 2f64.powi(-8)),
            (DType::F32, 2f64.powi(-24)),
            (DType::C64, 2f64.powi(-24)),
            (DType::F64, 2f64.powi(-53)),
        ];
        for (dtype, unit) in units {
            for k in [1, 255, PRODUCT_CHUNK, PRODUCT_CHUNK + 1, 3 * PRODUCT_CHUNK + 5, 100_003] {
                // A number in which ones get lost, then ones; and numbers that rounding drifts with.
                let least = if dtype.is_narrow_float() { 0.01 } else { 1.0 };
                let large = if dtype.is_narrow_float() { 64.0 } else { 0.5 / unit * 4.0 };
                for (first, others) in [(large, least), (0.1, 0.1)] {
                    let (first, others) = (element(dtype, first), element(dtype, others));
                    let row = [first.clone(), others.repeat(k - 1)].concat();
                    let ones = element(dtype, 1.0).repeat(k);
                    let sum = number(dtype, &first) + (k - 1) as f64 * number(dtype, &others);
                    let got = product(dtype, (&row, &ones), k).unwrap().unwrap();
                    let error = (number(dtype, &got) - sum).abs();
                    let terms = match k {
                        0..=PRODUCT_CHUNK => k,
                        _ => PRODUCT_CHUNK + k / PRODUCT_CHUNK,
                    };
                    let bound = terms as f64 * unit * sum;
                    assert!(error <= bound, "{dtype}, {k}: {error:e} from {sum}, bound {bound:e}");
                }
            }
        }
    }

    #[test]
    fn a_product_of_more_ones_than_float32_counts_is_their_number() {
        let k = (1 << 24) + 70_000;
        let ones = element(DType::F32, 1.0).repeat(k);
        let got = product(DType::F32, (&ones, &ones), k).unwrap().unwrap();
        assert_eq!(number(DType::F32, &got), k as f64);
    }
}
