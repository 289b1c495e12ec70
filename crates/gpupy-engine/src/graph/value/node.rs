//! Nodes of the expression graph: what a value is made of.
//!
//! Owns [`Node`], its mutable state [`ValueStorage`], and the bytes of all living computed values. Invariants: a node
//! counts as computed from its last element on, until it is dropped; dropping a graph of any depth takes a loop, no
//! recursion.
//!
//! Not here: the handle of a node, and what is asked of it (`mod.rs`), expressions (`expression.rs`).

use super::residence::LittleAccesses;
use super::{
    DeadList, Expressions, Input, NodeOp, Operand, TopologicalRank, Value, ValueId, ValueKind,
    paged,
};
use crate::graph::intern::Interned;
use crate::graph::interval::Bounds;
use crate::graph::passed::Passed;
use crate::memory::host_buffer::HostBuffer;
use crate::memory::limit;
use crate::memory::ranges::Ranges;
use gpupy_core::DType;
use gpupy_core::driver::HostMemory;
use gpupy_core::shape::{Shape, contiguous_strides, size_of};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A node of the graph.
pub(crate) struct Node {
    pub id: ValueId,
    pub order: TopologicalRank,
    pub dtype: DType,
    pub shape: Shape,
    pub kind: ValueKind,
    /// The cost of recomputing an element, in pending operations at recording; shared ones count again; saturating.
    pub weight: u32,
    /// The longest chain of pending operations at recording; for eager results, of those that led to them.
    pub depth: u32,
    /// At most the bytes of computed values that this keeps alive, shared ones counted again.
    pub held: AtomicU64,
    /// The name of a value that is at least as old as the pending values below it, itself among them; or a later one,
    /// if they were counted, so that those since then and the counted ones are together no more (`context/pending.rs`).
    pub oldest: AtomicU64,
    /// What reads of parts of it, and of the values that it was recorded from, have cost by themselves, in nanoseconds
    /// (`context/read/parts.rs`).
    pub spent: AtomicU64,
    /// Every input is a scalar or stands in the value's own C order, so any positions of this value
    /// are the same positions (plus the offset) of the inputs.
    pub linear: bool,
    /// It is an argument, or reads one on some way: it has no elements.
    pub open: bool,
    /// It is open, and its extents may be others when it is recorded again: operations on it stay what they are.
    pub outlined: bool,
    /// It is external, or reads such a value through pending ones: small tiles are recomputed instead of stored.
    pub streams: bool,
    /// Its host memory may go to the disk, as that is limited.
    pub paged: bool,
    /// When it was used last, where memory is limited.
    pub used: AtomicU64,
    /// The table of the context that recorded this, if it stands in one.
    pub interner: Option<Arc<Expressions>>,
    /// Where all elements lie that were in host memory from the beginning; freed by the last handle.
    pub memory: Option<HostMemory>,
    /// Some element is not computed.
    pub(super) pending: AtomicBool,
    /// Of a pending expression, each element is known to be a zero of one sign or the other.
    pub(super) zeros: AtomicBool,
    pub(super) accesses: LittleAccesses,
    pub(super) hash: Option<u64>,
    pub(super) state: Mutex<ValueStorage>,
}

/// The mutable state of a value: which elements are computed, and where they are.
#[derive(Default)]
pub(crate) struct ValueStorage {
    /// The inputs' values, `None` for scalars; empty once everything is computed and not on its way to host memory.
    pub operands: SmallVec<[Option<Value>; 3]>,
    /// Operands stay although everything is computed, as the device may be lost before it is read.
    pub(super) keeps_operands: bool,
    /// Positions that are stored somewhere: in host memory or in a block.
    pub computed: Ranges,
    /// Positions that are in host memory: the evaluated map.
    pub on_host: Ranges,
    /// The host memory, from the first need.
    pub host: Option<Arc<HostBuffer>>,
    /// The interval of the elements, once it was asked for (`bounds`).
    pub bounds: Option<Box<Bounds>>,
    /// The parts that were computed inside other kernels while it was pending (`rematerialisation.rs`).
    pub passed: Option<Box<Passed>>,
    /// The elements that are on the disk.
    pub spilled: Option<Box<paged::Spilled>>,
    /// Its blocks are kept for another value, which has the elements: no one asks for these.
    pub is_set_aside: bool,
    /// The caches to tell when the value is dropped.
    pub watchers: SmallVec<[DeadList; 1]>,
}

/// The parts of a node that only expressions have; see the fields of [`Node`].
#[derive(Default)]
pub(super) struct NodeParts {
    pub(super) weight: u32,
    pub(super) depth: u32,
    pub(super) accesses: u32,
    pub(super) held: u64,
    pub(super) oldest: Option<ValueId>,
    pub(super) spent: u64,
    pub(super) linear: bool,
    pub(super) open: bool,
    pub(super) outlined: bool,
    pub(super) streams: bool,
    pub(super) hash: Option<u64>,
    pub(super) interner: Option<Arc<Expressions>>,
    pub(super) order: Option<TopologicalRank>,
}

