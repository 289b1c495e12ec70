//! The driver contract: 14 functions, and who checks what.
//!
//! Owns the [`Driver`] trait and the structs of its arguments. The functions are those of the GpuPy
//! thesis (section 4.7); what has been added since stands in the structs, which may grow.
//!
//! **Who checks what.** The core promises, and a driver need not check again: programs passed
//! `ir::Program::verify`; operand and destination dtypes are those of the program; every access of a
//! launch stays inside its operand for every point of the space in which it stands; no destination
//! is also an operand, but for [`Capabilities::in_place`]; no launch has an empty shape; the
//! operands of a matrix product do not move along the axes that the form says; no program has more reductions than
//! [`Capabilities::max_reductions`]; no launch brings memory but to a driver that says
//! [`Capabilities::memory_launches`]. All that is said of a launch's blocks holds for memory that it brings. A driver promises: an
//! error leaves every block as it was, but for destinations that are written whole and are no
//! operands, and the driver works on; nothing panics; every element of a destination that the launch
//! does not name stays as it was.
//!
//! **Mistakes that cost little to find** a driver answers with `Invalid`: a handle that is dead or
//! was never given out; a range of `block_read` or `block_write` that leaves its block, or is not
//! whole elements; a block that is empty, larger than the capabilities say, or of another dtype; in a launch, a
//! position where no memory is, and memory that is empty or larger than a block.
//! Before `init` and after `cleanup` no handle is live, and no block can be had. So a mistake of
//! the caller is found where it happens, and reaches nobody else's block.
//!
//! **Threads.** The core calls a driver from one thread at a time, but from any thread, and may
//! drop it on any thread, open or not. A driver whose API is bound to one thread keeps a thread of
//! its own inside. Several drivers of one kind may be open at once, each for itself.
//!
//! Not here: the cache of blocks and the choice of programs (the engine, crate `gpupy-engine`).

use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Fingerprint, FormKind, Program};
use crate::op::Op;
use std::borrow::Cow;
use std::ptr::NonNull;
use std::sync::Arc;

/// What a user may say of a device: which, and limits to lower; 0 means the device's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Largest block, in bytes; a driver keeps to at least 256 elements (see `max_block_len`).
    pub block_bytes: u64,
    /// Memory for all blocks together, in bytes.
    pub device_bytes: u64,
    /// Lowered limits of the driver's own resource counter, slot by slot; 0 keeps a slot as it is.
    pub resources: Resources,
    /// Threads that evaluate, for a driver whose device is the host's cores.
    pub threads: u32,
    /// Which of several devices: its position in [`Capabilities::devices`], or part of its name in
    /// any case. Empty: the best. A driver of one device may pass it over.
    pub device: String,
    /// True when only a hardware GPU will do: a driver that finds none may say so (`Unavailable`)
    /// before it opens anything that takes long. One that cannot tell may pass it over.
    pub hardware: bool,
    /// True when the driver is to share its objects with the context of its API that is current in the thread that
    /// calls `init`, so that blocks can be lent there ([`Capabilities::lends`]). One that cannot may pass it over, and
    /// lends nothing then.
    pub share: bool,
}

