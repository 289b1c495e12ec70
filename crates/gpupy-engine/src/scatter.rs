//! Scatters: a value with elements replaced at positions that another value gives.
//!
//! Owns the recording and the evaluation of writes by index arrays. Points are written in C order, so
//! that of several with one position the last counts; because of that order it is done in host memory,
//! by whichever device the operands were computed. Invariants: expressions that were recorded before
//! keep the old elements; where nobody else holds the old value, its memory is written in place, and
//! only when nothing can fail any more.
//!
//! Not here: which positions an index means (`pick.rs`), writes into views (`assign.rs`).

use crate::access;
use crate::array::{Arg, Array};
use crate::context::Context;
use crate::evaluate::Engine;
use crate::host::HostBuffer;
use crate::leases::of_own_bytes;
use crate::partition::Flow;
use crate::pick::Outside;
use crate::ranges::Ranges;
use crate::record::{Recorder, source_of};
use crate::strided;
use crate::trace::{Event, subject};
use crate::value::{Input, Kind, NodeOp, Operand, Value};
use crate::view::View;
use crate::walk::lost;
use gpupy_core::ir::AccessKind;
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{DType, Result};
use smallvec::smallvec;
use std::sync::Arc;

impl Context {
    /// Writes into the elements that index arrays name (see [`Context::pick`]), with broadcasting. Of
    /// several points that name one element, the last in C order counts.
    ///
    /// # Errors
    /// - those of [`Context::pick`] and [`Context::assign`]. The destination is unchanged then.
    pub fn put(
        &self,
        array: &Array,
        indices: &[Option<&Array>],
        at: usize,
        outside: Outside,
        source: Arg<'_>,
    ) -> Result<()> {
        let shape = self.picked_shape(array, indices, at)?;
        // What the source has to fit is an array of the picked elements.
        let target = View { offset: 0, strides: smallvec![0; shape.len()], shape };
        let source = source_of(&array.seen_as(target.clone()), source)?;
        if size_of(&target.shape) == 0 {
            return Ok(());
        }
        let positions = self.picked_positions(array, indices, at, outside)?;
        let positions = positions.operand(&target.shape)?;
        // Other threads may pin the base, or let go of it, at any time.
        let written = loop {
            if array.is_pinned() {
                match self.put_pinned(array, &target.shape, &positions, &source)? {
                    true => return Ok(()),
                    false => continue,
                }
            }
            let mut current = array.current();
            let Some(value) = current.value_mut()? else { continue };
            let (old, operands) = (value.clone(), (positions.clone(), source.clone()));
            *value = self.inner.recorder.scattered(old, &target.shape, operands.0, operands.1);
            let written = value.clone();
            current.version += 1;
            if let Some(face) = array.face()
                && !face.pass_on(&mut current)?
            {
                continue;
            }
            break written;
        };
        drop((positions, source));
        self.bound_written(array, &written)
    }

    /// Writes an operand to positions in a pinned base, both of this shape; false, with nothing done, where it is
    /// pinned no longer.
    fn put_pinned(
        &self,
        array: &Array,
        shape: &Shape,
        positions: &Operand,
        source: &Operand,
    ) -> Result<bool> {
        let elements = |operand: &Operand| match operand.0 {
            Input::Scalar(scalar) => {
                Ok(Elements::One(scalar.bytes()[..scalar.dtype.size()].into()))
            }
            _ => self.read_operand(operand, shape)?.to_vec().map(Elements::Gathered),
        };
        let (places, source) = (elements(positions)?, elements(source)?);
        let write = |to: &mut [u8]| write(to, array.dtype(), &places, &source, size_of(shape));
        Ok(of_own_bytes(array, write).is_some())
    }
}

impl Recorder {
    /// The value of a base after writing an operand to positions in it, both of this shape.
    fn scattered(&self, old: Value, shape: &Shape, positions: Operand, source: Operand) -> Value {
        let (dtype, own) = (old.dtype(), Shape::from(old.shape()));
        let op = NodeOp::Scatter(Box::new(shape.clone()));
        let old = (Input::Whole(old.id()), Some(old));
        Value::expr(&self.interner, dtype, own, op, smallvec![old, positions, source])
    }
}

/// Elements in C order, as bytes.
enum Elements {
    /// All the same.
    One(Vec<u8>),
    /// As they lie in a value's memory.
    Lying(Arc<HostBuffer>, usize),
    /// Brought into order.
    Gathered(Vec<u8>),
}

impl Elements {
    fn get(&self, number: usize, size: usize) -> &[u8] {
        match self {
            Elements::One(bytes) => bytes,
            // SAFETY: the elements are in the evaluated map of a value that is held meanwhile.
            Elements::Lying(buffer, first) => unsafe {
                buffer.bytes((first + number) * size..(first + number + 1) * size)
            },
            Elements::Gathered(bytes) => &bytes[number * size..(number + 1) * size],
        }
    }
}

