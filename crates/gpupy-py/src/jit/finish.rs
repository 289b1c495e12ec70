//! The end of a recording: it becomes a variant.
//!
//! Owns [`begin`], [`finish`] and [`abandon`], which the recorder in Python calls. Invariant: whether the recording
//! is kept or not, the function's effects are applied, and the call gives its result.
//!
//! Not here: arrays while a function is recorded (`array/recording/`).

use super::argument_spec::{ArgumentSpec, Objects, pattern};
use super::epilogue::{
    ElementsSource, Epilogue, OutputOwner, OutputSpec, RegisterFile, ResultTemplate,
};
use super::guards::Guard;
use super::jit_function::Jit;
use super::trace_tree::{Terminator, TraceTree};
use super::variant::{ArraySpec, Variant};
use crate::array::lazy_scalar::{self, LazyScalar};
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::recording::materialise::come_true;
use crate::array::recording::{self, JitRecording, PendingSegment, RecordedSegment};
use crate::array::repr::Repr;
use crate::index::fancy;
use crate::session::context::opening;
use crate::session::errors::to_py;
use gpupy_engine::{Array, View};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyList};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Begins a recording in this thread; false where one goes on somewhere.
#[pyfunction]
pub fn begin() -> bool {
    recording::begin()
}

/// Calls a function that is no part of what this thread records.
///
/// # Errors
/// Those of the function.
#[pyfunction]
pub fn aside<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    recording::aside(|| function.call0())
}

/// Whether this thread records.
#[pyfunction]
pub fn is_recording() -> bool {
    recording::is_on() && recording::number() != 0
}

/// Forgets a recording of another thread, which a fork has left behind.
#[pyfunction]
pub fn forget_others() {
    recording::forget_others();
}

/// Whether an array that the function made is still alive and is not among its results.
#[pyfunction]
pub fn leaks(results: &Bound<'_, PyList>) -> PyResult<bool> {
    let made = |result: Bound<'_, PyAny>| {
        let object = match result.cast_exact::<NdArray>() {
            Ok(array) => array.get().made(),
            Err(_) => result.cast_exact::<LazyScalar>()?.get().made(),
        };
        Ok((object, seen(&result)?.array))
    };
    let results = results.iter().map(made).collect::<PyResult<Vec<_>>>()?;
    Ok(recording::with(|recording| recording.leaks(&results)).unwrap_or(false))
}

/// Whether a view that the function made of an array from before is still alive.
#[pyfunction]
pub fn leaks_views() -> bool {
    recording::with(|recording| recording.leaks_views()).unwrap_or(false)
}

/// Ends the recording of this thread, and drops its effects.
#[pyfunction]
pub fn discard() {
    drop(recording::end());
}

/// The placeholder of a scalar or a number in this thread's recording.
///
/// # Errors
/// Nothing is recorded, or it is no number.
#[pyfunction]
pub fn number_in_place_of<'py>(known: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = known.py();
    let array = match known.cast_exact::<LazyScalar>() {
        Ok(scalar) => Some(scalar.get().as_array().clone()),
        Err(_) => recording::unrecordable::number_of(known)?,
    };
    let touch = |array| recording::with(|recording| recording.touch(address(known), array));
    let found = array.as_ref().and_then(touch).flatten().ok_or_else(lost)?;
    lazy_scalar::standing(py, found, known.is_exact_instance_of::<PyFloat>())
}

/// The address by which a recording knows an array or a number.
fn address(object: &Bound<'_, PyAny>) -> usize {
    match object.cast_exact::<NdArray>() {
        Ok(array) => array.get().address(),
        Err(_) => object.as_ptr() as usize,
    }
}

/// Whether a scalar is a placeholder for a Python float.
#[pyfunction]
pub fn is_float(scalar: &Bound<'_, LazyScalar>) -> bool {
    scalar.get().is_weak
}

/// Notes that the recorded code may check whether an object is an array.
#[pyfunction]
pub fn tells_classes() {
    recording::with(|recording| recording.tells_classes = true);
}