/// What `init` found out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capabilities {
    /// The device's name, as its API gives it.
    pub device: String,
    /// True for a hardware GPU, false for the CPU and software rasterisers.
    pub hardware: bool,
    /// The dtypes that blocks may have.
    pub dtypes: Vec<DType>,
    /// Elements in the largest block (of any dtype), at least 256: what one point of a reduction
    /// reads may have to be gathered in one block.
    pub max_block_len: usize,
    /// The most destinations of one program, at least 1.
    pub max_dests: usize,
    /// The forms of programs that can be evaluated besides maps.
    pub forms: Vec<FormKind>,
    /// True when arithmetic may take or give zero where IEEE 754 has a subnormal number.
    pub flushes_subnormals: bool,
    /// True when blocks may lie in host memory ([`BlockSpec::memory`]), and evaluation is done when
    /// `eval_ir` returns.
    pub host_memory: bool,
    /// Bytes to whose multiples host memory must be aligned for the driver to read it where it lies; 0 when it
    /// cannot, or has `host_memory`. A block over such memory ([`BlockSpec::memory`]), which belongs to the
    /// block up to the next multiple behind its elements, is never written and never a destination.
    pub import_alignment: usize,
    /// True when the block of a map's only destination may also be an operand, if the driver works
    /// in host memory. Every access to that operand is the destination's own, so each point reads
    /// only what it writes; and after an error, other than `DeviceLost`, the block is as it was.
    pub in_place: bool,
    /// The names of the slots of [`Resources`] and their limits in force, for people to read.
    pub resources: Vec<(Cow<'static, str>, u32)>,
    /// The names of the devices that the driver could open, as [`Config::device`] counts them and as
    /// far as it has looked; empty for a driver of one device.
    pub devices: Vec<String>,
    /// What the driver found out about the device by trying, and what compiles for it, for people to read: what, and
    /// the answer.
    pub findings: Vec<(Cow<'static, str>, String)>,
    /// What launches and transfers cost, measured; `None` where nobody did.
    pub costs: Option<Costs>,
    /// The most `reduce` instructions of one program (`ir::Reduction`); 0 counts as 1. A driver is given no program
    /// that has more, neither to check nor to evaluate.
    pub max_reductions: usize,
    /// True when a launch may bring host memory ([`Launch::memory`]) in the place of blocks; it is done when
    /// `eval_ir` returns.
    pub memory_launches: bool,
    /// As what blocks can be lent to the context that the driver shares objects with ([`Launch::lend`]): the sum of
    /// `1 << kind` of each [`LendKind`]; 0 when they cannot, as without [`Config::share`].
    pub lends: u32,
}

/// What a device with memory of its own costs beside its arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Nanoseconds of a small launch whose result is read back.
    pub round_trip: f64,
    /// Nanoseconds a byte from the host to the device, in large blocks.
    pub upload: f64,
    /// Nanoseconds a byte from the device to the host, in large blocks.
    pub download: f64,
}

impl Capabilities {
    /// Whether a program has no more reductions than the driver takes.
    pub fn takes_reductions(&self, program: &Program) -> bool {
        program.reductions().count() <= self.max_reductions.max(1)
    }

    /// Whether programs of a form of this kind can be evaluated.
    pub fn has(&self, form: FormKind) -> bool {
        form == FormKind::Map || self.forms.contains(&form)
    }
}

/// What a driver can do for an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Nothing: the core puts a program of its own in its place, where it has one (`functions/`) and
    /// the driver has all that this needs; otherwise it is done elsewhere.
    Absent,
    /// Everything, within the bound of the operation table.
    Native,
    /// The driver asks the core to put this program in its place: a map of rank 1 without operands
    /// and accesses, whose parameters are the operation's operands and whose one destination is the
    /// result. It may only use native operations.
    Lowered(Program),
}

/// A handle of a block: a driver's own number, meaningless to others. All drivers of one kind in a
/// process together give out no number twice, so a dead or foreign handle is nobody else's. In a launch
/// that brings memory, a position in [`Launch::memory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u64);

/// What to allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockSpec {
    /// The dtype of the elements.
    pub dtype: DType,
    /// How many elements, at least 1 and at most [`Capabilities::max_block_len`].
    pub len: usize,
    /// Where the elements lie, for a driver that works on host memory or imports it; `None` for memory
    /// of its own.
    pub memory: Option<HostMemory>,
}

impl BlockSpec {
    /// A block in memory of the driver's own.
    pub const fn new(dtype: DType, len: usize) -> BlockSpec {
        BlockSpec { dtype, len, memory: None }
    }

    /// Bytes of the elements in host memory.
    pub fn bytes(&self) -> u64 {
        self.len as u64 * self.dtype.size() as u64
    }
}

/// The address of host memory that the core gives for a block: aligned for the dtype, and as large
/// as the elements. It may be used as long as a call names the block, apart from `block_free`; the
/// core leaves the elements alone during the call. What is imported
/// ([`Capabilities::import_alignment`]) may be read at any time until `block_free` or `cleanup` returns,
/// or the device is lost; until then the core leaves the elements alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostMemory(NonNull<u8>);

