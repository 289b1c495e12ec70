//! The class `Jit` behind `gpupy.jit`: a function that is traced, and repeated without Python.
//!
//! Owns [`Jit`] and its counts. Invariant: a call gives the function's result; where no variant holds, the function
//! runs and is recorded, or only runs, which is counted with the reason.
//!
//! Not here: recording (`python/gpupy/_jit/recording.py`), its result (`finish.rs`).

use super::trace_tree::{Terminator, TraceTree};
use super::variant::{Mismatch, Replayed, Variant};
use crate::array::recording;
use crate::thresholds::T;
use gpupy_engine::Segment;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The mismatch where a decision went another way.
const DECIDED: &str = "a decision that went another way";

/// A function that is recorded.
#[pyclass(name = "Jit", module = "gpupy._gpupy", subclass, frozen)]
pub struct Jit {
    function: Py<PyAny>,
    /// Most recently used first.
    variants: Mutex<Vec<Arc<Variant>>>,
    segments: Mutex<HashSet<Arc<Segment>>>,
    calls: AtomicU64,
    replays: AtomicU64,
    recordings: AtomicU64,
    /// How often a guard did not hold, by its words.
    missed: Mutex<HashMap<String, u64>>,
    /// How often the function ran without being recorded, by the reason.
    plain: Mutex<HashMap<String, u64>>,
    /// So many calls that nothing fits run without being recorded, and why.
    rests: AtomicU64,
    tired: Mutex<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts reasons; beyond a limit of different ones, further ones are counted together.
fn count(counts: &Mutex<HashMap<String, u64>>, words: String) {
    let mut counts = lock(counts);
    let is_told = counts.len() < T.jit_reasons || counts.contains_key(&words);
    *counts.entry(if is_told { words } else { "others".to_owned() }).or_default() += 1;
}

#[pymethods]
impl Jit {
    #[new]
    fn new(function: Py<PyAny>) -> Jit {
        Jit {
            function,
            variants: Mutex::default(),
            segments: Mutex::default(),
            calls: AtomicU64::new(0),
            replays: AtomicU64::new(0),
            recordings: AtomicU64::new(0),
            missed: Mutex::default(),
            plain: Mutex::default(),
            rests: AtomicU64::new(0),
            tired: Mutex::default(),
        }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (this, py) = (slf.get(), slf.py());
        if recording::is_on() && recording::number() != 0 {
            // An outer recording contains this call.
            return this.function.bind(py).call(args, kwargs);
        }
        this.calls.fetch_add(1, Ordering::Relaxed);
        let mut missed: Option<(Arc<Variant>, Mismatch)> = None;
        let mut decided = false;
        for place in 0.. {
            let variant = lock(&this.variants).get(place).cloned();
            let Some(variant) = variant else { break };
            match variant.replay(args, kwargs)? {
                Replayed::Done(result) => {
                    this.replays.fetch_add(1, Ordering::Relaxed);
                    if place > 0 {
                        this.bring_forward(&variant);
                    }
                    return Ok(result);
                }
                Replayed::Otherwise(why) => {
                    missed.get_or_insert((variant, why));
                }
                Replayed::Decided => decided = true,
            }
        }
        let words = match missed {
            _ if decided => Some(DECIDED.to_owned()),
            Some((variant, why)) => Some(variant.words(&why)),
            None => None,
        };
        if let Some(words) = words {
            count(&this.missed, words);
        }
        if this.rests.load(Ordering::Relaxed) > 0 {
            // Python's lock is held: no other thread counts meanwhile.
            this.rests.fetch_sub(1, Ordering::Relaxed);
            let why = lock(&this.tired).clone();
            count(&this.plain, why);
            return this.function.bind(py).call(args, kwargs);
        }
        slf.call_method1("_record", (args, kwargs))
    }

    /// A method of the object that it is asked of.
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        object: &Bound<'py, PyAny>,
        _class: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if object.is_none() {
            return Ok(slf.clone().into_any());
        }
        slf.py().import("types")?.getattr("MethodType")?.call1((slf, object))
    }

