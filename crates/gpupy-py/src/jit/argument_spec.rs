//! Argument specs: the conditions on a call's arguments under which a variant holds.
//!
//! Owns [`ArgumentSpec`]. Arrays are collected in a list, each at its own place; the conditions on them are the
//! variant's (`variant.rs`).

use crate::array::lazy_scalar::LazyScalar;
use crate::array::ndarray::NdArray;
use crate::convert::numpy_arrays;
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{
    PyComplex, PyComplexMethods, PyDict, PyFloat, PyList, PyRange, PySlice, PyTuple, PyType,
};
use smallvec::SmallVec;

/// The arrays of a call, and the numbers and containers that are not known, in the order in which its arguments have
/// them.
pub type Objects<'py> = SmallVec<[Bound<'py, PyAny>; 8]>;

/// A condition on an argument.
pub enum ArgumentSpec {
    /// An array of ours.
    Array,
    /// A scalar of ours that is still to be computed.
    Scalar,
    /// Any number of this type.
    Number(Py<PyType>),
    /// This very object.
    Same(Py<PyAny>),
    /// An equal one of the same type.
    Equal(Py<PyAny>),
    /// A sequence of this type, with such items.
    Items(Py<PyType>, Vec<ArgumentSpec>),
    /// A dictionary with these keys, in this order, and such values.
    Entries(Vec<(Py<PyAny>, ArgumentSpec)>),
}

impl ArgumentSpec {
    /// As Python describes it: `("array",)`, `("scalar",)`, `("number", type)`, `("same", object)`, `("equal",
    /// object)`, `("items", type, [...])`, `("entries", [(key, ...), ...])`.
    pub fn of(words: &Bound<'_, PyAny>) -> PyResult<ArgumentSpec> {
        let words = words.cast::<PyTuple>()?;
        let kind: String = words.get_item(0)?.extract()?;
        let at = |place: usize| words.get_item(place);
        Ok(match kind.as_str() {
            "array" => ArgumentSpec::Array,
            "scalar" => ArgumentSpec::Scalar,
            "number" => ArgumentSpec::Number(at(1)?.cast_into::<PyType>()?.unbind()),
            "same" => ArgumentSpec::Same(at(1)?.unbind()),
            "equal" => ArgumentSpec::Equal(at(1)?.unbind()),
            "items" => {
                let items = at(2)?.try_iter()?.map(|item| ArgumentSpec::of(&item?));
                ArgumentSpec::Items(
                    at(1)?.cast_into::<PyType>()?.unbind(),
                    items.collect::<PyResult<_>>()?,
                )
            }
            "entries" => {
                let entry = |entry: PyResult<Bound<'_, PyAny>>| {
                    let entry = entry?;
                    Ok((entry.get_item(0)?.unbind(), ArgumentSpec::of(&entry.get_item(1)?)?))
                };
                ArgumentSpec::Entries(at(1)?.try_iter()?.map(entry).collect::<PyResult<_>>()?)
            }
            _ => return Err(PyTypeError::new_err(format!("an argument is no {kind}"))),
        })
    }

    /// Whether both are the same condition.
    pub fn is_same(&self, other: &ArgumentSpec, py: Python<'_>) -> bool {
        match (self, other) {
            (ArgumentSpec::Array, ArgumentSpec::Array)
            | (ArgumentSpec::Scalar, ArgumentSpec::Scalar) => true,
            (ArgumentSpec::Number(a), ArgumentSpec::Number(b)) => a.is(b),
            (ArgumentSpec::Same(a), ArgumentSpec::Same(b)) => a.is(b),
            (ArgumentSpec::Equal(a), ArgumentSpec::Equal(b)) => {
                is_equal(a.bind(py), b.bind(py)).unwrap_or(false)
            }
            (ArgumentSpec::Items(a, b), ArgumentSpec::Items(c, d)) => {
                a.is(c) && b.len() == d.len() && b.iter().zip(d).all(|(b, d)| b.is_same(d, py))
            }
            (ArgumentSpec::Entries(a), ArgumentSpec::Entries(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|((key, a), (other, b))| {
                        is_equal(key.bind(py), other.bind(py)).unwrap_or(false) && a.is_same(b, py)
                    })
            }
            _ => false,
        }
    }

    /// A clone; it needs the GIL.
    pub fn again(&self, py: Python<'_>) -> ArgumentSpec {
        match self {
            ArgumentSpec::Array => ArgumentSpec::Array,
            ArgumentSpec::Scalar => ArgumentSpec::Scalar,
            ArgumentSpec::Number(class) => ArgumentSpec::Number(class.clone_ref(py)),
            ArgumentSpec::Same(object) => ArgumentSpec::Same(object.clone_ref(py)),
            ArgumentSpec::Equal(object) => ArgumentSpec::Equal(object.clone_ref(py)),
            ArgumentSpec::Items(class, items) => ArgumentSpec::Items(
                class.clone_ref(py),
                items.iter().map(|item| item.again(py)).collect(),
            ),
            ArgumentSpec::Entries(entries) => {
                let again =
                    |(key, given): &(Py<PyAny>, ArgumentSpec)| (key.clone_ref(py), given.again(py));
                ArgumentSpec::Entries(entries.iter().map(again).collect())
            }
        }
    }

    /// Visits the objects that this holds, for the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            ArgumentSpec::Array | ArgumentSpec::Scalar => Ok(()),
            ArgumentSpec::Number(class) => visit.call(class),
            ArgumentSpec::Same(object) | ArgumentSpec::Equal(object) => visit.call(object),
            ArgumentSpec::Items(class, items) => {
                visit.call(class)?;
                items.iter().try_for_each(|item| item.traverse(visit))
            }
            ArgumentSpec::Entries(entries) => entries.iter().try_for_each(|(key, given)| {
                visit.call(key)?;
                given.traverse(visit)
            }),
        }
    }

    /// Whether an argument meets the condition; its arrays are added to the list.
    pub fn fits<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        objects: &mut Objects<'py>,
    ) -> PyResult<bool> {
        let py = object.py();
        Ok(match self {
            ArgumentSpec::Array => {
                let fits = object.is_exact_instance_of::<NdArray>();
                objects.push(object.clone());
                fits
            }
            ArgumentSpec::Scalar => {
                let fits = object.is_exact_instance_of::<LazyScalar>();
                objects.push(object.clone());
                fits
            }
            ArgumentSpec::Number(class) => {
                objects.push(object.clone());
                object.get_type().is(class)
            }
            ArgumentSpec::Same(known) => object.is(known),
            ArgumentSpec::Equal(known) => is_equal(known.bind(py), object)?,
            ArgumentSpec::Items(class, items) => {
                objects.push(object.clone());
                if !object.get_type().is(class) {
                    return Ok(false);
                }
                if let Ok(tuple) = object.cast::<PyTuple>() {
                    return all_fit(items, tuple.len(), tuple.iter(), objects);
                }
                let list = object.cast::<PyList>()?;
                all_fit(items, list.len(), list.iter(), objects)?
            }
            ArgumentSpec::Entries(entries) => {
                objects.push(object.clone());
                let Ok(dict) = object.cast_exact::<PyDict>() else { return Ok(false) };
                entries_fit(entries, dict, objects)?
            }
        })
    }
}

