//! Calls of ufuncs: `ufunc(…)`, with outputs and keyword arguments.
//!
//! Owns the Python methods of [`Ufunc`]. Invariant: calls with more than operands, one output, a mask and a dtype
//! are left to NumPy (`fallback`).
//!
//! Not here: dtypes, and the operations that are recorded (`ufunc.rs`).

use crate::array::classes::wrap::{wrap, wrap_recorded};
use crate::array::lazy_scalar::LazyScalar;
use crate::array::ndarray::NdArray;
use crate::array::operand::{OperandValue, UfuncOperand, classify_exact};
use crate::array::recording;
use crate::array::repr::Repr;
use crate::compute::operators;
use crate::compute::subclass_operands::of_instances;
use crate::compute::ufunc::Ufunc;
use crate::convert::dtypes::{self, numpy};
use crate::convert::numpy_arrays;
use crate::fallback::calls::fallback_ufunc;
use crate::index::setitem;
use crate::session::python_objects;
use gpupy_core::DType;
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};
use smallvec::SmallVec;

#[pymethods]
impl Ufunc {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        if recording::is_on()
            && let Some(known) = this.with_known(args, kwargs)?
        {
            return Self::__call__(slf, &known, kwargs);
        }
        if kwargs.is_none()
            && let Some(result) = this.call_plain(py, args)?
        {
            return Ok(result);
        }
        if let Some(out) = this.call_into(args, kwargs)? {
            return Ok(out);
        }
        if this.name == "divmod" && kwargs.is_none() && args.len() == 2 {
            let (a, b) = (args.get_item(0)?, args.get_item(1)?);
            let of_operator = classify_exact(&a)?.is_some() && classify_exact(&b)?.is_some();
            if of_operator && [&a, &b].into_iter().any(is_ours) {
                return operators::divmod(&a, &b);
            }
        }
        let out = match this.plain_out(args, kwargs)? {
            Plain::Call { out } => out,
            Plain::Longer { out: None, mask: None, dtype: Some(dtype) }
                if this.computes_in(py, args, &dtype)? =>
            {
                None
            }
            Plain::Longer { out, mask, dtype } => {
                let given = (slf, args, out, mask, dtype);
                let made = python_objects::CALLED.get(py)?.call1(given)?;
                return match made.is_none() {
                    true => fallback_ufunc(this.numpy.bind(py), &this.name, args, kwargs),
                    false => Ok(made),
                };
            }
            Plain::No => return fallback_ufunc(this.numpy.bind(py), &this.name, args, kwargs),
        };
        let objects: SmallVec<[Bound<'_, PyAny>; 2]> = args.iter().take(this.nin).collect();
        let mut operands: SmallVec<[UfuncOperand<'_>; 2]> = SmallVec::new();
        for object in &objects {
            operands.extend(classify_exact(object)?);
        }
        let target = match &out {
            None => None,
            Some(out) => {
                let dtype = this.result_dtype(py, &operands)?;
                match dtype.map(|dtype| dest(out, dtype)).transpose()?.flatten() {
                    Some(target) => Some(target),
                    None => return fallback_ufunc(this.numpy.bind(py), &this.name, args, kwargs),
                }
            }
        };
        let all_ours = operands.len() == objects.len();
        if all_ours
            && let Some((out, target)) = out.as_ref().zip(target.as_ref())
            && this.update_eagerly(&operands, target)
        {
            return Ok(out.clone());
        }
        let recorded = if all_ours {
            this.record(py, &operands, target.as_ref())?
        } else {
            let objects: SmallVec<[&Bound<'_, PyAny>; 2]> = objects.iter().collect();
            this.record_mixed(py, &objects)?
        };
        match (recorded, out.zip(target)) {
            (Some(array), None) => wrap_recorded(py, array, &operands),
            (Some(array), Some((out, target))) => {
                setitem::output(&target, &array)?;
                Ok(out)
            }
            (None, _) => fallback_ufunc(this.numpy.bind(py), &this.name, args, kwargs),
        }
    }

    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        wrap(&slf.get().numpy.bind(py).getattr(name)?)
    }

    fn __repr__(&self) -> String {
        format!("<ufunc '{}'>", self.name)
    }

    fn __reduce__(&self) -> String {
        self.name.clone()
    }

    /// The NumPy ufunc behind this one.
    #[getter]
    fn _numpy<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.numpy.bind(py).clone()
    }
}

