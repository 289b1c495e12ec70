//! Epilogues: the writes and the result at the end of a function.
//!
//! Owns [`Epilogue`]. Invariant: results are taken before anything is written, so that no result sees a write after
//! it.

use super::argument_spec::Objects;
use crate::array::lazy_scalar;
use crate::array::ndarray::NdArray;
use crate::array::recording::RecordedRegister;
use crate::array::recording::materialise::put;
use crate::session::errors::to_py;
use gpupy_engine::{Array, View};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The writes and the result at the end of a call.
pub struct Epilogue {
    /// The inputs that are written, each with its new elements.
    pub writes: Vec<(u32, ElementsSource)>,
    /// The bases of new arrays.
    pub bases: Vec<ElementsSource>,
    /// The arrays in the call's result.
    pub outputs: Vec<OutputSpec>,
    /// The structure of the result, with places for these arrays.
    pub result: ResultTemplate,
}

/// The source of a base's elements.
pub enum ElementsSource {
    /// The elements in a register.
    Register(RecordedRegister),
    /// Elements that are the same in each call.
    Constant(Array),
    /// This base itself.
    Shared(Array),
}

/// An array in a call's result.
pub struct OutputSpec {
    pub from: OutputOwner,
    pub view: View,
    pub writable: bool,
    /// It is no view of another object.
    pub owns: bool,
}

/// Whose elements an array shows.
#[derive(Clone, Copy)]
pub enum OutputOwner {
    /// Those of an object of the call.
    Object(usize),
    /// Those of a new base, by its number.
    Base(usize),
}

/// The structure of a call's result, with places for arrays.
pub enum ResultTemplate {
    /// An object of the call.
    Object(usize),
    /// An array, by its number.
    Array(usize),
    /// The scalar that an array without axes is.
    Scalar(usize),
    /// A Python float, from an array without axes.
    Float(usize),
    /// Always this object.
    Same(Py<PyAny>),
    Tuple(Vec<ResultTemplate>),
    /// A tuple of a class of its own, which is called with its items.
    Named(Py<PyAny>, Vec<ResultTemplate>),
    /// A container, by its number.
    List(usize, Vec<ResultTemplate>),
    Dict(usize, Vec<(Py<PyAny>, ResultTemplate)>),
    /// A container that stands elsewhere, too, by its number.
    Again(usize),
}

/// The registers of a call: its inputs, and the outputs of its segments.
pub struct RegisterFile<'a> {
    pub inputs: &'a [Array],
    pub made: &'a [Option<Array>],
}

impl RegisterFile<'_> {
    /// The array in a register.
    pub fn get(&self, register: RecordedRegister) -> PyResult<&Array> {
        let found = match register {
            RecordedRegister::Input(number) => self.inputs.get(number as usize),
            RecordedRegister::Made(number) => {
                self.made.get(number as usize).and_then(Option::as_ref)
            }
        };
        found.ok_or_else(|| PyRuntimeError::new_err("a recorded function reads what is not there"))
    }
}

impl ResultTemplate {
    /// As Python describes it: `("object", place)`, `("array", number)`, `("scalar" | "float", number)`, `("same",
    /// object)`, `("tuple", items)`, `("named", class, items)`, `("list", number, items)`, `("dict", number, [(key,
    /// value), ...])`, `("again", number)`.
    pub fn of(words: &Bound<'_, PyAny>) -> PyResult<ResultTemplate> {
        let words = words.cast::<PyTuple>()?;
        let kind: String = words.get_item(0)?.extract()?;
        let at = |place: usize| words.get_item(place);
        let items = |place| {
            at(place)?
                .try_iter()?
                .map(|item| ResultTemplate::of(&item?))
                .collect::<PyResult<Vec<_>>>()
        };
        Ok(match kind.as_str() {
            "object" => ResultTemplate::Object(at(1)?.extract()?),
            "array" => ResultTemplate::Array(at(1)?.extract()?),
            "scalar" => ResultTemplate::Scalar(at(1)?.extract()?),
            "float" => ResultTemplate::Float(at(1)?.extract()?),
            "same" => ResultTemplate::Same(at(1)?.unbind()),
            "tuple" => ResultTemplate::Tuple(items(1)?),
            "list" => ResultTemplate::List(at(1)?.extract()?, items(2)?),
            "again" => ResultTemplate::Again(at(1)?.extract()?),
            "named" => ResultTemplate::Named(at(1)?.unbind(), items(2)?),
            "dict" => {
                let pair = |item: PyResult<Bound<'_, PyAny>>| {
                    let item = item?;
                    Ok((item.get_item(0)?.unbind(), ResultTemplate::of(&item.get_item(1)?)?))
                };
                let pairs = at(2)?.try_iter()?.map(pair).collect::<PyResult<_>>()?;
                ResultTemplate::Dict(at(1)?.extract()?, pairs)
            }
            _ => return Err(PyTypeError::new_err(format!("a result is no {kind}"))),
        })
    }

    /// Visits the objects that this holds, for the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let all = |items: &[ResultTemplate]| items.iter().try_for_each(|item| item.traverse(visit));
        match self {
            ResultTemplate::Same(object) => visit.call(object),
            ResultTemplate::Tuple(items) | ResultTemplate::List(_, items) => all(items),
            ResultTemplate::Named(class, items) => {
                visit.call(class)?;
                all(items)
            }
            ResultTemplate::Dict(_, entries) => entries.iter().try_for_each(|(key, value)| {
                visit.call(key)?;
                value.traverse(visit)
            }),
            _ => Ok(()),
        }
    }

    fn build<'py>(
        &self,
        py: Python<'py>,
        call: &EpilogueRun<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let all = |items: &[ResultTemplate]| {
            items.iter().map(|item| item.build(py, call)).collect::<PyResult<Vec<_>>>()
        };
        Ok(match self {
            ResultTemplate::Object(place) => call.objects[*place].clone(),
            ResultTemplate::Array(number) => call.array(py, *number)?,
            ResultTemplate::Scalar(number) => call.scalar(py, *number)?,
            ResultTemplate::Float(number) => call.scalar(py, *number)?.call_method0("__float__")?,
            ResultTemplate::Same(object) => object.bind(py).clone(),
            ResultTemplate::Tuple(items) => PyTuple::new(py, all(items)?)?.into_any(),
            ResultTemplate::Named(class, items) => {
                class.bind(py).call1(PyTuple::new(py, all(items)?)?)?
            }
            ResultTemplate::List(number, items) => {
                let list = PyList::new(py, all(items)?)?.into_any();
                call.containers.borrow_mut().insert(*number, list.clone());
                list
            }
            ResultTemplate::Dict(number, entries) => {
                let dict = PyDict::new(py);
                for (key, value) in entries {
                    dict.set_item(key, value.build(py, call)?)?;
                }
                call.containers.borrow_mut().insert(*number, dict.clone().into_any());
                dict.into_any()
            }
            ResultTemplate::Again(number) => {
                let known = call.containers.borrow().get(number).cloned();
                known.ok_or_else(|| PyRuntimeError::new_err("a container is missing"))?
            }
        })
    }
}

