//! The contract in C: the table of the 14 functions, and the structs of their arguments.
//!
//! Owns everything that `include/gpupy_driver.h` says; the header is generated from this file, and
//! its words are written here for people who read C. Invariants: only integers, pointers and arrays
//! of them occur, never a Rust enum; structs begin with their size and only ever grow at the end.
//!
//! Not here: what the functions promise (`driver.rs` has all of it), reading and writing these
//! structs (`program.rs`, `fixed_strings.rs`, `export.rs`, the loader in the engine).

use std::ffi::{c_char, c_void};

/// The major version of the table. Host and driver must have the same.
pub const GPUPY_ABI_MAJOR: u32 = 1;
/// The minor version of the table. It rises when structs or the table grow at the end.
pub const GPUPY_ABI_MINOR: u32 = 3;

/// Success. Every other result of a function that can fail is one of the errors below.
pub const GPUPY_OK: i32 = 0;
/// No room on the device. Of `block_alloc`: the host frees blocks and asks again.
pub const GPUPY_OUT_OF_MEMORY: i32 = 1;
/// The driver lacks an operation, dtype or form; a smaller program would not help.
pub const GPUPY_UNSUPPORTED: i32 = 2;
/// The device would not have a program that `check_ir` accepted; a smaller one may do.
pub const GPUPY_REFUSED: i32 = 3;
/// The device is gone, and the contents of all its blocks. The host calls `cleanup`.
pub const GPUPY_DEVICE_LOST: i32 = 4;
/// The driver cannot start here; the message says why, and what to install.
pub const GPUPY_UNAVAILABLE: i32 = 5;
/// An argument makes no sense: a mistake of the host's.
pub const GPUPY_INVALID: i32 = 6;
/// The evaluation that should have written a block failed earlier.
pub const GPUPY_POISONED: i32 = 7;

/// Answer of `get_method`: the driver does not do the operation.
pub const GPUPY_ABSENT: i32 = 0;
/// Answer of `get_method`: the driver does it, within the bound of the operation table.
pub const GPUPY_NATIVE: i32 = 1;
/// Answer of `get_method`: the host is to put the driver's program in its place.
pub const GPUPY_LOWERED: i32 = 2;

/// Form: every instruction runs once for each point of the launch's shape.
pub const GPUPY_FORM_MAP: u32 = 0;
/// Form: one step of a reduction along the last axis, by the canonical tree.
pub const GPUPY_FORM_REDUCE: u32 = 1;
/// Form: running results along the last axis, chunk by chunk.
pub const GPUPY_FORM_SCAN: u32 = 2;
/// Form: the last axis in ascending order, or the positions that put it there.
pub const GPUPY_FORM_SORT: u32 = 3;
/// Form: products of matrices.
pub const GPUPY_FORM_MATMUL: u32 = 4;

/// Access: strides of a C-contiguous array of the points; any offset.
pub const GPUPY_ACCESS_CONTIGUOUS: u8 = 0;
/// Access: all strides are 0.
pub const GPUPY_ACCESS_UNIFORM: u8 = 1;
/// Access: any strides.
pub const GPUPY_ACCESS_AFFINE: u8 = 2;

/// Part: one operation (`op`) that gives `dtype`.
pub const GPUPY_PART_OP: u32 = 0;
/// Part: one operand block of `dtype`, with its load and access.
pub const GPUPY_PART_OPERAND: u32 = 1;
/// Part: one scalar parameter of `dtype`.
pub const GPUPY_PART_PARAM: u32 = 2;
/// Part: one index value, with its access.
pub const GPUPY_PART_INDEX: u32 = 3;
/// Part: one destination of `dtype`.
pub const GPUPY_PART_DEST: u32 = 4;

/// A block is lent as the texture that holds it.
pub const GPUPY_LEND_TEXTURE: u32 = 0;
/// A block is lent as a buffer with a copy of its elements, made on the device.
pub const GPUPY_LEND_BUFFER: u32 = 1;

