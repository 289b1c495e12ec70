//! Small work, computed at once: below some thousand elements, recording an operation and taking it
//! through a walk, a partition and a kernel costs more than computing it.
//!
//! Owns [`AtOnce`], which the recorder asks before it makes an expression. Where the operands lie in
//! host memory and nobody else has the engine, the host driver evaluates the one operation on the
//! caller's thread; what comes out is a value like one that was given. Invariants: the bits are those
//! of the recorded operation; what cannot be done here and now is recorded, and nothing is lost; no
//! device is opened; nobody waits for the engine.
//!
//! Not here: what is checked, folded and rewritten before (`recorder.rs`), one launch of an operation
//! (`task.rs`), writes to host memory (`in_memory.rs`).

use crate::array::base::{Arg, Array, checked_size};
use crate::array::held::Held;
use crate::array::own::Own;
use crate::eager::lent::Loan;
use crate::eager::task::Task;
use crate::execute::evaluate::Engine;
use crate::execute::state::State;
use crate::explain::trace::Event;
use crate::explain::tracer::Tracer;
use crate::graph::value::{Kind, NodeOp, Operand, Origin, Value};
use crate::graph::whole::Whole;
use crate::memory::little::MOST_POINTS;
use crate::memory::seen;
use gpupy_core::functions;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::op::Op;
use gpupy_core::op_eval::whole;
use gpupy_core::shape::{Shape, broadcast_shapes, size_of};
use gpupy_core::{DType, ErrorKind, Result, Scalar};
use smallvec::SmallVec;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// The most points of a function, whose kernel takes longer to make.
const MOST_OF_FUNCTION: usize = 32 << 10;

/// The most products of a matrix product that are computed at once. Nothing fuses with one, so this is
/// only about Python's lock, which is held for some 100 µs.
const MOST_PRODUCTS: usize = 2 << 20;
/// The most elements of a sort that are computed at once: what takes some 20 µs.
const MOST_SORTED: usize = 2 << 10;
/// Operations of a chain that are computed at once; the next is recorded, for the rest of the chain to
/// be one kernel.
const CHAIN: u32 = 3;
/// The fewest points for which that pays: below, twelve operations at once take less than one kernel.
const CHAINED_FROM: usize = 12 << 10;

/// Computes operations at once where it may and can.
#[derive(Default)]
pub(crate) struct AtOnce {
    /// The engine; `None` where all work is the chosen driver's.
    state: Option<Arc<Mutex<State>>>,
    tracer: Tracer,
}

impl AtOnce {
    /// By the host driver of this engine.
    pub fn by(state: Arc<Mutex<State>>, tracer: Tracer) -> AtOnce {
        AtOnce { state: Some(state), tracer }
    }

    /// Whether small work is computed at once at all.
    pub fn is_allowed(&self) -> bool {
        self.state.is_some()
    }