/// The elements of an array that a mask selects, which takes the mask's elements.
#[pyfunction]
pub fn select<'py>(
    array: &Bound<'py, NdArray>,
    mask: &Bound<'py, NdArray>,
) -> PyResult<Bound<'py, PyAny>> {
    let ArrayElements::Lazy(elements) = elements(array) else { return Err(lost()) };
    let picked = fancy::fancy_index(&elements, mask.as_any())?.ok_or_else(lost)?;
    Ok(Bound::new(mask.py(), NdArray::lazy(picked))?.into_any())
}

/// A key that is equal for arrays with the same elements; nothing is evaluated for it.
#[pyfunction]
pub fn identity(array: &Bound<'_, NdArray>) -> PyResult<(u64, Vec<usize>, Vec<isize>, isize)> {
    let ArrayElements::Lazy(array) = elements(array) else { return Err(lost()) };
    let value = array.value().map_err(to_py)?;
    Ok((value.id(), array.shape().to_vec(), array.strides().to_vec(), array.offset()))
}

/// Whether an array was made in this thread's recording.
#[pyfunction]
pub fn is_made(array: &Bound<'_, NdArray>) -> bool {
    let number = recording::number();
    number != 0 && array.get().made_in() == number
}

/// Why this thread's recording cannot be repeated, if it cannot.
#[pyfunction]
pub fn refused() -> Option<String> {
    recording::with(|recording| recording.refused.clone()).flatten()
}

/// Why the function has to run once more, unrecorded, if it has to.
#[pyfunction]
pub fn spoiled() -> Option<String> {
    recording::with(|recording| recording.spoiled.clone()).flatten()
}

/// How many decisions there were so far.
#[pyfunction]
pub fn decisions() -> usize {
    recording::with(|recording| recording.done.len()).unwrap_or(0)
}

/// Ends the recording of this thread without keeping it: its effects are applied, open arrays get elements, and these
/// arrays that it made are the function's result as they are, wherever else they were stored.
///
/// # Errors
/// Any of an evaluation.
#[pyfunction]
#[pyo3(signature = (results = None))]
pub fn abandon(py: Python<'_>, results: Option<&Bound<'_, PyList>>) -> PyResult<()> {
    let views = results.map_or_else(Vec::new, views_of_inputs);
    let cut = recording::with(|recording| recording.cut(None));
    let ours = recording::end();
    if let (Some(cut), Some(ours)) = (cut, ours) {
        come_true(py, &ours, &cut.map_err(to_py)?)?;
    }
    for (object, seen) in views {
        object.get().replace(py, Repr::Lazy(seen))?;
    }
    Ok(())
}

/// The arrays that were made as views of arrays from before, each with what it shows once these show their own
/// elements.
fn views_of_inputs<'py>(results: &Bound<'py, PyList>) -> Vec<(Bound<'py, NdArray>, Array)> {
    let view = |result: Bound<'py, PyAny>| {
        let object = result.cast_into_exact::<NdArray>().ok()?;
        let array = object.get().read(object.py()).as_lazy()?.clone();
        let real = recording::with(|recording| {
            let input = recording.input_of(&array)?;
            Some(recording.inputs[input as usize].real.clone())
        });
        let seen = real.flatten()?.seen(array.layout().clone()).ok()?;
        Some((object, seen))
    };
    results.iter().filter_map(view).collect()
}

