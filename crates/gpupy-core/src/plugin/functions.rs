//! The 14 functions of the table of a driver written in Rust, in the contract's order.
//!
//! Owns the functions, and [`Plugin`], the driver that they call. Each checks its arguments, calls the driver inside a
//! panic guard, and reports the result. The driver is not asked about things that it cannot know, such as an operation
//! of a newer host.
//!
//! Not here: the panic guard (`panic_guard.rs`), the table itself (`export.rs`).

use super::driver_table::{
    GPUPY_ABSENT, GPUPY_LOWERED, GPUPY_NATIVE, GPUPY_PART_DEST, GPUPY_PART_INDEX, GPUPY_PART_OP,
    GPUPY_PART_OPERAND, GPUPY_PART_PARAM, GPUPY_RESOURCES, GPUPY_ROUTINE, RawBlockSpec,
    RawCapabilities, RawCheck, RawConfig, RawError, RawEvaluated, RawLaunch, RawPart, RawProgram,
};
use super::fixed_strings::{get, put, tell, words_of};
use super::growing::Growing;
use super::panic_guard::{GuardedDriver, LoweredMethod, guarded, null, words};
use super::program::{self, read_launch, read_program};
use crate::driver::{
    BlockId, BlockSpec, Capabilities, Config, Driver, HostMemory, Method, Part, Resources,
};
use crate::error::{Error, ErrorKind, Result};
use crate::routines::Routine;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::rc::Rc;

/// A driver to export: its name and constructor.
pub trait Plugin {
    /// The driver's name, for display: at most 31 bytes of ASCII.
    const NAME: &'static str;

    /// Makes the driver, closed.
    fn make() -> Box<dyn Driver>;
}

pub unsafe extern "C" fn init<P: Plugin>(
    state: *mut *mut c_void,
    config: *const RawConfig,
    capabilities: *mut RawCapabilities,
    error: *mut RawError,
) -> i32 {
    let opened = || {
        // SAFETY: the host passes pointers as the header requires: null, or valid for the call.
        let (state, config) = unsafe { (state.as_mut(), RawConfig::take(config)?) };
        let state = state.ok_or_else(|| null("the place of the state"))?;
        let mut driver = P::make();
        let found = driver.init(&Config {
            block_bytes: config.block_bytes,
            device_bytes: config.device_bytes,
            resources: Resources(config.resources),
            threads: config.threads,
            device: get(&config.device_name),
            hardware: config.hardware != 0,
            share: config.share != 0,
        })?;
        // SAFETY: the host passes pointers as the header requires: null, or valid for the call.
        unsafe { raw_capabilities(&found).give(capabilities)? };
        *state = Box::into_raw(Box::new(GuardedDriver::new(driver, found.routines))).cast();
        Ok(())
    };
    let result = catch_unwind(AssertUnwindSafe(opened))
        .unwrap_or_else(|panic| Err(Error::new(ErrorKind::Unavailable, "init").says(words(panic))));
    // SAFETY: the host passes null or a struct for an error.
    unsafe { tell(result, error) }
}

fn raw_capabilities(found: &Capabilities) -> RawCapabilities {
    let mut raw = RawCapabilities::cleared();
    put(&found.device, &mut raw.device);
    raw.hardware = found.hardware.into();
    raw.forms = found.forms.iter().fold(0, |bits, form| bits | 1 << *form as u32);
    raw.flushes_subnormals = found.flushes_subnormals.into();
    raw.host_memory = found.host_memory.into();
    raw.import_alignment = found.import_alignment as u64;
    raw.max_reductions = found.max_reductions as u64;
    raw.memory_launches = found.memory_launches.into();
    raw.lends = found.lends;
    raw.pieces = found.pieces.into();
    raw.max_launches = found.max_launches as u64;
    let mut names: Vec<Routine> = found.routines.iter().map(|(routine, _)| *routine).collect();
    names.dedup();
    let places = raw.routine_names.iter_mut().zip(&mut raw.routine_numbers);
    for ((name, number), routine) in places.zip(names) {
        put(routine.info().name, name);
        *number = routine.number();
        raw.routine_count += 1;
    }
    raw.in_place = found.in_place.into();
    raw.max_dests = found.max_dests.try_into().unwrap_or(u32::MAX);
    raw.max_block_len = found.max_block_len as u64;
    for (to, dtype) in raw.dtypes.iter_mut().zip(&found.dtypes) {
        *to = *dtype as u32;
        raw.dtype_count += 1;
    }
    for (slot, (name, limit)) in found.resources.iter().take(raw.resource_limits.len()).enumerate()
    {
        put(name, &mut raw.resource_names[slot]);
        raw.resource_limits[slot] = *limit;
        raw.resource_count += 1;
    }
    for (to, name) in raw.devices.iter_mut().zip(&found.devices) {
        put(name, to);
        raw.device_count += 1;
    }
    let places = raw.finding_names.iter_mut().zip(&mut raw.findings);
    for ((name, finding), (what, answer)) in places.zip(&found.findings) {
        put(what, name);
        put(answer, finding);
        raw.finding_count += 1;
    }
    if let Some(costs) = found.costs {
        raw.has_costs = 1;
        (raw.round_trip, raw.upload, raw.download) =
            (costs.round_trip, costs.upload, costs.download);
    }
    raw
}

