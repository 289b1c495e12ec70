//! Loading: looks in a file become variants.
//!
//! Owns the class [`FunctionFile`], which `gpupy.load` makes. Invariant: a file's contents were checked by
//! `gpupy_engine::saved`, so that its variants are replayed like any other.
//!
//! Not here: writing files (`saving.rs`), which arguments are copied before a call (`python/gpupy/_jit/saved.py`).

use super::argument_spec::{ArgumentSpec, Objects, all_fit, entries_fit};
use super::epilogue::{ElementsSource, Epilogue, OutputOwner, OutputSpec, ResultTemplate};
use super::jit_function::Jit;
use super::trace_tree::{Terminator, TraceTree};
use super::variant::{ArraySpec, Variant};
use crate::array::lazy_scalar::LazyScalar;
use crate::array::ndarray::NdArray;
use crate::array::recording::RecordedRegister;
use crate::session::context::{opening, ready};
use crate::session::errors::to_py;
use crate::session::waiting::wait;
use gpupy_core::Result as CoreResult;
use gpupy_engine::saved::file::{Instance, Saved};
use gpupy_engine::saved::look::{self, Look, SavedConstant, SavedResult};
use gpupy_engine::{Array, View};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A recorded function of a file.
#[pyclass(name = "File", module = "gpupy._gpupy.jit", frozen)]
pub struct FunctionFile {
    saved: Saved,
    /// The signature of each look.
    given: Vec<LoadedSignature>,
    /// A Python function that makes a constant of its kind and text.
    known: Py<PyAny>,
}

struct LoadedSignature {
    arguments: Vec<ArgumentSpec>,
    named: Vec<(Py<PyAny>, ArgumentSpec)>,
}

/// A look's number, its open extents, and a call's objects; the numbers of those that have to lie in memory otherwise,
/// and of those that are written.
type LookFit<'py> = (usize, Vec<i64>, Vec<Bound<'py, PyAny>>, Vec<u32>, Vec<u32>);

#[pymethods]
impl FunctionFile {
    /// The function in these bytes; `known` makes a constant of its kind and text.
    ///
    /// # Errors
    /// - `ValueError`: the bytes are no such file, or a damaged one.
    #[new]
    fn new(py: Python<'_>, bytes: &[u8], known: Py<PyAny>) -> PyResult<FunctionFile> {
        let saved = Saved::read(bytes).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let make = ObjectMaker { py, known: known.bind(py) };
        let given = saved.looks().iter().map(|look| {
            let arguments = look.arguments.iter().map(|given| make.given(given));
            let named = look.named.iter().map(|(name, given)| {
                Ok((name.into_pyobject(py)?.into_any().unbind(), make.given(given)?))
            });
            Ok(LoadedSignature {
                arguments: arguments.collect::<PyResult<_>>()?,
                named: named.collect::<PyResult<_>>()?,
            })
        });
        let given = given.collect::<PyResult<_>>()?;
        // Constants of results are read now, too, so that a damaged file is known as one.
        for ending in saved.looks().iter().flat_map(|look| &look.endings) {
            make.form(&ending.result)?;
        }
        Ok(FunctionFile { saved, given, known })
    }

    /// The function's name.
    #[getter]
    fn name(&self) -> &str {
        self.saved.name()
    }

    /// Each look in words.
    fn takes(&self) -> Vec<String> {
        self.saved.looks().iter().map(words).collect()
    }

    /// The arrays and numbers of the arguments of each look: the dtype of each that is read, and whether it is written.
    fn arrays(&self) -> Vec<Vec<(Option<&'static str>, bool)>> {
        let of = |look: &Look| {
            let written = look.written();
            let array = |object: usize| {
                let mut wanted = look.wanted.iter();
                let wanted = wanted.find(|wanted| wanted.object as usize == object);
                (wanted.map(|wanted| wanted.dtype.name()), written.contains(&(object as u32)))
            };
            look.arrays().into_iter().map(array).collect()
        };
        self.saved.looks().iter().map(of).collect()
    }

