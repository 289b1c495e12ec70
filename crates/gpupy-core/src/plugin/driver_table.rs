//! The contract in C: the table of the 14 functions, and the structs of their arguments.
//!
//! Owns all of `include/gpupy_driver.h`: the header is generated from this file, and these comments are written for
//! readers of C. Invariants: there are only integers, pointers and arrays of them, never a Rust enum; structs begin
//! with their size and grow only at the end.
//!
//! Not here: what the functions promise (`driver.rs` has all of it), reading and writing these
//! structs (`program.rs`, `fixed_strings.rs`, `export.rs`, the loader in the engine).

use std::ffi::{c_char, c_void};

/// The major version of the table. Host and driver have the same one.
pub const GPUPY_ABI_MAJOR: u32 = 1;
/// The minor version of the table. It rises when structs or the table grow at the end.
pub const GPUPY_ABI_MINOR: u32 = 6;

/// Success. Every other result of a function that can fail is one of the errors below.
pub const GPUPY_OK: i32 = 0;
/// The device has no room. After `block_alloc`, the host frees blocks and calls again.
pub const GPUPY_OUT_OF_MEMORY: i32 = 1;
/// The driver lacks an operation, dtype or form. A smaller program would not help.
pub const GPUPY_UNSUPPORTED: i32 = 2;
/// The device refused a program that `check_ir` had accepted. A smaller program may work.
pub const GPUPY_REFUSED: i32 = 3;
/// The device is lost, with the contents of all its blocks. The host calls `cleanup`.
pub const GPUPY_DEVICE_LOST: i32 = 4;
/// The driver cannot start on this machine. The message says why, and what to install.
pub const GPUPY_UNAVAILABLE: i32 = 5;
/// An argument is invalid: a mistake of the host.
pub const GPUPY_INVALID: i32 = 6;
/// The evaluation that should have written a block failed earlier.
pub const GPUPY_POISONED: i32 = 7;

/// Answer of `get_method`: the driver lacks the operation.
pub const GPUPY_ABSENT: i32 = 0;
/// Answer of `get_method`: the driver has the operation, within the error bound of the operation
/// table.
pub const GPUPY_NATIVE: i32 = 1;
/// Answer of `get_method`: the host replaces the operation by the driver's program.
pub const GPUPY_LOWERED: i32 = 2;

/// Form: every instruction runs once for each point of the launch's shape.
pub const GPUPY_FORM_MAP: u32 = 0;
/// Form: one step of a reduction along the last axis, by the canonical tree.
pub const GPUPY_FORM_REDUCE: u32 = 1;
/// Form: running results along the last axis, chunk by chunk.
pub const GPUPY_FORM_SCAN: u32 = 2;
/// Form: a sort of the last axis in ascending order, or the positions of the sorted elements.
pub const GPUPY_FORM_SORT: u32 = 3;
/// Form: products of matrices.
pub const GPUPY_FORM_MATMUL: u32 = 4;
/// Form: a library operation that the driver offers by its name (`routine_names` of the capabilities). `form_op` is the
/// driver's number for it. The parameters are its attributes. Since 1.5.
pub const GPUPY_FORM_ROUTINE: u32 = 5;

/// The number with which `get_method` is called for a library operation: this plus the driver's
/// number for it. Since 1.5.
pub const GPUPY_ROUTINE: u32 = 0x10000;

/// Access: the strides of a C-contiguous array of the points, with any offset.
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

/// A block is lent as the texture that holds its elements.
pub const GPUPY_LEND_TEXTURE: u32 = 0;
/// A block is lent as a buffer with a copy of its elements, which is made on the device.
pub const GPUPY_LEND_BUFFER: u32 = 1;