pub unsafe extern "C" fn cleanup(state: *mut c_void) {
    if state.is_null() {
        return;
    }
    // SAFETY: the state was made by `init`, and the host uses it no more after `cleanup`.
    let mut open = unsafe { Box::from_raw(state.cast::<GuardedDriver>()) };
    // A panic here has no caller to report to. The driver is dropped separately, because that may panic too.
    let _ = catch_unwind(AssertUnwindSafe(|| open.driver.cleanup())).map_err(words);
    let _ = catch_unwind(AssertUnwindSafe(|| drop(open))).map_err(words);
}

pub unsafe extern "C" fn get_method(
    state: *mut c_void,
    op: u32,
    dtype: u32,
    lowered: *mut *const RawProgram,
) -> i32 {
    let answer = |open: &mut GuardedDriver| {
        if let Some(number) = op.checked_sub(GPUPY_ROUTINE) {
            let asked = Routine::from_number(number).zip(program::dtype(dtype).ok());
            let offers = asked.is_some_and(|asked| open.routines.contains(&asked));
            return Ok(if offers { GPUPY_NATIVE } else { GPUPY_ABSENT });
        }
        // A newer host may pass codes that this version does not know.
        let (Ok(op), Ok(dtype)) = (program::op(op), program::dtype(dtype)) else {
            return Ok(GPUPY_ABSENT);
        };
        let known = match open.lowered.get(&(op, dtype)) {
            Some(known) => known.clone(),
            None => match open.driver.get_method(op, dtype) {
                Method::Absent => return Ok(GPUPY_ABSENT),
                Method::Native => return Ok(GPUPY_NATIVE),
                Method::Lowered(program) => Rc::new(LoweredMethod::new(program)),
            },
        };
        // SAFETY: the host passes null, or the address of a pointer.
        let lowered = unsafe { lowered.as_mut() }.ok_or_else(|| null("the place of a program"))?;
        *lowered = &raw const open.lowered.entry((op, dtype)).or_insert(known).raw;
        Ok(GPUPY_LOWERED)
    };
    // SAFETY: the host passes the state of `init`, and calls one function at a time.
    unsafe { guarded(state, "get_method", answer) }.unwrap_or(GPUPY_ABSENT)
}

pub unsafe extern "C" fn block_alloc(
    state: *mut c_void,
    spec: *const RawBlockSpec,
    block: *mut u64,
    error: *mut RawError,
) -> i32 {
    // SAFETY: the host passes pointers as the header requires, including that of the block's memory.
    unsafe {
        let result = guarded(state, "block_alloc", |open| {
            let spec = RawBlockSpec::take(spec)?;
            let block = block.as_mut().ok_or_else(|| null("the place of the block"))?;
            let len = usize::try_from(spec.len).unwrap_or(usize::MAX);
            let memory = NonNull::new(spec.memory).map(HostMemory::new);
            let spec = BlockSpec { dtype: program::dtype(spec.dtype)?, len, memory };
            *block = open.driver.block_alloc(spec)?.0;
            Ok(())
        });
        tell(result, error)
    }
}

pub unsafe extern "C" fn block_free(state: *mut c_void, block: u64) {
    let free = |open: &mut GuardedDriver| {
        open.driver.block_free(BlockId(block));
        Ok(())
    };
    // The next call reports a panic.
    // SAFETY: the host passes the state of `init`, and calls one function at a time.
    let _ = unsafe { guarded(state, "block_free", free) };
}

pub unsafe extern "C" fn block_read(
    state: *mut c_void,
    block: u64,
    offset: u64,
    out: *mut u8,
    bytes: usize,
    error: *mut RawError,
) -> i32 {
    // SAFETY: `out` has room for `bytes` bytes, and no other code accesses them during the call.
    unsafe {
        let result = guarded(state, "block_read", |open| {
            let out = match bytes {
                0 => &mut [],
                _ if out.is_null() || bytes > isize::MAX as usize => return Err(null("`out`")),
                _ => std::slice::from_raw_parts_mut(out, bytes),
            };
            open.driver.block_read(BlockId(block), element(offset), out)
        });
        tell(result, error)
    }
}

pub unsafe extern "C" fn block_write(
    state: *mut c_void,
    block: u64,
    offset: u64,
    data: *const u8,
    bytes: usize,
    error: *mut RawError,
) -> i32 {
    // SAFETY: `data` has `bytes` bytes, which do not change during the call.
    unsafe {
        let result = guarded(state, "block_write", |open| {
            let data = match bytes {
                0 => &[],
                _ if data.is_null() || bytes > isize::MAX as usize => return Err(null("`data`")),
                _ => std::slice::from_raw_parts(data, bytes),
            };
            open.driver.block_write(BlockId(block), element(offset), data)
        });
        tell(result, error)
    }
}

