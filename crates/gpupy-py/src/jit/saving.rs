//! Saving: variants become looks in a file.
//!
//! Not here: the file (`gpupy_engine::saved`), reading it (`loading.rs`).

use super::argument_spec::ArgumentSpec;
use super::epilogue::{self, Epilogue, ResultTemplate};
use super::jit_function::Jit;
use super::trace_tree::{Terminator, TraceTree};
use super::variant::{ArraySpec, Variant};
use crate::array::ndarray::NdArray;
use crate::array::recording::{self, whole_base};
use crate::session::context::ready;
use crate::session::errors::to_py;
use gpupy_engine::Segment;
use gpupy_engine::saved::look::{self, Look, SavedConstant, SavedResult, SegmentCall};
use gpupy_engine::saved::open_view::{OpenView, extents_of};
use gpupy_engine::saved::outline::{ConstantLeaf, Outline};
use gpupy_engine::saved::writer::Writer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

#[pymethods]
impl Jit {
    /// The bytes of a file with the variants; the number of its looks, the number with open extents, and the reason why
    /// others are missing or not open. `told` gives a constant's kind and text, or nothing.
    ///
    /// # Errors
    /// - `ValueError`: nothing can be saved, and why. Any of an evaluation.
    fn _saved<'py>(
        &self,
        py: Python<'py>,
        name: String,
        is_open: bool,
        told: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyBytes>, usize, usize, Option<String>)> {
        let context = ready(py)?;
        let mut saving = Saving { writer: Writer::new(context), told };
        let (mut count, mut refused) = (0, None);
        for variant in &self.all() {
            // A variant whose guards do not hold is not the function's present behaviour.
            let mut holds = true;
            for guard in &variant.guards {
                holds = holds && guard.holds(py)?;
            }
            if !holds {
                refused.get_or_insert_with(|| {
                    "what it reads has changed since it was recorded".into()
                });
                continue;
            }
            match saving.look(py, variant)? {
                Ok(look) => {
                    saving.writer.look(look);
                    count += 1;
                }
                Err(why) => {
                    refused.get_or_insert(why);
                }
            }
        }
        if count == 0 {
            let why = refused.unwrap_or_else(|| "nothing is recorded: call it before".to_owned());
            return Err(PyValueError::new_err(why));
        }
        let (saved, opened, why) = saving.writer.finish(name, is_open).map_err(to_py)?;
        let bytes = saved.to_bytes();
        let bytes = bytes.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((PyBytes::new(py, &bytes), saved.looks().len(), opened, refused.or(why)))
    }
}

/// A file on its way.
struct Saving<'s, 'py> {
    writer: Writer<'s>,
    told: &'s Bound<'py, PyAny>,
}

/// A part of the file, or the reason why it cannot be written.
type Perhaps<T> = PyResult<Result<T, String>>;

/// Unwraps a part, or returns from the function with the reason.
macro_rules! or_why {
    ($perhaps:expr) => {
        match $perhaps? {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        }
    };
}

impl Saving<'_, '_> {
    fn look(&mut self, py: Python<'_>, variant: &Variant) -> Perhaps<Look> {
        let mut arguments = Vec::new();
        for given in &variant.arguments {
            arguments.push(or_why!(self.given(py, given)));
        }
        let mut named = Vec::new();
        for (name, given) in &variant.named {
            named.push((name.extract::<String>(py)?, or_why!(self.given(py, given))));
        }
        let objects = variant.pattern.len() - variant.captured.len();
        let mut leaves = Vec::new();
        let mut captured = Vec::new();
        for object in &variant.captured {
            let Ok(object) = object.bind(py).cast_exact::<NdArray>() else {
                return Ok(
                    Err("it reads a number from outside, which a file does not have".into()),
                );
            };
            let reading = object.get().read(py);
            let Some(array) = reading.as_lazy() else {
                return Ok(Err("it reads an array from outside whose dtype is NumPy's own".into()));
            };
            let leaf = self.writer.leaf(&whole_base(array).map_err(to_py)?, &mut leaves);
            captured.push(look::Captured {
                leaf: leaf.map_err(to_py)?,
                view: OpenView::of(array.layout()),
                writable: object.get().is_writable(),
            });
        }
        let mut flat = FlatTree::default();
        or_why!(self.ways(py, &variant.path, &mut flat, &mut leaves));
        let outside = |input: u32| {
            let mut wanted = variant.wanted.iter();
            wanted.any(|wanted| wanted.input == input && wanted.object >= objects)
        };
        let is_outside = |ending: &look::Ending| {
            let writes = ending.writes.iter().any(|(input, _)| outside(*input));
            let gives = |output: &look::SavedOutput| matches!(output.from, look::OutputSource::Object(object) if object as usize >= objects);
            writes || ending.outputs.iter().any(gives) || ending.result.names(objects as u32)
        };
        if flat.endings.iter().any(is_outside) {
            let why = "it writes or gives an array from outside: make it an argument";
            return Ok(Err(why.into()));
        }
        let ways = flat.ways.into_iter().collect::<Option<Vec<SegmentCall>>>();
        Ok(Ok(Look {
            open: Vec::new(),
            parts: Vec::new(),
            order: Vec::new(),
            arguments,
            named,
            objects: objects as u32,
            captured,
            pattern: variant.pattern.iter().map(|first| *first as u32).collect(),
            wanted: variant.wanted.iter().map(ArraySpec::saved).collect(),
            leaves,
            segments: flat.segments,
            ways: ways.unwrap_or_default(),
            endings: flat.endings,
            made: variant.made,
        }))
    }