/// Ends the recording of this thread: it is kept, unless it was refused or a reason is given not to, and the call's
/// result comes back with the reason.
///
/// - `arguments`, `named`: [`ArgumentSpec::of`]; `objects`: the arguments' arrays, in that order, and `captured` ones
///   behind them; `guards`: [`Guard::of`].
/// - `result`: [`ResultTemplate::of`]; `outputs`: the arrays and scalars in it.
///
/// # Errors
/// Any of an evaluation.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the parts of a variant
pub fn finish<'py>(
    py: Python<'py>,
    jit: &Bound<'py, Jit>,
    arguments: &Bound<'py, PyList>,
    named: &Bound<'py, PyList>,
    objects: &Bound<'py, PyList>,
    captured: &Bound<'py, PyList>,
    guards: &Bound<'py, PyList>,
    result: &Bound<'py, PyAny>,
    outputs: &Bound<'py, PyList>,
    refused: Option<String>,
) -> PyResult<(Bound<'py, PyAny>, Option<String>)> {
    let all: Objects<'py> = objects.iter().chain(captured.iter()).collect();
    let outputs: Vec<OutputArray> =
        outputs.iter().map(|output| seen(&output)).collect::<PyResult<_>>()?;
    let ended = recording::with(|recording| {
        let cut = recording.cut(None).map_err(to_py)?;
        let ending = Epilogue::of(recording, &cut, &outputs, &all, result)?;
        let wanted = wanted(recording, &all);
        Ok::<_, PyErr>((cut, ending, wanted))
    });
    let ours = recording::end();
    let (Some(ended), Some(mut ours)) = (ended, ours) else {
        return Err(PyRuntimeError::new_err("nothing is recorded in this thread"));
    };
    let (cut, ending, wanted) = ended?;
    let refused = refused.or_else(|| ours.refused.clone());
    let refused = refused.or_else(|| match &wanted {
        Some(_) => None,
        None => Some("it reads an array by a way that cannot be watched".to_owned()),
    });
    let ending = Arc::new(ending);
    let made = ours.made_with(&cut.replay(py)?, &cut);
    let inputs: Vec<Array> = ours.inputs.iter().map(|input| input.real.clone()).collect();
    let registers = RegisterFile { inputs: &inputs, made: &made };
    let given = ending.give(py, &all, &registers)?;
    if let (None, Some(wanted)) = (&refused, wanted) {
        let pair = |entry: Bound<'_, PyAny>| {
            Ok((entry.get_item(0)?.unbind(), ArgumentSpec::of(&entry.get_item(1)?)?))
        };
        let variant = Variant {
            arguments: arguments
                .iter()
                .map(|given| ArgumentSpec::of(&given))
                .collect::<PyResult<_>>()?,
            named: named.iter().map(pair).collect::<PyResult<_>>()?,
            guards: guards.iter().map(|guard| Guard::of(&guard)).collect::<PyResult<_>>()?,
            captured: captured.iter().map(Bound::unbind).collect(),
            pattern: pattern(&all),
            wanted,
            inputs: inputs.len() as u32,
            opening: opening(),
            made: made.len() as u32,
            path: path(jit.get(), std::mem::take(&mut ours.done), cut, ending),
            replays: AtomicU64::new(0),
        };
        jit.get().keep(py, variant);
    }
    Ok((given, refused))
}

/// An array in a function's result.
struct OutputArray {
    array: Array,
    writable: bool,
    owns: bool,
}

/// The array behind an output.
fn seen(output: &Bound<'_, PyAny>) -> PyResult<OutputArray> {
    if let Ok(object) = output.cast_exact::<NdArray>() {
        let reading = object.get().read(object.py());
        let lazy =
            reading.as_lazy().ok_or_else(|| PyTypeError::new_err("an array is NumPy's own"))?;
        let (writable, owns) = (object.get().is_writable(), object.get().base.is_none());
        return Ok(OutputArray { array: lazy.clone(), writable, owns });
    }
    let scalar = output.cast_exact::<LazyScalar>()?;
    Ok(OutputArray { array: scalar.get().as_array().clone(), writable: false, owns: false })
}

/// The arrays that were looked at, where all are among the call's objects.
fn wanted(recording: &JitRecording, objects: &Objects<'_>) -> Option<Vec<ArraySpec>> {
    let mut places = vec![None; recording.touched.len()];
    for (place, object) in objects.iter().enumerate() {
        if let Some(number) = recording.find(address(object)) {
            let array = object.cast_exact::<NdArray>();
            places[number]
                .get_or_insert((place, array.is_ok_and(|array| array.get().is_writable())));
        }
    }
    let touched = recording.touched.iter().zip(places);
    let wanted = touched.map(|(touched, place)| {
        let (object, writable) = place?;
        Some(ArraySpec {
            object,
            input: touched.input,
            dtype: touched.array.dtype(),
            base: touched.array.base_shape().ok()?,
            view: touched.array.layout().clone(),
            writable,
        })
    });
    wanted.collect()
}

