//! The driver contract: 14 functions, and the division of checks between core and driver.
//!
//! Owns the [`Driver`] trait and the structs of its arguments. The functions are those of the GpuPy
//! thesis (section 4.7). Additions are fields of the structs, which may grow.
//!
//! **The core guarantees, and a driver need not check:**
//!
//! - Programs passed `ir::Program::verify`; operands and destinations have the program's dtypes.
//! - Every access of a launch stays inside its operand, for every point of the access' space.
//! - No destination is also an operand, except with [`Capabilities::in_place`].
//! - No launch has an empty shape. Operands of a matrix product do not move along the axes that the form excludes.
//! - No program has more reductions than [`Capabilities::max_reductions`].
//! - Only a driver with [`Capabilities::max_launches`] gets sequences, of no more launches. The guarantees for a launch
//!   hold for each of them.
//! - Launches bring memory only to a driver with [`Capabilities::memory_launches`]. The guarantees for a launch's
//!   blocks hold for its memory too.
//!
//! **A driver guarantees:** an error leaves every block unchanged, except destinations that are written whole and are
//! not operands, and the driver stays usable; nothing panics; elements of a destination that the launch does not write
//! are unchanged.
//!
//! **A driver checks, because it is cheap,** and answers with `Invalid`: a handle that is dead or was never given out;
//! a range of `block_read` or `block_write` that leaves its block, or is not whole elements; a block that is empty,
//! larger than the capabilities allow, or of another dtype; in a launch, a position without memory, and memory that is
//! empty or larger than a block. Before `init` and after `cleanup` no handle is live, and allocation fails. So an error
//! of the caller is reported where it happens, and does not reach another caller's block.
//!
//! **Threads.** The core calls a driver from one thread at a time, but from any thread. It may drop the driver on any
//! thread, open or not. A driver with an API that is bound to one thread keeps a thread of its own. Several drivers of
//! one kind may be open at once, independently.
//!
//! Not here: the cache of blocks and the choice of programs (the engine, crate `gpupy-engine`).

use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Fingerprint, FormKind, Program};
use crate::op::Op;
use crate::routines::Routine;
use std::borrow::Cow;
use std::ptr::NonNull;
use std::sync::Arc;

/// A user's configuration: the choice of a device, and lowered limits. A limit of 0 is the device's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Bytes of the largest block. A driver keeps at least 256 elements (see `max_block_len`).
    pub block_bytes: u64,
    /// Bytes of all blocks together.
    pub device_bytes: u64,
    /// Lowered limits of the driver's resources, slot by slot; 0 keeps a slot.
    pub resources: Resources,
    /// The number of evaluating threads, for a driver that runs on the host's cores.
    pub threads: u32,
    /// The device, if there are several: its position in [`Capabilities::devices`], or part of its name in any case.
    /// Empty: the best. A driver of one device may ignore it.
    pub device: String,
    /// True to accept only a hardware GPU. A driver that finds none may answer `Unavailable` before it opens anything
    /// slow. A driver that cannot tell may ignore it.
    pub hardware: bool,
    /// True to share the driver's objects with its API's context that is current in the thread that calls `init`, so
    /// that blocks can be lent to it ([`Capabilities::lends`]). A driver that cannot may ignore it, and lends nothing.
    pub share: bool,
}

