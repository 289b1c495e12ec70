//! Eager evaluation: small work as one launch of the host driver, on the caller's thread.
//!
//! Owns [`EagerEvaluator`], which the dispatch (`eager_dispatch.rs`) calls for work that the policy accepts. Results
//! are elements in host memory. Invariants: the bits are those of the recorded operation; an operation that cannot be
//! done here and now is not begun, and nothing is lost; no device is opened; no thread waits for the engine.
//!
//! Not here: which work is eager (`policy.rs`), one launch of an operation (`eager_launch.rs`), moves of elements
//! (`host_moves.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::array::owned_elements::OwnedElements;
use crate::eager::borrow::BorrowGuard;
use crate::eager::eager_launch::EagerLaunch;
use crate::eager::host_moves;
use crate::eager::policy::{Joint, ProductExtents, is_chain};
use crate::eager::segment::Segment;
use crate::execute::engine_state::EngineState;
use crate::execute::evaluate::Engine;
use crate::explain::trace::Event;
use crate::explain::tracer::Tracer;
use crate::graph::join::Join;
use crate::graph::scalar_function::ScalarFunction;
use crate::graph::value::{NodeOp, Operand, Origin, Value};
use crate::memory::element_bytes;
use crate::record::recorder::Compute;
use crate::thresholds::T;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::op::Op;
use gpupy_core::op_eval::whole;
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{DType, ErrorKind, Result, Scalar};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// Chunks of a reduction whose results lie on the stack.
const FEW_CHUNKS: usize = 16;

/// Computes operations eagerly where it can.
#[derive(Clone)]
pub(crate) struct EagerEvaluator {
    /// The engine.
    state: Arc<Mutex<EngineState>>,
    tracer: Tracer,
}

impl EagerEvaluator {
    /// By the host driver of this engine.
    pub fn by(state: Arc<Mutex<EngineState>>, tracer: Tracer) -> EagerEvaluator {
        EagerEvaluator { state, tracer }
    }