/// The path of segments to an ending.
fn path(
    jit: &Jit,
    done: Vec<RecordedSegment>,
    last: PendingSegment,
    ending: Arc<Epilogue>,
) -> Arc<TraceTree> {
    let RecordedSegment { segment, takes, gives, .. } = last.done;
    let then = Terminator::End(ending);
    let mut path = Arc::new(TraceTree { segment: jit.shared(segment), takes, gives, then });
    for RecordedSegment { segment, takes, gives, decision } in done.into_iter().rev() {
        let Some((seen, truth)) = decision else { continue };
        let (no, yes) = if truth { (None, Some(path)) } else { (Some(path), None) };
        let then = Terminator::Decide { seen, no, yes };
        path = Arc::new(TraceTree { segment: jit.shared(segment), takes, gives, then });
    }
    path
}

impl Epilogue {
    /// The epilogue of the recorded operations, after the last segment.
    fn of(
        recording: &JitRecording,
        cut: &PendingSegment,
        outputs: &[OutputArray],
        objects: &Objects<'_>,
        result: &Bound<'_, PyAny>,
    ) -> PyResult<Epilogue> {
        let mut writes = Vec::new();
        for (input, shadow) in recording.written() {
            writes.push((input, base(recording, cut, &shadow)?));
        }
        let (mut bases, mut owners): (Vec<ElementsSource>, Vec<Array>) = (Vec::new(), Vec::new());
        let mut given = Vec::new();
        for OutputArray { array, writable, owns } in outputs {
            let view: View = array.layout().clone();
            let input = recording.input_of(array);
            let object = input.and_then(|input| owner(recording, objects, input));
            let from = match (object, input) {
                (Some(object), _) => OutputOwner::Object(object),
                (None, Some(input)) => {
                    bases.push(ElementsSource::Shared(
                        recording.inputs[input as usize].real.clone(),
                    ));
                    owners.push(array.clone());
                    OutputOwner::Base(bases.len() - 1)
                }
                (None, None) => {
                    let known = owners.iter().position(|owner| owner.shares_base(array));
                    OutputOwner::Base(match known {
                        Some(number) => number,
                        None => {
                            bases.push(base(recording, cut, array)?);
                            owners.push(array.clone());
                            bases.len() - 1
                        }
                    })
                }
            };
            given.push(OutputSpec { from, view, writable: *writable, owns: *owns });
        }
        Ok(Epilogue { writes, bases, outputs: given, result: ResultTemplate::of(result)? })
    }
}

/// The source of a base's elements after the last segment.
fn base(recording: &JitRecording, cut: &PendingSegment, array: &Array) -> PyResult<ElementsSource> {
    if !array.is_open() {
        let whole = recording::whole_base(array).and_then(|whole| whole.snapshot());
        return whole.map(ElementsSource::Constant).map_err(to_py);
    }
    let register = recording.register_after(cut, array);
    register.map(ElementsSource::Register).ok_or_else(lost)
}

fn lost() -> PyErr {
    PyRuntimeError::new_err("a result belongs to another recording")
}

/// The place of an object whose base is an input.
fn owner(recording: &JitRecording, objects: &Objects<'_>, input: u32) -> Option<usize> {
    let mut places = objects.iter().enumerate();
    places.find_map(|(place, object)| {
        object.cast_exact::<NdArray>().ok()?;
        let touched = &recording.touched[recording.find(address(object))?];
        (touched.input == input).then_some(place)
    })
}