/// The number of counts in an account of resources. Each driver defines their meaning.
pub const GPUPY_RESOURCES: usize = 8;
/// Bytes for the name of a plug-in, an operation, a fact or a resource, with the terminating 0.
pub const GPUPY_NAME: usize = 32;
/// Bytes for the name of a device, with the terminating 0.
pub const GPUPY_DEVICE_NAME: usize = 256;
/// Bytes for the value of a fact, with the terminating 0.
pub const GPUPY_FACT: usize = 256;
/// Bytes for a message, with the terminating 0.
pub const GPUPY_MESSAGE: usize = 2048;
/// The most facts of an error.
pub const GPUPY_FACTS: usize = 8;
/// The most devices that a driver names.
pub const GPUPY_DEVICES: usize = 16;
/// The most findings about a device.
pub const GPUPY_FINDINGS: usize = 32;
/// Room for the names of the library operations that a driver offers.
pub const GPUPY_ROUTINES: usize = 64;
/// The most dtypes of a device.
pub const GPUPY_DTYPES: usize = 32;
/// The most axes of a program's iteration space.
pub const GPUPY_RANK: u32 = 64;

/// The description of an error. The host clears it before each call that can fail. A driver whose
/// call fails fills it in, and may leave any part empty.
///
/// Strings are UTF-8, terminated by 0. The host shows an error as one line, `operation: message
/// (key: value, …)`. The line is lower case without a full stop, and has the limit beside the
/// offending value.
#[repr(C)]
pub struct RawError {
    /// `sizeof(gpupy_error)` in the host. The driver writes nothing beyond it.
    pub size: usize,
    /// The operation that failed, if that is not the called function.
    pub operation: [c_char; GPUPY_NAME],
    /// What happened, and what to do. If it is empty, the host shows a text for the returned kind.
    pub message: [c_char; GPUPY_MESSAGE],
    /// The number of facts below.
    pub fact_count: u32,
    /// The name of each fact.
    pub fact_keys: [[c_char; GPUPY_NAME]; GPUPY_FACTS],
    /// The value of each fact.
    pub fact_values: [[c_char; GPUPY_FACT]; GPUPY_FACTS],
}

/// Limits that a user may lower. 0 means the device's own limit, and so does a limit above it.
#[repr(C)]
pub struct RawConfig {
    /// `sizeof(gpupy_config)` in the host.
    pub size: usize,
    /// The size of the largest block, in bytes. A driver allows at least 256 elements in any case.
    pub block_bytes: u64,
    /// The memory of all blocks together, in bytes.
    pub device_bytes: u64,
    /// Limits of the driver's account of resources, count by count.
    pub resources: [u32; GPUPY_RESOURCES],
    /// The number of threads that evaluate, for a driver whose device is the host's cores.
    pub threads: u32,
    /// The device to open, if there are several: its position among the `devices` of the
    /// capabilities, or part of its name, without regard to case. It is UTF-8, terminated by 0. An
    /// empty name means the best device.
    pub device_name: [c_char; GPUPY_DEVICE_NAME],
    /// 1 if only a hardware GPU is wanted, otherwise 0. A driver that finds none may then return
    /// `GPUPY_UNAVAILABLE` before it opens anything that takes long.
    pub hardware: u32,
    /// Since 1.3: 1 if the driver is to share its objects with the context of its API that is
    /// current in the calling thread, otherwise 0. Blocks can then be lent to that context (`lends`
    /// of the capabilities).
    pub share: u32,
}