    /// The result of a scalar operation on operands that broadcast to a shape; `None` where that cannot be done
    /// here and now.
    pub fn apply(
        &self,
        op: Op,
        to: DType,
        args: &[ArrayOrScalar<'_>],
        shape: &Joint<'_>,
    ) -> Option<Array> {
        let (mut guard, mut task) =
            (BorrowGuard::default(), EagerLaunch::of_op(op, size_of(shape)));
        prepare(&mut task, to, args, shape, &mut guard)?;
        let array = Array::made(task.dtype(), shape, Origin::Eager, guard.depth + 1, |room| {
            self.compute(&task, room)
        })?;
        // The listener may lock the operands, so the guard is dropped first.
        drop(guard);
        self.tell(&task, shape);
        Some(array)
    }

    /// The result of a scalar operation on real numbers; as of `apply`.
    pub fn number(&self, op: Op, numbers: &[Scalar]) -> Option<Scalar> {
        let task = EagerLaunch::of_numbers(op, numbers)?;
        let mut bits = 0u64;
        self.compute(&task, bytemuck::bytes_of_mut(&mut bits))?;
        self.tell(&task, &[]);
        Some(Scalar::new(task.dtype(), bits))
    }

    /// The result of a function without loops on operands that broadcast to a shape; as of `apply`.
    pub fn call(
        &self,
        function: &Arc<ScalarFunction>,
        args: &[ArrayOrScalar<'_>],
        shape: &Joint<'_>,
    ) -> Option<Array> {
        let (mut guard, mut task) =
            (BorrowGuard::default(), EagerLaunch::of_call(function, size_of(shape))?);
        prepare(&mut task, DType::Bool, args, shape, &mut guard)?;
        let array = Array::made(task.dtype(), shape, Origin::Eager, guard.depth + 1, |room| {
            self.compute(&task, room)
        })?;
        drop(guard);
        self.tell(&task, shape);
        Some(array)
    }

    /// Puts the results of a scalar operation where an array shows elements of a base that has its own;
    /// `None`, with nothing done, as for `apply`, or where they are not of its dtype and shape.
    pub fn update(
        &self,
        op: Op,
        args: &[ArrayOrScalar<'_>],
        shape: &Joint<'_>,
        dest: &Array,
    ) -> Option<()> {
        // To look at where few results go takes longer than to copy them.
        if size_of(shape) * dest.dtype().size() >= T.written_there
            && self.update_there(op, args, shape, dest).is_some()
        {
            return Some(());
        }
        let (mut guard, mut task) =
            (BorrowGuard::default(), EagerLaunch::of_op(op, size_of(shape)));
        prepare(&mut task, DType::Bool, args, shape, &mut guard)?;
        if task.dtype() != dest.dtype() || **shape != *dest.shape() {
            return None;
        }
        let mut made = OwnedElements::blank(task.dtype(), Origin::Eager, guard.depth + 1);
        self.compute(&task, made.make_room(shape).ok()?)?;
        drop(guard);
        self.tell(&task, shape);
        let mut current = dest.current_to_write()?;
        let own = current.own_mut()?;
        match dest.is_whole() {
            true => own.replace(made)?,
            false => {
                let (bytes, size) = (own.make_mut()?, dest.dtype().size());
                element_bytes::put(bytes, size, dest.layout(), made.bytes());
            }
        }
        current.version += 1;
        Some(())
    }

    /// As `update`, by a launch that writes the results where they go; `None`, with nothing done, also where they
    /// overlap with other operands or each other, or others read the memory.
    fn update_there(
        &self,
        op: Op,
        args: &[ArrayOrScalar<'_>],
        shape: &Joint<'_>,
        dest: &Array,
    ) -> Option<()> {
        let mut current = dest.current_to_write()?;
        let own = current.own_mut().filter(|own| own.is_alone())?;
        if **shape != *dest.shape() || !dest.layout().is_injective() {
            return None;
        }
        let mut guard = BorrowGuard::beside(dest, own.start(), own.depth);
        let mut task = EagerLaunch::of_op(op, size_of(shape));
        task.write_to(dest, own.start());
        prepare(&mut task, DType::Bool, args, shape, &mut guard)?;
        if task.dtype() != dest.dtype() || !task.may_write() {
            return None;
        }
        own.make_mut()?;
        self.compute(&task, &mut [])?;
        if dest.is_whole() && !own.is_pinned() {
            own.depth = guard.depth + 1;
        }
        current.version += 1;
        // The listener may lock the operands, so they are let go first.
        drop((guard, current));
        self.tell(&task, shape);
        Some(())
    }

    /// The reduction of all elements to one, where they lie side by side or along one axis; `None` where it has to be
    /// looked at more closely.
    pub fn whole(&self, op: Op, array: &Array) -> Option<Array> {
        match array.size() {
            // One element without axes.
            1..=REDUCE_CHUNK => self.whole_step(op, array)?.reshape(&[]),
            _ => self.whole_of_chunks(op, array),
        }
    }

    /// Reduces an array of several chunks; the few results of these are combined here, as a second launch would take
    /// longer.
    fn whole_of_chunks(&self, op: Op, array: &Array) -> Option<Array> {
        let guard = BorrowGuard::of(&[ArrayOrScalar::Array(array)])?;
        let task = EagerLaunch::whole(op, array, guard.operands.first()?)?;
        let mut results: SmallVec<[u128; FEW_CHUNKS]> = SmallVec::from_elem(0, task.len());
        self.compute(&task, bytemuck::cast_slice_mut(&mut results[..]))?;
        drop(guard);
        let dtype = task.dtype();
        let results = bytemuck::cast_slice(&results[..]).get(..task.len() * dtype.size())?;
        let result = whole::reduced(op, dtype, results)?;
        let array = Array::own(dtype, &[], Origin::Eager, &result)?;
        self.tell(&task, &[task.len()]);
        Some(array)
    }

    /// One step of the reduction of all elements.
    fn whole_step(&self, op: Op, array: &Array) -> Option<Array> {
        let guard = BorrowGuard::of(&[ArrayOrScalar::Array(array)])?;
        let task = EagerLaunch::whole(op, array, guard.operands.first()?)?;
        let shape = [task.len()];
        let array =
            Array::made(task.dtype(), &shape, Origin::Eager, 0, |room| self.compute(&task, room))?;
        drop(guard);
        self.tell(&task, &shape);
        Some(array)
    }

    /// The product of two vectors, real ones of one dtype; `None` where an operand is not there.
    pub fn dot(&self, left: &Array, right: &Array, extents: &ProductExtents) -> Option<Scalar> {
        let guard = BorrowGuard::of(&[ArrayOrScalar::Array(left), ArrayOrScalar::Array(right)])?;
        let task = EagerLaunch::product(extents, left.dtype(), &guard.operands)?;
        let mut bytes = 0u64;
        self.compute(&task, bytemuck::bytes_of_mut(&mut bytes))?;
        drop(guard);
        self.tell(&task, &[]);
        Some(Scalar::new(task.dtype(), bytes))
    }

    /// The product of matrices, or of one with a vector, of one dtype; `None` where an operand is not there.
    pub fn product(&self, left: &Array, right: &Array, extents: &ProductExtents) -> Option<Array> {
        let guard = BorrowGuard::of(&[ArrayOrScalar::Array(left), ArrayOrScalar::Array(right)])?;
        let task = EagerLaunch::product(extents, left.dtype(), &guard.operands)?;
        let shape = extents.results(left.ndim(), right.ndim());
        let array =
            Array::made(task.dtype(), &shape, Origin::Eager, 0, |room| self.compute(&task, room))?;
        drop(guard);
        self.tell(&task, &shape);
        Some(array)
    }

    /// The results of a segment for the bases of these arrays; `None` where it was not planned, or cannot be done here
    /// and now, and while a listener is to be told of each launch.
    pub fn segment(&self, segment: &Segment, given: &[&Array]) -> Option<Vec<Array>> {
        let planned = segment.planned()?;
        if self.tracer.listens() {
            return None;
        }
        let mut state = now(&self.state)?;
        let host = state.registry.host()?;
        state.engine.launch_planned(segment, planned, given, host)
    }

    /// Computes a task into room for its results, if the host driver is open, free, and has the operation.
    fn compute(&self, task: &EagerLaunch, room: &mut [u8]) -> Option<()> {
        let mut state = now(&self.state)?;
        let host = state.registry.host()?;
        state.engine.compute_eagerly(host, task, room).ok()
    }

    /// Tells listeners what was computed.
    fn tell(&self, task: &EagerLaunch, shape: &[usize]) {
        self.tracer.event(|| {
            let host = now(&self.state).and_then(|state| state.registry.host_name());
            Event::Eager(task.dtype(), shape.into(), task.name(), host.unwrap_or_default())
        });
    }
}

impl Compute for EagerEvaluator {
    fn value(
        &self,
        dtype: DType,
        shape: &Shape,
        op: &NodeOp,
        operands: &[Operand],
    ) -> Option<Value> {
        let task = EagerLaunch::of(dtype, shape, op, operands)?;
        let mut made = OwnedElements::blank(dtype, Origin::Eager, 0);
        self.compute(&task, made.make_room(shape).ok()?)?;
        self.tell(&task, shape);
        made.take_value().ok()
    }

    fn array(
        &self,
        dtype: DType,
        shape: &[usize],
        op: &NodeOp,
        operands: &[ArrayOrScalar<'_>],
    ) -> Option<Array> {
        let guard = BorrowGuard::of(operands)?;
        let task = EagerLaunch::of_axes(dtype, shape, op, &guard.operands)?;
        let array = Array::made(dtype, shape, Origin::Eager, 0, |room| self.compute(&task, room))?;
        drop(guard);
        self.tell(&task, shape);
        Some(array)
    }

    fn copy(&self, array: &Array) -> Option<Array> {
        host_moves::copied(array)
    }

    fn join(&self, shape: &[usize], join: &Join, arrays: &[Array]) -> Option<Array> {
        host_moves::joined(shape, join, arrays)
    }
}

/// Gives the task of a scalar operation its operands, which are lent for it and broadcast to a shape; `None`
/// where one of them is not to be had, or the operation does not take them, or goes on with a chain.
#[inline(always)]
fn prepare<'a>(
    task: &mut EagerLaunch,
    to: DType,
    args: &[ArrayOrScalar<'a>],
    shape: &Joint<'_>,
    guard: &mut BorrowGuard<'a>,
) -> Option<()> {
    guard.take(args)?;
    if is_chain(guard.depth, shape) {
        return None;
    }
    let alike = matches!(shape, Joint::Same(_));
    task.take(to, &guard.operands, shape, alike)
}

/// The engine, if its lock is free.
fn now(state: &Mutex<EngineState>) -> Option<MutexGuard<'_, EngineState>> {
    match state.try_lock() {
        Ok(state) => Some(state),
        Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl Engine {
    /// Evaluates a task into memory of its own.
    ///
    /// # Errors
    /// Any of the driver's; the contents of the memory are undefined then.
    fn compute_eagerly(&mut self, host: usize, task: &EagerLaunch, room: &mut [u8]) -> Result<()> {
        let (device, stats) = self.device_and_stats(host)?;
        match task.launch(device, room) {
            Ok((done, operations)) => {
                stats.computed_at_once += 1;
                stats.kernels_compiled += u64::from(done.compiled);
                stats.kernels_specialised += u64::from(done.specialised);
                stats.launches += u64::from(done.launches);
                stats.instructions += operations;
                Ok(())
            }
            Err(error) => {
                if error.kind() == ErrorKind::DeviceLost {
                    self.lose_device(host);
                }
                Err(error)
            }
        }
    }
}
