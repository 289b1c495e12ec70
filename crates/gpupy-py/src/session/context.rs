//! The context that all arrays of this process share, and the choice of its driver.
//!
//! Owns the one [`Context`]. Invariant: importing the module opens no device.
//!
//! Not here: waiting for it (`waiting.rs`), how a driver is opened and ranked (`gpupy_engine::Context`).

use crate::session::errors::{to_py, warn};
use crate::session::waiting::{interrupted, wait, without_gil};
use gpupy_core::op::Trait;
use gpupy_core::{Capabilities, DType, Driver, Op, Result, memory};
use gpupy_engine::{
    Context, MemberStats, Opener, Placement, Registry, Settings, Stats, check_free, device_nodes,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// The context in use. Replaced only by `reconfigure`, which leaks the one before it.
static CONTEXT: RwLock<Option<&'static Context>> = RwLock::new(None);
/// Whether another driver may step in when one fails (the fallback chain): not where fallbacks are errors.
static DRIVER_FALLBACK: AtomicBool = AtomicBool::new(true);
/// Whether arithmetic is left to NumPy.
static EAGER: AtomicBool = AtomicBool::new(false);
/// The drivers whose software device was told of.
static SAID: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
static OPEN: AtomicPtr<Context> = AtomicPtr::new(std::ptr::null_mut());
/// How many dtypes there are.
const DTYPES: usize = DType::ALL.len();
/// The operations that drivers have, by operation and dtype.
static SUPPORT: [CachedAnswer; 256 * DTYPES] =
    [const { CachedAnswer(AtomicU32::new(0)) }; 256 * DTYPES];
/// Which dtypes can be computed with.
static HELD: [CachedAnswer; DTYPES] = [const { CachedAnswer(AtomicU32::new(0)) }; DTYPES];
/// How often a driver was opened or the rules changed, plus one; answers with an older number are stale.
static OPENING: AtomicU32 = AtomicU32::new(1);

/// A yes or no of the drivers in use, asked once for each opening: the number of the opening, times
/// two, and one for yes.
struct CachedAnswer(AtomicU32);

impl CachedAnswer {
    fn get(&self, mut ask: impl FnMut() -> bool) -> Result<bool> {
        let opening = OPENING.load(Ordering::Acquire);
        let known = self.0.load(Ordering::Relaxed);
        if known / 2 == opening {
            return Ok(known % 2 == 1);
        }
        check_free()?;
        let mut yes = false;
        without_gil(&mut || yes = ask());
        self.0.store(opening * 2 + u32::from(yes), Ordering::Relaxed);
        Ok(yes)
    }
}

/// A driver's name, and what makes it.
type NamedDriver = (&'static str, fn() -> Box<dyn Driver>);

/// Our drivers of GPUs, best first. Apple's systems have no EGL, by which `gl` opens a device.
const GPU_DRIVERS: &[NamedDriver] = &[
    (driver_vulkan::NAME, driver_vulkan::new),
    (driver_wgpu::NAME, driver_wgpu::new),
    #[cfg(not(target_vendor = "apple"))]
    (driver_gl::NAME, driver_gl::new),
];

/// Our drivers, best first; hardware comes before all others (`Context::choose`).
fn registry() -> Registry {
    let mut registry = Registry::new().register_host(driver_cpu::NAME, driver_cpu::new);
    for (name, new) in GPU_DRIVERS {
        registry = registry.register_gpu(name, new, device_nodes::are_there);
    }
    registry.register(driver_soft::NAME, driver_soft::new)
}

/// The context; no device is opened.
///
/// # Errors
/// An environment variable with an invalid value.
pub fn context() -> PyResult<&'static Context> {
    if let Some((context, _)) = open() {
        return Ok(context);
    }
    if let Some(context) = *CONTEXT.read().unwrap_or_else(PoisonError::into_inner) {
        return Ok(context);
    }
    let settings = Settings::from_env().map_err(|e| PyValueError::new_err(e.to_string()))?;
    let mut slot = CONTEXT.write().unwrap_or_else(PoisonError::into_inner);
    Ok(slot.get_or_insert_with(|| made(settings)))
}

/// The hook that is called where elements of an open array are read.
static OPENER: OnceLock<Opener> = OnceLock::new();

/// Sets the hook that contexts call where elements of an open array are read; it can be set once.
pub fn set_opener(opener: Opener) {
    // A second one is the same: the module is initialised again.
    let _ = OPENER.set(opener);
}

/// A context that lives for ever.
fn made(settings: Settings) -> &'static Context {
    let context = Context::new(registry(), settings);
    context.set_driver_fallback(DRIVER_FALLBACK.load(Ordering::Relaxed));
    context.set_waiter(without_gil);
    context.set_interrupt(interrupted);
    if let Some(opener) = OPENER.get() {
        context.set_opener(*opener);
    }
    Box::leak(Box::new(context))
}