/// The capabilities of an opened device, returned by `init`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capabilities {
    /// The device's name in its API.
    pub device: String,
    /// True for a hardware GPU, false for the CPU and software rasterisers.
    pub hardware: bool,
    /// The dtypes that blocks may have.
    pub dtypes: Vec<DType>,
    /// Elements of the largest block (of any dtype), at least 256: the operands of one point of a reduction may have
    /// to be gathered in one block.
    pub max_block_len: usize,
    /// The most destinations of one program, at least 1.
    pub max_dests: usize,
    /// The supported forms of programs, besides maps and routines.
    pub forms: Vec<FormKind>,
    /// True if arithmetic may flush subnormal operands or results to zero.
    pub flushes_subnormals: bool,
    /// True if blocks may be in host memory ([`BlockSpec::memory`]), and evaluation is done when `eval_ir` returns.
    pub host_memory: bool,
    /// The alignment in bytes of host memory that the driver can import, that is, read in place; 0 if it cannot, or has
    /// `host_memory`. A block over imported memory ([`BlockSpec::memory`]) includes the memory up to the next multiple
    /// of the alignment after its elements. It is never written, and never a destination.
    pub import_alignment: usize,
    /// True if the block of a map's only destination may also be an operand, in a driver that works in host memory.
    /// Every access to that operand equals the destination's, so each point reads only the element that it writes.
    /// After an error other than `DeviceLost` the block is unchanged.
    pub in_place: bool,
    /// The names of the slots of [`Resources`] and their limits in force, for display.
    pub resources: Vec<(Cow<'static, str>, u32)>,
    /// The names of the devices that the driver has found, in the order that [`Config::device`] counts. Empty for a
    /// driver of one device.
    pub devices: Vec<String>,
    /// The driver's findings about the device and its compilers, as pairs of question and answer, for display.
    pub findings: Vec<(Cow<'static, str>, String)>,
    /// Measured costs of launches and transfers; `None` if they were not measured.
    pub costs: Option<Costs>,
    /// The most `reduce` instructions of one program (`ir::Reduction`); 0 counts as 1. The core neither checks nor
    /// evaluates a program with more.
    pub max_reductions: usize,
    /// True if a launch may bring host memory ([`Launch::memory`]) in place of blocks. Such a launch is done when
    /// `eval_ir` returns.
    pub memory_launches: bool,
    /// The kinds of objects by which blocks can be lent to the context that the driver shares objects with
    /// ([`Launch::lend`]): the sum of `1 << kind` over each [`LendKind`]. 0 if there are none, as without
    /// [`Config::share`].
    pub lends: u32,
    /// True if programs may have numbers in pieces (`Op::Piece`, `Op::Choose`). To another driver the core sends
    /// programs that compare and select in their place (`ir::pieces_lowering`).
    pub pieces: bool,
    /// The routines that the driver has, each with the dtypes of its operand. Programs of no others are of the form
    /// `ir::Form::Routine`.
    pub routines: Vec<(Routine, DType)>,
    /// The most launches of one call of `eval_ir` ([`Launch::rest`]); 0 counts as 1. To another driver the core sends
    /// the launches one by one.
    pub max_launches: usize,
}

/// The costs of a device with memory of its own, besides arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Nanoseconds of a small launch, including reading its result.
    pub round_trip: f64,
    /// Nanoseconds per byte from the host to the device, for large blocks.
    pub upload: f64,
    /// Nanoseconds per byte from the device to the host, for large blocks.
    pub download: f64,
}

impl Capabilities {
    /// Whether a program has no more reductions than the driver takes.
    pub fn takes_reductions(&self, program: &Program) -> bool {
        program.reductions().count() <= self.max_reductions.max(1)
    }

    /// Whether programs of a form of this kind can be evaluated: of routines, some.
    pub fn has(&self, form: FormKind) -> bool {
        match form {
            FormKind::Map => true,
            FormKind::Routine => !self.routines.is_empty(),
            form => self.forms.contains(&form),
        }
    }

    /// Whether the driver has a routine for operands of this dtype.
    pub fn offers(&self, routine: Routine, dtype: DType) -> bool {
        self.routines.contains(&(routine, dtype))
    }
}

/// How a driver does an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// The driver lacks it. The core lowers it to a program of its own (`functions/`), if there is one and the driver
    /// supports its operations; otherwise another driver does it.
    Absent,
    /// The driver does it, within the error bound of the operation table.
    Native,
    /// The driver asks the core to lower it to this program: a map of rank 1 without operands and accesses. Its
    /// parameters are the operation's operands, and its one destination is the result. It uses native operations only.
    Lowered(Program),
}

/// A handle of a block: a number that only its driver can interpret. All drivers of one kind in a process together give
/// out no number twice, so a dead or foreign handle never names another block. In a launch that brings memory, a
/// position in [`Launch::memory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u64);

/// The specification of a block to allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockSpec {
    /// The dtype of the elements.
    pub dtype: DType,
    /// The number of elements, at least 1 and at most [`Capabilities::max_block_len`].
    pub len: usize,
    /// The host memory of the elements, for a driver that works on host memory or imports it. `None` for memory of the
    /// driver's own.
    pub memory: Option<HostMemory>,
}

impl BlockSpec {
    /// A block in the driver's own memory.
    pub const fn new(dtype: DType, len: usize) -> BlockSpec {
        BlockSpec { dtype, len, memory: None }
    }

    /// Bytes of the elements in host memory.
    pub fn bytes(&self) -> u64 {
        self.len as u64 * self.dtype.size() as u64
    }
}

