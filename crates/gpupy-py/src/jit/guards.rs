//! Guards: values that a function read besides its arguments, and that must be unchanged.
//!
//! Owns [`Guard`]. Invariant: checking a guard runs no Python code but a class's slots.

use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

/// A place that was read, and its value then.
pub struct Guard {
    /// A description for users.
    pub words: String,
    read: GuardedRead,
}

enum GuardedRead {
    /// An entry of a dictionary: a global, an attribute in an object's or a class' own; `None` where there was none.
    Entry(Py<PyDict>, Py<PyAny>, Option<Py<PyAny>>),
    /// An attribute that lies in a slot, in a class or in a cell.
    Attribute(Py<PyAny>, Py<PyAny>, Option<Py<PyAny>>),
    /// The class of an object.
    Type(Py<PyAny>, Py<PyAny>),
    /// The entries of a class's own dictionary that Python's protocols look for, among all that it had.
    Protocols(Py<PyDict>, Vec<(Py<PyAny>, Py<PyAny>)>),
    /// The items of a list.
    List(Py<PyList>, Vec<Py<PyAny>>),
    /// The entries of a dictionary.
    Dict(Py<PyDict>, Vec<(Py<PyAny>, Py<PyAny>)>),
    /// The elements of a set.
    Set(Py<PyAny>, Vec<Py<PyAny>>),
}