/// How many counts an account of resources has. Their meaning is the driver's own.
pub const GPUPY_RESOURCES: usize = 8;
/// Room for the name of a plug-in, an operation, a fact or a resource, with the closing 0.
pub const GPUPY_NAME: usize = 32;
/// Room for the name of a device, with the closing 0.
pub const GPUPY_DEVICE_NAME: usize = 256;
/// Room for the value of a fact, with the closing 0.
pub const GPUPY_FACT: usize = 256;
/// Room for a message, with the closing 0.
pub const GPUPY_MESSAGE: usize = 2048;
/// The most facts of an error.
pub const GPUPY_FACTS: usize = 8;
/// The most devices of a driver that are named.
pub const GPUPY_DEVICES: usize = 16;
/// The most findings about a device.
pub const GPUPY_FINDINGS: usize = 32;
/// The most dtypes of a device.
pub const GPUPY_DTYPES: usize = 32;
/// The most axes of a program's iteration space.
pub const GPUPY_RANK: u32 = 64;

/// Words about an error. The host clears it before each call that can fail; the driver fills it in
/// when the call fails, and may leave any part of it empty.
///
/// Strings are UTF-8 and end with a 0. The host shows an error as one line,
/// `operation: message (key: value, …)`: lower case, no full stop, the limit beside the offending
/// value.
#[repr(C)]
pub struct RawError {
    /// `sizeof(gpupy_error)` as the host knows it. Write nothing beyond.
    pub size: usize,
    /// What failed, where that is not the called function itself.
    pub operation: [c_char; GPUPY_NAME],
    /// What happened, and what to do. Empty: the words of the returned kind.
    pub message: [c_char; GPUPY_MESSAGE],
    /// How many of the facts below are given.
    pub fact_count: u32,
    /// What each fact is about.
    pub fact_keys: [[c_char; GPUPY_NAME]; GPUPY_FACTS],
    /// What is known of it.
    pub fact_values: [[c_char; GPUPY_FACT]; GPUPY_FACTS],
}

/// Limits that a user may lower; 0 means the device's own. A limit above the device's own counts as
/// the device's own.
#[repr(C)]
pub struct RawConfig {
    /// `sizeof(gpupy_config)` as the host knows it.
    pub size: usize,
    /// Largest block, in bytes. A driver keeps to at least 256 elements all the same.
    pub block_bytes: u64,
    /// Memory for all blocks together, in bytes.
    pub device_bytes: u64,
    /// Limits of the driver's own account of resources, count by count.
    pub resources: [u32; GPUPY_RESOURCES],
    /// Threads that evaluate, for a driver whose device is the host's cores.
    pub threads: u32,
    /// Which of several devices: its position among the `devices` of the capabilities, or part of
    /// its name in any case; UTF-8 that ends with a 0. Empty: the best.
    pub device_name: [c_char; GPUPY_DEVICE_NAME],
    /// 1 when only a hardware GPU will do: a driver that finds none may say so
    /// (`GPUPY_UNAVAILABLE`) before it opens anything that takes long; otherwise 0.
    pub hardware: u32,
    /// Since 1.3: 1 when the driver is to share its objects with the context of its API that is current in the
    /// calling thread, so that blocks can be lent there (`lends` of the capabilities); otherwise 0.
    pub share: u32,
}