/// The findings of `init`. The host clears them before the call, and the driver fills them in.
#[repr(C)]
pub struct RawCapabilities {
    /// `sizeof(gpupy_capabilities)` in the host. The driver writes nothing beyond it.
    pub size: usize,
    /// The device's name, as its API gives it. It is UTF-8, terminated by 0.
    pub device: [c_char; GPUPY_DEVICE_NAME],
    /// 1 for a hardware GPU, 0 for a CPU or a software rasteriser.
    pub hardware: u32,
    /// The forms of programs that the driver evaluates besides maps: bit `1 << form` for each
    /// (`GPUPY_FORM_REDUCE` …). The host ignores bits that it does not know.
    pub forms: u32,
    /// 1 if arithmetic may take or give zero where IEEE 754 has a subnormal number, otherwise 0.
    pub flushes_subnormals: u32,
    /// 1 if blocks may be in host memory (`memory` of `gpupy_block_spec`) and an evaluation is done
    /// when `eval_ir` returns, otherwise 0.
    pub host_memory: u32,
    /// The most destinations of one program, at least 1.
    pub max_dests: u32,
    /// The number of elements of the largest block, for any dtype. It is at least 256.
    pub max_block_len: u64,
    /// The number of dtypes, at least 1.
    pub dtype_count: u32,
    /// The dtypes of blocks (`GPUPY_FLOAT32` …), each once.
    pub dtypes: [u32; GPUPY_DTYPES],
    /// The number of counts of an account that the driver uses, at most 8.
    pub resource_count: u32,
    /// The limits of these counts.
    pub resource_limits: [u32; GPUPY_RESOURCES],
    /// The names of these counts, for people. They are UTF-8, terminated by 0.
    pub resource_names: [[c_char; GPUPY_NAME]; GPUPY_RESOURCES],
    /// 1 if the block of a map's only destination may also be an operand, otherwise 0. It is for
    /// drivers with `host_memory`. Every access to that operand equals the destination's access, so
    /// each point reads only the element that it writes. After an error other than a lost device,
    /// the block is unchanged.
    pub in_place: u32,
    /// The number of devices below, at most 16. It is 0 for a driver of one device.
    pub device_count: u32,
    /// The names of all devices that the driver can open. They are UTF-8, terminated by 0.
    pub devices: [[c_char; GPUPY_DEVICE_NAME]; GPUPY_DEVICES],
    /// The number of findings below, at most 32.
    pub finding_count: u32,
    /// The names of properties of the device that the driver found by trying. They are UTF-8,
    /// terminated by 0.
    pub finding_names: [[c_char; GPUPY_NAME]; GPUPY_FINDINGS],
    /// The values of these properties.
    pub findings: [[c_char; GPUPY_FACT]; GPUPY_FINDINGS],
    /// 1 if the three costs below were measured, otherwise 0.
    pub has_costs: u32,
    /// Nanoseconds of a small launch with the download of its result.
    pub round_trip: f64,
    /// Nanoseconds per byte from the host to the device, in large blocks.
    pub upload: f64,
    /// Nanoseconds per byte from the device to the host, in large blocks.
    pub download: f64,
    /// The alignment in bytes of host memory that the driver can read in place. It is 0 if the
    /// driver cannot, or has `host_memory`. A block over such memory (`memory` of
    /// `gpupy_block_spec`) is never written, and never a destination. It includes the bytes up to
    /// the next multiple of the alignment after its elements. The driver may read the memory until
    /// `block_free` or `cleanup` returns; these wait for work that reads it.
    pub import_alignment: u64,
    /// Since 1.1: the most `reduce` instructions of one program. 0 counts as 1. Each further
    /// `reduce` has its operation's code as its second argument. The host gives the driver none with
    /// more.
    pub max_reductions: u64,
    /// Since 1.2: 1 if a launch may use host memory instead of blocks (`memory` of `gpupy_launch`)
    /// and is done when `eval_ir` returns. If it is 0, the host makes no such launch.
    pub memory_launches: u32,
    /// Since 1.3: the kinds of objects as which blocks can be lent to the context that the driver
    /// shares objects with: the sum of `1 << kind` (`GPUPY_LEND_TEXTURE` …). If it is 0, the host
    /// makes no launch that lends.
    pub lends: u32,
    /// Since 1.4: 1 if programs may have the operations `piece` and `choose`. If it is 0, the host sends
    /// comparisons and selects in their place.
    pub pieces: u32,
    /// Since 1.5: the number of library operations below, at most 64. If it is 0, the host makes no
    /// program of the form `GPUPY_FORM_ROUTINE`.
    pub routine_count: u32,
    /// Since 1.5: the names of the library operations that the driver offers. They are UTF-8,
    /// terminated by 0. The host ignores those that it does not know.
    pub routine_names: [[c_char; GPUPY_NAME]; GPUPY_ROUTINES],
    /// Since 1.5: the driver's number for each, less than 65536. Programs have it as `form_op`. The
    /// host asks `get_method` for `GPUPY_ROUTINE` plus the number and each dtype of an operand, once.
    pub routine_numbers: [u32; GPUPY_ROUTINES],
    /// Since 1.6: the most launches of one call of `eval_ir` (`rest` of `gpupy_launch`). 0 counts as 1. If it
    /// is less than 2, the host sends launches one by one.
    pub max_launches: u64,
}