/// Allows or forbids that another driver evaluates a block when the driver in use failed.
#[pyfunction]
pub fn set_driver_fallback(allowed: bool) {
    DRIVER_FALLBACK.store(allowed, Ordering::Relaxed);
    if let Some(context) = *CONTEXT.read().unwrap_or_else(PoisonError::into_inner) {
        context.set_driver_fallback(allowed);
    }
}

/// The context with its driver open.
pub fn ready(py: Python<'_>) -> PyResult<&'static Context> {
    check_free().map_err(to_py)?;
    if let Some((context, _)) = open() {
        return Ok(context);
    }
    let context = context()?;
    let (name, found) = wait(py, || context.driver()).map_err(to_py)?;
    opened(context);
    tell_of_device(py, name, &found)?;
    tell_of_software(py, context, name, &found)?;
    Ok(context)
}

/// Warns, once for each driver, where a driver for GPUs that was asked for by name has a software device.
fn tell_of_software(
    py: Python<'_>,
    context: &Context,
    name: &'static str,
    found: &Capabilities,
) -> PyResult<()> {
    let is_for_gpus = GPU_DRIVERS.iter().any(|(gpus, _)| *gpus == name);
    if found.hardware || !is_for_gpus || context.wanted_driver().map_err(to_py)? == "auto" {
        return Ok(());
    }
    if !SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
        return Ok(());
    }
    let words = format!(
        "driver `{name}` runs on a software device, `{}`: without a GPU, driver `{}` is faster",
        found.device,
        driver_cpu::NAME
    );
    let category = py.get_type::<pyo3::exceptions::PyUserWarning>();
    warn(py, &category, &CString::new(words)?)
}

/// Warns where a device was asked for, and the driver that was opened has none to choose from.
fn tell_of_device(py: Python<'_>, name: &str, found: &Capabilities) -> PyResult<()> {
    let asked = std::env::var("GPUPY_DEVICE").unwrap_or_default();
    if asked.trim().is_empty() || !found.devices.is_empty() {
        return Ok(());
    }
    let words = format!(
        "GPUPY_DEVICE is `{asked}`, and driver `{name}` has no devices to choose from; `python -m gpupy \
         info` lists those of each driver, and GPUPY_DRIVER chooses one"
    );
    let category = py.get_type::<pyo3::exceptions::PyUserWarning>();
    warn(py, &category, &CString::new(words)?)
}

/// The context and the number of the opening, if its driver is open.
pub fn open() -> Option<(&'static Context, u32)> {
    let open = OPEN.load(Ordering::Acquire);
    // SAFETY: only `opened` stores here, and only `&'static` contexts or null.
    let context = unsafe { open.as_ref() }?;
    Some((context, opening()))
}

/// How often a driver was opened, and one; never 0.
pub fn opening() -> u32 {
    OPENING.load(Ordering::Acquire)
}

/// Notes that a driver is open, perhaps another than before.
fn opened(context: &'static Context) {
    OPENING.fetch_add(1, Ordering::Release);
    OPEN.store(std::ptr::from_ref(context).cast_mut(), Ordering::Release);
}

/// Closes the devices. The caller has closed the fork barrier.
pub fn close() {
    if let Some(context) = *CONTEXT.read().unwrap_or_else(PoisonError::into_inner) {
        context.close();
    }
}

