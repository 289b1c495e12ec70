//! Changes that a signal's handler finds done or not begun: calls of functions in C, one after the other.
//!
//! Owns `in_one_step`, [`Bracket`], `rename`, and whether this thread is in a step. Python runs handlers between
//! instructions of its own code, where they may raise: after a state has changed, and before that is noted; at the
//! first instruction of an `__exit__`. Here no such instruction is between two changes. Invariants: a handler raises
//! before the first call or after the last one; what a bracket has changed is changed back, whatever fails.
//!
//! Not here: what is changed (`python/gpupy`: scopes, the choice of a driver, typed lists).

use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::cell::Cell;

thread_local! {
    /// How many steps this thread is in.
    static IN_STEP: Cell<u32> = const { Cell::new(0) };
}

/// Whether handlers of signals have to wait for this thread's step to end.
pub fn is_on() -> bool {
    IN_STEP.get() > 0
}

/// Being in a step, until it is dropped.
struct OneCall;

impl OneCall {
    fn begin() -> OneCall {
        IN_STEP.set(IN_STEP.get() + 1);
        OneCall
    }
}

impl Drop for OneCall {
    fn drop(&mut self) {
        IN_STEP.set(IN_STEP.get() - 1);
    }
}

/// Makes one call: the function comes first, then its arguments.
fn made<'py>(call: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let call = call.cast::<PyTuple>()?;
    call.get_item(0)?.call1(call.get_slice(1, call.len()))
}

/// Makes these calls, each a function and its arguments, one after the other; the first that fails is the last.
///
/// No handler of a signal runs between them where all are functions in C that run no code of Python's.
#[pyfunction]
#[pyo3(signature = (*calls))]
pub fn in_one_step(calls: &Bound<'_, PyTuple>) -> PyResult<()> {
    let _step = OneCall::begin();
    calls.iter().try_for_each(|call| made(&call).map(drop))
}

/// Puts the second of a pair into names that hold the first, found by the number of the first.
///
/// `names` is a frame, whose local names are meant, a dictionary, or a cell. `to_fast` writes a frame's names back,
/// where Python gives a copy of them. While `users` has any, nothing is changed.
#[pyfunction]
#[pyo3(signature = (names, pairs, to_fast=None, users=None))]
pub fn rename(
    names: &Bound<'_, PyAny>,
    pairs: &Bound<'_, PyDict>,
    to_fast: Option<&Bound<'_, PyAny>>,
    users: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    if users.is_some_and(|users| !users.is_empty()) {
        return Ok(());
    }
    let other = |value: &Bound<'_, PyAny>| -> PyResult<Option<Py<PyAny>>> {
        let Some(pair) = pairs.get_item(value.as_ptr() as usize)? else { return Ok(None) };
        let (first, second): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        Ok(first.is(value).then(|| second.unbind()))
    };
    if let Ok(names) = names.cast::<PyDict>() {
        return names.items().iter().try_for_each(|item| {
            let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            other(&value)?.map_or(Ok(()), |other| names.set_item(name, other))
        });
    }
    let Some(frame_names) = names.getattr_opt("f_locals")? else {
        // An empty cell has no contents.
        let Some(value) = names.getattr_opt("cell_contents").ok().flatten() else { return Ok(()) };
        return other(&value)?.map_or(Ok(()), |other| names.setattr("cell_contents", other));
    };
    let mut is_changed = false;
    for item in frame_names.call_method0("items")?.try_iter()?.collect::<PyResult<Vec<_>>>()? {
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        if let Some(other) = other(&value)? {
            frame_names.set_item(name, other)?;
            is_changed = true;
        }
    }
    let Some(to_fast) = to_fast else { return Ok(()) };
    if is_changed {
        to_fast.call1((names, 0))?;
    }
    let flags: u32 = names.getattr("f_code")?.getattr("co_flags")?.extract()?;
    if flags & OPTIMIZED != 0 {
        // The dictionary is a copy, and would keep what the names hold.
        frame_names.call_method0("clear")?;
    }
    Ok(())
}

/// The flag of code whose local names are in no dictionary.
const OPTIMIZED: u32 = 1;

/// A `with` block that changes something at its start and changes it back at its end.
///
/// A subclass has `_begin(frame)`, which changes nothing and returns calls that do (as of `in_one_step`), a function
/// that prepares the end, or `None`, the calls that change it back, and the block's value. The function is called with
/// whether it was interrupted before, and may be interrupted; the calls that change it back are made then, too. They
/// have to work wherever the first ones stopped. `_lock` is held meanwhile, or is `None`.
#[pyclass(module = "gpupy._gpupy", subclass)]
pub struct Bracket {
    /// Of each block that is open, innermost last: its frame, the function for its end, and the calls.
    open: Py<PyList>,
}