    /// Replays a call if a variant holds: returns whether one did, and the result, or the reason. `counts` is true for
    /// a call that is not part of another.
    #[pyo3(signature = (args, kwargs, counts = false))]
    fn _replayed<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
        counts: bool,
    ) -> PyResult<(bool, Bound<'py, PyAny>)> {
        let (mut why, mut decided) = ("nothing is recorded".to_owned(), false);
        for variant in self.all() {
            match variant.replay(args, Some(kwargs))? {
                Replayed::Done(result) => {
                    self.calls.fetch_add(u64::from(counts), Ordering::Relaxed);
                    self.replays.fetch_add(1, Ordering::Relaxed);
                    return Ok((true, result));
                }
                Replayed::Otherwise(missed) => why = variant.words(&missed),
                Replayed::Decided => decided = true,
            }
        }
        if decided {
            why = DECIDED.to_owned();
        }
        Ok((false, why.into_pyobject(py)?.into_any()))
    }

    /// How many calls were done again.
    #[getter]
    fn _replays(&self) -> u64 {
        self.replays.load(Ordering::Relaxed)
    }

    /// So many calls that nothing fits from now on are not worth the time to record them, for this reason.
    fn _rest(&self, calls: u64, why: String) {
        *lock(&self.tired) = why;
        self.rests.store(calls, Ordering::Relaxed);
    }

    /// Notes that the function ran without being recorded.
    fn _ran_plainly(&self, why: String) {
        count(&self.plain, why);
    }

    /// Forgets all that was recorded.
    pub fn clear(&self) {
        lock(&self.variants).clear();
        lock(&self.segments).clear();
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.function)?;
        // The thread that holds the lock refers to these objects, so that they are no garbage.
        let Ok(variants) = self.variants.try_lock() else { return Ok(()) };
        variants.iter().try_for_each(|variant| variant.traverse(&visit))
    }

    fn __clear__(&self) {
        self.clear();
    }

    /// How often a call was done again, recorded, or neither, and why.
    fn _stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        let variants = lock(&self.variants).clone();
        let counts = variants.iter().map(|variant| variant.path.count());
        let (segments, ways) = counts.fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
        row.set_item("calls", self.calls.load(Ordering::Relaxed))?;
        row.set_item("replays", self.replays.load(Ordering::Relaxed))?;
        row.set_item("recordings", self.recordings.load(Ordering::Relaxed))?;
        row.set_item("variants", variants.len())?;
        row.set_item("segments", segments)?;
        row.set_item("ways", ways)?;
        row.set_item("missed", lock(&self.missed).clone())?;
        row.set_item("plain", lock(&self.plain).clone())?;
        Ok(row)
    }

    /// The variants as text, each with its guards and segments.
    fn _explain(&self) -> String {
        let mut text = String::new();
        for (number, variant) in lock(&self.variants).iter().enumerate() {
            variant.explain(number, &mut text);
        }
        text
    }
}

impl Jit {
    /// All variants, most recently used first.
    pub fn all(&self) -> Vec<Arc<Variant>> {
        lock(&self.variants).clone()
    }

    fn bring_forward(&self, variant: &Arc<Variant>) {
        let mut variants = lock(&self.variants);
        if let Some(place) = variants.iter().position(|other| Arc::ptr_eq(other, variant)) {
            variants[..=place].rotate_right(1);
        }
    }

    /// The segment that does the same, or this one.
    pub fn shared(&self, segment: Segment) -> Arc<Segment> {
        let mut segments = lock(&self.segments);
        match segments.get(&segment) {
            Some(known) => known.clone(),
            None => {
                let segment = Arc::new(segment);
                segments.insert(segment.clone());
                segment
            }
        }
    }

    /// Keeps a variant, merged with one for the same arguments if there is one.
    pub fn keep(&self, py: Python<'_>, variant: Variant) {
        self.recordings.fetch_add(1, Ordering::Relaxed);
        let mut variants = lock(&self.variants);
        let joint = variants.iter().enumerate().find_map(|(place, known)| {
            let both = known.with(&variant, py)?;
            (both.path.count().1 <= T.jit_ways).then_some((place, both))
        });
        let newest = match joint {
            Some((place, both)) => {
                variants.remove(place);
                both
            }
            None => variant,
        };
        variants.insert(0, Arc::new(newest));
        variants.truncate(T.jit_variants);
        drop(variants);
        // Those that no path has any more.
        lock(&self.segments).retain(|segment| Arc::strong_count(segment) > 1);
    }
}

impl Variant {
    fn explain(&self, number: usize, text: &mut String) {
        let replays = self.replays.load(Ordering::Relaxed);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "variant {number}, done again {replays} times");
        for wanted in &self.wanted {
            let _ = writeln!(text, "  {}", wanted.words());
        }
        for guard in &self.guards {
            let _ = writeln!(text, "  as it was: {}", guard.words);
        }
        self.path.walk(1, None, &mut |path: &TraceTree, depth, way| {
            let pad = "  ".repeat(depth);
            let way = way.map_or_else(String::new, |way| format!("if {way}: "));
            let operations = path.segment.operations();
            let programs = path.segment.programs();
            let launches = match programs.len() {
                0 => String::new(),
                1 => ", 1 launch at once".to_owned(),
                many => format!(", {many} launches at once"),
            };
            let _ = writeln!(text, "{pad}{way}segment of {operations} operations{launches}");
            for program in programs {
                for line in program.lines() {
                    let _ = writeln!(text, "{pad}  {line}");
                }
            }
            if let Terminator::End(ending) = &path.then {
                let (writes, gives) = (ending.writes.len(), ending.outputs.len());
                let _ = writeln!(text, "{pad}end: writes {writes} arrays, gives {gives}");
            }
        });
    }
}