/// Whether an operation on this dtype can be computed, by the driver in use or beside it; not where a reader asks, and
/// it is not known.
pub fn supports(context: &Context, op: Op, dtype: DType) -> bool {
    let answer = SUPPORT.get(op as usize * DTYPES + dtype as usize);
    let wanted = || op.info().has(Trait::Moves) || !EAGER.load(Ordering::Relaxed);
    let ask = || wanted() && context.supports(op, dtype);
    answer.is_some_and(|answer| answer.get(ask).unwrap_or(false))
}

/// Whether arithmetic is NumPy's, at the line: while a program wants to hear of its mistakes.
#[pyfunction]
pub fn eager() -> bool {
    EAGER.load(Ordering::Relaxed)
}

/// Leaves arithmetic to NumPy, or no longer.
#[pyfunction]
pub fn set_eager(eager: bool) {
    if EAGER.swap(eager, Ordering::Relaxed) != eager {
        // Cached answers hold no longer.
        OPENING.fetch_add(1, Ordering::Release);
    }
}

/// Whether arrays of this dtype are lazy. Every driver holds bool, int32 and float32, and all are held unless
/// the driver in use has to do without the host driver.
pub fn holds(dtype: DType) -> PyResult<bool> {
    if matches!(dtype, DType::Bool | DType::I32 | DType::F32) {
        return Ok(true);
    }
    let context = context()?;
    HELD[dtype as usize].get(|| context.holds(dtype)).map_err(to_py)
}

/// Starts again with a new context: for tests, which force small blocks and little memory, and all
/// work on the driver unless `strict` is false. Without `pauses` an evaluation goes on to its end; otherwise it
/// pauses after `slice` seconds. Arrays made before it keep their computed elements.
#[pyfunction]
#[pyo3(signature = (
    driver, block_bytes=0, device_bytes=0, resources=None, flush_operations=None, strict=true, pauses=true,
    slice=None, host_bytes=0
))]
#[allow(clippy::too_many_arguments)] // keywords of a function for tests
pub fn reconfigure(
    py: Python<'_>,
    driver: &str,
    block_bytes: u64,
    device_bytes: u64,
    resources: Option<Vec<u32>>,
    flush_operations: Option<usize>,
    strict: bool,
    pauses: bool,
    slice: Option<f64>,
    host_bytes: u64,
) -> PyResult<()> {
    let driver = driver.to_owned();
    let mut settings =
        Settings { driver, block_bytes, device_bytes, host_bytes, ..Settings::default() };
    settings.placement = if strict { Placement::Strict } else { Placement::Auto };
    for (slot, limit) in settings.resources.0.iter_mut().zip(resources.unwrap_or_default()) {
        *slot = limit;
    }
    settings.flush_operations = flush_operations.unwrap_or(settings.flush_operations);
    if let Some(seconds) = slice {
        settings.slice = Duration::try_from_secs_f64(seconds)
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
    }
    if !pauses {
        settings.slice = Duration::from_secs(3600);
    }
    let context = made(settings);
    wait(py, || context.driver()).map_err(to_py)?;
    let before = CONTEXT.write().unwrap_or_else(PoisonError::into_inner).replace(context);
    opened(context);
    if let Some(before) = before {
        wait(py, || before.close());
    }
    Ok(())
}

/// Chooses the driver called `name` and opens it now; `auto` takes the first that starts. `vulkan:1` is a driver and
/// one of its devices, `vulkan:0,vulkan:1` are several that share the work. With `share` it joins the renderer's
/// context of its API that is current in this thread, so that arrays can be lent there (`ndarray.lend`).
#[pyfunction]
#[pyo3(name = "use", signature = (name, *, share=false))]
pub fn use_driver(py: Python<'_>, name: &str, share: bool) -> PyResult<()> {
    let context = context()?;
    let chosen = wait(py, || match share {
        true => context.share_driver(name),
        false => context.use_driver(name),
    });
    chosen.map_err(to_py)?;
    opened(context);
    let (name, found) = wait(py, || context.driver()).map_err(to_py)?;
    tell_of_software(py, context, name, &found)
}

