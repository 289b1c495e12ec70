//! Views: how an array looks at the elements of its base.
//!
//! Owns [`View`]. A view names elements by their position in the base's C order; shape and strides
//! are NumPy's, strides counted in elements. Invariant: every element that a view names lies inside
//! its base (`extent`).
//!
//! Not here: composing views along an expression (`access.rs`).

use crate::memory::ranges::Ranges;
use gpupy_core::shape::{Shape, Strides, contiguous_strides, shape_words, size_of};
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::{SmallVec, smallvec};

/// Offset, shape and strides over a base.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The position of the first element.
    pub offset: isize,
    /// Extents.
    pub shape: Shape,
    /// Elements a step of each axis; 0 repeats, negative goes back.
    pub strides: Strides,
}

impl Clone for View {
    // As plain copies of memory: an element at a time would take longer than all else that a view of
    // few elements costs.
    #[inline]
    fn clone(&self) -> View {
        let (shape, strides) = (Shape::from_slice(&self.shape), Strides::from_slice(&self.strides));
        View { offset: self.offset, shape, strides }
    }
}

impl View {
    /// All elements of a base of this shape; where there are none, strides are 0, as of NumPy's new arrays.
    #[inline]
    pub fn contiguous(shape: &[usize]) -> View {
        if let [n] = shape {
            return View {
                offset: 0,
                shape: smallvec![*n],
                strides: smallvec![isize::from(*n > 0)],
            };
        }
        let mut strides = contiguous_strides(shape);
        if shape.contains(&0) {
            strides.fill(0);
        }
        View { offset: 0, shape: Shape::from_slice(shape), strides }
    }

    /// The view of elements of which only those from this position on are there.
    pub(crate) fn relative_to(&self, low: isize) -> View {
        View { offset: self.offset - low, ..self.clone() }
    }

    /// The number of elements that the view shows.
    pub fn size(&self) -> usize {
        size_of(&self.shape)
    }

    /// True when the elements stand one after another in C order.
    pub fn is_contiguous(&self) -> bool {
        let mut step = 1isize;
        for (extent, stride) in self.shape.iter().zip(&self.strides).rev() {
            if *extent == 0 {
                return true;
            }
            if *extent != 1 {
                if *stride != step {
                    return false;
                }
                step *= *extent as isize;
            }
        }
        true
    }

