//! Operations on pinned bases: computed before they return, from the pinned elements and into them.
//!
//! Owns [`Leases`]. A lease is a value over pinned memory itself that lives as long as one operation. The operation is
//! recorded on leases and evaluated at once. Its result goes to memory of its own. If the operation has a pinned
//! output, the result is an assignment to the output's lease, which the engine does in place where each element is read
//! only where it is written. Drivers that work on memory of their own get a copy. Invariant: when an operation returns,
//! nothing refers to pinned memory any more.
//!
//! Not here: pins (`pin.rs`), when an assignment is done in place (`host_assign.rs`, `in_place.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::context::Context;
use crate::context::read::HostArray;
use crate::graph::value::{Input, InputLayout, Operand, Value};
use crate::memory::element_bytes;
use crate::memory::host_buffer::HostBuffer;
use crate::memory::view::View;
use crate::record::recorder::source_of;
use gpupy_core::{DType, Error, ErrorKind, Result};
use smallvec::SmallVec;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

/// Arguments of an operation.
type LeasedArgs<'a> = SmallVec<[ArrayOrScalar<'a>; 3]>;

/// The leases of one operation, one for each base and dtype.
#[derive(Default)]
struct Leases(SmallVec<[Value; 3]>);

impl Leases {
    /// The elements of a pinned base, or of a dtype view of one; `None` where it is not pinned, or memory does not
    /// show the elements as they are.
    fn value(&mut self, array: &Array) -> Option<Value> {
        let (dtype, start) = (array.dtype(), usize::try_from(array.base_offset()).ok()?);
        // As a dtype view, every other number than 0 is true.
        let is_there = array.dtype_view().is_none()
            || dtype != DType::Bool && start.is_multiple_of(dtype.size());
        let mut current = array.owner_current();
        let own = current.own_mut().filter(|own| is_there && own.is_pinned())?;
        let pinned = own.pin(false).ok()?;
        drop(current);
        let memory = NonNull::new(pinned.start().as_ptr().wrapping_add(start))?;
        let len = array.base_len();
        let known =
            |value: &&Value| value.dtype() == dtype && value.len() == len && lies_at(value, memory);
        if let Some(value) = self.0.iter().find(known) {
            return Some(value.clone());
        }
        // SAFETY: the bytes are the pinned buffer's, which the lease keeps. They are written only as the output of the
        // operation, whose readers are known.
        let buffer = unsafe { HostBuffer::lent(memory, len * dtype.size(), Box::new(pinned)) };
        let value = Value::host(dtype, &[len], Arc::new(buffer));
        self.0.push(value.clone());
        Some(value)
    }

    /// The array over its pinned memory itself.
    fn array(&mut self, array: &Array) -> Option<Array> {
        let value = self.value(array)?;
        Some(Array::with_view(value, array.layout().clone()))
    }

    /// Whether no other lease has memory in common with this one, as one under another dtype has, or one of
    /// foreign memory. What each element is computed from is known of one lease only.
    fn is_apart(&self, value: &Value) -> bool {
        let of = |value: &Value| {
            let start = value.state().host.as_ref().map_or(0, |host| host.as_ptr() as usize);
            start..start + value.byte_len() as usize
        };
        let own = of(value);
        let meets = |other: Range<usize>| other.start < own.end && own.start < other.end;
        !self.0.iter().any(|other| other.id() != value.id() && meets(of(other)))
    }

    /// Whether nothing refers to pinned memory but these.
    fn are_all(&self) -> bool {
        self.0.iter().all(Value::is_sole)
    }
}

/// Whether a value's elements in host memory begin at an address.
fn lies_at(value: &Value, memory: NonNull<u8>) -> bool {
    let state = value.state();
    state.host.as_ref().is_some_and(|host| std::ptr::eq(host.as_ptr(), memory.as_ptr()))
}

