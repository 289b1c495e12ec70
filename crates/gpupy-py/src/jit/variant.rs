//! Variants: a function's trace, specialised for one kind of arguments and surroundings.
//!
//! Owns [`Variant`] and its [`ArraySpec`]s. Invariant: a variant is replayed only where everything that the
//! function's operations depended on is as it was: the arguments, values read besides, each array's dtype, shape,
//! strides, flags and memory, the sharing of memory, the driver, and the handling of arithmetic errors.
//!
//! Not here: the operations (`trace_tree.rs`), recording (`finish.rs`).

use super::argument_spec::{ArgumentSpec, Objects, all_fit, entries_fit, has_pattern};
use super::epilogue::RegisterFile;
use super::guards::Guard;
use super::trace_tree::{Terminator, TraceTree};
use crate::array::lazy_scalar::LazyScalar;
use crate::array::ndarray::NdArray;
use crate::array::recording::unrecordable::number_of;
use crate::convert::numpy_arrays;
use crate::session::context::{opening, ready};
use crate::session::errors::to_py;
use gpupy_core::DType;
use gpupy_engine::{Array, View};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A trace, with the arguments and surroundings for which it holds.
pub struct Variant {
    pub arguments: Vec<ArgumentSpec>,
    pub named: Vec<(Py<PyAny>, ArgumentSpec)>,
    pub guards: Vec<Guard>,
    /// Arrays that were read besides the arguments.
    pub captured: Vec<Py<PyAny>>,
    /// Which of the arguments' objects and these are one and the same.
    pub pattern: Vec<usize>,
    pub wanted: Vec<ArraySpec>,
    /// How many bases they have.
    pub inputs: u32,
    /// The number of the opening of drivers.
    pub opening: u32,
    /// How many registers segments give.
    pub made: u32,
    pub path: Arc<TraceTree>,
    pub replays: AtomicU64,
}

/// An array that the function looked at.
#[derive(Clone, PartialEq, Eq)]
pub struct ArraySpec {
    /// Its place among the call's objects.
    pub object: usize,
    /// The number of its base.
    pub input: u32,
    pub dtype: DType,
    /// The shape of its base.
    pub base: Vec<usize>,
    pub view: View,
    pub writable: bool,
}

/// The outcome of replaying a call.
pub enum Replayed<'py> {
    /// The call's result.
    Done(Bound<'py, PyAny>),
    /// The variant does not hold, for this reason.
    Otherwise(Mismatch),
    /// A decision went a way that was not recorded; nothing was written.
    Decided,
}

/// The first condition that does not hold.
pub enum Mismatch {
    Arguments,
    Driver,
    /// An array, by its number among those wanted.
    Array(usize),
    /// A guard, by its number.
    Guard(usize),
}

type Inputs = SmallVec<[Array; 8]>;

