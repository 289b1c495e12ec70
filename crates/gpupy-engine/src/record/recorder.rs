//! The recorder: operations on arrays become expressions.
//!
//! Owns [`Recorder`], which turns a call into values (broadcasting, assignments), and [`Compute`], with which the steps
//! of an operation give elements instead of expressions. Invariants: expressions refer to values, so later writes do
//! not change them; a recorder does not ask how much work an operation is (`eager/policy.rs`).
//!
//! Not here: reductions (`reduction_recording.rs`), assignments that are joins (`parted.rs`), simplification
//! (`record/rewrite/`), promotion of dtypes (the front end), evaluation (`evaluate.rs`).

use crate::array::base::{Array, ArrayOrScalar, checked_size};
use crate::graph::join::Join;
use crate::graph::passed::is_narrow;
use crate::graph::value::{Expressions, Input, InputLayout, NodeOp, Operand, Value, ValueKind};
use crate::memory::view::View;
use crate::record::rewrite::Rewrite;
use gpupy_core::op::Op;
use gpupy_core::shape::{Shape, broadcast_shapes, shape_words, size_of};
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Computes the steps of an operation on the caller's thread. Each gives `None` where an operand is not in host memory,
/// or nothing computes the step there now; then it is recorded.
pub(crate) trait Compute: Send + Sync {
    /// The value of a scalar operation, or of an index.
    fn value(
        &self,
        dtype: DType,
        shape: &Shape,
        op: &NodeOp,
        operands: &[Operand],
    ) -> Option<Value>;

    /// The array of an operation on arrays as they are seen, which goes over whole axes.
    fn array(
        &self,
        dtype: DType,
        shape: &[usize],
        op: &NodeOp,
        operands: &[ArrayOrScalar<'_>],
    ) -> Option<Array>;

    /// A copy of an array.
    fn copy(&self, array: &Array) -> Option<Array>;

    /// Arrays one behind the other.
    fn join(&self, shape: &[usize], join: &Join, arrays: &[Array]) -> Option<Array>;
}

/// Records for one context: equal operations of recorders with one table are one value.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) expressions: Arc<Expressions>,
    /// Computes steps in place of recording them.
    compute: Option<Box<dyn Compute>>,
}

impl Rewrite for Recorder {
    fn made(
        &self,
        dtype: DType,
        shape: Shape,
        op: NodeOp,
        operands: SmallVec<[Operand; 3]>,
    ) -> Value {
        self.value(dtype, shape, op, operands)
    }
}

impl Recorder {
    /// A recorder of the same expressions, whose steps are computed where they can be.
    pub fn computing(&self, compute: Box<dyn Compute>) -> Recorder {
        let expressions = self.expressions.clone();
        Recorder { expressions, compute: Some(compute) }
    }

    /// The value of an operation.
    pub(crate) fn value(
        &self,
        dtype: DType,
        shape: Shape,
        op: NodeOp,
        operands: SmallVec<[Operand; 3]>,
    ) -> Value {
        let compute = self.compute.as_ref();
        match compute.and_then(|compute| compute.value(dtype, &shape, &op, &operands)) {
            Some(value) => value,
            None => Value::expr(&self.expressions, dtype, shape, op, operands),
        }
    }