impl Context {
    /// Records an operation on arrays. Where one of them is pinned, the operation is computed before this
    /// returns: on drivers that work in host memory from the pinned elements, on others from a copy.
    pub(crate) fn recorded(
        &self,
        args: &[ArrayOrScalar<'_>],
        record: impl Fn(&[ArrayOrScalar<'_>]) -> Result<Array>,
    ) -> Result<Array> {
        let made = self.over_leases(args, None, |args| record(args).map(Some))?;
        // Something is recorded always.
        made.ok_or_else(|| Error::new(ErrorKind::Invalid, "record"))
    }

    /// Records an operation on arrays, of which `record` may make nothing. Where `dest` is pinned, and the
    /// result has its dtype and shape, the result may be evaluated right there; then it is `dest` itself, which
    /// has the new elements.
    ///
    /// # Errors
    /// Those of `record`. Any error of the driver; `dest` has its old elements then.
    pub fn recorded_into(
        &self,
        dest: &Array,
        args: &[ArrayOrScalar<'_>],
        record: impl Fn(&[ArrayOrScalar<'_>]) -> Result<Option<Array>>,
    ) -> Result<Option<Array>> {
        if dest.is_pinned() { self.over_leases(args, Some(dest), record) } else { record(args) }
    }

    fn over_leases(
        &self,
        args: &[ArrayOrScalar<'_>],
        dest: Option<&Array>,
        record: impl Fn(&[ArrayOrScalar<'_>]) -> Result<Option<Array>>,
    ) -> Result<Option<Array>> {
        let is_pinned = |arg: &ArrayOrScalar<'_>| matches!(arg, ArrayOrScalar::Array(array) if array.is_to_be_pinned());
        let recorded =
            |args: &[ArrayOrScalar<'_>]| record(args)?.map(|made| self.bounded(made)).transpose();
        let are_pinned = args.iter().any(is_pinned);
        if are_pinned {
            for arg in args {
                if let ArrayOrScalar::Array(array) = arg
                    && array.is_to_be_pinned()
                {
                    self.complete_exports(array)?;
                }
            }
        }
        if dest.is_none() && !are_pinned || !self.leases()? {
            return recorded(args);
        }
        let mut leases = Leases::default();
        let old = dest.and_then(|dest| Some((dest, leases.value(dest)?)));
        let mut leased = |arg: &ArrayOrScalar<'_>| match arg {
            ArrayOrScalar::Array(array) => leases.array(array),
            ArrayOrScalar::Scalar(_) => None,
        };
        let leased: SmallVec<[Option<Array>; 3]> = args.iter().map(&mut leased).collect();
        let given = args.iter().zip(&leased);
        let given: LeasedArgs<'_> =
            given.map(|(arg, leased)| leased.as_ref().map_or(*arg, ArrayOrScalar::Array)).collect();
        let Some(made) = record(&given)? else { return Ok(None) };
        drop(given);
        drop(leased);
        if let Some((dest, old)) = old
            && (made.dtype(), made.shape()) == (dest.dtype(), dest.shape())
            && made.is_pending()
            && leases.is_apart(&old)
        {
            let source = source_of(dest, ArrayOrScalar::Array(&made))?;
            drop((made, leases));
            let new = self.inner.dispatch.recorder().written(old, dest, source);
            self.take_over(dest, new)?;
            return Ok(Some(dest.clone()));
        }
        self.while_others_run(|| self.evaluate(&[&made]))?;
        // A result that is an operand itself, as x * 1 is, still refers to the pinned memory.
        if leases.are_all() { Ok(Some(made)) } else { recorded(args) }
    }

    /// Whether the driver works on memory that other code may have, too.
    fn leases(&self) -> Result<bool> {
        let mut does = false;
        self.while_others_run(|| {
            does = self.evaluates_in_host_memory()?;
            Ok(())
        })?;
        Ok(does)
    }

    /// Like `recorded`, for an operation on one array.
    pub(crate) fn recorded_of(
        &self,
        array: &Array,
        record: impl Fn(&Array) -> Result<Array>,
    ) -> Result<Array> {
        self.recorded(&[ArrayOrScalar::Array(array)], |args| match args {
            [ArrayOrScalar::Array(array)] => record(array),
            _ => record(array),
        })
    }

    /// Like `recorded`, for an operation on any number of arrays.
    pub(crate) fn recorded_of_all(
        &self,
        arrays: &[Array],
        record: impl Fn(&[Array]) -> Result<Array>,
    ) -> Result<Array> {
        if !arrays.iter().any(Array::is_pinned) {
            return self.bounded(record(arrays)?);
        }
        let args: Vec<ArrayOrScalar<'_>> = arrays.iter().map(ArrayOrScalar::Array).collect();
        self.recorded(&args, |args| {
            let arrays = args.iter().filter_map(|arg| match arg {
                ArrayOrScalar::Array(array) => Some((*array).clone()),
                ArrayOrScalar::Scalar(_) => None,
            });
            record(&arrays.collect::<Vec<_>>())
        })
    }

    /// Evaluates the value that a pinned base, or a dtype view of one, has after a write into a view, if may be in the
    /// place of what was there.
    fn take_over(&self, dest: &Array, new: Value) -> Result<()> {
        self.while_others_run(|| self.bring(&new))?;
        let mut current = dest.owner_current();
        let start = current.own_mut().map(|own| own.start().as_ptr());
        let place = start.and_then(|start| {
            NonNull::new(start.wrapping_add(usize::try_from(dest.base_offset()).ok()?))
        });
        if place.is_some_and(|place| lies_at(&new, place)) {
            current.version += 1;
            return Ok(());
        }
        drop(current);
        // No more than what was written: others may write elsewhere meanwhile.
        self.assign(dest, ArrayOrScalar::Array(&Array::with_view(new, dest.layout().clone())))
    }

    /// Writes an operand into a view of a pinned base; false, with nothing done, where it is pinned no longer.
    ///
    /// # Errors
    /// Any error of the operand's evaluation; nothing is written then.
    pub(crate) fn write_pinned(&self, dest: &Array, source: &Operand) -> Result<bool> {
        self.complete_exports(dest)?;
        let size = dest.dtype().size();
        if let (Input::Scalar(scalar), _) = source {
            return Ok(put(dest, &scalar.bytes()[..size]));
        }
        let read = self.read_operand(source, dest.shape())?;
        Ok(match read.bytes() {
            Some(bytes) => put(dest, bytes),
            None => put(dest, &read.to_vec()?),
        })
    }

    /// The elements that an operand with a value has over a shape, in host memory.
    pub(crate) fn read_operand(
        &self,
        (input, value): &Operand,
        shape: &[usize],
    ) -> Result<HostArray> {
        // Only a scalar lacks a value.
        let lacks = || Error::new(ErrorKind::Invalid, "read");
        let value = value.clone().ok_or_else(lacks)?;
        let InputLayout { offset, strides } = input.layout(shape);
        let shown = Array::with_view(value, View { offset, shape: shape.into(), strides });
        let mut read = None;
        self.while_others_run(|| {
            read = Some(self.read(&shown)?);
            Ok(())
        })?;
        read.ok_or_else(lacks)
    }
}

/// What a function makes of the bytes of a base, or dtype view, that has its own elements; `None` where it has not.
pub(crate) fn of_own_bytes<R>(dest: &Array, write: impl FnOnce(&mut [u8]) -> R) -> Option<R> {
    let start = usize::try_from(dest.base_offset()).ok()?;
    let mut current = dest.owner_current();
    let bytes = current.own_mut()?.make_mut()?;
    let written = write(bytes.get_mut(start..start + dest.base_len() * dest.dtype().size())?);
    current.version += 1;
    Some(written)
}

/// Writes elements in C order, or one everywhere, where a view of a pinned base shows; false where it has no
/// elements of its own.
fn put(dest: &Array, data: &[u8]) -> bool {
    let size = dest.dtype().size();
    of_own_bytes(dest, |bytes| element_bytes::put(bytes, size, dest.layout(), data)).is_some()
}