    /// A constant's kind and text.
    fn known(&self, py: Python<'_>, object: &Py<PyAny>, what: &str) -> Perhaps<SavedConstant> {
        let told: Option<(String, String)> = self.told.call1((object.bind(py),))?.extract()?;
        Ok(told.map(|(kind, text)| SavedConstant(kind, text)).ok_or_else(|| {
            let class = object.bind(py).get_type().name().map(|name| name.to_string());
            format!("{what} of class {} is nothing that a file has", class.unwrap_or_default())
        }))
    }

    fn given(&self, py: Python<'_>, given: &ArgumentSpec) -> Perhaps<look::ArgumentPattern> {
        const WHAT: &str = "an argument";
        Ok(Ok(match given {
            ArgumentSpec::Array => look::ArgumentPattern::Array,
            ArgumentSpec::Scalar => look::ArgumentPattern::Scalar,
            ArgumentSpec::Number(class) => {
                look::ArgumentPattern::Number(class.bind(py).name()?.to_string())
            }
            ArgumentSpec::Same(object) | ArgumentSpec::Equal(object) => {
                look::ArgumentPattern::Known(or_why!(self.known(py, object, WHAT)))
            }
            ArgumentSpec::Items(class, items) => {
                let mut all = Vec::new();
                for item in items {
                    all.push(or_why!(self.given(py, item)));
                }
                match class.bind(py).name()?.to_string().as_str() {
                    "tuple" => look::ArgumentPattern::Tuple(all),
                    "list" => look::ArgumentPattern::List(all),
                    name => {
                        return Ok(Err(format!(
                            "an argument of class {name} is nothing that a file has"
                        )));
                    }
                }
            }
            ArgumentSpec::Entries(entries) => {
                let mut all = Vec::new();
                for (key, item) in entries {
                    all.push((
                        or_why!(self.known(py, key, "a key")),
                        or_why!(self.given(py, item)),
                    ));
                }
                look::ArgumentPattern::Dict(all)
            }
        }))
    }

    /// The ways from a path on, that one first; their number.
    fn ways(
        &mut self,
        py: Python<'_>,
        first: &Arc<TraceTree>,
        flat: &mut FlatTree,
        leaves: &mut Vec<ConstantLeaf>,
    ) -> Perhaps<()> {
        // Without recursion: paths may be long.
        let mut open = vec![(flat.room(), first.clone())];
        while let Some((place, path)) = open.pop() {
            let segment =
                match flat.known.iter().position(|known| Arc::ptr_eq(known, &path.segment)) {
                    Some(known) => known,
                    None => {
                        let outline = match self.writer.segment(&path.segment, leaves) {
                            Ok(outline) => outline,
                            Err(error) if error.kind() == gpupy_core::ErrorKind::Unsupported => {
                                return Ok(Err(error.to_string()));
                            }
                            Err(error) => return Err(to_py(error)),
                        };
                        flat.known.push(path.segment.clone());
                        flat.segments.push(outline);
                        flat.segments.len() - 1
                    }
                };
            let then = match &path.then {
                Terminator::End(ending) => {
                    let ending = or_why!(self.ending(py, ending, leaves));
                    flat.endings.push(ending);
                    look::AfterSegment::End(flat.endings.len() as u32 - 1)
                }
                Terminator::Decide { seen, no, yes } => {
                    let mut next = |path: &Option<Arc<TraceTree>>| {
                        path.as_ref().map(|path| {
                            let place = flat.room();
                            open.push((place, path.clone()));
                            place as u32
                        })
                    };
                    let (yes, no) = (next(yes), next(no));
                    look::AfterSegment::Decide { seen: OpenView::of(seen), no, yes }
                }
            };
            let takes = path.takes.iter().map(|register| saved(*register)).collect();
            flat.ways[place] =
                Some(SegmentCall { segment: segment as u32, takes, gives: path.gives, then });
        }
        Ok(Ok(()))
    }