/// The position of an element. One beyond the address space stays out of every block.
fn element(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

pub unsafe extern "C" fn check_ir(
    state: *mut c_void,
    program: *const RawProgram,
    check: *mut RawCheck,
    error: *mut RawError,
) -> i32 {
    // SAFETY: the host gives pointers as the header says.
    unsafe {
        let result = guarded(state, "check_ir", |open| {
            let found = open.driver.check_ir(&read_program(program)?)?;
            let (fits, resources) = (found.fits.into(), found.resources.0);
            RawCheck { fits, resources, ..RawCheck::cleared() }.give(check)
        });
        tell(result, error)
    }
}

pub unsafe extern "C" fn eval_ir(
    state: *mut c_void,
    launch: *const RawLaunch,
    evaluated: *mut RawEvaluated,
    error: *mut RawError,
) -> i32 {
    // SAFETY: the host gives pointers as the header says.
    unsafe {
        let result = guarded(state, "eval_ir", |open| {
            let GuardedDriver { driver, programs, code, .. } = open;
            let done = read_launch(launch, programs, |launch| driver.eval_ir(launch));
            if let Err(error) = &done {
                let done = error.done().try_into().unwrap_or(u32::MAX);
                RawEvaluated { done, ..RawEvaluated::cleared() }.give(evaluated)?;
            }
            let done = done?;
            *code = done.code.as_deref().map(words_of).unwrap_or_default();
            let lent = done.lent.unwrap_or_default();
            let raw = RawEvaluated {
                lent_name: lent.name,
                lent_target: lent.target,
                lent_format: lent.format,
                lent_width: lent.width,
                lent_height: lent.height,
                lent_row: lent.row,
                code: if code.is_empty() { ptr::null() } else { code.as_ptr() },
                compiled: done.compiled,
                specialised: done.specialised,
                launches: done.launches,
                ..RawEvaluated::cleared()
            };
            raw.give(evaluated)
        });
        tell(result, error)
    }
}

/// Reads the 8 counts of resources.
///
/// # Safety
/// The pointer is null, or points to 8 counts.
unsafe fn counts(from: *const u32) -> Result<Resources> {
    // SAFETY: the pointer is null or to 8 counts, and an array has the alignment of its elements.
    let counts = unsafe { from.cast::<[u32; GPUPY_RESOURCES]>().as_ref() };
    counts.copied().map(Resources).ok_or_else(|| null("an account"))
}

/// Writes the 8 counts of resources.
///
/// # Safety
/// The pointer is null, or points to 8 counts.
unsafe fn give_counts(counts: Resources, to: *mut u32) -> Result<()> {
    // SAFETY: the pointer is null or to 8 counts, and an array has the alignment of its elements.
    let to = unsafe { to.cast::<[u32; GPUPY_RESOURCES]>().as_mut() };
    *to.ok_or_else(|| null("the place of an account"))? = counts.0;
    Ok(())
}

pub unsafe extern "C" fn resource_get(
    state: *mut c_void,
    part: *const RawPart,
    resources: *mut u32,
) {
    // SAFETY: the host gives pointers as the header says.
    let _ = unsafe {
        guarded(state, "resource_get", |open| {
            let part = RawPart::take(part)?;
            let dtype = program::dtype(part.dtype)?;
            let part = match part.kind {
                GPUPY_PART_OP => Part::Op(program::op(part.op)?, dtype),
                GPUPY_PART_OPERAND => Part::Operand(dtype),
                GPUPY_PART_PARAM => Part::Param(dtype),
                GPUPY_PART_INDEX => Part::Index,
                GPUPY_PART_DEST => Part::Dest(dtype),
                _ => return give_counts(Resources::default(), resources),
            };
            give_counts(open.driver.resource_get(part), resources)
        })
    };
}

pub unsafe extern "C" fn resource_zero(state: *mut c_void, resources: *mut u32) {
    // SAFETY: the host gives pointers as the header says.
    let _ = unsafe {
        guarded(state, "resource_zero", |open| give_counts(open.driver.resource_zero(), resources))
    };
}

pub unsafe extern "C" fn resource_add(state: *mut c_void, total: *mut u32, other: *const u32) {
    // SAFETY: the host gives pointers as the header says.
    let _ = unsafe {
        guarded(state, "resource_add", |open| {
            let mut sum = counts(total)?;
            open.driver.resource_add(&mut sum, &counts(other)?);
            give_counts(sum, total)
        })
    };
}

pub unsafe extern "C" fn resource_sub(state: *mut c_void, total: *mut u32, other: *const u32) {
    // SAFETY: the host gives pointers as the header says.
    let _ = unsafe {
        guarded(state, "resource_sub", |open| {
            let mut rest = counts(total)?;
            open.driver.resource_sub(&mut rest, &counts(other)?);
            give_counts(rest, total)
        })
    };
}

pub unsafe extern "C" fn resource_check(state: *mut c_void, resources: *const u32) -> i32 {
    // SAFETY: the host gives pointers as the header says.
    let fits = unsafe {
        guarded(state, "resource_check", |open| Ok(open.driver.resource_check(&counts(resources)?)))
    };
    // After a panic every program fits, so that `eval_ir` soon reports the panic.
    fits.unwrap_or(true).into()
}
