//! Writes to the elements that index arrays name (`put`).
//!
//! Owns [`Context::put`]. Invariant: expressions that were recorded before keep the old elements.
//!
//! Not here: the positions that an index means (`fancy_index.rs`), the evaluation (`execute/host_ops/host_scatter.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::context::Context;
use crate::context::exports::leases::of_own_bytes;
use crate::eager::small_fancy_index::Outside;
use crate::execute::host_ops::host_scatter::{SourceElements, write};
use crate::graph::value::residence::is_little;
use crate::graph::value::{Input, NodeOp, Operand, Value};
use crate::memory::view::View;
use crate::record::recorder::{Recorder, source_of};
use gpupy_core::Result;
use gpupy_core::shape::{Shape, size_of};
use smallvec::smallvec;

impl Context {
    /// Like `put`, for few elements in host memory; waits for no lock. False, with nothing done, for others, and where
    /// `put` has to say what does not fit.
    pub fn put_eagerly(
        &self,
        array: &Array,
        indices: &[Option<&Array>],
        at: usize,
        outside: Outside,
        source: ArrayOrScalar<'_>,
    ) -> bool {
        let Ok(shape) = self.picked_shape(array, indices, at) else { return false };
        let dispatch = &self.inner.dispatch;
        dispatch.write_along(array, indices, (at, &shape), outside, &source).is_some()
    }

    /// Writes into the elements that index arrays name (see [`Context::fancy_index`]), with broadcasting. Of
    /// several points that name one element, the last in C order counts.
    ///
    /// # Errors
    /// - those of [`Context::fancy_index`] and [`Context::assign`]. The destination is unchanged then.
    pub fn put(
        &self,
        array: &Array,
        indices: &[Option<&Array>],
        at: usize,
        outside: Outside,
        source: ArrayOrScalar<'_>,
    ) -> Result<()> {
        let shape = self.picked_shape(array, indices, at)?;
        if self.put_eagerly(array, indices, at, outside, source) {
            return Ok(());
        }
        // The source has to fit an array of the picked elements.
        let target = View { offset: 0, strides: smallvec![0; shape.len()], shape };
        let (given, size) = (source, size_of(&target.shape));
        let source = source_of(&array.seen_as(target.clone()), given)?;
        if size == 0 {
            return Ok(());
        }
        if self.inner.dispatch.computes() && is_little(size, array.base_len()) {
            self.promote_for_write(array, &source)?;
            if self.put_eagerly(array, indices, at, outside, given) {
                return Ok(());
            }
        }
        let positions = self.picked_positions(array, indices, at, outside)?;
        let positions = positions.operand(&target.shape)?;
        // Other threads may pin the base, or let go of it, at any time.
        let written = loop {
            if array.is_shown() {
                match self.put_pinned(array, &target.shape, &positions, &source)? {
                    true => return Ok(()),
                    false => continue,
                }
            }
            let mut current = array.current();
            let Some(value) = current.value_mut()? else { continue };
            let (old, operands) = (value.clone(), (positions.clone(), source.clone()));
            *value = self.inner.dispatch.recorder().scattered(
                old,
                &target.shape,
                operands.0,
                operands.1,
            );
            let written = value.clone();
            current.version += 1;
            if let Some(dtype_view) = array.dtype_view()
                && !dtype_view.pass_on(&mut current)?
            {
                continue;
            }
            break written;
        };
        drop((positions, source));
        self.bound_written(array, Some(&written))
    }

    /// Writes an operand to positions in a pinned base, both of this shape; false, with nothing done, where it is
    /// pinned no longer.
    fn put_pinned(
        &self,
        array: &Array,
        shape: &Shape,
        positions: &Operand,
        source: &Operand,
    ) -> Result<bool> {
        self.complete_exports(array)?;
        let elements = |operand: &Operand| match operand.0 {
            Input::Scalar(scalar) => {
                Ok(SourceElements::One(scalar.bytes()[..scalar.dtype.size()].into()))
            }
            _ => self.read_operand(operand, shape)?.to_vec().map(SourceElements::Gathered),
        };
        let (places, source) = (elements(positions)?, elements(source)?);
        let write = |to: &mut [u8]| write(to, array.dtype(), &places, &source, size_of(shape));
        Ok(of_own_bytes(array, write).is_some())
    }
}

impl Recorder {
    /// The value of a base after writing an operand to positions in it, both of this shape.
    pub(crate) fn scattered(
        &self,
        old: Value,
        shape: &Shape,
        positions: Operand,
        source: Operand,
    ) -> Value {
        let (dtype, own) = (old.dtype(), Shape::from(old.shape()));
        let op = NodeOp::Scatter(Box::new(shape.clone()));
        let old = (Input::Whole(old.id()), Some(old));
        Value::expr(&self.expressions, dtype, own, op, smallvec![old, positions, source])
    }
}
