//! A driver's table whose functions answer with the numbers of the input.
//!
//! Owns [`answer_with`] and [`TABLE`]. Invariants: every returned pointer is valid, because the host cannot
//! check those; everything else is arbitrary.
//!
//! Not here: the calls (`answers.rs`).

use crate::bytes::Bytes;
use crate::memory_form::Flat;
use gpupy_core::plugin::Growing;
use gpupy_core::plugin::driver_table::{
    GPUPY_ABI_MAJOR, GPUPY_ABI_MINOR, GPUPY_RESOURCES, RawBlockSpec, RawCapabilities, RawCheck,
    RawConfig, RawError, RawEvaluated, RawLaunch, RawPart, RawProgram, Table,
};
use std::cell::RefCell;
use std::ffi::{c_char, c_void};

/// The source of the answers, and the memory that returned pointers refer to.
struct Script {
    bytes: Bytes,
    /// The number of results so far.
    told: u32,
    /// The program of each lowered operation, and the C form that the host was given.
    lowered: Option<Box<(Flat, RawProgram)>>,
}

thread_local! {
    static SCRIPT: RefCell<Script> =
        RefCell::new(Script { bytes: Bytes::default(), told: 0, lowered: None });
}

/// Makes the functions answer with the numbers of these bytes. The lowered program is read first.
pub fn answer_with(mut bytes: Bytes) {
    let lowered = (bytes.below(4) == 3).then(|| {
        let flat = Flat::read(&mut bytes);
        let raw = flat.raw();
        // The lists of the program stay where they are when it moves.
        Box::new((flat, raw))
    });
    SCRIPT.set(Script { bytes, told: 0, lowered });
}

/// The number of calls of functions that can fail, since then.
pub fn calls() -> u32 {
    script(|script| script.told)
}

fn script<R>(answer: impl FnOnce(&mut Script) -> R) -> R {
    SCRIPT.with_borrow_mut(answer)
}

/// The table.
pub static TABLE: Table = Table {
    size: size_of::<Table>(),
    abi_major: GPUPY_ABI_MAJOR,
    abi_minor: GPUPY_ABI_MINOR,
    // Without an end.
    name: [b'x' as c_char; 32],
    init: Some(init),
    cleanup: Some(cleanup),
    get_method: Some(get_method),
    block_alloc: Some(block_alloc),
    block_free: Some(block_free),
    block_read: Some(block_read),
    block_write: Some(block_write),
    check_ir: Some(check_ir),
    eval_ir: Some(eval_ir),
    resource_get: Some(resource_get),
    resource_zero: Some(resource_zero),
    resource_add: Some(resource_add),
    resource_sub: Some(resource_sub),
    resource_check: Some(resource_check),
};

fn characters(bytes: &mut Bytes, into: &mut [c_char]) {
    match bytes.u8() {
        0 => {}
        // All of one byte, without an end.
        1 => into.fill(bytes.u8() as c_char),
        len => into.iter_mut().take(len.into()).for_each(|to| *to = bytes.u8() as c_char),
    }
}

/// A number that is mostly small, sometimes any.
fn number(bytes: &mut Bytes) -> u32 {
    match bytes.u8() {
        255 => bytes.u32(),
        small => small.into(),
    }
}

/// A result, with the words of an error.
fn told(script: &mut Script, error: *mut RawError) -> i32 {
    script.told += 1;
    let bytes = &mut script.bytes;
    let code = match bytes.u8() {
        0..=191 => return 0,
        255 => bytes.u32() as i32,
        code => i32::from(code % 9),
    };
    // SAFETY: the host gives a whole struct.
    let error = unsafe { &mut *error };
    characters(bytes, &mut error.operation);
    characters(bytes, &mut error.message);
    error.fact_count = number(bytes);
    for k in 0..bytes.below(error.fact_keys.len() + 1) {
        characters(bytes, &mut error.fact_keys[k]);
        characters(bytes, &mut error.fact_values[k]);
    }
    error.size = bytes.u8().into();
    code
}