/// What `init` found out. The host clears it before the call; the driver fills it in.
#[repr(C)]
pub struct RawCapabilities {
    /// `sizeof(gpupy_capabilities)` as the host knows it. Write nothing beyond.
    pub size: usize,
    /// The device's name, as its API gives it: UTF-8 that ends with a 0.
    pub device: [c_char; GPUPY_DEVICE_NAME],
    /// 1 for a hardware GPU, 0 for the CPU and software rasterisers.
    pub hardware: u32,
    /// The forms of programs that can be evaluated besides maps: bit `1 << form` for each
    /// (`GPUPY_FORM_REDUCE` …). Bits that the host does not know mean nothing to it.
    pub forms: u32,
    /// 1 when arithmetic may take or give zero where IEEE 754 has a subnormal number, otherwise 0.
    pub flushes_subnormals: u32,
    /// 1 when blocks may lie in host memory (`memory` of `gpupy_block_spec`), and evaluation is done
    /// when `eval_ir` returns; otherwise 0.
    pub host_memory: u32,
    /// The most destinations of one program, at least 1.
    pub max_dests: u32,
    /// Elements in the largest block, of any dtype; at least 256.
    pub max_block_len: u64,
    /// How many dtypes are given, at least 1.
    pub dtype_count: u32,
    /// The dtypes that blocks may have (`GPUPY_FLOAT32` …), each once.
    pub dtypes: [u32; GPUPY_DTYPES],
    /// How many counts of an account the driver uses, at most 8.
    pub resource_count: u32,
    /// The limits in force of these counts.
    pub resource_limits: [u32; GPUPY_RESOURCES],
    /// What these counts are, for people: UTF-8 that ends with a 0.
    pub resource_names: [[c_char; GPUPY_NAME]; GPUPY_RESOURCES],
    /// 1 when the block of a map's only destination may also be an operand, for a driver with
    /// `host_memory`; otherwise 0. Every access to that operand is the destination's own, so each
    /// point reads only what it writes; and after an error, other than a lost device, the block is as
    /// it was.
    pub in_place: u32,
    /// How many devices are named, at most 16; 0 for a driver of one device.
    pub device_count: u32,
    /// The names of all devices that the driver could open: UTF-8 that ends with a 0.
    pub devices: [[c_char; GPUPY_DEVICE_NAME]; GPUPY_DEVICES],
    /// How many findings are given, at most 32.
    pub finding_count: u32,
    /// What the driver found out about, by trying: UTF-8 that ends with a 0.
    pub finding_names: [[c_char; GPUPY_NAME]; GPUPY_FINDINGS],
    /// What it found.
    pub findings: [[c_char; GPUPY_FACT]; GPUPY_FINDINGS],
    /// 1 when the three costs below were measured, otherwise 0.
    pub has_costs: u32,
    /// Nanoseconds of a small launch whose result is read back.
    pub round_trip: f64,
    /// Nanoseconds a byte from the host to the device, in large blocks.
    pub upload: f64,
    /// Nanoseconds a byte from the device to the host, in large blocks.
    pub download: f64,
    /// Bytes to whose multiples host memory must be aligned for the driver to read it where it lies; 0
    /// when it cannot, or has `host_memory`. A block over such memory (`memory` of `gpupy_block_spec`),
    /// which belongs to the block up to the next multiple behind its elements, is never written and never a
    /// destination; the memory may be read until `block_free` or `cleanup` returns, which wait for work
    /// that reads it.
    pub import_alignment: u64,
    /// Since 1.1: the most `reduce` instructions of one program, of which each further one has its operation's code as
    /// its second argument; 0 counts as 1. The driver is given no program that has more.
    pub max_reductions: u64,
    /// Since 1.2: 1 when a launch may bring host memory in the place of blocks (`memory` of `gpupy_launch`), and is
    /// done when `eval_ir` returns; otherwise 0, and the driver is given no such launch.
    pub memory_launches: u32,
    /// Since 1.3: as what blocks can be lent to the context that the driver shares objects with: the sum of `1 << kind`
    /// (`GPUPY_LEND_TEXTURE` …); 0 when they cannot, and the driver is given no launch that lends.
    pub lends: u32,
}

/// What to allocate.
#[repr(C)]
pub struct RawBlockSpec {
    /// `sizeof(gpupy_block_spec)` as the host knows it.
    pub size: usize,
    /// The dtype of the elements, one of those of the capabilities.
    pub dtype: u32,
    /// How many elements: at least 1, at most `max_block_len`.
    pub len: u64,
    /// Host memory where the elements lie, or null for memory of the driver's own; always null for
    /// a driver with neither `host_memory` nor `import_alignment`. One with the latter may answer
    /// `GPUPY_UNSUPPORTED`, and is then asked for a block in its own. It is aligned for the dtype, as
    /// large as the elements, and may be used by calls that name the block, apart from `block_free`.
    pub memory: *mut u8,
}

/// One instruction of a program, 16 bytes for ever. A value is named by the position of its
/// instruction. `docs/ir.md` says what each operation does with its arguments.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawInst {
    /// The operation (`GPUPY_OP_ADD` …).
    pub op: u16,
    /// The dtype of its value (`GPUPY_FLOAT32` …).
    pub dtype: u8,
    /// The arguments; those that the operation does not use are 0.
    pub args: [u32; 3],
}

