//! Other views of an array's base.
//!
//! Invariant: every element that a view names lies inside its base.
//!
//! Not here: shapes and strides by themselves (`memory/view.rs`).

use super::base::Array;
use crate::memory::view::View;
use gpupy_core::shape::{Shape, Strides};
use gpupy_core::{Error, ErrorKind, Result};
use std::ops::Range;

impl Array {
    /// Another view of the same base.
    ///
    /// # Errors
    /// - `Index`: it would leave the base.
    /// - `Shape`: shape and strides differ in length.
    pub fn view(&self, shape: &[usize], strides: &[isize], offset: isize) -> Result<Array> {
        let (shape, strides) = (Shape::from_slice(shape), Strides::from_slice(strides));
        self.seen(View { offset, shape, strides })
    }

    /// Another view of this array's base.
    ///
    /// # Errors
    /// As `view`.
    #[inline]
    pub fn seen(&self, view: View) -> Result<Array> {
        let View { shape, strides, .. } = &view;
        if shape.len() != strides.len() {
            return Err(Error::new(ErrorKind::Shape, "view")
                .says("shape and strides differ in length")
                .with("shape", format!("{shape:?}"))
                .with("strides", format!("{strides:?}")));
        }
        if let Some((low, high)) = view.extent()
            && (low < 0 || high >= self.base_len() as isize)
        {
            return Err(Error::new(ErrorKind::Index, "view")
                .says("the view leaves its base")
                .with("lowest", low)
                .with("highest", high)
                .with("elements", self.base_len()));
        }
        Ok(self.seen_as(view))
    }

    /// A view whose offset counts from this array's first element.
    ///
    /// # Errors
    /// As [`Array::view`].
    pub(crate) fn within(
        &self,
        shape: &[usize],
        strides: &[isize],
        offset: isize,
    ) -> Result<Array> {
        self.view(shape, strides, self.offset() + offset)
    }

    /// `len` elements of an axis from `start`, each `step` further. All lie inside the axis.
    pub fn slice_axis(&self, axis: usize, start: usize, len: usize, step: isize) -> Array {
        self.seen_as(self.layout().slice_axis(axis, start, len, step))
    }

    /// Element `index` (inside the axis) of an axis, which goes away.
    pub fn index_axis(&self, axis: usize, index: usize) -> Array {
        self.seen_as(self.layout().index_axis(axis, index))
    }

    /// The axes in another order, a permutation.
    pub fn transpose(&self, order: &[usize]) -> Array {
        self.seen_as(self.layout().transpose(order))
    }

    /// A new axis of extent 1 before `axis`.
    pub fn insert_axis(&self, axis: usize) -> Array {
        self.seen_as(self.layout().insert_axis(axis))
    }

    /// The view repeated to a shape.
    ///
    /// # Errors
    /// - `Shape`: it does not broadcast to `shape`.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Array> {
        Ok(self.seen_as(self.layout().broadcast_to(shape)?))
    }

    /// The bytes from the first to the last one that the view shows, in the base whose elements these are.
    pub fn extents(&self) -> Range<usize> {
        let size = self.dtype().size();
        let bytes =
            |position: isize| (position * size as isize + self.base_offset()).max(0) as usize;
        match self.layout().extent() {
            Some((low, high)) => bytes(low)..bytes(high) + size,
            None => bytes(self.offset())..bytes(self.offset()),
        }
    }

    /// This array with another shape of equal size, if that is a view.
    pub fn reshape(&self, shape: &[usize]) -> Option<Array> {
        self.layout().reshape(shape).map(|view| self.seen_as(view))
    }
}