/// The address of host memory that the core provides for a block, aligned for the dtype and as large as the elements. A
/// driver may use it during a call that names the block, except `block_free`; the core does not access the elements
/// meanwhile. Imported memory ([`Capabilities::import_alignment`]) may be read at any time until `block_free` or
/// `cleanup` returns, or the device is lost; the core does not touch the elements until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostMemory(NonNull<u8>);

// SAFETY: this is only an address. It is used during calls that name its block, one at a time.
unsafe impl Send for HostMemory {}
// SAFETY: this is only an address. It is used during calls that name its block, one at a time.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Memory at this address.
    pub fn new(address: NonNull<u8>) -> HostMemory {
        HostMemory(address)
    }

    /// The address.
    pub fn as_ptr(self) -> *mut u8 {
        self.0.as_ptr()
    }
}

/// Host memory that replaces a block for one launch ([`Launch::memory`]). It is aligned for the dtype of the operands
/// and destinations that name it. Limits of memory do not count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostBlock {
    /// The memory of the elements.
    pub memory: HostMemory,
    /// The number of elements, at least 1 and at most [`Capabilities::max_block_len`].
    pub len: usize,
}

/// The offset and strides of an access in a launch: element `offset + Σ strides[k] · i[k]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Access {
    /// Elements from the start of the block.
    pub offset: i64,
    /// Elements per step along each axis of the iteration space.
    pub strides: smallvec::SmallVec<[i64; 4]>,
}

/// A destination of a launch: element `offset + Σ strides[k] · i[k]` of a block. No two points share an element. The
/// points are those of the output space, if the form has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dest {
    /// The block.
    pub block: BlockId,
    /// The elements.
    pub access: Access,
    /// True if the launch writes every element of the block in C order: `offset` is 0 and the strides are contiguous.
    /// Then a driver may discard the block's old contents.
    pub whole: bool,
}

/// One evaluation of a program.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The program to evaluate.
    pub program: &'a Program,
    /// The program's fingerprint, for caches of compiled kernels.
    pub fingerprint: Fingerprint,
    /// The iteration space (the input space, if the form has two). No extent is 0.
    pub shape: &'a [usize],
    /// The operand blocks.
    pub operands: &'a [BlockId],
    /// The bits of the scalar parameters, zero-extended.
    pub params: &'a [u64],
    /// Offset and strides of each access.
    pub accesses: &'a [Access],
    /// The destinations.
    pub dests: &'a [Dest],
    /// Host memory in place of blocks ([`Capabilities::memory_launches`]). If it is not empty, the handles in
    /// `operands` and `dests` are positions in this list. It may be used until the call returns. Pieces that no
    /// destination names may overlap. A destination that is written whole may be uninitialised.
    pub memory: &'a [HostBlock],
    /// If present, nothing is evaluated: the block of the only destination is lent or returned
    /// ([`Capabilities::lends`]). The program stores one parameter in each element of it, and has no meaning. While a
    /// block is lent, the core neither frees it nor names it as a destination. Errors besides those of an evaluation:
    /// `Unsupported` if the block cannot be lent like this, and `Invalid` if the shared context is not current in the
    /// calling thread; a block is returned all the same.
    pub lend: Option<Lend>,
    /// If present, this is the first launch of a sequence, which is done in this one call.
    pub rest: Option<Sequence<'a>>,
}

/// The launches behind the first one of a sequence ([`Capabilities::max_launches`]). They are done in order, as if each
/// were a call of its own: a later one may read or overwrite what an earlier one wrote. None of them has others behind
/// it, brings memory or lends. After an error, [`Error::done`](crate::Error::done) says how many launches are done; the
/// blocks are as they were after these, but for the destinations of the next one that it writes whole.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    /// The launches; there may be none.
    pub launches: &'a [Launch<'a>],
    /// A name of all launches of the sequence, the first included: equal names have equal programs, shapes and
    /// accesses, and share blocks in the same places. Only blocks and parameters may differ. So a driver may keep the
    /// commands that it made of a sequence, as it keeps compiled kernels.
    pub fingerprint: Fingerprint,
}

impl<'a> Launch<'a> {
    /// This launch and those behind it, in order.
    pub fn all(&'a self) -> impl Iterator<Item = &'a Launch<'a>> + Clone {
        let rest = self.rest.map_or(&[][..], |rest| rest.launches);
        std::iter::once(self).chain(rest)
    }
}