/// The code of one kernel: flat arrays of integers, which belong to whoever gives the program.
///
/// What the host gives has been verified (see `docs/ir.md`), and lives until the call returns. An
/// operation, dtype, form or kind that the driver does not know makes the program unsupported: the
/// host may be newer. An array whose count is 0 may be a null pointer.
#[repr(C)]
pub struct RawProgram {
    /// `sizeof(gpupy_program)` as its giver knows it.
    pub size: usize,
    /// What the iteration space means: `GPUPY_FORM_MAP` …
    pub form: u32,
    /// The combining operation of the forms scan and reduce (of its first `reduce`), otherwise 0.
    pub form_op: u32,
    /// Axes of the iteration space, 1 to 64.
    pub rank: u32,
    /// How many operand blocks are read.
    pub operand_count: u32,
    /// How many scalars come with a launch.
    pub param_count: u32,
    /// How many accesses there are.
    pub access_count: u32,
    /// How many destinations are written, at least 1.
    pub dest_count: u32,
    /// How many instructions there are.
    pub inst_count: u32,
    /// How many numbers `extra` has.
    pub extra_count: u32,
    /// The dtypes of the operand blocks.
    pub operands: *const u8,
    /// The dtypes of the scalars.
    pub params: *const u8,
    /// The kinds of the accesses (`GPUPY_ACCESS_AFFINE` …).
    pub accesses: *const u8,
    /// The dtypes of the destinations.
    pub dests: *const u8,
    /// The instructions, each before those that use its value.
    pub insts: *const RawInst,
    /// Value lists of control instructions.
    pub extra: *const u32,
}

/// One evaluation of a program. Everything in it is the host's, and lives until the call returns.
///
/// Element `offset + strides[0]·i[0] + …` of a block is meant at the point `i` of the iteration
/// space. Every such element lies inside its block; no two points of a destination share one; no
/// destination is also an operand. Strides of access (or destination) `k` are the `rank` numbers
/// from `k · rank`.
#[repr(C)]
pub struct RawLaunch {
    /// `sizeof(gpupy_launch)` as the host knows it.
    pub size: usize,
    /// The code. Its counts are the lengths of the arrays below.
    pub program: *const RawProgram,
    /// A 128-bit name of the code, low half first: the same code has the same name in every
    /// process and on every machine, for caches of compiled kernels.
    pub fingerprint: [u64; 2],
    /// The iteration space (where a form has two, the input space): `rank` extents, none of them 0.
    pub shape: *const usize,
    /// The operand blocks.
    pub operands: *const u64,
    /// The bits of the scalars, zero-extended.
    pub params: *const u64,
    /// The offsets of the accesses, in elements.
    pub access_offsets: *const i64,
    /// The strides of the accesses, in elements.
    pub access_strides: *const i64,
    /// The destination blocks.
    pub dests: *const u64,
    /// The offsets of the destinations, in elements.
    pub dest_offsets: *const i64,
    /// The strides of the destinations, in elements; where a form has an output space, over that.
    pub dest_strides: *const i64,
    /// 1 for a destination of which the launch writes every element, in C order; otherwise 0.
    pub dest_whole: *const u8,
    /// Since 1.2: how many pieces of host memory the launch brings. Mostly 0; otherwise there are no blocks, and
    /// `operands` and `dests` are positions in the two lists below. Only a driver with `memory_launches` is given
    /// such a launch. A position that is not there, or an impossible length, is `GPUPY_INVALID`.
    pub memory_count: u32,
    /// Since 1.2: where these pieces lie, each aligned for the one dtype of the operands and destinations that name
    /// it; to be used until the call returns. What no destination names may overlap; a destination that is written
    /// whole may hold nothing before.
    pub memory: *const *mut u8,
    /// Since 1.2: how many elements they have: at least 1, at most `max_block_len`.
    pub memory_lens: *const u64,
    /// Since 1.3: mostly 0, and what follows means nothing. 1 when the block of the only destination goes to the context
    /// that the driver shares objects with, 2 when it comes back; nothing is evaluated then. The calling thread
    /// has that context as its current one, or the answer is `GPUPY_INVALID`. What was queued on one side
    /// before is done before what the other side queues later.
    pub lend: u32,
    /// Since 1.3: as what the block is lent: `GPUPY_LEND_TEXTURE` …
    pub lend_kind: u32,
    /// Since 1.3: 1 when the context may write the elements, otherwise 0.
    pub lend_writes: u32,
    /// Since 1.3: the `lent_name` of a block that comes back, otherwise 0.
    pub lend_name: u64,
}

