//! Expressions: the operation and the inputs that give a value's elements.
//!
//! Owns [`ValueKind`] and its parts: operations, and what they read at each point. All of it is compared by content, so
//! that equal expressions are one value (`intern.rs`).
//!
//! Not here: values, which hold their operands (`mod.rs`).

use super::{Value, ValueId};
use crate::graph::deferred::Deferred;
use crate::graph::join::Join;
use crate::graph::library_op::LibraryOp;
use crate::graph::piecewise_number::InPieces;
use crate::graph::scalar_function::Called;
use crate::memory::access;
use crate::memory::reader::Reader;
use crate::memory::view::View;
use gpupy_core::Scalar;
use gpupy_core::driver::Access;
use gpupy_core::op::Op;
use gpupy_core::shape::{Shape, Strides, contiguous_strides};
use smallvec::SmallVec;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The operation of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NodeOp {
    /// A scalar operation on operands of the value's shape; casts give the value's dtype, and a
    /// cast to the operand's own dtype is a copy.
    Apply(Op),
    /// A result of a function on operands of the value's shape.
    Call(Called),
    /// An argument of a function that is being recorded: it has no elements.
    Argument,
    /// An operation over whole axes of an open operand; it has no elements either.
    Deferred(Box<Deferred>),
    /// The coordinate along an axis, an int32.
    Index(u32),
    /// A number in pieces over the value's points, or the piece in which it lies, an int32.
    InPieces(Arc<InPieces>),
    /// One step of the canonical tree (`ir::Form::Reduce`) over the last axis of the operand, which
    /// has `n` elements there and otherwise the value's shape.
    Reduce {
        /// The combining operation.
        op: Op,
        /// The operand's extent along its last axis.
        n: usize,
    },
    /// The first operand with the elements of a view replaced by the second operand, which has the
    /// view's shape.
    Assign(Box<View>),
    /// The operands one behind the other along an axis.
    Join(Box<Join>),
    /// A whole-program form of computed operands.
    Whole(LibraryOp),
    /// The elements of the second operand at the positions that the first gives, which has the
    /// value's shape: int32 numbers, inside the second.
    Gather,
    /// The first operand with the elements at the positions that the second gives (int32 numbers)
    /// replaced by those of the third, both of this shape; of several the last in C order counts.
    Scatter(Box<Shape>),
    /// The positions in C order at which the operand, a mask that is seen whole, is true: int32 numbers.
    WhereTrue,
}

impl ValueKind {
    /// Whether elements are computed from others that stand elsewhere, as by a slice: not by broadcasting, and not
    /// those of a reduction.
    pub fn moves(&self) -> bool {
        let ValueKind::Expr { op, inputs } = self else { return false };
        let is_moved =
            |input: &Input| matches!(input, Input::View(_, layout) if !layout.strides.contains(&0));
        match op {
            NodeOp::Apply(_) | NodeOp::Call(_) => inputs.iter().any(is_moved),
            NodeOp::Gather | NodeOp::Scatter(_) | NodeOp::Assign(_) | NodeOp::Join(_) => true,
            NodeOp::Whole(_) | NodeOp::WhereTrue => true,
            NodeOp::Reduce { .. } | NodeOp::Index(_) | NodeOp::InPieces(_) => false,
            NodeOp::Argument | NodeOp::Deferred(_) => false,
        }
    }
}

impl NodeOp {
    /// Operations to compute an element from the operands'.
    pub fn cost(&self) -> u32 {
        match self {
            NodeOp::Apply(op) => op.info().cost,
            NodeOp::Call(called) => called.function.cost(),
            _ => 1,
        }
    }

    /// Whether its result is never computed inside a reader's kernel.
    pub fn stands_alone(&self) -> bool {
        use NodeOp::{
            Apply, Argument, Assign, Call, Deferred, Gather, InPieces, Index, Join, Reduce,
            Scatter, WhereTrue, Whole,
        };
        match self {
            Reduce { .. }
            | Assign(_)
            | Scatter(_)
            | WhereTrue
            | Whole(_)
            | Argument
            | Deferred(_) => true,
            Apply(_) | Call(_) | Index(_) | InPieces(_) | Join(_) | Gather => false,
        }
    }
}

/// An input of an operation: the element that it reads at each point of its own shape, or (a reduction) of its
/// operand's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Input {
    /// One scalar at every point.
    Scalar(Scalar),
    /// A value's elements in C order.
    Whole(ValueId),
    /// A value's elements at these positions.
    View(ValueId, Box<InputLayout>),
}

/// Offset and strides, for a shape that is known from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InputLayout {
    pub offset: isize,
    pub strides: Strides,
}

/// An input with the value behind it, which only a scalar lacks.
pub(crate) type Operand = (Input, Option<Value>);

impl Input {
    /// The input that reads a value through a view.
    pub fn new(id: ValueId, view: &View) -> Input {
        if view.offset == 0 && view.is_contiguous() {
            return Input::Whole(id);
        }
        let View { offset, strides, .. } = view.clone();
        Input::View(id, Box::new(InputLayout { offset, strides }))
    }

    /// The positions read over a shape; a scalar's are all 0.
    pub fn layout(&self, shape: &[usize]) -> InputLayout {
        match self {
            Input::Scalar(_) => {
                InputLayout { offset: 0, strides: SmallVec::from_elem(0, shape.len()) }
            }
            Input::Whole(_) => InputLayout { offset: 0, strides: contiguous_strides(shape) },
            Input::View(_, layout) => (**layout).clone(),
        }
    }

    /// The positions read over a shape, as an access.
    pub fn access(&self, shape: &[usize]) -> Access {
        let InputLayout { offset, strides } = self.layout(shape);
        access::access(offset, &strides)
    }

    /// The value that is read, unless it is a scalar.
    pub fn id(&self) -> Option<ValueId> {
        match self {
            Input::Scalar(_) => None,
            Input::Whole(id) | Input::View(id, _) => Some(*id),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueKind {
    /// All elements were in host memory from the beginning.
    Host(Origin),
    /// Elements lie outside, and are read when they are needed.
    External(External),
    /// All elements are this one.
    Constant(Scalar),
    /// Computed from inputs.
    Expr { op: NodeOp, inputs: SmallVec<[Input; 3]> },
}

/// The reader of elements that lie outside; equal to none but itself.
#[derive(Clone)]
pub(crate) struct External(pub Arc<dyn Reader>);

impl External {
    fn address(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }
}

impl PartialEq for External {
    fn eq(&self, other: &External) -> bool {
        std::ptr::eq(self.address(), other.address())
    }
}

impl Eq for External {}

impl Hash for External {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "External({})", self.0.name())
    }
}

/// How elements came to host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// The user gave them.
    Given,
    /// They were computed when they were asked for (`eager_evaluator.rs`).
    Eager,
}
