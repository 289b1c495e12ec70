//! Scatters in host memory: a value with elements replaced at the positions that another value gives.
//!
//! Owns the evaluation of writes by index arrays. Points are written in C order, so that of several points with one
//! position the last counts. Because of that order a scatter is done in host memory, whichever device computed the
//! operands. Invariants: expressions that were recorded before keep the old elements; if the old value has no other
//! owner, its memory is written in place, and only when nothing can fail any more.
//!
//! Not here: how writes are recorded (`context/indexing/put.rs`), the positions that an index means (`fancy_index.rs`),
//! writes into views (`host_assign.rs`).

use crate::execute::evaluate::Engine;
use crate::explain::trace::subject;
use crate::explain::tracer::Doing;
use crate::graph::value::{HostSlice, Input, NodeOp, Value, ValueKind};
use crate::memory::access;
use crate::memory::host_buffer::HostBuffer;
use crate::memory::ranges::Ranges;
use crate::memory::strided;
use crate::schedule::walk::lost;
use crate::thresholds::T;
use gpupy_core::ir::AccessKind;
use gpupy_core::shape::size_of;
use gpupy_core::{DType, Result};
use std::sync::Arc;

/// Elements in C order, as bytes.
pub(crate) enum SourceElements {
    /// All the same.
    One(Vec<u8>),
    /// As they lie in a value's memory.
    Lying(HostSlice),
    /// Brought into order.
    Gathered(Vec<u8>),
}

impl SourceElements {
    /// Each in turn, of `N` bytes: the one forever, others as many as there are.
    fn iter<const N: usize>(&self) -> impl Iterator<Item = [u8; N]> + '_ {
        let (bytes, one) = match self {
            SourceElements::One(bytes) => (&bytes[..], true),
            SourceElements::Lying(bytes) => (&bytes[..], false),
            SourceElements::Gathered(bytes) => (&bytes[..], false),
        };
        let (elements, _) = bytes.as_chunks::<N>();
        let mut next = 0;
        std::iter::from_fn(move || {
            let element = elements.get(next).copied();
            next += usize::from(!one);
            element
        })
    }
}

impl Engine {
    /// Evaluates all of a scatter's value, whose operands are computed.
    pub fn scatter(&mut self, value: &Value, device: usize) -> Result<()> {
        let ValueKind::Expr { op: NodeOp::Scatter(shape), inputs } = &value.0.kind else {
            return Ok(());
        };
        let mut operands = value.state().operands.clone();
        if operands.len() != inputs.len() {
            return Err(lost(value.id()));
        }
        let places = self.in_order(&inputs[1], operands[1].as_ref(), shape)?;
        let source = self.in_order(&inputs[2], operands[2].as_ref(), shape)?;
        let Some(old) = operands.first_mut().and_then(Option::take) else {
            return Err(lost(value.id()));
        };
        self.bring_to_host(&old, 0..old.len())?;
        let began = self.tracer.clock();
        let replaced = began.map(|_| subject(&old));
        let len = value.len();
        let replaced_by = old.id();
        // The handle here is not the old value's only one.
        drop(old);
        let taken = take_memory(value);
        let is_taken = taken.is_some();
        let (_, stats) = self.device_and_stats(device)?;
        stats.in_place += u64::from(is_taken);
        let from = match taken {
            Some(memory) => {
                value.state().host = Some(memory);
                None
            }
            None => {
                let old = value.state().operands.first().cloned().flatten();
                let from = old.and_then(|old| old.host_slice(0..len));
                Some(from.ok_or_else(|| lost(value.id()))?)
            }
        };
        value.write_host(0..len, |to| {
            if let Some(from) = &from {
                to.copy_from_slice(from);
            }
            write(to, value.dtype(), &places, &source, size_of(shape));
            Ok(())
        })?;
        if is_taken {
            self.inherit(replaced_by, value, || written(&places, size_of(shape), len));
        }
        value.mark_computed(0..len);
        self.tracer.step(|| {
            let mut doing = Doing::on_host("scatter");
            for (input, operand) in inputs.iter().zip(&operands).skip(1) {
                if let Some(operand) = operand {
                    doing = doing.reads(operand, access::reach(&input.access(shape), shape));
                }
            }
            let (read, in_place_of) = match is_taken {
                true => (None, replaced),
                false => (replaced, None),
            };
            let doing = doing.reads_named(read).writes(value, 0..len).in_place_of(in_place_of);
            doing.operations(size_of(shape) as u64).since(began)
        });
        Ok(())
    }

    /// The elements that an input reads over a shape, in C order.
    fn in_order(
        &mut self,
        input: &Input,
        operand: Option<&Value>,
        shape: &[usize],
    ) -> Result<SourceElements> {
        let operand = match (input, operand) {
            (Input::Scalar(scalar), _) => {
                return Ok(SourceElements::One(scalar.bytes()[..scalar.dtype.size()].to_vec()));
            }
            (_, Some(operand)) => operand,
            (Input::Whole(id) | Input::View(id, _), None) => return Err(lost(*id)),
        };
        let at = input.access(shape);
        let reach = access::reach(&at, shape);
        let (bytes, size) = (self.brought(operand, reach.clone())?, operand.dtype().size());
        if reach.len() == size_of(shape) && access::kind(&at, shape) == AccessKind::Contiguous {
            return Ok(SourceElements::Lying(bytes));
        }
        let at = access::within(&at, &reach);
        Ok(SourceElements::Gathered(strided::gather(&bytes, size, &at, shape)?))
    }
}

/// Writes so many elements to their places; those outside are left out.
pub(crate) fn write(
    to: &mut [u8],
    dtype: DType,
    places: &SourceElements,
    source: &SourceElements,
    count: usize,
) {
    match dtype.size() {
        1 => write_sized::<1>(to, places, source, count),
        2 => write_sized::<2>(to, places, source, count),
        4 => write_sized::<4>(to, places, source, count),
        8 => write_sized::<8>(to, places, source, count),
        _ => write_sized::<16>(to, places, source, count),
    }
}

/// Writes elements of `N` bytes, as `write` does.
fn write_sized<const N: usize>(
    to: &mut [u8],
    places: &SourceElements,
    source: &SourceElements,
    count: usize,
) {
    let (to, _) = to.as_chunks_mut::<N>();
    for (place, element) in places.iter::<4>().zip(source.iter::<N>()).take(count) {
        let place = usize::try_from(i32::from_ne_bytes(place)).ok();
        if let Some(to) = place.and_then(|place| to.get_mut(place)) {
            *to = element;
        }
    }
}

/// The positions of so many elements that are among the first `len`.
fn written(places: &SourceElements, count: usize, len: usize) -> Ranges {
    let place =
        |place| usize::try_from(i32::from_ne_bytes(place)).ok().filter(|place| *place < len);
    let all = places.iter::<4>().take(count).filter_map(place);
    Ranges::around(all, count, len).coarse(T.sent_ranges)
}

/// The old value's memory, when the value has no other handle and the memory was not given out; the old value is gone
/// then.
fn take_memory(value: &Value) -> Option<Arc<HostBuffer>> {
    let state = value.state();
    let old = state.operands.first()?.as_ref()?;
    let memory = old.take_memory(true)?;
    old.state().on_host = Ranges::default();
    old.mark_lost(0..old.len());
    Some(memory)
}