/// Whether two objects of one type are equal; numbers to the bit.
fn is_equal(known: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if known.is(object) {
        return Ok(true);
    }
    if !known.get_type().is(object.get_type()) {
        return Ok(false);
    }
    if let (Ok(known), Ok(object)) = (known.cast_exact::<PyFloat>(), object.cast_exact::<PyFloat>())
    {
        return Ok(known.value().to_bits() == object.value().to_bits());
    }
    if let (Ok(known), Ok(object)) =
        (known.cast_exact::<PyComplex>(), object.cast_exact::<PyComplex>())
    {
        let bits =
            |number: &Bound<'_, PyComplex>| (number.real().to_bits(), number.imag().to_bits());
        return Ok(bits(known) == bits(object));
    }
    if let (Some(known), Some(object)) = (numpy_arrays::real(known)?, numpy_arrays::real(object)?) {
        return Ok(known == object);
    }
    let py = known.py();
    // Bounds of different classes may be equal numbers.
    if known.is_instance_of::<PySlice>() || known.is_instance_of::<PyRange>() {
        for part in
            [pyo3::intern!(py, "start"), pyo3::intern!(py, "stop"), pyo3::intern!(py, "step")]
        {
            if !is_equal(&known.getattr(part)?, &object.getattr(part)?)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    // NumPy's others: times with their units, and text.
    let (bytes, dtype) = (pyo3::intern!(py, "tobytes"), pyo3::intern!(py, "dtype"));
    match (known.getattr_opt(bytes)?, object.getattr_opt(bytes)?) {
        (Some(one), Some(other)) => {
            let same = one.call0()?.eq(other.call0()?)?;
            Ok(same && known.getattr(dtype)?.eq(object.getattr(dtype)?)?)
        }
        // Dtypes of one layout may have several names.
        (None, None) if known.hasattr(pyo3::intern!(py, "isalignedstruct"))? => {
            let char = pyo3::intern!(py, "char");
            Ok(known.eq(object)? && known.getattr(char)?.eq(object.getattr(char)?)?)
        }
        _ => known.eq(object),
    }
}

/// Which objects are one and the same: for each, the first that it is; numbers are not told apart.
pub fn pattern(objects: &Objects<'_>) -> Vec<usize> {
    let first = |(place, object): (usize, &Bound<'_, PyAny>)| {
        let same = objects[..place].iter().position(|other| other.is(object));
        same.filter(|_| has_identity(object)).unwrap_or(place)
    };
    objects.iter().enumerate().map(first).collect()
}

/// Whether the same objects are one and the same as in a pattern.
pub fn has_pattern(objects: &Objects<'_>, pattern: &[usize]) -> bool {
    objects.iter().zip(pattern).enumerate().all(|(place, (object, first))| match *first == place {
        true => {
            let mut before = objects[..place].iter();
            !before.any(|other| other.is(object)) || !has_identity(object)
        }
        false => objects[*first].is(object),
    })
}

/// Whether a program could tell two such objects apart that are equal.
fn has_identity(object: &Bound<'_, PyAny>) -> bool {
    let is_array = object.is_exact_instance_of::<NdArray>();
    is_array
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyDict>()
        || object.is_instance_of::<PyTuple>()
}

/// Whether all items of a sequence of this length fit.
pub fn all_fit<'py>(
    given: &[ArgumentSpec],
    len: usize,
    mut items: impl Iterator<Item = Bound<'py, PyAny>>,
    objects: &mut Objects<'py>,
) -> PyResult<bool> {
    if given.len() != len {
        return Ok(false);
    }
    for one in given {
        let Some(item) = items.next() else { return Ok(false) };
        if !one.fits(&item, objects)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a dictionary has these entries, in this order.
pub fn entries_fit<'py>(
    given: &[(Py<PyAny>, ArgumentSpec)],
    dict: &Bound<'py, PyDict>,
    objects: &mut Objects<'py>,
) -> PyResult<bool> {
    if given.len() != dict.len() {
        return Ok(false);
    }
    for ((name, one), (key, item)) in given.iter().zip(dict.iter()) {
        if !is_equal(name.bind(dict.py()), &key)? || !one.fits(&item, objects)? {
            return Ok(false);
        }
    }
    Ok(true)
}