unsafe extern "C" fn init(
    state: *mut *mut c_void,
    _config: *const RawConfig,
    capabilities: *mut RawCapabilities,
    error: *mut RawError,
) -> i32 {
    script(|script| {
        let bytes = &mut script.bytes;
        // SAFETY: the host gives room for a pointer and a whole struct.
        let (state, found) = unsafe { (&mut *state, &mut *capabilities) };
        *state = std::ptr::without_provenance_mut(bytes.u8().into());
        characters(bytes, &mut found.device);
        found.hardware = number(bytes);
        found.forms = number(bytes);
        found.flushes_subnormals = number(bytes);
        found.host_memory = number(bytes);
        // Sensible values first, so that most drivers open.
        found.max_dests = number(bytes) ^ 1;
        found.max_block_len = bytes.u64() ^ 256;
        found.dtype_count = u32::from(bytes.u8()) ^ 4;
        for (dtype, sensible) in found.dtypes.iter_mut().zip([10, 3, 1, 7]) {
            *dtype = number(bytes) ^ sensible;
        }
        found.resource_count = u32::from(bytes.u8()) ^ 2;
        found.resource_limits.iter_mut().for_each(|limit| *limit = number(bytes));
        found.resource_names.iter_mut().for_each(|name| characters(bytes, name));
        found.max_reductions = number(bytes).into();
        found.memory_launches = number(bytes);
        found.pieces = number(bytes);
        found.size = bytes.u8().into();
        told(script, error)
    })
}

unsafe extern "C" fn cleanup(_state: *mut c_void) {}

unsafe extern "C" fn get_method(
    _state: *mut c_void,
    _op: u32,
    _dtype: u32,
    lowered: *mut *const RawProgram,
) -> i32 {
    script(|script| {
        if let Some(program) = &script.lowered {
            // SAFETY: the host gives room for a pointer.
            unsafe { *lowered = &raw const program.1 };
        }
        match script.bytes.u8() {
            255 => script.bytes.u32() as i32,
            method => i32::from(method % 4) ^ 1,
        }
    })
}

unsafe extern "C" fn block_alloc(
    _state: *mut c_void,
    _spec: *const RawBlockSpec,
    block: *mut u64,
    error: *mut RawError,
) -> i32 {
    script(|script| {
        // SAFETY: the host gives room for a number.
        unsafe { *block = script.bytes.u8().into() };
        told(script, error)
    })
}

unsafe extern "C" fn block_free(_state: *mut c_void, _block: u64) {}

unsafe extern "C" fn block_read(
    _state: *mut c_void,
    _block: u64,
    _offset: u64,
    out: *mut u8,
    bytes: usize,
    error: *mut RawError,
) -> i32 {
    script(|script| {
        if bytes > 0 {
            // SAFETY: the host gives room for so many bytes.
            unsafe { out.write_bytes(script.bytes.u8(), bytes) };
        }
        told(script, error)
    })
}

unsafe extern "C" fn block_write(
    _state: *mut c_void,
    _block: u64,
    _offset: u64,
    _data: *const u8,
    _bytes: usize,
    error: *mut RawError,
) -> i32 {
    script(|script| told(script, error))
}

unsafe extern "C" fn check_ir(
    _state: *mut c_void,
    _program: *const RawProgram,
    check: *mut RawCheck,
    error: *mut RawError,
) -> i32 {
    script(|script| {
        // SAFETY: the host gives a whole struct.
        let check = unsafe { &mut *check };
        check.fits = number(&mut script.bytes) ^ 1;
        check.resources.iter_mut().for_each(|count| *count = number(&mut script.bytes));
        check.size = script.bytes.u8().into();
        told(script, error)
    })
}

unsafe extern "C" fn eval_ir(
    _state: *mut c_void,
    _launch: *const RawLaunch,
    evaluated: *mut RawEvaluated,
    error: *mut RawError,
) -> i32 {
    script(|script| {
        let [compiled, specialised, launches] = [(); 3].map(|()| number(&mut script.bytes));
        // SAFETY: the host gives a whole struct.
        unsafe {
            *evaluated = RawEvaluated { compiled, specialised, launches, ..RawEvaluated::cleared() }
        };
        told(script, error)
    })
}

fn counts(into: *mut u32) {
    // SAFETY: the host gives room for the counts of an account.
    let into = unsafe { &mut *into.cast::<[u32; GPUPY_RESOURCES]>() };
    script(|script| into.iter_mut().for_each(|count| *count = number(&mut script.bytes)));
}

unsafe extern "C" fn resource_get(_state: *mut c_void, _part: *const RawPart, resources: *mut u32) {
    counts(resources);
}

unsafe extern "C" fn resource_zero(_state: *mut c_void, resources: *mut u32) {
    counts(resources);
}

unsafe extern "C" fn resource_add(_state: *mut c_void, total: *mut u32, _other: *const u32) {
    counts(total);
}

unsafe extern "C" fn resource_sub(_state: *mut c_void, total: *mut u32, _other: *const u32) {
    counts(total);
}

unsafe extern "C" fn resource_check(_state: *mut c_void, _resources: *const u32) -> i32 {
    script(|script| number(&mut script.bytes) as i32 ^ 1)
}
