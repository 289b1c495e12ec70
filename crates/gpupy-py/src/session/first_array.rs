//! What is done when the next array is made.
//!
//! Owns [`await_array`], by which the package asks to be called then: what other libraries are told of arrays costs
//! nothing before there is one. Invariant: while nothing is awaited, a new array costs one load for it.
//!
//! Not here: what is done then (`python/gpupy/_libraries`).

use crate::session::python_objects;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the package is to be called when the next array is made.
static AWAITED: AtomicBool = AtomicBool::new(false);

/// Has the package called when the next array is made.
#[pyfunction]
pub fn await_array() {
    AWAITED.store(true, Ordering::Relaxed);
}

/// Calls the package where it asked for that; an array is being made.
#[inline(always)]
pub fn made() {
    if AWAITED.load(Ordering::Relaxed) {
        tell();
    }
}

#[cold]
fn tell() {
    Python::attach(|py| {
        AWAITED.store(false, Ordering::Relaxed);
        let told = python_objects::ARRAY_IS_MADE.get(py).and_then(|tell| tell.call0());
        if let Err(error) = told {
            // The array is made all the same.
            error.write_unraisable(py, None);
        }
    });
}
