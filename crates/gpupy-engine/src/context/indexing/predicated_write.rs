//! Predicated writes: `x[m] = x[m] + y[m]` is computed for all elements, and a select by the mask chooses what is
//! stored.
//!
//! Owns [`Context::put_where`] and the rule when that pays: to pick elements and to put them back one by one costs more
//! than operations do. Invariant: each element has the bits that a scatter gives it.
//!
//! The values to be written are computed together with the write: the next mask reads them, and would otherwise compute
//! them again. If they are read later, they are read from the written array; so they hold no old elements, and the
//! write may be done in place.
//!
//! Not here: other writes by index arrays (`host_scatter.rs`), small masks (`small_boolean_mask.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::context::Context;
use crate::graph::value::{Input, InputLayout, NodeOp, Operand, Value, ValueId, ValueKind};
use crate::record::recorder::Recorder;
use crate::thresholds::T;
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Result};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

impl Context {
    /// Writes `source` to the elements where a mask is true, one after another, if it is computed from
    /// elements picked by these `positions` alone, which are the mask's, and if it is cheaper to compute
    /// it everywhere; or if it is there, and little work. False, with nothing written, for all other writes.
    ///
    /// # Errors
    /// - `Disposed`: an array has no elements any more.
    /// - any error of an evaluation. What is computed everywhere is written then, and computed when it is read; nothing
    ///   else is.
    pub fn put_where(
        &self,
        array: &Array,
        mask: &Array,
        positions: &Array,
        source: &Array,
    ) -> Result<bool> {
        let count = positions.size();
        let fits = array.is_whole()
            && array.dtype_view().is_none()
            && !array.is_shown()
            && source.is_whole()
            && source.shape() == [count]
            && source.dtype() == array.dtype()
            && !source.has_own();
        if !fits {
            return self.put_masked(array, mask, source);
        }
        let written = self.written_where(array, mask, positions, source)?;
        let Some(written) = written else { return self.put_masked(array, mask, source) };
        if !source.shares_base(array) {
            let picked = self.inner.dispatch.recorder().gather(array, positions)?.value()?;
            if let Some(value) = source.current().value_mut()? {
                *value = picked;
            }
        }
        self.while_others_run(|| self.compute(&written, 0..written.len()))?;
        Ok(true)
    }

    /// Writes elements that are there where a mask is true, if these are few: as soon as what they are written into is
    /// computed, too. A scatter would be recorded, and planned anew for each number of them.
    fn put_masked(&self, array: &Array, mask: &Array, source: &Array) -> Result<bool> {
        let dispatch = &self.inner.dispatch;
        if !dispatch.writes_by_mask(array) || source.in_memory().is_none() {
            return Ok(false);
        }
        self.read(array)?;
        Ok(dispatch.write_masked(array, mask, &ArrayOrScalar::Array(source)).is_some())
    }

    /// Records the write as a choice, where it can be one and that pays.
    fn written_where(
        &self,
        array: &Array,
        mask: &Array,
        positions: &Array,
        source: &Array,
    ) -> Result<Option<Value>> {
        let (source, old) = (source.value()?, array.value()?);
        if source.is_computed() || mask.shape() != old.shape() {
            return Ok(None);
        }
        let count = positions.size();
        let mut everywhere = UnmaskedRecording {
            recorder: self.inner.dispatch.recorder(),
            positions: positions.value()?.id(),
            shape: old.shape().into(),
            known: FxHashMap::default(),
            operations: 0,
        };
        let Some(order) = everywhere.below(&source) else { return Ok(None) };
        let pays = (everywhere.operations + T.dense_beside).saturating_mul(old.len())
            <= (everywhere.operations + T.dense_picked).saturating_mul(count);
        if !pays {
            return Ok(None);
        }
        let Some(new) = order.iter().map(|value| everywhere.record(value)).last().flatten() else {
            return Ok(None);
        };
        let test = mask.operand(mask.shape())?;
        let mut current = array.current();
        let Some(value) = current.value_mut()? else { return Ok(None) };
        let operands = smallvec![test, new, (Input::Whole(value.id()), Some(value.clone()))];
        *value = everywhere.apply(Op::Select, value.dtype(), operands);
        let written = value.clone();
        current.version += 1;
        Ok(Some(written))
    }
}