    /// The array of an operation on arrays as they are seen, which goes over whole axes.
    ///
    /// # Errors
    /// - `Disposed`: an operand has no elements any more.
    pub(crate) fn array(
        &self,
        dtype: DType,
        shape: &[usize],
        op: NodeOp,
        operands: &[ArrayOrScalar<'_>],
    ) -> Result<Array> {
        if let Some(array) = self.computed(dtype, shape, &op, operands) {
            return Ok(array);
        }
        let given = operands.iter().map(|operand| match operand {
            ArrayOrScalar::Scalar(scalar) => Ok((Input::Scalar(*scalar), None)),
            // Read from a block, whatever it is.
            ArrayOrScalar::Array(array) => {
                let value = array.value()?;
                Ok((Input::new(value.id(), array.layout()), Some(value)))
            }
        });
        let operands = given.collect::<Result<_>>()?;
        Ok(Array::from_value(Value::expr(&self.expressions, dtype, shape.into(), op, operands)))
    }

    /// The result of an operation, computed now; `None` where it has to be recorded.
    pub(crate) fn computed(
        &self,
        dtype: DType,
        shape: &[usize],
        op: &NodeOp,
        operands: &[ArrayOrScalar<'_>],
    ) -> Option<Array> {
        self.compute.as_ref()?.array(dtype, shape, op, operands)
    }

    /// Arrays one behind the other, computed; `None` where that has to be recorded.
    pub(crate) fn joined(&self, shape: &[usize], join: &Join, arrays: &[Array]) -> Option<Array> {
        self.compute.as_ref()?.join(shape, join, arrays)
    }

    /// The number of living expressions.
    pub fn living(&self) -> usize {
        self.expressions.len()
    }

    /// The coordinate of each element along `axis`, an int32; computed where it is used.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32.
    /// - `Shape`: there would be more elements than positions.
    pub fn index(&self, shape: &[usize], axis: usize) -> Result<Array> {
        checked_size(shape)?;
        if shape.get(axis).is_none_or(|extent| *extent > i32::MAX as usize) {
            return Err(Error::new(ErrorKind::Index, "index")
                .says("there is no such axis, or it is too long for int32")
                .with("axis", axis)
                .with("shape", format!("{shape:?}")));
        }
        let op = NodeOp::Index(axis as u32);
        Ok(Array::from_value(self.value(DType::I32, shape.into(), op, SmallVec::new())))
    }

    /// A scalar operation on operands that broadcast.
    ///
    /// # Errors
    /// - `Shape`: the operands do not broadcast.
    /// - `DType`: the operation does not take these dtypes.
    pub fn apply(&self, op: Op, args: &[ArrayOrScalar<'_>]) -> Result<Array> {
        self.convert(op, args, DType::Bool)
    }

    /// A new base with the same elements.
    pub fn copy(&self, array: &Array) -> Result<Array> {
        if let Some(copied) = self.compute.as_ref().and_then(|compute| compute.copy(array)) {
            return Ok(copied);
        }
        let value = array.value()?;
        if let ValueKind::Constant(scalar) = value.0.kind {
            return Ok(Array::from_value(Value::constant(array.shape(), scalar)));
        }
        if let Some(part) = self.shown_apart(array)? {
            return Ok(part);
        }
        if array.is_whole() {
            // All elements in their order: the value itself, with this array's shape.
            return Ok(Array::with_view(value, View::contiguous(array.shape())));
        }
        Ok(Array::from_value(self.seen(value, array.layout().clone())))
    }

    /// An array of the elements shown, for operations that read stored values. Where an array shows few elements of a
    /// pending map, these become a value of their own, so that only they are computed.
    ///
    /// # Errors
    /// - `Disposed`: the array has no elements any more.
    pub(crate) fn shown(&self, array: &Array) -> Result<Array> {
        let value = array.value()?;
        let is_map = matches!(&value.0.kind, ValueKind::Expr { op, .. } if !op.stands_alone());
        let is_part = is_map && is_narrow(array.size(), value.len()) && !value.is_computed();
        if is_part {
            return self.copy(array);
        }
        Ok(self.shown_apart(array)?.unwrap_or_else(|| array.clone()))
    }

    /// A value of the view's own shape with the elements that it shows.
    pub(super) fn seen(&self, value: Value, view: View) -> Value {
        if view == View::contiguous(value.shape()) {
            return value;
        }
        let (dtype, input) = (value.dtype(), Input::new(value.id(), &view));
        let op = NodeOp::Apply(Op::Cast);
        self.value(dtype, view.shape, op, smallvec![(input, Some(value))])
    }

    /// A new base with the external elements that an array shows: once they are computed, they stay in memory.
    ///
    /// # Errors
    /// - `Disposed`: the array has none any more.
    pub(crate) fn taken_in(&self, array: &Array) -> Result<Array> {
        let (value, view) = (array.value()?, array.layout().clone());
        let (dtype, input) = (value.dtype(), Input::new(value.id(), &view));
        let op = NodeOp::Apply(Op::Cast);
        Ok(Array::from_value(self.value(dtype, view.shape, op, smallvec![(input, Some(value))])))
    }

    /// A value of this shape with the same elements in C order.
    pub(super) fn reshaped(&self, value: &Value, shape: &[usize]) -> Value {
        let operands = smallvec![(Input::Whole(value.id()), Some(value.clone()))];
        self.value(value.dtype(), shape.into(), NodeOp::Apply(Op::Cast), operands)
    }

    /// Integers to a power, by squaring; they wrap.
    ///
    /// # Errors
    /// - `DType`: they are no integers.
    pub fn integer_power(&self, array: &Array, exponent: u64) -> Result<Array> {
        if !array.dtype().is_int() {
            return Err(Error::new(ErrorKind::DType, "integer_power")
                .says("only integers have integer powers")
                .with("dtype", array.dtype()));
        }
        let times = |x: &Array, y: &Array| {
            self.apply(Op::Mul, &[ArrayOrScalar::Array(x), ArrayOrScalar::Array(y)])
        };
        let mut power: Option<Array> = None;
        let (mut square, mut rest) = (self.copy(array)?, exponent);
        while rest > 0 {
            if rest & 1 == 1 {
                power = Some(match power {
                    Some(power) => times(&power, &square)?,
                    None => square.clone(),
                });
            }
            rest >>= 1;
            if rest > 0 {
                square = times(&square, &square)?;
            }
        }
        power.map_or_else(|| Array::full(array.shape(), Scalar::new(array.dtype(), 1)), Ok)
    }

    /// The shape to which operands broadcast, and their inputs over it.
    #[inline]
    pub(super) fn broadcast(
        &self,
        args: &[ArrayOrScalar<'_>],
    ) -> Result<(Shape, SmallVec<[Operand; 3]>)> {
        let shape = common_shape(args)?;
        let mut operands: SmallVec<[Operand; 3]> = SmallVec::new();
        for arg in args {
            operands.push(match arg {
                ArrayOrScalar::Array(array) => match self.shown_apart(array)? {
                    Some(part) => part.operand(&shape)?,
                    None => array.operand(&shape)?,
                },
                ArrayOrScalar::Scalar(scalar) => (Input::Scalar(*scalar), None),
            });
        }
        Ok((shape, operands))
    }

    /// Like `apply`; for a cast or bitcast, `to` is the dtype of the result.
    pub(crate) fn convert(&self, op: Op, args: &[ArrayOrScalar<'_>], to: DType) -> Result<Array> {
        let mut dtypes = [DType::Bool; 3];
        for (dtype, arg) in dtypes.iter_mut().zip(args) {
            *dtype = match arg {
                ArrayOrScalar::Array(array) => array.dtype(),
                ArrayOrScalar::Scalar(scalar) => scalar.dtype,
            };
        }
        let dtypes = &dtypes[..args.len().min(3)];
        let dtype = op.result_dtype(dtypes, to).ok_or_else(|| {
            Error::new(ErrorKind::DType, op.info().name)
                .says("the operation does not take these dtypes")
                .with("dtypes", format!("{dtypes:?}"))
        })?;
        let (shape, operands) = self.broadcast(args)?;
        let is_outlined = |(_, value): &Operand| value.as_ref().is_some_and(Value::is_outlined);
        // Simplification depends on numbers, which may depend on extents.
        let made = match operands.iter().any(is_outlined) {
            true => self.recorded(op, dtype, shape.clone(), operands),
            false => self.simplest(op, dtype, &shape, operands),
        };
        match made {
            (Input::Scalar(scalar), _) => Array::full(&shape, scalar),
            (Input::Whole(_), Some(value)) if value.len() == size_of(&shape) => {
                Ok(Array::with_view(value, View::contiguous(&shape)))
            }
            (input, Some(value)) => {
                let InputLayout { offset, strides } = input.layout(&shape);
                Ok(Array::from_value(self.seen(value, View { offset, shape, strides })))
            }
            // Only a scalar lacks a value.
            (_, None) => Err(Error::new(ErrorKind::Invalid, op.info().name)),
        }
    }

    /// The value of a base after writing an operand (see `source_of`) into the view `dest` of it.
    pub(crate) fn assigned(&self, old: Value, dest: &Array, source: Operand) -> Value {
        if dest.is_whole() && *dest.shape() == *old.shape() {
            match source {
                (Input::Scalar(scalar), _) => return Value::constant(old.shape(), scalar),
                // The whole base is replaced: its new value is the source itself, or a copy of a view.
                (input, Some(value)) => {
                    let InputLayout { offset, strides } = input.layout(dest.shape());
                    return self.seen(value, View { offset, shape: dest.shape().into(), strides });
                }
                (_, None) => return old,
            }
        }
        // The expression of a write into open elements depends on extents.
        if old.is_outlined() || source.1.as_ref().is_some_and(Value::is_outlined) {
            return self.written(old, dest, source);
        }
        match self.parted(&old, dest.layout(), &source) {
            Some(joined) => joined,
            None => self.written(old, dest, source),
        }
    }

    /// An assignment to a value, also where it replaces the whole value.
    pub(crate) fn written(&self, old: Value, dest: &Array, source: Operand) -> Value {
        let source = match source {
            // Elements of the base itself are a value of their own, which can be computed first.
            (input, Some(value)) if value.id() == old.id() => {
                let InputLayout { offset, strides } = input.layout(dest.shape());
                let seen = self.seen(value, View { offset, shape: dest.shape().into(), strides });
                (Input::Whole(seen.id()), Some(seen))
            }
            other => other,
        };
        let (dtype, shape, input) = (old.dtype(), Shape::from(old.shape()), Input::Whole(old.id()));
        let op = NodeOp::Assign(Box::new(dest.layout().clone()));
        self.value(dtype, shape, op, smallvec![(input, Some(old)), source])
    }
}

fn common_shape(args: &[ArrayOrScalar<'_>]) -> Result<Shape> {
    let shapes = || {
        args.iter().filter_map(|arg| match arg {
            ArrayOrScalar::Array(array) => Some(array.shape()),
            ArrayOrScalar::Scalar(_) => None,
        })
    };
    let Some(first) = shapes().next() else { return Ok(Shape::new()) };
    if shapes().all(|shape| shape == first) {
        return Ok(Shape::from_slice(first));
    }
    let all: SmallVec<[&[usize]; 3]> = shapes().collect();
    let shape = broadcast_shapes(&all)?;
    checked_size(&shape)?;
    Ok(shape)
}

/// The operand of a write of `source` into the view `dest`.
///
/// # Errors
/// - `Shape`: the source does not broadcast to the view; the words are NumPy's.
/// - `DType`: the source's dtype is not the destination's.
pub(crate) fn source_of(dest: &Array, source: ArrayOrScalar<'_>) -> Result<Operand> {
    let dtype = match source {
        ArrayOrScalar::Array(array) => array.dtype(),
        ArrayOrScalar::Scalar(scalar) => scalar.dtype,
    };
    if dtype != dest.dtype() {
        return Err(Error::new(ErrorKind::DType, "assign")
            .says("the source's dtype is not the destination's")
            .with("source", dtype)
            .with("destination", dest.dtype()));
    }
    let array = match source {
        ArrayOrScalar::Scalar(scalar) => return Ok((Input::Scalar(scalar), None)),
        ArrayOrScalar::Array(array) => array,
    };
    let target: Shape = dest.shape().into();
    // NumPy lets a source have leading axes of extent 1 that the destination lacks.
    let extra = array.ndim().saturating_sub(target.len());
    let mut trimmed = array.clone();
    if array.shape()[..extra].iter().all(|extent| *extent == 1) {
        for _ in 0..extra {
            trimmed = trimmed.index_axis(0, 0);
        }
    }
    // A constant's operand is a scalar, which would fit anything.
    trimmed.layout().broadcast_to(&target).and_then(|_| trimmed.operand(&target)).map_err(|error| {
        if error.kind() != ErrorKind::Shape {
            return error;
        }
        Error::new(ErrorKind::Shape, "assign").says(format!(
            "could not broadcast input array from shape {} into shape {}",
            shape_words(array.shape()),
            shape_words(&target)
        ))
    })
}
