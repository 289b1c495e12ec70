//! The Python module `gpupy._gpupy`: arrays, ufuncs and NumPy's protocols over `gpupy-engine`.
//!
//! The way of a call: `operators.rs` or `ufunc.rs` classifies operands (`operand.rs`), finds dtypes by
//! NumPy's own promotion, and records through `recipe.rs`; what cannot be recorded passes through
//! `plain.rs`, and where it is not as plain through `gpupy/_fallback.py`. `index.rs` and `shape.rs` make
//! views, `pick.rs` reads by index arrays, `assign.rs` writes, `host.rs` and `lend.rs` exchange memory with
//! NumPy, `standin.rs` asks NumPy without evaluating.
//!
//! Not here: numerics of any kind (`gpupy-engine` and the drivers), NumPy's many other functions
//! (`python/gpupy/`).

use pyo3::prelude::*;

mod array;
mod assign;
mod attributes;
mod builtin;
mod complex;
mod compose;
mod conversion;
mod create;
mod dtypes;
mod errors;
mod explain;
mod faces;
mod few;
mod forms;
mod host;
mod index;
mod key;
mod known;
mod lend;
mod masks;
mod mirror;
mod operand;
mod operators;
mod pick;
mod plain;
mod processes;
mod protocols;
mod recipe;
mod reduce;
mod rows;
mod scalar;
mod select;
mod session;
mod shape;
mod shifts;
mod shortcuts;
mod sites;
mod slot;
mod standin;
mod ufunc;
mod unfit;
mod waiting;

/// Evaluates arrays on their driver and waits; nothing is read back.
#[pyfunction]
#[pyo3(signature = (*arrays))]
fn evaluate(py: Python<'_>, arrays: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
    let context = session::ready(py)?;
    let mut lazy = Vec::new();
    for object in arrays.iter_borrowed() {
        if let Ok(array) = object.cast::<array::NdArray>() {
            let array = array.get().read(py);
            lazy.extend(array.as_lazy().filter(|array| !array.is_there()).cloned());
        } else if let Ok(scalar) = object.cast::<scalar::LazyScalar>() {
            lazy.extend(scalar.get().as_array().cloned());
        }
    }
    // Letting others have the GIL would take longer than small arrays did.
    if lazy.is_empty() {
        return Ok(());
    }
    waiting::wait(py, || {
        let all: Vec<_> = lazy.iter().collect();
        context.evaluate(&all)
    })
    .map_err(errors::to_py)
}

// Free-threaded Pythons switch their GIL on for this module, which does not claim to do without.
#[pymodule(gil_used = true)]
fn _gpupy(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("DriverError", module.py().get_type::<errors::DriverError>())?;
    module.add_class::<array::NdArray>()?;
    module.add_class::<scalar::LazyScalar>()?;
    module.add_class::<ufunc::Ufunc>()?;
    module.add_function(wrap_pyfunction!(session::use_driver, module)?)?;
    module.add_function(wrap_pyfunction!(session::current_driver, module)?)?;
    module.add_function(wrap_pyfunction!(session::wanted_driver, module)?)?;
    module.add_function(wrap_pyfunction!(session::set_driver_fallback, module)?)?;
    module.add_function(wrap_pyfunction!(session::reconfigure, module)?)?;
    module.add_function(wrap_pyfunction!(session::drivers, module)?)?;
    module.add_function(wrap_pyfunction!(session::counters, module)?)?;
    module.add_function(wrap_pyfunction!(session::reset_counters, module)?)?;
    module.add_function(wrap_pyfunction!(session::trim, module)?)?;
    module.add_function(wrap_pyfunction!(session::_fail_allocation, module)?)?;
    module.add_function(wrap_pyfunction!(session::is_lazy, module)?)?;
    module.add_function(wrap_pyfunction!(session::eager, module)?)?;
    module.add_function(wrap_pyfunction!(session::set_eager, module)?)?;
    module.add_function(wrap_pyfunction!(shape::join, module)?)?;
    module.add_function(wrap_pyfunction!(shape::join_alike, module)?)?;
    module.add_function(wrap_pyfunction!(shifts::rolled, module)?)?;
    module.add_function(wrap_pyfunction!(shifts::roll_alike, module)?)?;
    module.add_function(wrap_pyfunction!(shifts::padded, module)?)?;
    module.add_function(wrap_pyfunction!(processes::before_fork, module)?)?;
    module.add_function(wrap_pyfunction!(processes::after_fork, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate, module)?)?;
    module.add_class::<explain::PyExplanation>()?;
    module.add_function(wrap_pyfunction!(explain::explain, module)?)?;
    module.add_function(wrap_pyfunction!(plain::call, module)?)?;
    module.add_function(wrap_pyfunction!(sites::count_fallback, module)?)?;
    module.add_function(wrap_pyfunction!(sites::fallback_counts, module)?)?;
    module.add_function(wrap_pyfunction!(sites::reset_fallback_counts, module)?)?;
    module.add_function(wrap_pyfunction!(sites::tell_of_fallbacks, module)?)?;
    module.add_function(wrap_pyfunction!(protocols::hold, module)?)?;
    module.add_function(wrap_pyfunction!(host::adopt, module)?)?;
    module.add_function(wrap_pyfunction!(protocols::wrap, module)?)?;
    module.add_function(wrap_pyfunction!(array::numpy_attribute, module)?)?;
    module.add_function(wrap_pyfunction!(assign::assign_all, module)?)?;
    module.add_function(wrap_pyfunction!(create::full, module)?)?;
    builtin::add(module)?;
    module.add_function(wrap_pyfunction!(create::index, module)?)?;
    module.add_function(wrap_pyfunction!(create::ramp, module)?)?;
    module.add_function(wrap_pyfunction!(pick::put, module)?)?;
    module.add_function(wrap_pyfunction!(pick::take, module)?)?;
    module.add_function(wrap_pyfunction!(pick::take_along, module)?)?;
    module.add_function(wrap_pyfunction!(faces::part_of, module)?)?;
    module.add_function(wrap_pyfunction!(select::select, module)?)?;
    module.add_function(wrap_pyfunction!(select::write_where, module)?)?;
    module.add_function(wrap_pyfunction!(select::clip, module)?)?;
    module.add_function(wrap_pyfunction!(forms::scan, module)?)?;
    module.add_function(wrap_pyfunction!(forms::place, module)?)?;
    module.add_function(wrap_pyfunction!(forms::sort, module)?)?;
    module.add_function(wrap_pyfunction!(forms::argsort, module)?)?;
    processes::register();
    Ok(())
}
