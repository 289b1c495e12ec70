//! Pending maps of one shape: what an element takes, and how the elements lie that neighbours are made of.
//!
//! Owns [`PendingMap`]. Not here: what is computed for several readers (`schedule/cost.rs`).

use crate::graph::value::{Input, NodeOp, Value, ValueId, ValueKind};
use smallvec::{SmallVec, smallvec};

/// A value and the pending values of its shape below it, element by element.
pub(crate) struct PendingMap {
    values: SmallVec<[Value; 4]>,
}

impl PendingMap {
    /// The map that ends with a value; `None` where it is none, or one of more than so many operations.
    pub fn of(value: &Value, most: usize) -> Option<PendingMap> {
        let mut map = PendingMap { values: smallvec![value.clone()] };
        let (mut next, mut operations) = (0, 0);
        while let Some(value) = map.values.get(next).cloned() {
            let ValueKind::Expr { op: op @ (NodeOp::Apply(_) | NodeOp::Call(_)), inputs } =
                &value.0.kind
            else {
                return None;
            };
            operations += op.cost() as usize;
            if operations > most {
                return None;
            }
            let operands = value.state().operands.clone();
            for (input, operand) in inputs.iter().zip(operands) {
                if let (Input::Whole(id), Some(below)) = (input, operand) {
                    let is_of_it = !below.is_computed() && below.shape() == value.shape();
                    if !is_of_it && !matches!(below.0.kind, ValueKind::Constant(_)) {
                        return None;
                    }
                    if is_of_it && !map.has(*id) {
                        map.values.push(below);
                    }
                }
            }
            next += 1;
        }
        Some(map)
    }

    fn has(&self, id: ValueId) -> bool {
        self.values.iter().any(|value| value.id() == id)
    }

    /// Whether all that it reads lies side by side along an axis, or is the same.
    pub fn reads_side_by_side(&self, axis: usize) -> bool {
        let is_near = |input: &Input| match input {
            Input::View(_, layout) => layout.strides[axis].unsigned_abs() <= 1,
            Input::Scalar(_) | Input::Whole(_) => true,
        };
        self.values.iter().all(|value| match &value.0.kind {
            ValueKind::Expr { inputs, .. } => inputs.iter().all(is_near),
            _ => false,
        })
    }
}
