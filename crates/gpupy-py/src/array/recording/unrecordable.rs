//! Refusals: operations on arrays that cannot be recorded.
//!
//! Owns the refusals. Not here: elements that are read (`materialise.rs`).

use super::{is_on, number, with};
use crate::convert::numpy_arrays;
use crate::session::errors::{FormatError, OpenError, to_py};
use gpupy_core::Scalar;
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::PyFloat;

/// Refuses an operation that an open array cannot do while it is recorded: the call has to run unrecorded.
///
/// # Errors
/// - `OpenError`: the array is open.
pub fn spoil(array: &Array, why: &str) -> PyResult<()> {
    if !is_on() || number() == 0 || !array.is_open() {
        return Ok(());
    }
    with(|recording| recording.spoiled.get_or_insert_with(|| why.to_owned()).clone());
    Err(OpenError::new_err(format!("{why}, which is not recorded")))
}

/// Refuses the making of an instance of a subclass of `gpupy.ndarray` while a function is recorded.
///
/// # Errors
/// - `OpenError`: its elements are open.
pub fn instance_of(array: Option<&Array>, class: &str) -> PyResult<()> {
    if !is_on() || number() == 0 {
        return Ok(());
    }
    let why = format!("it makes an array of class {class}");
    if let Some(array) = array {
        spoil(array, &why)?;
    }
    with(|recording| recording.refuse(&why));
    Ok(())
}

/// Notes that an array from before was asked for a fact that this thread's recording does not guard.
pub fn asked_of(made_in: u32, why: &str) {
    let number = if is_on() { number() } else { 0 };
    if number != 0 && made_in != number {
        with(|recording| recording.refuse(why));
    }
}

/// The elements that an array from before keeps where it is to show others in this thread's recording; `None` where
/// it was made in this recording, or nothing is recorded.
pub fn replaced(made_in: u32, array: &Array) -> Option<Array> {
    let number = number();
    if number == 0 || made_in == number {
        return None;
    }
    with(|recording| {
        recording.refuse("it changes the shape, the dtype or the memory of an array in place");
        let input = recording.input_of(array)? as usize;
        recording.inputs[input].real.seen(array.layout().clone()).ok()
    })
    .flatten()
}

/// Refuses to make text of an open array.
///
/// # Errors
/// - `FormatError`: it is open.
pub fn check_formatted(array: &Array) -> PyResult<()> {
    match is_on() && array.is_open() {
        true => Err(FormatError::new_err(
            "text is made of an array, whose elements are not known while it is recorded",
        )),
        false => Ok(()),
    }
}

/// A number as an array without axes: a Python float, or a real number of NumPy's; `None` for others.
///
/// # Errors
/// There is no room.
pub fn number_of(number: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let known = match number.cast_exact::<PyFloat>() {
        Ok(float) => Some(Scalar::f64(float.value())),
        Err(_) => numpy_arrays::real(number)?,
    };
    let Some(known) = known else { return Ok(None) };
    let bytes = known.bytes();
    let element = bytes.get(..known.dtype.size()).unwrap_or_default();
    Array::from_bytes(known.dtype, &[], element).map(Some).map_err(to_py)
}
