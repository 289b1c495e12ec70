//! Objects of Python's and NumPy's as words of a nest's state, and back.
//!
//! Owns [`Entered`] and [`Types`]. Exact types count: a subclass is another object. Invariant: arrays live, and their
//! memory stays in its place, as long as an [`Entered`] does.

use crate::array::ndarray::NdArray;
use gpupy_loops::{BITS_OF_COUNTERS, ElementType, Flow, Given, GivenArray, KINDS, Kind, layout};
use numpy::npyffi::flags::NPY_ARRAY_ALIGNED;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyFloat, PyInt};

/// Elements of eight bytes in each region of scratch memory: rows that fit in the nearest cache together.
const SCRATCH: usize = 4096;

/// NumPy's flag of arrays that were broadcast.
const NPY_ARRAY_WARN_ON_WRITE: i32 = 1 << 31;

/// NumPy's types of numbers, by kind.
pub struct Types {
    of_kinds: Vec<(Kind, Py<PyAny>)>,
    array: Py<PyAny>,
}

static TYPES: PyOnceLock<Types> = PyOnceLock::new();

const NAMES: [(&str, Kind); 6] = [
    ("float64", Kind::F64),
    ("int64", Kind::I64),
    ("float32", Kind::F32),
    ("int32", Kind::I32),
    ("uint8", Kind::U8),
    ("bool_", Kind::NumpyBool),
];

impl Types {
    /// Those of the NumPy that is imported.
    pub fn get(py: Python<'_>) -> PyResult<&'static Self> {
        TYPES.get_or_try_init(py, || {
            let numpy = py.import("numpy")?;
            let find = |name: &str| numpy.getattr(name).map(Bound::unbind);
            let of_kinds = NAMES
                .iter()
                .map(|(name, kind)| Ok((*kind, find(name)?)))
                .collect::<PyResult<_>>()?;
            Ok(Self { of_kinds, array: find("ndarray")? })
        })
    }

    /// The kind and the bits of a number.
    fn number(&self, value: &Bound<'_, PyAny>) -> Option<(Kind, u64)> {
        if let Ok(value) = value.cast_exact::<PyFloat>() {
            return Some((Kind::Float, value.value().to_bits()));
        }
        if let Ok(value) = value.cast_exact::<PyBool>() {
            return Some((Kind::Bool, value.is_true().into()));
        }
        if value.is_exact_instance_of::<PyInt>() {
            return value.extract::<i64>().ok().map(|found| (Kind::Int, found as u64));
        }
        let class = value.get_type();
        let (kind, _) = self.of_kinds.iter().find(|(_, one)| class.is(one))?;
        let found = match kind {
            Kind::F64 => value.extract::<f64>().ok()?.to_bits(),
            Kind::F32 => {
                (value.call_method0("item").ok()?.extract::<f64>().ok()? as f32).to_bits().into()
            }
            Kind::NumpyBool => value.is_truthy().ok()?.into(),
            _ => value.call_method0("item").ok()?.extract::<i64>().ok()? as u64,
        };
        Some((*kind, found))
    }

    /// The object for a kind and bits; `None` for what stays as it is.
    pub fn object(&self, py: Python<'_>, kind: u64, bits: u64) -> PyResult<Option<Py<PyAny>>> {
        let kind = KINDS.get(kind as usize).copied().unwrap_or(Kind::Kept);
        let plain = match kind {
            Kind::Kept => return Ok(None),
            Kind::Bool | Kind::NumpyBool => PyBool::new(py, bits != 0).to_owned().into_any(),
            Kind::Float | Kind::F64 => PyFloat::new(py, f64::from_bits(bits)).into_any(),
            Kind::F32 => PyFloat::new(py, f32::from_bits(bits as u32).into()).into_any(),
            Kind::Int | Kind::U8 | Kind::I32 | Kind::I64 => {
                (bits as i64).into_pyobject(py)?.into_any()
            }
        };
        let found = match self.of_kinds.iter().find(|(one, _)| *one == kind) {
            Some((_, class)) => class.bind(py).call1((plain,))?,
            None => plain,
        };
        Ok(Some(found.unbind()))
    }
}

/// The values of a nest's names where it is entered.
pub struct Entered<'py> {
    /// What they are.
    pub given: Vec<Given>,
    /// The state.
    pub words: Vec<u64>,
    // Arrays of NumPy's, over our memory too, which is pinned so.
    _arrays: Vec<Bound<'py, PyAny>>,
    _scratch: Vec<u64>,
}

