//! Operations on instances of a subclass that leaves results to NumPy's rules.
//!
//! Owns [`of_instances`]. Invariant: it runs no code of the class but `__array_finalize__`.
//!
//! Not here: classes that decide the results of ufuncs themselves (`python/gpupy/_classes/subclass.py`).

use crate::array::classes::subclass::{is_plain, is_simple, like_view};
use crate::array::ndarray::NdArray;
use crate::array::operand::{UfuncOperand, classify};
use crate::compute::operator::Operator;
use crate::compute::ufunc::Ufunc;
use pyo3::prelude::*;
use smallvec::SmallVec;

/// The result of a ufunc, or of its operator, where all instances are of one simple class; `None` leaves it to the slow
/// path.
#[cold]
pub fn of_instances<'py>(
    ufunc: &Ufunc,
    op: Option<Operator>,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let instance = |object: &&&Bound<'py, PyAny>| {
        let array = object.cast::<NdArray>().ok()?;
        (!is_plain(array)).then_some(array.clone())
    };
    let mut instances = objects.iter().filter_map(|object| instance(&object));
    let Some(first) = instances.next() else { return Ok(None) };
    let class = first.get_type();
    if instances.any(|other| !other.get_type().is(&class)) || !is_simple(&class)? {
        return Ok(None);
    }
    let mut operands: SmallVec<[UfuncOperand<'_>; 2]> = SmallVec::new();
    for object in objects {
        match classify(object)? {
            Some(operand) => operands.push(operand),
            None => return Ok(None),
        }
    }
    let py = first.py();
    let made = match (ufunc.apply_eagerly(&operands), op) {
        (Some(made), _) => Some(made),
        (None, Some(op)) => ufunc.record_operator(py, op, &operands, None)?,
        (None, None) => ufunc.record(py, &operands, None)?,
    };
    made.map(|array| like_view(&first, NdArray::lazy(array))).transpose()
}
