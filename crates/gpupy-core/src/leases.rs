//! Operations on pinned bases: computed before they return, from the pinned elements and into them.
//!
//! Owns [`Leases`]. A lease is a value over pinned memory itself, which lives as long as one operation. The
//! operation is recorded on leases and evaluated at once; what it gives goes to memory of its own, or, where the
//! operation has a pinned output, is an assignment to the output's lease, which the engine does in place where
//! each element is read only where it is written. Drivers that work on memory of their own get a copy.
//! Invariant: when an operation returns, nothing refers to pinned memory any more.
//!
//! Not here: pins (`pin.rs`), when an assignment is done in place (`assign.rs`, `in_place.rs`).

use crate::array::{Arg, Array};
use crate::context::Context;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::host::HostBuffer;
use crate::in_memory;
use crate::own::Own;
use crate::record::source_of;
use crate::value::{Input, Layout, Operand, Value};
use crate::view::View;
use smallvec::{SmallVec, smallvec};
use std::ptr::NonNull;
use std::sync::Arc;

/// Arguments of an operation.
type Args<'a> = SmallVec<[Arg<'a>; 3]>;

/// The leases of one operation, one for each base and dtype.
#[derive(Default)]
struct Leases(SmallVec<[Value; 3]>);

impl Leases {
    /// The elements of a pinned base, or of a face of one; `None` where it is not pinned, or memory does not
    /// show the elements as they are.
    fn value(&mut self, array: &Array) -> Option<Value> {
        let (dtype, start) = (array.dtype(), usize::try_from(array.base_offset()).ok()?);
        // As a face, every other number than 0 is true.
        let is_there =
            array.face().is_none() || dtype != DType::Bool && start.is_multiple_of(dtype.size());
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
        // SAFETY: the bytes are the pinned buffer's, which the lease keeps. Who writes them knows of all that
        // read them: they are written only as the output of the operation.
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
        args: &[Arg<'_>],
        record: impl Fn(&[Arg<'_>]) -> Result<Array>,
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
        args: &[Arg<'_>],
        record: impl Fn(&[Arg<'_>]) -> Result<Option<Array>>,
    ) -> Result<Option<Array>> {
        if dest.is_pinned() { self.over_leases(args, Some(dest), record) } else { record(args) }
    }

    fn over_leases(
        &self,
        args: &[Arg<'_>],
        dest: Option<&Array>,
        record: impl Fn(&[Arg<'_>]) -> Result<Option<Array>>,
    ) -> Result<Option<Array>> {
        let is_pinned = |arg: &Arg<'_>| matches!(arg, Arg::Array(array) if array.is_pinned());
        let recorded = |args: &[Arg<'_>]| record(args)?.map(|made| self.bounded(made)).transpose();
        if dest.is_none() && !args.iter().any(is_pinned) || !self.leases()? {
            return recorded(args);
        }
        let mut leases = Leases::default();
        let old = dest.and_then(|dest| Some((dest, leases.value(dest)?)));
        let mut leased = |arg: &Arg<'_>| match arg {
            Arg::Array(array) => leases.array(array),
            Arg::Scalar(_) => None,
        };
        let leased: SmallVec<[Option<Array>; 3]> = args.iter().map(&mut leased).collect();
        let given = args.iter().zip(&leased);
        let given: Args<'_> =
            given.map(|(arg, leased)| leased.as_ref().map_or(*arg, Arg::Array)).collect();
        let Some(made) = record(&given)? else { return Ok(None) };
        drop(given);
        drop(leased);
        if let Some((dest, old)) = old
            && (made.dtype(), made.shape()) == (dest.dtype(), dest.shape())
            && made.is_pending()
        {
            let source = source_of(dest, Arg::Array(&made))?;
            drop((made, leases));
            let new = self.inner.recorder.written(old, dest, source);
            self.replace_pinned(dest, new)?;
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

    /// The same for an operation on one array.
    pub(crate) fn recorded_of(
        &self,
        array: &Array,
        record: impl Fn(&Array) -> Result<Array>,
    ) -> Result<Array> {
        self.recorded(&[Arg::Array(array)], |args| match args {
            [Arg::Array(array)] => record(array),
            _ => record(array),
        })
    }

    /// The same for an operation on any number of arrays.
    pub(crate) fn recorded_of_all(
        &self,
        arrays: &[Array],
        record: impl Fn(&[Array]) -> Result<Array>,
    ) -> Result<Array> {
        if !arrays.iter().any(Array::is_pinned) {
            return self.bounded(record(arrays)?);
        }
        let args: Vec<Arg<'_>> = arrays.iter().map(Arg::Array).collect();
        self.recorded(&args, |args| {
            let arrays = args.iter().filter_map(|arg| match arg {
                Arg::Array(array) => Some((*array).clone()),
                Arg::Scalar(_) => None,
            });
            record(&arrays.collect::<Vec<_>>())
        })
    }

    /// Gives a pinned base, or a face of one, the elements of the value that `make` makes of those it has.
    ///
    /// # Errors
    /// Any error of the driver; the base has its old elements then.
    pub(crate) fn rewrite_pinned(
        &self,
        array: &Array,
        make: impl FnOnce(Value) -> Value,
    ) -> Result<()> {
        let lease = if self.leases()? { Leases::default().value(array) } else { None };
        let old = lease.map_or_else(|| array.value(), Ok)?;
        self.replace_pinned(array, make(old))
    }

    /// Gives a pinned base, or a face of one, the elements of a value, which is evaluated, maybe in the place of
    /// what was there.
    fn replace_pinned(&self, array: &Array, new: Value) -> Result<()> {
        self.while_others_run(|| self.bring(&new))?;
        let mut current = array.owner_current();
        in_memory::settled(&mut current);
        let start = current.own_mut().map(|own| own.start().as_ptr());
        let place = start.and_then(|start| {
            NonNull::new(start.wrapping_add(usize::try_from(array.base_offset()).ok()?))
        });
        if place.is_some_and(|place| lies_at(&new, place)) {
            current.version += 1;
            return Ok(());
        }
        drop(current);
        let whole = array.seen_as(View::contiguous(&[array.base_len()]));
        let layout = Layout { offset: 0, strides: smallvec![1] };
        self.write_pinned(&whole, (Input::View(new.id(), Box::new(layout)), Some(new)))
    }

    /// Writes an operand into a view of a pinned base.
    ///
    /// # Errors
    /// Any error of the operand's evaluation; nothing is written then.
    pub(crate) fn write_pinned(&self, dest: &Array, source: Operand) -> Result<()> {
        let size = dest.dtype().size();
        match source {
            (Input::Scalar(scalar), _) => put(dest, &scalar.bytes()[..size]),
            (input, Some(value)) => {
                let Layout { offset, strides } = input.layout(dest.shape());
                let shown = View { offset, shape: dest.shape().into(), strides };
                let shown = Array::with_view(value, shown);
                let mut read = None;
                self.while_others_run(|| {
                    read = Some(self.read(&shown)?);
                    Ok(())
                })?;
                match read.as_ref().map(|read| (read.bytes(), read)) {
                    Some((Some(bytes), _)) => put(dest, bytes),
                    Some((None, read)) => put(dest, &read.to_vec()?),
                    None => Err(Error::new(ErrorKind::Lost, "write")),
                }
            }
            // Only a scalar lacks a value.
            (_, None) => Err(Error::new(ErrorKind::Invalid, "write")),
        }
    }
}

/// Writes elements in C order, or one everywhere, where a view of a pinned base shows.
fn put(dest: &Array, data: &[u8]) -> Result<()> {
    let (size, start) = (dest.dtype().size(), dest.base_offset() as usize);
    let mut current = dest.owner_current();
    in_memory::settled(&mut current);
    let all = current.own_mut().map(Own::bytes_mut);
    let Some(bytes) = all.and_then(|all| all.get_mut(start..start + dest.base_len() * size)) else {
        return dest.check_there();
    };
    in_memory::put(bytes, size, dest.layout(), data);
    current.version += 1;
    Ok(())
}
