//! `gpupy.explain`: how arrays are evaluated, for people and for notebooks.
//!
//! Owns the Python class of explanations. Invariant: explaining waits without the GIL, and evaluates
//! no more than reading the array would.
//!
//! Not here: the record of an evaluation and its text (`gpupy_engine::Explanation`).

use crate::array::lazy_scalar::LazyScalar;
use crate::array::ndarray::NdArray;
use crate::session::context::ready;
use crate::session::errors::to_py;
use crate::session::waiting::wait;
use gpupy_engine::{Array, Explanation};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// How arrays were evaluated: as text, as a picture, and both in a notebook.
#[pyclass(name = "Explanation", module = "gpupy", frozen)]
pub struct PyExplanation(Explanation);

#[pymethods]
impl PyExplanation {
    /// Structure, steps, programs, sums and times as text.
    #[getter]
    fn text(&self) -> String {
        self.0.text()
    }

    /// The graph in the language of Graphviz; the operations of one kernel have one colour.
    #[getter]
    fn dot(&self) -> String {
        self.0.dot()
    }

    /// The values and kernels as a list in a picture; the operations of one kernel have one colour.
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

/// Evaluates arrays together on their driver, and explains it: the steps in order, each with the values
/// that it reads, writes and frees, its estimated cost and its time. Nothing is read back. With ``run=False``
/// it is compiled, and explained before it is done.
#[pyfunction]
#[pyo3(signature = (array, /, *more, run=true))]
pub fn explain(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    more: &Bound<'_, PyTuple>,
    run: bool,
) -> PyResult<PyExplanation> {
    let mut arrays = Vec::new();
    for array in std::iter::once(array.clone()).chain(more.iter()) {
        arrays.extend(lazy(py, &array)?);
    }
    if arrays.is_empty() {
        let (dtype, shape) = (array.getattr("dtype")?.str()?, array.getattr("shape")?.str()?);
        return Ok(PyExplanation(Explanation::of_nothing(format!(
            "array of {dtype} {shape}: held by NumPy, nothing to evaluate"
        ))));
    }
    let context = ready(py)?;
    let explained = wait(py, || {
        let all: Vec<_> = arrays.iter().collect();
        if run { context.explain_all(&all) } else { context.rehearse_all(&all) }
    });
    explained.map(PyExplanation).map_err(to_py)
}

/// The array that a driver evaluates; `None` for one that NumPy holds.
fn lazy(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    Ok(if let Ok(ours) = array.cast::<NdArray>() {
        ours.get().read(py).as_lazy().cloned()
    } else if let Ok(scalar) = array.cast::<LazyScalar>() {
        Some(scalar.get().as_array().clone())
    } else {
        let numpy = py.import("numpy")?;
        let known = (numpy.getattr("ndarray")?, numpy.getattr("generic")?);
        if !array.is_instance(&known.0)? && !array.is_instance(&known.1)? {
            let given = array.get_type().name()?;
            return Err(PyTypeError::new_err(format!("`{given}` is not an array")));
        }
        None
    })
}
