//! Masks of few elements in host memory, read and written where these lie, without any driver.
//!
//! Owns [`selected`] and [`write()`]. Invariants: a base that somebody else has elements of is never
//! written; a write that does not fit changes nothing.
//!
//! Not here: masks of many elements, which become positions (`positions.rs`) or choices of elements.

use crate::access;
use crate::array::{Arg, Array};
use crate::at_once::MOST_POINTS;
use crate::in_memory::{Elements, own_again};
use crate::lent::{Lent, Loan};
use crate::strided::rows;
use crate::value::Origin;
use crate::view::size_of;
use smallvec::SmallVec;

/// The rows where a mask of the leading axes is true (elements, where it has all axes), of few in host
/// memory; `None` where it is more work.
pub(crate) fn selected(array: &Array, mask: &Array) -> Option<Array> {
    let (dtype, size) = (array.dtype(), array.dtype().size());
    let rest = array.shape().strip_prefix(mask.shape())?;
    if !(1..=MOST_POINTS).contains(&array.size()) {
        return None;
    }
    let loan = Loan::of(&[Arg::Array(array), Arg::Array(mask)])?;
    let [elements @ Lent::Memory(..), chosen @ Lent::Memory(..)] = &loan.operands[..] else {
        return None;
    };
    let (elements, chosen) = (elements.elements(size)?, chosen.elements(1)?);
    let row = size_of(rest) * size;
    let mut found = Elements::with_capacity(elements.len());
    let mut count = 0;
    for (row, chosen) in elements.chunks_exact(row).zip(&chosen) {
        if *chosen != 0 {
            found.extend_from_slice(row);
            count += 1;
        }
    }
    let shape: SmallVec<[usize; 4]> = [count].iter().chain(rest).copied().collect();
    Array::own(dtype, &shape, Origin::AtOnce, &found)
}

/// Writes a scalar, or elements one after another, where a mask of the same shape is true, into few
/// elements that only their base has; `None`, with nothing done, where it is more work or does not fit.
pub(crate) fn write(dest: &Array, mask: &Array, source: &Arg<'_>) -> Option<()> {
    let size = dest.dtype().size();
    let (dtype, axes) = match source {
        Arg::Scalar(scalar) => (scalar.dtype, 0),
        Arg::Array(array) => (array.dtype(), array.ndim()),
    };
    let fits = dtype == dest.dtype() && axes <= 1 && mask.shape() == dest.shape();
    if !fits || !(1..=MOST_POINTS).contains(&dest.size()) {
        return None;
    }
    // None of them is of the destination's base, whose lock is taken below.
    let loan = Loan::of(&[Arg::Array(mask), *source])?;
    let [Lent::Memory(..), given] = &loan.operands[..] else { return None };
    let (chosen, data) = (loan.operands[0].elements(1)?, given.elements(size)?);
    let count = chosen.iter().filter(|chosen| **chosen != 0).count();
    let step = match data.len() {
        one if one == size => 0,
        all if all == count * size => size,
        _ => return None,
    };
    let mut current = dest.current_to_write()?;
    let bytes = own_again(&mut current)?;
    let walk = access::access(dest.layout().offset, &dest.layout().strides);
    let (mut chosen, mut data) = (&chosen[..], &data[..]);
    rows(&walk, dest.shape(), |start, stride, n| {
        let (row, behind) = chosen.split_at(n);
        chosen = behind;
        data = match size {
            1 => write_row::<1>(bytes, (start, stride), row, data, step),
            2 => write_row::<2>(bytes, (start, stride), row, data, step),
            4 => write_row::<4>(bytes, (start, stride), row, data, step),
            8 => write_row::<8>(bytes, (start, stride), row, data, step),
            _ => write_row::<16>(bytes, (start, stride), row, data, step),
        };
    });
    current.version += 1;
    Some(())
}

/// Writes to a row where `chosen` is true, each time `step` bytes further in the data; gives the rest.
fn write_row<'a, const N: usize>(
    bytes: &mut [u8],
    (start, stride): (i64, i64),
    chosen: &[u8],
    mut data: &'a [u8],
    step: usize,
) -> &'a [u8] {
    for (n, _) in chosen.iter().enumerate().filter(|(_, chosen)| **chosen != 0) {
        let at = (start + stride * n as i64) as usize * N;
        if let (Some(place), Some(element)) = (bytes.get_mut(at..at + N), data.get(..N)) {
            place.copy_from_slice(element);
            data = &data[step..];
        }
    }
    data
}
