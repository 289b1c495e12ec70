//! Values: immutable elements of an array, given or still to be computed.
//!
//! Owns [`Value`], a handle of a node of the expression graph. A value is host data, a constant, or an expression over
//! views of other values. Invariants: a value's elements never change; an expression keeps its operands until every
//! element is computed and stored somewhere; equal expressions are one value (`intern.rs`).
//!
//! Not here: the nodes (`node.rs`), expressions (`expression.rs`), where elements are (`stored.rs`) and when they come
//! to host memory (`residence.rs`), arrays (`array/`), blocks (`cache/`).

mod expression;
mod node;
pub(crate) mod paged;
pub(crate) mod residence;
pub(crate) mod set_aside;
mod stored;

pub(crate) use stored::{Copies, HostSlice};

pub(crate) use expression::{External, Input, InputLayout, NodeOp, Operand, Origin, ValueKind};
pub(crate) use node::{Node, ValueStorage, computed_bytes};

use crate::graph::intern::Interner;
use crate::memory::host_buffer::HostBuffer;
use crate::memory::ranges::Ranges;
use crate::memory::reader::Reader;
use crate::thresholds::T;
use gpupy_core::op::{Op, Trait};
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{DType, Error, ErrorKind, Result, Scalar};
use node::NodeParts;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The name of a value, never used twice.
pub type ValueId = u64;

/// A value's place among all: the name of a recorded value, then the rank of a step on the way to it.
pub(crate) type TopologicalRank = (ValueId, u32);

/// Ids of values that are gone, for a cache to forget their blocks.
pub type DeadList = Arc<Mutex<Vec<ValueId>>>;

/// The living expressions of a context.
pub(crate) type Expressions = Interner<Node>;

impl Expressions {
    /// The living expressions that are not computed and newer than one, the oldest first, unless there are too many to
    /// look at. They are looked up as they are asked for, ever more at a time.
    pub fn pending_behind(&self, first: ValueId) -> impl Iterator<Item = Value> + '_ {
        let (mut behind, mut most) = (Some(first), T.fewest_others);
        let parts = std::iter::from_fn(move || {
            most *= 4;
            let (found, last) = self.living_behind(behind?, most);
            behind = last;
            Some(pending(found))
        });
        parts.flatten()
    }

    /// The recent reductions that are held and not computed.
    pub fn pending_reductions(&self) -> Vec<Value> {
        pending(self.reductions_held())
    }
}

/// The nodes that are not computed, and can be.
fn pending(held: Vec<Arc<Node>>) -> Vec<Value> {
    held.into_iter().map(Value).filter(|value| !value.is_computed() && !value.is_open()).collect()
}

/// A shared handle of an immutable value.
#[derive(Clone)]
pub struct Value(pub(crate) Arc<Node>);

impl Value {
    /// A value whose elements are in host memory, in C order.
    ///
    /// # Panics
    /// When the buffer is shorter than the elements.
    pub fn host(dtype: DType, shape: &[usize], buffer: Arc<HostBuffer>) -> Value {
        let bytes = size_of(shape) * dtype.size();
        assert!(buffer.len() >= bytes, "a host value needs all its bytes");
        Value::in_memory(dtype, Shape::from_slice(shape), Origin::Given, 0, buffer)
    }

    /// A value whose elements came to host memory so.
    pub(crate) fn in_memory(
        dtype: DType,
        shape: Shape,
        origin: Origin,
        depth: u32,
        host: Arc<HostBuffer>,
    ) -> Value {
        let state = ValueStorage::in_memory(size_of(&shape), Some(host));
        let pending = NodeParts { depth, ..NodeParts::default() };
        Value(Node::share(dtype, shape, ValueKind::Host(origin), pending, state))
    }

    /// A value whose elements a reader gives when they are needed.
    pub(crate) fn external(dtype: DType, shape: &[usize], reader: Arc<dyn Reader>) -> Value {
        let state =
            ValueStorage { computed: Ranges::full(size_of(shape)), ..ValueStorage::default() };
        let pending = NodeParts { streams: true, ..NodeParts::default() };
        let kind = ValueKind::External(External(reader));
        Value(Node::share(dtype, shape.into(), kind, pending, state))
    }

