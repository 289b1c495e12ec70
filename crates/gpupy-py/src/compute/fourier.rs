//! Discrete Fourier transforms: the routines `fft`, `rfft` and `irfft`, with the dtypes and factors of NumPy.
//!
//! Not here: the arguments that NumPy judges, and transforms along several axes
//! (`python/gpupy/_transforms/fourier.py`).

use crate::array::ndarray::NdArray;
use crate::compute::scan_sort_matmul::place_of;
use crate::session::context::{self, holds, ready};
use crate::session::errors::to_py;
use gpupy_core::op_eval::eval;
use gpupy_core::routines::{Routine, RoutineCall};
use gpupy_core::{DType, Op, Result, Scalar};
use gpupy_engine::{Array, Context};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

/// A transform of NumPy's.
#[derive(Clone, Copy)]
struct NumpyTransform {
    is_real: bool,
    is_forward: bool,
}

impl NumpyTransform {
    fn routine(self) -> Option<Routine> {
        Routine::from_name(match (self.is_real, self.is_forward) {
            (false, _) => "fft",
            (true, true) => "rfft",
            (true, false) => "irfft",
        })
    }

    /// The dtypes of the operand and the result for arrays of a dtype, and the one in which NumPy computes the factor;
    /// `None` for dtypes that are NumPy's.
    fn dtypes(self, given: DType) -> Option<(DType, DType, DType)> {
        let factor = match given {
            DType::BF16 => return None,
            DType::F16 | DType::F32 | DType::F64 => given,
            DType::C64 => DType::F32,
            _ => DType::F64,
        };
        let (real, complex) = match factor {
            DType::F64 => (DType::F64, DType::C128),
            _ => (DType::F32, DType::C64),
        };
        match (self.is_real, self.is_forward) {
            // The imaginary part is none of a real transform's, whose refusal is NumPy's.
            (true, true) if given.is_complex() => None,
            (true, true) => Some((real, complex, factor)),
            (true, false) => Some((complex, factor, factor)),
            (false, _) => Some((complex, complex, factor)),
        }
    }

    /// The number of points of the transform of so many of the operand, where none is named.
    fn points(self, given: usize) -> Option<usize> {
        match (self.is_real, self.is_forward) {
            (true, false) => given.checked_sub(1).map(|n| 2 * n),
            _ => Some(given),
        }
    }

    /// The points that are read of an operand, and those of the result.
    fn extents(self, n: usize) -> (usize, usize) {
        match (self.is_real, self.is_forward) {
            (false, _) => (n, n),
            (true, true) => (n, n / 2 + 1),
            (true, false) => (n / 2 + 1, n),
        }
    }

    /// The factor of a norm, rounded as NumPy rounds it; `None` for words that are no norm.
    fn scale(self, norm: &str, n: usize, dtype: DType) -> Option<f64> {
        let one = |value: f64| eval(Op::Cast, dtype, &[Scalar::f64(value)]);
        let n = one(n as f64)?;
        let divisor = match (norm, self.is_forward) {
            ("backward", true) | ("forward", false) => return Some(1.0),
            ("backward", false) | ("forward", true) => n,
            ("ortho", _) => eval(Op::Sqrt, dtype, &[n])?,
            _ => return None,
        };
        let scale = eval(Op::Div, dtype, &[one(1.0)?, divisor])?;
        let scale = eval(Op::Cast, DType::F64, &[scale])?;
        Some(f64::from_bits(scale.bits))
    }
}

/// A transform along an axis of an array of ours; `None` leaves it to NumPy, whose words about arguments these are.
#[pyfunction]
#[pyo3(signature = (array, n, axis, is_real, is_forward, norm))]
pub fn fourier(
    array: &Bound<'_, PyAny>,
    n: Option<&Bound<'_, PyAny>>,
    axis: &Bound<'_, PyAny>,
    is_real: bool,
    is_forward: bool,
    norm: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<NdArray>> {
    let py = array.py();
    let Ok(array) = array.cast_exact::<NdArray>() else { return Ok(None) };
    let Some(array) = array.get().read(py).as_lazy().cloned() else { return Ok(None) };
    let whole = |number: &Bound<'_, PyAny>| {
        number.cast_exact::<PyInt>().ok().and_then(|number| number.extract::<isize>().ok())
    };
    let Some(axis) = whole(axis).and_then(|axis| place_of(axis, &array)) else { return Ok(None) };
    let transform = NumpyTransform { is_real, is_forward };
    let n = match n {
        None => transform.points(array.shape()[axis]),
        Some(n) => whole(n).and_then(|n| usize::try_from(n).ok()),
    };
    let word = match norm {
        None => "backward",
        Some(norm) => match norm.cast_exact::<PyString>() {
            Ok(norm) => norm.to_str()?,
            Err(_) => return Ok(None),
        },
    };
    let Some(n) = n.filter(|n| *n > 0) else { return Ok(None) };
    let context = ready(py)?;
    let Some((from, to, factor)) = transform.dtypes(array.dtype()) else { return Ok(None) };
    let Some(routine) = transform.routine().filter(|routine| context.offers(*routine, from)) else {
        return Ok(None);
    };
    if context::eager() || !holds(from)? || !holds(to)? {
        return Ok(None);
    }
    let Some(scale) = transform.scale(word, n, factor) else { return Ok(None) };
    let (reads, gives) = transform.extents(n);
    let work = || -> Result<Array> {
        let given = array.shape()[axis];
        if given == 0 {
            let mut shape = array.shape().to_vec();
            shape[axis] = gives;
            return context.cast(&context.full(&shape, Scalar::f64(0.0))?, to);
        }
        let seen = match given > reads {
            true => array.slice_axis(axis, 0, reads, 1),
            false => array.clone(),
        };
        let seen = match seen.dtype() == from {
            true => seen,
            false => context.cast_by_strides(&seen, from)?,
        };
        let result = transformed(context, routine, &seen, axis, n, scale, !is_forward)?;
        if result.dtype() == to { Ok(result) } else { context.cast(&result, to) }
    };
    work().map(|made| Some(NdArray::lazy(made))).map_err(to_py)
}

fn transformed(
    context: &Context,
    routine: Routine,
    array: &Array,
    axis: usize,
    n: usize,
    scale: f64,
    inverse: bool,
) -> Result<Array> {
    let given = array.shape()[axis] as u64;
    let attributes = [axis as u64, given, n as u64, scale.to_bits(), u64::from(inverse)];
    let count = routine.info().attributes.len();
    let call = RoutineCall::new(routine, &attributes[..count], array.ndim())?;
    context.routine(call, array)
}