#[pymethods]
impl Bracket {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(
        py: Python<'_>,
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> Bracket {
        Bracket { open: PyList::empty(py).unbind() }
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let frame = calling_frame(py)?;
        let lock = slf.getattr("_lock")?;
        if !lock.is_none() {
            lock.call_method0("acquire")?;
        }
        let begun = slf.call_method1("_begin", (&frame,)).and_then(|plan| {
            let (on, end, off, value): (
                Bound<'_, PyTuple>,
                Bound<'_, PyAny>,
                Bound<'_, PyTuple>,
                Bound<'_, PyAny>,
            ) = plan.extract()?;
            slf.borrow().open.bind(py).append((frame, end, &off))?;
            match in_one_step(&on) {
                Ok(()) => Ok(value),
                Err(error) => {
                    taken(slf, None)?;
                    let _ = changed_back(&off);
                    Err(error)
                }
            }
        });
        if !lock.is_none() {
            lock.call_method0("release")?;
        }
        begun
    }

    #[pyo3(signature = (*_failure))]
    fn __exit__(slf: &Bound<'_, Self>, _failure: &Bound<'_, PyTuple>) -> PyResult<()> {
        let py = slf.py();
        let mut first = None;
        let lock = slf.getattr("_lock")?;
        if !lock.is_none() {
            // The exception of a signal that came meanwhile is the block's, once it has ended.
            while let Err(error) = lock.call_method0("acquire") {
                first.get_or_insert(error);
            }
        }
        let left = taken(slf, Some(calling_frame(py)?)).and_then(|plan| ended(&plan));
        if !lock.is_none() {
            lock.call_method0("release")?;
        }
        first.map_or(left, Err)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.open)
    }
}

impl Drop for Bracket {
    fn drop(&mut self) {
        // Python may raise an exception between the call of `__enter__` and the block; then no `__exit__` is called.
        Python::try_attach(|py| {
            let open = self.open.bind(py);
            if open.is_empty() {
                return;
            }
            let raised = PyErr::take(py);
            while let Ok(plan) = open.call_method0("pop") {
                let off = plan.get_item(2).and_then(|off| Ok(off.cast_into::<PyTuple>()?));
                // There is no caller to tell.
                let _ = off.and_then(|off| changed_back(&off));
            }
            let _ = PyErr::take(py);
            if let Some(raised) = raised {
                raised.restore(py);
            }
        });
    }
}

/// The frame of the code in Python that called.
fn calling_frame(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: Python's lock is held; the reference is borrowed, and null where no code of Python's runs.
    let frame = unsafe { pyo3::ffi::PyEval_GetFrame() };
    // SAFETY: it is null or a frame, which lives while its code calls this.
    let frame = unsafe { Bound::from_borrowed_ptr_or_opt(py, frame.cast()) };
    frame.ok_or_else(|| PyRuntimeError::new_err("a `with` block has to be in code of Python's"))
}

/// Takes out the innermost block of a frame, or of any where that has none.
fn taken<'py>(
    slf: &Bound<'py, Bracket>,
    frame: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let open = slf.borrow().open.bind(slf.py()).clone();
    let is_its = |plan: &Bound<'_, PyAny>| {
        frame.as_ref().is_some_and(|frame| plan.get_item(0).is_ok_and(|own| own.is(frame)))
    };
    let last = open.len().checked_sub(1);
    let at = (0..open.len()).rev().find(|at| open.get_item(*at).is_ok_and(|plan| is_its(&plan)));
    let at = at.or(last).ok_or_else(|| PyRuntimeError::new_err("the block was not begun"))?;
    let plan = open.get_item(at)?;
    open.del_item(at)?;
    Ok(plan)
}

/// Ends a block: prepares its end, and changes back what it changed, whatever fails.
fn ended(plan: &Bound<'_, PyAny>) -> PyResult<()> {
    let end = plan.get_item(1)?;
    let off = plan.get_item(2)?.cast_into::<PyTuple>()?;
    let mut prepared = Ok(());
    if !end.is_none() {
        prepared = end.call1((false,)).map(drop);
        if prepared.is_err() {
            // The first exception says what happened.
            let _ = end.call1((true,));
        }
    }
    let back = changed_back(&off);
    prepared.and(back)
}

/// Makes all of these calls, also after one has failed.
///
/// # Errors
/// That of the first one that fails.
fn changed_back(off: &Bound<'_, PyTuple>) -> PyResult<()> {
    let _step = OneCall::begin();
    off.iter().map(|call| made(&call).map(drop)).fold(Ok(()), Result::and)
}