/// What an evaluation cost. The host clears it before the call; the driver fills it in.
#[repr(C)]
pub struct RawEvaluated {
    /// `sizeof(gpupy_evaluated)` as the host knows it. Write nothing beyond.
    pub size: usize,
    /// Kernels compiled for it because no compiled one fitted.
    pub compiled: u32,
    /// Kernels compiled for it with its scalars as literals, in place of one that would have done.
    pub specialised: u32,
    /// Device launches (draws, dispatches), at least 1.
    pub launches: u32,
    /// What the device ran, in the language that it was given, for people: UTF-8 that ends with a 0
    /// and stays as it is until the next call with this state. Null where there is no such text.
    pub code: *const c_char,
    /// Since 1.3: the name, in the API, of what a block is lent as; never 0 for one that goes.
    pub lent_name: u64,
    /// Since 1.3: what sort of object that is, by the API's number.
    pub lent_target: u32,
    /// Since 1.3: the format of its texels, by the API's number; 0 for a buffer.
    pub lent_format: u32,
    /// Since 1.3: texels of four elements in a row; 0 for a buffer.
    pub lent_width: u32,
    /// Since 1.3: rows; 0 for a buffer.
    pub lent_height: u32,
    /// Since 1.3: elements in a row: what it has room for, or up to three fewer; of a buffer all.
    pub lent_row: u64,
}

/// The answer of `check_ir`. The host clears it before the call; the driver fills it in.
#[repr(C)]
pub struct RawCheck {
    /// `sizeof(gpupy_check)` as the host knows it. Write nothing beyond.
    pub size: usize,
    /// 1 when the program can be evaluated in one piece, otherwise 0.
    pub fits: u32,
    /// What it really needs.
    pub resources: [u32; GPUPY_RESOURCES],
}

/// Something whose need `resource_get` tells.
#[repr(C)]
pub struct RawPart {
    /// `sizeof(gpupy_part)` as the host knows it.
    pub size: usize,
    /// What it is (`GPUPY_PART_OP` …).
    pub kind: u32,
    /// The operation of `GPUPY_PART_OP`, otherwise 0.
    pub op: u32,
    /// The dtype; of `GPUPY_PART_INDEX`, int32.
    pub dtype: u32,
}