enum Plain<'py> {
    Call {
        out: Option<Bound<'py, PyAny>>,
    },
    /// Only where a mask says so, in a dtype, or as an array whatever its axes.
    Longer {
        out: Option<Bound<'py, PyAny>>,
        mask: Option<Bound<'py, PyAny>>,
        dtype: Option<Bound<'py, PyAny>>,
    },
    No,
}

impl Ufunc {
    /// The arguments with numbers in place of placeholders, where the numbers have to be known. Beside arrays a
    /// placeholder is enough, except for powers, some of which have simpler forms.
    #[cold]
    fn with_known<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let has_array = args.iter_borrowed().any(|arg| arg.is_exact_instance_of::<NdArray>());
        let may_stand = has_array && kwargs.is_none() && self.lowering.is_some();
        let is_power = self.name == "power" || self.name == "float_power";
        if may_stand && !is_power || !args.iter().any(|arg| operators::is_weak(&arg)) {
            return Ok(None);
        }
        let known = args.iter().map(|arg| operators::known_number(&arg));
        PyTuple::new(args.py(), known.collect::<PyResult<Vec<_>>>()?).map(Some)
    }

    /// The most frequent call: operands that are ours or numbers, and nothing else.
    pub fn call_plain<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if args.len() != self.nin || self.lowering.is_none() {
            return Ok(None);
        }
        let operand = |at| args.get_borrowed_item(at);
        let found = match self.nin {
            1 => {
                let a = operand(0)?;
                self.of_one(&a)?
            }
            2 => {
                let (a, b) = (operand(0)?, operand(1)?);
                self.of_two(&a, &b)?
            }
            _ => None,
        };
        if found.is_some() {
            return Ok(found);
        }
        let objects: SmallVec<[Borrowed<'_, '_, PyAny>; 2]> = args.iter_borrowed().collect();
        let mut operands: SmallVec<[UfuncOperand<'_>; 2]> = SmallVec::new();
        for object in &objects {
            match classify_exact(object)? {
                Some(operand) => operands.push(operand),
                None => match numpy_arrays::without_axes(object)? {
                    Some(number) => operands.push(UfuncOperand::known(number)),
                    None => {
                        let objects: SmallVec<[&Bound<'py, PyAny>; 2]> =
                            objects.iter().map(|object| &**object).collect();
                        return of_instances(self, None, &objects);
                    }
                },
            }
        }
        if operands.iter().all(|operand| operand.as_array().is_none()) {
            // Of Python's integers NumPy has its own ways, but for functions, whose bits are those of an element.
            let are_integers = operands
                .iter()
                .all(|o| matches!(o.held, OperandValue::Int(_) | OperandValue::Bool(_)));
            if operands.iter().all(|operand| !matches!(operand.held, OperandValue::Known(_))) {
                operands.iter_mut().for_each(UfuncOperand::take_own_dtype);
            }
            let found = self.of_numbers(py, &operands)?;
            return match found.filter(|found| !are_integers || found.dtype.is_float()) {
                Some(number) => numpy_arrays::numpy_scalar(py, number).map(Some),
                None => self.numpy.bind(py).call1(args).map(Some),
            };
        }
        if let Some(array) = self.apply_eagerly(&operands) {
            return Ok(Some(Bound::new(py, NdArray::lazy(array))?.into_any()));
        }
        let recorded = self.record(py, &operands, None)?;
        recorded.map(|array| wrap_recorded(py, array, &operands)).transpose()
    }

    /// Whether operands are arrays of this dtype, and what the ufunc makes of them is, too: to name it says nothing.
    fn computes_in<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        dtype: &Bound<'py, PyAny>,
    ) -> PyResult<bool> {
        let Some(dtype) = dtypes::known(dtype)? else { return Ok(false) };
        let objects: SmallVec<[Borrowed<'_, '_, PyAny>; 2]> = args.iter_borrowed().collect();
        let mut operands: SmallVec<[UfuncOperand<'_>; 2]> = SmallVec::new();
        for object in objects.iter().take(self.nin) {
            match classify_exact(object)?.filter(|it| it.is_array && it.kind.dtype() == Some(dtype))
            {
                Some(operand) => operands.push(operand),
                None => return Ok(false),
            }
        }
        Ok(self.result_dtype(py, &operands)? == Some(dtype))
    }

    /// A call with an output of ours and nothing else, where the results are put there eagerly.
    fn call_into<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let out = match kwargs {
            None if args.len() == self.nin + 1 && !self.warns_of_position() => {
                Some(args.get_item(self.nin)?)
            }
            Some(kwargs) if kwargs.len() == 1 && args.len() == self.nin => {
                kwargs.get_item(pyo3::intern!(args.py(), "out"))?
            }
            _ => None,
        };
        let Some(out) = out else { return Ok(None) };
        let Ok(target) = out.cast_exact::<NdArray>() else { return Ok(None) };
        let objects: SmallVec<[Borrowed<'_, '_, PyAny>; 3]> = args.iter_borrowed().collect();
        let mut operands: SmallVec<[UfuncOperand<'_>; 2]> = SmallVec::new();
        for object in objects.iter().take(self.nin) {
            match classify_exact(object)? {
                Some(operand) => operands.push(operand),
                None => return Ok(None),
            }
        }
        let this = target.get().read(args.py());
        let is_done = match &*this {
            Repr::Lazy(dest) if target.get().is_freely_writable() => {
                self.update_eagerly(&operands, dest)
            }
            _ => false,
        };
        drop(this);
        Ok(is_done.then_some(out))
    }

    /// Whether NumPy warns of an output by position.
    fn warns_of_position(&self) -> bool {
        matches!(self.name.as_str(), "maximum" | "minimum")
    }

    /// Tells whether a call is operands and at most one output and a mask, with nothing else said.
    fn plain_out<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Plain<'py>> {
        if self.lowering.is_none() || args.len() < self.nin || args.len() > self.nin + 1 {
            return Ok(Plain::No);
        }
        let mut out = match args.get_item(self.nin) {
            Ok(out) if !out.is_none() => Some(out),
            _ => None,
        };
        if out.is_some() && self.warns_of_position() {
            let warn = python_objects::WARN_OF_POSITION.get(args.py())?;
            warn.call1((self.numpy.bind(args.py()),))?;
        }
        let Some(kwargs) = kwargs else { return Ok(Plain::Call { out }) };
        let (mut mask, mut given_dtype) = (None, None);
        for (key, value) in kwargs.iter() {
            let key = key.cast::<PyString>()?.to_cow()?;
            match &*key {
                // By position and by name: NumPy has the words.
                "out" if args.len() > self.nin => return Ok(Plain::No),
                "out" if out.is_none() => {
                    out = match value.cast::<PyTuple>() {
                        Ok(tuple) if tuple.len() == 1 => Some(tuple.get_item(0)?),
                        Ok(_) => return Ok(Plain::No),
                        Err(_) => Some(value),
                    };
                    out = out.filter(|o| !o.is_none());
                }
                "where" if value.is(&*PyBool::new(value.py(), true)) => {}
                "where" if value.is(numpy(value.py())?.no_value.bind(value.py())) => {}
                "where" => mask = Some(value),
                "dtype" if value.is_none() => {}
                "dtype" => given_dtype = Some(value),
                // Subclasses are left to their classes, and outputs have the result's dtype.
                "subok" if value.is_exact_instance_of::<PyBool>() => {}
                "casting" if value.eq("same_kind")? || value.eq("unsafe")? => {}
                _ => return Ok(Plain::No),
            }
        }
        let as_an_array = out.as_ref().is_some_and(|out| out.is(args.py().Ellipsis()));
        Ok(match (mask, given_dtype) {
            (None, None) if !as_an_array => Plain::Call { out },
            (mask, dtype) => Plain::Longer { out, mask, dtype },
        })
    }
}

/// The lazy array behind an `out` argument of exactly this dtype.
fn dest(out: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Option<Array>> {
    let py = out.py();
    let Ok(out) = out.cast_exact::<NdArray>() else { return Ok(None) };
    let out = out.get();
    out.check_writable(py)?;
    match &*out.read(py) {
        Repr::Lazy(array) if array.dtype() == dtype => Ok(Some(array.clone())),
        _ => Ok(None),
    }
}

/// Whether Python's operators on it are ours.
fn is_ours(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<NdArray>() || value.is_instance_of::<LazyScalar>()
}