/// Does the launches of a sequence one after another, each by a call of `eval`.
///
/// # Errors
/// That of the first that fails.
pub fn one_by_one(
    launch: &Launch<'_>,
    mut eval: impl FnMut(&Launch<'_>) -> Result<Evaluated>,
) -> Result<Evaluated> {
    let mut all = Evaluated::default();
    for (number, launch) in launch.all().enumerate() {
        let one = Launch { rest: None, ..launch.clone() };
        let done = eval(&one).map_err(|error| error.after(number))?;
        all.compiled += done.compiled;
        all.specialised += done.specialised;
        all.launches += done.launches;
        (all.code, all.lent) = (done.code, done.lent);
    }
    Ok(all)
}

/// The kind of object by which a block is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LendKind {
    /// The texture that holds the block.
    Texture = 0,
    /// A buffer with a copy of the block's elements, made on the device.
    Buffer = 1,
}

/// The lending of a block to the context that the driver shares objects with, or its return. That context is current in
/// the calling thread. Work queued before the block is lent is done before the context's later commands. Commands that
/// the context has queued before the return are done before the driver's later work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lend {
    /// The kind of object.
    pub kind: LendKind,
    /// Whether the context may write the elements. If so, the driver keeps the contents at the return.
    pub writes: bool,
    /// At the return, the object's [`Lent::name`]; `None` when the block is lent.
    pub back: Option<u64>,
}

/// The object by which a block is lent. Element `k` of the block is component `k % row % 4` of the texel in column
/// `k % row / 4` and row `k / row`; in a buffer, it is the `k`-th element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lent {
    /// The object's name in the API; never 0.
    pub name: u64,
    /// The target of the object (the type of texture or buffer), by the API's number.
    pub target: u32,
    /// The format of its texels, by the API's number; 0 for a buffer.
    pub format: u32,
    /// Texels of four elements in a row; 0 for a buffer.
    pub width: u32,
    /// Rows; 0 for a buffer.
    pub height: u32,
    /// Elements in a row: the row's room, or up to three fewer; all elements for a buffer.
    pub row: u64,
}

/// The report of an evaluation; of a sequence, of all its launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluated {
    /// Kernels that were compiled because no compiled one fitted.
    pub compiled: u32,
    /// Kernels that were compiled with scalars as literals, although a general kernel existed.
    pub specialised: u32,
    /// Device launches (draws, dispatches); at least 1.
    pub launches: u32,
    /// The code that the device ran, in its source language, for display; of a sequence, that of its last launch;
    /// `None` if there is no such text.
    pub code: Option<Arc<str>>,
    /// The object of the block that was lent.
    pub lent: Option<Lent>,
}

/// The resources that a program needs: 8 counts. Only the driver knows their meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources(pub [u32; 8]);

/// A part of a program, for `resource_get`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One operation giving this dtype.
    Op(Op, DType),
    /// One operand block, with its load and access.
    Operand(DType),
    /// One scalar parameter.
    Param(DType),
    /// One index value, with its access.
    Index,
    /// One destination.
    Dest(DType),
}

/// The answer of `check_ir`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// True if the program can be evaluated in one piece.
    pub fits: bool,
    /// The resources that the program needs, exactly.
    pub resources: Resources,
}

/// A driver of one device.
pub trait Driver: Send {
    /// Opens the device.
    ///
    /// - **Units:** the configuration's limits are bytes; 0 means the device's own.
    /// - **Bounds:** limits can only be lowered; a higher one counts as the device's own.
    /// - **Ordering:** called once, before everything else, and again only after `cleanup`.
    ///
    /// # Errors
    /// - `Unavailable`: the driver cannot start here; the message says why and what to install.
    ///   Nothing is left open.
    /// - `Invalid`: the driver is open already, and stays so; its blocks are as they were.
    fn init(&mut self, config: &Config) -> Result<Capabilities>;

    /// Closes the device and frees every block.
    ///
    /// - **Ordering:** waits for running work. Every handle is dead afterwards. Never fails; after a failed `init`, or
    ///   a second time, it does nothing.
    /// - **Threads:** no thread of the driver is left, and before a fork no thread of its libraries: a process closes
    ///   its devices before it forks, and both processes open them again.
    fn cleanup(&mut self);

    /// Tells how the driver does an operation.
    ///
    /// - **Bounds:** `dtype` is the dtype of the first operand; for a cast, bitcast, select or gather, of the result.
    /// - **Ordering:** the answer is the same from `init` to `cleanup`; at other times it means
    ///   nothing.
    fn get_method(&self, op: Op, dtype: DType) -> Method;