/// The name of the driver in use, opened if none is yet.
#[pyfunction]
pub fn current_driver(py: Python<'_>) -> PyResult<&'static str> {
    let context = context()?;
    wait(py, || context.driver()).map(|(name, _)| name).map_err(to_py)
}

/// Tries every driver; a list of dictionaries with `name`, `starts`, `device`, `hardware`, `dtypes`,
/// `largest_block` (elements), `destinations` (of one launch), `flushes_subnormals`, `host_memory`,
/// `imports` (host memory, to read it where it lies), `limits` and `findings` (by name), `devices` (that
/// could be chosen), `round_trip`, `upload` and `download` (nanoseconds, the latter a byte, where measured)
/// and `reason` (why it does not start).
#[pyfunction]
pub fn drivers(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let context = context()?;
    let found = wait(py, || context.drivers()).map_err(to_py)?;
    let list = PyList::empty(py);
    for (name, answer) in found {
        let row = PyDict::new(py);
        row.set_item("name", name)?;
        row.set_item("starts", answer.is_ok())?;
        let (found, reason) = match answer {
            Ok(found) => (Some(found), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let names = |found: &Capabilities| -> Vec<&str> {
            found.dtypes.iter().map(|dtype| dtype.name()).collect()
        };
        row.set_item("hardware", found.as_ref().is_some_and(|found| found.hardware))?;
        row.set_item("dtypes", found.as_ref().map_or_else(Vec::new, names))?;
        row.set_item("largest_block", found.as_ref().map(|found| found.max_block_len))?;
        row.set_item("destinations", found.as_ref().map(|found| found.max_dests))?;
        row.set_item("flushes_subnormals", found.as_ref().map(|found| found.flushes_subnormals))?;
        row.set_item("host_memory", found.as_ref().map(|found| found.host_memory))?;
        row.set_item("imports", found.as_ref().map(|found| found.import_alignment > 0))?;
        let limits = PyDict::new(py);
        for (name, limit) in found.iter().flat_map(|found| &found.resources) {
            limits.set_item(name.as_ref(), *limit)?;
        }
        row.set_item("limits", limits)?;
        let findings = PyDict::new(py);
        for (name, finding) in found.iter().flat_map(|found| &found.findings) {
            findings.set_item(name.as_ref(), finding)?;
        }
        row.set_item("findings", findings)?;
        row.set_item("devices", found.as_ref().map_or(&[][..], |found| &found.devices))?;
        let costs = found.as_ref().and_then(|found| found.costs);
        row.set_item("round_trip", costs.map(|costs| costs.round_trip))?;
        row.set_item("upload", costs.map(|costs| costs.upload))?;
        row.set_item("download", costs.map(|costs| costs.download))?;
        row.set_item("device", found.map(|found| found.device))?;
        row.set_item("reason", reason)?;
        list.append(row)?;
    }
    Ok(list)
}

/// The driver that was asked for: a name, or `auto`.
#[pyfunction]
pub fn wanted_driver(py: Python<'_>) -> PyResult<String> {
    let context = context()?;
    wait(py, || context.wanted_driver()).map_err(to_py)
}

/// The core's counters, by name; `drivers` has those of each driver, `groups` what each device of a group did, by the
/// words that chose the group.
#[pyfunction]
pub fn counters(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let context = context()?;
    // Another thread may be evaluating: this waits for it.
    let (stats, drivers, groups) =
        wait(py, || (context.stats(), context.driver_stats(), context.group_stats()));
    let row = work(py, &stats)?;
    row.set_item("automatic_flushes", stats.automatic_flushes)?;
    let not_kept = PyDict::new(py);
    for (reason, count) in stats.flushes_not_kept.reasons() {
        not_kept.set_item(reason.words(), count)?;
    }
    row.set_item("flushes_not_kept", not_kept)?;
    row.set_item("driver_fallbacks", stats.driver_fallbacks)?;
    row.set_item("values", stats.values)?;
    row.set_item("pins", stats.pins)?;
    let split = PyDict::new(py);
    for (name, stats) in drivers {
        split.set_item(name, work(py, &stats)?)?;
    }
    row.set_item("drivers", split)?;
    let shared = PyDict::new(py);
    for (name, members) in groups {
        let members = members.iter().map(|stats| member(py, stats));
        shared.set_item(name, members.collect::<PyResult<Vec<_>>>()?)?;
    }
    row.set_item("groups", shared)?;
    Ok(row)
}

/// What a device of a group did, by name.
fn member<'py>(py: Python<'py>, stats: &MemberStats) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", &stats.name)?;
    row.set_item("device", &stats.device)?;
    row.set_item("share", stats.share)?;
    row.set_item("slabs", stats.slabs)?;
    row.set_item("launches", stats.launches)?;
    row.set_item("taken_over", stats.taken_over)?;
    row.set_item("failures", stats.failures)?;
    row.set_item("bytes_in", stats.bytes_in)?;
    row.set_item("bytes_out", stats.bytes_out)?;
    Ok(row)
}

/// Counters of the work and memory of devices, by name.
fn work<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("kernels_compiled", stats.kernels_compiled)?;
    row.set_item("kernels_specialised", stats.kernels_specialised)?;
    row.set_item("launches", stats.launches)?;
    row.set_item("sequences", stats.sequences)?;
    row.set_item("instructions", stats.instructions)?;
    row.set_item("nodes_walked", stats.nodes_walked)?;
    row.set_item("plans_replayed", stats.plans_replayed)?;
    row.set_item("flushes_replayed", stats.flushes_replayed)?;
    row.set_item("in_place", stats.in_place)?;
    row.set_item("blocks_evaluated", stats.blocks_evaluated)?;
    row.set_item("computed_at_once", stats.computed_at_once)?;
    row.set_item("bytes_read", stats.bytes_read)?;
    row.set_item("bytes_spilled", stats.bytes_spilled)?;
    row.set_item("bytes_uploaded", stats.bytes_uploaded)?;
    row.set_item("extents_uploaded", stats.extents_uploaded)?;
    row.set_item("bytes_imported", stats.bytes_imported)?;
    row.set_item("bytes_downloaded", stats.bytes_downloaded)?;
    row.set_item("evictions", stats.evictions)?;
    row.set_item("cache_hits", stats.cache_hits)?;
    row.set_item("cache_misses", stats.cache_misses)?;
    row.set_item("pool_hits", stats.pool_hits)?;
    row.set_item("smaller_cuts", stats.smaller_cuts)?;
    row.set_item("blocks", stats.blocks)?;
    row.set_item("block_bytes", stats.block_bytes)?;
    row.set_item("pool_blocks", stats.pool_blocks)?;
    row.set_item("pool_bytes", stats.pool_bytes)?;
    Ok(row)
}

