//! Pins: exports of a base's memory to other code, which may read and write there at any time.
//!
//! Owns [`Pin`] and [`Pinned`]. A pinned base has its elements in one private host buffer. Every export of the
//! base, of its views and faces is a pointer into that buffer; writes by gpupy go straight there. An
//! operation that reads the base is computed before it returns, or reads a copy: what was recorded before
//! keeps the elements of that time. A base stays pinned until its last export is gone, or for its life where an
//! address was given out as a number. Invariants: no value, expression or device block refers to pinned
//! memory after an operation has returned; while a base is pinned, its elements do not move.
//!
//! Not here: the private buffer itself (`own.rs`), exports to Python (`gpupy-py/src/lend.rs`).

use crate::array::{Arg, Array};
use crate::context::Context;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::host::HostBuffer;
use crate::in_memory;
use crate::memory::{of_array, refused};
use crate::own::{Memory, Own};
use crate::value::{Input, Layout, Operand, Origin, Value};
use crate::view::{Shape, View, size_of};
use smallvec::{SmallVec, smallvec};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A buffer that a base shares with its exports.
pub(crate) struct Pinned {
    buffer: HostBuffer,
    /// An address was given out as a number, whose users cannot be counted.
    stays: AtomicBool,
}

impl Pinned {
    pub fn new(buffer: HostBuffer) -> Arc<Pinned> {
        Arc::new(Pinned { buffer, stays: AtomicBool::new(false) })
    }

    /// The first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.buffer.start()
    }

    /// Pins the base for its life.
    pub fn stay(&self) {
        self.stays.store(true, Ordering::Relaxed);
    }

    /// Whether there is any owner besides the base.
    pub fn is_shared(this: &Arc<Pinned>) -> bool {
        Arc::strong_count(this) > 1 || this.stays.load(Ordering::Relaxed)
    }

    /// The buffer, of which there is no export.
    pub fn into_buffer(self) -> HostBuffer {
        self.buffer
    }
}

/// How often a base is looked at that other threads give other values; then there is no room for a copy.
const TRIES: usize = 3;

/// Exports that are alive.
static PINS: AtomicU64 = AtomicU64::new(0);

/// Whether there ever was an array over memory of others. Only then may two bases have elements in common.
static OVER: AtomicBool = AtomicBool::new(false);

/// Whether elements of different bases may be the same ones.
#[inline]
pub(crate) fn bases_may_overlap() -> bool {
    OVER.load(Ordering::Relaxed)
}

/// How many exports are alive.
pub(crate) fn living() -> u64 {
    PINS.load(Ordering::Relaxed)
}

/// An export of an array's elements. Its memory stays where it is while the pin lives.
pub struct Pin {
    _pinned: Arc<Pinned>,
    start: NonNull<u8>,
    dtype: DType,
    view: View,
}

// SAFETY: the memory belongs to no thread; it is for the front end to order accesses, as NumPy does by
// Python's lock.
unsafe impl Send for Pin {}
// SAFETY: as above.
unsafe impl Sync for Pin {}

impl Pin {
    /// Shows what an array shows, in the memory of the base whose elements these are.
    fn of(array: &Array, pinned: Arc<Pinned>) -> Pin {
        PINS.fetch_add(1, Ordering::Relaxed);
        let away = if array.size() == 0 { 0 } else { array.byte_offset() };
        let start = pinned.start().as_ptr().wrapping_offset(away);
        let start = NonNull::new(start).unwrap_or(pinned.start());
        Pin { _pinned: pinned, start, dtype: array.dtype(), view: array.layout().clone() }
    }

    /// The elements' dtype.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Extents.
    pub fn shape(&self) -> &[usize] {
        &self.view.shape
    }

    /// Elements a step of each axis.
    pub fn strides(&self) -> &[isize] {
        &self.view.strides
    }

    /// The address of the first element.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        PINS.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Array {
    /// An array whose elements are those of another owner, in C order, which it reads and writes where they
    /// lie; it is pinned for its life.
    ///
    /// # Safety
    /// From `memory` on, the elements of the shape are aligned for the dtype, initialised, and may be read and
    /// written as long as `owner` lives.
    pub unsafe fn over(
        dtype: DType,
        shape: &[usize],
        memory: NonNull<u8>,
        owner: Box<dyn Send + Sync>,
    ) -> Array {
        OVER.store(true, Ordering::Relaxed);
        let bytes = size_of(shape) * dtype.size();
        // SAFETY: the caller's promise.
        let buffer = unsafe { HostBuffer::lent(memory, bytes, owner) };
        let memory = Memory::in_buffer(buffer);
        let mut own = Own::new(dtype, Shape::from_slice(shape), Origin::Given, memory);
        // Memory that is a buffer already needs no room.
        let _ = own.pin(true);
        Array::of_own(own)
    }