    /// A value whose elements are all the same.
    pub fn constant(shape: &[usize], scalar: Scalar) -> Value {
        let state =
            ValueStorage { computed: Ranges::full(size_of(shape)), ..ValueStorage::default() };
        let kind = ValueKind::Constant(scalar);
        Value(Node::share(scalar.dtype, shape.into(), kind, NodeParts::default(), state))
    }

    /// An argument of what is being recorded.
    pub(crate) fn argument(dtype: DType, shape: &[usize]) -> Value {
        let (kind, pending, state) = NodeParts::of(shape, NodeOp::Argument, SmallVec::new());
        Value(Node::share(dtype, shape.into(), kind, pending, state))
    }

    /// An argument in the place of an array, whose extents may be others when what it is in is recorded again.
    pub(crate) fn outlined(dtype: DType, shape: &[usize]) -> Value {
        let (kind, pending, state) = NodeParts::of(shape, NodeOp::Argument, SmallVec::new());
        let pending = NodeParts { outlined: true, ..pending };
        Value(Node::share(dtype, shape.into(), kind, pending, state))
    }

    /// An expression, or the equal one that exists already.
    ///
    /// Inputs of an operation that is symmetric to the bit are put in the order of their creation.
    pub(crate) fn expr(
        interner: &Arc<Expressions>,
        dtype: DType,
        shape: Shape,
        op: NodeOp,
        mut operands: SmallVec<[Operand; 3]>,
    ) -> Value {
        if let NodeOp::Apply(apply) = op
            && apply.info().has(Trait::Symmetric)
            && let [(first, _), (second, _)] = operands.as_slice()
            && first.id().unwrap_or(ValueId::MAX) > second.id().unwrap_or(ValueId::MAX)
        {
            operands.swap(0, 1);
        }
        let interned = !matches!(op, NodeOp::Assign(_) | NodeOp::Scatter(_));
        let (kind, pending, state) = NodeParts::of(&shape, op, operands);
        if !interned {
            let interner = Some(interner.clone());
            return Value(Node::share(
                dtype,
                shape,
                kind,
                NodeParts { interner, ..pending },
                state,
            ));
        }
        Value::interned(interner, dtype, shape, kind, |shape, kind, hash| {
            let (hash, interner) = (Some(hash), Some(interner.clone()));
            Node::share(dtype, shape, kind, NodeParts { hash, interner, ..pending }, state)
        })
    }

    /// The living value of a table that is of this kind, or a new one.
    fn interned(
        interner: &Expressions,
        dtype: DType,
        shape: Shape,
        kind: ValueKind,
        make: impl FnOnce(Shape, ValueKind, u64) -> Arc<Node>,
    ) -> Value {
        let mut hasher = FxHasher::default();
        (dtype, &kind, &shape).hash(&mut hasher);
        let hash = hasher.finish();
        let is_equal = |node: &Node, (shape, kind): &(Shape, ValueKind)| {
            node.dtype == dtype && node.shape == *shape && node.kind == *kind
        };
        let make = |(shape, kind)| make(shape, kind, hash);
        Value(interner.find_or_insert(hash, (shape, kind), is_equal, make))
    }

    /// A step on the way to another value, which stands in no table. Its place is before that of the value
    /// of this name, in the order of ranks.
    pub(crate) fn within(
        order: TopologicalRank,
        dtype: DType,
        shape: Shape,
        op: NodeOp,
        operands: SmallVec<[Operand; 3]>,
    ) -> Value {
        let (kind, pending, state) = NodeParts::of(&shape, op, operands);
        let order = Some(order);
        Value(Node::share(dtype, shape, kind, NodeParts { order, ..pending }, state))
    }

    /// A step on the way to the value of this name, or the living one that says the same; a new one has the next rank.
    pub(crate) fn found_within(
        steps: &Arc<Expressions>,
        (of, rank): (ValueId, impl FnOnce() -> u32),
        dtype: DType,
        shape: Shape,
        op: NodeOp,
        operands: SmallVec<[Operand; 3]>,
    ) -> Value {
        let (kind, pending, state) = NodeParts::of(&shape, op, operands);
        Value::interned(steps, dtype, shape, kind, |shape, kind, hash| {
            let (interner, order) = (Some(steps.clone()), Some((of, rank())));
            let pending = NodeParts { hash: Some(hash), interner, order, ..pending };
            Node::share(dtype, shape, kind, pending, state)
        })
    }