/// How many threads the driver `cpu` evaluates on.
#[pyfunction]
pub fn threads() -> PyResult<usize> {
    Ok(driver_cpu::threads(context()?.settings().threads))
}

/// Sets how many threads the driver `cpu` evaluates on from its next launch on, in the whole process.
#[pyfunction]
pub fn set_threads(count: i64) -> PyResult<()> {
    const MOST: u32 = Settings::MOST_THREADS;
    let wanted = usize::try_from(count).ok().filter(|count| (1..=MOST as usize).contains(count));
    let words = || format!("the number of threads is {count}, and not from 1 to {MOST}");
    driver_cpu::set_threads(wanted.ok_or_else(|| PyValueError::new_err(words()))?);
    Ok(())
}

/// Sets how many bytes of host memory that nothing uses the process keeps at most for reuse.
#[pyfunction]
pub fn set_pool_bytes(most: usize) {
    gpupy_engine::set_pool_bytes(most);
}

/// Gives memory that is kept for reuse back to the drivers and to the system.
#[pyfunction]
pub fn trim(py: Python<'_>) -> PyResult<()> {
    let context = context()?;
    wait(py, || context.trim()).map_err(to_py)
}

/// Makes the `n`-th allocation of ours from now on fail, for tests; returns the rest of the previous count, which is 0
/// after an allocation failed.
#[pyfunction]
pub fn _fail_allocation(n: u64) -> u64 {
    memory::fail_at(n)
}

/// Sets the core's counters to zero.
#[pyfunction]
pub fn reset_counters(py: Python<'_>) -> PyResult<()> {
    let context = context()?;
    wait(py, || context.reset_stats()).map_err(to_py)
}
