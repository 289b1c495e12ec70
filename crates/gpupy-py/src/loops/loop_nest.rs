//! A loop of the program with what is in it, and its versions.
//!
//! Owns [`LoopNest`]. Versions are kept by what the names are; few of them.

use super::entry_values::{Entered, Types};
use gpupy_core::DType;
use gpupy_loops::{DotFunctions, Flow, Given, Nest, NestVersion, Pause, Reason, flow};
use lru::LruCache;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Versions of a nest that are kept.
const VERSIONS: NonZeroUsize = NonZeroUsize::new(8).unwrap();
/// How long other threads and signals wait.
const PAUSE: Duration = Duration::from_millis(5);

/// A nest of loops.
#[pyclass(module = "gpupy._gpupy", frozen)]
pub struct LoopNest {
    nest: Nest,
    // Without arrays: its names and loops.
    flow: Flow,
    // `None` where there would be too much code.
    versions: Mutex<LruCache<Vec<Given>, Option<Arc<NestVersion>>>>,
}

/// Where a run left a nest.
#[pyclass(module = "gpupy._gpupy", frozen, get_all)]
pub struct LoopExit {
    /// The statement that is next.
    statement: usize,
    /// Why: `done`, `return`, `value`, `kind`.
    reason: &'static str,
    /// The values of the names that are bound.
    names: Py<PyDict>,
    /// By the statement of a loop over a range: its next item, its end, its step.
    loops: Py<PyDict>,
    /// What a handler of a signal raised.
    error: Option<Py<PyAny>>,
    /// Seconds of compiling.
    compiling: f64,
}

#[pymethods]
impl LoopNest {
    /// A nest as JSON.
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let nest: Nest =
            serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let versions = Mutex::new(LruCache::new(VERSIONS));
        Ok(Self { flow: flow(&nest, &[]), nest, versions })
    }

    /// Runs it for the values of its names, ``None`` for those without one.
    ///
    /// ``goes_on`` is asked in pauses. Gives nothing where there is no version and none ``may_compile``, or none can
    /// be.
    fn run(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyList>,
        may_compile: bool,
        goes_on: &Bound<'_, PyAny>,
        is_interpreted: bool,
    ) -> PyResult<Option<LoopExit>> {
        let values: Vec<_> = values.iter().collect();
        if values.len() != self.nest.names.len() {
            return Err(PyValueError::new_err("a value for each name"));
        }
        let mut entered = Entered::new(py, &self.flow, &values)?;
        let start = Instant::now();
        let Some(version) = self.version(&entered, may_compile, is_interpreted) else {
            return Ok(None);
        };
        let compiling = start.elapsed().as_secs_f64();
        let (mut rounds, mut last, mut error) = (0, Instant::now(), None);
        let mut ask = || {
            rounds = next_rounds(rounds, last.elapsed());
            let answer = pause(py, goes_on);
            last = Instant::now();
            match answer {
                Ok(true) => Some(rounds),
                Ok(false) => None,
                Err(raised) => {
                    error = Some(raised);
                    None
                }
            }
        };
        // SAFETY: the words are of this version's layout; `entered` keeps the arrays, and Python's lock keeps others
        // from writing but in pauses.
        let exit = unsafe { version.run(&mut entered.words, Pause::new(&mut ask)) };
        let words = &entered.words;
        let (types, names, loops) = (Types::get(py)?, PyDict::new(py), PyDict::new(py));
        for (number, name) in self.nest.names.iter().enumerate() {
            if self.flow.is_bound[number]
                && let Some(value) = types.object(py, words[2 * number + 1], words[2 * number])?
            {
                names.set_item(name, value)?;
            }
        }
        for (number, one) in self.flow.loops.iter().enumerate() {
            let word = 2 * self.nest.names.len() + 3 * number;
            let [next, stop, step] = [0, 1, 2].map(|place| words[word + place] as i64);
            loops.set_item(one.statement, (next, stop, step))?;
        }
        let reason = match exit.reason {
            Reason::Value => "value",
            Reason::Kind => "kind",
            Reason::Return => "return",
            Reason::Done => "done",
        };
        let error = error.map(|error: PyErr| error.into_value(py).into_any());
        let (names, loops) = (names.unbind(), loops.unbind());
        Ok(Some(LoopExit { statement: exit.statement, reason, names, loops, error, compiling }))
    }
}

impl LoopNest {
    fn version(
        &self,
        entered: &Entered<'_>,
        may_compile: bool,
        is_interpreted: bool,
    ) -> Option<Arc<NestVersion>> {
        let given = &entered.given;
        let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = versions.get(given) {
            return known.clone();
        }
        if !may_compile {
            return None;
        }
        let axes: Vec<_> = given.iter().map(Given::axes).collect();
        let flow = flow(&self.nest, &axes);
        let version =
            NestVersion::new(&flow, given, &entered.words, PRODUCTS, is_interpreted).map(Arc::new);
        versions.put(given.clone(), version.clone());
        version
    }
}

const PRODUCTS: DotFunctions =
    DotFunctions { of_doubles: product_of_doubles, of_singles: product_of_singles };

extern "C" fn product_of_doubles(a: i64, a_bytes: i64, terms: i64, b: i64, b_bytes: i64) -> i64 {
    product(DType::F64, terms, (a, a_bytes), (b, b_bytes))
}

extern "C" fn product_of_singles(a: i64, a_bytes: i64, terms: i64, b: i64, b_bytes: i64) -> i64 {
    product(DType::F32, terms, (a, a_bytes), (b, b_bytes))
}

/// The product of two rows by the host's driver, as their `dot` gives it; NaN where there is no memory for it, at which
/// the nest is left.
fn product(dtype: DType, terms: i64, left: (i64, i64), right: (i64, i64)) -> i64 {
    let size = dtype.size() as i64;
    let vector =
        |(first, bytes): (i64, i64)| (first as usize as *const u8, (bytes / size) as isize);
    // SAFETY: code gives rows that were found within arrays that live meanwhile, or its own scratch memory.
    let found =
        unsafe { driver_cpu::vector_product(dtype, terms as usize, vector(left), vector(right)) };
    found.map_or(-1, |bits| bits as i64)
}

/// Rounds until the next pause, so that pauses come at their time.
fn next_rounds(rounds: i64, taken: Duration) -> i64 {
    let rounds = rounds.max(1000);
    if taken < PAUSE / 2 {
        rounds.saturating_mul(2).min(1 << 40)
    } else if taken > PAUSE {
        (rounds / 2).max(1)
    } else {
        rounds
    }
}

/// Lets handlers of signals and other threads run; whether the nest goes on.
// Nothing of ours is waited for, so that there is nothing to be in order before a fork.
#[allow(clippy::disallowed_methods)]
fn pause(py: Python<'_>, goes_on: &Bound<'_, PyAny>) -> PyResult<bool> {
    py.check_signals()?;
    py.detach(|| {});
    goes_on.call0()?.is_truthy()
}
