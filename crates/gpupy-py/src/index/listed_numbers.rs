//! Lists of numbers, of such lists, and so on, as arrays.
//!
//! Owns [`array_of`]. Invariant: it gives the array that NumPy makes of the list, or nothing: where NumPy would look
//! for more than numbers, refuse or warn.
//!
//! Not here: arrays in lists (`python/gpupy/_creation/conversion.py`).

use crate::array::operand::classify_exact;
use crate::convert::dtypes::numpy;
use crate::index::setitem::plain;
use crate::session::context::holds;
use crate::session::errors::to_py;
use gpupy_core::{DType, MAX_RANK, Op, Scalar, Shape, op_eval};
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyTuple};
use smallvec::SmallVec;

/// The array that a number, a list or a tuple of numbers, of lists of numbers and so on becomes, of a dtype if one is
/// given; `None` for everything else.
pub fn array_of(items: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Option<Array>> {
    let Some(shape) = extents(items) else { return Ok(None) };
    let count = shape.iter().fold(1, |count: usize, extent| count.saturating_mul(*extent));
    // Most numbers have eight bytes.
    let mut bytes = SmallVec::new();
    if bytes.try_reserve(count.saturating_mul(8)).is_err() {
        return Ok(None);
    }
    let mut numbers = ListedNumbers { dtype, is_given: dtype.is_some(), bytes };
    if !numbers.add_all(items, &shape)? {
        return Ok(None);
    }
    match numbers.dtype {
        Some(dtype) if holds(dtype)? => {
            Array::from_bytes(dtype, &shape, &numbers.bytes).map(Some).map_err(to_py)
        }
        _ => Ok(None),
    }
}

/// The lengths of a list, of its first item, and so on, none for a number; `None` where one is empty.
fn extents(items: &Bound<'_, PyAny>) -> Option<Shape> {
    let mut shape = Shape::new();
    let mut inner = items.clone();
    loop {
        let first = match (inner.cast_exact::<PyList>(), inner.cast_exact::<PyTuple>()) {
            (Ok(list), _) => (list.len(), list.get_item(0).ok()?),
            (_, Ok(tuple)) => (tuple.len(), tuple.get_item(0).ok()?),
            _ => return Some(shape),
        };
        if shape.len() == MAX_RANK {
            return None;
        }
        shape.push(first.0);
        inner = first.1;
    }
}

/// The numbers that were read so far.
struct ListedNumbers {
    /// Their dtype: the given one, or that which those so far have together.
    dtype: Option<DType>,
    is_given: bool,
    bytes: SmallVec<[u8; 64]>,
}

impl ListedNumbers {
    /// Reads a list of this shape; false where it has another one, or not numbers alone.
    fn add_all(&mut self, items: &Bound<'_, PyAny>, shape: &[usize]) -> PyResult<bool> {
        let Some((extent, inner)) = shape.split_first() else { return self.add(items) };
        // The code of a number of ours might change the list.
        if let Ok(list) = items.cast_exact::<PyList>() {
            for at in 0..*extent {
                let Ok(item) = list.get_item(at) else { return Ok(false) };
                let is_added = match inner.is_empty() {
                    true => self.add(&item)?,
                    false => self.add_all(&item, inner)?,
                };
                if !is_added {
                    return Ok(false);
                }
            }
            return Ok(list.len() == *extent);
        }
        let Ok(tuple) = items.cast_exact::<PyTuple>() else { return Ok(false) };
        if tuple.len() != *extent {
            return Ok(false);
        }
        for item in tuple.iter_borrowed() {
            if !self.add_all(&item, inner)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add(&mut self, item: &Bound<'_, PyAny>) -> PyResult<bool> {
        // Most numbers are floats among floats.
        if self.dtype == Some(DType::F64)
            && let Ok(float) = item.cast_exact::<PyFloat>()
        {
            self.bytes.extend_from_slice(&float.value().to_le_bytes());
            return Ok(true);
        }
        let number = match self.dtype.filter(|_| self.is_given) {
            Some(dtype) => number_of(item, Some(dtype))?,
            None => number_of(item, None)?.and_then(|number| self.with_others(number)),
        };
        let Some(number) = number else { return Ok(false) };
        self.bytes.extend_from_slice(&number.bytes()[..number.dtype.size()]);
        Ok(true)
    }

    /// A number in the dtype that it has together with those before, which get it too; `None` where NumPy has to tell
    /// which one that is.
    fn with_others(&mut self, number: Scalar) -> Option<Scalar> {
        let before = *self.dtype.get_or_insert(number.dtype);
        if before == number.dtype {
            return Some(number);
        }
        let together = DEFAULTS.into_iter().rfind(|it| *it == before || *it == number.dtype)?;
        if !DEFAULTS.contains(&before) || !DEFAULTS.contains(&number.dtype) {
            return None;
        }
        if together != before {
            let mut bytes = SmallVec::new();
            bytes.try_reserve(self.bytes.len() / before.size() * 8).ok()?;
            for element in self.bytes.chunks_exact(before.size()) {
                let element = Scalar::read(before, element)?;
                let cast = op_eval::eval(Op::Cast, together, &[element])?;
                bytes.extend_from_slice(cast.bytes().get(..together.size())?);
            }
            (self.bytes, self.dtype) = (bytes, Some(together));
        }
        op_eval::eval(Op::Cast, together, &[number])
    }
}

/// The dtypes of Python's numbers; of two of them the later one is that of both.
const DEFAULTS: [DType; 3] = [DType::Bool, DType::I64, DType::F64];

/// A real number of Python's or NumPy's as an element of an array made of it, of a dtype if one is given; `None` for
/// everything else, and where NumPy would refuse or warn.
#[inline]
pub fn number_of(item: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Option<Scalar>> {
    if dtype.is_none_or(|dtype| dtype == DType::F64)
        && let Ok(float) = item.cast_exact::<PyFloat>()
    {
        return Ok(Some(Scalar::f64(float.value())));
    }
    let is_number = item.is_exact_instance_of::<PyFloat>()
        || item.is_exact_instance_of::<PyInt>()
        || item.is_exact_instance_of::<PyBool>()
        || numpy(item.py())?.is_scalar_type(&item.get_type());
    let Some(mut number) = (if is_number { classify_exact(item)? } else { None }) else {
        return Ok(None);
    };
    if let Some(dtype) = dtype {
        return Ok(plain(&number, dtype));
    }
    number.take_own_dtype();
    Ok(number.kind.dtype().and_then(|dtype| number.scalar(dtype)))
}