/// The block that `block_alloc` allocates.
#[repr(C)]
pub struct RawBlockSpec {
    /// `sizeof(gpupy_block_spec)` in the host.
    pub size: usize,
    /// The dtype of the elements, one of those of the capabilities.
    pub dtype: u32,
    /// The number of elements: at least 1, at most `max_block_len`.
    pub len: u64,
    /// Host memory that has the elements, or null for memory of the driver. It is always null for a
    /// driver with neither `host_memory` nor `import_alignment`. A driver with `import_alignment`
    /// may return `GPUPY_UNSUPPORTED`; the host then asks for a block in the driver's memory. The
    /// memory is aligned for the dtype, and as large as the elements. Calls that name the block may
    /// use it, except `block_free`.
    pub memory: *mut u8,
}

/// One instruction of a program: 16 bytes in every version. A value is named by the position of its
/// instruction. `docs/ir.md` describes the arguments of each operation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawInst {
    /// The operation (`GPUPY_OP_ADD` …).
    pub op: u16,
    /// The dtype of its value (`GPUPY_FLOAT32` …).
    pub dtype: u8,
    /// The arguments. Those that the operation does not use are 0.
    pub args: [u32; 3],
}

/// The code of one kernel: flat arrays of integers, which belong to the side that gives the
/// program.
///
/// A program of the host is verified (see `docs/ir.md`), and lives until the call returns. A
/// program with an operation, dtype, form or kind that the driver does not know is unsupported: the
/// host may be newer. An array whose count is 0 may be a null pointer.
#[repr(C)]
pub struct RawProgram {
    /// `sizeof(gpupy_program)` in the side that gives it.
    pub size: usize,
    /// The form, which is the meaning of the iteration space: `GPUPY_FORM_MAP` …
    pub form: u32,
    /// The combining operation of the forms scan and reduce (of the first `reduce`), the number of the
    /// form routine, otherwise 0.
    pub form_op: u32,
    /// The number of axes of the iteration space, 1 to 64.
    pub rank: u32,
    /// The number of operand blocks.
    pub operand_count: u32,
    /// The number of scalars of a launch.
    pub param_count: u32,
    /// The number of accesses.
    pub access_count: u32,
    /// The number of destinations, at least 1.
    pub dest_count: u32,
    /// The number of instructions.
    pub inst_count: u32,
    /// The number of numbers in `extra`.
    pub extra_count: u32,
    /// The dtypes of the operand blocks.
    pub operands: *const u8,
    /// The dtypes of the scalars.
    pub params: *const u8,
    /// The kinds of the accesses (`GPUPY_ACCESS_AFFINE` …).
    pub accesses: *const u8,
    /// The dtypes of the destinations.
    pub dests: *const u8,
    /// The instructions. Each comes before those that use its value.
    pub insts: *const RawInst,
    /// Value lists of control instructions.
    pub extra: *const u32,
}