/// A computation on picked elements, recorded again for all elements.
struct UnmaskedRecording<'a> {
    recorder: &'a Recorder,
    /// The positions at which the elements were picked.
    positions: ValueId,
    /// Of all elements.
    shape: Shape,
    /// The operands recorded for values.
    known: FxHashMap<ValueId, Operand>,
    /// How many operations one element takes.
    operations: usize,
}

impl UnmaskedRecording<'_> {
    /// The values that are computed for `source`, operands first; `None` where there are many, or where one reads more
    /// than one element at each point.
    fn below(&mut self, source: &Value) -> Option<Vec<Value>> {
        let mut found: FxHashMap<ValueId, Value> = FxHashMap::default();
        let mut stack = vec![source.clone()];
        while let Some(value) = stack.pop() {
            if found.len() > T.dense_values || value.shape() != source.shape() {
                return None;
            }
            if found.contains_key(&value.id()) {
                continue;
            }
            match &value.0.kind {
                ValueKind::Constant(_) => {}
                ValueKind::Expr { op: NodeOp::Apply(op), inputs } => {
                    self.operations += op.info().cost as usize;
                    let operands = value.state().operands.clone();
                    if operands.len() != inputs.len() {
                        return None;
                    }
                    for (input, operand) in inputs.iter().zip(operands) {
                        match (input, operand) {
                            (Input::Whole(_), Some(operand)) => stack.push(operand),
                            (Input::View(_, layout), Some(_)) if is_one(layout) => {}
                            (Input::Scalar(_), _) => {}
                            _ => return None,
                        }
                    }
                }
                ValueKind::Expr { op: NodeOp::Gather, inputs } => {
                    let operands = value.state().operands.clone();
                    let [Input::Whole(positions), Input::Whole(_)] = &inputs[..] else {
                        return None;
                    };
                    let [_, Some(table)] = &operands[..] else { return None };
                    if *positions != self.positions || table.shape() != &self.shape[..] {
                        return None;
                    }
                }
                _ => return None,
            }
            found.insert(value.id(), value);
        }
        let mut order: Vec<Value> = found.into_values().collect();
        order.sort_unstable_by_key(Value::order);
        Some(order)
    }

    /// Records one of these values for all elements; its operands were.
    fn record(&mut self, value: &Value) -> Option<Operand> {
        let operands = value.state().operands.clone();
        let operand = match &value.0.kind {
            ValueKind::Constant(scalar) => (Input::Scalar(*scalar), None),
            ValueKind::Expr { op: NodeOp::Gather, .. } => {
                let table = operands.into_iter().nth(1).flatten()?;
                (Input::Whole(table.id()), Some(table))
            }
            ValueKind::Expr { op: NodeOp::Apply(op), inputs } => {
                let all = inputs.iter().zip(operands).map(|(input, operand)| match input {
                    Input::Whole(id) => self.known.get(id).cloned(),
                    Input::View(id, layout) => {
                        let strides = SmallVec::from_elem(0, self.shape.len());
                        let layout = InputLayout { offset: layout.offset, strides };
                        Some((Input::View(*id, Box::new(layout)), operand))
                    }
                    Input::Scalar(scalar) => Some((Input::Scalar(*scalar), None)),
                });
                let all = all.collect::<Option<_>>()?;
                let new = self.apply(*op, value.dtype(), all);
                (Input::Whole(new.id()), Some(new))
            }
            _ => return None,
        };
        self.known.insert(value.id(), operand.clone());
        Some(operand)
    }

    fn apply(&self, op: Op, dtype: DType, operands: SmallVec<[Operand; 3]>) -> Value {
        let expressions = &self.recorder.expressions;
        Value::expr(expressions, dtype, self.shape.clone(), NodeOp::Apply(op), operands)
    }
}

/// Whether a view shows one element at all points.
fn is_one(layout: &InputLayout) -> bool {
    layout.strides.iter().all(|stride| *stride == 0)
}
