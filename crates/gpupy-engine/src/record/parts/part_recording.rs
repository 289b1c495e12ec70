//! Parts: some elements of a pending value, recorded as the same operations on the parts of their operands.
//!
//! A copy of a view of a map fuses with it as far as one kernel goes; where a driver takes less, what is stored on the
//! way would be all elements of the map's operands, and after a write it would be all elements of the value. Invariant:
//! a part has the elements of the view, to the bit.
//!
//! Not here: what the points of a part read (`part_operands.rs`), when parts are read by themselves
//! (`context/read/parts.rs`).

use super::part_operands::{PartOperand, PartOperands, Seen, part_operands};
use crate::array::base::Array;
use crate::graph::passed::is_narrow;
use crate::graph::value::{Input, NodeOp, Operand, Value, ValueId, ValueKind};
use crate::memory::access;
use crate::memory::view::View;
use crate::record::recorder::Recorder;
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::shape::Shape;
use rustc_hash::FxHashMap;

/// What is recorded already: values at the positions of accesses.
type Parts = FxHashMap<(ValueId, Access, Shape), Value>;

impl Recorder {
    /// A value of the view's own shape with the elements that it shows.
    pub(crate) fn part_of(&self, value: &Value, view: &View) -> Value {
        let at = access::access(view.offset, &view.strides);
        let whole = Seen { value: value.clone(), at, space: view.shape.clone() };
        let mut known = Parts::default();
        let mut stack = vec![whole.clone()];
        while let Some(seen) = stack.last().cloned() {
            if known.contains_key(&key(&seen)) {
                stack.pop();
                continue;
            }
            let operands = part_operands(&seen).filter(|_| known.len() < T.narrowed_nodes);
            let before = stack.len();
            stack.extend(
                operands.iter().flat_map(read).filter(|of| !known.contains_key(&key(of))).cloned(),
            );
            if stack.len() > before {
                continue;
            }
            let part = self.part(&seen, operands, &known);
            known.insert(key(&seen), part);
            stack.pop();
        }
        known.remove(&key(&whole)).unwrap_or_else(|| self.seen(value.clone(), view.clone()))
    }

    /// What an array shows of a value without elements that is too large to be stored for the sake of it; `None` for
    /// others.
    pub(crate) fn shown_apart(&self, array: &Array) -> Result<Option<Array>> {
        if array.base_len() <= T.stored_for_parts || !is_narrow(array.size(), array.base_len()) {
            return Ok(None);
        }
        let value = array.value()?;
        let is_constant = matches!(value.0.kind, ValueKind::Constant(_));
        let is_pending = !value.is_computed() && !value.is_open() && !value.is_outlined();
        let part = || Array::from_value(self.part_of(&value, array.layout()));
        Ok((is_constant || is_pending).then(part))
    }

    /// The part of a value, of parts that are known.
    fn part(&self, seen: &Seen, operands: Option<PartOperands>, known: &Parts) -> Value {
        let value = &seen.value;
        let alone = || match value.0.kind {
            ValueKind::Constant(scalar) => Value::constant(&seen.space, scalar),
            _ => self.seen(value.clone(), placed(seen)),
        };
        let operand = |operand: PartOperand| match operand {
            PartOperand::Known(operand) => Some(operand),
            PartOperand::Read(of) => {
                let part = known.get(&key(&of))?;
                Some((Input::Whole(part.id()), Some(part.clone())))
            }
        };
        // A write is to a value, also where all elements of this are one scalar.
        let is_written = |op: &NodeOp, place| place == 0 && matches!(op, NodeOp::Assign(_));
        let made = match operands {
            None => None,
            Some(PartOperands::Same(same)) => operand(same).and_then(|same| match same {
                (Input::Scalar(scalar), _) => Some(Value::constant(&seen.space, scalar)),
                (_, part) => part,
            }),
            Some(PartOperands::Of(op, operands)) => {
                let operands = operands.into_iter().enumerate().map(|(place, given)| {
                    operand(given).map(|given| match is_written(&op, place) {
                        true => given,
                        false => scalar_or(given),
                    })
                });
                let operands = operands.collect::<Option<_>>();
                operands.map(|operands| {
                    Value::expr(&self.expressions, value.dtype(), seen.space.clone(), op, operands)
                })
            }
        };
        made.unwrap_or_else(alone)
    }
}

/// An operand, which is a scalar where all elements are one.
fn scalar_or((input, value): Operand) -> Operand {
    match value.as_ref().map(|value| &value.0.kind) {
        Some(ValueKind::Constant(scalar)) => (Input::Scalar(*scalar), None),
        _ => (input, value),
    }
}

/// What the operands of a part are seen of.
fn read(operands: &PartOperands) -> impl Iterator<Item = &Seen> {
    let operands = match operands {
        PartOperands::Same(operand) => std::slice::from_ref(operand),
        PartOperands::Of(_, operands) => &operands[..],
    };
    operands.iter().filter_map(|operand| match operand {
        PartOperand::Read(seen) => Some(seen),
        PartOperand::Known(_) => None,
    })
}

fn key(seen: &Seen) -> (ValueId, Access, Shape) {
    (seen.value.id(), seen.at.clone(), seen.space.clone())
}

/// The view of the positions of a part.
fn placed(seen: &Seen) -> View {
    let strides = seen.at.strides.iter().map(|stride| *stride as isize).collect();
    View { offset: seen.at.offset as isize, shape: seen.space.clone(), strides }
}
