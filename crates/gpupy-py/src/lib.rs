//! The Python module `gpupy._gpupy`: arrays, ufuncs and NumPy's protocols over `gpupy-engine`.
//!
//! Folders; each imports only those above it:
//!
//! ```text
//! session    the context that all arrays share, waiting for it, errors, the fork barrier
//! convert    dtypes, elements and memory between NumPy and us
//! array      the classes, operands, results, tracing
//! fallback   calls that NumPy serves, and their call sites
//! index      basic and advanced (fancy) indexing, assignment
//! views      other shapes and dtypes, joins
//! create     creation of arrays
//! compute    ufuncs, operators, reductions, library ops
//! methods    the Python methods of the classes
//! jit        functions that are traced, and repeated without Python
//! loops      loops of the program that run as compiled code
//! ```
//!
//! The path of a call: `compute/operators.rs` or `compute/ufunc_call.rs` classifies operands (`array/operand.rs`),
//! finds dtypes by NumPy's own promotion (`compute/ufunc.rs`), and records through `compute/ufunc_lowering`. A call
//! that cannot be recorded goes to NumPy by `fallback/fast_call.rs`, or, in rare cases, by `gpupy/_fallback/calls.py`.
//!
//! Not here: numerics of any kind (`gpupy-engine` and the drivers), NumPy's many other functions
//! (`python/gpupy/`).

use pyo3::prelude::*;

mod array;
mod compute;
mod convert;
mod create;
mod fallback;
mod index;
mod jit;
mod loops;
mod methods;
mod session;
mod thresholds;
mod views;

use array::classes::{asked_class, metaclass, subclass, wrap};
use array::{lazy_scalar, ndarray, recording};
use compute::{fourier, py_function, scan_sort_matmul, select, ufunc};
use convert::{dlpack, dtypes};
use create::{arrays, builtin, draws, external_arrays};
use fallback::{border, call_sites, fast_call};
use index::{fancy, mask_positions, setitem, take};
use methods::{evaluation, explain, view_methods};
use session::{context, errors, first_array, forks, one_step, python_objects};
use views::{bases, dtype_views, joins, repeats, shifts};

