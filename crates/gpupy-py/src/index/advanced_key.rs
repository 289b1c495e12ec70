//! The parts of advanced keys: integers, slices, index arrays, masks.
//!
//! Owns [`KeyPart`] and [`parts`]. Invariant: a mask is evaluated, because its count is the result's extent.
//!
//! Not here: which elements they select together (`indexed_axes.rs`), keys without index arrays (`basic.rs`).

use crate::array::ndarray::{ArrayElements, NdArray, elements, host_of};
use crate::convert::dtypes::numpy;
use crate::convert::numpy_arrays;
use crate::index::basic::{self, BasicPart};
use crate::index::{fast_path, mask_positions};
use gpupy_core::DType;
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use smallvec::SmallVec;

/// A part of a key.
pub enum KeyPart<'py> {
    /// An integer, a slice, `...` or `newaxis`.
    Basic(BasicPart<'py>),
    /// An index array, which may be written to as long as no snapshot is taken.
    Index(Array),
    /// A mask over as many axes as it has extents, and the positions of its true elements, one after another.
    Mask(SmallVec<[usize; 4]>, Array),
}

/// The parts of a key that has an index array among them; `None` for other keys.
pub fn parts<'py>(key: &Bound<'py, PyAny>) -> PyResult<Option<Vec<KeyPart<'py>>>> {
    let mut parts = Vec::new();
    let mut add = |key: Bound<'py, PyAny>| -> PyResult<bool> {
        let part = match fast_path::index(&key)? {
            Some(index) => Some(KeyPart::Index(index)),
            None => match basic::item(key.clone())? {
                Some(item) => Some(KeyPart::Basic(item)),
                None => index_part(&key)?,
            },
        };
        let known = part.is_some();
        parts.extend(part);
        Ok(known)
    };
    let known = match key.cast_exact::<PyTuple>() {
        Ok(keys) => {
            let mut known = true;
            for key in keys.iter() {
                known = known && add(key)?;
            }
            known
        }
        Err(_) => add(key.clone())?,
    };
    let fancy = parts.iter().any(|part| !matches!(part, KeyPart::Basic(_)));
    Ok((known && fancy).then_some(parts))
}

/// An index array or a mask; `None` for other objects.
fn index_part<'py>(key: &Bound<'py, PyAny>) -> PyResult<Option<KeyPart<'py>>> {
    let py = key.py();
    let numpy = numpy(py)?;
    if let Ok(array) = key.cast::<NdArray>()
        && let ArrayElements::Lazy(array) = elements(array)
        && array.dtype().is_int()
    {
        return Ok((array.ndim() > 0).then_some(KeyPart::Index(array)));
    }
    if let Ok(key) = key.cast::<NdArray>()
        && let ArrayElements::Lazy(mask) = elements(key)
        && mask.dtype() == DType::Bool
        && mask.ndim() > 0
        && i32::try_from(mask.size()).is_ok()
    {
        let positions = mask_positions::of(key, &mask)?;
        return Ok(Some(KeyPart::Mask(mask.shape().into(), positions)));
    }
    let given = match key.cast::<NdArray>() {
        Ok(array) => host_of(array)?,
        Err(_) if key.cast_exact::<PyList>().is_ok() => numpy.asarray.bind(py).call1((key,))?,
        Err(_) => key.clone(),
    };
    if !given.is_instance(numpy.ndarray.bind(py))?
        || given.getattr("ndim")?.extract::<usize>()? == 0
    {
        return Ok(None);
    }
    let kind: char = given.getattr("dtype")?.getattr("kind")?.extract()?;
    let is_empty_list = || -> PyResult<bool> {
        Ok(key.cast_exact::<PyList>().is_ok() && given.getattr("size")?.extract::<usize>()? == 0)
    };
    match kind {
        'i' | 'u' => Ok(numpy_arrays::indices(&given)?.map(KeyPart::Index)),
        'b' => {
            let shape: SmallVec<[usize; 4]> =
                given.getattr("shape")?.extract::<Vec<usize>>()?.into();
            let size =
                shape.iter().try_fold(1i32, |size, n| size.checked_mul((*n).try_into().ok()?));
            match size {
                Some(_) => {
                    let positions = numpy_arrays::true_positions(&given)?;
                    Ok(Some(KeyPart::Mask(shape, positions)))
                }
                None => Ok(None),
            }
        }
        // NumPy takes a list of nothing for integers.
        _ if is_empty_list()? => {
            Ok(numpy_arrays::indices(&given.call_method1("astype", ("intp",))?)?
                .map(KeyPart::Index))
        }
        _ => Ok(None),
    }
}
