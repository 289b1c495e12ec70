//! Views and shapes of a file, whose extents may be open.
//!
//! Owns [`OpenView`]. Invariant: the view that it gives is one that an array could have, with numbers far inside the
//! range of the integers.
//!
//! Not here: the array that it shows (`look.rs`, `outline.rs`), whether it is inside that (`look_check.rs`).

use super::extent::Extent;
use crate::memory::view::View;
use gpupy_core::shape::Shape;
use gpupy_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenView {
    /// The position of the first element in the base's C order.
    pub offset: Extent,
    /// Extents.
    pub shape: Vec<Extent>,
    /// Elements a step of each axis.
    pub strides: Vec<Extent>,
}

impl OpenView {
    /// The view where the open extents are these.
    ///
    /// # Errors
    /// - `Shape`, `Index`: it is none that an array could have.
    pub fn at(&self, open: &[i64]) -> Result<View> {
        let all = |extents: &[Extent]| -> Result<SmallVec<[i64; 4]>> {
            extents.iter().map(|extent| extent.at(open)).collect()
        };
        let (offset, shape, strides) =
            (self.offset.at(open)?, shape_at(&self.shape, open)?, all(&self.strides)?);
        if shape.len() != strides.len() {
            return Err(damaged("shape and strides of a view differ in length"));
        }
        // Far inside the range of later computations.
        let reach = shape.iter().zip(&strides).try_fold(offset.unsigned_abs(), |reach, (n, s)| {
            reach.checked_add((*n as u64).checked_mul(s.unsigned_abs())?)
        });
        if reach.is_none_or(|reach| reach > i64::MAX as u64 / 16) {
            return Err(damaged("a view is too far"));
        }
        let strides = strides.iter().map(|stride| *stride as isize).collect();
        Ok(View { offset: offset as isize, shape, strides })
    }

    /// The shape in words, in which an open extent has the name that its number is given.
    pub fn shape_words(&self, name: &impl Fn(usize) -> String) -> String {
        let words: Vec<String> = self.shape.iter().map(|extent| extent.words(name)).collect();
        words.join(", ")
    }

    /// A view whose extents are known.
    pub fn of(view: &View) -> OpenView {
        let known = |stride: &isize| Extent::Known(*stride as i64);
        OpenView {
            offset: known(&view.offset),
            shape: extents_of(&view.shape),
            strides: view.strides.iter().map(known).collect(),
        }
    }
}

/// A shape where the open extents are these.
///
/// # Errors
/// - `Shape`: an extent is negative, or there would be more elements than positions.
pub(super) fn shape_at(shape: &[Extent], open: &[i64]) -> Result<Shape> {
    let extent = |extent: &Extent| {
        usize::try_from(extent.at(open)?).map_err(|_| damaged("an extent is negative"))
    };
    let shape = shape.iter().map(extent).collect::<Result<Shape>>()?;
    crate::array::base::checked_size(&shape)?;
    Ok(shape)
}

/// A shape whose extents are known.
pub fn extents_of(shape: &[usize]) -> Vec<Extent> {
    shape.iter().map(|extent| Extent::Known(*extent as i64)).collect()
}

pub(super) fn damaged(words: &str) -> Error {
    Error::new(ErrorKind::Invalid, "load").says(words)
}