// Free-threaded Pythons switch their GIL on for this module, which does not claim to do without.
#[pymodule(gil_used = true)]
fn _gpupy(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // NumPy's table of functions is found by an import, which fails in a finaliser when Python ends.
    // SAFETY: the function takes no arguments and only returns a number; Python's lock is held.
    unsafe { numpy::PY_ARRAY_API.PyArray_GetNDArrayCFeatureVersion(module.py()) };
    context::set_opener(recording::materialise::opened);
    module.add("DriverError", module.py().get_type::<errors::DriverError>())?;
    module.add("OpenError", module.py().get_type::<errors::OpenError>())?;
    module.add("FormatError", module.py().get_type::<errors::FormatError>())?;
    module.add_class::<ndarray::NdArray>()?;
    subclass::keep_allocation(module.py())?;
    module.add_function(wrap_pyfunction!(subclass::new_array, module)?)?;
    module.add_class::<lazy_scalar::LazyScalar>()?;
    module.add_class::<ufunc::Ufunc>()?;
    module.add_class::<py_function::PyFunction>()?;
    module.add_class::<loops::loop_nest::LoopNest>()?;
    module.add_function(wrap_pyfunction!(py_function::argument, module)?)?;
    module.add_function(wrap_pyfunction!(py_function::operation, module)?)?;
    module.add_function(wrap_pyfunction!(context::use_driver, module)?)?;
    module.add_class::<border::Border>()?;
    module.add_function(wrap_pyfunction!(call_sites::count_made, module)?)?;
    module.add_function(wrap_pyfunction!(metaclass::give_kind, module)?)?;
    module.add_function(wrap_pyfunction!(asked_class::lend_to, module)?)?;
    module.add_function(wrap_pyfunction!(first_array::await_array, module)?)?;
    module.add_function(wrap_pyfunction!(mask_positions::nonzero, module)?)?;
    module.add_function(wrap_pyfunction!(mask_positions::positions, module)?)?;
    module.add_function(wrap_pyfunction!(context::current_driver, module)?)?;
    module.add_function(wrap_pyfunction!(context::wanted_driver, module)?)?;
    module.add_function(wrap_pyfunction!(context::set_driver_fallback, module)?)?;
    module.add_function(wrap_pyfunction!(context::reconfigure, module)?)?;
    module.add_function(wrap_pyfunction!(context::drivers, module)?)?;
    module.add_function(wrap_pyfunction!(context::counters, module)?)?;
    module.add_function(wrap_pyfunction!(context::reset_counters, module)?)?;
    module.add_function(wrap_pyfunction!(context::threads, module)?)?;
    module.add_function(wrap_pyfunction!(context::set_threads, module)?)?;
    module.add_function(wrap_pyfunction!(context::set_pool_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(context::trim, module)?)?;
    module.add_function(wrap_pyfunction!(context::_fail_allocation, module)?)?;
    module.add_function(wrap_pyfunction!(dlpack::retyped, module)?)?;
    module.add_function(wrap_pyfunction!(dtypes::is_lazy, module)?)?;
    module.add_function(wrap_pyfunction!(dtypes::kind_of, module)?)?;
    module.add_function(wrap_pyfunction!(dtypes::accumulated, module)?)?;
    module.add_function(wrap_pyfunction!(context::eager, module)?)?;
    module.add_function(wrap_pyfunction!(context::set_eager, module)?)?;
    module.add_function(wrap_pyfunction!(bases::snapshot, module)?)?;
    module.add_function(wrap_pyfunction!(bases::is_written, module)?)?;
    module.add_function(wrap_pyfunction!(bases::place_in, module)?)?;
    module.add_function(wrap_pyfunction!(bases::memory_of, module)?)?;
    module.add_function(wrap_pyfunction!(bases::is_in_memory, module)?)?;
    module.add_function(wrap_pyfunction!(python_objects::register_python, module)?)?;
    module.add_class::<one_step::Bracket>()?;
    module.add_function(wrap_pyfunction!(one_step::in_one_step, module)?)?;
    module.add_function(wrap_pyfunction!(one_step::rename, module)?)?;
    module.add_function(wrap_pyfunction!(array::record_fields::of_field, module)?)?;
    module.add_function(wrap_pyfunction!(bases::extents, module)?)?;
    module.add_function(wrap_pyfunction!(bases::pending_extents, module)?)?;
    module.add_function(wrap_pyfunction!(joins::join, module)?)?;
    module.add_function(wrap_pyfunction!(joins::join_plainly, module)?)?;
    module.add_function(wrap_pyfunction!(shifts::rolled, module)?)?;
    module.add_function(wrap_pyfunction!(shifts::roll_alike, module)?)?;
    module.add_function(wrap_pyfunction!(shifts::padded, module)?)?;
    module.add_function(wrap_pyfunction!(repeats::repeated, module)?)?;
    module.add_function(wrap_pyfunction!(repeats::tiled, module)?)?;
    module.add_function(wrap_pyfunction!(scan_sort_matmul::little_product, module)?)?;
    module.add_function(wrap_pyfunction!(forks::before_fork, module)?)?;
    module.add_function(wrap_pyfunction!(forks::after_fork, module)?)?;
    module.add_function(wrap_pyfunction!(evaluation::evaluate, module)?)?;
    module.add_class::<explain::PyExplanation>()?;
    module.add_class::<methods::renderer_lending::LendContext>()?;
    module.add_function(wrap_pyfunction!(explain::explain, module)?)?;
    module.add_function(wrap_pyfunction!(fast_call::call, module)?)?;
    module.add_function(wrap_pyfunction!(call_sites::count_fallback, module)?)?;
    module.add_function(wrap_pyfunction!(call_sites::fallback_counts, module)?)?;
    module.add_function(wrap_pyfunction!(call_sites::reset_fallback_counts, module)?)?;
    module.add_function(wrap_pyfunction!(call_sites::tell_of_fallbacks, module)?)?;
    module.add_function(wrap_pyfunction!(wrap::hold, module)?)?;
    module.add_function(wrap_pyfunction!(wrap::adopt, module)?)?;
    module.add_function(wrap_pyfunction!(wrap::wrap, module)?)?;
    module.add_function(wrap_pyfunction!(wrap::wrap_constant, module)?)?;
    module.add_function(wrap_pyfunction!(view_methods::numpy_attribute, module)?)?;
    module.add_function(wrap_pyfunction!(setitem::assign_all, module)?)?;
    module.add_function(wrap_pyfunction!(arrays::full, module)?)?;
    module.add_function(wrap_pyfunction!(arrays::full_plainly, module)?)?;
    module.add_function(wrap_pyfunction!(external_arrays::file_array, module)?)?;
    module.add_function(wrap_pyfunction!(external_arrays::read_array, module)?)?;
    module.add_function(wrap_pyfunction!(external_arrays::bytes_read, module)?)?;
    module.add_function(wrap_pyfunction!(draws::drawn, module)?)?;
    builtin::add(module)?;
    module.add_function(wrap_pyfunction!(arrays::index, module)?)?;
    module.add_function(wrap_pyfunction!(arrays::ramp, module)?)?;
    module.add_function(wrap_pyfunction!(fancy::put, module)?)?;
    module.add_function(wrap_pyfunction!(take::take, module)?)?;
    module.add_function(wrap_pyfunction!(take::take_along, module)?)?;
    module.add_function(wrap_pyfunction!(dtype_views::part_of, module)?)?;
    module.add_function(wrap_pyfunction!(select::select, module)?)?;
    module.add_function(wrap_pyfunction!(select::write_where, module)?)?;
    module.add_function(wrap_pyfunction!(select::clip, module)?)?;
    module.add_function(wrap_pyfunction!(fourier::fourier, module)?)?;
    module.add_function(wrap_pyfunction!(scan_sort_matmul::scan, module)?)?;
    module.add_function(wrap_pyfunction!(scan_sort_matmul::place, module)?)?;
    module.add_function(wrap_pyfunction!(scan_sort_matmul::sort, module)?)?;
    module.add_function(wrap_pyfunction!(scan_sort_matmul::argsort, module)?)?;
    module.add_function(wrap_pyfunction!(scan_sort_matmul::lexsort, module)?)?;
    jit::finish::add(module)?;
    forks::register();
    Ok(())
}