impl Variant {
    /// The variant that also knows the way of another one, for the same arguments; `None` where they are not the
    /// same, or do not do the same up to a decision.
    pub fn with(&self, other: &Variant, py: Python<'_>) -> Option<Variant> {
        let is_same = |a: &[ArgumentSpec], b: &[ArgumentSpec]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b, py))
        };
        let is_named = self.named.len() == other.named.len()
            && self.named.iter().zip(&other.named).all(|((name, a), (other, b))| {
                name.bind(py).eq(other.bind(py)).unwrap_or(false) && a.is_same(b, py)
            });
        if self.opening != other.opening || !is_named || !is_same(&self.arguments, &other.arguments)
        {
            return None;
        }
        // The shorter list of arrays has to be how the longer one begins, as both are in the order of a common way.
        let (short, long) =
            if self.wanted.len() <= other.wanted.len() { (self, other) } else { (other, self) };
        let all = short.captured.iter().zip(&long.captured).all(|(a, b)| a.is(b));
        if !all
            || long.captured.len() < short.captured.len()
            || long.wanted[..short.wanted.len()] != short.wanted
        {
            return None;
        }
        if long.pattern[..short.pattern.len()] != short.pattern {
            return None;
        }
        let path = Arc::new(self.path.with(&other.path)?);
        let mut guards: Vec<Guard> = self.guards.iter().map(|guard| guard.again(py)).collect();
        for guard in &other.guards {
            if !guards.iter().any(|known| known.is_same(guard, py)) {
                guards.push(guard.again(py));
            }
        }
        let again = |given: &ArgumentSpec| given.again(py);
        Some(Variant {
            arguments: self.arguments.iter().map(again).collect(),
            named: self
                .named
                .iter()
                .map(|(name, given)| (name.clone_ref(py), again(given)))
                .collect(),
            guards,
            pattern: long.pattern.clone(),
            captured: long.captured.iter().map(|object| object.clone_ref(py)).collect(),
            wanted: long.wanted.clone(),
            inputs: self.inputs.max(other.inputs),
            opening: self.opening,
            made: self.made.max(other.made),
            path,
            replays: AtomicU64::new(self.replays.load(std::sync::atomic::Ordering::Relaxed)),
        })
    }
}

/// Adds this module's functions and classes to `gpupy._gpupy`.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let inner = PyModule::new(module.py(), "jit")?;
    inner.add_class::<Jit>()?;
    inner.add_class::<super::loading::FunctionFile>()?;
    inner.add("MAGIC", PyBytes::new(module.py(), &gpupy_engine::saved::file::MAGIC))?;
    inner.add_function(wrap_pyfunction!(begin, &inner)?)?;
    inner.add_function(wrap_pyfunction!(leaks, &inner)?)?;
    inner.add_function(wrap_pyfunction!(number_in_place_of, &inner)?)?;
    inner.add_function(wrap_pyfunction!(is_float, &inner)?)?;
    inner.add_function(wrap_pyfunction!(select, &inner)?)?;
    inner.add_function(wrap_pyfunction!(tells_classes, &inner)?)?;
    inner.add_function(wrap_pyfunction!(identity, &inner)?)?;
    inner.add_function(wrap_pyfunction!(is_made, &inner)?)?;
    inner.add_function(wrap_pyfunction!(refused, &inner)?)?;
    inner.add_function(wrap_pyfunction!(spoiled, &inner)?)?;
    inner.add_function(wrap_pyfunction!(decisions, &inner)?)?;
    inner.add_function(wrap_pyfunction!(abandon, &inner)?)?;
    inner.add_function(wrap_pyfunction!(leaks_views, &inner)?)?;
    inner.add_function(wrap_pyfunction!(aside, &inner)?)?;
    inner.add_function(wrap_pyfunction!(is_recording, &inner)?)?;
    inner.add_function(wrap_pyfunction!(forget_others, &inner)?)?;
    inner.add_function(wrap_pyfunction!(discard, &inner)?)?;
    inner.add_function(wrap_pyfunction!(finish, &inner)?)?;
    module.add("jit", inner)
}
