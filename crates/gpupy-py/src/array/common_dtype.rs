//! The dtype of operands that are to be elements of one array.
//!
//! Owns [`common_dtype`], which is `numpy.result_type`'s answer, asked once for each combination of kinds.
//!
//! Not here: the dtypes of ufuncs (`compute/ufunc.rs`).

use crate::array::operand::OperandKind;
use crate::convert::dtypes::{self, numpy};
use gpupy_core::DType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyTuple};
use std::sync::atomic::{AtomicU8, Ordering};

/// The common dtype of two kinds, if it is a dtype of ours.
pub fn common_dtype(py: Python<'_>, a: OperandKind, b: OperandKind) -> PyResult<Option<DType>> {
    const KINDS: usize = OperandKind::COUNT;
    /// The dtype's code plus one, or 0 before NumPy was asked.
    static ANSWERS: [AtomicU8; KINDS * KINDS] = [const { AtomicU8::new(0) }; KINDS * KINDS];
    let cell = &ANSWERS[a.index() * KINDS + b.index()];
    match cell.load(Ordering::Relaxed) {
        0 => {}
        code => return Ok(DType::from_code(code - 1)),
    }
    let stand_for = |kind: OperandKind| match kind.dtype() {
        Some(dtype) => dtypes::to_numpy(py, dtype),
        None if kind == OperandKind::WEAK_INT => Ok(0i32.into_pyobject(py)?.into_any()),
        None if kind == OperandKind::WEAK_FLOAT => Ok(0f64.into_pyobject(py)?.into_any()),
        None => Ok(PyComplex::from_doubles(py, 0.0, 0.0).into_any()),
    };
    let pair = PyTuple::new(py, [stand_for(a)?, stand_for(b)?])?;
    let dtype = match numpy(py)?.module.bind(py).call_method1("result_type", pair) {
        Ok(answer) => dtypes::from_numpy(&answer)?,
        // Without a common dtype NumPy may cast one of them, or refuse.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => None,
        Err(error) => return Err(error),
    };
    cell.store(dtype.map_or(u8::MAX, |dtype| dtype as u8 + 1), Ordering::Relaxed);
    Ok(dtype)
}
