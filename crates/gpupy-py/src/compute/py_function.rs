//! Functions of scalars, for the compiler of Python functions (`python/gpupy/_kernel`).
//!
//! Owns the class [`PyFunction`], and [`argument`], which makes the placeholders for recording a function.
//!
//! Not here: Python's statements and types (there), functions in the engine (`gpupy_engine::ScalarFunction`).

use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::operand::classify;
use crate::convert::dtypes;
use crate::session::context::ready;
use crate::session::errors::to_py;
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, ScalarFunction};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::Arc;

/// A placeholder array for an argument of this dtype: it has no elements, and operations on it are recorded.
#[pyfunction]
pub fn argument(dtype: &Bound<'_, PyAny>) -> PyResult<NdArray> {
    let dtype = dtypes::from_any(dtype)?;
    let dtype = dtype.ok_or_else(|| PyTypeError::new_err("the dtype is NumPy's own"))?;
    Ok(NdArray::lazy(Array::argument(dtype)))
}

/// A scalar operation of the core, by its name in the IR.
#[pyfunction]
pub fn operation(
    py: Python<'_>,
    name: &str,
    operands: Vec<Bound<'_, NdArray>>,
) -> PyResult<NdArray> {
    let op = Op::from_name(name).filter(|op| op.is_scalar_op());
    let op = op.ok_or_else(|| PyTypeError::new_err(format!("there is no operation `{name}`")))?;
    let operands: Vec<Array> = operands.iter().map(lazy).collect::<PyResult<_>>()?;
    let args: Vec<ArrayOrScalar<'_>> = operands.iter().map(ArrayOrScalar::Array).collect();
    ready(py)?.apply(op, &args).map(NdArray::lazy).map_err(to_py)
}

/// A function from scalars to scalars, computed at each point of its array arguments.
#[pyclass(frozen, name = "Function", module = "gpupy._gpupy")]
pub struct PyFunction(Arc<ScalarFunction>);

#[pymethods]
impl PyFunction {
    /// The function that gives these results, as they were recorded, of these arguments.
    #[staticmethod]
    fn recorded(
        arguments: Vec<Bound<'_, NdArray>>,
        results: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<PyFunction> {
        let arguments: Vec<Array> = arguments.iter().map(lazy).collect::<PyResult<_>>()?;
        let results: Vec<ScalarArgument> = results.iter().map(given).collect::<PyResult<_>>()?;
        let results: Vec<ArrayOrScalar<'_>> = results.iter().map(ScalarArgument::as_arg).collect();
        let function = ScalarFunction::recorded(&arguments, &results).map_err(to_py)?;
        Ok(PyFunction(Arc::new(function)))
    }

    /// The function that runs segments for this number of turns, from the state that `entry` returns or, without an
    /// entry, from a state that follows the arguments.
    #[staticmethod]
    fn of_segments(
        arguments: usize,
        entry: Option<&Bound<'_, PyFunction>>,
        segments: Vec<Bound<'_, PyFunction>>,
        turns: u32,
    ) -> PyResult<PyFunction> {
        let segments: Vec<Arc<ScalarFunction>> =
            segments.iter().map(|segment| segment.get().0.clone()).collect();
        let entry = entry.map(|entry| &*entry.get().0);
        let function =
            ScalarFunction::of_segments(arguments, entry, &segments, turns).map_err(to_py)?;
        Ok(PyFunction(Arc::new(function)))
    }

    /// Results of the function at each point of arrays and numbers that broadcast, cast to its arguments' dtypes.
    fn call(
        &self,
        py: Python<'_>,
        arguments: Vec<Bound<'_, PyAny>>,
        wanted: Vec<usize>,
    ) -> PyResult<Vec<NdArray>> {
        let context = ready(py)?;
        if arguments.len() != self.0.arguments().len() {
            let words = format!("the function takes {} arguments", self.0.arguments().len());
            return Err(PyTypeError::new_err(words));
        }
        let given = arguments.iter().zip(self.0.arguments());
        let given = given.map(|(argument, dtype)| taken(context, argument, *dtype));
        let given: Vec<ScalarArgument> = given.collect::<PyResult<_>>()?;
        let args: Vec<ArrayOrScalar<'_>> = given.iter().map(ScalarArgument::as_arg).collect();
        let results = wanted.into_iter().map(|result| context.call(&self.0, result, &args));
        results.map(|result| result.map(NdArray::lazy).map_err(to_py)).collect()
    }

    /// The most turns that a function's loop can take in one launch.
    #[classattr]
    const MOST_TURNS: u32 = ScalarFunction::MOST_TURNS;

    /// The program, as text.
    fn __str__(&self) -> String {
        self.0.program().to_string()
    }
}

/// An argument of a call.
enum ScalarArgument {
    Array(Array),
    Scalar(Scalar),
}

impl ScalarArgument {
    fn as_arg(&self) -> ArrayOrScalar<'_> {
        match self {
            ScalarArgument::Array(array) => ArrayOrScalar::Array(array),
            ScalarArgument::Scalar(scalar) => ArrayOrScalar::Scalar(*scalar),
        }
    }
}

/// An argument in the dtype that the function takes.
fn taken(context: &Context, argument: &Bound<'_, PyAny>, dtype: DType) -> PyResult<ScalarArgument> {
    let refused = || PyTypeError::new_err(format!("an argument is no number of dtype {dtype}"));
    let operand = classify(argument)?.ok_or_else(refused)?;
    if let Some(array) = operand.as_array() {
        return context.cast(array, dtype).map(ScalarArgument::Array).map_err(to_py);
    }
    if dtype.is_complex() {
        return operand.complex(dtype).map(ScalarArgument::Array).ok_or_else(refused);
    }
    operand.scalar(dtype).map(ScalarArgument::Scalar).ok_or_else(refused)
}

/// A result of a function: an array that was recorded, or a number of NumPy's.
fn given(result: &Bound<'_, PyAny>) -> PyResult<ScalarArgument> {
    let refused = || PyTypeError::new_err("a result is no number");
    let operand = classify(result)?.ok_or_else(refused)?;
    if let Some(array) = operand.as_array() {
        return Ok(ScalarArgument::Array(array.clone()));
    }
    let dtype = operand.kind.dtype().ok_or_else(refused)?;
    if dtype.is_complex() {
        return operand.complex(dtype).map(ScalarArgument::Array).ok_or_else(refused);
    }
    operand.scalar(dtype).map(ScalarArgument::Scalar).ok_or_else(refused)
}

fn lazy(array: &Bound<'_, NdArray>) -> PyResult<Array> {
    match elements(array) {
        ArrayElements::Lazy(array) => Ok(array),
        ArrayElements::Numpy(_) => Err(PyTypeError::new_err("the dtype is NumPy's own")),
    }
}