/// The end of one call.
struct EpilogueRun<'c, 'py> {
    ending: &'c Epilogue,
    objects: &'c Objects<'py>,
    /// The new bases, each with the object that owns it.
    bases: Vec<(Array, Bound<'py, NdArray>)>,
    /// The lists and dictionaries that were made.
    containers: RefCell<FxHashMap<usize, Bound<'py, PyAny>>>,
}

impl<'py> EpilogueRun<'_, 'py> {
    fn array(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyAny>> {
        let OutputSpec { from, view, writable, owns } = &self.ending.outputs[number];
        match from {
            OutputOwner::Object(place) => {
                let object = self.objects[*place].cast::<NdArray>()?;
                let seen = object.get().read(py).as_lazy().map(|array| array.seen(view.clone()));
                let seen = seen.ok_or_else(|| PyTypeError::new_err("an array is NumPy's own"))?;
                let seen = object.get().view(object, seen.map_err(to_py)?, *writable);
                Ok(Bound::new(py, seen)?.into_any())
            }
            OutputOwner::Base(number) => {
                let (array, owner) = &self.bases[*number];
                if *owns {
                    return Ok(owner.clone().into_any());
                }
                let seen = array.seen(view.clone()).map_err(to_py)?;
                Ok(Bound::new(py, owner.get().view(owner, seen, *writable))?.into_any())
            }
        }
    }

    fn scalar(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyAny>> {
        let OutputSpec { from, view, .. } = &self.ending.outputs[number];
        match from {
            OutputOwner::Base(number) => {
                let seen = self.bases[*number].0.seen(view.clone()).map_err(to_py)?;
                lazy_scalar::leaving_recorded(py, seen.snapshot().map_err(to_py)?)
            }
            OutputOwner::Object(place) => Ok(self.objects[*place].clone()),
        }
    }
}

impl Epilogue {
    /// Builds the function's result for these objects, and writes the arrays that it writes.
    ///
    /// # Errors
    /// - `MemoryError`: there is no room; nothing was written.
    pub fn give<'py>(
        &self,
        py: Python<'py>,
        objects: &Objects<'py>,
        registers: &RegisterFile<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut bases = Vec::with_capacity(self.bases.len());
        for (number, base) in self.bases.iter().enumerate() {
            let array = self.elements(base, registers)?;
            let mut outputs = self.outputs.iter();
            let own = outputs.find(|output| {
                output.owns && matches!(output.from, OutputOwner::Base(base) if base == number)
            });
            let shown = match own {
                Some(output) => array.seen(output.view.clone()).map_err(to_py)?,
                None => array.clone(),
            };
            let owner = NdArray::lazy(shown);
            owner.set_writable(own.is_none_or(|output| output.writable));
            bases.push((array, Bound::new(py, owner)?));
        }
        let result = self.result.build(
            py,
            &EpilogueRun { ending: self, objects, bases, containers: RefCell::default() },
        )?;
        let mut written = Vec::with_capacity(self.writes.len());
        for (input, base) in &self.writes {
            let input = registers.get(RecordedRegister::Input(*input))?;
            written.push((input, self.elements(base, registers)?));
        }
        written.into_iter().try_for_each(|(base, from)| put(py, base, &from))?;
        Ok(result)
    }

    /// A base of its own with these elements.
    fn elements(&self, base: &ElementsSource, registers: &RegisterFile<'_>) -> PyResult<Array> {
        match base {
            // A segment's output that is used once has no other owner.
            ElementsSource::Register(register @ RecordedRegister::Made(_))
                if self.is_sole(*register) =>
            {
                registers.get(*register).cloned()
            }
            ElementsSource::Register(register) => {
                registers.get(*register)?.snapshot().map_err(to_py)
            }
            ElementsSource::Constant(array) => array.snapshot().map_err(to_py),
            ElementsSource::Shared(array) => Ok(array.clone()),
        }
    }

    /// Whether a register is used once.
    fn is_sole(&self, register: RecordedRegister) -> bool {
        let writes = self.writes.iter().map(|(_, base)| base);
        let all = self.bases.iter().chain(writes);
        all.filter(|base| matches!(base, ElementsSource::Register(it) if *it == register)).count()
            == 1
    }
}