    /// The arrays of the result for these arrays and numbers of the arguments.
    ///
    /// # Errors
    /// - `ValueError`: the function was not recorded for such arrays. Any of an evaluation.
    fn run<'py>(
        &self,
        py: Python<'py>,
        given: Vec<Bound<'py, NdArray>>,
    ) -> PyResult<Vec<Bound<'py, NdArray>>> {
        let given = given.iter().map(|array| {
            let reading = array.get().read(py);
            let array = reading.as_lazy().cloned();
            array.ok_or_else(|| PyValueError::new_err("an array's dtype is NumPy's own"))
        });
        let given = given.collect::<PyResult<Vec<Array>>>()?;
        let context = ready(py)?;
        let results = wait(py, || self.saved.run(context, &given)).map_err(to_py)?;
        results.into_iter().map(|array| Bound::new(py, NdArray::lazy(array))).collect()
    }

    /// The next look from this number on that fits a call: its number, its open extents, and the call's objects.
    fn fit<'py>(
        &self,
        py: Python<'py>,
        from_look: usize,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Option<LookFit<'py>>> {
        let looks = self.saved.looks().iter().zip(&self.given).enumerate();
        for (number, (look, taken)) in looks.skip(from_look) {
            let mut objects = Objects::new();
            if !all_fit(&taken.arguments, args.len(), args.iter(), &mut objects)?
                || !entries_fit(&taken.named, kwargs, &mut objects)?
            {
                continue;
            }
            let Some((open, arrays)) = extents(py, look, &objects)? else { continue };
            if !look.has_extents(&open) {
                continue;
            }
            let all = look.with_parts(&open).map_err(to_py)?;
            let (mut fits, mut moved) = (true, Vec::new());
            for (wanted, array) in look.wanted.iter().zip(&arrays) {
                let Some(array) = array else { continue };
                let object = objects.get(wanted.object as usize);
                let is_as_writable = object.and_then(|object| object.cast_exact::<NdArray>().ok());
                let is_as_writable =
                    is_as_writable.is_none_or(|array| array.get().is_writable() == wanted.writable);
                let view = wanted.view.at(&all).map_err(to_py)?;
                let base = wanted.base_at(&all).map_err(to_py)?;
                fits &= array.dtype() == wanted.dtype && *array.shape() == view.shape[..];
                if *array.layout() != view || !array.has_alone(&base) || !is_as_writable {
                    moved.push(wanted.object);
                    fits &= view == View::contiguous(&base);
                }
            }
            if fits {
                let written = look.written();
                return Ok(Some((number, open, objects.to_vec(), moved, written)));
            }
        }
        Ok(None)
    }

    /// Makes the variant of a look with these extents.
    ///
    /// # Errors
    /// Those of its steps.
    fn admit(
        &self,
        py: Python<'_>,
        jit: &Bound<'_, Jit>,
        look: usize,
        open: Vec<i64>,
    ) -> PyResult<()> {
        let instance = self.saved.instance(look, &open).map_err(to_py)?;
        let known = &self.saved.looks()[look];
        let all = known.with_parts(&open).map_err(to_py)?;
        jit.get().keep(py, self.variant(py, known, look, &all, &instance)?);
        Ok(())
    }
}

/// Open extents, and the arrays that a look wants, as far as arguments are them.
type Extents = (Vec<i64>, Vec<Option<Array>>);

/// The open extents of a look in a call with these objects, and the arrays that it wants of the arguments; `None` where
/// an array is not there.
fn extents(py: Python<'_>, look: &Look, objects: &Objects<'_>) -> PyResult<Option<Extents>> {
    let array = |wanted: &look::InspectedArray| -> PyResult<Option<Array>> {
        let Some(object) = objects.get(wanted.object as usize) else { return Ok(None) };
        if let Ok(array) = object.cast_exact::<NdArray>() {
            return Ok(array.get().read(py).as_lazy().cloned());
        }
        if let Ok(scalar) = object.cast_exact::<LazyScalar>() {
            return Ok(Some(scalar.get().as_array().clone()));
        }
        crate::array::recording::unrecordable::number_of(object)
    };
    let arrays = look.wanted.iter().map(array).collect::<PyResult<Vec<_>>>()?;
    let open = look.extents(|number| Some(arrays.get(number)?.as_ref()?.shape()));
    Ok(open.map(|open| (open, arrays)))
}

