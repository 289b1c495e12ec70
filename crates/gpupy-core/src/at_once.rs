//! Small work, computed at once: below some thousand elements, recording an operation and taking it
//! through a walk, a partition and a kernel costs more than computing it.
//!
//! Owns [`AtOnce`], which the recorder asks before it makes an expression. Where the operands lie in
//! host memory and nobody else has the engine, the host driver evaluates the one operation on the
//! caller's thread; what comes out is a value like one that was given. Invariants: the bits are those
//! of the recorded operation; what cannot be done here and now is recorded, and nothing is lost; no
//! device is opened; nobody waits for the engine.
//!
//! Not here: what is checked, folded and rewritten before (`record.rs`), one launch of an operation
//! (`task.rs`), writes to host memory (`host_write.rs`).

use crate::array::{Arg, Array};
use crate::context::State;
use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::evaluate::Engine;
use crate::functions;
use crate::host::HostBuffer;
use crate::ir::REDUCE_CHUNK;
use crate::op::Op;
use crate::task::Task;
use crate::trace::{Event, subject};
use crate::value::{NodeOp, Operand, Value};
use crate::view::{Shape, size_of};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// The most points of an operation that is computed at once. Then one operation takes half the time of
/// recording and evaluating it, two take three quarters, and ten take half as much again.
pub(crate) const MOST_POINTS: usize = 16 << 10;
/// The most points of a function, whose kernel takes longer to make.
const MOST_OF_FUNCTION: usize = 32 << 10;

/// Computes operations at once where it may and can.
#[derive(Default)]
pub(crate) struct AtOnce {
    /// The engine; `None` where all work is the chosen driver's.
    state: Option<Arc<Mutex<State>>>,
}

impl AtOnce {
    /// By the host driver of this engine.
    pub fn by(state: Arc<Mutex<State>>) -> AtOnce {
        AtOnce { state: Some(state) }
    }

    /// Whether small work is computed at once at all.
    pub fn is_allowed(&self) -> bool {
        self.state.is_some()
    }

    /// The result of a scalar operation, computed, where it is as simple as most; `None` where it has
    /// to be looked at more closely.
    pub fn plain(&self, op: Op, to: DType, args: &[Arg<'_>]) -> Option<Array> {
        let state = self.state.as_ref()?;
        let array = args.iter().find_map(|arg| match arg {
            Arg::Array(array) => Some(*array),
            Arg::Scalar(_) => None,
        })?;
        // Some powers are rewritten to what is exact.
        if op == Op::Pow || !is_small(array.shape(), &NodeOp::Apply(op)) {
            return None;
        }
        let mut keep = SmallVec::new();
        let task = Task::plain(op, to, args, array.shape(), &mut keep)?;
        let value = compute(state, &task, array.shape())?;
        Some(Array::from_value(value))
    }

    /// The reduction of all elements to one, computed, where they lie side by side; `None` where it
    /// has to be looked at more closely.
    pub fn whole(&self, op: Op, array: &Array) -> Option<Array> {
        let state = self.state.as_ref()?;
        let mut n = array.size();
        if !(1..=MOST_POINTS).contains(&n) || !op.reduces(array.dtype()) {
            return None;
        }
        let mut current = array.clone();
        loop {
            let (task, _keep) = Task::whole(op, &current)?;
            n = n.div_ceil(REDUCE_CHUNK);
            let shape = if n == 1 { &[][..] } else { std::slice::from_ref(&n) };
            let value = compute(state, &task, shape)?;
            current = Array::from_value(value);
            if n == 1 {
                return Some(current);
            }
        }
    }

    /// The value of an operation, computed; `None` where it has to be recorded.
    pub fn value(
        &self,
        dtype: DType,
        shape: &Shape,
        op: &NodeOp,
        operands: &[Operand],
    ) -> Option<Value> {
        let state = self.state.as_ref()?;
        if !is_small(shape, op) {
            return None;
        }
        let task = Task::of(dtype, shape, op, operands)?;
        compute(state, &task, shape)
    }
}

/// The value of a task, if the host driver is open and free and can do it.
fn compute(state: &Mutex<State>, task: &Task, shape: &[usize]) -> Option<Value> {
    let mut state = now(state)?;
    let host = state.registry.host()?;
    let buffer = Arc::new(HostBuffer::new(size_of(shape) * task.dtype().size()));
    state.engine.compute_at_once(host, task, &buffer).ok()?;
    let value = Value::computed(task.dtype(), shape.into(), buffer);
    if let Ok(device) = state.engine.device(host) {
        device.tracer.event(|| Event::AtOnce(subject(&value), task.name(), device.name));
    }
    Some(value)
}

/// Whether a result of this shape is little work.
fn is_small(shape: &[usize], op: &NodeOp) -> bool {
    let (most, points) = match op {
        NodeOp::Apply(op) if functions::cost(*op) > 1 => (MOST_OF_FUNCTION, size_of(shape)),
        NodeOp::Apply(_) | NodeOp::Index(_) => (MOST_POINTS, size_of(shape)),
        NodeOp::Reduce { n, .. } => {
            (MOST_POINTS, shape.iter().rev().skip(1).product::<usize>().saturating_mul(*n))
        }
        _ => return false,
    };
    (1..=most).contains(&points) && !shape.contains(&0)
}

/// The engine, if nobody has it.
fn now(state: &Mutex<State>) -> Option<MutexGuard<'_, State>> {
    match state.try_lock() {
        Ok(state) => Some(state),
        Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl Engine {
    /// Evaluates a task into a buffer of its own.
    ///
    /// # Errors
    /// Any of the driver's; what is in the buffer is nothing then.
    fn compute_at_once(&mut self, host: usize, task: &Task, buffer: &HostBuffer) -> Result<()> {
        let (device, stats) = self.device_and_stats(host)?;
        match task.launch(device, buffer) {
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
