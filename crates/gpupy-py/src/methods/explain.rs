//! `gpupy.explain`: how an array is evaluated, for people and for notebooks.
//!
//! Owns the Python class of explanations. Invariant: explaining waits without the GIL, and evaluates
//! no more than reading the array would.
//!
//! Not here: what is recorded and how it reads (`gpupy_engine::Explanation`).

use crate::array::ndarray::NdArray;
use crate::array::scalar::LazyScalar;
use crate::session::context::ready;
use crate::session::errors::to_py;
use crate::session::waiting::wait;
use gpupy_engine::Explanation;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// How one array was evaluated: as text, as a picture, and both in a notebook.
#[pyclass(name = "Explanation", module = "gpupy", frozen)]
pub struct PyExplanation(Explanation);

#[pymethods]
impl PyExplanation {
    /// Structure, steps, programs, sums and times as text.
    #[getter]
    fn text(&self) -> String {
        self.0.text()
    }

    /// The graph as a picture; the operations of one kernel have one colour.
    #[getter]
    fn svg(&self) -> String {
        self.0.svg()
    }

    fn __str__(&self) -> String {
        self.0.text()
    }

    fn __repr__(&self) -> String {
        self.0.text()
    }

    fn _repr_svg_(&self) -> String {
        self.0.svg()
    }

    fn _repr_html_(&self) -> String {
        let text = self.0.text().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!(
            "<div style=\"overflow:auto;max-height:40em\">{}</div>\
             <details><summary>text</summary><pre>{text}</pre></details>",
            self.0.svg()
        )
    }
}

/// Evaluates an array on its driver, and tells how: its operations, the kernels into which they
/// were cut, what was moved, and how long it took. Nothing is read back.
#[pyfunction]
pub fn explain(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<PyExplanation> {
    let lazy = if let Ok(ours) = array.cast::<NdArray>() {
        ours.get().read(py).as_lazy().cloned()
    } else if let Ok(scalar) = array.cast::<LazyScalar>() {
        scalar.get().to_array().ok()
    } else {
        let numpy = py.import("numpy")?;
        let known = (numpy.getattr("ndarray")?, numpy.getattr("generic")?);
        if !array.is_instance(&known.0)? && !array.is_instance(&known.1)? {
            let given = array.get_type().name()?;
            return Err(PyTypeError::new_err(format!("`{given}` is not an array")));
        }
        None
    };
    let Some(lazy) = lazy else {
        let (dtype, shape) = (array.getattr("dtype")?.str()?, array.getattr("shape")?.str()?);
        return Ok(PyExplanation(Explanation::of_nothing(format!(
            "array of {dtype} {shape}: held by NumPy, nothing to evaluate"
        ))));
    };
    let context = ready(py)?;
    wait(py, || context.explain(&lazy)).map(PyExplanation).map_err(to_py)
}