impl<'py> Entered<'py> {
    /// Looks at values in the order of the nest's names.
    pub fn new(py: Python<'py>, flow: &Flow, values: &[Bound<'py, PyAny>]) -> PyResult<Self> {
        let types = Types::get(py)?;
        let mut found = Self {
            given: Vec::new(),
            words: Vec::new(),
            _arrays: Vec::new(),
            _scratch: Vec::new(),
        };
        let (mut bits, mut places) = (Vec::new(), Vec::new());
        for (name, value) in values.iter().enumerate() {
            let mut number = 0;
            let given = if let Some((kind, word)) = types.number(value) {
                number = word;
                let is_few = (0..1 << BITS_OF_COUNTERS).contains(&(word as i64));
                Given::Number(kind, is_few && matches!(kind, Kind::Int | Kind::I64))
            } else if !flow.is_bound[name] {
                let (given, place) = found.array(types, value);
                places.push((name, place));
                given
            } else {
                Given::Other
            };
            let kind = if let Given::Number(kind, _) = given { kind } else { Kind::Kept };
            bits.extend([number, kind as u64]);
            found.given.push(given);
        }
        let (starts, words) = layout(&found.given, flow.loops.len());
        bits.resize(words, 0);
        for (name, place) in places {
            for (word, value) in place.into_iter().enumerate() {
                bits[starts[name] + word] = value;
            }
        }
        if !found._arrays.is_empty() {
            found._scratch.resize(2 * SCRATCH, 0);
            bits[words - 2] = found._scratch.as_mut_ptr() as u64;
            bits[words - 1] = SCRATCH as u64;
        }
        found.words = bits;
        Ok(found)
    }

    /// An array, with its address, extents and strides.
    fn array(&mut self, types: &Types, value: &Bound<'py, PyAny>) -> (Given, Vec<u64>) {
        let other = (Given::Other, Vec::new());
        let is_ours = value.is_exact_instance_of::<NdArray>();
        let shown = if value.get_type().is(&types.array) {
            value.clone()
        } else if is_ours {
            // Pinned as long as it lives; an error is raised where the program reads it.
            match value.call_method0("__array__") {
                Ok(shown) => shown,
                Err(_) => return other,
            }
        } else {
            return other;
        };
        let Ok(array) = shown.cast::<PyUntypedArray>() else {
            return other;
        };
        let dtype = array.dtype();
        let element = match (dtype.kind(), dtype.itemsize()) {
            (b'f', 8) => ElementType::F64,
            (b'f', 4) => ElementType::F32,
            (b'i', 8) => ElementType::I64,
            (b'i', 4) => ElementType::I32,
            (b'u', 1) => ElementType::U8,
            (b'b', 1) => ElementType::Bool,
            _ => return other,
        };
        // SAFETY: the object is an array, whose fields are read under Python's lock.
        let (data, flags) =
            unsafe { ((*array.as_array_ptr()).fields.data, (*array.as_array_ptr()).fields.flags) };
        let is_plain = dtype.is_native_byteorder() != Some(false) && flags & NPY_ARRAY_ALIGNED != 0;
        if !is_plain || array.ndim() == 0 || is_long(array.shape()) {
            return other;
        }
        let is_compact = array.strides().last() == Some(&(dtype.itemsize() as isize));
        // A write to what was broadcast warns.
        let warns = flags & NPY_ARRAY_WARN_ON_WRITE != 0;
        let is_writeable = !warns && flags & numpy::npyffi::flags::NPY_ARRAY_WRITEABLE != 0;
        let mut place = vec![data as usize as u64];
        place.extend(array.shape().iter().map(|&extent| extent as u64));
        place.extend(array.strides().iter().map(|&stride| stride as u64));
        let axes = array.ndim();
        let given = Given::Array(GivenArray { element, axes, is_compact, is_writeable, is_ours });
        self._arrays.push(shown);
        (given, place)
    }
}

/// Lengths that no memory has, which views with strides of 0 may have.
fn is_long(shape: &[usize]) -> bool {
    shape.iter().any(|&extent| extent >= 1 << 48)
}
