//! Parts: some elements of a pending value, recorded as the same operations on the parts of their operands.
//!
//! A copy of a view of a map fuses with it as far as one kernel goes; where a driver takes less, what is stored on the
//! way would be all elements of the map's operands. Invariant: a part has the elements of the view, to the
//! bit.
//!
//! Not here: when parts are read by themselves (`context/read/parts.rs`).

use crate::graph::value::{Input, NodeOp, Operand, Value, ValueId, ValueKind};
use crate::memory::access;
use crate::memory::view::View;
use crate::record::recorder::Recorder;
use crate::thresholds::T;
use gpupy_core::driver::Access;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An operand at the points of a part: a value at these positions, or a scalar.
enum Place {
    Read(Value, Access),
    Known(Operand),
}

/// What is recorded already: values at the positions of accesses.
type Parts = FxHashMap<(ValueId, Access), Value>;

impl Recorder {
    /// A value of the view's own shape with the elements that it shows.
    pub(crate) fn part_of(&self, value: &Value, view: &View) -> Value {
        let at = access::access(view.offset, &view.strides);
        let mut known = Parts::default();
        let mut stack = vec![(value.clone(), at.clone())];
        while let Some((of, position)) = stack.last().cloned() {
            if known.contains_key(&(of.id(), position.clone())) {
                stack.pop();
                continue;
            }
            let places =
                places(&of, &position, &view.shape).filter(|_| known.len() < T.narrowed_nodes);
            let Some((op, places)) = places else {
                known.insert((of.id(), position.clone()), self.seen(of, placed(&position, view)));
                stack.pop();
                continue;
            };
            let missing = places.iter().filter_map(|place| match place {
                Place::Read(value, at) if !known.contains_key(&(value.id(), at.clone())) => {
                    Some((value.clone(), at.clone()))
                }
                Place::Read(..) | Place::Known(_) => None,
            });
            let before = stack.len();
            stack.extend(missing);
            if stack.len() > before {
                continue;
            }
            let operands = places.into_iter().filter_map(|place| match place {
                Place::Known(operand) => Some(operand),
                Place::Read(value, at) => {
                    let part = known.get(&(value.id(), at))?.clone();
                    Some((Input::Whole(part.id()), Some(part)))
                }
            });
            let operands: SmallVec<[Operand; 3]> = operands.collect();
            let part = Value::expr(&self.expressions, of.dtype(), view.shape.clone(), op, operands);
            known.insert((of.id(), position), part);
            stack.pop();
        }
        known.remove(&(value.id(), at)).unwrap_or_else(|| self.seen(value.clone(), view.clone()))
    }
}

/// The view of the positions of an access, in the shape of a part.
fn placed(at: &Access, part: &View) -> View {
    let strides = at.strides.iter().map(|stride| *stride as isize).collect();
    View { offset: at.offset as isize, shape: part.shape.clone(), strides }
}

/// The operation of a pending map, and what it reads at the points of a part, which are these positions of it; `None`
/// for others, and where the positions of an operand are not affine.
fn places(value: &Value, at: &Access, space: &[usize]) -> Option<(NodeOp, SmallVec<[Place; 3]>)> {
    let ValueKind::Expr { op: op @ (NodeOp::Apply(_) | NodeOp::Call(_)), inputs } = &value.0.kind
    else {
        return None;
    };
    if value.is_computed() {
        return None;
    }
    let operands = value.state().operands.clone();
    if operands.len() != inputs.len() {
        return None;
    }
    let coordinates = access::coordinates(at, space, value.shape())?;
    let read = inputs.iter().zip(operands).map(|(input, operand)| match (input, operand) {
        (Input::Scalar(_), _) | (_, None) => Place::Known((input.clone(), None)),
        (_, Some(operand)) => {
            let layout = input.layout(value.shape());
            let at = access::through(layout.offset, &layout.strides, &coordinates, space.len());
            Place::Read(operand, at)
        }
    });
    Some((op.clone(), read.collect()))
}
