//! Arguments of a function that is being recorded: arrays without elements.
//!
//! Operations on an argument are recorded as on any other array, with the same dtype rules and rewrites. Their results
//! are *open*, and reading an open array is an error.
//!
//! Not here: the recorded expressions (`function_recording.rs`, `recorded.rs`).

use crate::array::base::Array;
use crate::array::contents::Contents;
use crate::graph::value::Value;
use gpupy_core::{DType, Result};

/// The shape of arguments of functions of scalars: so many elements that no rule for little work takes them.
const SHAPE: [usize; 1] = [1 << 20];

impl Array {
    /// An argument of a function of scalars that is being recorded. Reading it is an error.
    pub fn argument(dtype: DType) -> Array {
        Array::from_value(Value::argument(dtype, &SHAPE))
    }

    /// An argument that stands for this array's base, which has as many elements, seen as this array sees it.
    ///
    /// # Errors
    /// - `Disposed`: the array has no elements any more.
    pub fn argument_of(&self) -> Result<Array> {
        let shape = self.current().shape()?;
        Ok(Array::with_view(Value::outlined(self.dtype(), &shape), self.layout().clone()))
    }

    /// True where the base depends on arguments of a recording, and has no elements.
    pub fn is_open(&self) -> bool {
        matches!(self.current().held(), Contents::Value(value) if value.is_open())
    }

    /// The shape with which the base was made, in which its elements lie in C order.
    ///
    /// # Errors
    /// - `Disposed`: it has none any more.
    pub fn base_shape(&self) -> Result<Vec<usize>> {
        self.current().shape().map(|shape| shape.to_vec())
    }

    /// True where the base shows another one's elements under its own dtype.
    pub fn shows_another(&self) -> bool {
        self.dtype_view().is_some()
    }

    /// Whether the base has elements in this shape, alone: no exports and no other base show them.
    pub fn has_alone(&self, shape: &[usize]) -> bool {
        if self.shows_another() {
            return false;
        }
        let current = self.current();
        let fits = match current.held() {
            Contents::Own(own) => own.shape[..] == *shape,
            Contents::Value(value) => value.shape() == shape,
            Contents::Nothing => false,
        };
        fits && !current.is_shown()
    }

    /// Replaces this base's contents by another's: elements of the same dtype and number. They are moved, so the other
    /// has none afterwards. False, with nothing done, where exports or another base show this one's elements, or the
    /// other was made with another shape.
    ///
    /// # Errors
    /// - `Disposed`: the other has none any more.
    pub fn take_elements(&self, from: &Array) -> Result<bool> {
        if self.shows_another() || self.base_shape()? != from.base_shape()? {
            return Ok(false);
        }
        let mut current = self.current();
        if current.is_shown() {
            return Ok(false);
        }
        let held = from.clone().into_held()?;
        let before = current.take();
        current.replace(held);
        drop(current);
        // What goes with it takes other locks.
        drop(before);
        Ok(true)
    }
}