impl Engine {
    /// Evaluates all of a scatter's value, or tells what it needs first.
    pub fn scatter(&mut self, value: &Value, device: usize) -> Result<Flow> {
        let Kind::Expr { op: NodeOp::Scatter(shape), inputs } = &value.0.kind else {
            return Ok(Flow::Done);
        };
        let mut operands = value.state().operands.clone();
        if operands.len() != inputs.len() {
            return Err(lost(value.id()));
        }
        let open = |operand: &Value| {
            let pending = !operand.state().computed.covers(0..operand.len());
            pending && !matches!(operand.0.kind, Kind::Constant(_))
        };
        let needs: Vec<_> = operands.iter().flatten().filter(|operand| open(operand)).collect();
        if !needs.is_empty() {
            let all = needs.into_iter().map(|operand| (operand.clone(), 0..operand.len()));
            return Ok(Flow::Needs(all.collect()));
        }
        let places = self.in_order(&inputs[1], operands[1].as_ref(), shape)?;
        let source = self.in_order(&inputs[2], operands[2].as_ref(), shape)?;
        let Some(old) = operands.first_mut().and_then(Option::take) else {
            return Err(lost(value.id()));
        };
        self.bring_to_host(&old, 0..old.len())?;
        let (len, size) = (value.len(), value.dtype().size());
        // What is held here is not the old value's only handle.
        let copied = old.host_buffer()?;
        let from = Arc::downgrade(&copied);
        drop((old, copied));
        let taken = take_memory(value);
        let (open, stats) = self.device_and_stats(device)?;
        stats.in_place += u64::from(taken.is_some());
        open.tracer.event(|| Event::Assigned(subject(value), taken.is_some()));
        let memory = match taken {
            Some(memory) => {
                value.state().host = Some(memory.clone());
                memory
            }
            None => {
                let from = from.upgrade().ok_or_else(|| lost(value.id()))?;
                let to = value.host_buffer()?;
                // SAFETY: all of the old value is in its evaluated map, so nobody writes it; nothing
                // of the new one is, so nobody reads it; we hold the engine's lock.
                let (from, all) =
                    unsafe { (from.bytes(0..len * size), to.bytes_mut(0..len * size)) };
                all.copy_from_slice(from);
                to
            }
        };
        // SAFETY: nothing of the new value is in its evaluated map, so nobody reads it.
        let to = unsafe { memory.bytes_mut(0..len * size) };
        write(to, value.dtype(), &places, &source, size_of(shape));
        value.state().on_host.insert(0..len);
        value.mark_computed(0..len);
        Ok(Flow::Done)
    }

    /// The elements that an input reads over a shape, in C order.
    fn in_order(
        &mut self,
        input: &Input,
        operand: Option<&Value>,
        shape: &[usize],
    ) -> Result<Elements> {
        let operand = match (input, operand) {
            (Input::Scalar(scalar), _) => {
                return Ok(Elements::One(scalar.bytes()[..scalar.dtype.size()].to_vec()));
            }
            (_, Some(operand)) => operand,
            (Input::Whole(id) | Input::View(id, _), None) => return Err(lost(*id)),
        };
        let at = input.access(shape);
        let reach = access::reach(&at, shape);
        self.bring_to_host(operand, reach.clone())?;
        let (buffer, size) = (operand.host_buffer()?, operand.dtype().size());
        if reach.len() == size_of(shape) && access::kind(&at, shape) == AccessKind::Contiguous {
            return Ok(Elements::Lying(buffer, reach.start));
        }
        // SAFETY: what the access names is in the evaluated map, so nobody writes it.
        let bytes = unsafe { buffer.bytes(0..reach.end * size) };
        Ok(Elements::Gathered(strided::gather(bytes, size, &at, shape)?))
    }
}

/// Writes so many elements to their places; those outside are left out.
fn write(to: &mut [u8], dtype: DType, places: &Elements, source: &Elements, count: usize) {
    match dtype.size() {
        1 => write_sized::<1>(to, places, source, count),
        2 => write_sized::<2>(to, places, source, count),
        4 => write_sized::<4>(to, places, source, count),
        8 => write_sized::<8>(to, places, source, count),
        _ => write_sized::<16>(to, places, source, count),
    }
}

/// The same of elements of `N` bytes.
fn write_sized<const N: usize>(to: &mut [u8], places: &Elements, source: &Elements, count: usize) {
    for number in 0..count {
        let mut place = [0; 4];
        place.copy_from_slice(places.get(number, 4));
        let place = usize::try_from(i32::from_ne_bytes(place)).ok();
        if let Some(element) = place.and_then(|place| to.get_mut(place * N..place * N + N)) {
            element.copy_from_slice(source.get(number, N));
        }
    }
}

/// The old value's memory, when nobody else has the value or was given the memory: it is no more then.
fn take_memory(value: &Value) -> Option<Arc<HostBuffer>> {
    let state = value.state();
    let old = state.operands.first()?.as_ref()?;
    if !old.is_sole() {
        return None;
    }
    let old = old.clone();
    drop(state);
    let mut state = old.state();
    let memory = state.host.take_if(|host| Arc::strong_count(host) == 1)?;
    state.on_host = Ranges::default();
    drop(state);
    old.mark_lost(0..old.len());
    Some(memory)
}