/// A driver: who it is, and its 14 functions. None of them may be null.
///
/// **Who checks what.** The host promises, and a driver need not check again: programs have been
/// verified; blocks have the dtypes of the program; every access of a launch stays inside its
/// operand; no launch has an empty shape. A driver promises: a call that fails leaves every block as
/// it was, but for destinations written whole, and the driver works on; every element of a
/// destination that the launch does not name stays as it was; no exception and no `longjmp` leaves
/// a function.
///
/// **Mistakes that cost little to find** a driver answers with `GPUPY_INVALID`: a handle that is
/// dead or was never given out; a range of `block_read` or `block_write` that leaves its block, or
/// is not whole elements; a block that is empty, too large, or of another dtype.
///
/// **Threads.** The host calls with one `state` from one thread at a time, but from any thread. A
/// process may open a driver several times: each `init` makes a state of its own, and two states
/// may be in use in two threads at once.
///
/// **Pointers.** What a call is given lives until the call returns, except `state`. Null is given
/// only where that is said.
///
/// **Results.** Functions with an `error` return `GPUPY_OK` or the kind of the error.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Table {
    /// `sizeof(gpupy_driver_table)` as the driver knows it.
    pub size: usize,
    /// `GPUPY_ABI_MAJOR` as the driver knows it.
    pub abi_major: u32,
    /// `GPUPY_ABI_MINOR` as the driver knows it.
    pub abi_minor: u32,
    /// The driver's name, for people: UTF-8 that ends with a 0.
    pub name: [c_char; GPUPY_NAME],
    /// Opens the device and makes the driver's state, which is given to all other calls. May leave
    /// `*state` null where there is nothing to keep.
    ///
    /// Errors: `GPUPY_UNAVAILABLE`; nothing is left open then, and `cleanup` is not called.
    pub init: Option<
        unsafe extern "C" fn(
            state: *mut *mut c_void,
            config: *const RawConfig,
            capabilities: *mut RawCapabilities,
            error: *mut RawError,
        ) -> i32,
    >,
    /// Waits for work that still runs, closes the device, and frees every block, every lowered
    /// program and the state. Called once for each successful `init`. Never fails.
    pub cleanup: Option<unsafe extern "C" fn(state: *mut c_void)>,
    /// Tells how the driver does an operation: `GPUPY_ABSENT`, `GPUPY_NATIVE` or `GPUPY_LOWERED`.
    /// The answer is the same until `cleanup`.
    ///
    /// `dtype` is that of the first operand; of a cast, bitcast, select or gather, of the result. An
    /// operation or dtype that the driver does not know is absent.
    ///
    /// `GPUPY_LOWERED` sets `*lowered` to a program of the driver's that stays as it is until
    /// `cleanup`: a map of rank 1 without operands and accesses, whose parameters are the
    /// operation's operands and whose one destination is its result, of native operations only.
    pub get_method: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            op: u32,
            dtype: u32,
            lowered: *mut *const RawProgram,
        ) -> i32,
    >,
    /// Allocates a block and sets `*block` to a handle: a number that the driver gives out only
    /// once in a process, so that a dead or foreign handle is nobody else's. The contents are
    /// undefined, or those of the host memory given for them.
    ///
    /// Errors: `GPUPY_OUT_OF_MEMORY`, `GPUPY_INVALID` for a length or dtype that no block may have,
    /// `GPUPY_DEVICE_LOST`.
    pub block_alloc: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            spec: *const RawBlockSpec,
            block: *mut u64,
            error: *mut RawError,
        ) -> i32,
    >,
    /// Frees a block. May be called while queued work still uses it; the driver keeps it until that
    /// is done. The handle is dead on return. Never fails: one that is dead already, or was never
    /// given out, is passed over.
    pub block_free: Option<unsafe extern "C" fn(state: *mut c_void, block: u64)>,
    /// Copies `bytes` bytes of a block from element `offset` to `out`, after waiting for the work
    /// that writes the block. Whole elements, C order, native endian; a bool is one byte, 0 or 1.
    /// With 0 bytes (`out` may then be null) it only waits.
    ///
    /// Errors: `GPUPY_INVALID` for a dead handle or a range outside the block, with `out` as it
    /// was; `GPUPY_DEVICE_LOST`, `GPUPY_POISONED`, with `out` undefined.
    pub block_read: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            block: u64,
            offset: u64,
            out: *mut u8,
            bytes: usize,
            error: *mut RawError,
        ) -> i32,
    >,
    /// Copies `bytes` bytes from `data` into a block from element `offset`. The format is that of
    /// `block_read`. Evaluations that are queued see the old contents, later ones the new. With 0
    /// bytes (`data` may then be null) it does nothing.
    ///
    /// Errors: `GPUPY_INVALID` for a dead handle or a range outside the block, which is as it was;
    /// `GPUPY_DEVICE_LOST`.
    pub block_write: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            block: u64,
            offset: u64,
            data: *const u8,
            bytes: usize,
            error: *mut RawError,
        ) -> i32,
    >,
    /// Tells whether a program can be evaluated in one piece, and what it needs. The answer for a
    /// program is the same until `cleanup`.
    ///
    /// Errors: `GPUPY_UNSUPPORTED`, for an operation, dtype or form that the driver lacks.
    pub check_ir: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            program: *const RawProgram,
            check: *mut RawCheck,
            error: *mut RawError,
        ) -> i32,
    >,
    /// Evaluates a program into its destinations. May return before the device is done; everything
    /// called later behaves as if it were. Operands may be freed as soon as it returns.
    ///
    /// Errors: `GPUPY_REFUSED`, `GPUPY_OUT_OF_MEMORY`, and `GPUPY_INVALID` for a dead handle, with
    /// blocks as they were but for destinations written whole, which are undefined;
    /// `GPUPY_DEVICE_LOST`.
    pub eval_ir: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            launch: *const RawLaunch,
            evaluated: *mut RawEvaluated,
            error: *mut RawError,
        ) -> i32,
    >,
    /// Writes an upper bound of what one part of a program needs: 8 counts. The sum over a
    /// program's parts is never below what `check_ir` finds for it.
    pub resource_get:
        Option<unsafe extern "C" fn(state: *mut c_void, part: *const RawPart, resources: *mut u32)>,
    /// Writes the empty account: 8 counts.
    pub resource_zero: Option<unsafe extern "C" fn(state: *mut c_void, resources: *mut u32)>,
    /// Adds the 8 counts of `other` to those of `total`; one that would overflow stays highest.
    pub resource_add:
        Option<unsafe extern "C" fn(state: *mut c_void, total: *mut u32, other: *const u32)>,
    /// Takes the 8 counts of `other` from those of `total`; one that would fall below 0 stays 0.
    pub resource_sub:
        Option<unsafe extern "C" fn(state: *mut c_void, total: *mut u32, other: *const u32)>,
    /// 1 when a program with this account of 8 counts can be evaluated in one piece, otherwise 0.
    pub resource_check:
        Option<unsafe extern "C" fn(state: *mut c_void, resources: *const u32) -> i32>,
}