impl FunctionFile {
    fn variant(
        &self,
        py: Python<'_>,
        look: &Look,
        number: usize,
        open: &[i64],
        instance: &Instance,
    ) -> PyResult<Variant> {
        let make = ObjectMaker { py, known: self.known.bind(py) };
        let taken = &self.given[number];
        let captured = look.captured.iter().map(|captured| {
            let base = instance.leaf(captured.leaf).map_err(to_py)?;
            let base = ready(py)?.copy(&base).map_err(to_py)?;
            let seen = captured.view.at(open).and_then(|view| base.seen(view)).map_err(to_py)?;
            let object = NdArray::lazy(seen);
            object.set_writable(captured.writable);
            Ok(Bound::new(py, object)?.into_any().unbind())
        });
        let captured = captured.collect::<PyResult<Vec<_>>>()?;
        let wanted = look.wanted.iter().map(|wanted| {
            Ok(ArraySpec {
                object: wanted.object as usize,
                input: wanted.input,
                dtype: wanted.dtype,
                base: wanted.base_at(open)?,
                view: wanted.view.at(open)?,
                writable: wanted.writable,
            })
        });
        let endings = look.endings.iter().map(|ending| make.ending(ending, open, instance));
        let endings: Vec<Arc<Epilogue>> = endings.collect::<PyResult<_>>()?;
        // Ways lead forward, so the last ones are made first.
        let mut paths: Vec<Option<Arc<TraceTree>>> = vec![None; look.ways.len()];
        for (place, way) in look.ways.iter().enumerate().rev() {
            let next = |way: &Option<u32>| way.and_then(|way| paths[way as usize].clone());
            let then = match &way.then {
                look::AfterSegment::End(ending) => {
                    Terminator::End(endings[*ending as usize].clone())
                }
                look::AfterSegment::Decide { seen, no, yes } => Terminator::Decide {
                    seen: seen.at(open).map_err(to_py)?,
                    no: next(no),
                    yes: next(yes),
                },
            };
            paths[place] = Some(Arc::new(TraceTree {
                segment: instance.segments[way.segment as usize].clone(),
                takes: way.takes.iter().map(|register| recorded(*register)).collect(),
                gives: way.gives,
                then,
            }));
        }
        let path = paths.swap_remove(0);
        Ok(Variant {
            arguments: taken.arguments.iter().map(|given| given.again(py)).collect(),
            named: taken
                .named
                .iter()
                .map(|(name, given)| (name.clone_ref(py), given.again(py)))
                .collect(),
            guards: Vec::new(),
            captured,
            pattern: look.pattern.iter().map(|first| *first as usize).collect(),
            wanted: wanted.collect::<CoreResult<_>>().map_err(to_py)?,
            inputs: look.inputs(),
            opening: opening(),
            made: look.made,
            path: path.ok_or_else(|| PyValueError::new_err("the file has no way"))?,
            replays: AtomicU64::new(0),
        })
    }
}

fn recorded(register: look::Register) -> RecordedRegister {
    match register {
        look::Register::Input(number) => RecordedRegister::Input(number),
        look::Register::Made(number) => RecordedRegister::Made(number),
    }
}

/// Makes objects of Python.
struct ObjectMaker<'m, 'py> {
    py: Python<'py>,
    known: &'m Bound<'py, PyAny>,
}

impl ObjectMaker<'_, '_> {
    fn known(&self, SavedConstant(kind, text): &SavedConstant) -> PyResult<Py<PyAny>> {
        Ok(self.known.call1((kind, text))?.unbind())
    }

    fn given(&self, given: &look::ArgumentPattern) -> PyResult<ArgumentSpec> {
        let all = |items: &[look::ArgumentPattern]| {
            items.iter().map(|item| self.given(item)).collect::<PyResult<Vec<_>>>()
        };
        let py = self.py;
        Ok(match given {
            look::ArgumentPattern::Array => ArgumentSpec::Array,
            look::ArgumentPattern::Scalar => ArgumentSpec::Scalar,
            look::ArgumentPattern::Number(kind) => {
                let class = self.known.call1(("class", kind))?.cast_into::<PyType>()?;
                ArgumentSpec::Number(class.unbind())
            }
            look::ArgumentPattern::Known(known) => {
                let object = self.known(known)?;
                let is_one =
                    object.is_none(py) || object.bind(py).is_instance_of::<pyo3::types::PyBool>();
                if is_one { ArgumentSpec::Same(object) } else { ArgumentSpec::Equal(object) }
            }
            look::ArgumentPattern::Tuple(items) => {
                ArgumentSpec::Items(py.get_type::<PyTuple>().unbind(), all(items)?)
            }
            look::ArgumentPattern::List(items) => {
                ArgumentSpec::Items(py.get_type::<PyList>().unbind(), all(items)?)
            }
            look::ArgumentPattern::Dict(entries) => {
                let entry = |(key, given): &(SavedConstant, look::ArgumentPattern)| {
                    Ok((self.known(key)?, self.given(given)?))
                };
                ArgumentSpec::Entries(entries.iter().map(entry).collect::<PyResult<_>>()?)
            }
        })
    }