impl Guard {
    /// As Python describes it: `(words, "entry", dict, key, value)`, `(words, "attribute", object, name, value)`, where
    /// the value is missing if there was none; `(words, "type", object, "", class)`; `(words, "list" | "dict" | "set" |
    /// "protocols", object, items)`.
    pub fn of(words: &Bound<'_, PyAny>) -> PyResult<Guard> {
        let given = words.cast::<PyTuple>()?;
        let (words, kind): (String, String) =
            (given.get_item(0)?.extract()?, given.get_item(1)?.extract()?);
        let at = |place: usize| given.get_item(place);
        let value = || at(4).ok().map(Bound::unbind);
        let items =
            || at(3)?.try_iter()?.map(|item| item.map(Bound::unbind)).collect::<PyResult<Vec<_>>>();
        let read = match kind.as_str() {
            "entry" => {
                GuardedRead::Entry(at(2)?.cast_into::<PyDict>()?.unbind(), at(3)?.unbind(), value())
            }
            "attribute" => GuardedRead::Attribute(at(2)?.unbind(), at(3)?.unbind(), value()),
            "type" => GuardedRead::Type(at(2)?.unbind(), at(4)?.unbind()),
            "list" => GuardedRead::List(at(2)?.cast_into::<PyList>()?.unbind(), items()?),
            "set" => GuardedRead::Set(at(2)?.unbind(), items()?),
            "dict" | "protocols" => {
                let pair = |item: PyResult<Bound<'_, PyAny>>| {
                    let item = item?;
                    Ok((item.get_item(0)?.unbind(), item.get_item(1)?.unbind()))
                };
                let pairs = at(3)?.try_iter()?.map(pair).collect::<PyResult<_>>()?;
                let dict = at(2)?.cast_into::<PyDict>()?.unbind();
                match kind.as_str() {
                    "dict" => GuardedRead::Dict(dict, pairs),
                    _ => GuardedRead::Protocols(dict, pairs),
                }
            }
            _ => return Err(PyTypeError::new_err(format!("a guard is no {kind}"))),
        };
        Ok(Guard { words, read })
    }

    /// Whether the place still has that value.
    pub fn holds(&self, py: Python<'_>) -> PyResult<bool> {
        let is = |value: Option<Bound<'_, PyAny>>, known: &Option<Py<PyAny>>| match (value, known) {
            (Some(value), Some(known)) => value.is(known),
            (None, None) => true,
            _ => false,
        };
        Ok(match &self.read {
            GuardedRead::Entry(dict, key, known) => {
                is(dict.bind(py).get_item(key.bind(py))?, known)
            }
            GuardedRead::Attribute(object, name, known) => {
                let value = object.bind(py).getattr(name.bind(py).cast()?);
                is(value.ok(), known)
            }
            GuardedRead::Type(object, class) => object.bind(py).get_type().is(class),
            GuardedRead::Protocols(dict, entries) => {
                let dict = dict.bind(py);
                let mut pairs = dict.iter().zip(entries);
                let same = dict.len() == entries.len()
                    && pairs.all(|((key, value), (name, known))| key.is(name) && value.is(known));
                same || has_same_protocols(dict, entries)
            }
            GuardedRead::List(list, items) => {
                let list = list.bind(py);
                list.len() == items.len()
                    && list.iter().zip(items).all(|(item, known)| item.is(known))
            }
            GuardedRead::Dict(dict, entries) => {
                let dict = dict.bind(py);
                let mut pairs = dict.iter().zip(entries);
                dict.len() == entries.len()
                    && pairs.all(|((key, value), (name, known))| key.is(name) && value.is(known))
            }
            GuardedRead::Set(set, items) => {
                // In the order in which they are gone through, which calls nothing of theirs.
                let mut known = items.iter();
                let same = set.bind(py).try_iter()?.all(|item| {
                    item.is_ok_and(|item| known.next().is_some_and(|known| item.is(known)))
                });
                same && known.next().is_none()
            }
        })
    }

    /// Whether two guards say the same.
    pub fn is_same(&self, other: &Guard, py: Python<'_>) -> bool {
        let is = |a: &Option<Py<PyAny>>, b: &Option<Py<PyAny>>| match (a, b) {
            (Some(a), Some(b)) => a.is(b),
            (None, None) => true,
            _ => false,
        };
        let all = |a: &[Py<PyAny>], b: &[Py<PyAny>]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is(b))
        };
        match (&self.read, &other.read) {
            (GuardedRead::Entry(a, b, c), GuardedRead::Entry(d, e, f)) => {
                a.is(d) && b.bind(py).eq(e.bind(py)).unwrap_or(false) && is(c, f)
            }
            (GuardedRead::Attribute(a, b, c), GuardedRead::Attribute(d, e, f)) => {
                a.is(d) && b.bind(py).eq(e.bind(py)).unwrap_or(false) && is(c, f)
            }
            (GuardedRead::Type(a, b), GuardedRead::Type(c, d)) => a.is(c) && b.is(d),
            (GuardedRead::List(a, b), GuardedRead::List(c, d)) => a.is(c) && all(b, d),
            (GuardedRead::Set(a, b), GuardedRead::Set(c, d)) => a.is(c) && all(b, d),
            (GuardedRead::Dict(a, b), GuardedRead::Dict(c, d))
            | (GuardedRead::Protocols(a, b), GuardedRead::Protocols(c, d)) => {
                a.is(c)
                    && b.len() == d.len()
                    && b.iter().zip(d).all(|((a, b), (c, d))| a.is(c) && b.is(d))
            }
            _ => false,
        }
    }

    /// Visits the objects that this holds, for the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let all = |items: &[Py<PyAny>]| items.iter().try_for_each(|item| visit.call(item));
        match &self.read {
            GuardedRead::Entry(dict, key, value) => {
                visit.call(dict)?;
                visit.call(key)?;
                visit.call(value)
            }
            GuardedRead::Attribute(object, name, value) => {
                visit.call(object)?;
                visit.call(name)?;
                visit.call(value)
            }
            GuardedRead::Type(object, class) => {
                visit.call(object)?;
                visit.call(class)
            }
            GuardedRead::List(list, items) => {
                visit.call(list)?;
                all(items)
            }
            GuardedRead::Set(set, items) => {
                visit.call(set)?;
                all(items)
            }
            GuardedRead::Dict(dict, entries) | GuardedRead::Protocols(dict, entries) => {
                visit.call(dict)?;
                entries.iter().try_for_each(|(key, value)| {
                    visit.call(key)?;
                    visit.call(value)
                })
            }
        }
    }

    /// A clone; it needs the GIL.
    pub fn again(&self, py: Python<'_>) -> Guard {
        let clone = |value: &Option<Py<PyAny>>| value.as_ref().map(|value| value.clone_ref(py));
        let all = |items: &[Py<PyAny>]| items.iter().map(|item| item.clone_ref(py)).collect();
        let pairs = |entries: &[(Py<PyAny>, Py<PyAny>)]| {
            let pair =
                |(key, value): &(Py<PyAny>, Py<PyAny>)| (key.clone_ref(py), value.clone_ref(py));
            entries.iter().map(pair).collect()
        };
        let read = match &self.read {
            GuardedRead::Entry(dict, key, value) => {
                GuardedRead::Entry(dict.clone_ref(py), key.clone_ref(py), clone(value))
            }
            GuardedRead::Attribute(object, name, value) => {
                GuardedRead::Attribute(object.clone_ref(py), name.clone_ref(py), clone(value))
            }
            GuardedRead::Type(object, class) => {
                GuardedRead::Type(object.clone_ref(py), class.clone_ref(py))
            }
            GuardedRead::List(list, items) => GuardedRead::List(list.clone_ref(py), all(items)),
            GuardedRead::Set(set, items) => GuardedRead::Set(set.clone_ref(py), all(items)),
            GuardedRead::Dict(dict, entries) => {
                GuardedRead::Dict(dict.clone_ref(py), pairs(entries))
            }
            GuardedRead::Protocols(dict, entries) => {
                GuardedRead::Protocols(dict.clone_ref(py), pairs(entries))
            }
        };
        Guard { words: self.words.clone(), read }
    }
}

/// Whether a class's own dictionary still has the same entries under names that Python's protocols look for, in their
/// order: others changed.
fn has_same_protocols(dict: &Bound<'_, PyDict>, entries: &[(Py<PyAny>, Py<PyAny>)]) -> bool {
    let py = dict.py();
    let mut now = dict.iter().filter(|(key, _)| is_of_protocol(key));
    let mut known = entries.iter().filter(|(key, _)| is_of_protocol(key.bind(py)));
    loop {
        match (now.next(), known.next()) {
            (None, None) => return true,
            (Some((key, value)), Some((name, known))) if value.is(known) => {
                if !key.is(name) && !key.eq(name.bind(py)).unwrap_or(false) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Whether a name begins with two underscores, and is not that of annotations, which come when they are asked for.
fn is_of_protocol(key: &Bound<'_, PyAny>) -> bool {
    let Ok(name) = key.cast::<PyString>() else { return false };
    name.to_cow().is_ok_and(|name| name.starts_with("__") && !name.starts_with("__anno"))
}
