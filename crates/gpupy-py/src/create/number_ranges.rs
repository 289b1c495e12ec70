//! Ranges of few numbers: the fast path of `arange`.
//!
//! Owns [`arange`]. Invariant: the numbers have the bits of NumPy's.
//!
//! Not here: longer ranges, which take no memory until they are needed, and other arguments
//! (`python/gpupy/_creation/ranges.py`).

use crate::array::ndarray::NdArray;
use crate::convert::dtypes;
use crate::index::listed_numbers;
use crate::session::context::holds;
use crate::session::errors::to_py;
use crate::session::python_objects;
use crate::thresholds::T;
use gpupy_core::DType;
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};
use smallvec::SmallVec;

/// NumPy's `arange`.
pub fn arange<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = args.py();
    if let Some((range, dtype)) = Range::of(args, kwargs)?
        && let Some(array) = range.numbers(dtype)?
    {
        return Ok(Bound::new(py, NdArray::lazy(array))?.into_any());
    }
    python_objects::ARANGE.get(py)?.call(args, kwargs)
}

/// The start, the stop and the step of a range of numbers.
enum Range {
    Ints([i64; 3]),
    Floats([f64; 3]),
}

impl Range {
    /// The range of ints or floats that arguments of `arange` name, and the dtype, if one is given; `None` for others.
    fn of(
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<(Range, Option<DType>)>> {
        let dtype = match kwargs {
            None => None,
            Some(kwargs) => {
                let named = kwargs.get_item(pyo3::intern!(args.py(), "dtype"))?;
                let known = named.filter(|_| kwargs.len() == 1).map(|it| dtypes::known(&it));
                let Some(Some(dtype)) = known.transpose()? else { return Ok(None) };
                Some(dtype)
            }
        };
        let int = |arg: Bound<'_, PyAny>| arg.cast_exact::<PyInt>().ok()?.extract::<i64>().ok();
        let ints: Option<SmallVec<[i64; 3]>> = args.iter().map(int).collect();
        if let Some(ints) = ints.filter(|_| dtype != Some(DType::F64)) {
            return Ok(start_stop_step(&ints, [0, 1]).map(|it| (Range::Ints(it), dtype)));
        }
        let float = |arg: Bound<'_, PyAny>| match arg.cast_exact::<PyInt>() {
            // An int that a float has, too.
            Ok(_) => int(arg).filter(|int| int.unsigned_abs() < 1 << 53).map(|int| int as f64),
            Err(_) => {
                let number = listed_numbers::number_of(&arg, None).ok()??;
                let value = f64::from_bits(number.bits);
                (number.dtype == DType::F64 && value.is_finite()).then_some(value)
            }
        };
        let floats: Option<SmallVec<[f64; 3]>> = args.iter().map(float).collect();
        let given = floats.and_then(|floats| start_stop_step(&floats, [0.0, 1.0]));
        Ok(given.map(|it| (Range::Floats(it), dtype)))
    }

    /// The numbers, where they are few; `None` leaves it to the slow path.
    fn numbers(&self, dtype: Option<DType>) -> PyResult<Option<Array>> {
        let own = if matches!(self, Range::Ints(_)) { DType::I64 } else { DType::F64 };
        let len = self.len();
        if !(1..=T.listed_numbers).contains(&len)
            || dtype.is_some_and(|it| it != own)
            || !holds(own)?
        {
            return Ok(None);
        }
        let made = match *self {
            Range::Ints([start, _, step]) => {
                // Every number is between the first and `stop`.
                let numbers = (0..len as i64).map(|k| start.wrapping_add(k.wrapping_mul(step)));
                let numbers: SmallVec<[i64; 16]> = numbers.collect();
                Array::from_bytes(own, &[len], bytemuck::cast_slice(&numbers))
            }
            Range::Floats([start, _, step]) => {
                // NumPy stores the first two elements, and their difference leads to the others.
                let second = start + step;
                let numbers = (0..len).map(|k| match k {
                    0 => start,
                    1 => second,
                    k => start + k as f64 * (second - start),
                });
                let numbers: SmallVec<[f64; 16]> = numbers.collect();
                Array::from_bytes(own, &[len], bytemuck::cast_slice(&numbers))
            }
        };
        made.map(Some).map_err(to_py)
    }

    /// How many numbers there are; 0 also where the step is 0.
    fn len(&self) -> usize {
        match *self {
            Range::Ints([start, stop, step]) if step != 0 => {
                let (start, stop, step) = (i128::from(start), i128::from(stop), i128::from(step));
                usize::try_from((stop - start + step - step.signum()) / step).unwrap_or(0)
            }
            Range::Floats([start, stop, step]) if step != 0.0 => {
                ((stop - start) / step).ceil() as usize
            }
            _ => 0,
        }
    }
}

/// One to three numbers as `arange` takes them.
fn start_stop_step<N: Copy>(given: &[N], [zero, one]: [N; 2]) -> Option<[N; 3]> {
    match *given {
        [stop] => Some([zero, stop, one]),
        [start, stop] => Some([start, stop, one]),
        [start, stop, step] => Some([start, stop, step]),
        _ => None,
    }
}