    fn ending(
        &self,
        ending: &look::Ending,
        open: &[i64],
        instance: &Instance,
    ) -> PyResult<Arc<Epilogue>> {
        let base = |base: &look::BaseSource| match base {
            look::BaseSource::Register(register) => {
                Ok(ElementsSource::Register(recorded(*register)))
            }
            look::BaseSource::Leaf(number) => {
                instance.leaf(*number).map(ElementsSource::Constant).map_err(to_py)
            }
        };
        let output = |output: &look::SavedOutput| {
            Ok::<_, PyErr>(OutputSpec {
                from: match output.from {
                    look::OutputSource::Object(place) => OutputOwner::Object(place as usize),
                    look::OutputSource::Base(number) => OutputOwner::Base(number as usize),
                },
                view: output.view.at(open).map_err(to_py)?,
                writable: output.writable,
                owns: output.owns,
            })
        };
        let write = |(input, from): &(u32, look::BaseSource)| Ok::<_, PyErr>((*input, base(from)?));
        Ok(Arc::new(Epilogue {
            writes: ending.writes.iter().map(write).collect::<PyResult<_>>()?,
            bases: ending.bases.iter().map(base).collect::<PyResult<_>>()?,
            outputs: ending.outputs.iter().map(output).collect::<PyResult<_>>()?,
            result: self.form(&ending.result)?,
        }))
    }

    fn form(&self, form: &SavedResult) -> PyResult<ResultTemplate> {
        let all = |items: &[SavedResult]| {
            items.iter().map(|item| self.form(item)).collect::<PyResult<Vec<_>>>()
        };
        Ok(match form {
            SavedResult::Object(place) => ResultTemplate::Object(*place as usize),
            SavedResult::Array(number) => ResultTemplate::Array(*number as usize),
            SavedResult::Scalar(number) => ResultTemplate::Scalar(*number as usize),
            SavedResult::Float(number) => ResultTemplate::Float(*number as usize),
            SavedResult::Known(known) => ResultTemplate::Same(self.known(known)?),
            SavedResult::Tuple(items) => ResultTemplate::Tuple(all(items)?),
            SavedResult::List(number, items) => ResultTemplate::List(*number as usize, all(items)?),
            SavedResult::Dict(number, entries) => {
                let entry = |(key, item): &(SavedConstant, SavedResult)| {
                    Ok((self.known(key)?, self.form(item)?))
                };
                ResultTemplate::Dict(
                    *number as usize,
                    entries.iter().map(entry).collect::<PyResult<_>>()?,
                )
            }
            SavedResult::Again(number) => ResultTemplate::Again(*number as usize),
        })
    }
}

/// Describes the arguments of a look.
fn words(look: &Look) -> String {
    let mut object = 0;
    let mut all: Vec<String> =
        look.arguments.iter().map(|given| one(look, given, &mut object)).collect();
    let named =
        look.named.iter().map(|(name, given)| format!("{name}={}", one(look, given, &mut object)));
    all.extend(named);
    let open = look.open.iter().enumerate().map(|(number, symbol)| {
        let steps = match symbol.step {
            1 => String::new(),
            step => format!(" in steps of {step}"),
        };
        format!("{} from {} to {}{steps}", letter(number), symbol.least, symbol.greatest)
    });
    let open: Vec<String> = open.collect();
    let tail = if open.is_empty() { String::new() } else { format!(" with {}", open.join(", ")) };
    format!("({}){tail}", all.join(", "))
}

/// The name of an open extent, or of a part of one.
fn name(look: &Look, number: usize) -> String {
    match number.checked_sub(look.open.len()).and_then(|part| look.parts.get(part)) {
        None => letter(number),
        Some(look::ExtentQuotient { of, plus, by }) => {
            format!("(({} + {plus}) // {by})", letter(usize::from(*of)))
        }
    }
}

/// The name of an open extent.
fn letter(number: usize) -> String {
    let name = [b'n', b'm', b'k', b'l'].get(number).map(|byte| char::from(*byte).to_string());
    name.unwrap_or_else(|| format!("n{number}"))
}

fn one(look: &Look, given: &look::ArgumentPattern, object: &mut u32) -> String {
    let own = *object;
    if !matches!(given, look::ArgumentPattern::Known(_)) {
        *object += 1;
    }
    let mut all = |items: &[look::ArgumentPattern]| -> String {
        let items: Vec<String> = items.iter().map(|item| one(look, item, object)).collect();
        items.join(", ")
    };
    match given {
        look::ArgumentPattern::Array | look::ArgumentPattern::Scalar => {
            let wanted = look.wanted.iter().find(|wanted| wanted.object == own);
            wanted.map_or_else(
                || "array".to_owned(),
                |wanted| {
                    let name = |number: usize| name(look, number);
                    format!("{}[{}]", wanted.dtype, wanted.view.shape_words(&name))
                },
            )
        }
        look::ArgumentPattern::Number(kind) => kind.clone(),
        look::ArgumentPattern::Known(SavedConstant(_, text)) => text.clone(),
        look::ArgumentPattern::Tuple(items) => format!("({})", all(items)),
        look::ArgumentPattern::List(items) => format!("[{}]", all(items)),
        look::ArgumentPattern::Dict(entries) => {
            let entry = |(SavedConstant(_, key), item): &(SavedConstant, look::ArgumentPattern)| {
                format!("{key}: {}", one(look, item, object))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