impl Variant {
    /// Replays a call, if the variant holds for it.
    ///
    /// # Errors
    /// Any of an evaluation; nothing was written then.
    pub fn replay<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Replayed<'py>> {
        let py = args.py();
        let mut objects = Objects::new();
        if self.opening != opening() {
            return Ok(Replayed::Otherwise(Mismatch::Driver));
        }
        if !self.fit(args, kwargs, &mut objects)? {
            return Ok(Replayed::Otherwise(Mismatch::Arguments));
        }
        for (number, guard) in self.guards.iter().enumerate() {
            if !guard.holds(py)? {
                return Ok(Replayed::Otherwise(Mismatch::Guard(number)));
            }
        }
        objects.extend(self.captured.iter().map(|object| object.bind(py).clone()));
        if !has_pattern(&objects, &self.pattern) {
            return Ok(Replayed::Otherwise(Mismatch::Arguments));
        }
        let mut inputs = Inputs::new();
        if let Some(missed) = self.look(py, &objects, &mut inputs)? {
            return Ok(Replayed::Otherwise(missed));
        }
        match self.follow(py, &objects, &inputs)? {
            Some(result) => {
                self.replays.fetch_add(1, Ordering::Relaxed);
                Ok(Replayed::Done(result))
            }
            None => Ok(Replayed::Decided),
        }
    }

    fn fit<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        objects: &mut Objects<'py>,
    ) -> PyResult<bool> {
        if !all_fit(&self.arguments, args.len(), args.iter(), objects)? {
            return Ok(false);
        }
        match kwargs {
            Some(kwargs) => entries_fit(&self.named, kwargs, objects),
            None => Ok(self.named.is_empty()),
        }
    }

    /// Looks whether the arrays are as they were, and finds their bases.
    fn look(
        &self,
        py: Python<'_>,
        objects: &Objects<'_>,
        inputs: &mut Inputs,
    ) -> PyResult<Option<Mismatch>> {
        for (number, wanted) in self.wanted.iter().enumerate() {
            let object = &objects[wanted.object];
            let missed = || Ok(Some(Mismatch::Array(number)));
            if let Ok(array) = object.cast_exact::<NdArray>() {
                let reading = array.get().read(py);
                let Some(known) = reading.as_lazy() else { return missed() };
                if array.get().is_writable() != wanted.writable
                    || !wanted.is_seen_in(known, inputs)?
                {
                    return missed();
                }
            } else if let Ok(scalar) = object.cast_exact::<LazyScalar>() {
                if !wanted.is_seen_in(scalar.get().as_array(), inputs)? {
                    return missed();
                }
            } else {
                match number_of(object)? {
                    Some(array) if wanted.is_seen_in(&array, inputs)? => {}
                    _ => return missed(),
                }
            }
        }
        for (number, input) in inputs.iter().enumerate() {
            if inputs[..number].iter().any(|other| other.aliases(input)) {
                return Ok(Some(Mismatch::Arguments));
            }
        }
        Ok(None)
    }

    /// Goes through the segments; `None` where a decision went elsewhere.
    fn follow<'py>(
        &self,
        py: Python<'py>,
        objects: &Objects<'py>,
        inputs: &[Array],
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let context = ready(py)?;
        let mut made: SmallVec<[Option<Array>; 8]> = SmallVec::new();
        made.resize(self.made as usize, None);
        let mut path = &self.path;
        loop {
            let registers = RegisterFile { inputs, made: &made };
            let given = path.takes.iter().map(|register| registers.get(*register));
            let given: SmallVec<[&Array; 8]> = given.collect::<PyResult<_>>()?;
            let results = context.replay(&path.segment, &given).map_err(to_py)?;
            drop(given);
            let last = results.last().cloned();
            for (place, result) in (path.gives as usize..).zip(results) {
                if let Some(slot) = made.get_mut(place) {
                    *slot = Some(result);
                }
            }
            match &path.then {
                Terminator::End(ending) => {
                    let registers = RegisterFile { inputs, made: &made };
                    return ending.give(py, objects, &registers).map(Some);
                }
                Terminator::Decide { seen, no, yes } => {
                    let Some(last) = last else { return Ok(None) };
                    let element = last.seen(seen.clone()).map_err(to_py)?;
                    let truth = numpy_arrays::scalar(py, &element)?.is_truthy()?;
                    match if truth { yes } else { no } {
                        Some(next) => path = next,
                        None => return Ok(None),
                    }
                }
            }
        }
    }

    /// Visits the objects that this holds, for the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.arguments.iter().try_for_each(|given| given.traverse(visit))?;
        for (name, given) in &self.named {
            visit.call(name)?;
            given.traverse(visit)?;
        }
        self.guards.iter().try_for_each(|guard| guard.traverse(visit))?;
        self.captured.iter().try_for_each(|object| visit.call(object))?;
        self.path.traverse(visit)
    }

    /// Describes a mismatch.
    pub fn words(&self, missed: &Mismatch) -> String {
        match missed {
            Mismatch::Arguments => "arguments of other kinds or values".into(),
            Mismatch::Driver => {
                "another driver, or another way to handle errors of arithmetic".into()
            }
            Mismatch::Array(number) => {
                self.wanted.get(*number).map_or_else(String::new, ArraySpec::words)
            }
            Mismatch::Guard(number) => {
                self.guards.get(*number).map_or_else(String::new, |guard| guard.words.clone())
            }
        }
    }
}

impl ArraySpec {
    /// Whether an array is as it was; notes its base.
    fn is_seen_in(&self, array: &Array, inputs: &mut Inputs) -> PyResult<bool> {
        if array.dtype() != self.dtype || *array.layout() != self.view {
            return Ok(false);
        }
        match inputs.get(self.input as usize) {
            Some(base) => Ok(base.shares_base(array)),
            None if !array.has_alone(&self.base) => Ok(false),
            None => {
                inputs.push(array.seen(View::contiguous(&self.base)).map_err(to_py)?);
                Ok(true)
            }
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        let View { shape, strides, offset } = &self.view;
        let place = match self.base[..] == shape[..] && *offset == 0 {
            true => String::new(),
            false => {
                format!(", strides {:?} from {offset} of a base {:?}", &strides[..], self.base)
            }
        };
        let flag = if self.writable { "" } else { ", read-only" };
        format!("array {}: {} {:?}{place}{flag}", self.object, self.dtype, &shape[..])
    }
}