/// One evaluation of a program. All of its memory belongs to the host, and lives until the call
/// returns.
///
/// At the point `i` of the iteration space, an access refers to the element `offset +
/// strides[0]·i[0] + …` of its block. Every such element is inside its block. No two points of a
/// destination share an element. No destination is also an operand. The strides of access (or
/// destination) `k` are the `rank` numbers from `k · rank`.
#[repr(C)]
pub struct RawLaunch {
    /// `sizeof(gpupy_launch)` in the host.
    pub size: usize,
    /// The code. Its counts are the lengths of the arrays below.
    pub program: *const RawProgram,
    /// A 128-bit name of the code, low half first, for caches of compiled kernels. Equal code has
    /// the same name in every process and on every machine.
    pub fingerprint: [u64; 2],
    /// The iteration space: `rank` extents, none of them 0. Of a form with two spaces, it is the
    /// input space.
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
    /// The strides of the destinations, in elements. Of a form with an output space, they are over
    /// that space.
    pub dest_strides: *const i64,
    /// 1 for each destination of which the launch writes every element, in C order; otherwise 0.
    pub dest_whole: *const u8,
    /// Since 1.2: the number of pieces of host memory that the launch uses, usually 0. Otherwise
    /// the launch has no blocks, and `operands` and `dests` are positions in the two lists below.
    /// Only a driver with `memory_launches` gets such a launch. A position outside the lists, or an
    /// impossible length, is `GPUPY_INVALID`.
    pub memory_count: u32,
    /// Since 1.2: the addresses of these pieces. Each is aligned for the one dtype of the operands
    /// and destinations that name it. The driver may use them until the call returns. Pieces that
    /// are no destination may overlap. A destination that is written whole may have undefined
    /// elements before.
    pub memory: *const *mut u8,
    /// Since 1.2: the numbers of their elements: at least 1, at most `max_block_len`.
    pub memory_lens: *const u64,
    /// Since 1.3: usually 0; the fields below then have no meaning. 1 if the block of the only
    /// destination goes to the context that the driver shares objects with, 2 if it comes back.
    /// Nothing is evaluated in either case. That context is current in the calling thread;
    /// otherwise the result is `GPUPY_INVALID`. Work that one side queued before is done before the
    /// work that the other side queues afterwards.
    pub lend: u32,
    /// Since 1.3: the kind of object as which the block is lent: `GPUPY_LEND_TEXTURE` …
    pub lend_kind: u32,
    /// Since 1.3: 1 if the context may write the elements, otherwise 0.
    pub lend_writes: u32,
    /// Since 1.3: the `lent_name` of a block that comes back, otherwise 0.
    pub lend_name: u64,
    /// Since 1.6: the number of launches that are done after this one, in the same call, at most
    /// `max_launches - 1`. They are done in order, as if each were a call of its own: a later one may
    /// read or overwrite what an earlier one wrote. None of them has launches after it, uses host
    /// memory or lends.
    pub rest_count: u64,
    /// Since 1.6: these launches.
    pub rest: *const *const RawLaunch,
    /// Since 1.6: a 128-bit name of this launch and those after it, low half first; 0 if there is none.
    /// Launches with the same name have the same code, shapes, offsets and strides, and use the same
    /// block in the same places. Only the blocks themselves and the scalars may differ. A driver may
    /// keep under this name what it made of them, such as recorded commands.
    pub sequence: [u64; 2],
}

/// The cost of an evaluation. The host clears it before the call, and the driver fills it in.
#[repr(C)]
pub struct RawEvaluated {
    /// `sizeof(gpupy_evaluated)` in the host. The driver writes nothing beyond it.
    pub size: usize,
    /// The number of kernels that the driver compiled because no compiled kernel fitted.
    pub compiled: u32,
    /// The number of kernels that the driver compiled with the scalars as literals, although a
    /// compiled kernel fitted.
    pub specialised: u32,
    /// The number of device launches (draws, dispatches), at least 1.
    pub launches: u32,
    /// The code that the device ran, in its own language, for people. It is UTF-8, terminated by 0,
    /// and unchanged until the next call with this state. Null if there is no such text.
    pub code: *const c_char,
    /// Since 1.3: the API's name of the object as which a block is lent. It is never 0 for a block
    /// that goes.
    pub lent_name: u64,
    /// Since 1.3: the type of that object, by the API's number.
    pub lent_target: u32,
    /// Since 1.3: the format of its texels, by the API's number. It is 0 for a buffer.
    pub lent_format: u32,
    /// Since 1.3: the number of texels in a row, each of four elements. It is 0 for a buffer.
    pub lent_width: u32,
    /// Since 1.3: the number of rows. It is 0 for a buffer.
    pub lent_height: u32,
    /// Since 1.3: the number of elements in a row: as many as it has room for, or up to three
    /// fewer. In a buffer, it is the number of all elements.
    pub lent_row: u64,
    /// Since 1.6: after an error, the number of launches that are done, of one with others after it
    /// (`rest` of `gpupy_launch`). Blocks are then as they were after these, except destinations of
    /// the next one that are written whole.
    pub done: u32,
}