    /// Whether exports show the base's elements, so that these may change at any time.
    pub fn is_pinned(&self) -> bool {
        self.owner_current().is_pinned()
    }

    /// An export of the elements, if they are in host memory already and have room there; waits for no
    /// evaluation.
    ///
    /// - `for_life`: the base stays pinned when the export is gone.
    pub fn pin_now(&self, for_life: bool) -> Option<Pin> {
        let mut current = self.owner_current();
        in_memory::settled(&mut current);
        let pinned = current.own_mut()?.pin(for_life).ok()?;
        drop(current);
        Some(Pin::of(self, pinned))
    }
}

impl Context {
    /// An export of an array's elements, evaluated and brought to host memory at need. Expressions that were
    /// recorded before keep the elements as they are now.
    ///
    /// # Errors
    /// - `Disposed`: there are no elements any more. Any error of the driver; no value is lost.
    pub fn pin(&self, array: &Array, for_life: bool) -> Result<Pin> {
        for _ in 0..TRIES {
            if let Some(pin) = array.pin_now(for_life) {
                return Ok(pin);
            }
            // Another thread may give the base another value meanwhile.
            let value = array.owner_current().value()?;
            self.bring(&value)?;
        }
        let bytes = array.size().saturating_mul(array.dtype().size());
        Err(of_array(refused(bytes), array.shape(), array.dtype()))
    }

    /// Gives a pinned base, or a face of one, the elements of a value, which is evaluated.
    pub(crate) fn overwrite_pinned(&self, array: &Array, value: Value) -> Result<()> {
        let whole = array.seen_as(View::contiguous(&[array.base_len()]));
        let layout = Layout { offset: 0, strides: smallvec![1] };
        self.write_pinned(&whole, (Input::View(value.id(), Box::new(layout)), Some(value)))
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

    /// Records an operation on arrays. Where one of them is pinned, the operation is computed before this
    /// returns: on drivers that work in host memory from the pinned elements, on others from a copy.
    pub(crate) fn recorded(
        &self,
        args: &[Arg<'_>],
        record: impl Fn(&[Arg<'_>]) -> Result<Array>,
    ) -> Result<Array> {
        let is_pinned = |arg: &Arg<'_>| matches!(arg, Arg::Array(array) if array.is_pinned());
        if !args.iter().any(is_pinned) {
            return self.bounded(record(args)?);
        }
        let mut in_place = false;
        self.while_others_run(|| {
            in_place = self.evaluates_in_host_memory()?;
            Ok(())
        })?;
        if !in_place {
            return self.bounded(record(args)?);
        }
        let mut leases: SmallVec<[Value; 3]> = SmallVec::new();
        let leased: SmallVec<[Option<Array>; 3]> = args
            .iter()
            .map(|arg| match arg {
                Arg::Array(array) => leased(array, &mut leases),
                Arg::Scalar(_) => None,
            })
            .collect();
        let given = args.iter().zip(&leased);
        let given: SmallVec<[Arg<'_>; 3]> =
            given.map(|(arg, leased)| leased.as_ref().map_or(*arg, Arg::Array)).collect();
        let made = record(&given)?;
        self.while_others_run(|| self.evaluate(&[&made]))?;
        drop(given);
        drop(leased);
        // A result that is an operand itself, as x * 1 is, still refers to the pinned memory.
        if leases.iter().all(Value::is_sole) { Ok(made) } else { self.bounded(record(args)?) }
    }
}

impl Context {
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
}

/// The array over its pinned memory itself, whose value goes to `leases`; `None` where it is not pinned, or
/// memory does not show its elements as they are.
fn leased(array: &Array, leases: &mut SmallVec<[Value; 3]>) -> Option<Array> {
    let (dtype, start) = (array.dtype(), usize::try_from(array.base_offset()).ok()?);
    // As a face, every other number than 0 is true.
    let is_there =
        array.face().is_none() || dtype != DType::Bool && start.is_multiple_of(dtype.size());
    let mut current = array.owner_current();
    let own = current.own_mut().filter(|own| is_there && own.is_pinned())?;
    let pinned = own.pin(false).ok()?;
    drop(current);
    let memory = NonNull::new(pinned.start().as_ptr().wrapping_add(start))?;
    // SAFETY: the bytes are the pinned buffer's, which the lease keeps. They are only read: the list of
    // leases holds the value, so that no evaluation takes its memory.
    let buffer =
        unsafe { HostBuffer::lent(memory, array.base_len() * dtype.size(), Box::new(pinned)) };
    let value = Value::host(dtype, &[array.base_len()], Arc::new(buffer));
    leases.push(value.clone());
    Some(Array::with_view(value, array.layout().clone()))
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