    /// The value's place among all: after its operands, and after what was recorded before. A step of a chain may
    /// stand for what is older than its operands.
    pub(crate) fn order(&self) -> TopologicalRank {
        self.0.order
    }

    /// Whether it is a step on the way to a value that was recorded.
    pub(crate) fn is_step(&self) -> bool {
        self.0.order.1 != u32::MAX
    }

    /// The value's name.
    pub fn id(&self) -> ValueId {
        self.0.id
    }

    /// The elements' dtype.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// The value's extents.
    pub fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        size_of(&self.0.shape)
    }

    /// Bytes of all elements in host memory.
    pub(crate) fn byte_len(&self) -> u64 {
        (self.len() * self.dtype().size()) as u64
    }

    /// True when there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True when nothing is pending: every element is stored somewhere.
    pub fn is_computed(&self) -> bool {
        !self.0.pending.load(Ordering::Acquire)
    }

    /// True for a value whose elements a reader gives.
    pub(crate) fn is_external(&self) -> bool {
        matches!(self.0.kind, ValueKind::External(_))
    }

    /// True for an argument, and for expressions of one: they have elements only once other values replace the
    /// argument.
    pub(crate) fn is_open(&self) -> bool {
        self.0.open
    }

    /// True for an argument in the place of an array, and for expressions of one.
    pub(crate) fn is_outlined(&self) -> bool {
        self.0.outlined
    }

    /// A node of its own with the elements of this value, where they are in host memory, which both share.
    pub(crate) fn in_own_memory(&self) -> Option<Value> {
        let host = self.state().host.clone().filter(|_| self.is_computed())?;
        Some(Value::host(self.dtype(), self.shape(), host))
    }

    /// Refuses a value without elements.
    ///
    /// # Errors
    /// - `Open`: it is an argument, or reads one.
    pub(crate) fn check_closed(&self) -> Result<()> {
        if !self.0.open {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Open, "evaluate").says(
            "an argument of what is being recorded has no elements: only operations on arrays can be recorded",
        ))
    }

    /// The operation of a reduction.
    pub fn reduces(&self) -> Option<Op> {
        match self.0.kind {
            ValueKind::Expr { op: NodeOp::Reduce { op, .. }, .. } => Some(op),
            _ => None,
        }
    }

    /// True when part of a range is computed, but not all of it.
    pub(crate) fn is_begun(&self, range: std::ops::Range<usize>) -> bool {
        let state = self.state();
        let gaps = state.computed.gaps(range.clone());
        gaps.as_slice() != [range] && !gaps.is_empty()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ValueStorage> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that each element is 0.0 or -0.0.
    pub(crate) fn mark_zeros(&self) {
        // Other values may be given other elements (`renew`).
        if matches!(self.0.kind, ValueKind::Expr { .. }) {
            self.0.zeros.store(true, Ordering::Relaxed);
        }
    }

    /// Whether each element is known to be 0.0 or -0.0.
    pub(crate) fn is_zeros(&self) -> bool {
        self.0.zeros.load(Ordering::Relaxed)
    }

    /// Whether there is another handle just now: an array, or a pending expression that reads it.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Whether this handle is the only one, so that the value may be taken apart. It is then removed from the intern
    /// table, so that no lookup finds it.
    pub(crate) fn is_sole(&self) -> bool {
        self.is_held_by(1)
    }

    /// Like `is_sole`, for as many handles as the caller knows of.
    pub(crate) fn is_held_by(&self, handles: usize) -> bool {
        match (self.0.hash, &self.0.interner) {
            (Some(hash), Some(interner)) => interner.forget_if_held_by(hash, &self.0, handles),
            _ => Arc::strong_count(&self.0) == handles,
        }
    }

    /// Says that the value was not taken apart after all, so that it may be found again.
    pub(crate) fn is_left(&self) {
        if let (Some(hash), Some(interner)) = (self.0.hash, &self.0.interner) {
            interner.remember(hash, &self.0);
        }
    }
}