/// The answer of `check_ir`. The host clears it before the call, and the driver fills it in.
#[repr(C)]
pub struct RawCheck {
    /// `sizeof(gpupy_check)` in the host. The driver writes nothing beyond it.
    pub size: usize,
    /// 1 if the driver can evaluate the program in one piece, otherwise 0.
    pub fits: u32,
    /// The resources that the program really needs.
    pub resources: [u32; GPUPY_RESOURCES],
}

/// A part of a program, whose needs `resource_get` returns.
#[repr(C)]
pub struct RawPart {
    /// `sizeof(gpupy_part)` in the host.
    pub size: usize,
    /// The kind of the part (`GPUPY_PART_OP` …).
    pub kind: u32,
    /// The operation of `GPUPY_PART_OP`, otherwise 0.
    pub op: u32,
    /// The dtype. For `GPUPY_PART_INDEX`, it is int32.
    pub dtype: u32,
}

/// A driver: its versions, its name and its 14 functions. None of the functions may be null.
///
/// **Who checks what.** The host promises the following, and a driver need not check it again.
/// Programs are verified. Blocks have the dtypes of the program. Every access of a launch stays
/// inside its operand. No launch has an empty shape. A driver promises the following. A call that
/// fails leaves every block unchanged, except destinations that are written whole, and the driver
/// continues to work. An evaluation leaves every element unchanged that the launch does not write.
/// No exception and no `longjmp` leaves a function.
///
/// **Mistakes that are cheap to find.** A driver returns `GPUPY_INVALID` for a handle that is dead
/// or was never given out; for a range of `block_read` or `block_write` that leaves its block, or
/// that is not whole elements; and for a block that is empty, too large, or of another dtype.
///
/// **Threads.** The host uses one `state` in one thread at a time, but in any thread. A process may
/// open a driver several times. Each `init` makes a state of its own, and two states may be in use
/// in two threads at the same time.
///
/// **Pointers.** Arguments live until the call returns, except `state`. An argument is null only
/// where a comment says so.
///
/// **Results.** Functions with an `error` return `GPUPY_OK` or the kind of the error.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Table {
    /// `sizeof(gpupy_driver_table)` in the driver.
    pub size: usize,
    /// `GPUPY_ABI_MAJOR` in the driver.
    pub abi_major: u32,
    /// `GPUPY_ABI_MINOR` in the driver.
    pub abi_minor: u32,
    /// The driver's name, for people. It is UTF-8, terminated by 0.
    pub name: [c_char; GPUPY_NAME],
    /// Opens the device and makes the driver's state, which all other calls get. A driver without
    /// state may leave `*state` null.
    ///
    /// Errors: `GPUPY_UNAVAILABLE`. Nothing is left open then, and the host does not call
    /// `cleanup`.
    pub init: Option<
        unsafe extern "C" fn(
            state: *mut *mut c_void,
            config: *const RawConfig,
            capabilities: *mut RawCapabilities,
            error: *mut RawError,
        ) -> i32,
    >,
    /// Waits for running work, closes the device, and frees every block, every lowered program and
    /// the state. The host calls it once for each successful `init`. It never fails.
    pub cleanup: Option<unsafe extern "C" fn(state: *mut c_void)>,
    /// Returns how the driver does an operation: `GPUPY_ABSENT`, `GPUPY_NATIVE` or `GPUPY_LOWERED`.
    /// The answer is the same until `cleanup`.
    ///
    /// `dtype` is the dtype of the first operand; for a cast, bitcast, select or gather, that of
    /// the result. An operation or dtype that the driver does not know is absent. For a library
    /// operation `op` is `GPUPY_ROUTINE` plus its number.
    ///
    /// With `GPUPY_LOWERED`, the driver sets `*lowered` to a program that is unchanged until
    /// `cleanup`. The program is a map of rank 1 without operands and accesses. Its parameters are
    /// the operation's operands, and its one destination is the result. It has native operations
    /// only.
    pub get_method: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            op: u32,
            dtype: u32,
            lowered: *mut *const RawProgram,
        ) -> i32,
    >,
    /// Allocates a block and sets `*block` to its handle. A driver gives out each number once in a
    /// process, so that a dead or foreign handle never names another block. The elements are
    /// undefined, or those of the given host memory.
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
    /// Frees a block. Queued work may still use it; the driver then keeps the memory until that
    /// work is done. The handle is dead on return. It never fails: a handle that is dead or was
    /// never given out is ignored.
    pub block_free: Option<unsafe extern "C" fn(state: *mut c_void, block: u64)>,
    /// Copies `bytes` bytes of a block, from element `offset` on, to `out`, after the work that
    /// writes the block. The format is whole elements in C order, native endian; a bool is one
    /// byte, 0 or 1. With 0 bytes, for which `out` may be null, it only waits.
    ///
    /// Errors: `GPUPY_INVALID` for a dead handle or a range outside the block, with `out`
    /// unchanged; `GPUPY_DEVICE_LOST` and `GPUPY_POISONED`, with `out` undefined.
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
    /// Copies `bytes` bytes from `data` into a block, from element `offset` on, in the format of
    /// `block_read`. Queued evaluations read the old elements, later ones the new elements. With 0
    /// bytes, for which `data` may be null, it does nothing.
    ///
    /// Errors: `GPUPY_INVALID` for a dead handle or a range outside the block, which is unchanged;
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
    /// Returns whether the driver can evaluate a program in one piece, and the resources that it
    /// needs. The answer for a program is the same until `cleanup`.
    ///
    /// Errors: `GPUPY_UNSUPPORTED` for an operation, dtype or form that the driver lacks.
    pub check_ir: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            program: *const RawProgram,
            check: *mut RawCheck,
            error: *mut RawError,
        ) -> i32,
    >,
    /// Evaluates a program into its destinations; since 1.6, for a driver with `max_launches`, a
    /// sequence of programs. It may return before the device is done; all later calls behave as if it
    /// were. The host may free operands as soon as it returns.
    ///
    /// Errors: `GPUPY_REFUSED`, `GPUPY_OUT_OF_MEMORY`, and `GPUPY_INVALID` for a dead handle. They
    /// leave blocks unchanged, except destinations that are written whole, which are undefined.
    /// `GPUPY_DEVICE_LOST`.
    pub eval_ir: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            launch: *const RawLaunch,
            evaluated: *mut RawEvaluated,
            error: *mut RawError,
        ) -> i32,
    >,
    /// Writes an upper bound of the needs of one part of a program: 8 counts. The sum over a
    /// program's parts is never below the resources that `check_ir` finds.
    pub resource_get:
        Option<unsafe extern "C" fn(state: *mut c_void, part: *const RawPart, resources: *mut u32)>,
    /// Writes the empty account: 8 counts of 0.
    pub resource_zero: Option<unsafe extern "C" fn(state: *mut c_void, resources: *mut u32)>,
    /// Adds the 8 counts of `other` to those of `total`. A sum that overflows becomes the highest
    /// number.
    pub resource_add:
        Option<unsafe extern "C" fn(state: *mut c_void, total: *mut u32, other: *const u32)>,
    /// Subtracts the 8 counts of `other` from those of `total`. A difference below 0 becomes 0.
    pub resource_sub:
        Option<unsafe extern "C" fn(state: *mut c_void, total: *mut u32, other: *const u32)>,
    /// Returns 1 if the driver can evaluate a program with this account of 8 counts in one piece,
    /// otherwise 0.
    pub resource_check:
        Option<unsafe extern "C" fn(state: *mut c_void, resources: *const u32) -> i32>,
}