    /// The result of a scalar operation on operands that broadcast, computed; `None` where that is not
    /// little work, or cannot be done here and now.
    pub fn apply(&self, op: Op, to: DType, args: &[Arg<'_>]) -> Option<Array> {
        let state = self.state.as_ref()?;
        let shape = little(op, args)?;
        let (mut loan, mut task) = (Loan::default(), Task::of_op(op, size_of(&shape)));
        prepare(&mut task, to, args, &shape, &mut loan)?;
        let (array, room) = Array::blank(task.dtype(), &shape, Origin::AtOnce, loan.depth + 1)?;
        compute(state, &task, room)?;
        // Whoever is told may want the operands.
        drop(loan);
        self.tell(&task, &shape);
        Some(array)
    }

    /// Puts the results of a scalar operation where an array shows elements of a base that has its own;
    /// `None`, with nothing done, as for `apply`, or where they are not of its dtype and shape.
    pub fn update(&self, op: Op, args: &[Arg<'_>], dest: &Array) -> Option<()> {
        let state = self.state.as_ref()?;
        if !matches!(dest.current_to_write()?.held(), Held::Own(_)) {
            return None;
        }
        let shape = little(op, args)?;
        let (mut loan, mut task) = (Loan::default(), Task::of_op(op, size_of(&shape)));
        prepare(&mut task, DType::Bool, args, &shape, &mut loan)?;
        if task.dtype() != dest.dtype() || *shape != *dest.shape() {
            return None;
        }
        let mut made = Own::blank(task.dtype(), Origin::AtOnce, loan.depth + 1);
        compute(state, &task, made.make_room(&shape).ok()?)?;
        drop(loan);
        self.tell(&task, &shape);
        let mut current = dest.current_to_write()?;
        let own = current.own_mut()?;
        match dest.is_whole() {
            true => own.replace(made),
            false => seen::put(own.bytes_mut(), dest.dtype().size(), dest.layout(), made.bytes()),
        }
        current.version += 1;
        Some(())
    }

    /// The reduction of all elements to one, computed, where they lie side by side; `None` where it
    /// has to be looked at more closely.
    pub fn whole(&self, op: Op, array: &Array) -> Option<Array> {
        let state = self.state.as_ref()?;
        let n = array.size();
        if !(1..=MOST_POINTS).contains(&n) || !op.reduces(array.dtype()) {
            return None;
        }
        match n {
            // One element without axes.
            1..=REDUCE_CHUNK => self.whole_step(state, op, array)?.reshape(&[]),
            _ => self.whole_of_chunks(state, op, array),
        }
    }

    /// The same of several chunks, whose few results are combined here: a second launch would take longer.
    fn whole_of_chunks(&self, state: &Mutex<State>, op: Op, array: &Array) -> Option<Array> {
        let loan = Loan::of(&[Arg::Array(array)])?;
        let task = Task::whole(op, array, loan.operands.first()?)?;
        let mut results = [0_u128; MOST_POINTS / REDUCE_CHUNK];
        compute(state, &task, NonNull::from(&mut results).cast())?;
        drop(loan);
        let dtype = task.dtype();
        let results = bytemuck::cast_slice(&results).get(..task.len() * dtype.size())?;
        let result = whole::reduced(op, dtype, results)?;
        let (array, room) = Array::blank(dtype, &[], Origin::AtOnce, 0)?;
        // SAFETY: there is room for an element.
        unsafe { room.as_ptr().copy_from_nonoverlapping(result.as_ptr(), dtype.size()) };
        self.tell(&task, &[task.len()]);
        Some(array)
    }

    /// One step of the reduction of all elements.
    fn whole_step(&self, state: &Mutex<State>, op: Op, array: &Array) -> Option<Array> {
        let loan = Loan::of(&[Arg::Array(array)])?;
        let task = Task::whole(op, array, loan.operands.first()?)?;
        let shape = [task.len()];
        let (array, room) = Array::blank(task.dtype(), &shape, Origin::AtOnce, 0)?;
        compute(state, &task, room)?;
        drop(loan);
        self.tell(&task, &shape);
        Some(array)
    }

    /// The product of two vectors, real ones of one dtype, computed; `None` where it has to be looked at more
    /// closely.
    pub fn dot(&self, left: &Array, right: &Array) -> Option<Scalar> {
        let state = self.state.as_ref()?;
        let ([n], dtype) = (left.shape(), left.dtype()) else { return None };
        let alike = right.shape() == [*n] && right.dtype() == dtype && !dtype.is_complex();
        if !alike || !(1..=MOST_PRODUCTS).contains(n) {
            return None;
        }
        let loan = Loan::of(&[Arg::Array(left), Arg::Array(right)])?;
        let task = Task::dot(*n, dtype, &loan.operands)?;
        let mut bytes = 0u64;
        compute(state, &task, NonNull::from(&mut bytes).cast())?;
        drop(loan);
        self.tell(&task, &[]);
        Some(Scalar::new(dtype, bytes))
    }

    /// The array of an operation on arrays as they are seen, which goes over whole axes, computed; `None`
    /// where it has to be recorded.
    pub fn array(
        &self,
        dtype: DType,
        shape: &[usize],
        op: &NodeOp,
        operands: &[Arg<'_>],
    ) -> Option<Array> {
        let state = self.state.as_ref()?;
        if !is_small(shape, op) {
            return None;
        }
        let loan = Loan::of(operands)?;
        if is_chain(loan.depth, shape) {
            return None;
        }
        let task = Task::of_axes(dtype, shape, op, &loan.operands)?;
        let (array, room) = Array::blank(dtype, shape, Origin::AtOnce, 0)?;
        compute(state, &task, room)?;
        drop(loan);
        self.tell(&task, shape);
        Some(array)
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
        let depth = |value: &Value| match value.0.kind {
            Kind::Host(Origin::AtOnce) => value.0.depth,
            _ => 0,
        };
        let depths = operands.iter().filter_map(|(_, value)| value.as_ref().map(depth));
        if is_chain(depths.max().unwrap_or(0), shape) {
            return None;
        }
        let task = Task::of(dtype, shape, op, operands)?;
        let mut made = Own::blank(dtype, Origin::AtOnce, 0);
        compute(state, &task, made.make_room(shape).ok()?)?;
        self.tell(&task, shape);
        made.take_value().ok()
    }

    /// Tells who wants to know what was computed.
    fn tell(&self, task: &Task, shape: &[usize]) {
        self.tracer.event(|| {
            let host = self.state.as_ref().and_then(|state| now(state)?.registry.host_name());
            Event::AtOnce(task.dtype(), shape.into(), task.name(), host.unwrap_or_default())
        });
    }
}

/// The shape that operands have together.
enum Joint<'a> {
    /// All that are arrays have it.
    Same(&'a [usize]),
    Broadcast(Shape),
}

impl Deref for Joint<'_> {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        match self {
            Joint::Same(shape) => shape,
            Joint::Broadcast(shape) => shape,
        }
    }
}

