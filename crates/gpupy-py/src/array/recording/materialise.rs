//! Real elements in place of placeholders: for decisions, for code that reads elements, and at the end.
//!
//! Not here: recording (`mod.rs`).

use super::{JitRecording, PendingSegment, number, of_another, whole_base, with};
use crate::convert::numpy_arrays;
use crate::session::context::{open, ready};
use crate::session::errors::to_py;
use crate::session::python_objects;
use crate::session::waiting::{outside, wait};
use gpupy_core::Result;
use gpupy_engine::Array;
use pyo3::prelude::*;

/// Decides: evaluates the truth of an open array of one element.
///
/// # Errors
/// Any of its evaluation.
pub fn decide(py: Python<'_>, array: &Array) -> PyResult<bool> {
    let cut = with(|recording| recording.cut(Some(array)));
    let mut cut = cut.unwrap_or_else(|| Err(of_another())).map_err(to_py)?;
    let results = cut.replay(py)?;
    let last = results.last().ok_or_else(|| to_py(of_another()))?;
    let seen = last.seen(array.layout().clone()).map_err(to_py)?;
    let truth = numpy_arrays::scalar(py, &seen)?.is_truthy()?;
    cut.done.decision = Some((array.layout().clone(), truth));
    let kept = with(|recording| recording.keep(cut, &results));
    kept.unwrap_or(Ok(())).map_err(to_py)?;
    Ok(truth)
}

/// The elements of an open array, for code that reads them: the call then cannot be repeated without Python.
/// `None` where this thread records nothing, or the array belongs to another recording.
///
/// # Errors
/// Any of an evaluation.
pub fn opened(array: &Array) -> Result<Option<Array>> {
    let found = outside(|py| {
        if number() == 0 {
            return Ok(None);
        }
        // Python code finds the reason; it may look at the recording.
        let why = reading(py);
        with(|recording| recording.refuse(why));
        let cut = with(|recording| recording.cut(Some(array))).transpose()?;
        let (Some(cut), Some((context, _))) = (cut, open()) else { return Ok(None) };
        let given: Vec<&Array> = cut.given.iter().collect();
        let results = context.replay(&cut.done.segment, &given)?;
        with(|recording| recording.keep(cut, &results)).transpose()?;
        Ok(results.last().cloned())
    });
    found.unwrap_or(Ok(None))
}

/// Says which operation reads elements.
fn reading(py: Python<'_>) -> String {
    let told = python_objects::READING.get(py).and_then(|reading| reading.call0());
    let told = told.and_then(|words| words.extract());
    told.unwrap_or_else(|_| "it reads elements".to_owned())
}

/// Applies a function's effects: every open array that is alive gets elements, and every input that was written its
/// new ones. The recording has ended, so that arrays show their own elements again.
///
/// # Errors
/// Any of an evaluation.
pub fn come_true(py: Python<'_>, recording: &JitRecording, cut: &PendingSegment) -> PyResult<()> {
    let results = cut.replay(py)?;
    let written = recording.written().into_iter();
    let written =
        written.map(|(number, shadow)| (recording.inputs[number as usize].real.clone(), shadow));
    let living = recording.open().map(|array| (array.clone(), array));
    let mut truths: Vec<(Array, Array)> = Vec::new();
    for (base, open) in living.chain(written) {
        let computed = cut.alive.iter().find(|(alive, _)| alive.shares_base(&open));
        let truth = match computed {
            Some((_, place)) => results.get(*place).cloned(),
            None if open.is_open() => recording.real_of(&open),
            None => Some(open),
        };
        truths.push((base, truth.ok_or_else(|| to_py(of_another()))?));
    }
    // Several may have the elements of one.
    let truths: Vec<_> = truths.into_iter().map(|(base, truth)| (base, truth.snapshot())).collect();
    truths.into_iter().try_for_each(|(base, truth)| put(py, &base, &truth.map_err(to_py)?))
}

/// Moves the elements of a base that has no other owner to another base, and so to all its views.
///
/// # Errors
/// Any of an evaluation, where they lie in memory of others.
pub fn put(py: Python<'_>, base: &Array, from: &Array) -> PyResult<()> {
    if base.take_elements(from).map_err(to_py)? {
        return Ok(());
    }
    let context = ready(py)?;
    wait(py, || context.assign(&whole_base(base)?, from.into())).map_err(to_py)
}

impl PendingSegment {
    /// Its outputs for the real elements.
    ///
    /// # Errors
    /// Any of an evaluation.
    pub fn replay(&self, py: Python<'_>) -> PyResult<Vec<Array>> {
        let given: Vec<&Array> = self.given.iter().collect();
        ready(py)?.replay(&self.done.segment, &given).map_err(to_py)
    }
}