    /// The lowest and highest position that the view names; `None` for an empty view.
    #[inline]
    pub fn extent(&self) -> Option<(isize, isize)> {
        let (mut low, mut high) = (self.offset, self.offset);
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            let reach = (extent.checked_sub(1)? as isize).saturating_mul(*stride);
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
        }
        Some((low, high))
    }

    /// Whether the view names no position twice; false also of some views that do not, whose axes interlock.
    pub fn is_injective(&self) -> bool {
        let steps = self.strides.iter().map(|stride| stride.unsigned_abs()).zip(&self.shape);
        let mut axes: SmallVec<[(usize, usize); 4]> = steps
            .filter(|(_, extent)| **extent > 1)
            .map(|(stride, extent)| (stride, *extent))
            .collect();
        axes.sort_unstable();
        let mut reach = 0;
        axes.iter().all(|(stride, extent)| {
            let is_beyond = *stride > reach;
            reach += stride * (extent - 1);
            is_beyond
        })
    }

    /// The positions that the view names, as at most `most` ranges where these have others between them.
    pub fn positions(&self, most: usize) -> Ranges {
        let Some((low, _)) = self.extent() else { return Ranges::default() };
        let steps = self.strides.iter().map(|stride| stride.unsigned_abs()).zip(&self.shape);
        let mut axes: SmallVec<[(usize, usize); 8]> = steps
            .filter(|(step, extent)| *step > 0 && **extent > 1)
            .map(|(s, e)| (s, *e))
            .collect();
        axes.sort_unstable();
        let mut starts: usize = axes.iter().map(|(_, extent)| *extent).product();
        let (mut run, mut joined) = (1, 0);
        // An axis whose stride is no longer than the elements within it has no gaps.
        while let Some((step, extent)) =
            axes.get(joined).filter(|a| a.0 <= run || starts > 4 * most)
        {
            run += step * (extent - 1);
            starts /= extent;
            joined += 1;
        }
        let mut ranges = Ranges::default();
        for number in 0..starts {
            let (mut rest, mut at) = (number, low.max(0) as usize);
            for (step, extent) in &axes[joined..] {
                at += rest % extent * step;
                rest /= extent;
            }
            ranges.insert(at..at + run);
        }
        ranges.coarse(most)
    }

    /// `len` elements of an axis from `start`, each `step` further; `start` and the last lie inside. As in NumPy, a
    /// slice of nothing has no step.
    pub fn slice_axis(&self, axis: usize, start: usize, len: usize, step: isize) -> View {
        let mut view = self.clone();
        view.shape[axis] = len;
        if len > 0 {
            view.offset += start as isize * view.strides[axis];
            view.strides[axis] *= step;
        }
        view
    }

    /// One element of an axis, which goes away.
    pub fn index_axis(&self, axis: usize, index: usize) -> View {
        let mut view = self.clone();
        view.offset += index as isize * view.strides[axis];
        view.shape.remove(axis);
        view.strides.remove(axis);
        view
    }

    /// The axes in another order.
    pub fn transpose(&self, order: &[usize]) -> View {
        View {
            offset: self.offset,
            shape: order.iter().map(|a| self.shape[*a]).collect(),
            strides: order.iter().map(|a| self.strides[*a]).collect(),
        }
    }

    /// A new axis of extent 1 before `axis`.
    pub fn insert_axis(&self, axis: usize) -> View {
        let mut view = self.clone();
        view.shape.insert(axis, 1);
        view.strides.insert(axis, 0);
        view
    }

    /// The view repeated to a shape that it broadcasts to.
    ///
    /// # Errors
    /// - `Shape`: it does not broadcast to `shape`; the words are NumPy's.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<View> {
        let mut strides: Strides = SmallVec::from_elem(0, shape.len());
        let lead = shape.len().checked_sub(self.shape.len());
        let fits = lead.is_some_and(|lead| {
            (0..self.shape.len()).all(|axis| {
                let (have, want) = (self.shape[axis], shape[lead + axis]);
                if have == want {
                    strides[lead + axis] = self.strides[axis];
                }
                have == want || have == 1
            })
        });
        if !fits {
            return Err(Error::new(ErrorKind::Shape, "broadcast_to").says(format!(
                "operands could not be broadcast together with remapped shapes \
                 [original->remapped]: {} and requested shape {}",
                shape_words(&self.shape),
                shape_words(shape)
            )));
        }
        Ok(View { offset: self.offset, shape: shape.into(), strides })
    }

    /// The extents with neighbouring axes as one wherever elements go on alike from one to the next;
    /// axes of one point are left out.
    pub(crate) fn merged(&self) -> Shape {
        let mut merged: SmallVec<[(usize, isize); 4]> = SmallVec::new();
        for (extent, stride) in self.shape.iter().zip(&self.strides).filter(|axis| *axis.0 != 1) {
            match merged.last_mut() {
                Some(last) if last.1 == *stride * *extent as isize => {
                    *last = (last.0 * extent, *stride);
                }
                _ => merged.push((*extent, *stride)),
            }
        }
        merged.iter().map(|(extent, _)| *extent).collect()
    }

    /// This view with another shape of equal size, its elements in C order; `None` if no strides describe it.
    pub fn reshape(&self, shape: &[usize]) -> Option<View> {
        if self.shape[..] == *shape {
            return Some(self.clone());
        }
        if self.size() != size_of(shape) {
            return None;
        }
        // Where there are no elements, strides say nothing.
        if self.is_contiguous() || shape.contains(&0) {
            return Some(View { offset: self.offset, ..View::contiguous(shape) });
        }
        // Axes of extent 1 carry no stride; groups of old and new axes with equal products must be
        // contiguous within themselves.
        let old: SmallVec<[(usize, isize); 4]> = (self.shape.iter().copied())
            .zip(self.strides.iter().copied())
            .filter(|(extent, _)| *extent != 1)
            .collect();
        let mut strides: Strides = SmallVec::from_elem(0, shape.len());
        let (mut from, mut to) = (0, 0);
        while from < old.len() {
            let (mut have, mut end) = (old[from].0, from + 1);
            let (mut want, mut stop) = (1, to);
            while want != have {
                if want < have {
                    want *= shape.get(stop)?;
                    stop += 1;
                } else {
                    have *= old.get(end)?.0;
                    end += 1;
                }
            }
            if old[from..end].windows(2).any(|w| w[0].1 != w[1].1 * w[1].0 as isize) {
                return None;
            }
            let mut step = old[end - 1].1;
            for axis in (to..stop).rev() {
                strides[axis] = step;
                step *= shape[axis] as isize;
            }
            (from, to) = (end, stop);
        }
        Some(View { offset: self.offset, shape: shape.into(), strides })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check_reshape(view: &View, shape: &[usize], strides: Option<&[isize]>) {
        let got = view.reshape(shape).map(|v| v.strides.to_vec());
        assert_eq!(got.as_deref(), strides, "{view:?} as {shape:?}");
    }

    proptest! {
        #[test]
        fn positions_are_those_of_the_elements_and_of_the_narrowest_gaps(
            axes in prop::collection::vec((0usize..5, -9isize..10), 0..4),
            most in 1usize..9,
        ) {
            let (shape, strides) = axes.into_iter().unzip();
            let view = View { offset: 150, shape, strides };
            let mut named: Vec<isize> = vec![150];
            for (extent, stride) in view.shape.iter().zip(&view.strides) {
                let steps = || (0..*extent as isize).map(|step| step * stride);
                named = named.iter().flat_map(|at| steps().map(move |step| at + step)).collect();
            }
            named.sort_unstable();
            named.dedup();
            let mut exact = Ranges::default();
            named.iter().for_each(|at| exact.insert(*at as usize..*at as usize + 1));
            prop_assert_eq!(view.positions(usize::MAX / 4), exact.clone());
            let coarse = view.positions(most);
            prop_assert!(coarse.iter().count() <= most);
            prop_assert!(exact.iter().all(|range| coarse.covers(range)));
            prop_assert!(coarse.iter().all(|range| exact.covers(range.start..range.start + 1)));
        }
    }

    #[test]
    fn a_reshape_that_strides_can_say_moves_nothing() {
        let whole = View::contiguous(&[4, 6]);
        check_reshape(&whole, &[24], Some(&[1]));
        check_reshape(&whole, &[2, 2, 3, 2], Some(&[12, 6, 2, 1]));
        check_reshape(&whole, &[5, 5], None);
        check_reshape(&View::contiguous(&[4, 0]), &[0, 2, 3], Some(&[0, 0, 0]));
        let columns = whole.slice_axis(1, 0, 3, 2);
        check_reshape(&columns, &[2, 2, 3], Some(&[12, 6, 2]));
        check_reshape(&columns, &[12], Some(&[2]));
        check_reshape(&whole.slice_axis(1, 0, 3, 1), &[12], None);
        check_reshape(&whole.transpose(&[1, 0]), &[24], None);
    }
}