/// The shape of the results of a scalar operation, where they are little work; `None` also where no
/// operand is an array, or they do not broadcast.
#[inline(always)]
fn little<'a>(op: Op, args: &[Arg<'a>]) -> Option<Joint<'a>> {
    // Some powers are rewritten to what is exact.
    if op == Op::Pow {
        return None;
    }
    let shape = joint(args)?;
    are_few(op, size_of(&shape)).then_some(shape)
}

/// The shape that operands have together; `None` where none is an array, or they do not broadcast.
#[inline(always)]
fn joint<'a>(args: &[Arg<'a>]) -> Option<Joint<'a>> {
    // What most operations are.
    match args {
        [Arg::Array(a)] | [Arg::Array(a), Arg::Scalar(_)] | [Arg::Scalar(_), Arg::Array(a)] => {
            return Some(Joint::Same(a.shape()));
        }
        [Arg::Array(a), Arg::Array(b)] if a.shape() == b.shape() => {
            return Some(Joint::Same(a.shape()));
        }
        _ => {}
    }
    let mut shapes = args.iter().filter_map(|arg| match arg {
        Arg::Array(array) => Some(array.shape()),
        Arg::Scalar(_) => None,
    });
    let first = shapes.next()?;
    Some(match shapes.clone().all(|shape| shape == first) {
        true => Joint::Same(first),
        false => {
            Joint::Broadcast(broadcast(&[first].into_iter().chain(shapes).collect::<Shapes>())?)
        }
    })
}

/// Whether so many results of a scalar operation are little work.
#[inline]
fn are_few(op: Op, points: usize) -> bool {
    let most = || if functions::cost(op) > 1 { MOST_OF_FUNCTION } else { MOST_POINTS };
    points > 0 && (points <= MOST_POINTS || points <= most())
}

/// The shapes of operands.
type Shapes<'a> = SmallVec<[&'a [usize]; 3]>;

/// What shapes broadcast to, if they do.
#[cold]
fn broadcast(shapes: &[&[usize]]) -> Option<Shape> {
    let shape = broadcast_shapes(shapes).ok()?;
    checked_size(&shape).ok().map(|_| shape)
}

/// Gives the task of a scalar operation its operands, which are lent for it and broadcast to a shape; `None`
/// where one of them is not to be had, or the operation does not take them, or goes on with a chain.
#[inline(always)]
fn prepare<'a>(
    task: &mut Task,
    to: DType,
    args: &[Arg<'a>],
    shape: &Joint<'_>,
    loan: &mut Loan<'a>,
) -> Option<()> {
    loan.take(args)?;
    if is_chain(loan.depth, shape) {
        return None;
    }
    let alike = matches!(shape, Joint::Same(_));
    task.take(to, &loan.operands, shape, alike)
}

/// Puts the results of a task into memory that has room for them and is nobody else's, if the host
/// driver is open and free and can do it.
fn compute(state: &Mutex<State>, task: &Task, room: NonNull<u8>) -> Option<()> {
    let mut state = now(state)?;
    let host = state.registry.host()?;
    state.engine.compute_at_once(host, task, room).ok()
}

/// Whether an operation goes on with a chain that is better recorded.
fn is_chain(depth: u32, shape: &[usize]) -> bool {
    depth >= CHAIN && size_of(shape) >= CHAINED_FROM
}

/// Whether a result of this shape is little work.
fn is_small(shape: &[usize], op: &NodeOp) -> bool {
    let (most, points) = match op {
        NodeOp::Apply(op) => return are_few(*op, size_of(shape)),
        NodeOp::Index(_) => (MOST_POINTS, size_of(shape)),
        NodeOp::Reduce { n, .. } => {
            (MOST_POINTS, shape.iter().rev().skip(1).product::<usize>().saturating_mul(*n))
        }
        NodeOp::Whole(Whole::MatMul(k)) => (MOST_PRODUCTS, size_of(shape).saturating_mul(*k)),
        NodeOp::Whole(Whole::Sort | Whole::ArgSort) => (MOST_SORTED, size_of(shape)),
        NodeOp::Whole(Whole::Scan(_)) => (MOST_POINTS, size_of(shape)),
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
    /// Evaluates a task into memory of its own.
    ///
    /// # Errors
    /// Any of the driver's; what is in the memory is nothing then.
    fn compute_at_once(&mut self, host: usize, task: &Task, room: NonNull<u8>) -> Result<()> {
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
