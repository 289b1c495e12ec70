//! Arrays of random numbers that the host draws, one after the other.
//!
//! Not here: the numbers (`gpupy-random`), which calls of NumPy's these are (`python/gpupy/_random/host_draws.py`).

use crate::array::ndarray::NdArray;
use crate::convert::dtypes;
use crate::session::errors::to_py;
use crate::session::waiting;
use gpupy_core::DType;
use gpupy_engine::Array;
use gpupy_random::{BitGenerator, Distribution, Interval, Layers, SpareHalf, draw};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A generator's state afterwards: its words, and the half of a word that is left.
type Afterwards = (Vec<u64>, bool, u32);

/// An array of numbers, and the state of the generator after them.
///
/// `kind` is a distribution with its parameters, if it has any, or `integers` with the first number and what more the
/// last one is. `layers` are the three tables of a ziggurat, in bytes.
#[pyfunction]
#[expect(clippy::too_many_arguments)]
pub fn drawn(
    py: Python<'_>,
    generator: &str,
    state: Afterwards,
    kind: &str,
    parameters: Vec<f64>,
    interval: Option<(u64, u64)>,
    layers: Vec<Vec<u8>>,
    shape: Vec<usize>,
    dtype: &Bound<'_, PyAny>,
) -> PyResult<(NdArray, Afterwards)> {
    let unknown = || PyValueError::new_err(format!("no draw: `{kind}` by `{generator}`"));
    let dtype =
        dtypes::from_any(dtype)?.ok_or_else(|| PyTypeError::new_err("the dtype is NumPy's own"))?;
    let (words, is_left, half) = state;
    let generator = BitGenerator::new(generator, &words).ok_or_else(unknown)?;
    let distribution = match (kind, &parameters[..], interval) {
        ("uniform", &[low, length], None) => Distribution::Uniform(low, length),
        ("normal", &[], None) => Distribution::Normal(None),
        ("normal", &[center, width], None) => Distribution::Normal(Some([center, width])),
        ("exponential", &[], None) => Distribution::Exponential(None),
        ("exponential", &[scale], None) => Distribution::Exponential(Some(scale)),
        ("integers", &[], Some((first, range))) => {
            Distribution::Integers(Interval { bytes: dtype.size(), first, range })
        }
        _ => return Err(unknown()),
    };
    if !matches!(distribution, Distribution::Integers(_)) && dtype != DType::F64 {
        return Err(unknown());
    }
    let layers = layers_of(&layers).ok_or_else(unknown)?;
    let spare = SpareHalf { is_left, half };
    let made = waiting::wait(py, || {
        Array::from_written(dtype, &shape, |room| {
            draw(generator, spare, distribution, &layers, room)
        })
    });
    let (array, after) = made.map_err(to_py)?;
    let (generator, spare) = after.ok_or_else(unknown)?;
    Ok((NdArray::lazy(array), (generator.state(), spare.is_left, spare.half)))
}

/// The layers in three tables of numbers; zeros where there are no tables.
fn layers_of(tables: &[Vec<u8>]) -> Option<Layers> {
    let mut layers = Layers { inside: [0; 256], unit: [0.0; 256], height: [0.0; 256] };
    let [inside, unit, height] = tables else {
        return tables.is_empty().then_some(layers);
    };
    let numbers = |table: &[u8]| -> Option<[[u8; 8]; 256]> {
        bytemuck::try_cast_slice::<u8, [u8; 8]>(table).ok()?.try_into().ok()
    };
    layers.inside = numbers(inside)?.map(u64::from_ne_bytes);
    layers.unit = numbers(unit)?.map(f64::from_ne_bytes);
    layers.height = numbers(height)?.map(f64::from_ne_bytes);
    Some(layers)
}