    /// Allocates a block. Its contents are undefined, or those of the given host memory.
    ///
    /// - **Units:** `len` counts elements.
    /// - **Bounds:** `1 <= len <= max_block_len`; `dtype` is among the capabilities.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room now. The core evicts a block and tries again.
    /// - `Invalid`: a length or dtype that blocks cannot have.
    /// - `Unsupported`: this memory cannot be imported. The core then allocates without it, and writes the block.
    /// - `DeviceLost`: every handle is dead.
    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId>;

    /// Frees a block.
    ///
    /// - **Ordering:** may be called while queued work still uses the block. The driver keeps the block until that work
    ///   is done, and waits for it if the block is over imported memory. The handle is dead on return.
    ///
    /// Never fails: a handle that is dead, or was never given out, is ignored.
    fn block_free(&mut self, block: BlockId);

    /// Copies part of a block to host memory, after waiting for the work that writes it.
    ///
    /// - **Units:** `offset` counts elements; `out` is whole elements of the block's dtype, C order,
    ///   native endian.
    /// - **Bounds:** `offset` and the elements of `out` lie inside the block.
    /// - **Empty:** an empty `out` succeeds, and waits.
    ///
    /// # Errors
    /// - `DeviceLost`: every handle is dead; `out` is undefined.
    /// - `Poisoned`: the evaluation that should have written the block failed; the source says how.
    /// - `Invalid`: a dead handle, or a range outside the block; `out` is as it was.
    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()>;

    /// Copies host memory into part of a block.
    ///
    /// - **Units:** `offset` counts elements; `data` is whole elements of the block's dtype, C
    ///   order, native endian.
    /// - **Bounds:** `offset` and the elements of `data` lie inside the block.
    /// - **Empty:** empty `data` succeeds and does nothing.
    /// - **Ordering:** `data` may be reused on return; evaluations queued before see the old
    ///   contents, later ones the new.
    ///
    /// # Errors
    /// - `Invalid`: a dead handle, or a range outside the block, which is as it was.
    /// - `DeviceLost`: every handle is dead.
    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()>;

    /// Tells whether a program can be evaluated in one piece, and what it needs.
    ///
    /// - **Ordering:** the answer for a program is the same from `init` to `cleanup`; at other times
    ///   it means nothing.
    ///
    /// # Errors
    /// - `Unsupported`: it uses an operation, dtype or form that the driver lacks; splitting would
    ///   not help.
    fn check_ir(&mut self, program: &Program) -> Result<Check>;

    /// Evaluates a program into its destinations.
    ///
    /// - **Bounds:** see the core's guarantees at the top of this file.
    /// - **Ordering:** may return before the device is done; later calls behave as if it were. Operands may be freed on
    ///   return.
    ///
    /// # Errors
    /// After these, blocks are unchanged, except that destinations that are written whole and are not operands are
    /// undefined:
    ///
    /// - `Refused`: the device's compiler rejected the program.
    /// - `OutOfMemory`: no room for the driver's own needs.
    /// - `Invalid`: a dead handle among the operands or destinations.
    /// - `Poisoned`: an operand cannot be read, as `block_read` says it. A driver that finds out later poisons the
    ///   destinations.
    ///
    /// Of a sequence the error says how many launches are done ([`Sequence`]).
    ///
    /// After this, no block is left:
    ///
    /// - `DeviceLost`: every handle is dead.
    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated>;

    /// An upper bound of the needs of one part of a program.
    ///
    /// - **Bounds:** the sum over a program's parts is never below the answer of `check_ir`.
    fn resource_get(&self, part: Part) -> Resources;

    /// No resources.
    fn resource_zero(&self) -> Resources {
        Resources::default()
    }

    /// Adds `other` to `total`; a count that would overflow stays at the highest.
    fn resource_add(&self, total: &mut Resources, other: &Resources) {
        for (t, o) in total.0.iter_mut().zip(other.0) {
            *t = t.saturating_add(o);
        }
    }

    /// Subtracts `other` from `total`; a count that would fall below 0 stays at 0.
    fn resource_sub(&self, total: &mut Resources, other: &Resources) {
        for (t, o) in total.0.iter_mut().zip(other.0) {
            *t = t.saturating_sub(o);
        }
    }

    /// True if a program with these needs can be evaluated in one piece.
    fn resource_check(&self, resources: &Resources) -> bool;
}