// SAFETY: an address; using it is bound to the calls that name its block, one at a time.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
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

/// What stands in the place of a block for one launch ([`Launch::memory`]): elements in host memory, of the dtype
/// of the operands and destinations that name it, and aligned for it. No limit of memory counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostBlock {
    /// Where the elements lie.
    pub memory: HostMemory,
    /// How many there are, at least 1 and at most [`Capabilities::max_block_len`].
    pub len: usize,
}

/// The numbers behind an access of a program: element `offset + Σ strides[k] · i[k]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Access {
    /// Elements from the start of the block.
    pub offset: i64,
    /// Elements a step of each axis of the iteration space.
    pub strides: smallvec::SmallVec<[i64; 4]>,
}

/// Where a program's value goes: element `offset + Σ strides[k] · i[k]` of a block, which no two
/// points share. Where a form has an output space, the points are its.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dest {
    /// The block.
    pub block: BlockId,
    /// The elements.
    pub access: Access,
    /// True when the launch writes every element of the block, in C order: `offset` is 0 and the
    /// strides are contiguous. A driver may then forget what the block held.
    pub whole: bool,
}

/// One evaluation of a program.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The code.
    pub program: &'a Program,
    /// The code's name, for caches of compiled kernels.
    pub fingerprint: Fingerprint,
    /// The iteration space (where a form has two, the input space); no axis is 0.
    pub shape: &'a [usize],
    /// The operand blocks.
    pub operands: &'a [BlockId],
    /// The bits of the scalar parameters, zero-extended.
    pub params: &'a [u64],
    /// The numbers of the accesses.
    pub accesses: &'a [Access],
    /// The destinations.
    pub dests: &'a [Dest],
    /// Host memory in the place of blocks ([`Capabilities::memory_launches`]): where there is any, the handles in
    /// `operands` and `dests` are positions in here. It may be used until the call returns. What no destination
    /// names may overlap; a destination that is written whole may hold nothing before.
    pub memory: &'a [HostBlock],
    /// Where it is there, nothing is evaluated: the block of the only destination goes or comes back
    /// ([`Capabilities::lends`]). The program stores one parameter in each element of it, and means nothing. While a block is
    /// away, the core neither frees it nor names it as a destination. Errors besides those of an evaluation:
    /// `Unsupported` for a block that cannot be lent so, and `Invalid` where the calling thread has not that
    /// context as its current one; a block comes back all the same.
    pub lend: Option<Lend>,
}

/// As what a block is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LendKind {
    /// The texture that holds it.
    Texture = 0,
    /// A buffer with a copy of its elements, made on the device.
    Buffer = 1,
}

/// A block that goes to the context that the driver shares objects with, or comes back from there. The calling thread has
/// that context as its current one. What was queued before is done before the context's later commands, and what
/// it has queued before a block comes back is done before what the driver does later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lend {
    /// As what.
    pub kind: LendKind,
    /// Whether the context may write the elements; a driver then keeps what it finds when the block comes back.
    pub writes: bool,
    /// What the block is lent as, when it comes back: [`Lent::name`]; `None` when it goes.
    pub back: Option<u64>,
}

/// What a block is lent as. Element `k` of the block is component `k % row % 4` of the texel in column
/// `k % row / 4` and row `k / row`; of a buffer, the `k`-th element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lent {
    /// The object's name in the API; never 0.
    pub name: u64,
    /// What sort of object it is, by the API's number.
    pub target: u32,
    /// The format of its texels, by the API's number; 0 for a buffer.
    pub format: u32,
    /// Texels of four elements in a row; of a buffer 0.
    pub width: u32,
    /// Rows; of a buffer 0.
    pub height: u32,
    /// Elements in a row: what it has room for, or up to three fewer; of a buffer all.
    pub row: u64,
}