impl NodeParts {
    /// The initial parts of an expression over a shape.
    pub(super) fn of(
        shape: &[usize],
        op: NodeOp,
        operands: SmallVec<[Operand; 3]>,
    ) -> (ValueKind, NodeParts, ValueStorage) {
        let (mut weight, mut depth, mut held) = (op.cost(), 0, 0u64);
        let (mut oldest, mut spent) = (None, 0);
        let (mut open, mut outlined) = (op == NodeOp::Argument, false);
        let accesses = match (&op, operands.first()) {
            (NodeOp::Assign(view), Some((_, Some(old)))) => old.accesses_after_write(view.size()),
            (NodeOp::Join(join), _) => join.accesses(shape, &operands),
            _ => 0,
        };
        // A gather's table is read whole, wherever its points are.
        let mut linear = matches!(op, NodeOp::Apply(_) | NodeOp::Call(_) | NodeOp::Gather);
        let mut streams = false;
        let mut inputs = SmallVec::new();
        let mut values = SmallVec::new();
        for (input, value) in operands {
            open |= value.as_ref().is_some_and(Value::is_open);
            outlined |= value.as_ref().is_some_and(Value::is_outlined);
            if let Some(value) = &value {
                spent = spent.max(value.0.spent.load(Ordering::Relaxed));
            }
            match &value {
                Some(value) if value.is_external() => streams = true,
                Some(value) if value.is_computed() => {
                    held = held.saturating_add(value.byte_len());
                }
                Some(value) => {
                    streams |= value.0.streams;
                    weight = weight.saturating_add(value.0.weight);
                    depth = depth.max(value.0.depth);
                    held = held.saturating_add(value.0.held.load(Ordering::Relaxed));
                    let below = value.0.oldest.load(Ordering::Relaxed);
                    oldest = Some(oldest.map_or(below, |known: ValueId| known.min(below)));
                }
                None => {}
            }
            if let Input::View(_, layout) = &input {
                linear &= layout.strides == contiguous_strides(shape);
            }
            inputs.push(input);
            values.push(value);
        }
        let depth = depth + 1;
        let pending = NodeParts {
            weight,
            depth,
            accesses,
            held,
            oldest,
            spent,
            linear,
            open,
            outlined,
            streams,
            ..NodeParts::default()
        };
        let state = ValueStorage { operands: values, ..ValueStorage::default() };
        (ValueKind::Expr { op, inputs }, pending, state)
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// The bytes of all living computed values.
static COMPUTED_BYTES: AtomicU64 = AtomicU64::new(0);

/// The bytes of all living computed values: no graph keeps more alive.
pub(crate) fn computed_bytes() -> u64 {
    COMPUTED_BYTES.load(Ordering::Relaxed)
}

impl Node {
    /// A new node; built where it stays, as it is large.
    #[inline(always)]
    pub(super) fn share(
        dtype: DType,
        shape: Shape,
        kind: ValueKind,
        pending: NodeParts,
        state: ValueStorage,
    ) -> Arc<Node> {
        let is_pending = matches!(kind, ValueKind::Expr { .. }) && size_of(&shape) > 0;
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let bytes = size_of(&shape).saturating_mul(dtype.size());
        let paged = bytes >= limit::PAGED_FROM
            && limit::host_bytes().is_some()
            && match kind {
                ValueKind::Host(_) => state.host.as_ref().is_some_and(|host| host.is_paged()),
                ValueKind::Expr { .. } => true,
                ValueKind::External(_) | ValueKind::Constant(_) => false,
            };
        let memory = match kind {
            ValueKind::Host(_) if paged => None,
            ValueKind::Host(_) => state.host.as_ref().map(|host| host.memory()),
            ValueKind::External(_) | ValueKind::Constant(_) | ValueKind::Expr { .. } => None,
        };
        let node = Arc::new(Node {
            id,
            order: pending.order.unwrap_or((id, u32::MAX)),
            dtype,
            shape,
            kind,
            weight: pending.weight,
            depth: pending.depth,
            held: AtomicU64::new(pending.held),
            oldest: AtomicU64::new(pending.oldest.unwrap_or(id)),
            spent: AtomicU64::new(pending.spent),
            linear: pending.linear,
            open: pending.open,
            outlined: pending.outlined,
            streams: pending.streams,
            paged,
            used: AtomicU64::new(0),
            interner: pending.interner,
            memory,
            pending: AtomicBool::new(is_pending),
            zeros: AtomicBool::new(false),
            accesses: LittleAccesses::after(pending.accesses),
            hash: pending.hash,
            state: Mutex::new(state),
        });
        if !is_pending {
            node.count(true);
        }
        if paged {
            paged::note(&node);
        }
        node
    }

    /// Counts it among the computed values, or no longer.
    #[inline]
    pub(super) fn count(&self, computed: bool) {
        if matches!(self.kind, ValueKind::Constant(_) | ValueKind::External(_)) {
            return;
        }
        let bytes = size_of(&self.shape).saturating_mul(self.dtype.size()) as u64;
        // Values come and go on any thread, but each is counted before it is counted no longer.
        let add = if computed { bytes } else { bytes.wrapping_neg() };
        COMPUTED_BYTES.fetch_add(add, Ordering::Relaxed);
    }
}

impl Interned for Node {
    fn id(&self) -> ValueId {
        self.id
    }

    fn reduces(&self) -> bool {
        matches!(self.kind, ValueKind::Expr { op: NodeOp::Reduce { .. }, .. })
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if !*self.pending.get_mut() {
            self.count(false);
        }
        if let (Some(hash), Some(interner)) = (self.hash, &self.interner) {
            interner.remove(hash, self);
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for watcher in &state.watchers {
            watcher.lock().unwrap_or_else(PoisonError::into_inner).push(self.id);
        }
        let mut stack: Vec<Value> = state.operands.drain(..).flatten().collect();
        while let Some(value) = stack.pop() {
            if let Some(mut node) = Arc::into_inner(value.0) {
                let state = node.state.get_mut().unwrap_or_else(PoisonError::into_inner);
                stack.extend(state.operands.drain(..).flatten());
            }
        }
    }
}