    fn ending(
        &mut self,
        py: Python<'_>,
        ending: &Epilogue,
        leaves: &mut Vec<ConstantLeaf>,
    ) -> Perhaps<look::Ending> {
        let mut writes = Vec::new();
        for (input, base) in &ending.writes {
            writes.push((*input, or_why!(self.base(base, leaves))));
        }
        let mut bases = Vec::new();
        for base in &ending.bases {
            bases.push(or_why!(self.base(base, leaves)));
        }
        let output = |output: &epilogue::OutputSpec| look::SavedOutput {
            from: match output.from {
                epilogue::OutputOwner::Object(place) => look::OutputSource::Object(place as u32),
                epilogue::OutputOwner::Base(number) => look::OutputSource::Base(number as u32),
            },
            view: OpenView::of(&output.view),
            writable: output.writable,
            owns: output.owns,
        };
        let outputs = ending.outputs.iter().map(output).collect();
        let result = or_why!(self.form(py, &ending.result));
        Ok(Ok(look::Ending { writes, bases, outputs, result }))
    }

    fn base(
        &mut self,
        base: &epilogue::ElementsSource,
        leaves: &mut Vec<ConstantLeaf>,
    ) -> Perhaps<look::BaseSource> {
        Ok(match base {
            epilogue::ElementsSource::Register(register) => {
                Ok(look::BaseSource::Register(saved(*register)))
            }
            epilogue::ElementsSource::Constant(array) => {
                Ok(look::BaseSource::Leaf(self.writer.leaf(array, leaves).map_err(to_py)?))
            }
            epilogue::ElementsSource::Shared(_) => {
                Err("it gives an array from outside: make it an argument".to_owned())
            }
        })
    }

    fn form(&self, py: Python<'_>, template: &ResultTemplate) -> Perhaps<SavedResult> {
        let all = |items: &[ResultTemplate]| -> Perhaps<Vec<SavedResult>> {
            let mut all = Vec::new();
            for item in items {
                all.push(or_why!(self.form(py, item)));
            }
            Ok(Ok(all))
        };
        Ok(Ok(match template {
            ResultTemplate::Object(place) => SavedResult::Object(*place as u32),
            ResultTemplate::Array(number) => SavedResult::Array(*number as u32),
            ResultTemplate::Scalar(number) => SavedResult::Scalar(*number as u32),
            ResultTemplate::Float(number) => SavedResult::Float(*number as u32),
            ResultTemplate::Same(object) => {
                SavedResult::Known(or_why!(self.known(py, object, "a result")))
            }
            ResultTemplate::Tuple(items) => SavedResult::Tuple(or_why!(all(items))),
            ResultTemplate::Named(class, _) => {
                let name = class.bind(py).getattr("__name__")?;
                return Ok(Err(format!("a result of class {name} is nothing that a file has")));
            }
            ResultTemplate::List(number, items) => {
                SavedResult::List(*number as u32, or_why!(all(items)))
            }
            ResultTemplate::Dict(number, entries) => {
                let mut pairs = Vec::new();
                for (key, item) in entries {
                    pairs.push((
                        or_why!(self.known(py, key, "a key")),
                        or_why!(self.form(py, item)),
                    ));
                }
                SavedResult::Dict(*number as u32, pairs)
            }
            ResultTemplate::Again(number) => SavedResult::Again(*number as u32),
        }))
    }
}

/// Ways in one list.
#[derive(Default)]
struct FlatTree {
    ways: Vec<Option<SegmentCall>>,
    segments: Vec<Outline>,
    known: Vec<Arc<Segment>>,
    endings: Vec<look::Ending>,
}

impl FlatTree {
    /// The number of a way that is still to come.
    fn room(&mut self) -> usize {
        self.ways.push(None);
        self.ways.len() - 1
    }
}

fn saved(register: recording::RecordedRegister) -> look::Register {
    match register {
        recording::RecordedRegister::Input(number) => look::Register::Input(number),
        recording::RecordedRegister::Made(number) => look::Register::Made(number),
    }
}

impl ArraySpec {
    fn saved(&self) -> look::InspectedArray {
        look::InspectedArray {
            object: self.object as u32,
            input: self.input,
            dtype: self.dtype,
            base: extents_of(&self.base),
            view: OpenView::of(&self.view),
            writable: self.writable,
        }
    }
}