/// What an evaluation cost beyond the launch itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluated {
    /// Kernels compiled for it because no compiled one fitted.
    pub compiled: u32,
    /// Kernels compiled for it with its scalars as literals, in place of one that would have done.
    pub specialised: u32,
    /// Device launches (draws, dispatches); at least 1.
    pub launches: u32,
    /// What the device ran, in the language that it was given, for people to read; `None` where
    /// there is no such text.
    pub code: Option<Arc<str>>,
    /// What the block is lent as that goes.
    pub lent: Option<Lent>,
}

/// A driver's own account of what a program needs: 8 counts, whose meaning only the driver knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources(pub [u32; 8]);

/// Something whose need `resource_get` tells.
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
    /// True when the program can be evaluated in one piece.
    pub fits: bool,
    /// What it really needs.
    pub resources: Resources,
}

/// A device, or something that acts as one.
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
    /// - **Ordering:** waits for work that still runs. Every handle is dead afterwards. Never
    ///   fails; after a failed `init`, or a second time, it does nothing.
    /// - **Threads:** none of the driver's is left, and when the process forks, none of the libraries
    ///   that it uses: a process closes its devices before it forks, and both sides open them again.
    fn cleanup(&mut self);

    /// Tells how the driver does an operation.
    ///
    /// - **Bounds:** `dtype` is the dtype of the first operand; of a cast, bitcast, select or gather,
    ///   of the result.
    /// - **Ordering:** the answer is the same from `init` to `cleanup`; at other times it means
    ///   nothing.
    fn get_method(&self, op: Op, dtype: DType) -> Method;

    /// Allocates a block; what it holds is undefined, or what the host memory given for it holds.
    ///
    /// - **Units:** `len` counts elements.
    /// - **Bounds:** `1 <= len <= max_block_len`; `dtype` is among the capabilities.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room now. The core evicts a block and asks again.
    /// - `Invalid`: a length or dtype that no block may have.
    /// - `Unsupported`: this memory cannot be imported. The core gives none, and writes the block.
    /// - `DeviceLost`: every handle is dead.
    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId>;

    /// Frees a block.
    ///
    /// - **Ordering:** may be called while queued work still uses the block; the driver keeps it
    ///   until that is done, and waits for it where the block is over imported memory. The handle is
    ///   dead on return.
    ///
    /// Never fails: a handle that is dead already, or was never given out, is passed over.
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
    /// - **Bounds:** see "who checks what" above.
    /// - **Ordering:** may return before the device is done; everything called later behaves as if
    ///   it were. Operands may be freed on return.
    ///
    /// # Errors
    /// After these, blocks are as they were, but for destinations that are written whole and are no
    /// operands, which are undefined:
    ///
    /// - `Refused`: the device's compiler would not have the program.
    /// - `OutOfMemory`: no room for what the driver itself needs.
    /// - `Invalid`: a dead handle among the operands or destinations.
    /// - `Poisoned`: an operand cannot be read, as `block_read` says it. A driver that finds out later poisons the
    ///   destinations.
    ///
    /// After this, no block is left:
    ///
    /// - `DeviceLost`: every handle is dead.
    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated>;

    /// An upper bound of what one part of a program needs.
    ///
    /// - **Bounds:** the sum over a program's parts is never below what `check_ir` finds for it.
    fn resource_get(&self, part: Part) -> Resources;

    /// The empty account.
    fn resource_zero(&self) -> Resources {
        Resources::default()
    }

    /// Adds `other` to `total`; a count that would overflow stays at the highest.
    fn resource_add(&self, total: &mut Resources, other: &Resources) {
        for (t, o) in total.0.iter_mut().zip(other.0) {
            *t = t.saturating_add(o);
        }
    }

    /// Takes `other` from `total`; a count that would fall below 0 stays at 0.
    fn resource_sub(&self, total: &mut Resources, other: &Resources) {
        for (t, o) in total.0.iter_mut().zip(other.0) {
            *t = t.saturating_sub(o);
        }
    }

    /// True when a program with this account can be evaluated in one piece.
    fn resource_check(&self, resources: &Resources) -> bool;
}
