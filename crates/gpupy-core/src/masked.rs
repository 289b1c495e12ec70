//! Masks on few elements in host memory: read and written where they lie, without any driver.
//!
//! Owns [`selected`] and [`write`]. Invariants: a base that somebody else has elements of is never written;
//! a write that does not fit changes nothing.
//!
//! Not here: masks of many elements, which become positions (`pick.rs`) or choices of elements.

use crate::array::{Arg, Array};
use crate::at_once::MOST_POINTS;
use crate::in_memory::Elements;
use crate::lent::{Lent, Loan};
use crate::own::Memory;
use crate::value::Origin;
use crate::view::{View, size_of};
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
    Some(Array::own(dtype, &shape, Origin::AtOnce, Memory::of(&found)))
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
    let mut current = dest.current_now()?;
    let bytes = current.own_mut()?.bytes_mut();
    let (mut from, mut places) = (0, Places::of(dest.layout()));
    for chosen in &chosen {
        let at = places.next()? * size;
        if *chosen != 0 {
            bytes.get_mut(at..at + size)?.copy_from_slice(data.get(from..from + size)?);
            from += step;
        }
    }
    current.version += 1;
    Some(())
}

/// The positions of a view's elements in its base, in C order.
struct Places<'a> {
    view: &'a View,
    point: SmallVec<[usize; 4]>,
    at: isize,
}

impl Places<'_> {
    fn of(view: &View) -> Places<'_> {
        Places { view, point: SmallVec::from_elem(0, view.shape.len()), at: view.offset }
    }
}

impl Iterator for Places<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let here = self.at;
        for axis in (0..self.point.len()).rev() {
            self.point[axis] += 1;
            self.at += self.view.strides[axis];
            if self.point[axis] < self.view.shape[axis] {
                break;
            }
            self.at -= self.view.strides[axis] * self.view.shape[axis] as isize;
            self.point[axis] = 0;
        }
        usize::try_from(here).ok()
    }
}
